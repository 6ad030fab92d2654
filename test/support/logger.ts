/** A logger that remembers, for tests that look at what the operator is told. */
import type { LogFields, Logger } from "conduit-mcp"

/** One line that was logged. */
export interface LogLine {
  readonly level: keyof Logger
  readonly message: string
  readonly fields: LogFields | undefined
}

/** A {@link Logger} together with its lines, in order. */
export interface RecordingLogger extends Logger {
  readonly lines: readonly LogLine[]
}

/** A logger that keeps every line and prints none. */
export function createRecordingLogger(): RecordingLogger {
  const lines: LogLine[] = []
  const record =
    (level: keyof Logger) =>
    (message: string, fields?: LogFields): void =>
      void lines.push({ level, message, fields })
  return { lines, debug: record("debug"), info: record("info"), warn: record("warn"), error: record("error") }
}
