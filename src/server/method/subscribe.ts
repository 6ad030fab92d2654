/** `resources/subscribe` and `resources/unsubscribe`: which resources a legacy session hears of. */
import type { Answer } from "../../core/exchange.js"
import type { Call } from "../call.js"
import { completeResult } from "../served.js"
import type { SessionReader } from "../stream/session-reader.js"
import { canWatch } from "./listen.js"
import { callManual } from "./manual.js"
import { invalidParams, notServed, overloaded } from "./refusal.js"
import { notFound } from "./resources.js"

/**
 * Serves `resources/subscribe`.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/resources#subscriptions
 */
export function subscribe(call: Call): Answer | Promise<Answer> {
  return withReader(call, (reader, uri) => {
    if (!canWatch(call, uri)) return notFound(call, uri)
    if (!reader.hasRoom(uri)) return overloaded(call.facts.id, "too many watched resources")
    return answered(call, () => reader.watch(uri))
  })
}

/** Serves `resources/unsubscribe`, also of a resource that was not subscribed to. */
export function unsubscribe(call: Call): Answer | Promise<Answer> {
  return withReader(call, (reader, uri) => answered(call, () => reader.unwatch(uri)))
}

function withReader(
  call: Call,
  serve: (reader: SessionReader, uri: string) => Answer | Promise<Answer>,
): Answer | Promise<Answer> {
  const { session, profile, snapshot, params } = call.facts
  const declared = profile.capabilities(snapshot, { changes: session !== undefined, logs: true })
  if (session === undefined || declared.resources?.subscribe !== true) return notServed(call)
  const uri = params?.["uri"]
  return typeof uri === "string" ? serve(session.reader, uri) : invalidParams(call, '"uri" must be a string')
}

/** The empty result, or that of a handler written by hand; `change` is made unless that handler refuses. */
function answered(call: Call, change: () => void): Answer | Promise<Answer> {
  const handler = call.facts.profile.manual?.get(call.facts.method)
  if (handler === undefined) {
    change()
    return call.result(completeResult(call.facts.served, ""))
  }
  return callManual(call, async (params, ctx) => {
    const result = await handler(params, ctx)
    change()
    return result
  })
}
