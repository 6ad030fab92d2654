/** Stands in for the stdio client where there are no processes: in browsers and on Workers. */
import type { Dialer } from "../../client/link.js"
import { misuse } from "../../core/error/error.js"
import type { StdioDialerOptions } from "./command.js"

/** @throws `McpError` of kind `misuse`, reason `not_supported`. */
export function createStdioDialer(_options: StdioDialerOptions): Dialer {
  throw misuse(
    "not_supported",
    "a command cannot be started here: this platform has no processes. Connect to a URL, or to a server in the same process",
  )
}
