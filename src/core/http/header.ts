/** The `Mcp-*` request headers: their names, how a value is written into one and read back, and what a request carries. */
import { decodeBase64, encodeBase64 } from "./base64.js"

/** `MCP-Protocol-Version`: the revision of the message. */
export const HEADER_VERSION = "mcp-protocol-version"
/** `Mcp-Method`: the method of the body. */
export const HEADER_METHOD = "mcp-method"
/** `Mcp-Name`: `params.name` or `params.uri` of the body. */
export const HEADER_NAME = "mcp-name"
/** `Mcp-Session-Id`: the session, legacy era only. */
export const HEADER_SESSION = "mcp-session-id"
/** `Last-Event-ID`: where a broken event stream is resumed, legacy era only. */
export const HEADER_LAST_EVENT = "last-event-id"
/** What the name of every mirrored tool argument starts with. */
export const HEADER_PARAM_PREFIX = "mcp-param-"

const PREFIX = "=?base64?"
const SUFFIX = "?="

/** What one HTTP request says in its `Mcp-*` headers, as received. */
export interface HeaderFacts {
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
  readonly session: string | undefined
  /** Any header of the request, by its lower-case name. */
  get(name: string): string | undefined
}

/**
 * The header value that carries `text`: the text itself where a header can hold it, else its UTF-8 in base64 between the
 * markers. A lone surrogate has no UTF-8 and becomes U+FFFD.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
 */
export function encodeHeaderValue(text: string): string {
  if (isFieldContent(text) && !isPadded(text) && !isMarked(text)) return text
  return `${PREFIX}${encodeBase64(new TextEncoder().encode(text))}${SUFFIX}`
}

/**
 * The text that a header value carries; surrounding spaces and tabs are not part of a value. Undefined when the value has a
 * character that no header may hold, or stands between the markers and is not canonical base64 of valid UTF-8.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#value-encoding
 */
export function decodeHeaderValue(value: string): string | undefined {
  const trimmed = trimOws(value)
  if (!isFieldContent(trimmed)) return undefined
  if (!isMarked(trimmed)) return trimmed
  if (trimmed.length < PREFIX.length + SUFFIX.length) return undefined
  const bytes = decodeBase64(trimmed.slice(PREFIX.length, -SUFFIX.length))
  if (bytes === undefined) return undefined
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes)
  } catch {
    return undefined
  }
}

function isMarked(text: string): boolean {
  return text.startsWith(PREFIX) && text.endsWith(SUFFIX)
}

function isPadded(text: string): boolean {
  return isOws(text.charCodeAt(0)) || isOws(text.charCodeAt(text.length - 1))
}

function isOws(code: number): boolean {
  return code === 0x20 || code === 0x09
}

function trimOws(value: string): string {
  if (!isPadded(value)) return value
  let start = 0
  let end = value.length
  while (start < end && isOws(value.charCodeAt(start))) start += 1
  while (end > start && isOws(value.charCodeAt(end - 1))) end -= 1
  return value.slice(start, end)
}

function isFieldContent(text: string): boolean {
  for (let at = 0; at < text.length; at += 1) {
    const code = text.charCodeAt(at)
    if ((code < 0x20 || code > 0x7e) && code !== 0x09) return false
  }
  return true
}
