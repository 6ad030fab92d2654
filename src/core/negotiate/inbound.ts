/**
 * Which era a message that a server received belongs to, and whether it is served: facts in, a decision out. The session is a
 * word here; whoever asks knows whether it lives.
 */
import { codes } from "../error/codes.js"
import { type Fault, fault } from "../error/fault.js"
import { META, namedVersion, type RequestMeta, readRequestMeta } from "../feature/envelope.js"
import { clampText } from "../feature/text.js"
import { decodeHeaderValue, type HeaderFacts } from "../http/header.js"
import type { MethodFacts, Revision } from "../revision/revision.js"
import { era, findRevision, legacyVersions, supportedVersions } from "../revision/table.js"
import { answerId, type JsonObject, type Message, type RequestId, type RequestMessage } from "../wire/message.js"

/** Whether the session that a message names lives, is unknown, or is not named. */
export type SessionState = "live" | "unknown" | "none"

/** What {@link decideInbound} answers. */
export type Inbound =
  /** A request of the modern era, through the whole ladder. */
  | { readonly kind: "modern"; readonly revision: Revision; readonly method: MethodFacts; readonly meta: RequestMeta }
  /** A notification of the modern era: accepted and not answered. */
  | { readonly kind: "modern-notification" }
  /** The handshake that opens the legacy era. */
  | { readonly kind: "initialize" }
  /** A message in a live session, in the session's revision. */
  | { readonly kind: "session" }
  /** A legacy message that stands alone, in the revision that its header names. */
  | { readonly kind: "stateless"; readonly revision: Revision }
  | Fault

/** Whether the session that a message names matters: not under a modern version, which has none. */
export function regardsSession(header: HeaderFacts): boolean {
  return header.version === undefined || era(header.version) !== "modern"
}

/**
 * Decides an HTTP message. The name of the method never decides the era, nor does the presence of any other header.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
 */
export function decideInbound(
  message: Message,
  header: HeaderFacts,
  session: SessionState,
  sessionsServed: boolean,
): Inbound {
  const isCall = message.kind === "request" || message.kind === "notification"
  const named = isCall ? namedVersion(message.params) : undefined
  if (
    isCall &&
    named !== undefined &&
    (era(named) !== "legacy" || (message.kind === "request" && session !== "live"))
  ) {
    return message.kind === "request" ? climb(message, header) : decideNotification(named, header)
  }
  const headerEra = header.version === undefined ? undefined : era(header.version)
  if (isCall && named === undefined && (headerEra === "modern" || headerEra === "unknown")) {
    if (message.kind === "request") return climb(message, header)
    if (headerEra === "modern") return { kind: "modern-notification" }
  }
  return decideLegacy(message, header, session, sessionsServed)
}

function decideLegacy(message: Message, header: HeaderFacts, session: SessionState, sessionsServed: boolean): Inbound {
  const id = answerId(message)
  const isCall = message.kind === "request" || message.kind === "notification"
  if (message.kind === "request" && message.method === "initialize" && session !== "unknown") {
    return session === "none" ? { kind: "initialize" } : alreadyInitialized(message)
  }
  const revision = header.version === undefined ? undefined : findRevision(header.version)
  if (!isCall && (session === "none" || revision?.era === "modern")) {
    return fault(400, codes.invalidRequest, "unexpected_response", "Invalid request: a response needs a session")
  }
  if (header.version !== undefined && revision?.era !== "legacy") {
    return fault(400, codes.invalidRequest, "unsupported_protocol_version", notServed(header.version), id, {
      supported: supportedVersions,
      requested: clampText(header.version),
    })
  }
  if (session === "live") return { kind: "session" }
  if (session === "unknown") return sessionNotFound(id)
  if (revision === undefined) {
    const text = "the MCP-Protocol-Version header is missing, and so is a session"
    return fault(400, codes.headerMismatch, "header_mismatch", text, id)
  }
  if (!sessionsServed) return { kind: "stateless", revision }
  const text = `no session: ${revision.version} is spoken after initialize, with its Mcp-Session-Id`
  return fault(400, codes.invalidRequest, "no_session", text, id)
}

