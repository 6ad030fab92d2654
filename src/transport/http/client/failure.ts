/** The errors of answers over HTTP that broke off or cannot be taken. */
import type { ClientLimits } from "../../../client/limits.js"
import { McpError } from "../../../core/error/error.js"
import type { Fault } from "../../../core/error/fault.js"
import type { Reason } from "../../../core/error/reason.js"
import { clampText } from "../../../core/feature/text.js"

/** Names what an answer is to, and where it came from. */
export interface Source {
  /** A method, or what else was asked for. */
  readonly what: string
  readonly origin: string
}

/** The end of a stream or a body before what was waited for. */
export function brokenOff({ what, origin }: Source, cause: unknown): McpError {
  const why = cause === undefined ? "" : `: ${clampText(cause)}`
  return new McpError(`${what}: the answer of ${origin} ended before the response${why}`, {
    kind: "transport",
    reason: "stream_broken",
    ...(cause === undefined ? {} : { cause }),
    ...(McpError.is(cause) && cause.data !== undefined ? { data: cause.data } : {}),
    retryable: true,
  })
}

/** A message that is larger than a client takes. */
export function tooLarge({ what, origin }: Source, { maxMessageBytes }: ClientLimits): McpError {
  const why = `it has more than ${maxMessageBytes} bytes (limits.maxMessageBytes)`
  return new McpError(`${what}: the answer of ${origin} cannot be read: ${why}`, {
    kind: "transport",
    reason: "message_too_large",
  })
}

/** A message that breaks a rule of the wire. */
export function unreadable({ what, origin }: Source, { reason, message }: Fault): McpError {
  const limit = LIMITS.get(reason)
  const why = `${message.replace(/^[^:]*: /, "")}${limit === undefined ? "" : ` (limits.${limit})`}`
  return new McpError(`${what}: the answer of ${origin} cannot be read: ${why}`, {
    kind: "transport",
    reason: "unreadable_answer",
  })
}

/** An HTTP status where another one is needed. */
export function wrongStatus({ what, origin }: Source, status: number): McpError {
  return new McpError(`${what}: ${origin} answered with HTTP ${status}`, {
    kind: "transport",
    reason: "http_status",
    data: { status },
  })
}

/** What a link that was closed says to whoever still waits on it. */
export function linkClosed(origin: string): McpError {
  return new McpError(`the connection to ${origin} was closed`, { kind: "connection_down", reason: "pipe_closed" })
}

/** The limits whose names belong into an error, by the reason of a refusal. */
const LIMITS: ReadonlyMap<Reason, keyof ClientLimits> = new Map([
  ["too_deep", "maxDepth"],
  ["too_many_keys", "maxKeys"],
])
