/** The errors of an HTTP exchange that came to nothing, and how much of an unwanted body is read so that its connection can be kept. */
import { McpError } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"

/** The longest body that is read to its end only to keep the connection, in bytes. */
export const MAX_DISCARDED_BYTES = 65_536

/** A user and a password in an address. */
const USER = /\/\/[^/\s]*@/g

/** The error of a request that the network failed, by its cause. Names the origin and the system's code, and no header. */
export function networkError(url: string, cause: unknown): McpError {
  const text = codeOf(cause) ?? codeOf(causeOf(cause)) ?? clampText(cause).replace(USER, "//")
  return new McpError(`no answer from ${new URL(url).origin}: ${text}`, {
    kind: "transport",
    reason: "network_error",
    cause,
    retryable: true,
  })
}

/** The error of a request that was ended early by its sender. */
export function abortedError(url: string): McpError {
  return new McpError(`the request to ${new URL(url).origin} was aborted`, { kind: "cancelled", reason: "aborted" })
}

/** What a way out rejected with, as the error that it is said to reject with. */
export function asMcpError(url: string, error: unknown): McpError {
  return McpError.is(error) ? error : networkError(url, error)
}

function codeOf(cause: unknown): string | undefined {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined
  return typeof code === "string" && code !== "" ? clampText(code) : undefined
}

function causeOf(error: unknown): unknown {
  return error instanceof Error ? error.cause : undefined
}
