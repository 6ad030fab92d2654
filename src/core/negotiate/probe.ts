/**
 * What the outcome of a client's first `server/discover` says about the server: which era it speaks, that nothing is known yet,
 * or that there is no way. Outcomes in, a verdict out; who asks runs it.
 */
import { codes } from "../error/codes.js"
import { McpError } from "../error/error.js"
import type { Reason } from "../error/reason.js"
import { type DiscoverResult, isDiscoverShaped, readDiscover } from "../feature/discover.js"
import { clampText } from "../feature/text.js"
import { era } from "../revision/table.js"
import { isObject, type JsonValue } from "../wire/message.js"
import { isProbeError, type ProbeError, probeText, readProbeBody } from "./probe-body.js"
import { clientVersions, pickVersion } from "./version.js"

/** How a probe on a pipe ended. */
export type StdioOutcome =
  | { readonly kind: "result"; readonly result: unknown }
  /** The `error` member of the answer. */
  | { readonly kind: "error"; readonly error: unknown }
  | { readonly kind: "timeout" }
  /** The server's process exited. */
  | { readonly kind: "closed"; readonly cause?: unknown }

/** How a probe over HTTP ended. */
export type HttpOutcome =
  | {
      readonly kind: "http"
      readonly status: number
      readonly contentType?: string | undefined
      /** The bytes or the text as they came, or a JSON-RPC message that is decoded already. */
      readonly body?: string | Uint8Array | object | undefined
    }
  | { readonly kind: "transport_error"; readonly cause?: unknown }
  | { readonly kind: "timeout" }

/** What an outcome says about the server. */
export type Verdict =
  /** It speaks this version of the modern era. */
  | { readonly kind: "modern"; readonly version: string; readonly discover: DiscoverResult }
  /** It is of the modern era, and speaks this version instead of the one that was asked for. */
  | { readonly kind: "modern_retry"; readonly version: string }
  /** It is of the legacy era: send `initialize`. */
  | { readonly kind: "legacy" }
  /** It is of the legacy era and gone: start it again, and send `initialize` first. */
  | { readonly kind: "reconnect"; readonly era: "legacy" }
  /** It wants credentials before it says anything: get them, and probe again. */
  | { readonly kind: "authorize"; readonly status: 401 | 403 }
  /** Nothing is known: probe again later. */
  | { readonly kind: "retry"; readonly reason: string }
  | { readonly kind: "error"; readonly error: McpError }

/** How {@link classifyProbe} reads an outcome. */
export interface ProbeOptions {
  /** The client's versions in its order of preference; only those of the modern era count. Default `clientVersions`. */
  readonly versions?: readonly string[]
}

const LEGACY: Verdict = { kind: "legacy" }

/**
 * Classifies the outcome of a `server/discover` probe. An error that only modern servers send is never taken for a sign of a
 * legacy one, and no single code is: on a pipe any other error is, over HTTP it depends on the status too. There 401 and 403
 * come first, then statuses that pass, then the body, then the status.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
 */
export function classifyProbe(transport: "stdio", outcome: StdioOutcome, options?: ProbeOptions): Verdict
export function classifyProbe(transport: "http", outcome: HttpOutcome, options?: ProbeOptions): Verdict
export function classifyProbe(
  transport: "stdio" | "http",
  outcome: StdioOutcome | HttpOutcome,
  { versions = clientVersions }: ProbeOptions = {},
): Verdict {
  const modern = versions.filter((version) => era(version) === "modern")
  switch (outcome.kind) {
    case "result":
      return classifyResult(outcome.result, modern)
    case "error":
      return (isProbeError(outcome.error) ? classifyModernError(outcome.error, modern) : undefined) ?? LEGACY
    case "timeout":
      return transport === "stdio" ? LEGACY : { kind: "retry", reason: "timeout" }
    case "closed":
      return { kind: "reconnect", era: "legacy" }
    case "transport_error":
      return { kind: "retry", reason: networkError(outcome.cause) }
    case "http":
      return classifyHttp(outcome, modern)
  }
}

function classifyHttp(answer: HttpAnswer, modern: readonly string[]): Verdict {
  const { status, contentType, body } = answer
  if (status === 401 || status === 403) return { kind: "authorize", status }
  if (isPassing(status)) return { kind: "retry", reason: `HTTP ${status}` }
  const response = readProbeBody(contentType, body)
  if (response?.kind === "result") return classifyResult(response.result, modern)
  const verdict = response === undefined ? undefined : classifyModernError(response.error, modern)
  if (verdict !== undefined) return verdict
  if (response?.error.code === codes.methodNotFound || isUnknownThere(status)) return LEGACY
  return failed(unclear(answer, response?.error))
}

