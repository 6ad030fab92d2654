/** What can be said of a command that serves MCP on its standard streams. */
import type { ClientLimits } from "../../client/limits.js"
import type { Clock } from "../../store/port.js"

/** A server to start as a child process. */
export interface StdioCommand {
  /** The program: a path, or a name that is looked for in the child's `PATH`. No shell reads it. */
  readonly command: string
  readonly args?: readonly string[]
  /** Variables of the child, over those that it gets anyway; undefined takes one away. */
  readonly env?: Readonly<Record<string, string | undefined>>
  /**
   * What the child sees of this process's environment beside the few variables that programs need to run: the names of more, or
   * true for all. Default none, because there are secrets among them.
   */
  readonly inheritEnv?: boolean | readonly string[]
  /** The folder in which it runs. Default that of this process. */
  readonly cwd?: string
  /**
   * What becomes of what the child says on stderr. `collect`, the default: each line is an event, and errors carry the last
   * ones. `inherit`: it goes where this process's goes, and errors carry none of it. A function hears each line, as far as its
   * first 8 KiB, and errors carry the last ones.
   */
  readonly stderr?: "collect" | "inherit" | ((line: string) => void)
}

/** A command, with what every transport of a client is given. */
export interface StdioDialerOptions extends StdioCommand {
  readonly limits: ClientLimits
  readonly clock: Clock
}
