/** Why no connection came about, as the errors that say so. */
import { codes, isModernError } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import type { Reason } from "../../core/error/reason.js"
import { clampText, lastWords } from "../../core/feature/text.js"
import { isJsonObject } from "../../core/wire/message.js"
import type { Outcome } from "../link.js"
import { errorOf, isPassingStatus, toHttpError } from "./outcome.js"
import type { Reply } from "./verdict.js"

/** Whether a handshake met a server that may answer when it is asked again. */
export function isBusy(reply: Reply): boolean {
  if (reply.kind === "http") return isPassingStatus(reply.status)
  return reply.kind === "broken" && !reply.answered
}

/** Why an answer cannot be one of the modern era; one that breaks a limit can. */
const MISSHAPEN: ReadonlySet<unknown> = new Set<Reason>(["invalid_request", "parse_error", "invalid_utf8"])

/** Whether a request got an answer that is none by its shape, such as a result of `null`. */
export function isMisshapen(reply: Reply): boolean {
  if (reply.kind !== "refused") return false
  const { reason, data } = reply.error
  return reason === "unreadable_answer" && isJsonObject(data) && MISSHAPEN.has(data["reason"])
}

/** Whether an answer to the probe says nothing about the era. */
export function isUnclear({ reason }: McpError): boolean {
  return reason === "unusable_response" || reason === "unrecognised_error"
}

/** Whether a process did not answer, or is gone. */
export function isSilentOrGone(error: unknown): boolean {
  return McpError.is(error, "timeout") || McpError.is(error, "connection_down")
}

/**
 * Whether a handshake was answered as servers of the deprecated transport answer a plain request: with one of three statuses, and
 * no error that tells of a server of this transport.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#http-sse-transport-2024-11-05
 */
export function isUnknownThere(reply: Reply): boolean {
  if (reply.kind !== "http" && reply.kind !== "message") return false
  const { status } = reply
  if (status !== 400 && status !== 404 && status !== 405) return false
  if (reply.kind === "http") return true
  const { message } = reply
  return message.kind === "error" && message.error.code !== codes.methodNotFound && !isModernError(message.error.code)
}

/** The error that an answer is; undefined when it is none. */
export function errorIn(reply: Reply): McpError | undefined {
  const isResult = reply.kind === "message" && reply.message.kind === "result"
  return isResult || reply.kind === "timeout" ? undefined : errorOf(reply, "server/discover")
}

/** A handshake that failed on every transport: what failed first is what is shown. */
export function noTransport(error: McpError, last: unknown, probe: McpError | undefined): McpError {
  const text = last instanceof Error ? last.message : String(last)
  const { kind, reason, code, data, retryable } = error
  const failures = [...(probe === undefined ? [] : [probe]), error, last]
  return new McpError(`${error.message}; the deprecated HTTP+SSE transport was tried last: ${text}`, {
    kind,
    reason,
    retryable,
    ...(code === undefined ? {} : { code }),
    ...(data === undefined ? {} : { data }),
    cause: new AggregateError(failures, "no transport of any era was answered as expected"),
  })
}

/** None of what the server speaks is spoken here. */
export function noCommonVersion(versions: readonly string[]): McpError {
  const served = shown(versions)
  const text = `no common protocol version: the server offers ${list(served)}`
  return new McpError(text, { kind: "protocol", reason: "no_common_version", data: { served } })
}

/** The server takes the version no more that was settled, and nothing that it takes in its place is spoken here. */
export function noLongerSpoken(version: string, versions: readonly string[], cause: McpError): McpError {
  const served = shown(versions)
  return new McpError(
    `the server no longer speaks ${version}, and no version of its list is spoken here: ${list(served)}`,
    {
      kind: "protocol",
      reason: "no_common_version",
      code: codes.unsupportedProtocolVersion,
      data: { served },
      cause,
    },
  )
}

/** Versions as a server lists them, fit to be shown. */
function shown(versions: readonly string[]): readonly string[] {
  return versions.slice(0, 10).map((version) => clampText(version, 40))
}

function list(served: readonly string[]): string {
  return served.length === 0 ? "none" : served.join(", ")
}

/** The options ask for the modern era, and the server is older. */
export function pinnedModern(protocol: string, reply: Reply): McpError {
  const came = reply.kind === "timeout" ? "no answer" : describeReply(reply)
  return new McpError(
    `protocol "${protocol}" was asked for, but the server does not speak it: server/discover got ${came}`,
    {
      kind: "protocol",
      reason: "no_common_version",
      ...(reply.kind === "timeout" ? {} : { cause: errorOf(reply, "server/discover") }),
    },
  )
}

function describeReply(reply: Outcome): string {
  return reply.kind === "message" && reply.message.kind === "result"
    ? "a result without supportedVersions"
    : errorOf(reply, "server/discover").message
}

/** The server asks for credentials, or refuses those that it got. */
export function authorizationError(reply: Reply, status: 401 | 403): McpError {
  const answer =
    reply.kind === "http"
      ? reply
      : ({
          kind: "http",
          status,
          contentType: undefined,
          body: "",
          retryAfterMs: undefined,
          challenge: undefined,
        } as const)
  return toHttpError(answer, "server/discover")
}

/** The probe was sent again until it was enough. */
export function failedProbe(reply: Reply, reason: string): McpError {
  if (reply.kind !== "timeout") {
    const error = errorOf(reply, "server/discover")
    if (error.kind === "transport") return error
    return new McpError(error.message, { kind: "transport", reason: "http_status", cause: error, retryable: true })
  }
  return new McpError(`server/discover was not answered in time (${reason}); see probeTimeoutMs`, {
    kind: "timeout",
    reason: "connect_timeout",
    retryable: true,
  })
}

/** The handshake was not answered. `stderr` is what the server's process said last. */
export function silentHandshake(timeoutMs: number, stderr?: readonly string[]): McpError {
  return connectTimeout(`initialize was not answered within ${timeoutMs} ms (timeoutMs)`, stderr)
}

/** Connecting took too long. `stderr` is what the server's process said last. */
export function tooSlow(origin: string, ms: number, stderr?: readonly string[]): McpError {
  return connectTimeout(`connecting to ${origin} took longer than ${ms} ms (connectTimeoutMs)`, stderr)
}

function connectTimeout(text: string, stderr: readonly string[] = []): McpError {
  return new McpError(`${text}${lastWords(stderr)}`, {
    kind: "timeout",
    reason: "connect_timeout",
    ...(stderr.length === 0 ? {} : { data: { stderr } }),
    retryable: true,
  })
}
