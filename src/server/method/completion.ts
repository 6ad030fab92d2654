/** `completion/complete`. */

import { codes } from "../../core/error/codes.js"
import { fault } from "../../core/error/fault.js"
import { type Answer, refuse } from "../../core/exchange.js"
import { clampText } from "../../core/feature/text.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import type { Completer } from "../define/resource-template.js"
import type { Snapshot } from "../registry.js"
import { completeResult } from "../served.js"
import { internalError, invalidParams, notServed, raised } from "./refusal.js"

/** How many values an answer may hold. */
const MAX_VALUES = 100

/**
 * Serves `completion/complete`, for the arguments of prompts and the variables of resource templates.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/completion
 */
export async function complete(call: Call): Promise<Answer> {
  const { params, snapshot, id } = call.facts
  if (!snapshot.completes) return notServed(call)
  const argument = params?.["argument"]
  if (!isJsonObject(argument) || typeof argument["name"] !== "string" || typeof argument["value"] !== "string") {
    return invalidParams(call, '"argument" must have a "name" and a "value", both strings')
  }
  const target = findTarget(snapshot, params?.["ref"])
  if ("problem" in target) {
    return target.unknown === undefined
      ? invalidParams(call, target.problem)
      : refuse(fault(200, codes.invalidParams, target.unknown, target.problem, id))
  }
  const context = params?.["context"]
  const known = readArguments(isJsonObject(context) ? context["arguments"] : undefined)
  if (known === undefined) return invalidParams(call, '"context.arguments" must be an object of strings')
  call.arguments = known
  const completer = target.completers.get(argument["name"])
  if (completer === undefined) return toAnswer(call, [])
  try {
    return toAnswer(call, await completer(argument["value"], call))
  } catch (error) {
    return raised(call, error) ?? internalError(call, `completion of "${clampText(argument["name"], 40)}"`, error)
  }
}

type Target =
  | { readonly completers: ReadonlyMap<string, Completer> }
  | { readonly problem: string; readonly unknown?: "unknown_prompt" | "resource_not_found" }

function findTarget(snapshot: Snapshot, ref: JsonValue | undefined): Target {
  if (!isJsonObject(ref)) return { problem: '"ref" must be an object' }
  if (ref["type"] === "ref/prompt") {
    const name = ref["name"]
    if (typeof name !== "string") return { problem: '"ref.name" must be a string' }
    return snapshot.prompts.get(name) ?? { problem: `Unknown prompt: ${clampText(name)}`, unknown: "unknown_prompt" }
  }
  if (ref["type"] !== "ref/resource") return { problem: '"ref.type" must be "ref/prompt" or "ref/resource"' }
  const uri = ref["uri"]
  if (typeof uri !== "string") return { problem: '"ref.uri" must be a string' }
  if (snapshot.resources.has(uri)) return { completers: new Map() }
  return (
    snapshot.templates.get(uri) ?? {
      problem: `Unknown resource template: ${clampText(uri)}`,
      unknown: "resource_not_found",
    }
  )
}

function readArguments(value: JsonValue | undefined): Readonly<Record<string, string>> | undefined {
  if (value === undefined) return {}
  if (!isJsonObject(value) || !isTexts(value)) return undefined
  return value
}

function isTexts(value: JsonObject): value is Readonly<Record<string, string>> {
  return Object.values(value).every((member) => typeof member === "string")
}

function toAnswer(call: Call, all: readonly string[]): Answer {
  const values = all.slice(0, MAX_VALUES)
  if (!values.every((value) => typeof value === "string")) throw new TypeError("a completer returns a list of texts")
  const completion = { values, total: all.length, hasMore: all.length > values.length }
  return call.result(completeResult(call.facts.served, `"completion":${JSON.stringify(completion)}`))
}
