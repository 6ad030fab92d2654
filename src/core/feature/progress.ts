/** Progress: what may be a token, and which values may follow each other. */
import { isRequestId, type RequestId } from "../wire/message.js"

/** The token that ties progress to a request; it is compared with its type. */
export type ProgressToken = RequestId

/**
 * Whether `value` may be a progress token: a string, or an integer within the safe range.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress#progress-flow
 */
export function isProgressToken(value: unknown): value is ProgressToken {
  return isRequestId(value)
}

/**
 * Whether `next` may be sent after `previous`: a finite number, strictly larger than it. Any finite number may be the first.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress#progress-flow
 */
export function isProgress(previous: number | undefined, next: number): boolean {
  return Number.isFinite(next) && (previous === undefined || next > previous)
}
