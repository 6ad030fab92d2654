/** The four lists: one page each, serialised once per snapshot. */

import { codes } from "../../core/error/codes.js"
import { fault } from "../../core/error/fault.js"
import { type Answer, refuse } from "../../core/exchange.js"
import type { Call } from "../call.js"
import type { DefinitionKind, Snapshot } from "../registry.js"
import { completeResult } from "../served.js"
import { invalidParams, notServed } from "./refusal.js"

/**
 * Serves one of the lists.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
export function listOf(kind: DefinitionKind): (call: Call) => Answer {
  return (call) => {
    const { params, snapshot, served, id } = call.facts
    if (!isOffered(kind, snapshot)) return notServed(call)
    const cursor = params?.["cursor"]
    if (cursor !== undefined && typeof cursor !== "string") return invalidParams(call, '"cursor" must be a string')
    const page = snapshot.page(kind, served.revision, cursor)
    if (page === undefined) {
      const text = "Invalid params: the cursor is not one of this list's, or its entry is gone; start again without one"
      return refuse(fault(200, codes.invalidParams, "invalid_cursor", text, id))
    }
    return call.result(completeResult(served, page))
  }
}

/** Resources and their templates are one capability: whoever has one of them answers for both. */
function isOffered(kind: DefinitionKind, snapshot: Snapshot): boolean {
  if (kind === "tools" || kind === "prompts") return snapshot[kind].size > 0
  return snapshot.resources.size > 0 || snapshot.templates.size > 0
}
