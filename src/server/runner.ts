/** Runs one request: its place among the others, its call, whatever is put around it, and what is cleaned up behind it. */

import { codes } from "../core/error/codes.js"
import { type Fault, fault } from "../core/error/fault.js"
import { type Answer, type Exchange, type InFlight, refuse, silent } from "../core/exchange.js"
import type { MethodFacts, Operation, Revision } from "../core/revision/revision.js"
import type { RequestId, RequestMessage } from "../core/wire/message.js"
import type { Outcome } from "../observe/event.js"
import { Call, type CallFacts } from "./call.js"
import { Calls } from "./calls.js"
import type { EndpointParts } from "./dispatch.js"
import type { Session } from "./era/session.js"
import { callManual } from "./method/manual.js"
import { internalError, notServed, overloaded } from "./method/refusal.js"
import { runAround } from "./middleware.js"
import type { Profile } from "./profile.js"
import { routes } from "./routes.js"
import type { ServedRevision } from "./served.js"
import { transportOf } from "./watch.js"

/** What a call is told of its caller, in either era. */
export type Caller = Pick<CallFacts, "clientCapabilities" | "clientInfo" | "logLevel" | "session">

/** Runs the requests of one endpoint. */
export class Runner {
  readonly #parts: EndpointParts
  readonly #calls: Calls
  readonly #save = (session: Session): void => {
    if (session.id !== "") this.#parts.sessions?.save(session)
  }

  constructor(parts: EndpointParts) {
    this.#parts = parts
    this.#calls = new Calls(parts.limits, parts.clock, (call, said) => this.#ended(call, said))
  }

  /** The calls that are worked on. */
  get calls(): Calls {
    return this.#calls
  }

  /** Tells whoever watches of an answer that refuses; answers it. */
  refused(answer: Answer, exchange: Pick<Exchange, "header">): Answer {
    if (answer.fault !== undefined) this.#parts.requests.refused(answer.fault, transportOf(exchange))
    return answer
  }

  /** Runs a request for its caller, in its revision. */
  run(
    message: RequestMessage,
    exchange: Exchange,
    revision: Revision,
    method: MethodFacts,
    caller: Caller,
    inFlight: Map<RequestId, InFlight> | undefined,
  ): Answer | Promise<Answer> {
    const { limits, profile, snapshot } = this.#parts
    const { id } = message
    const full = this.#calls.refusal(id, exchange.peer.principal, method.stays)
    if (full !== undefined) return this.refused(full, exchange)
    if (inFlight !== undefined) {
      if (inFlight.has(id)) return this.refused(refuse(duplicateId(id)), exchange)
      if (inFlight.size >= limits.maxInFlightPerPeer) {
        return this.refused(overloaded(id, "too many requests at once on one connection"), exchange)
      }
    }
    const { clientCapabilities, clientInfo, logLevel, session } = caller
    const stream = session?.streams?.carry(exchange)
    const call = new Call(
      {
        id,
        method: message.method,
        params: message.params,
        served: servedIn(profile, revision.version),
        snapshot: snapshot(exchange.peer.principal),
        clientCapabilities,
        clientInfo,
        logLevel,
        session,
        listens: this.#parts.listens,
        stream,
        stays: method.stays,
        mayAsk: method.mayAsk,
        asking: this.#parts.asking,
        inFlight,
        save: this.#save,
        profile,
        calls: this.#calls,
      },
      stream ?? exchange,
    )
    inFlight?.set(id, call)
    if (!method.stays) this.#calls.enter()
    return this.#settle(call, this.#enter(call, method))
  }

  /** Runs a method inside of whatever is put around it. */
  #enter(call: Call, method: MethodFacts): Answer | Promise<Answer> {
    const { middleware, requests } = this.#parts
    const chain = middleware.around(method.method)
    const { watched } = requests
    if (chain === undefined && !watched) return this.#route(call, method)
    const route = (): Answer | Promise<Answer> => this.#route(call, method)
    const work = chain === undefined ? route : () => runAround(call, chain, route)
    if (!watched) return work()
    call.started = requests.begin(call.described)
    return requests.run(call.described, work)
  }

  #route(call: Call, method: MethodFacts): Answer | Promise<Answer> {
    const { manual } = call.facts.profile
    const { operation } = method
    if (operation === "initialize") return notServed(call)
    if (manual !== undefined && !OWN.has(operation)) {
      const byHand = manual.get(method.method)
      if (byHand !== undefined) return callManual(call, byHand)
      if (operation !== "discover" && operation !== "ping") return notServed(call)
    }
    try {
      return routes[operation](call)
    } catch (error) {
      return internalError(call, call.facts.method, error)
    }
  }

  #settle(call: Call, outcome: Answer | Promise<Answer>): Answer | Promise<Answer> {
    if (!(outcome instanceof Promise)) return this.#conclude(call, outcome)
    if (!call.facts.stays) this.#calls.hold(call)
    return outcome.then(
      (answer) => this.#conclude(call, answer),
      (error: unknown) => this.#conclude(call, internalError(call, call.facts.method, error)),
    )
  }

  #conclude(call: Call, answer: Answer): Answer | Promise<Answer> {
    return call.unsettled ? call.settled(answer).then((last) => this.#finish(call, last)) : this.#finish(call, answer)
  }

  #finish(call: Call, answer: Answer): Answer {
    const { session, stream, stays } = call.facts
    if (!stays) this.#calls.leave(call)
    call.release()
    if (session !== undefined) session.seenAtMs = this.#parts.clock.now()
    this.#ended(call, call.delivered ?? answer)
    if (call.cancelled) return silent
    call.end()
    return stream?.conclude(answer) ?? answer
  }

  /** Tells whoever watches that a request is over, once. */
  #ended(call: Call, sent: Answer): void {
    const { started } = call
    if (started === undefined) return
    call.started = undefined
    this.#parts.requests.end(started, outcomeOf(call, sent), sent, call.failure)
  }
}

/** What the server serves itself, also when it is written by hand. */
const OWN: ReadonlySet<Operation> = new Set(["listen", "subscribe", "unsubscribe"])

function outcomeOf(call: Call, answer: Answer): Outcome {
  if (call.cancelled && !call.isDropped) return "cancelled"
  if (answer.fault !== undefined) return "error"
  return call.suspended ? "input_required" : (call.outcome ?? "complete")
}

/** The revision with this version, as the server speaks it. */
export function servedIn(profile: Profile, version: string): ServedRevision {
  const served = profile.served.get(version)
  if (served === undefined) throw new Error(`revision ${version} is in the table`)
  return served
}

function duplicateId(id: RequestId): Fault {
  const text = "Invalid request: a request with this id is still being worked on"
  return fault(400, codes.invalidRequest, "duplicate_request_id", text, id)
}