/** The refusal of a message for a session that is not there, or is somebody else's. */
export function sessionNotFound(id?: RequestId): Fault {
  const text = "Session not found: it ended or never was; send initialize again"
  return fault(404, codes.sessionNotFound, "session_not_found", text, id)
}

function decideNotification(named: string, header: HeaderFacts): Inbound {
  if (header.version !== undefined && header.version !== named) return versionMismatch(header.version, named)
  return { kind: "modern-notification" }
}

/**
 * Decides a message on a pipe, where there are no headers. `opened` is whether `initialize` was answered on it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio#backward-compatibility
 */
export function decidePipe(message: Message, opened: boolean): Inbound {
  if (message.kind !== "request" && message.kind !== "notification") return { kind: "session" }
  const named = namedVersion(message.params)
  if (named !== undefined && (era(named) !== "legacy" || !opened)) {
    return message.kind === "request" ? climb(message, undefined) : { kind: "modern-notification" }
  }
  if (message.kind === "request" && message.method === "initialize") {
    return opened ? alreadyInitialized(message) : { kind: "initialize" }
  }
  if (opened || message.kind === "notification" || message.method === "ping") return { kind: "session" }
  return climb(message, undefined)
}

function alreadyInitialized(message: RequestMessage): Fault {
  return fault(400, codes.invalidRequest, "already_initialized", "initialize was answered before", message.id)
}

/** The ladder of refusals of a modern request, in the order in which the specification's errors win over each other. */
function climb(message: RequestMessage, header: HeaderFacts | undefined): Inbound {
  const { id } = message
  const meta = readRequestMeta(message.params)
  if ("problem" in meta) return fault(400, codes.invalidParams, "missing_meta", `Invalid params: ${meta.problem}`, id)
  const version = meta.protocolVersion
  if (header !== undefined && header.version !== version) return versionMismatch(header.version, version, id)
  const revision = findRevision(version)
  if (revision?.era !== "modern") {
    return fault(400, codes.unsupportedProtocolVersion, "unsupported_protocol_version", notServed(version), id, {
      supported: supportedVersions,
      requested: clampText(version),
    })
  }
  const method = revision.methods.get(message.method)
  if (method === undefined) return methodNotFound(message, 404)
  if (header !== undefined) {
    const problem = headerProblem(message, method, header)
    if (problem !== undefined) return fault(400, codes.headerMismatch, "header_mismatch", problem, id)
  }
  return { kind: "modern", revision, method, meta }
}

/** The refusal of a method that the revision does not have, or that this server does not serve. */
export function methodNotFound(message: RequestMessage, status: number): Fault {
  const text = `Method not found: ${clampText(message.method)}`
  return fault(status, codes.methodNotFound, "method_not_found", text, message.id)
}

/**
 * What is wrong with the `Mcp-Method` and `Mcp-Name` headers, or undefined.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#server-validation
 */
function headerProblem(message: RequestMessage, method: MethodFacts, header: HeaderFacts): string | undefined {
  if (header.method !== message.method) return mismatch("Mcp-Method", header.method, message.method)
  const { namedBy } = method
  if (namedBy === undefined) return undefined
  const name = message.params?.[namedBy]
  if (header.name === undefined) return mismatch("Mcp-Name", undefined, name)
  const decoded = header.name === name ? name : decodeHeaderValue(header.name)
  return decoded === name ? undefined : mismatch("Mcp-Name", header.name, name)
}

function mismatch(name: string, came: string | undefined, expected: JsonObject[string]): string {
  const value = came === undefined ? "is missing" : `"${clampText(came)}" does not match`
  return `Header mismatch: ${name} ${value}, the body says "${clampText(expected)}"`
}

function versionMismatch(came: string | undefined, named: string, id?: RequestMessage["id"]): Fault {
  return fault(400, codes.headerMismatch, "header_mismatch", mismatch("MCP-Protocol-Version", came, named), id)
}

function notServed(version: string): string {
  const given = clampText(version)
  return legacyVersions.includes(version)
    ? `Unsupported protocol version: ${given} is spoken after initialize, not in ${META.protocolVersion}`
    : `Unsupported protocol version: ${given} (served: ${supportedVersions.join(", ")})`
}
