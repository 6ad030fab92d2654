/**
 * The front door: everything that an HTTP request has to pass before its message is served, in one order for every runtime:
 * guard, preflight, path, gate, method. What reads and writes bytes is each runtime's own.
 */
import { codes } from "../../core/error/codes.js"
import { misuse } from "../../core/error/error.js"
import { type Fault, fault } from "../../core/error/fault.js"
import { type Answer, type Endpoint, type Exchange, type Peer, refuse } from "../../core/exchange.js"
import { type Cors, type CorsOptions, createCors } from "../../core/http/cors.js"
import { type Authenticate, authenticate, type Gate, type GateVerdict, type Principal } from "../../core/http/gate.js"
import { createGuard, type Guard } from "../../core/http/guard.js"
import type { HeaderFacts } from "../../core/http/header.js"
import { type Limits, resolveLimits } from "../../core/limits.js"
import type { Message } from "../../core/wire/message.js"
import type { DecodeUtf8 } from "../../core/wire/parse.js"
import type { Logger } from "../../observe/log.js"
import type { EndpointOptions } from "../../server/options.js"
import { createSystemClock } from "../../store/clock.js"
import type { Clock } from "../../store/port.js"
import { createShutdown, type Shutdown } from "../shutdown.js"
import { SseConnections } from "./sse.js"

/** The options that every way of serving over HTTP takes. */
export interface HttpOptions extends EndpointOptions {
  /** The path of the endpoint. Default `/mcp` for `serve()`; otherwise every path that reaches the handler. */
  readonly path?: string
  /** Who may call: a gate, or a function that recognises the caller. Default: everybody, anonymously. */
  readonly auth?: Gate | Authenticate
  /** Hosts to serve, against DNS rebinding. On a loopback bind, beside the loopback names. */
  readonly allowedHosts?: readonly string[]
  /** Origins of web pages that may call. */
  readonly allowedOrigins?: readonly string[]
  /**
   * Which web pages may read answers: `true` for all that may call, which are those of `allowedOrigins` and, on a loopback
   * address, those of this machine; or a list, and more. Default: none of another origin.
   */
  readonly cors?: boolean | CorsOptions
  /** Drains the server when it aborts. */
  readonly signal?: AbortSignal
}

/** What is served: a server made by `createServer()`. */
export interface Servable {
  readonly logger: Logger
  endpoint(options?: EndpointOptions): Endpoint
}

/** Where a handler stands: at an address of this machine alone, at a public one, or wherever its connections come in. */
export type Place = "loopback" | "public" | "unknown"

/** What decides about a request by where its connection came in. */
export interface Threshold {
  readonly guard: Guard
  /** Undefined when pages of other origins may read nothing. */
  readonly cors: Cors | undefined
}

/** The front door of one handler. */
export interface Front {
  readonly endpoint: Endpoint
  readonly limits: Limits
  readonly clock: Clock
  readonly logger: Logger
  readonly decode: DecodeUtf8
  readonly path: string | undefined
  readonly gate: Gate | undefined
  readonly threshold: Threshold
  /** The threshold of connections that reached a loopback address, when that is not known beforehand. */
  readonly localThreshold: Threshold
  readonly shutdown: Shutdown
  /** The deprecated HTTP+SSE transport, where it is offered. */
  readonly sse: SseConnections | undefined
  /** What is answered to GET by path, before the path is looked at. */
  readonly probes: ReadonlyMap<string, () => Answer>
}

/** What {@link createFront} is made of beside the options. */
export interface FrontParts {
  readonly place: Place
  readonly decode: DecodeUtf8
  readonly probes?: Front["probes"]
  /** Whether the deprecated HTTP+SSE transport is offered. */
  readonly sse?: boolean
}

/**
 * Makes the front door.
 *
 * @throws `McpError` of kind `misuse` for an option that cannot be.
 */
export function createFront(server: Servable, options: HttpOptions, parts: FrontParts): Front {
  const { path, auth, clock = createSystemClock() } = options
  const { place, decode, probes = NO_PROBES, sse: offersSse = false } = parts
  const localThreshold = createThreshold(options, "loopback")
  const limits = resolveLimits(options.limits)
  const threshold = place === "loopback" ? localThreshold : createThreshold(options, place)
  const endpoint = server.endpoint({ ...options, clock })
  const sse = offersSse ? new SseConnections({ endpoint, decode, limits, clock }) : undefined
  return {
    endpoint,
    limits,
    clock,
    logger: server.logger,
    decode,
    path,
    gate: typeof auth === "function" ? authenticate(auth) : auth,
    threshold,
    localThreshold,
    shutdown: createShutdown(endpoint, clock, limits.drainMs, () => sse?.close()),
    sse,
    probes,
  }
}

const NO_PROBES: Front["probes"] = new Map()

