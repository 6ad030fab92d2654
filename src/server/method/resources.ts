/** `resources/read`. */

import { fault } from "../../core/error/fault.js"
import { type Answer, refuse } from "../../core/exchange.js"
import { DEFAULT_FRESHNESS, type Freshness } from "../../core/feature/freshness.js"
import { clampText } from "../../core/feature/text.js"
import { hasTraversal } from "../../core/feature/uri-template.js"
import type { ResourceContents } from "../../core/model/content.js"
import type { Call } from "../call.js"
import { encodeContents, isContents, isInputRequired } from "../define/content.js"
import { isUri, type ResourceReturn } from "../define/resource.js"
import { askByHand } from "../input/by-hand.js"
import { afterSuspension, enterRound } from "../input/round.js"
import type { Snapshot } from "../registry.js"
import { notPlainJson } from "../result.js"
import { completeResult } from "../served.js"
import { failed, internalError, invalidParams, notServed } from "./refusal.js"

/** A resource that was found for a uri, whichever definition it came from. */
interface Found {
  readonly uri: string
  readonly mimeType: string | undefined
  readonly freshness: Freshness
  read(call: Call): ResourceReturn | Promise<ResourceReturn>
}

/**
 * Serves `resources/read`: a resource with that uri first, then the templates in order of definition.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#reading-resources
 */
export async function readResource(call: Call): Promise<Answer> {
  const { params, snapshot } = call.facts
  if (snapshot.resources.size === 0 && snapshot.templates.size === 0) return notServed(call)
  const uri = params?.["uri"]
  if (typeof uri !== "string") return invalidParams(call, '"uri" must be a string')
  if (!isUri(uri))
    return invalidParams(call, `"uri" is not an absolute URI: ${clampText(uri)}`, { uri: clampText(uri) })
  const found = find(snapshot, uri)
  if (found === undefined) return notFound(call, uri)
  return enterRound(call, false, () => read(call, found))
}

async function read(call: Call, found: Found): Promise<Answer> {
  const what = `resource "${clampText(found.uri)}"`
  try {
    const returned = await found.read(call)
    if (call.suspended) return afterSuspension(call, what, undefined)
    if (isInputRequired(returned)) return await askByHand(call, returned, () => read(call, found))
    return returned === undefined ? notFound(call, found.uri) : toAnswer(call, found, returned)
  } catch (error) {
    return call.suspended ? afterSuspension(call, what, { error }) : failed(call, what, error)
  }
}

/** Whether there is a resource, or a template of one, with that uri. */
export function isReadable(snapshot: Snapshot, uri: string): boolean {
  return isUri(uri) && find(snapshot, uri) !== undefined
}

function find(snapshot: Snapshot, uri: string): Found | undefined {
  const fixed = snapshot.resources.get(uri)
  if (fixed !== undefined) {
    const { freshness = DEFAULT_FRESHNESS, listed } = fixed
    return { uri, mimeType: listed.mimeType, freshness, read: (call) => fixed.read(call) }
  }
  for (const definition of snapshot.templates.values()) {
    const variables = definition.template.match(uri)
    if (variables === undefined) continue
    if (Object.values(variables).some((value) => [value].flat().some(hasTraversal))) return undefined
    const { freshness = DEFAULT_FRESHNESS, listed } = definition
    const read = (call: Call): ResourceReturn | Promise<ResourceReturn> => definition.read(variables as never, call)
    return { uri, mimeType: listed.mimeType, freshness, read }
  }
  return undefined
}

/** The refusal of a resource that is not there. */
export function notFound(call: Call, uri: string): Answer {
  const { served, id } = call.facts
  const text = `Resource not found: ${clampText(uri)}`
  return refuse(fault(200, served.revision.resourceNotFoundCode, "resource_not_found", text, id, { uri }))
}

function toAnswer(call: Call, found: Found, returned: Exclude<ResourceReturn, undefined>): Answer {
  const { served } = call.facts
  const items = encode(found, returned)
  if (typeof items === "string") return internalError(call, `resource "${clampText(found.uri)}"`, new Error(items))
  const freshness = call.round === undefined ? found.freshness : DEFAULT_FRESHNESS
  const hints = served.revision.selfDescribingResults ? call.facts.snapshot.hints(freshness) : {}
  return call.result(completeResult(served, JSON.stringify({ contents: items, ...hints }).slice(1, -1)))
}

/** What was read as contents, or why it cannot be. */
function encode(found: Found, returned: Exclude<ResourceReturn, undefined>): readonly ResourceContents[] | string {
  const { uri, mimeType } = found
  if (typeof returned === "string") return [encodeContents({ text: returned }, uri, mimeType)]
  if (returned instanceof Uint8Array) return [encodeContents({ blob: returned }, uri, mimeType)]
  if (isContents(returned)) {
    return returned.items.length === 0
      ? "contents() is empty; return undefined when there is no such resource"
      : returned.items.map((item) => encodeContents(item, uri, item.mimeType ?? mimeType))
  }
  const problem = notPlainJson(returned, "the returned value")
  return problem ?? [encodeContents({ text: JSON.stringify(returned) }, uri, mimeType ?? "application/json")]
}
