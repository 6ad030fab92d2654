/** Who may write to stdout: once it is guarded only MCP does, and everything else goes to stderr. */

/** The write that reaches the real stdout. */
export type RawWrite = (text: string, done?: (error?: Error | null) => void) => boolean

const KEY = Symbol.for("conduit-mcp.stdout")

interface Guarded {
  [KEY]?: RawWrite
}

/**
 * Sends whatever this process prints to stderr from now on, and answers the write that still reaches stdout. Idempotent. What
 * nobody reads on stderr is lost and harms nothing. What writes to the file descriptor itself, such as a child process that
 * inherits it, is out of reach.
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
  stderr.on("error", ignore)
  stdout.write = ((...given: Parameters<typeof stderr.write>) => {
    stderr.write(...given)
    return true
  }) as typeof stdout.write
  stdout.end = ((...given: readonly unknown[]) => {
    const done = given.find(isCallback)
    stderr.write(isChunk(given[0]) ? given[0] : "", () => done?.())
    return stdout
  }) as typeof stdout.end
  return raw
}

function ignore(): void {
  // Nobody reads stderr; whoever serves the protocol goes on.
}

function isChunk(value: unknown): value is string | Uint8Array {
  return typeof value === "string" || value instanceof Uint8Array
}

function isCallback(value: unknown): value is () => void {
  return typeof value === "function"
}
