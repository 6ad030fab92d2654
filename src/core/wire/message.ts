/** JSON-RPC 2.0 messages as values: the types that everything above the bytes works with, and the guards over raw objects. */

/** Any JSON value. */
export type JsonValue = string | number | boolean | null | JsonObject | readonly JsonValue[]

/** A JSON object. Absent members read as `undefined`. */
export interface JsonObject {
  readonly [key: string]: JsonValue | undefined
}

/** A request id: a string, or an integer within the safe range. Never null, and compared with its type. */
export type RequestId = string | number

/** A request that was read from the wire. */
export interface RequestMessage {
  readonly kind: "request"
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject | undefined
}

/** A notification that was read from the wire. */
export interface NotificationMessage {
  readonly kind: "notification"
  readonly id: undefined
  readonly method: string
  readonly params: JsonObject | undefined
}

/** A successful answer that was read from the wire. */
export interface ResultMessage {
  readonly kind: "result"
  readonly id: RequestId
  readonly result: JsonObject
}

/** An error answer that was read from the wire. `id` is undefined when the peer could not read the request's id. */
export interface ErrorMessage {
  readonly kind: "error"
  readonly id: RequestId | undefined
  readonly error: ErrorObject
}

/** The `error` member of an error answer. */
export interface ErrorObject {
  readonly code: number
  readonly message: string
  readonly data?: JsonValue
}

/** One JSON-RPC message. */
export type Message = RequestMessage | NotificationMessage | ResultMessage | ErrorMessage

/** Whether `value` is an object that is neither null nor an array. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/** {@link isObject} for a value that came from a JSON parser. */
export function isJsonObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

/**
 * Whether `value` may be a request id: a string, or an integer within the safe range.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#requests
 */
export function isRequestId(value: unknown): value is RequestId {
  return typeof value === "string" || Number.isSafeInteger(value)
}

/** The id that whatever is answered to a message carries: a request's. A response is the client's own word on an id of ours. */
export function answerId(message: Message): RequestId | undefined {
  return message.kind === "request" ? message.id : undefined
}

function hasParams(value: Record<string, unknown>): boolean {
  return value["params"] === undefined || isObject(value["params"])
}

/** Whether `value` has the wire shape of a JSON-RPC 2.0 request: version, id, method, and params that are an object if there. */
export function isRequest(value: unknown): boolean {
  return (
    isObject(value) &&
    value["jsonrpc"] === "2.0" &&
    isRequestId(value["id"]) &&
    typeof value["method"] === "string" &&
    hasParams(value)
  )
}

/** Whether `value` has the wire shape of a JSON-RPC 2.0 notification: a method and no id. */
export function isNotification(value: unknown): boolean {
  return (
    isObject(value) &&
    value["jsonrpc"] === "2.0" &&
    !Object.hasOwn(value, "id") &&
    typeof value["method"] === "string" &&
    hasParams(value)
  )
}

/** Whether `value` has the wire shape of a JSON-RPC 2.0 response: an id, no method, and exactly one of result and error. */
export function isResponse(value: unknown): boolean {
  return (
    isObject(value) &&
    value["jsonrpc"] === "2.0" &&
    isRequestId(value["id"]) &&
    !Object.hasOwn(value, "method") &&
    Object.hasOwn(value, "result") !== Object.hasOwn(value, "error")
  )
}
