/** Messages as text and as plain wire objects: everything that goes out is built here. */
import type { Fault } from "../error/fault.js"
import type { ErrorObject, JsonObject, JsonValue, RequestId } from "./message.js"

/** A success response as a wire object. */
export interface SuccessResponse {
  readonly jsonrpc: "2.0"
  readonly id: RequestId
  readonly result: JsonValue
}

/** An error response as a wire object. An unknown id leaves the member out: it is never null. */
export interface ErrorResponse {
  readonly jsonrpc: "2.0"
  readonly id?: RequestId
  readonly error: ErrorObject
}

/** A notification as a wire object. */
export interface Notification {
  readonly jsonrpc: "2.0"
  readonly method: string
  readonly params?: JsonObject
}

/** A request as a wire object. */
export interface Request {
  readonly jsonrpc: "2.0"
  readonly id: RequestId
  readonly method: string
  readonly params?: JsonObject
}

/** Builds a success response. */
export function successResponse(id: RequestId, result: JsonValue): SuccessResponse {
  return { jsonrpc: "2.0", id, result }
}

/** Builds an error response; without an id when the request's id could not be read. */
export function errorResponse(
  id: RequestId | undefined,
  code: number,
  message: string,
  data?: JsonValue,
): ErrorResponse {
  const error = data === undefined ? { code, message } : { code, message, data }
  return id === undefined ? { jsonrpc: "2.0", error } : { jsonrpc: "2.0", id, error }
}

/** Builds a notification. */
export function notification(method: string, params?: JsonObject): Notification {
  return params === undefined ? { jsonrpc: "2.0", method } : { jsonrpc: "2.0", method, params }
}

/** Builds a request. */
export function request(id: RequestId, method: string, params?: JsonObject): Request {
  return params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params }
}

/** A request id as JSON text. */
export function idText(id: RequestId): string {
  return typeof id === "number" ? String(id) : JSON.stringify(id)
}

/** A success response as text, around a result that is text already. */
export function resultText(id: RequestId, result: string): string {
  return `{"jsonrpc":"2.0","id":${idText(id)},"result":${result}}`
}

/** A notification as text. */
export function notificationText(method: string, params: JsonObject): string {
  return JSON.stringify(notification(method, params))
}

/** The error response that a fault becomes, as text. `data.reason` names the cause. */
export function faultText(fault: Fault): string {
  return JSON.stringify(errorResponse(fault.id, fault.code, fault.message, { reason: fault.reason, ...fault.data }))
}
