/** Results of a server read as what the application gets: their shape is checked, the rest is taken as it is. */
import { McpError } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"
import type { ContentBlock, ResourceContents } from "../../core/model/content.js"
import type { PromptMessage } from "../../core/model/prompt.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import type { CompletionResult, PromptResult, ReadResult, ToolCallResult } from "./results.js"

/** Refuses what is not the whole result, such as the task that will have it. */
function refuseOther({ resultType }: JsonObject, method: string): void {
  if (resultType === undefined || resultType === "complete") return
  const text = `${method}: the result is of type ${clampText(resultType, 60)}, which only client.request() gives`
  throw new McpError(text, { kind: "protocol", reason: "invalid_result" })
}

/** The list under `member`; refuses anything else. */
export function readList(result: JsonObject, method: string, member: string): readonly JsonValue[] {
  refuseOther(result, method)
  const list = result[member]
  if (Array.isArray(list)) return list
  throw invalid(method, `"${member}" as a list`, list)
}

/** The `_meta` of a result. */
export function readMeta({ _meta }: JsonObject): JsonObject | undefined {
  return isJsonObject(_meta) ? _meta : undefined
}

/** A result of `tools/call`. */
export function readToolCall(raw: JsonObject): ToolCallResult {
  refuseOther(raw, "tools/call")
  const { content = [], structuredContent, isError } = raw
  return {
    // The pipeline has seen that it is a list; what its blocks are is the server's word.
    content: content as unknown as readonly ContentBlock[],
    structured: structuredContent,
    isError: isError === true,
    meta: readMeta(raw),
    raw,
  }
}

/** A result of `resources/read`. */
export function readContents(raw: JsonObject): ReadResult {
  const contents = readList(raw, "resources/read", "contents") as unknown as readonly ResourceContents[]
  return { contents, meta: readMeta(raw) }
}

/** A result of `prompts/get`. */
export function readPrompt(raw: JsonObject): PromptResult {
  const messages = readList(raw, "prompts/get", "messages") as unknown as readonly PromptMessage[]
  const { description } = raw
  return { description: typeof description === "string" ? description : undefined, messages, meta: readMeta(raw) }
}

/** A result of `completion/complete`. */
export function readCompletion(raw: JsonObject): CompletionResult {
  refuseOther(raw, "completion/complete")
  const { completion } = raw
  if (!isJsonObject(completion)) throw invalid("completion/complete", '"completion" as an object', completion)
  const { values, total, hasMore } = completion
  if (!Array.isArray(values)) throw invalid("completion/complete", '"completion.values" as a list', values)
  return {
    values: values.filter((value) => typeof value === "string"),
    total: typeof total === "number" ? total : undefined,
    hasMore: hasMore === true,
  }
}

function invalid(method: string, expected: string, came: JsonValue | undefined): McpError {
  return new McpError(`${method}: the result must have ${expected}, not ${clampText(came)}`, {
    kind: "protocol",
    reason: "invalid_result",
  })
}
