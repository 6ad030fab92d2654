/** What becomes of a request that is not answered with a message. */
import type { Outcome } from "../../../client/link.js"
import { McpError } from "../../../core/error/error.js"
import { parseRetryAfter } from "../../../core/http/retry-after.js"
import type { HttpReply } from "../../../core/http/send.js"
import { asMcpError } from "../network-error.js"
import type { Way } from "./way.js"

/** How much is kept of a body that is no message, in bytes. */
export const MAX_BODY_BYTES = 65_536

/** An answer that is no JSON-RPC response, with the beginning of its body. */
export function toHttpOutcome({ clock }: Way, reply: HttpReply, bytes: Uint8Array): Outcome {
  return {
    kind: "http",
    status: reply.status,
    contentType: reply.header("content-type"),
    body: new TextDecoder().decode(bytes.subarray(0, MAX_BODY_BYTES)),
    retryAfterMs: parseRetryAfter(reply.header("retry-after"), clock.now()),
    challenge: reply.header("www-authenticate"),
  }
}

/** A request that got no answer. What the network did is told apart from what was refused on this side. */
export function toFailedOutcome({ url }: Way, cause: unknown, answered: boolean): Outcome {
  const error = asMcpError(url, cause)
  return isNetworkError(error) ? { kind: "broken", error, answered } : { kind: "refused", error }
}

/** Whether a request failed because of the network. */
export function isNetworkError(error: unknown): boolean {
  return McpError.is(error, "transport") && error.reason === "network_error"
}
