/** Methods that are written by hand: the handler's result as it is, with what the revision asks of every result. */
import type { Answer } from "../../core/exchange.js"
import { META } from "../../core/feature/envelope.js"
import { DEFAULT_FRESHNESS } from "../../core/feature/freshness.js"
import { isJsonObject, isObject, type JsonObject } from "../../core/wire/message.js"
import type { Outcome } from "../../observe/event.js"
import type { Call } from "../call.js"
import { isInputRequired } from "../define/content.js"
import type { ManualHandler } from "../profile.js"
import { notPlainJson } from "../result.js"
import { internalError, raised } from "./refusal.js"

/** Serves one request with a handler written by hand. */
export async function callManual(call: Call, handler: ManualHandler): Promise<Answer> {
  const { params, method } = call.facts
  try {
    const result: unknown = await handler(params ?? {}, call)
    const problem = problemOf(result)
    if (problem !== undefined) throw new TypeError(problem)
    return writeResult(call, result as JsonObject)
  } catch (error) {
    return raised(call, error) ?? internalError(call, `handler of "${method}"`, error)
  }
}

function problemOf(result: unknown): string | undefined {
  if (!isObject(result)) return "the result is not an object"
  if (isInputRequired(result)) return 'by hand, input is required with a result of type "input_required"'
  return notPlainJson(result, "the result")
}

/** The answer with a raw result, which is plain JSON. */
export function writeResult(call: Call, result: JsonObject): Answer {
  call.outcome = outcomeOf(result)
  return call.result(JSON.stringify(fillIn(call, result)))
}

/** How a call with this result ends. */
export function outcomeOf({ resultType, isError }: JsonObject): Outcome {
  if (resultType === "input_required") return "input_required"
  return isError === true ? "tool_error" : "complete"
}

function fillIn({ facts: { served, method } }: Call, result: JsonObject): JsonObject {
  if (!served.revision.selfDescribingResults) return result
  const meta = isJsonObject(result["_meta"]) ? result["_meta"] : {}
  const resultType = result["resultType"] ?? "complete"
  const hints =
    served.revision.methods.get(method)?.cacheable === true && resultType === "complete" ? DEFAULT_FRESHNESS : {}
  return { ...hints, ...result, resultType, _meta: { [META.serverInfo]: served.identity, ...meta } }
}
