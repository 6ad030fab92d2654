/** Questions to the client itself: a completion by its model, and its roots. */
import { misuse, ToolError } from "../../core/error/error.js"
import type { ClientCapability } from "../../core/model/capability.js"
import { type Root, type SamplingRequest, type SamplingResult, toolResultProblem } from "../../core/model/sampling.js"
import type { Revision } from "../../core/revision/revision.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import { malformed, type Question } from "./question.js"

/**
 * A completion by the client's model.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/sampling
 */
export function samplingQuestion(revision: Revision, request: SamplingRequest): Question<SamplingResult> {
  const problem = toolResultProblem(request.messages)
  if (problem !== undefined) throw misuse("invalid_option", `ctx.sample: ${problem}`)
  if (!Number.isSafeInteger(request.maxTokens) || request.maxTokens < 1) {
    throw misuse("invalid_option", "ctx.sample: maxTokens must be a positive integer")
  }
  const withTools = usesTools(request)
  if (!revision.samplingTools) {
    const newer = withTools
      ? "with tools"
      : request.messages.some(({ content }) => Array.isArray(content)) && "with lists"
    if (newer) throw new ToolError(`clients of revision ${revision.version} cannot be asked to sample ${newer}`)
  }
  return {
    method: "sampling/createMessage",
    params: JSON.parse(JSON.stringify(request)) as JsonObject,
    capability: withTools ? "sampling.tools" : contextCapability(revision, request),
    accept: (answer) =>
      isSamplingResult(answer)
        ? { ok: true, value: answer as unknown as SamplingResult }
        : malformed('a sampling result needs "role", "content" and "model"'),
  }
}

function usesTools({ tools, toolChoice, messages }: SamplingRequest): boolean {
  const isTool = ({ type }: { readonly type: string }): boolean => type === "tool_use" || type === "tool_result"
  return (
    tools !== undefined || toolChoice !== undefined || messages.some(({ content }) => [content].flat().some(isTool))
  )
}

/** Clients of the first revisions had no leaves of `sampling`: whoever samples may be asked to include context. */
function contextCapability(
  { samplingTools }: Revision,
  { includeContext = "none" }: SamplingRequest,
): ClientCapability {
  return samplingTools && includeContext !== "none" ? "sampling.context" : "sampling"
}

function isSamplingResult({ role, content, model }: JsonObject): boolean {
  const blocks = [content].flat()
  const isBlock = (block: JsonValue | undefined): boolean => isJsonObject(block) && typeof block["type"] === "string"
  return (role === "assistant" || role === "user") && typeof model === "string" && blocks.every(isBlock)
}

/** The roots that the client shows. */
export function rootsQuestion(): Question<readonly Root[]> {
  return {
    method: "roots/list",
    params: {},
    capability: "roots",
    accept: ({ roots }) =>
      Array.isArray(roots) && roots.every(isRoot)
        ? { ok: true, value: roots as unknown as readonly Root[] }
        : malformed('"roots" must be a list of objects with a "uri"'),
  }
}

function isRoot(value: JsonValue): boolean {
  return isJsonObject(value) && typeof value["uri"] === "string"
}
