/** A refusal as a value: what pure functions return instead of throwing. */
import type { JsonObject, RequestId } from "../wire/message.js"
import type { Reason } from "./reason.js"

/** A JSON-RPC error that is to be sent, with the HTTP status that it rides on. */
export interface Fault {
  readonly kind: "fault"
  /** The JSON-RPC code; see `codes`. */
  readonly code: number
  /** The slug that names the cause; sent as `data.reason`. */
  readonly reason: Reason
  readonly message: string
  /** The HTTP status; other transports ignore it. */
  readonly status: number
  /** Further members of the error's `data`. */
  readonly data: JsonObject | undefined
  /** The id of the request that is refused; undefined when it could not be read. */
  readonly id: RequestId | undefined
  /** Whether a notification or a response is refused, which are never answered: only HTTP says so, by its status. */
  readonly isStray?: true
}

/** Makes a {@link Fault}. */
export function fault(
  status: number,
  code: number,
  reason: Reason,
  message: string,
  id?: RequestId,
  data?: JsonObject,
): Fault {
  return { kind: "fault", code, reason, message, status, data, id }
}
