/** Bytes to a message, or to the fault that says why not. Nothing here throws. */
import { codes } from "../error/codes.js"
import { type Fault, fault } from "../error/fault.js"
import type { Reason } from "../error/reason.js"
import { isObject, isRequestId, type JsonObject, type JsonValue, type Message, type RequestId } from "./message.js"
import { SCAN_LIMITS, type ScanCounts, type ScanLimits, scanMessage, scanValue } from "./scan.js"

/** Decodes UTF-8, or answers undefined when the bytes are not UTF-8. The platform's fastest way is passed in. */
export type DecodeUtf8 = (bytes: Uint8Array) => string | undefined

/** A {@link DecodeUtf8} from the web's `TextDecoder`, for every platform. */
export function createDecodeUtf8(): DecodeUtf8 {
  const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
  return (bytes) => {
    try {
      return decoder.decode(bytes)
    } catch {
      return undefined
    }
  }
}

/**
 * Parses one message: scan, UTF-8 check, one decode, one parse, then the JSON-RPC shape. A leading byte order mark is
 * stripped. A batch is refused: no revision that Conduit serves has them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#messages
 */
export function parseMessage(bytes: Uint8Array, decode: DecodeUtf8, limits: ScanLimits = SCAN_LIMITS): Message | Fault {
  return parseJson(bytes, decode, limits, toMessage)
}

/** How many messages a batch may have. */
const MAX_BATCH = 1_000

/**
 * {@link parseMessage} where the revision has batches: one message, or an array of at most 1,000. The limits hold for the
 * array as a whole, and repeated keys cannot be seen inside of it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-03-26/basic#batching
 */
export function parseMessages(
  bytes: Uint8Array,
  decode: DecodeUtf8,
  limits: ScanLimits = SCAN_LIMITS,
): readonly (Message | Fault)[] {
  const read = parseJson(bytes, decode, limits, toMessages)
  return "kind" in read ? [read] : read
}

function toMessages(value: unknown, counts: ScanCounts): readonly (Message | Fault)[] {
  if (!Array.isArray(value)) return [toMessage(value, counts)]
  if (value.length === 0 || value.length > MAX_BATCH) {
    return [invalid("invalid_request", `a batch has at least one message and at most ${MAX_BATCH}`)]
  }
  return value.map((each) => toMessage(each))
}

/** What `read` makes of the JSON in `bytes`, once it has passed the scan. */
function parseJson<Read>(
  bytes: Uint8Array,
  decode: DecodeUtf8,
  limits: ScanLimits,
  read: (value: unknown, counts: ScanCounts) => Read,
): Read | Fault {
  const body = bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf ? bytes.subarray(3) : bytes
  const counts: ScanCounts = { top: 0, params: 0 }
  const problem = scanMessage(body, limits, counts)
  if (problem !== undefined) return invalid(problem.reason, problem.message)
  const text = decode(body)
  if (text === undefined)
    return fault(400, codes.parseError, "invalid_utf8", "Parse error: the body is not valid UTF-8")
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return fault(400, codes.parseError, "parse_error", "Parse error: the body is not valid JSON")
  }
  return read(value, counts)
}

/** {@link parseMessage} for a body that a framework has parsed: only repeated keys can no longer be seen then. */
export function parseParsed(value: unknown, limits: ScanLimits = SCAN_LIMITS): Message | Fault {
  const problem = scanValue(value, limits)
  return problem === undefined ? toMessage(value) : invalid(problem.reason, problem.message)
}

/** The message that a parsed value is. The counts tell whether a key was repeated. */
export function toMessage(value: unknown, counts?: ScanCounts): Message | Fault {
  const read = readMessage(value, counts)
  return read.kind === "fault" && isStray(value) ? { ...read, id: undefined, isStray: true } : read
}

/** Whether a value has the shape of a notification or of a response, whatever is wrong with it. */
function isStray(value: unknown): boolean {
  if (!isObject(value)) return false
  if (Object.hasOwn(value, "method")) return !Object.hasOwn(value, "id")
  return Object.hasOwn(value, "result") || Object.hasOwn(value, "error")
}

function readMessage(value: unknown, counts?: ScanCounts): Message | Fault {
  if (!isObject(value)) {
    return Array.isArray(value)
      ? invalid("batch_unsupported", "batches are not supported: send one message at a time")
      : invalid("invalid_request", "a message must be a JSON object")
  }
  const id = value["id"]
  const known = isRequestId(id) ? id : undefined
  if (counts !== undefined && Object.keys(value).length !== counts.top) {
    return invalid("duplicate_key", "a key stands twice at the top level")
  }
  if (value["jsonrpc"] !== "2.0") return invalid("invalid_request", '"jsonrpc" must be "2.0"', known)
  if (id !== undefined && known === undefined) {
    if (id === null && isObject(value["error"])) return toError(value["error"], undefined)
    return invalid("invalid_request", '"id" must be a string or an integer within the safe range')
  }
  if (Object.hasOwn(value, "method")) return toCall(value, known, counts)
  return toResponse(value, known)
}

function toCall(value: Record<string, unknown>, id: RequestId | undefined, counts?: ScanCounts): Message | Fault {
  const method = value["method"]
  if (typeof method !== "string") return invalid("invalid_request", '"method" must be a string', id)
  const params = value["params"]
  if (params !== undefined) {
    if (!isObject(params)) {
      return fault(400, codes.invalidParams, "invalid_params", '"params" must be an object', id)
    }
    if (counts !== undefined && Object.keys(params).length !== counts.params) {
      return invalid("duplicate_key", 'a key stands twice under "params"', id)
    }
  }
  const given = params as JsonObject | undefined
  return id === undefined
    ? { kind: "notification", id, method, params: given }
    : { kind: "request", id, method, params: given }
}

function toResponse(value: Record<string, unknown>, id: RequestId | undefined): Message | Fault {
  const result = value["result"]
  const error = value["error"]
  if (result !== undefined && error === undefined && id !== undefined && isObject(result)) {
    return { kind: "result", id, result: result as JsonObject }
  }
  if (result === undefined && isObject(error)) return toError(error, id)
  return invalid("invalid_request", 'a message needs a "method", or an "id" with one of "result" and "error"', id)
}

function toError(error: Record<string, unknown>, id: RequestId | undefined): Message | Fault {
  const { code, message } = error
  if (!Number.isInteger(code) || typeof message !== "string") {
    return invalid("invalid_request", '"error" needs an integer "code" and a "message"', id)
  }
  const data = error["data"] as JsonValue | undefined
  return { kind: "error", id, error: { code: code as number, message, ...(data === undefined ? {} : { data }) } }
}

function invalid(reason: Reason, message: string, id?: RequestId): Fault {
  return fault(400, codes.invalidRequest, reason, `Invalid request: ${message}`, id)
}
