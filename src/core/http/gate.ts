/** The port for authentication: what a gate sees of a request, and what it answers. Nothing here knows OAuth. */
import type { Reason } from "../error/reason.js"
import { isObject } from "../wire/message.js"

/** Who is calling. `id` is unique within an issuer and a strategy. */
export interface Principal {
  readonly id: string
  readonly scopes?: readonly string[]
  readonly claims?: Readonly<Record<string, unknown>>
  /** How the caller was recognised. */
  readonly strategy?: string
  /** Who vouches for the caller. */
  readonly issuer?: string
  /** The OAuth client that acts for the caller. */
  readonly clientId?: string
  /** When what the caller showed expires, in milliseconds since the Unix epoch: its open streams end then. */
  readonly expiresAtMs?: number
}

/** What a gate sees of one HTTP request; it decides before a byte of the body is read. */
export interface GateFacts {
  readonly method: string
  readonly path: string
  /** A request header, by its lower-case name. */
  header(name: string): string | undefined
}

/** A gate's decision. An admitted request may be anonymous. */
export type GateVerdict =
  | { readonly ok: true; readonly principal: Principal | undefined }
  | {
      readonly ok: false
      /** 500 when the gate itself failed: that admits nobody. */
      readonly status: 400 | 401 | 403 | 500
      /** The `WWW-Authenticate` header to send. */
      readonly challenge?: string
      readonly reason: Reason
      /** What the caller is told. */
      readonly message: string
      /** What only the log is told. */
      readonly cause?: unknown
    }

/** Decides about every request before it is served, and serves documents of its own that need no admission. */
export interface Gate {
  /** Decides about one request. */
  check(facts: GateFacts): GateVerdict | Promise<GateVerdict>
  /** Documents that are answered to GET without a check, by their path. */
  readonly documents?: Readonly<Record<string, () => { readonly body: string; readonly contentType: string }>>
}

/** Recognises the caller of a request; undefined when it cannot. */
export type Authenticate = (facts: GateFacts) => Principal | undefined | Promise<Principal | undefined>

/**
 * A gate from one function. Undefined is refused with 401 and the challenge `Bearer`. A function that throws, or returns
 * something without an `id`, refuses with 500, says nothing of why to the caller, and hands the error on as `cause`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/authorization
 */
export function authenticate(fn: Authenticate): Gate {
  return {
    check(facts) {
      try {
        const principal: unknown = fn(facts)
        return isThenable(principal)
          ? Promise.resolve(principal).then(toVerdict).catch(toFailure)
          : toVerdict(principal)
      } catch (error) {
        return toFailure(error)
      }
    },
  }
}

const UNAUTHENTICATED: GateVerdict = {
  ok: false,
  status: 401,
  challenge: "Bearer",
  reason: "unauthenticated",
  message: "Authentication is required",
}

function toVerdict(principal: unknown): GateVerdict {
  if (principal === undefined || principal === null) return UNAUTHENTICATED
  if (isPrincipal(principal)) return { ok: true, principal }
  return toFailure(new TypeError("authenticate must return a principal with a non-empty string id, or undefined"))
}

function toFailure(cause: unknown): GateVerdict {
  return { ok: false, status: 500, reason: "internal_error", message: "Authentication failed on the server", cause }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return isObject(value) && typeof value["then"] === "function"
}

function isPrincipal(value: unknown): value is Principal {
  return isObject(value) && typeof value["id"] === "string" && value["id"] !== ""
}
