/** From one inbound message to its answer: decides the era, finds the method, runs it, and cleans up behind it. */
import { codes } from "../core/error/codes.js"
import { type Fault, fault } from "../core/error/fault.js"
import {
  type Answer,
  accepted,
  type Endpoint,
  type Exchange,
  type InFlight,
  type Peer,
  refuse,
  silent,
} from "../core/exchange.js"
import type { LogLevel } from "../core/feature/log-level.js"
import type { Principal } from "../core/http/gate.js"
import { HEADER_LAST_EVENT, type HeaderFacts } from "../core/http/header.js"
import type { Limits } from "../core/limits.js"
import {
  decideInbound,
  decidePipe,
  type Inbound,
  methodNotFound,
  regardsSession,
  sessionNotFound,
} from "../core/negotiate/inbound.js"
import type { MethodFacts, Operation, Revision } from "../core/revision/revision.js"
import { findRevision, preferredLegacy } from "../core/revision/table.js"
import {
  isRequestId,
  type JsonObject,
  type Message,
  type RequestId,
  type RequestMessage,
} from "../core/wire/message.js"
import type { Outcome } from "../observe/event.js"
import type { Clock, MaybePromise } from "../store/port.js"
import { Calls, draining } from "./calls.js"
import { Call, type CallFacts } from "./context.js"
import {
  cancelAll,
  createSession,
  endSession,
  type Session,
  type SessionHost,
  type SessionRecord,
  type Sessions,
} from "./era/session.js"
import type { Asking } from "./input/asking.js"
import { initialized, readInitialize } from "./method/lifecycle.js"
import { callManual } from "./method/manual.js"
import { internalError, internalFault, notServed, overloaded, referenceTo } from "./method/refusal.js"
import { type Pipeline, runAround } from "./middleware.js"
import type { Profile } from "./profile.js"
import type { Snapshot } from "./registry.js"
import { routes } from "./routes.js"
import type { ServedRevision } from "./served.js"
import type { Listens } from "./stream/listens.js"
import { beginStream, describeRequest, type RequestWatch, transportOf } from "./watch.js"

/** The parts that {@link createEndpoint} is made of. */
export interface EndpointParts {
  readonly profile: Profile
  /** The definitions of this moment, as far as a caller can see them. */
  readonly snapshot: (caller: Principal | undefined) => Snapshot
  /** Undefined when legacy clients are served without sessions. */
  readonly sessions: Sessions | undefined
  /** What legacy sessions are made with, those on pipes too. */
  readonly host: SessionHost
  /** Undefined when clients of the modern era may hold no streams open. */
  readonly listens: Listens | undefined
  readonly asking: Asking
  readonly middleware: Pipeline
  readonly requests: RequestWatch
  readonly limits: Limits
  readonly clock: Clock
  /** Called once the endpoint is closed. */
  readonly onClose: () => void
}

/** A legacy handshake that may be answered. */
interface Opening {
  readonly message: RequestMessage
  readonly record: SessionRecord
  readonly served: ServedRevision
  readonly snapshot: Snapshot
}

/** What a call is told of its caller, in either era. */
type Caller = Pick<CallFacts, "clientCapabilities" | "clientInfo" | "logLevel" | "session">

const NOBODY: Caller = { clientCapabilities: {}, clientInfo: undefined, logLevel: undefined, session: undefined }

/** The least level that a legacy client hears until it sets one. */
const LEGACY_LOG_LEVEL: LogLevel = "info"

const STOPPED = "the server stopped"

/** The endpoint of one server on one transport. */
export function createEndpoint(parts: EndpointParts): Endpoint {
  return new ServerEndpoint(parts)
}

