/**
 * Requests for a completion by the application's model.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
 */
import { codes } from "../../core/error/codes.js"
import type { McpError } from "../../core/error/error.js"
import { hasCapability } from "../../core/model/capability.js"
import { type SamplingMessage, type SamplingRequest, toolResultProblem } from "../../core/model/sampling.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import type { Handlers } from "./handlers.js"
import { type Accepted, accepted, malformed, type Task, undeclared, unusable } from "./task.js"

/** What is needed to read the request. */
export interface SampleHost {
  readonly handlers: Handlers
  readonly declared: JsonObject
  /** Whether a message may be a list of blocks, and tools are known. */
  readonly lists: boolean
}

/** Reads a request for a completion. What it asks of servers' context is left out, unless the client declared to give that. */
export function readSampling(params: JsonObject, { handlers, declared, lists }: SampleHost): Task | McpError {
  if (!hasCapability(declared, "sampling")) return undeclared("sampling/createMessage")
  const problem = requestProblem(params)
  if (problem !== undefined) return malformed(problem)
  const request = toRequest(params, hasCapability(declared, "sampling.context"))
  if (usesTools(request) && !hasCapability(declared, "sampling.tools")) {
    return undeclared("sampling/createMessage with tools", codes.invalidParams)
  }
  const unbalanced = toolResultProblem(request.messages)
  if (unbalanced !== undefined) return malformed(unbalanced)
  return {
    handler: "sample",
    ask: (context) => handlers.sample?.(request, context),
    accept: (answer) => readCompletion(answer, lists),
  }
}

function requestProblem({ messages, maxTokens, tools, toolChoice }: JsonObject): string | undefined {
  if (!Array.isArray(messages)) return '"messages" must be a list'
  const index = messages.findIndex((message) => !isMessage(message))
  if (index >= 0) return `"messages[${index}]" must have a "role" of user or assistant, and "content"`
  if (typeof maxTokens !== "number") return '"maxTokens" must be a number'
  if (tools !== undefined && !(Array.isArray(tools) && tools.every(isJsonObject)))
    return '"tools" must be a list of tools'
  return toolChoice === undefined || isJsonObject(toolChoice) ? undefined : '"toolChoice" must be an object'
}

function isMessage(message: JsonValue): boolean {
  if (!isJsonObject(message) || !isRole(message["role"])) return false
  return [message["content"]].flat().every((block) => isJsonObject(block) && typeof block["type"] === "string")
}

function isRole(role: JsonValue | undefined): boolean {
  return role === "user" || role === "assistant"
}

function toRequest(params: JsonObject, withContext: boolean): SamplingRequest {
  const { includeContext, ...rest } = params
  const request = withContext && includeContext !== undefined ? params : rest
  // Its members were checked as far as anything here depends on them; the rest is for the application's model.
  return request as unknown as SamplingRequest
}

function usesTools({ tools, toolChoice, messages }: SamplingRequest): boolean {
  return tools !== undefined || toolChoice !== undefined || messages.some(holdsTools)
}

function holdsTools({ content }: SamplingMessage): boolean {
  return [content].flat().some(({ type }) => type === "tool_use" || type === "tool_result")
}

/** The members that each block has to have, by its type. */
const BLOCKS: ReadonlyMap<JsonValue | undefined, readonly string[]> = new Map([
  ["text", ["text"]],
  ["image", ["data", "mimeType"]],
  ["audio", ["data", "mimeType"]],
])

const TOOL_BLOCKS: typeof BLOCKS = new Map([
  ["tool_use", ["id", "name"]],
  ["tool_result", ["toolUseId"]],
])

function readCompletion(answer: JsonValue, lists: boolean): Accepted {
  if (!isJsonObject(answer)) return unusable("must answer with an object")
  const { role, content, model, stopReason } = answer
  if (!isRole(role)) return unusable('must answer with a "role" of user or assistant')
  if (typeof model !== "string") return unusable('must answer with the "model" that was used')
  if (stopReason !== undefined && typeof stopReason !== "string")
    return unusable('must answer with a "stopReason" that is text')
  const blocks = [content].flat()
  if (!blocks.every((block) => isBlock(block, lists))) {
    return unusable(
      `must answer with "content" of text, image${lists ? ", audio and tool_use" : " or audio"}, each with its members`,
    )
  }
  if (lists || !Array.isArray(content)) return accepted(answer)
  const [only] = blocks
  return blocks.length === 1 && only !== undefined
    ? accepted({ ...answer, content: only })
    : unusable("must answer with one block of content: the server's revision knows no lists of them")
}

function isBlock(block: JsonValue | undefined, lists: boolean): boolean {
  if (!isJsonObject(block)) return false
  const { type, input, content } = block
  const members = BLOCKS.get(type) ?? (lists ? TOOL_BLOCKS.get(type) : undefined)
  if (type === "tool_use" && !isJsonObject(input)) return false
  if (type === "tool_result" && !Array.isArray(content)) return false
  return members?.every((member) => typeof block[member] === "string") ?? false
}
