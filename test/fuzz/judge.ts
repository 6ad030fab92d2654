/** What may come back from a server, whatever was sent. Every rule is the protocol's, none is the server's own. */
import { type Breach, findBreach } from "./bounds.js"
import { foreignSecrets, type Peer } from "./peer.js"

/** A message as it came. */
export type Json = Readonly<Record<string, unknown>>

/** What a server owes for bytes that it got. */
export type Due =
  /** A request: one answer with its id, unless the transport refuses it unread. */
  | { readonly kind: "answer"; readonly id: string | number; readonly message: Json }
  /** Nothing that could be answered by its id: one answer without an id. */
  | { readonly kind: "refusal" }
  /** A notification or a response: nothing, or over HTTP a refusal without an id. */
  | { readonly kind: "nothing"; readonly message: Json }
  /** Bytes whose end two readers see in two places: anything that is an answer. */
  | { readonly kind: "unclear" }

/** Reasons for which an HTTP request is refused before its body is read. */
const UNREAD: ReadonlySet<string> = new Set([
  "host_not_allowed",
  "origin_not_allowed",
  "cross_site",
  "path_not_found",
  "method_not_allowed",
  "unsupported_media_type",
  "unsupported_encoding",
  "not_acceptable",
  "body_too_large",
  "body_timeout",
  "unauthenticated",
])

/** The codes that a server of any revision may send: those of JSON-RPC, of the modern era, and those of the legacy era. */
const CODES = new Set([-32700, -32600, -32601, -32602, -32603])
const MODERN_CODES = new Set([-32020, -32021, -32022])
const LEGACY_CODES = new Set([-32000, -32001, -32002, -32042])

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })

/** Reads bytes as the platform does, to tell what is owed for them. */
export function dueFor(bytes: Uint8Array): Due {
  let value: unknown
  let breach: Breach | undefined
  try {
    const text = decoder.decode(bytes).replace(/^\uFEFF/, "")
    value = JSON.parse(text)
    breach = findBreach(text)
  } catch {
    return { kind: "refusal" }
  }
  if (breach === "unreadable") return { kind: "refusal" }
  if (typeof value !== "object" || value === null || Array.isArray(value)) return { kind: "refusal" }
  const message = value as Json
  const { id } = message
  const has = (key: string): boolean => Object.hasOwn(message, key)
  if (!has("id") && has("method")) return { kind: "nothing", message }
  if (!has("method") && (has("result") || has("error"))) return { kind: "nothing", message }
  if (breach === "twice at the top") return { kind: "refusal" }
  if (typeof id === "string" || Number.isSafeInteger(id)) return { kind: "answer", id: id as string | number, message }
  return { kind: "refusal" }
}

/** Whether the exchange is of the modern era: the version in the body decides, then the one in the header. */
export function isModernExchange(message: Json, header: string | undefined): boolean {
  const params = message["params"] as { _meta?: Record<string, unknown> } | undefined
  const named = params?._meta?.["io.modelcontextprotocol/protocolVersion"]
  const version = typeof named === "string" ? named : header
  return version !== undefined && !/^20(24|25)-\d\d-\d\d$/.test(version)
}

/** Fails unless a message is one that a server may send. */
export function judgeMessage(message: Json, peer: Peer): void {
  assert(message["jsonrpc"] === "2.0", "it says its version", message)
  assert(!Array.isArray(message), "it is no batch", message)
  assert(!("forged" in message), "no message came out of a tool's text", message)
  const kinds = ["method", "result", "error"].filter((key) => Object.hasOwn(message, key))
  assert(kinds.length === 1, "it is one of request, result and error", message)
  const { id, error, result, params } = message
  if (message["method"] === "notifications/cancelled") {
    const { _meta: meta, requestId } = params as Json
    const stream = isObject(meta) ? meta["io.modelcontextprotocol/subscriptionId"] : undefined
    assert(requestId !== undefined && requestId === stream, "a server cancels listen streams alone", message)
  }
  assert(!Object.hasOwn(message, "id") || typeof id === "string" || Number.isSafeInteger(id), "its id is one", message)
  if (kinds[0] === "result") assert(isObject(result), "a result is an object", message)
  if (kinds[0] === "error") {
    assert(isObject(error) && typeof error["message"] === "string", "an error has words", message)
    const code = isObject(error) ? (error["code"] as number) : Number.NaN
    assert(CODES.has(code) || MODERN_CODES.has(code) || LEGACY_CODES.has(code), "its code is defined", message)
  }
  const foreign = foreignSecrets(JSON.stringify(message), peer)
  assert(foreign.length === 0, `it holds nothing of anybody else (${foreign.join()})`, message)
}

/** Fails unless an answer fits what was sent. */
export function judgeAnswer(due: Due, answer: Json, header: string | undefined): void {
  if (due.kind === "unclear") return
  const { id, error } = answer
  const reason = reasonOf(answer)
  if (id === undefined) {
    assert(error !== undefined, "a result has an id", answer)
    if (due.kind === "answer") assert(UNREAD.has(reason), "an error to a request has its id", answer)
  } else {
    assert(due.kind === "answer" && Object.is(normal(id), normal(due.id)), "the id is the request's", answer)
  }
  if (due.kind === "refusal" || !isObject(error)) return
  const code = error["code"] as number
  const modern = isModernExchange(due.message, header)
  assert(!(modern && LEGACY_CODES.has(code)), "no legacy code is sent in the modern era", answer)
}

/** The reason's slug in an error; empty when there is none. */
export function reasonOf({ error }: Json): string {
  const data = isObject(error) ? error["data"] : undefined
  return isObject(data) ? String(data["reason"] ?? "") : ""
}

/** What a message is, in a word or two. */
export function describe(message: Json): string {
  const { method, result } = message
  if (typeof method === "string") return method
  if (isObject(result)) return String(result["resultType"] ?? (result["isError"] === true ? "isError" : "result"))
  return reasonOf(message)
}

/** JSON has no -0. */
function normal(id: unknown): unknown {
  return id === 0 ? 0 : id
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** Fails with the rule that was broken and what broke it. */
export function assert(holds: boolean, rule: string, seen: unknown): asserts holds {
  if (!holds) throw new Error(`not so: ${rule}\n${show(seen)}`)
}

function show(seen: unknown): string {
  const text = typeof seen === "string" ? seen : JSON.stringify(seen)
  return text.length > 2_000 ? `${text.slice(0, 2_000)}… (${text.length})` : text
}
