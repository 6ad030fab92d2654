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

/** An entry of a list that is set aside: what is wrong with it is no reason to do without the others. */
export interface RefusedEntry {
  /** What it says it is called; undefined when it does not, or not as a text. */
  readonly name: string | undefined
  /** Its place in the list as the server gives it, from 0, over all pages that were read. */
  readonly index: number
  readonly reason: string
}

/** One list, all its pages. `meta` is that of the first. */
export interface Listed {
  readonly refused: readonly RefusedEntry[]
  readonly meta: JsonObject | undefined
}

/** One page of a list. */
export interface ListPage<Item> {
  readonly items: readonly Item[]
  readonly refused: readonly RefusedEntry[]
  /** Where the list goes on; undefined on its last page. */
  readonly nextCursor: string | undefined
  readonly meta: JsonObject | undefined
}

/** What each list is made of. */
export interface ListItems {
  readonly tools: Tool
  readonly resources: Resource
  readonly resourceTemplates: ResourceTemplate
  readonly prompts: Prompt
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