class ServerEndpoint implements Endpoint {
  readonly #parts: EndpointParts
  readonly #calls: Calls
  #stopped = false
  readonly #save = (session: Session): void => {
    if (session.id !== "") this.#parts.sessions?.save(session)
  }

  constructor(parts: EndpointParts) {
    this.#parts = parts
    this.#calls = new Calls(parts.limits, parts.clock, (call, said) => this.#ended(call, said))
  }

  serve(message: Message, exchange: Exchange): Answer | Promise<Answer> {
    const { header, peer } = exchange
    if (header === undefined) {
      const session = pipeSession(peer)
      return this.#follow(decidePipe(message, session !== undefined), message, exchange, session)
    }
    const { sessions } = this.#parts
    const id = header.session
    if (id === undefined || !regardsSession(header)) {
      return this.#follow(decideInbound(message, header, "none", sessions !== undefined), message, exchange, undefined)
    }
    return this.#afterStore(
      message.id,
      () => sessions?.find(id, peer.principal),
      (session) => this.#inSession(message, exchange, header, session),
      exchange,
    )
  }

  standby(exchange: Exchange): Answer | Promise<Answer> {
    const { header, peer } = exchange
    if (header === undefined) return methodNotAllowed("POST")
    if (this.#calls.isClosing) return this.#refused(draining(), exchange)
    const held = this.#withSession(header, peer.principal, ({ streams }) => {
      if (!exchange.canStream) return refuse(fault(406, codes.invalidRequest, "not_acceptable", NO_STREAM))
      const lastEvent = header.get(HEADER_LAST_EVENT)
      const over = beginStream(this.#parts.profile.topics, lastEvent === undefined ? "standby" : "resumed", exchange)
      return this.#afterStore(
        undefined,
        () => streams?.hold(exchange, lastEvent),
        (answer) => {
          over?.()
          return answer ?? refuse(sessionNotFound())
        },
      )
    })
    return this.#told(held, exchange)
  }

  end(header: HeaderFacts, principal: Principal | undefined): Answer | Promise<Answer> {
    const ended = this.#withSession(header, principal, (session, sessions) =>
      this.#afterStore(
        undefined,
        () => sessions.end(session),
        () => ENDED,
      ),
    )
    return this.#told(ended, { header })
  }

  endStreams(): void {
    this.#parts.listens?.end()
    this.#parts.sessions?.endStreams()
  }

  /** Goes on with the session that an HTTP request without a message names. */
  #withSession(
    header: HeaderFacts,
    principal: Principal | undefined,
    follow: (session: Session, sessions: Sessions) => Answer | Promise<Answer>,
  ): Answer | Promise<Answer> {
    const { sessions } = this.#parts
    if (sessions === undefined || !regardsSession(header)) return methodNotAllowed("POST")
    const id = header.session
    if (id === undefined) return methodNotAllowed("POST, DELETE")
    return this.#afterStore(
      undefined,
      () => sessions.find(id, principal),
      (session) => (session === undefined ? refuse(sessionNotFound()) : follow(session, sessions)),
    )
  }

  /**
   * Goes on with what a store answered, now or later. A store that fails is an internal error, and serves nobody; that is told as
   * the refusal of `exchange`, where nothing else tells how it ended.
   */
  #afterStore<T>(
    id: RequestId | undefined,
    ask: () => MaybePromise<T>,
    follow: (answered: T) => Answer | Promise<Answer>,
    exchange?: Exchange,
  ): Answer | Promise<Answer> {
    const fail = (error: unknown): Answer => {
      const reference = referenceTo("store")
      this.#parts.profile.logger.error("a store failed", { reference, error })
      const refused = refuse(internalFault(500, reference, id))
      return exchange === undefined ? refused : this.#refused(refused, exchange)
    }
    let answered: MaybePromise<T>
    try {
      answered = ask()
    } catch (error) {
      return fail(error)
    }
    return answered instanceof Promise ? answered.then(follow, fail) : follow(answered)
  }

  refused(fault: Fault, transport: "http" | "pipe"): void {
    this.#parts.requests.refused(fault, transport)
  }

  leave(peer: Peer): void {
    const session = pipeSession(peer)
    if (peer.inFlight !== undefined) cancelAll(peer.inFlight, "the connection closed")
    if (session !== undefined) endSession(session, "disconnected")
  }

  drain(): Promise<void> {
    const idle = this.#calls.drain()
    this.endStreams()
    return idle
  }

  close(): number {
    if (this.#stopped) return 0
    this.#stopped = true
    const cut = this.#calls.stop(STOPPED)
    this.#parts.listens?.end()
    this.#parts.sessions?.close()
    this.#parts.onClose()
    return cut
  }

  #refused(answer: Answer, exchange: Pick<Exchange, "header">): Answer {
    if (answer.fault !== undefined) this.#parts.requests.refused(answer.fault, transportOf(exchange))
    return answer
  }

  /** {@link #refused} for what may be no refusal, or comes later. */
  #told(answer: Answer | Promise<Answer>, exchange: Pick<Exchange, "header">): Answer | Promise<Answer> {
    if (!(answer instanceof Promise)) return this.#refused(answer, exchange)
    return answer.then((settled) => this.#refused(settled, exchange))
  }

  #inSession(
    message: Message,
    exchange: Exchange,
    header: HeaderFacts,
    session: Session | undefined,
  ): Answer | Promise<Answer> {
    const state = session === undefined ? "unknown" : "live"
    const inbound = decideInbound(message, header, state, this.#parts.sessions !== undefined)
    return this.#follow(inbound, message, exchange, session)
  }

  #follow(
    inbound: Inbound,
    message: Message,
    exchange: Exchange,
    session: Session | undefined,
  ): Answer | Promise<Answer> {
    switch (inbound.kind) {
      case "modern":
        return this.#runModern(inbound, message as RequestMessage, exchange)
      case "fault":
        return this.#refused(refuse(inbound), exchange)
      case "initialize":
        return this.#initialize(message as RequestMessage, exchange)
      case "session":
        return this.#runLegacy(message, exchange, session, undefined)
      case "stateless":
        return this.#runLegacy(message, exchange, undefined, inbound.revision)
      case "modern-notification":
        if (message.kind === "notification") this.#notice(message.method, message.params, exchange.peer.inFlight)
        return accepted
    }
  }

  #runModern(
    inbound: Extract<Inbound, { kind: "modern" }>,
    message: RequestMessage,
    exchange: Exchange,
  ): Answer | Promise<Answer> {
    const { clientCapabilities, clientInfo, logLevel } = inbound.meta
    const level = this.#parts.profile.logging ? logLevel : undefined
    const caller = { clientCapabilities, clientInfo, logLevel: level, session: undefined }
    return this.#run(message, exchange, inbound.revision, inbound.method, caller, exchange.peer.inFlight)
  }

  #runLegacy(
    message: Message,
    exchange: Exchange,
    session: Session | undefined,
    stated: Revision | undefined,
  ): Answer | Promise<Answer> {
    const inFlight = exchange.peer.inFlight ?? session?.inFlight
    if (message.kind === "notification") {
      this.#notice(message.method, message.params, inFlight)
      return accepted
    }
    if (message.kind !== "request") {
      session?.outbox.settle(message)
      return accepted
    }
    const revision = stated ?? (session === undefined ? preferredLegacy : findRevision(session.record.version))
    const method = revision?.methods.get(message.method)
    if (revision === undefined || method === undefined) {
      return this.#refused(refuse(methodNotFound(message, 200)), exchange)
    }
    return this.#run(message, exchange, revision, method, this.#callerOf(session), inFlight)
  }

  #callerOf(session: Session | undefined): Caller {
    if (session === undefined) return NOBODY
    const { capabilities, clientInfo, logLevel } = session.record
    const level = this.#parts.profile.logging ? (logLevel ?? LEGACY_LOG_LEVEL) : undefined
    return { clientCapabilities: capabilities, clientInfo, logLevel: level, session }
  }

  #initialize(message: RequestMessage, exchange: Exchange): Answer | Promise<Answer> {
    const { requests, profile, snapshot, limits } = this.#parts
    const { peer } = exchange
    const refused = this.#calls.refusal(message.id, peer.principal, true)
    if (refused !== undefined) return this.#refused(refused, exchange)
    const record = readInitialize(message, peer.principal, limits.maxSessionBytes)
    if ("status" in record) return this.#refused(record, exchange)
    const served = servedIn(profile, record.version)
    const opening = { message, record, served, snapshot: snapshot(peer.principal) }
    if (!requests.watched) return this.#open(opening, peer)
    const { id, method, params } = message
    const facts = { id, method, params, served, snapshot: opening.snapshot, clientInfo: record.clientInfo, profile }
    const started = requests.begin(describeRequest({ ...facts, session: undefined }, exchange))
    const end = (answer: Answer): Answer => {
      requests.end(started, answer.fault === undefined ? "complete" : "error", answer, undefined)
      return answer
    }
    const answered = this.#open(opening, peer)
    return answered instanceof Promise ? answered.then(end) : end(answered)
  }

  #open({ message, record, served, snapshot }: Opening, peer: Peer): Answer | Promise<Answer> {
    const { sessions, host, profile } = this.#parts
    if (peer.kind === "pipe") {
      peer.session = createSession(host, "", record, { pipe: peer.sink })
      return initialized(message, served, profile, snapshot, true)
    }
    if (sessions === undefined) return initialized(message, served, profile, snapshot, false)
    const follow = (session: Session | undefined): Answer => {
      if (session === undefined) return overloaded(message.id, "too many sessions")
      const answer = initialized(message, served, profile, snapshot, true)
      return { ...answer, headers: { "Mcp-Session-Id": session.id } }
    }
    return this.#afterStore(message.id, () => sessions.open(record), follow)
  }

  #notice(method: string, params: JsonObject | undefined, inFlight: Map<RequestId, InFlight> | undefined): void {
    const id = params?.["requestId"]
    if (method !== "notifications/cancelled" || inFlight === undefined || !isRequestId(id)) return
    const running = inFlight.get(id)
    if (running === undefined) return
    const reason = params?.["reason"]
    inFlight.delete(id)
    running.cancel(typeof reason === "string" ? reason : undefined)
  }

  #run(
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
    if (full !== undefined) return this.#refused(full, exchange)
    if (inFlight !== undefined) {
      if (inFlight.has(id)) return this.#refused(refuse(duplicateId(id)), exchange)
      if (inFlight.size >= limits.maxInFlightPerPeer) {
        return this.#refused(overloaded(id, "too many requests at once on one connection"), exchange)
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

const NO_STREAM = "Not acceptable: Accept must allow text/event-stream"

function outcomeOf(call: Call, answer: Answer): Outcome {
  if (call.cancelled && !call.isDropped) return "cancelled"
  if (answer.fault !== undefined) return "error"
  return call.suspended ? "input_required" : (call.outcome ?? "complete")
}

const ENDED: Answer = { status: 204, text: undefined, headers: undefined }

function methodNotAllowed(allow: string): Answer {
  return refuse(fault(405, codes.invalidRequest, "method_not_allowed", "Method not allowed"), { Allow: allow })
}

function pipeSession(peer: Peer): Session | undefined {
  return peer.session as Session | undefined
}

function servedIn(profile: Profile, version: string): ServedRevision {
  const served = profile.served.get(version)
  if (served === undefined) throw new Error(`revision ${version} is in the table`)
  return served
}

function duplicateId(id: RequestId): Fault {
  const text = "Invalid request: a request with this id is still being worked on"
  return fault(400, codes.invalidRequest, "duplicate_request_id", text, id)
}
