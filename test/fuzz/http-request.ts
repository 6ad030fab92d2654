/** HTTP requests around messages: right ones, and what becomes of them when somebody changes their headers and bodies. */
import { gzipSync } from "node:zlib"
import fc from "fast-check"
import { anyDraft, type Draft, type EraName, toBytes } from "./messages.js"
import { fill, type Handles, type Peer } from "./peer.js"
import { LIMITS } from "./target.js"

/** A request as it goes out. */
export interface HttpRequest {
  readonly method: string
  readonly path: string
  readonly headers: readonly (readonly [name: string, value: string])[]
  /** The body, in the pieces in which it is sent. */
  readonly chunks: readonly Uint8Array[]
  /** Whether the connection breaks behind the last piece. */
  readonly breaks: boolean
}

/** One change of the headers: a value instead of what there is, beside it, or none at all. */
interface HeaderChange {
  readonly name: string
  readonly value: string | undefined
  readonly again: boolean
}

/** What is done to the body. */
export const BODY_CHANGES = [
  "whole",
  "pieces",
  "cut",
  "empty",
  "too long",
  "shorter than said",
  "longer than said",
  "gzip",
] as const
type BodyChange = (typeof BODY_CHANGES)[number]

/** A request to be sent, with placeholders. */
export interface HttpShot {
  readonly draft: Draft
  readonly method: string
  readonly path: string
  readonly headers: readonly HeaderChange[]
  readonly body: BodyChange
  readonly cut: number
}

/** Values of headers that mean something, right and wrong ones, by name. */
export const HEADER_VALUES: Readonly<Record<string, readonly string[]>> = {
  host: ["evil.example", "localhost.evil.example", "127.0.0.1.nip.io", "[::1]", "0.0.0.0", "LOCALHOST.", "a@localhost"],
  origin: [
    "null",
    "http://localhost:1",
    "https://localhost.evil.example",
    "file://",
    "chrome-extension://a",
    "http://a",
  ],
  "content-type": [
    "text/plain",
    "application/json; charset=utf-16",
    "APPLICATION/JSON",
    "text/plain;a=application/json",
  ],
  accept: ["text/html", "application/json", "text/event-stream", "*/*", "application/json;q=0", ",;q=,"],
  "content-encoding": ["gzip", "identity", "br, gzip"],
  "transfer-encoding": ["chunked", "identity", "xchunked"],
  "content-length": ["0", "-1", "1e3", "99999999999"],
  "mcp-protocol-version": ["2026-07-28", "2025-11-25", "2025-06-18", "2024-11-05", "2027-01-01", "__proto__", ""],
  "mcp-method": ["tools/call", "tools/list", "TOOLS/CALL", "constructor"],
  "mcp-name": [
    "echo",
    "ECHO",
    "=?base64?ZWNobw==?=",
    "=?base64?!!?=",
    "=?base64?wIA=?=",
    "=?BASE64?ZWNobw==?=",
    "a, b",
  ],
  "mcp-param-region": ["a", "=?base64?Zm9v?=", "=?base64?/w==?="],
  "mcp-param-count": ["1", "1.0", "1e400", "0x1"],
  "mcp-param-sure": ["true", "TRUE", ""],
  "mcp-session-id": ["«session:0»", "«session:1»", "«session:2»", "__proto__", "*", "a".repeat(3_000), "", "session:x"],
  "last-event-id": ["«event:0»", "«event:1»", "0", "1:1", "*\t:", "__proto__", "a".repeat(3_000)],
  authorization: ["", "Bearer", "Basic a", "Bearer peer-blind", "Bearer __proto__"],
  "sec-fetch-site": ["cross-site", "same-origin", "none"],
  "x-odd": ["plain"],
}
/** Values that no header should have, in any of them; those beyond Latin-1 are cut to one byte a character. */
export const ODD_HEADER_VALUES = [
  "",
  "x\r\nSet-Cookie: stolen=1",
  "x\nX-Injected: 1",
  "x\r\n\r\nHTTP/1.1 200 OK\r\n\r\n",
  "\u0000",
  "\u00e9",
  "\t padded \t",
  "a".repeat(20_000),
  ",".repeat(2_000),
]

const headerChange: fc.Arbitrary<HeaderChange> = fc.constantFrom(...Object.keys(HEADER_VALUES)).chain((name) =>
  fc.record({
    name: fc.constantFrom(name, name, name.toUpperCase()),
    value: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom<string>(...(HEADER_VALUES[name] ?? [])) },
      { weight: 2, arbitrary: fc.constantFrom<string>(...ODD_HEADER_VALUES) },
      { weight: 1, arbitrary: fc.constant(undefined) },
    ),
    again: fc.boolean(),
  }),
)

/** What somebody sends who wants the rest of a stream, perhaps of somebody else's. */
const resuming: fc.Arbitrary<readonly HeaderChange[]> = fc.nat({ max: 9 }).map((index) => [
  { name: "mcp-session-id", value: `«streamSession:${index}»`, again: false },
  { name: "last-event-id", value: `«streamEvent:${index}»`, again: false },
])

const body: fc.Arbitrary<BodyChange> = fc.oneof(
  { weight: 30, arbitrary: fc.constant<BodyChange>("whole") },
  { weight: 3, arbitrary: fc.constant<BodyChange>("pieces") },
  {
    weight: 4,
    arbitrary: fc.constantFrom<BodyChange>("cut", "empty", "too long", "shorter than said", "longer than said", "gzip"),
  },
)

