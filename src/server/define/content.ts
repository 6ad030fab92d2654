/** What handlers return: marked content blocks and results, and the messages of prompts. */
import { misuse } from "../../core/error/error.js"
import { encodeBase64, isBase64 } from "../../core/http/base64.js"
import type {
  AudioContent,
  BlobResourceContents,
  ContentBlock,
  EmbeddedResource,
  ImageContent,
  ResourceContents,
  ResourceLink,
  TextContent,
} from "../../core/model/content.js"
import type { InputRequest } from "../../core/model/input.js"
import type { PromptMessage } from "../../core/model/prompt.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"

/** The mark that tells a result made here from a value that looks like one. Copies made by spreading keep it. */
const MARK: unique symbol = Symbol.for("conduit-mcp.marked") as never

/** A content block made by {@link content}. */
export type Marked<Block extends ContentBlock = ContentBlock> = Block & { readonly [MARK]: "block" }

/** A whole tool result made by {@link result} or {@link fail}. */
export interface ToolResult {
  readonly [MARK]: "result"
  readonly content: readonly ContentBlock[]
  readonly structured: unknown
  readonly meta: JsonObject | undefined
  readonly isError: boolean
}

/** Several contents of one resource, made by {@link contents}. */
export interface Contents {
  readonly [MARK]: "contents"
  readonly items: readonly ContentsItem[]
}

/** Questions to the client, made by {@link inputRequired}. */
export interface InputRequired {
  readonly [MARK]: "input-required"
  readonly requests: Readonly<Record<string, InputRequest>>
  readonly state: JsonValue | undefined
}

/** One of several contents; `uri` defaults to the uri that is read. A blob may be bytes or base64. */
export type ContentsItem =
  | { readonly uri?: string; readonly mimeType?: string; readonly text: string; readonly _meta?: JsonObject }
  | {
      readonly uri?: string
      readonly mimeType?: string
      readonly blob: string | Uint8Array
      readonly _meta?: JsonObject
    }

type Rest<Block> = Omit<Block, "type" | "text" | "data" | "mimeType" | "uri" | "name" | "resource">

function mark<Block extends ContentBlock>(block: Block): Marked<Block> {
  return { ...block, [MARK]: "block" }
}

/** Binary data as it goes over the wire. A text that is no base64 would make clients refuse the whole result. */
function toBase64(data: string | Uint8Array): string {
  if (typeof data !== "string") return encodeBase64(data)
  if (isBase64(data)) return data
  throw misuse("invalid_definition", "binary data must be bytes, or a text that is base64 with its padding")
}

/**
 * Makers of content blocks. Binary data may be bytes, or text that is base64 already.
 *
 * @throws `McpError` of kind `misuse` for binary data that is a text but no base64.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
export const content = {
  /** A text block. */
  text: (text: string, rest: Rest<TextContent> = {}): Marked<TextContent> => mark({ type: "text", text, ...rest }),
  /** A text block that holds `value` as JSON. */
  json: (value: unknown, rest: Rest<TextContent> = {}): Marked<TextContent> =>
    mark({ type: "text", text: JSON.stringify(value) ?? "null", ...rest }),
  /** An image block. */
  image: (data: string | Uint8Array, mimeType: string, rest: Rest<ImageContent> = {}): Marked<ImageContent> =>
    mark({ type: "image", data: toBase64(data), mimeType, ...rest }),
  /** An audio block. */
  audio: (data: string | Uint8Array, mimeType: string, rest: Rest<AudioContent> = {}): Marked<AudioContent> =>
    mark({ type: "audio", data: toBase64(data), mimeType, ...rest }),
  /** A link to a resource, which need not be listed. */
  link: (
    uri: string,
    name: string,
    rest: Rest<ResourceLink> & { readonly mimeType?: string } = {},
  ): Marked<ResourceLink> => mark({ type: "resource_link", uri, name, ...rest }),
  /** A resource embedded in the result. */
  embed: (resource: ResourceContents, rest: Rest<EmbeddedResource> = {}): Marked<EmbeddedResource> => {
    if ("blob" in resource) toBase64(resource.blob)
    return mark({ type: "resource", resource, ...rest })
  },
}

