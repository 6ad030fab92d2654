/** From what a tool handler returned to the members of its result, as JSON text. */
import type { ContentBlock } from "../core/model/content.js"
import { isObjectSchema } from "../core/revision/common.js"
import type { Revision } from "../core/revision/revision.js"
import { isPlain } from "../core/schema/bounds.js"
import { describeIssues } from "../core/schema/issue.js"
import type { SchemaResult } from "../core/schema/standard.js"
import { isObject, type JsonObject } from "../core/wire/message.js"
import { isMarkedBlock, isToolResult, type ToolResult } from "./define/content.js"
import type { AnyTool } from "./define/tool.js"

/** A tool's result: text of its members without `_meta`, and the `_meta` that the handler gave. */
export interface ToolOutcome {
  /** The members, without braces. */
  readonly members: string
  readonly meta: JsonObject | undefined
  /** Whether the members say so. */
  readonly isError?: true
}

/** A return value that cannot be a result: the log line says why, the client does not hear it. */
export interface UnusableReturn {
  readonly problem: string
}

/** The outcome that tells the model what went wrong. */
export function errorOutcome(text: string): ToolOutcome {
  return {
    members: `"content":[{"type":"text","text":${JSON.stringify(text)}}],"isError":true`,
    meta: undefined,
    isError: true,
  }
}

/**
 * Encodes what the handler of `tool` returned, as `revision` sends it: where structured content is an object only, another
 * value stands under `result`, exactly where the tool's output schema was wrapped the same way.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#structured-content
 */
export function encodeReturn(
  tool: AnyTool,
  value: unknown,
  revision: Revision,
): ToolOutcome | UnusableReturn | Promise<ToolOutcome | UnusableReturn> {
  if (isToolResult(value)) return encodeMarked(tool, value, revision)
  if (isMarkedBlock(value)) return encodeBlocks(tool, [value], revision)
  if (isListOf(value, isMarkedBlock) && value.length > 0) return encodeBlocks(tool, value, revision)
  if (tool.validateOutput !== undefined) {
    return checked(tool.validateOutput(value), (output) => encodeValue(tool, output, revision))
  }
  if (typeof value === "string") {
    return { members: `"content":[{"type":"text","text":${JSON.stringify(value)}}]`, meta: undefined }
  }
  const problem = notPlainJson(value, "the returned value")
  return problem === undefined ? encodeValue(tool, value, revision) : { problem }
}

function encodeMarked(
  tool: AnyTool,
  result: ToolResult,
  revision: Revision,
): ToolOutcome | UnusableReturn | Promise<ToolOutcome | UnusableReturn> {
  const { structured, meta, isError } = result
  if (!isListOf(result.content, isBlock)) return { problem: "the content of the result is not a list of blocks" }
  const content = blocksText(result.content, revision)
  if (isError) return { members: `"content":${content},"isError":true`, meta, isError }
  if (tool.validateOutput !== undefined) {
    if (structured === undefined) return missingStructured(tool)
    return checked(tool.validateOutput(structured), (output) => encodeValue(tool, output, revision, content, meta))
  }
  if (structured === undefined) return { members: `"content":${content}`, meta }
  const problem = notPlainJson(structured, "structured")
  return problem === undefined ? encodeValue(tool, structured, revision, content, meta) : { problem }
}

function encodeBlocks(
  tool: AnyTool,
  content: readonly ContentBlock[],
  revision: Revision,
): ToolOutcome | UnusableReturn {
  if (tool.validateOutput !== undefined) return missingStructured(tool)
  return { members: `"content":${blocksText(content, revision)}`, meta: undefined }
}

/** Whether every item is one of these, holes in the list included. */
function isListOf<Item>(value: unknown, isItem: (item: unknown) => item is Item): value is readonly Item[] {
  if (!Array.isArray(value)) return false
  for (const item of value) if (!isItem(item)) return false
  return true
}

function isBlock(value: unknown): value is ContentBlock {
  return isObject(value) && typeof value["type"] === "string"
}

function blocksText(blocks: readonly ContentBlock[], revision: Revision): string {
  return JSON.stringify(revision.encode.blocks(blocks))
}

function missingStructured(tool: AnyTool): UnusableReturn {
  return { problem: `tool "${tool.name}" has an output schema, so its result needs structured content` }
}

type Encode = (output: unknown) => ToolOutcome | UnusableReturn

function checked(
  outcome: SchemaResult<unknown> | Promise<SchemaResult<unknown>>,
  encode: Encode,
): ToolOutcome | UnusableReturn | Promise<ToolOutcome | UnusableReturn> {
  return outcome instanceof Promise ? outcome.then((settled) => passed(settled, encode)) : passed(outcome, encode)
}

function passed(outcome: SchemaResult<unknown>, encode: Encode): ToolOutcome | UnusableReturn {
  if (outcome.issues === undefined) return encode(outcome.value)
  return { problem: `the returned value does not match the output schema: ${describeIssues(outcome.issues)}` }
}

function encodeValue(
  tool: AnyTool,
  value: unknown,
  revision: Revision,
  content?: string,
  meta?: JsonObject,
): ToolOutcome | UnusableReturn {
  const json: string | undefined = JSON.stringify(value)
  if (json === undefined) return { problem: `the returned value is not JSON: it is ${nameOf(value)}` }
  const blocks = content ?? `[{"type":"text","text":${JSON.stringify(json)}}]`
  const structured = revision.structured === "object" && !isObjectIn(tool, json) ? `{"result":${json}}` : json
  return { members: `"content":${blocks},"structuredContent":${structured}`, meta }
}

/** Whether a value stands as it is where only objects may: as the output schema says, or without one as the value is. */
function isObjectIn(tool: AnyTool, json: string): boolean {
  const { outputSchema } = tool.listed
  return outputSchema === undefined ? json.startsWith("{") : isObjectSchema(outputSchema)
}

const MAX_DEPTH = 64

/** Why a value is not plain JSON, or undefined when it is. Undefined members of objects are allowed: they are left out. */
export function notPlainJson(value: unknown, path: string, depth = 0): string | undefined {
  if (value === null || typeof value === "string" || typeof value === "boolean") return undefined
  if (typeof value === "number") return Number.isFinite(value) ? undefined : `${path} is ${value}, which is not JSON`
  if (typeof value !== "object") return `${path} is ${nameOf(value)}, which is not JSON`
  if (depth > MAX_DEPTH) return `${path} is nested too deeply, or holds itself`
  if (Array.isArray(value)) {
    for (const [index, item] of value.entries()) {
      const problem = notPlainJson(item, `${path}[${index}]`, depth + 1)
      if (problem !== undefined) return problem
    }
    return undefined
  }
  if (!isPlain(value)) return `${path} is ${nameOf(value)}, not a plain object`
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    const problem = notPlainJson(member, `${path}.${key}`, depth + 1)
    if (problem !== undefined) return problem
  }
  return undefined
}

function nameOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return value === undefined ? "undefined" : `a ${typeof value}`
  const made: unknown = value.constructor
  return typeof made === "function" && made.name !== "" ? `an instance of ${made.name}` : "an object"
}
