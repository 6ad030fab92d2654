/** A revision as one server speaks it: its results' opening, written once. */
import { META } from "../core/feature/envelope.js"
import type { Implementation } from "../core/model/identity.js"
import type { Revision } from "../core/revision/revision.js"
import type { JsonObject } from "../core/wire/message.js"

/** One revision together with what this server says of itself in it. */
export interface ServedRevision {
  readonly revision: Revision
  /** The server's name and version, as the revision sends it. */
  readonly identity: JsonObject
  /** The opening of every complete result without further `_meta`. */
  readonly head: string
}

/** The revision as a server with this implementation speaks it. */
export function createServed(revision: Revision, implementation: Implementation): ServedRevision {
  const identity = revision.encode.implementation(implementation)
  return { revision, identity, head: writeHead(revision, identity, undefined) }
}

/**
 * A complete result as JSON text, from its members as text.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#result-responses
 */
export function completeResult(served: ServedRevision, members: string, meta?: JsonObject): string {
  const head = meta === undefined ? served.head : writeHead(served.revision, served.identity, meta)
  if (members === "") return `${head}}`
  return head === "{" ? `{${members}}` : `${head},${members}}`
}

/**
 * A result that asks the client for input, as JSON text.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#inputrequiredresult
 */
export function inputRequiredResult(served: ServedRevision, requests: JsonObject, requestState: string): string {
  const _meta = { [META.serverInfo]: served.identity }
  return JSON.stringify({ resultType: "input_required", inputRequests: requests, requestState, _meta })
}

function writeHead(revision: Revision, identity: JsonObject, meta: JsonObject | undefined): string {
  if (revision.selfDescribingResults) {
    return JSON.stringify({ resultType: "complete", _meta: { ...meta, [META.serverInfo]: identity } }).slice(0, -1)
  }
  return meta === undefined ? "{" : JSON.stringify({ _meta: meta }).slice(0, -1)
}
