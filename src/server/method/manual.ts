/** Methods that are written by hand: the handler's result as it is, with what the revision asks of every result. */
import type { Answer } from "../../core/exchange.js"
import { META } from "../../core/feature/envelope.js"
import { DEFAULT_FRESHNESS } from "../../core/feature/freshness.js"
import type { MethodFacts } from "../../core/revision/revision.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { Call } from "../context.js"
import type { ManualHandler } from "../profile.js"
import { notPlainJson } from "../result.js"
import type { ServedRevision } from "../served.js"
import { internalError, raised } from "./refusal.js"

/** Serves one request with a handler written by hand. */
export async function callManual(call: Call, method: MethodFacts, handler: ManualHandler): Promise<Answer> {
  const { served, params } = call.facts
  try {
    const result: unknown = await handler(params ?? {}, call)
    const problem = isJsonObject(result as JsonObject)
      ? notPlainJson(result, "the result")
      : "the result is not an object"
    if (problem !== undefined) throw new TypeError(problem)
    return call.result(JSON.stringify(fillIn(served, method, result as JsonObject)))
  } catch (error) {
    return raised(call, error) ?? internalError(call, `handler of "${method.method}"`, error)
  }
}

function fillIn(served: ServedRevision, method: MethodFacts, result: JsonObject): JsonObject {
  if (!served.revision.selfDescribingResults) return result
  const meta = isJsonObject(result["_meta"]) ? result["_meta"] : {}
  const resultType = result["resultType"] ?? "complete"
  const hints = method.cacheable && resultType === "complete" ? DEFAULT_FRESHNESS : {}
  return { ...hints, ...result, resultType, _meta: { [META.serverInfo]: served.identity, ...meta } }
}
