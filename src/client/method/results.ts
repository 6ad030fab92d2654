/** What the methods of a client resolve to. */
import type { ContentBlock, ResourceContents } from "../../core/model/content.js"
import type { Prompt, PromptMessage } from "../../core/model/prompt.js"
import type { Resource, ResourceTemplate } from "../../core/model/resource.js"
import type { Tool } from "../../core/model/tool.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"

/** What a tool gave. An error of the tool is a result too: `isError` says so, and nothing is thrown. */
export interface ToolCallResult {
  readonly content: readonly ContentBlock[]
  /** The structured content, checked against the tool's output schema when the tool is known from a list. */
  readonly structured: JsonValue | undefined
  readonly isError: boolean
  readonly meta: JsonObject | undefined
  /** The result as it came. */
  readonly raw: JsonObject
}

/** One list, all its pages. */
export interface Listed {
  readonly meta: JsonObject | undefined
}

/** The tools of a server. */
export interface ToolList extends Listed {
  readonly tools: readonly Tool[]
}

/** The resources of a server. */
export interface ResourceList extends Listed {
  readonly resources: readonly Resource[]
}

/** The resource templates of a server. */
export interface ResourceTemplateList extends Listed {
  readonly resourceTemplates: readonly ResourceTemplate[]
}

/** The prompts of a server. */
export interface PromptList extends Listed {
  readonly prompts: readonly Prompt[]
}

/** What a resource holds. */
export interface ReadResult {
  readonly contents: readonly ResourceContents[]
  readonly meta: JsonObject | undefined
}

/** What a prompt gave. */
export interface PromptResult {
  readonly description: string | undefined
  readonly messages: readonly PromptMessage[]
  readonly meta: JsonObject | undefined
}

/** What an argument is to be completed of: a prompt, or a resource template. */
export type CompletionRef =
  | { readonly type: "ref/prompt"; readonly name: string }
  | { readonly type: "ref/resource"; readonly uri: string }

/** How an argument can go on. */
export interface CompletionResult {
  readonly values: readonly string[]
  readonly total: number | undefined
  readonly hasMore: boolean
}
