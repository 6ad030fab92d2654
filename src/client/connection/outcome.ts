/** What became of a request, as what the caller gets: a result, or the error that names the cause. */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"
import type { ErrorObject, JsonObject } from "../../core/wire/message.js"
import type { Outcome } from "../link.js"

type HttpAnswer = Extract<Outcome, { readonly kind: "http" }>

/** HTTP statuses after which the same request may succeed. */
const PASSING: ReadonlySet<number> = new Set([408, 425, 429, 500, 502, 503, 504])

/** Whether an HTTP status says that the same request may succeed later. */
export function isPassingStatus(status: number): boolean {
  return PASSING.has(status)
}

/**
 * Whether an answer says that the session of the request does not exist any more; asked of requests in a session. A method that is
 * not known is none that was lost, whatever status it is said with.
 */
export function isSessionLost(outcome: Outcome): boolean {
  if (outcome.kind === "http") return outcome.status === 404
  if (outcome.kind !== "message" || outcome.status !== 404) return false
  return outcome.message.kind === "error" && outcome.message.error.code !== codes.methodNotFound
}

/** The error of a request whose session is gone: it was not run. */
export function sessionLost(method: string): McpError {
  return new McpError(`${method}: the server no longer knows the session (HTTP 404)`, {
    kind: "protocol",
    reason: "session_not_found",
    code: codes.sessionNotFound,
    retryable: true,
  })
}

/** The result of a request, or its error thrown. */
export function resultOf(outcome: Outcome, method: string): JsonObject {
  if (outcome.kind === "message" && outcome.message.kind === "result") return outcome.message.result
  throw errorOf(outcome, method)
}

/** The error that an outcome without a result is. */
export function errorOf(outcome: Outcome, method: string): McpError {
  switch (outcome.kind) {
    case "message":
      return outcome.message.kind === "error" ? toProtocolError(outcome.message.error, method) : unreachable(method)
    case "http":
      return toHttpError(outcome, method)
    default:
      return outcome.error
  }
}

/** The error of a result whose type is not known here, which may not be taken for one that is. */
export function unknownType(method: string, { resultType }: JsonObject): McpError {
  const text = `${method}: the result is of a type that is not known: ${clampText(resultType, 60)}`
  return new McpError(text, { kind: "protocol", reason: "invalid_result" })
}

/** The errors that servers answered with. */
const ofPeers = new WeakSet<McpError>()

/** Whether an error is what some server answered with: its text and data are not for any other. */
export function isOfPeer(error: McpError): boolean {
  return ofPeers.has(error)
}

/** A JSON-RPC error of the server: kind `protocol`, with its code and data. */
export function toProtocolError({ code, message, data }: ErrorObject, method: string): McpError {
  const error = new McpError(`${method}: the server answered with error ${code}: ${clampText(message, 500)}`, {
    kind: "protocol",
    reason: code === codes.urlElicitationRequired ? "url_required" : "jsonrpc",
    code,
    ...(data === undefined ? {} : { data }),
  })
  ofPeers.add(error)
  return error
}

/** An HTTP answer that is no JSON-RPC response. */
export function toHttpError(outcome: HttpAnswer, method: string): McpError {
  const { status, body, retryAfterMs, challenge } = outcome
  if (status === 401 || status === 403) {
    const what = status === 401 ? "needs credentials that it accepts" : "refuses these credentials"
    return new McpError(`${method}: the server ${what} (HTTP ${status})`, {
      kind: "authorization",
      reason: status === 401 ? "unauthenticated" : "forbidden",
      data: { status, ...(challenge === undefined ? {} : { challenge: clampText(challenge, 1_000) }) },
    })
  }
  const text = body === "" ? "" : `: ${clampText(body)}`
  return new McpError(`${method}: expected a JSON-RPC response, got HTTP ${status}${describeType(outcome)}${text}`, {
    kind: "transport",
    reason: "http_status",
    data: { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) },
    retryable: isPassingStatus(status),
  })
}

function describeType({ contentType, body }: HttpAnswer): string {
  if (body === "") return " without a body"
  return contentType === undefined ? "" : ` with ${clampText(contentType, 100)}`
}

function unreachable(method: string): McpError {
  return new McpError(`${method}: the result was read as an error`, { kind: "protocol", reason: "internal_error" })
}
