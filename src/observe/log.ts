/** The operator's log: a port of four functions, and the default that writes warnings and errors to stderr. */

/** Facts beside a log line. Never whole requests, results or secrets. */
export type LogFields = Readonly<Record<string, unknown>>

/** Where the library reports to. `console`, pino and most other loggers fit, with the message first. */
export interface Logger {
  debug(message: string, fields?: LogFields): void
  info(message: string, fields?: LogFields): void
  warn(message: string, fields?: LogFields): void
  error(message: string, fields?: LogFields): void
}

/** The default {@link Logger}: warnings and errors, one line each, on stderr (never on stdout, which stdio servers need). */
export const stderrLogger: Logger = {
  debug() {},
  info() {},
  warn: (message, fields) => write("warn", message, fields),
  error: (message, fields) => write("error", message, fields),
}

function write(level: string, message: string, fields: LogFields | undefined): void {
  console.error(`[conduit] ${level}: ${message}${fields === undefined ? "" : ` ${describe(fields)}`}`)
}

function describe(fields: LogFields): string {
  try {
    return JSON.stringify(fields, (_key, value: unknown) =>
      value instanceof Error ? (value.stack ?? String(value)) : typeof value === "bigint" ? String(value) : value,
    )
  } catch {
    return "(fields that are not JSON)"
  }
}
