/** The eight log levels of the protocol, which are those of syslog. */

/**
 * Every level, from the least to the most severe.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/logging#log-levels
 */
export const LOG_LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const

/** How severe a log message is. */
export type LogLevel = (typeof LOG_LEVELS)[number]

const LEVELS: readonly unknown[] = LOG_LEVELS

/** Whether `value` is one of {@link LOG_LEVELS}. */
export function isLogLevel(value: unknown): value is LogLevel {
  return LEVELS.includes(value)
}

/** Whether a message of `level` is to be sent to somebody who asked for `minimum`. */
export function atLeast(level: LogLevel, minimum: LogLevel): boolean {
  return LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(minimum)
}
