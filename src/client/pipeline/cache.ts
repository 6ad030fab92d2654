/**
 * Answers calls from what is kept, keeps what the server lets be kept, and sends one request for all calls that ask the same at the
 * same time.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import { McpError } from "../../core/error/error.js"
import { type CacheRequest, toCacheRequest } from "../../core/feature/caching.js"
import type { MethodFacts, Revision } from "../../core/revision/revision.js"
import type { JsonObject } from "../../core/wire/message.js"
import { Flight } from "../cache/flight.js"
import type { Shelf } from "../cache/shelf.js"
import type { Call } from "../call.js"
import type { Attempt, Next, Stage } from "./stage.js"

/** What the stage asks of the client. */
export interface CacheHost {
  readonly shelf: Shelf
  readonly revision: () => Revision
}

/** A request of a call that may be kept. */
interface Cacheable extends CacheRequest {
  readonly operation: MethodFacts["operation"]
}

/**
 * The stage. It has to do with methods only whose results say how long they are fresh. Whoever asks after another call of the client
 * has ended gets an answer of after that: it joins no request that is older.
 */
export function createCache({ shelf, revision }: CacheHost): Stage {
  const flights = new Map<string, Flight>()
  let otherEndedAtMs = Number.NEGATIVE_INFINITY
  const otherEnded = (): void => {
    otherEndedAtMs = shelf.now()
  }

  const ask = async (request: Cacheable, call: Call, attempt: Attempt, next: Next): Promise<JsonObject> => {
    const kept = call.settings.cache === "reload" ? undefined : shelf.find(request)
    const found = kept === undefined ? undefined : await kept
    if (found !== undefined) return found
    if (call.isOver) throw new McpError("the call ended", { kind: "cancelled", reason: "call_ended" })
    const sentAtMs = shelf.now()
    const result = await next(call, attempt)
    if (call.rounds === 0) shelf.keep(request, request.operation, result, sentAtMs)
    return result
  }

  const fly = (request: Cacheable, call: Call, attempt: Attempt, next: Next): Promise<JsonObject | undefined> => {
    const place = JSON.stringify([request.context, request.key])
    const open = call.settings.cache === "reload" ? undefined : flights.get(place)
    if (open !== undefined && open.sentAtMs > otherEndedAtMs && open.suits(call.settings)) {
      if (!shelf.isOutdated(request, open.sentAtMs)) return open.join(call)
    }
    const flight: Flight = new Flight(call, shelf.now(), () => {
      if (flights.get(place) === flight) flights.delete(place)
    })
    flights.set(place, flight)
    return flight.start(call, (own) => ask(request, own, attempt, next))
  }

  return (call, attempt, next) => {
    const { method, settings } = call
    const { version, methods } = revision()
    const facts = methods.get(method)
    if (facts?.cacheable !== true) {
      call.onEnd(otherEnded)
      return next(call, attempt)
    }
    const who = settings.cache === "no-store" || settings.headers !== undefined ? undefined : shelf.context()
    if (who === undefined) return next(call, attempt)
    const { extensions } = settings
    const filed = toCacheRequest(method, { version, params: attempt.params, extensions, context: who })
    if (filed === undefined) return next(call, attempt)
    const request = { ...filed, operation: facts.operation }
    // Who wants to hear of progress hears of its own request's.
    if (settings.onProgress !== undefined || settings.resetTimeoutOnProgress) return ask(request, call, attempt, next)
    return fly(request, call, attempt, next).then((result) => result ?? next(call, attempt))
  }
}
