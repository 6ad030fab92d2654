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
import type { Revision } from "../core/revision/revision.js"
import { findRevision, preferredLegacy } from "../core/revision/table.js"
import {
  answerId,
  isRequestId,
  type JsonObject,
  type Message,
  type RequestId,
  type RequestMessage,
} from "../core/wire/message.js"
import type { Clock, MaybePromise } from "../store/port.js"
import { draining } from "./calls.js"
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
import { internalFault, overloaded, referenceTo } from "./method/refusal.js"
import type { Pipeline } from "./middleware.js"
import type { Profile } from "./profile.js"
import type { Snapshot } from "./registry.js"
import { type Caller, Runner, servedIn } from "./runner.js"
import type { ServedRevision } from "./served.js"
import type { Listens } from "./stream/listens.js"
import { beginStream, describeRequest, type RequestWatch } from "./watch.js"

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
  readonly #runner: Runner
  #stopped = false

  constructor(parts: EndpointParts) {
    this.#parts = parts
    this.#runner = new Runner(parts)
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
      answerId(message),
      () => sessions?.find(id, peer.principal),
      (session) => this.#inSession(message, exchange, header, session),
      exchange,
    )
  }

  standby(exchange: Exchange): Answer | Promise<Answer> {
    const { header, peer } = exchange
    if (header === undefined) return methodNotAllowed("POST")
    if (this.#runner.calls.isClosing) return this.#runner.refused(draining(), exchange)
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
      return exchange === undefined ? refused : this.#runner.refused(refused, exchange)
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
    const idle = this.#runner.calls.drain()
    this.endStreams()
    return idle
  }

  close(): number {
    if (this.#stopped) return 0
    this.#stopped = true
    const cut = this.#runner.calls.stop(STOPPED)
    this.#parts.listens?.end()
    this.#parts.sessions?.close()
    this.#parts.onClose()
    return cut
  }

  /** Tells whoever watches of an answer that may be a refusal, and may come later. */
  #told(answer: Answer | Promise<Answer>, exchange: Pick<Exchange, "header">): Answer | Promise<Answer> {
    if (!(answer instanceof Promise)) return this.#runner.refused(answer, exchange)
    return answer.then((settled) => this.#runner.refused(settled, exchange))
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
        return this.#runner.refused(refuse(inbound), exchange)
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
    return this.#runner.run(message, exchange, inbound.revision, inbound.method, caller, exchange.peer.inFlight)
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
      return this.#runner.refused(refuse(methodNotFound(message, 200)), exchange)
    }
    return this.#runner.run(message, exchange, revision, method, this.#callerOf(session), inFlight)
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
    const refused = this.#runner.calls.refusal(message.id, peer.principal, true)
    if (refused !== undefined) return this.#runner.refused(refused, exchange)
    const record = readInitialize(message, peer.principal, limits.maxSessionBytes)
    if ("status" in record) return this.#runner.refused(record, exchange)
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
}

const NO_STREAM = "Not acceptable: Accept must allow text/event-stream"

const ENDED: Answer = { status: 204, text: undefined, headers: undefined }

function methodNotAllowed(allow: string): Answer {
  return refuse(fault(405, codes.invalidRequest, "method_not_allowed", "Method not allowed"), { Allow: allow })
}

function pipeSession(peer: Peer): Session | undefined {
  return peer.session as Session | undefined
}
