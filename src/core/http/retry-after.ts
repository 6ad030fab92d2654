/** The `Retry-After` header: how long a server asks to be let alone. */

/** The longest pause that is understood: what a timer can hold. */
const MAX_MS = 0x7fff_ffff
const SECONDS = /^\d{1,19}$/
/** The three forms of a date in HTTP: today's, and two that are obsolete and still to be read. */
const DATE = /^(?:[A-Z][a-z]{2}, \d\d [A-Z][a-z]{2} \d{4}|[A-Z][a-z]{5,8}, \d\d-[A-Z][a-z]{2}-\d\d) \d\d:\d\d:\d\d GMT$/
const ASCTIME = /^[A-Z][a-z]{2} [A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d \d{4}$/

/**
 * The pause that the header asks for, in milliseconds from `nowMs`: never negative, and at most about 24 days. Undefined when
 * the header is absent, or neither a number of seconds nor a date.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-10.2.3
 */
export function parseRetryAfter(value: string | undefined, nowMs: number): number | undefined {
  const text = value?.trim() ?? ""
  const ms = SECONDS.test(text) ? Number(text) * 1_000 : parseDate(text) - nowMs
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_MS)
}

function parseDate(text: string): number {
  if (DATE.test(text)) return Date.parse(text)
  return ASCTIME.test(text) ? Date.parse(`${text} GMT`) : Number.NaN
}
