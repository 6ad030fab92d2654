/** The client's way to a command: a child process for each link. */
import type { Dialer } from "../../client/link.js"
import { misuse } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"
import { createPipeLink } from "../pipe-link.js"
import { decodeUtf8 } from "../utf8.js"
import { ChildDuct } from "./child.js"
import type { StdioCommand, StdioDialerOptions } from "./command.js"
import { childEnvironment } from "./environment.js"

/**
 * Makes the {@link Dialer} of a command. A child that runs keeps this process alive, as any does, until the link is closed.
 * When this process exits before that, the child and what it started are killed; when a signal ends it that it does not handle,
 * all that happens to them is that their input ends.
 *
 * @throws `McpError` of kind `misuse`, reason `invalid_option`, for a command that is none. Opening a link rejects with reason
 * `cannot_spawn`, kind `transport`, when the program does not start.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function createStdioDialer(options: StdioDialerOptions): Dialer {
  const { command, args = [], cwd, stderr = "collect", limits, clock } = options
  check(options)
  const origin = clampText(command)
  return {
    kind: "pipe",
    origin,
    dial() {
      const env = childEnvironment(options, process.env, process.platform)
      const duct = new ChildDuct({
        origin,
        spawn: { command, args: [...args], env, cwd, inheritsStderr: stderr === "inherit" },
        onStderr: typeof stderr === "function" ? stderr : undefined,
        limits,
        clock,
      })
      return createPipeLink({ origin, duct, limits, decode: decodeUtf8 })
    },
  }
}

function check({ command, args, stderr }: StdioCommand): void {
  const given: unknown = args ?? []
  if (typeof command !== "string" || command === "") throw misuse("invalid_option", "`command` must name a program")
  if (!Array.isArray(given) || given.some((arg) => typeof arg !== "string")) {
    throw misuse("invalid_option", "`args` must be an array of strings")
  }
  if (stderr !== undefined && stderr !== "collect" && stderr !== "inherit" && typeof stderr !== "function") {
    throw misuse("invalid_option", '`stderr` must be "collect", "inherit" or a function')
  }
}
