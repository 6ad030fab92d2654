/** The headers that a caller gives, in whatever form, and how they become those of one HTTP request. */
import type { Headers } from "../../../client/link.js"
import type { HeaderSource, HeaderValues } from "../../../client/options.js"
import { McpError, misuse } from "../../../core/error/error.js"
import { clampText } from "../../../core/feature/text.js"
import { HEADER_PARAM_PREFIX } from "../../../core/http/header.js"
import type { MaybePromise } from "../../../store/port.js"

/** Completes the headers of requests: those of the client, over them those of the call, over them the protocol's own. */
export interface HeaderPlan {
  /** Throws or rejects with kind `misuse` when a caller's header cannot be sent. */
  complete(own: Headers, call: HeaderSource | undefined): MaybePromise<Headers>
}

const MAX_VALUE_LENGTH = 16_384
const NAME = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/
/** What a field's value may hold: printable Latin-1, spaces and tabs. */
const VALUE = /^[\t -~\u0080-\u00ff]*$/
const PADDING = /^[ \t]+|[ \t]+$/g

/** Headers that are the protocol's or the connection's own, whatever a caller says; besides all that begin with `mcp-`. */
const OWN: ReadonlySet<string> = new Set([
  "accept",
  "accept-encoding",
  "connection",
  "content-length",
  "content-type",
  "expect",
  "host",
  "keep-alive",
  "last-event-id",
  "proxy-connection",
  "te",
  "trailer",
  "transfer-encoding",
  "upgrade",
])

/**
 * Makes a {@link HeaderPlan}. `basis` is what is sent unless the client's headers say otherwise.
 *
 * @throws `McpError` of kind `misuse`, reason `invalid_option`, for a header of the client that cannot be sent.
 */
export function createHeaderPlan(client: HeaderSource | undefined, basis: Headers): HeaderPlan {
  const fixed = typeof client === "function" || client === undefined ? basis : { ...basis, ...readHeaders(client) }
  const hasFixed = Object.keys(fixed).length > 0
  return {
    complete(own, call) {
      if (typeof client === "function" || typeof call === "function") return ask(fixed, client, call, own)
      if (call !== undefined) return { ...fixed, ...readHeaders(call, true), ...own }
      return hasFixed ? { ...fixed, ...own } : own
    },
  }
}

async function ask(
  fixed: Headers,
  client: HeaderSource | undefined,
  call: HeaderSource | undefined,
  own: Headers,
): Promise<Headers> {
  const asked = typeof client === "function" ? await readSource(client) : undefined
  const called = call === undefined ? undefined : await readSource(call, true)
  return { ...fixed, ...asked, ...called, ...own }
}

async function readSource(source: HeaderSource, areCalls = false): Promise<Headers> {
  if (typeof source !== "function") return readHeaders(source, areCalls)
  let values: HeaderValues
  try {
    values = await source()
  } catch (error) {
    throw McpError.is(error) ? error : misuse("invalid_option", "headers: the function that gives them failed", error)
  }
  return readHeaders(values, areCalls)
}

/** The headers that may be sent, by lower-case name and without space around their values. */
function readHeaders(values: HeaderValues, areCalls = false): Headers {
  const read = new Map<string, string>()
  for (const [name, value] of pairsOf(values)) {
    const key = name.toLowerCase()
    if (isProtocols(key, areCalls)) continue
    const before = read.get(key)
    const text = checkValue(key, value)
    read.set(key, before === undefined ? text : `${before}, ${text}`)
  }
  return Object.fromEntries(read)
}

/** Whether a header is not the caller's to give. A call may repeat its arguments when its tool was never listed here. */
function isProtocols(name: string, isCalls: boolean): boolean {
  if (isCalls && name.startsWith(HEADER_PARAM_PREFIX)) return false
  return OWN.has(name) || name.startsWith("mcp-")
}

function* pairsOf(values: unknown): Generator<readonly [name: string, value: unknown]> {
  if (typeof values !== "object" || values === null) throw refuse("expected an object or pairs of name and value")
  const pairs: Iterable<unknown> = isIterable(values) ? values : Object.entries(values)
  for (const pair of pairs) {
    if (!Array.isArray(pair) || pair.length !== 2) throw refuse("expected pairs of name and value")
    const [name, value]: unknown[] = pair
    if (typeof name !== "string" || !NAME.test(name))
      throw refuse(`${JSON.stringify(clampText(name, 40))} is no name of a header`)
    yield [name, value]
  }
}

function checkValue(name: string, value: unknown): string {
  if (typeof value !== "string") throw refuse(`the value of ${name} must be a string`)
  if (value.length > MAX_VALUE_LENGTH) throw refuse(`the value of ${name} is longer than ${MAX_VALUE_LENGTH} bytes`)
  const text = value.replace(PADDING, "")
  if (!VALUE.test(text))
    throw refuse(`the value of ${name} has a line break or another character that no header may hold`)
  return text
}

function refuse(why: string): McpError {
  return misuse("invalid_option", `headers: ${why}`)
}

function isIterable(values: object): values is Iterable<unknown> {
  return Symbol.iterator in values
}
