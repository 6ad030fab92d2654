/** Who may write to stdout: once it is guarded only MCP does, and everything else goes to stderr. */

/** The write that reaches the real stdout. */
export type RawWrite = (text: string, done?: (error?: Error | null) => void) => boolean

const KEY = Symbol.for("conduit-mcp.stdout")

interface Guarded {
  [KEY]?: RawWrite
}

/**
 * Sends whatever this process prints to stderr from now on, and answers the write that still reaches stdout. Idempotent. What
 * writes to the file descriptor itself, such as a child process that inherits it, is out of reach.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function guardStdout(): RawWrite {
  const { stdout, stderr } = process
  const guarded = stdout as typeof stdout & Guarded
  const known = guarded[KEY]
  if (known !== undefined) return known
  const write = stdout.write.bind(stdout)
  const raw: RawWrite = (text, done) => write(text, "utf8", done)
  guarded[KEY] = raw
  stdout.write = stderr.write.bind(stderr) as typeof stdout.write
  return raw
}