function createThreshold({ allowedHosts, allowedOrigins = [], cors }: HttpOptions, place: Place): Threshold {
  const loopback = place === "loopback"
  const readers = typeof cors === "object" ? cors : {}
  const admitted = [...allowedOrigins, ...(readers.origins ?? [])]
  if (cors !== undefined && cors !== false && admitted.length === 0 && place === "public") {
    throw misuse("invalid_option", "cors: no page could read here; name origins in cors.origins or allowedOrigins")
  }
  return {
    guard: createGuard({
      loopback,
      allowedOrigins: admitted,
      ...(allowedHosts === undefined ? {} : { allowedHosts }),
      crossesLocally: cors !== undefined && cors !== false && readers.origins === undefined,
    }),
    cors: cors === undefined || cors === false ? undefined : createCors(readers, { allowedOrigins, loopback }),
  }
}

/** A document of the gate. */
export type GateDocument = ReturnType<NonNullable<Gate["documents"]>[string]>

/**
 * Meets a request at the door. Answers what needs no admission, and whatever must not reach the gate: the wrong host or origin, a
 * preflight, a probe, a document of the gate, the wrong path. Undefined for everything else.
 */
export function meet(
  front: Front,
  { guard, cors }: Threshold,
  method: string,
  path: string,
  host: string | undefined,
  header: HeaderFacts,
): Answer | GateDocument | undefined {
  const refused = guard.check(host, header.get("origin"), header.get("sec-fetch-site"))
  if (refused !== undefined) return refuseAt(front, refused)
  if (method === "GET" || method === "HEAD") {
    const found = front.probes.get(path)?.() ?? front.gate?.documents?.[path]?.()
    if (found !== undefined) return found
  }
  if (cors !== undefined && method === "OPTIONS" && header.get("access-control-request-method") !== undefined) {
    return { status: 204, text: undefined, headers: cors.preflight(header.get("access-control-request-headers")) }
  }
  if (front.path === undefined || path === front.path || front.sse?.isAt(path) === true) return undefined
  return refuseAt(
    front,
    fault(404, codes.invalidRequest, "path_not_found", `Not found: the MCP endpoint is at ${front.path}`),
  )
}

/** Refuses a request before there is a message to serve, and tells whoever watches. */
export function refuseAt(front: Front, refused: Fault, headers?: Answer["headers"]): Answer {
  front.endpoint.refused(refused, "http")
  return refuse(refused, headers)
}

/** Asks the gate, if there is one: the peer that may be served, or the answer to whoever may not. A gate that fails admits nobody. */
export function admit(
  front: Front,
  method: string,
  path: string,
  header: HeaderFacts,
): Peer | Answer | Promise<Peer | Answer> {
  const { gate } = front
  if (gate === undefined) return ANONYMOUS
  try {
    const verdict = gate.check({ method, path, header: (name) => header.get(name) })
    return verdict instanceof Promise
      ? verdict.catch(gateFailed).then((settled) => toAdmission(front, settled))
      : toAdmission(front, verdict)
  } catch (error) {
    return toAdmission(front, gateFailed(error))
  }
}

/** Whether {@link admit} refused. */
export function isRefused(admission: Peer | Answer): admission is Answer {
  return "status" in admission
}

function toAdmission(front: Front, verdict: GateVerdict): Peer | Answer {
  if (verdict.ok) return requestPeer(verdict.principal)
  if (verdict.cause !== undefined) front.logger.error("the gate failed", { error: verdict.cause })
  const code = verdict.status === 500 ? codes.internalError : codes.invalidRequest
  const headers = verdict.challenge === undefined ? undefined : { "WWW-Authenticate": verdict.challenge }
  return refuseAt(front, fault(verdict.status, code, verdict.reason, verdict.message), headers)
}

function gateFailed(cause: unknown): GateVerdict {
  return { ok: false, status: 500, reason: "internal_error", message: "Authentication failed on the server", cause }
}

const ANONYMOUS: Peer = Object.freeze({
  kind: "request",
  principal: undefined,
  inFlight: undefined,
  sink: undefined,
  session: undefined,
})

/** The peer of a request that stands alone. */
function requestPeer(principal: Principal | undefined): Peer {
  return principal === undefined ? ANONYMOUS : { ...ANONYMOUS, principal }
}

/** Answers every method but GET and POST. */
export function answerWithoutBody(
  front: Front,
  method: string,
  header: HeaderFacts,
  peer: Peer,
): Answer | Promise<Answer> {
  if (method === "DELETE") return front.endpoint.end(header, peer.principal)
  const text = "Method not allowed: messages are sent by POST"
  return refuseAt(front, fault(405, codes.invalidRequest, "method_not_allowed", text), { Allow: "POST" })
}

/** Serves a message, or says why there is none. */
export function serveMessage(front: Front, message: Message | Fault, exchange: Exchange): Answer | Promise<Answer> {
  return message.kind === "fault" ? refuseAt(front, message) : front.endpoint.serve(message, exchange)
}