/** The members of {@link result}. */
export interface ResultOptions {
  /** Blocks, or a text. Default: the JSON of `structured`, when there is one. */
  readonly content?: string | readonly ContentBlock[]
  /** Becomes `structuredContent`; checked against the tool's `output` schema when there is one. */
  readonly structured?: unknown
  /** Becomes `_meta`. */
  readonly meta?: JsonObject
  readonly isError?: boolean
}

/** A whole tool result, for when a plain value does not say enough. */
export function result(options: ResultOptions): ToolResult {
  const { content: given, structured, meta, isError = false } = options
  const blocks = typeof given === "string" ? [content.text(given)] : (given ?? defaultContent(structured))
  return { [MARK]: "result", content: blocks, structured, meta, isError }
}

function defaultContent(structured: unknown): readonly ContentBlock[] {
  return structured === undefined ? [] : [content.json(structured)]
}

/**
 * A result that tells the model what went wrong: `isError` with the message as its text.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
export function fail(message: string | readonly ContentBlock[]): ToolResult {
  return result({ content: message, isError: true })
}

/** Several contents of one resource. */
export function contents(items: readonly ContentsItem[]): Contents {
  return { [MARK]: "contents", items }
}

/** The members of {@link inputRequired}; at least one is there. */
export interface InputRequiredOptions {
  /** What the client is asked, by keys of your own. */
  readonly requests?: Readonly<Record<string, InputRequest>>
  /** Plain JSON that the next round finds in `ctx.state`. It travels through the client, sealed. */
  readonly state?: JsonValue
}

/**
 * What a handler returns that asks by hand: it is entered again with the answers in `ctx.responses` and what it kept in
 * `ctx.state`, on every wire. `ctx.elicit` and its like do all of this by themselves.
 *
 * @throws `McpError` of kind `misuse` when there is nothing to ask and nothing to keep.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
export function inputRequired({ requests = {}, state }: InputRequiredOptions): InputRequired {
  if (Object.keys(requests).length === 0 && state === undefined) {
    throw misuse("invalid_option", "inputRequired needs requests or a state")
  }
  return { [MARK]: "input-required", requests, state }
}

/** One of several contents as it goes over the wire. */
export function encodeContents(item: ContentsItem, uri: string, mimeType: string | undefined): ResourceContents {
  const head = { uri: item.uri ?? uri, ...(mimeType === undefined ? {} : { mimeType }) }
  if ("text" in item) return { ...head, ...item, uri: head.uri }
  const blob: BlobResourceContents = { ...head, ...item, uri: head.uri, blob: toBase64(item.blob) }
  return blob
}

/** A prompt message that speaks for the user. */
export function user(said: string | ContentBlock): PromptMessage {
  return { role: "user", content: toBlock(said) }
}

/** A prompt message that speaks for the assistant. */
export function assistant(said: string | ContentBlock): PromptMessage {
  return { role: "assistant", content: toBlock(said) }
}

function toBlock(said: string | ContentBlock): ContentBlock {
  return typeof said === "string" ? content.text(said) : said
}

function markOf(value: unknown): unknown {
  return typeof value === "object" && value !== null ? (value as { [MARK]?: unknown })[MARK] : undefined
}

/** Whether `value` came from {@link result} or {@link fail}. */
export function isToolResult(value: unknown): value is ToolResult {
  return markOf(value) === "result"
}

/** Whether `value` came from {@link content}. */
export function isMarkedBlock(value: unknown): value is Marked {
  return markOf(value) === "block"
}

/** Whether `value` came from {@link inputRequired}. */
export function isInputRequired(value: unknown): value is InputRequired {
  return markOf(value) === "input-required"
}

/** Whether `value` came from {@link contents}. */
export function isContents(value: unknown): value is Contents {
  return markOf(value) === "contents"
}
