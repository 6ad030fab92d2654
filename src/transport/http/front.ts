/**
 * The front door: everything that an HTTP request has to pass before its message is served, in one order for every runtime:
 * guard, path, gate, method, media types, announced length. What reads and writes bytes is each runtime's own.
 */
import { codes } from "../../core/error/codes.js"
import { type Fault, fault } from "../../core/error/fault.js"
import { type Answer, type Endpoint, type Exchange, type Peer, refuse } from "../../core/exchange.js"
import { clampText } from "../../core/feature/text.js"
import { type Authenticate, authenticate, type Gate, type GateVerdict, type Principal } from "../../core/http/gate.js"
import { createGuard, type Guard } from "../../core/http/guard.js"
import type { HeaderFacts } from "../../core/http/header.js"
import { Accepts, decideAccept, isJsonMedia } from "../../core/http/media.js"
import { type Limits, resolveLimits } from "../../core/limits.js"
import type { Message } from "../../core/wire/message.js"
import { type DecodeUtf8, parseMessage, parseParsed } from "../../core/wire/parse.js"
import type { Logger } from "../../observe/log.js"
import type { EndpointOptions } from "../../server/options.js"

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
}

/** What is served: a server made by `createServer()`. */
export interface Servable {
  readonly logger: Logger
  endpoint(options?: EndpointOptions): Endpoint
}

/** The front door of one handler. */
export interface Front {
  readonly endpoint: Endpoint
  readonly limits: Limits
  readonly logger: Logger
  readonly decode: DecodeUtf8
  readonly path: string | undefined
  readonly gate: Gate | undefined
  readonly guard: Guard
  /** The guard for connections that reached a loopback address, when it is not known beforehand. */
  readonly localGuard: Guard
}

/** Makes the front door. `loopback` is whether the bind is known to be a loopback address. */
export function createFront(server: Servable, options: HttpOptions, loopback: boolean, decode: DecodeUtf8): Front {
  const { path, auth, allowedHosts, allowedOrigins } = options
  const lists = {
    ...(allowedHosts === undefined ? {} : { allowedHosts }),
    ...(allowedOrigins === undefined ? {} : { allowedOrigins }),
  }
  const localGuard = createGuard({ loopback: true, ...lists })
  return {
    endpoint: server.endpoint(options),
    limits: resolveLimits(options.limits),
    logger: server.logger,
    decode,
    path,
    gate: typeof auth === "function" ? authenticate(auth) : auth,
    guard: loopback ? localGuard : createGuard({ loopback: false, ...lists }),
    localGuard,
  }
}

/** A document that the gate answers to GET without a check, when there is one at this path. */
export function documentAt(front: Front, method: string, path: string): GateDocument | undefined {
  return method === "GET" ? front.gate?.documents?.[path]?.() : undefined
}

/** A document of the gate. */
export type GateDocument = ReturnType<NonNullable<Gate["documents"]>[string]>

/** Refuses what must not reach the gate: the wrong host, origin or path. */
export function checkGuard(
  front: Front,
  guard: Guard,
  path: string,
  host: string | undefined,
  header: HeaderFacts,
): Fault | undefined {
  const refused = guard.check(host, header.get("origin"), header.get("sec-fetch-site"))
  if (refused !== undefined) return refused
  if (front.path === undefined || path === front.path) return undefined
  return fault(404, codes.invalidRequest, "path_not_found", `Not found: the MCP endpoint is at ${front.path}`)
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
  return refuse(fault(verdict.status, code, verdict.reason, verdict.message), headers)
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
  return refuse(fault(405, codes.invalidRequest, "method_not_allowed", text), { Allow: "POST" })
}

/** What a POST may be answered with, or why its body is not read. */
export function checkPost(front: Front, header: HeaderFacts): Accepts | Fault {
  const type = header.get("content-type")
  if (!isJsonMedia(type)) {
    const text = `Unsupported media type: expected application/json in UTF-8, got ${clampText(type ?? "none")}`
    return fault(415, codes.invalidRequest, "unsupported_media_type", text)
  }
  const encoding = header.get("content-encoding")
  if (encoding !== undefined && encoding !== "identity") {
    return fault(415, codes.invalidRequest, "unsupported_encoding", "Unsupported: an encoded request body")
  }
  const accepts = decideAccept(header.get("accept"))
  if (accepts === Accepts.none) {
    const text = "Not acceptable: Accept must allow application/json or text/event-stream"
    return fault(406, codes.invalidRequest, "not_acceptable", text)
  }
  if (Number(header.get("content-length")) > front.limits.maxBodyBytes) return bodyTooLarge(front.limits)
  return accepts
}

/** The message in a body that a framework has parsed, or has read as text or bytes. */
export function parseBody(front: Front, body: unknown): Message | Fault {
  if (typeof body === "string") return parseMessage(new TextEncoder().encode(body), front.decode, front.limits)
  if (body instanceof Uint8Array) return parseMessage(body, front.decode, front.limits)
  return parseParsed(body, front.limits)
}

/** Serves a message, or says why there is none. */
export function serveMessage(front: Front, message: Message | Fault, exchange: Exchange): Answer | Promise<Answer> {
  return message.kind === "fault" ? refuse(message) : front.endpoint.serve(message, exchange)
}

/** The refusal of a body that is too large. */
export function bodyTooLarge(limits: Limits): Fault {
  const text = `Body too large: at most ${limits.maxBodyBytes} bytes (limits.maxBodyBytes)`
  return fault(413, codes.invalidRequest, "body_too_large", text)
}

/** The refusal of a body that was read before. `passIt` is how the framework passes it on. */
export function bodyConsumed(passIt: string): Fault {
  const text = `Internal error: the body was read before it reached the MCP handler; pass it on as ${passIt}`
  return fault(500, codes.internalError, "body_consumed", text)
}

/** Headers that stand on every answer, as a flat list. */
export const SECURITY_HEADERS: readonly string[] = ["X-Content-Type-Options", "nosniff", "X-Frame-Options", "DENY"]

/** Headers of a JSON answer, as a flat list. */
export const JSON_HEADERS: readonly string[] = [
  "Content-Type",
  "application/json",
  "Cache-Control",
  "no-store",
  ...SECURITY_HEADERS,
]

/** Headers of an event stream, as a flat list: no proxy is to hold it back or to change it. */
export const STREAM_HEADERS: readonly string[] = [
  "Content-Type",
  "text/event-stream",
  "Cache-Control",
  "no-store, no-transform",
  "X-Accel-Buffering",
  "no",
  ...SECURITY_HEADERS,
]
