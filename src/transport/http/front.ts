/**
 * Everything that an HTTP request has to pass before its body is read, in one order for every runtime: path, guard, gate,
 * method, media types, announced length.
 */
import { codes } from "../../core/error/codes.js"
import { type Fault, fault } from "../../core/error/fault.js"
import { type Answer, type Endpoint, type Peer, refuse } from "../../core/exchange.js"
import {
  type Authenticate,
  authenticate,
  type Gate,
  type GateFacts,
  type GateVerdict,
  type Principal,
} from "../../core/http/gate.js"
import { createGuard, type Guard } from "../../core/http/guard.js"
import { Accepts, decideAccept, isJsonMedia } from "../../core/http/media.js"
import { type Limits, resolveLimits } from "../../core/limits.js"
import type { Logger } from "../../observe/log.js"
import type { EndpointOptions } from "../../server/server.js"

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

/** The headers of a request by lower-case name, as Node has them. */
export type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The front door of one handler. */
export interface Front {
  readonly endpoint: Endpoint
  readonly limits: Limits
  readonly logger: Logger
  readonly path: string | undefined
  readonly gate: Gate | undefined
  readonly guard: Guard
  /** The guard for connections that reached a loopback address, when it is not known beforehand. */
  readonly localGuard: Guard
}

/** Makes the front door. `loopback` is whether the bind is known to be a loopback address. */
export function createFront(server: Servable, options: HttpOptions, loopback: boolean): Front {
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
    path,
    gate: typeof auth === "function" ? authenticate(auth) : auth,
    guard: loopback ? localGuard : createGuard({ loopback: false, ...lists }),
    localGuard,
  }
}

/** One header's value, joined when it was sent more than once. */
export function headerOf(headers: RequestHeaders, name: string): string | undefined {
  const value = headers[name]
  return typeof value === "string" || value === undefined ? value : value.join(", ")
}

/** Refuses what must not reach the gate: the wrong path, host or origin. */
export function checkGuard(front: Front, guard: Guard, path: string, headers: RequestHeaders): Fault | undefined {
  const host = headerOf(headers, "host") ?? headerOf(headers, ":authority")
  const refused = guard.check(host, headerOf(headers, "origin"), headerOf(headers, "sec-fetch-site"))
  if (refused !== undefined) return refused
  if (front.path === undefined || path === front.path) return undefined
  return fault(404, codes.invalidRequest, "path_not_found", `Not found: the MCP endpoint is at ${front.path}`)
}

/** What a POST may be answered with, or why its body is not read. */
export function checkPost(front: Front, headers: RequestHeaders): Accepts | Fault {
  const type = headerOf(headers, "content-type")
  if (!isJsonMedia(type)) {
    const text = `Unsupported media type: expected application/json in UTF-8, got ${type ?? "none"}`
    return fault(415, codes.invalidRequest, "unsupported_media_type", text)
  }
  const encoding = headerOf(headers, "content-encoding")
  if (encoding !== undefined && encoding !== "identity") {
    return fault(415, codes.invalidRequest, "unsupported_encoding", "Unsupported: an encoded request body")
  }
  const accepts = decideAccept(headerOf(headers, "accept"))
  if (accepts === Accepts.none) {
    const text = "Not acceptable: Accept must allow application/json or text/event-stream"
    return fault(406, codes.invalidRequest, "not_acceptable", text)
  }
  if (Number(headerOf(headers, "content-length")) > front.limits.maxBodyBytes) return bodyTooLarge(front.limits)
  return accepts
}

/** The refusal of a body that is too large. */
export function bodyTooLarge(limits: Limits): Fault {
  const text = `Body too large: at most ${limits.maxBodyBytes} bytes (limits.maxBodyBytes)`
  return fault(413, codes.invalidRequest, "body_too_large", text)
}

/** The refusal of a method that the endpoint does not have. */
export function methodNotAllowed(): Answer {
  const text = "Method not allowed: messages are sent by POST"
  return refuse(fault(405, codes.invalidRequest, "method_not_allowed", text), { Allow: "POST" })
}

/** Asks the gate; a gate that fails admits nobody. */
export function askGate(gate: Gate, facts: GateFacts): GateVerdict | Promise<GateVerdict> {
  try {
    const verdict = gate.check(facts)
    return verdict instanceof Promise ? verdict.catch(gateFailed) : verdict
  } catch (error) {
    return gateFailed(error)
  }
}

function gateFailed(cause: unknown): GateVerdict {
  return { ok: false, status: 500, reason: "internal_error", message: "Authentication failed on the server", cause }
}

/** What a refusing gate answers. */
export function refusedByGate(front: Front, verdict: Extract<GateVerdict, { ok: false }>): Answer {
  if (verdict.cause !== undefined) front.logger.error("the gate failed", { error: verdict.cause })
  const code = verdict.status === 500 ? codes.internalError : codes.invalidRequest
  const headers = verdict.challenge === undefined ? undefined : { "WWW-Authenticate": verdict.challenge }
  return refuse(fault(verdict.status, code, verdict.reason, verdict.message), headers)
}

const ANONYMOUS: Peer = Object.freeze({
  kind: "request",
  principal: undefined,
  inFlight: undefined,
  session: undefined,
})

/** The peer of a request that stands alone. */
export function requestPeer(principal: Principal | undefined): Peer {
  return principal === undefined ? ANONYMOUS : { kind: "request", principal, inFlight: undefined, session: undefined }
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