type HttpAnswer = Extract<HttpOutcome, { readonly kind: "http" }>

/** Whether a status says that the server may answer the same request later. */
function isPassing(status: number): boolean {
  return status === 408 || status === 429 || (status >= 500 && status <= 599)
}

/** Whether a status is one with which legacy servers answer what they do not know. */
function isUnknownThere(status: number): boolean {
  return status === 400 || status === 404 || status === 405
}

function classifyResult(result: unknown, modern: readonly string[]): Verdict {
  if (!isDiscoverShaped(result)) return LEGACY
  const discover = readDiscover(result)
  if ("problem" in discover) return failed(protocolError("invalid_discover", discover.problem))
  const picked = pickVersion(discover.supportedVersions, modern)
  if (picked.ok) return { kind: "modern", version: picked.version, discover }
  return failed(noCommonVersion(modern, discover.supportedVersions))
}

/** The verdict about an error that only modern servers send; undefined for any other. */
function classifyModernError(error: ProbeError, modern: readonly string[]): Verdict | undefined {
  switch (error.code) {
    case codes.unsupportedProtocolVersion: {
      const supported = listedVersions(error.data)
      const picked = pickVersion(supported, modern)
      return picked.ok
        ? { kind: "modern_retry", version: picked.version }
        : failed(noCommonVersion(modern, supported, error))
    }
    case codes.missingClientCapability:
      return failed(
        refused("missing_client_capability", error, "it needs a capability that this client does not declare"),
      )
    case codes.headerMismatch:
      return failed(refused("header_mismatch", error, "it got headers that do not repeat the body"))
    default:
      return undefined
  }
}

/** The versions that an error lists, as far as they are strings. */
function listedVersions(data: unknown): readonly string[] {
  const supported = isObject(data) ? data["supported"] : undefined
  return Array.isArray(supported) ? supported.filter((version) => typeof version === "string") : []
}

function failed(error: McpError): Verdict {
  return { kind: "error", error }
}

function noCommonVersion(modern: readonly string[], supported: readonly string[], error?: ProbeError): McpError {
  const text = `no common modern protocol version: the client speaks ${list(modern)}, the server ${list(supported)}`
  return error === undefined
    ? protocolError("no_common_version", text, { code: undefined, data: { supported } })
    : protocolError("no_common_version", text, error)
}

function refused(reason: Reason, error: ProbeError, why: string): McpError {
  return protocolError(reason, `the server refused with error ${error.code}, because ${why}${quote(error)}`, error)
}

/** The error of an answer that says nothing about the era. */
function unclear(answer: HttpAnswer, error: ProbeError | undefined): McpError {
  const { status } = answer
  const isRefusal = error !== undefined || (status >= 400 && status <= 499)
  const came = error === undefined ? describeBody(answer) : ` with error ${error.code}${quote(error)}`
  const text = `expected a DiscoverResult or an error that names the era, got HTTP ${status}${came}`
  return protocolError(isRefusal ? "unrecognised_error" : "unusable_response", text, error)
}

function describeBody({ contentType, body }: HttpAnswer): string {
  const text = probeText(body)
  if (body === undefined || body === null || text === "") return " without a body"
  const type = contentType === undefined ? "" : ` with ${clampText(contentType, 100)}`
  return text === undefined ? type : `${type}: ${clampText(text, 100)}`
}

function quote({ message }: ProbeError): string {
  return typeof message === "string" ? `: "${clampText(message)}"` : ""
}

function list(versions: readonly string[]): string {
  const shown = versions.slice(0, 10).map((version) => clampText(version, 40))
  return shown.length === 0 ? "none" : `${shown.join(", ")}${versions.length > shown.length ? ", …" : ""}`
}

function networkError(cause: unknown): string {
  return cause === undefined ? "network error" : `network error: ${clampText(cause)}`
}

function protocolError(
  reason: Reason,
  text: string,
  from?: { readonly code: number | undefined; readonly data?: unknown },
): McpError {
  return new McpError(`server/discover: ${text}`, {
    kind: "protocol",
    reason,
    ...(from?.code === undefined ? {} : { code: from.code }),
    ...(from?.data === undefined ? {} : { data: from.data as JsonValue }),
  })
}
