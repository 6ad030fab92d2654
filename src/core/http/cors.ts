/** CORS: which pages may read answers, and the headers that say so to their browsers. */
import { misuse } from "../error/error.js"
import { clampText } from "../feature/text.js"
import { isListed, isLocalOrigin, toOriginSet } from "./guard.js"
import {
  HEADER_LAST_EVENT,
  HEADER_METHOD,
  HEADER_NAME,
  HEADER_PARAM_PREFIX,
  HEADER_SESSION,
  HEADER_VERSION,
} from "./header.js"
import { createMemo } from "./memo.js"

/** Which pages may read answers. */
export interface CorsOptions {
  /**
   * Origins such as `https://app.example.com`; `"*"` stands for all but `null`. They may call as well, as if they were in
   * `allowedOrigins`. Default: whatever the guard lets in, which is `allowedOrigins` and, on a loopback address, pages of this
   * machine.
   */
  readonly origins?: readonly string[]
  /** Request headers that pages may send, beside those of MCP and `Authorization`. */
  readonly allowHeaders?: readonly string[]
  /** Whether browsers may send cookies and keep those of answers. Default false. */
  readonly credentials?: boolean
}

/** What the answers to pages of one endpoint say. */
export interface Cors {
  /** The headers of every answer to a request with this `Origin`, as a flat list. */
  headersFor(origin: string | undefined): readonly string[]
  /** The further headers of the answer to a preflight that asks for these request headers. */
  preflight(requested: string | undefined): Readonly<Record<string, string>>
}

/** Where an endpoint stands, as far as CORS has to know. */
export interface CorsPlace {
  /** What the guard lets in by name. */
  readonly allowedOrigins: readonly string[]
  /** Whether the server listens on a loopback address only. */
  readonly loopback: boolean
}

/**
 * Decides for one endpoint. Every answer varies by `Origin`; a page that may not read gets nothing else.
 *
 * @throws `McpError` of kind `misuse` for an entry that is no origin or no header, and for `"*"` with credentials.
 * @see https://fetch.spec.whatwg.org/#http-cors-protocol
 */
export function createCors(options: CorsOptions, { allowedOrigins, loopback }: CorsPlace): Cors {
  const { origins = allowedOrigins, credentials = false, allowHeaders = [] } = options
  const listed = toOriginSet(origins, "cors.origins")
  const isLocalToo = loopback && options.origins === undefined
  const isOpen = listed.has("*")
  if (isOpen && credentials) {
    throw misuse("invalid_option", 'cors: "*" cannot stand beside credentials: true; list the origins')
  }
  const shared = [
    "Access-Control-Expose-Headers",
    EXPOSED,
    ...(credentials ? ["Access-Control-Allow-Credentials", "true"] : []),
  ]
  const decide = createMemo((origin: string): readonly string[] | undefined => {
    if (!isListed(listed, origin) && !(isLocalToo && isLocalOrigin(origin))) return undefined
    return [...VARY, "Access-Control-Allow-Origin", isOpen ? "*" : origin, ...shared]
  })
  const allowed = [...MCP_HEADERS, ...allowHeaders.map(toHeaderEntry)]
  return {
    headersFor: (origin) => (origin === undefined ? undefined : decide(origin)) ?? VARY,
    preflight: (requested) => ({
      "Access-Control-Allow-Methods": "GET, POST, DELETE",
      "Access-Control-Allow-Headers": [...allowed, ...mirroredParams(requested)].join(", "),
      "Access-Control-Max-Age": String(MAX_AGE_S),
    }),
  }
}

const VARY: readonly string[] = ["Vary", "Origin"]

/** What a client reads of an answer beside its body. */
const EXPOSED = "Mcp-Session-Id, WWW-Authenticate, Retry-After"

/** What clients of both eras send. `Authorization` is covered by no wildcard, so it is named. */
const MCP_HEADERS: readonly string[] = [
  "content-type",
  "authorization",
  HEADER_VERSION,
  HEADER_METHOD,
  HEADER_NAME,
  HEADER_SESSION,
  HEADER_LAST_EVENT,
  "traceparent",
]

/** The longest time that browsers keep the answer to a preflight. */
const MAX_AGE_S = 7_200

/** How many mirrored tool arguments one request may have. */
const MAX_PARAMS = 64

/**
 * The headers that repeat tool arguments, of those that a preflight asks for: which there are depends on the tools.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#custom-headers-from-tool-parameters
 */
function mirroredParams(requested = ""): readonly string[] {
  const names = requested.split(",", 1_000).map((name) => name.trim().toLowerCase())
  return names.filter((name) => name.startsWith(HEADER_PARAM_PREFIX) && TOKEN.test(name)).slice(0, MAX_PARAMS)
}

/** @see https://www.rfc-editor.org/rfc/rfc9110#section-5.6.2 */
const TOKEN = /^[!#$%&'*+.^_`|~0-9a-z-]{1,128}$/

function toHeaderEntry(entry: string): string {
  const name = entry.toLowerCase()
  if (TOKEN.test(name) && name !== "*") return name
  throw misuse("invalid_option", `cors.allowHeaders: "${clampText(entry)}" must be the name of a header`)
}
