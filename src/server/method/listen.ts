/** `subscriptions/listen`: a stream of changes that stays open. */
import { codes } from "../../core/error/codes.js"
import { fault } from "../../core/error/fault.js"
import { type Answer, refuse } from "../../core/exchange.js"
import { honourFilter, LISTS, type ListenOffer, parseListenFilter } from "../../core/feature/listen.js"
import type { Call } from "../call.js"
import { invalidParams } from "./refusal.js"
import { isReadable } from "./resources.js"

/** The longest uri that is watched, in characters. */
const MAX_URI_LENGTH = 2_048

/**
 * Serves `subscriptions/listen`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
export function listen(call: Call): Answer | Promise<Answer> {
  const { listens, params, id } = call.facts
  if (listens === undefined) {
    return refuse(fault(404, codes.methodNotFound, "method_not_found", NOT_HERE, id))
  }
  if (!call.exchange.canStream) {
    const text = "Not acceptable: subscriptions/listen is answered by a stream, so Accept must allow text/event-stream"
    return refuse(fault(406, codes.invalidRequest, "not_acceptable", text, id))
  }
  const read = parseListenFilter(params?.["notifications"])
  if ("problem" in read) return invalidParams(call, read.problem)
  const { maxSubscriptionsPerPeer } = listens.limits
  if ((read.filter.resourceSubscriptions?.length ?? 0) > maxSubscriptionsPerPeer) {
    return invalidParams(call, `at most ${maxSubscriptionsPerPeer} resources may be watched on one stream`)
  }
  return listens.open(call, honourFilter(read.filter, offerTo(call)))
}

const NOT_HERE =
  "Method not found: subscriptions/listen needs a process that holds streams, and this server runs without (listen: false)"

/** What the caller can be told: what is declared, and of resources those that it can read. */
function offerTo(call: Call): ListenOffer {
  const { profile, snapshot } = call.facts
  const declared = profile.capabilities(snapshot, { changes: true, logs: true })
  const lists = LISTS.filter((list) => declared[list]?.listChanged === true)
  const watches = declared.resources?.subscribe === true
  return { lists: new Set(lists), hasResource: (uri) => watches && canWatch(call, uri) }
}

/** Whether the caller may watch a resource, where any may be watched. A server written by hand knows which there are. */
export function canWatch(call: Call, uri: string): boolean {
  const { profile, snapshot } = call.facts
  return uri.length <= MAX_URI_LENGTH && (profile.manual !== undefined || isReadable(snapshot, uri))
}