/** Any request of an era. */
export function anyHttpShot(era: EraName): fc.Arbitrary<HttpShot> {
  const shot = anyShot(era)
  if (era === "modern") return shot
  const resumes = fc.record({ shot, headers: resuming }).map(({ shot: one, headers }) => ({
    ...one,
    method: "GET",
    path: "/mcp",
    headers,
  }))
  return fc.oneof({ weight: 7, arbitrary: shot }, { weight: 1, arbitrary: resumes })
}

function anyShot(era: EraName): fc.Arbitrary<HttpShot> {
  return fc.record({
    draft: anyDraft(era),
    method: fc.oneof(
      { weight: 30, arbitrary: fc.constant("POST") },
      { weight: 3, arbitrary: fc.constantFrom("GET", "DELETE", "PUT", "PATCH", "HEAD", "OPTIONS", "TRACE", "QUERY") },
    ),
    path: fc.oneof(
      { weight: 40, arbitrary: fc.constant("/mcp") },
      { weight: 1, arbitrary: fc.constantFrom("/mcp?x=1", "/mcp/", "//mcp", "/MCP", "/%6dcp", "/", "/../mcp", "*") },
    ),
    headers: fc.oneof(
      { weight: 3, arbitrary: fc.constant([]) },
      { weight: 1, arbitrary: fc.array(headerChange, { minLength: 1, maxLength: 3 }) },
    ),
    body,
    cut: fc.nat({ max: 500 }),
  })
}

/** The headers that a message of a client in order has. */
export function rightHeaders(
  draft: Pick<Draft, "era" | "method" | "name">,
  peer: Peer,
  session: string | undefined,
): [string, string][] {
  const common: [string, string][] = [
    ["authorization", `Bearer ${peer.token}`],
    ["content-type", "application/json"],
    ["accept", "application/json, text/event-stream"],
  ]
  if (draft.era === "legacy") {
    return [
      ...common,
      ["mcp-protocol-version", "2025-11-25"],
      ...(session === undefined ? [] : [["mcp-session-id", session] as [string, string]]),
    ]
  }
  return [
    ...common,
    ["mcp-protocol-version", "2026-07-28"],
    ["mcp-method", draft.method],
    ...(draft.name === undefined ? [] : [["mcp-name", headerSafe(draft.name)] as [string, string]]),
  ]
}

function headerSafe(value: string): string {
  if (/^[\x21-\x7e]+$/.test(value) && !value.startsWith("=?")) return value
  return `=?base64?${Buffer.from(value).toString("base64")}?=`
}

/**
 * The request of a shot, and the body that reaches the server; undefined when that depends on who reads the framing how.
 * `isFramed` is whether the length that is said decides where the body ends.
 */
export function toHttpRequest(
  shot: HttpShot,
  peer: Peer,
  handles: Handles,
  session: string | undefined,
  isFramed: boolean,
): { readonly request: HttpRequest; readonly read: Uint8Array | undefined } {
  const { draft, method } = shot
  const filled = { ...draft, name: draft.name === undefined ? undefined : fill(draft.name, peer, handles) }
  const message = toBytes(fill(draft.text, peer, handles), draft.damage)
  const { bytes, headers: framing, breaks } = frame(shot, message)
  const headers = [...rightHeaders(filled, peer, session), ...framing]
  for (const { name, value, again } of shot.headers) {
    const lower = name.toLowerCase()
    const at = headers.findIndex(([known]) => known.toLowerCase() === lower)
    if (at >= 0 && !again) headers.splice(at, 1)
    if (value !== undefined) headers.push([name, fill(value, peer, handles)])
  }
  const half = Math.ceil(bytes.length / 2)
  const chunks = shot.body === "pieces" ? [bytes.subarray(0, half), bytes.subarray(half)] : [bytes]
  const request = { method, path: shot.path, headers, chunks: chunks.filter(({ length }) => length > 0), breaks }
  const isUnclear = shot.headers.some(({ name }) => FRAMING.has(name.toLowerCase()))
  return { request, read: isUnclear ? undefined : readOf(shot, bytes, isFramed) }
}

const FRAMING: ReadonlySet<string> = new Set(["content-length", "transfer-encoding"])

function readOf({ body, cut }: HttpShot, bytes: Uint8Array, isFramed: boolean): Uint8Array {
  if (body === "cut" || body === "shorter than said") return bytes.subarray(0, 0)
  return body === "longer than said" && isFramed ? bytes.subarray(0, said(bytes, cut)) : bytes
}

/** How long a body is said to be that is longer. */
function said(bytes: Uint8Array, cut: number): number {
  return Math.max(0, bytes.length - 1 - cut)
}

function frame(
  { body, cut }: HttpShot,
  message: Uint8Array,
): { readonly bytes: Uint8Array; readonly headers: readonly [string, string][]; readonly breaks: boolean } {
  const long = (length: number): readonly [string, string][] => [["content-length", String(length)]]
  switch (body) {
    case "whole":
    case "pieces":
      return { bytes: message, headers: long(message.length), breaks: false }
    case "empty":
      return { bytes: message.subarray(0, 0), headers: long(0), breaks: false }
    case "cut":
      return { bytes: message.subarray(0, cut), headers: long(message.length + cut + 1), breaks: true }
    case "too long":
      return { bytes: message, headers: long(LIMITS.maxBodyBytes + 1), breaks: false }
    case "shorter than said":
      return { bytes: message, headers: long(message.length + 1 + cut), breaks: true }
    case "longer than said":
      return { bytes: message, headers: long(said(message, cut)), breaks: false }
    case "gzip": {
      const zipped = gzipSync(message)
      return { bytes: zipped, headers: [...long(zipped.length), ["content-encoding", "gzip"]], breaks: false }
    }
  }
}
