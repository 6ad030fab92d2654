/** Requests for a completion by the client's model, and their answers. */
import type { JsonObject } from "../wire/message.js"
import type { AudioContent, ContentBlock, ImageContent, TextContent } from "./content.js"
import type { Tool } from "./tool.js"

/** A model's wish to use a tool. */
export interface ToolUseContent {
  readonly type: "tool_use"
  readonly id: string
  readonly name: string
  readonly input: JsonObject
  readonly _meta?: JsonObject
}

/** What a tool gave, for the model. */
export interface ToolResultContent {
  readonly type: "tool_result"
  readonly toolUseId: string
  readonly content: readonly ContentBlock[]
  readonly structuredContent?: unknown
  readonly isError?: boolean
  readonly _meta?: JsonObject
}

/** One block of a sampling message. */
export type SamplingContent = TextContent | ImageContent | AudioContent | ToolUseContent | ToolResultContent

/** One message of the conversation. */
export interface SamplingMessage {
  readonly role: "user" | "assistant"
  readonly content: SamplingContent | readonly SamplingContent[]
  readonly _meta?: JsonObject
}

/** What is asked of the client's model. */
export interface SamplingRequest {
  readonly messages: readonly SamplingMessage[]
  readonly maxTokens: number
  readonly systemPrompt?: string
  readonly modelPreferences?: {
    readonly hints?: readonly { readonly name?: string }[]
    readonly costPriority?: number
    readonly speedPriority?: number
    readonly intelligencePriority?: number
  }
  readonly includeContext?: "none" | "thisServer" | "allServers"
  readonly temperature?: number
  readonly stopSequences?: readonly string[]
  readonly metadata?: JsonObject
  readonly tools?: readonly Tool[]
  readonly toolChoice?: { readonly mode?: "auto" | "required" | "none" }
}

/** What the client's model said. */
export interface SamplingResult extends SamplingMessage {
  readonly model: string
  readonly stopReason?: string
}

/** A root directory or file that the client shows to servers. */
export interface Root {
  readonly uri: string
  readonly name?: string
  readonly _meta?: JsonObject
}

/**
 * What is wrong with the tool calls in a conversation, or undefined: each use is followed by a user message that holds nothing
 * but the matching results.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/sampling#tool-use-and-result-balance
 */
export function toolResultProblem(messages: readonly SamplingMessage[]): string | undefined {
  let open: readonly string[] = []
  for (const [index, message] of messages.entries()) {
    const blocks = Array.isArray(message.content) ? message.content : [message.content]
    const uses = blocks.filter((block): block is ToolUseContent => block.type === "tool_use")
    const results = blocks.filter((block): block is ToolResultContent => block.type === "tool_result")
    const where = `messages[${index}]`
    if (results.length > 0 && results.length < blocks.length) return `${where} mixes tool results with other content`
    if (results.length > 0 && message.role !== "user") return `${where} has tool results but is not the user's`
    if (uses.length > 0 && message.role !== "assistant") return `${where} uses tools but is not the assistant's`
    const given = results.map((block) => block.toolUseId)
    const missing = open.filter((id) => !given.includes(id))
    if (missing.length > 0) return `${where} lacks the result of tool use "${missing[0]}"`
    const stray = given.find((id) => !open.includes(id))
    if (stray !== undefined)
      return `${where} has a result of tool use "${stray}", which the message before does not make`
    if (given.length > open.length) return `${where} has two results of one tool use`
    open = uses.map((block) => block.id)
  }
  return open.length === 0 ? undefined : `the last message lacks the result of tool use "${open[0]}"`
}
