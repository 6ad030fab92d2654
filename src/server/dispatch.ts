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
import type { HeaderFacts } from "../core/http/header.js"
import type { Limits } from "../core/limits.js"
import {
  decideInbound,
  decidePipe,
  type Inbound,
  methodNotFound,
  regardsSession,
  sessionNotFound,
} from "../core/negotiate/inbound.js"
import type { MethodFacts, Revision } from "../core/revision/revision.js"
import { findRevision, preferredLegacy } from "../core/revision/table.js"
import {
  isRequestId,
  type JsonObject,
  type Message,
  type RequestId,
  type RequestMessage,
} from "../core/wire/message.js"
import type { Clock, MaybePromise } from "../store/port.js"
import { Call, type CallFacts, type CallWatch } from "./context.js"
import { cancelAll, createSession, type Session, type Sessions } from "./era/session.js"
import type { Asking } from "./input/asking.js"
import { initialized, readInitialize } from "./method/lifecycle.js"
import { callManual } from "./method/manual.js"
import { internalError, internalFault, notServed, referenceTo } from "./method/refusal.js"
import type { Profile } from "./profile.js"
import type { Snapshot } from "./registry.js"
import { routes } from "./routes.js"
import type { ServedRevision } from "./served.js"

/** The parts that {@link createEndpoint} is made of. */
export interface EndpointParts {
  readonly profile: Profile
  /** The definitions of this moment. */
  readonly snapshot: () => Snapshot
  /** Undefined when legacy clients are served without sessions. */
  readonly sessions: Sessions | undefined
  readonly asking: Asking
  readonly limits: Limits
  readonly clock: Clock
  /** Called once the endpoint is closed. */
  readonly onClose: () => void
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
  #running = 0
  #stopped = false
  readonly #watched = new Set<InFlight>()
  readonly #watch: CallWatch = {
    add: (call) => void (this.#stopped ? call.cancel(STOPPED) : this.#watched.add(call)),
    delete: (call) => void this.#watched.delete(call),
  }
  readonly #save = (session: Session): void => {
    if (session.id !== "") this.#parts.sessions?.save(session)
  }

  constructor(parts: EndpointParts) {
    this.#parts = parts
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
    )
  }

  end(header: HeaderFacts, principal: Principal | undefined, method: "DELETE" | "GET"): Answer | Promise<Answer> {
    const { sessions } = this.#parts
    if (sessions === undefined || !regardsSession(header)) return methodNotAllowed("POST")
    const id = header.session
    if (id === undefined) return methodNotAllowed("POST, DELETE")
    return this.#afterStore(
      undefined,
      () => sessions.find(id, principal),
      (session) => {
        if (session === undefined) return refuse(sessionNotFound())
        if (method === "GET") return methodNotAllowed("POST, DELETE")
        return this.#afterStore(
          undefined,
          () => sessions.end(session),
          () => ENDED,
        )
      },
    )
  }

  /** Goes on with what a store answered, now or later. A store that fails is an internal error, and serves nobody. */
  #afterStore<T>(
    id: RequestId | undefined,
    ask: () => MaybePromise<T>,
    follow: (answered: T) => Answer | Promise<Answer>,
  ): Answer | Promise<Answer> {
    const fail = (error: unknown): Answer => {
      const reference = referenceTo("session-store")
      this.#parts.profile.logger.error("the session store failed", { reference, error })
      return refuse(internalFault(500, reference, id))
    }
    let answered: MaybePromise<T>
    try {
      answered = ask()
    } catch (error) {
      return fail(error)
    }
    return answered instanceof Promise ? answered.then(follow, fail) : follow(answered)
  }

  leave(peer: Peer): void {
    if (peer.inFlight !== undefined) cancelAll(peer.inFlight, "the connection closed")
  }

  close(): void {
    if (this.#stopped) return
    this.#stopped = true
    this.#parts.onClose()
    this.#parts.sessions?.close()
    for (const call of [...this.#watched]) call.cancel(STOPPED)
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
        return refuse(inbound)
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
    if (revision === undefined || method === undefined) return refuse(methodNotFound(message, 200))
    return this.#run(message, exchange, revision, method, this.#callerOf(session), inFlight)
  }

  #callerOf(session: Session | undefined): Caller {
    if (session === undefined) return NOBODY
    const { capabilities, clientInfo, logLevel } = session.record
    const level = this.#parts.profile.logging ? (logLevel ?? LEGACY_LOG_LEVEL) : undefined
    return { clientCapabilities: capabilities, clientInfo, logLevel: level, session }
  }

  #initialize(message: RequestMessage, exchange: Exchange): Answer | Promise<Answer> {
    const { sessions, profile, snapshot, clock } = this.#parts
    const { peer } = exchange
    const record = readInitialize(message, peer.principal)
    if ("status" in record) return record
    const served = servedIn(profile, record.version)
    if (peer.kind === "pipe") {
      peer.session = createSession("", record, clock.now())
      return initialized(message, served, profile, snapshot(), true)
    }
    if (sessions === undefined) return initialized(message, served, profile, snapshot(), false)
    const follow = (session: Session | undefined): Answer => {
      if (session === undefined) return overloaded(message.id, "too many sessions")
      const answer = initialized(message, served, profile, snapshot(), true)
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
    if (this.#running >= limits.maxInFlight) return overloaded(id, "too many requests at once")
    if (inFlight !== undefined) {
      if (inFlight.has(id)) return refuse(duplicateId(id))
      if (inFlight.size >= limits.maxInFlightPerPeer)
        return overloaded(id, "too many requests at once on one connection")
    }
    const { clientCapabilities, clientInfo, logLevel, session } = caller
    const call = new Call(
      {
        id,
        method: message.method,
        params: message.params,
        served: servedIn(profile, revision.version),
        snapshot: snapshot(),
        clientCapabilities,
        clientInfo,
        logLevel,
        session,
        mayAsk: method.mayAsk,
        asking: this.#parts.asking,
        inFlight,
        save: this.#save,
        profile,
        watch: this.#watch,
      },
      exchange,
    )
    inFlight?.set(id, call)
    this.#running++
    return this.#settle(call, this.#route(call, method))
  }

  #route(call: Call, method: MethodFacts): Answer | Promise<Answer> {
    const { manual } = call.facts.profile
    const byHand = manual?.get(method.method)
    if (byHand !== undefined) return callManual(call, method, byHand)
    if (manual !== undefined && method.operation !== "discover" && method.operation !== "ping") {
      return notServed(call)
    }
    if (method.operation === "initialize") return notServed(call)
    try {
      return routes[method.operation](call)
    } catch (error) {
      return internalError(call, call.facts.method, error)
    }
  }

  #settle(call: Call, outcome: Answer | Promise<Answer>): Answer | Promise<Answer> {
    if (!(outcome instanceof Promise)) return this.#finish(call, outcome)
    const settled = (answer: Answer): Answer | Promise<Answer> =>
      call.unsettled ? call.settled(answer).then((last) => this.#finish(call, last)) : this.#finish(call, answer)
    return outcome.then(settled, (error: unknown) => settled(internalError(call, call.facts.method, error)))
  }

  #finish(call: Call, answer: Answer): Answer {
    this.#running--
    call.release()
    const { session } = call.facts
    if (session !== undefined) session.seenAtMs = this.#parts.clock.now()
    if (call.cancelled) return silent
    call.end()
    return answer
  }
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

function overloaded(id: RequestId, why: string): Answer {
  return refuse(fault(503, codes.internalError, "overloaded", `Server is busy: ${why}`, id), { "Retry-After": "1" })
}
