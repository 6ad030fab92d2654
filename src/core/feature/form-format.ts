/** The formats of texts that a form can ask for, as checks. */

/** What a text has to be, by the name of the format, and whether one is. */
export interface TextFormat {
  readonly expected: string
  readonly test: (text: string) => boolean
}

/**
 * Every format of a form.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export const TEXT_FORMATS: ReadonlyMap<string, TextFormat> = new Map([
  ["email", { expected: "an email address", test: isEmail }],
  ["uri", { expected: "a URI with its scheme", test: isUri }],
  ["date", { expected: "a date, as 2026-07-28", test: isDate }],
  ["date-time", { expected: "a date and time with its offset, as 2026-07-28T12:00:00Z", test: isDateTime }],
])

const MAILBOX = /^[\w.!#$%&'*+/=?^`{|}~-]{1,64}$/
const HOST_LABEL = /^[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?$/i
const UNRESERVED = String.raw`[\w.~!$&'()*+,;=-]|%[0-9a-f]{2}`
const AUTHORITY = String.raw`//(?:(?:${UNRESERVED}|:)*@)?(?:(?:${UNRESERVED})*|\[[0-9a-f:.]+\])(?::\d*)?`
const SEGMENT = `(?:[/:@]|${UNRESERVED})`
const REST = `(?:[/?:@]|${UNRESERVED})*`
const URI = new RegExp(
  String.raw`^[a-z][a-z0-9+.-]*:(?:${AUTHORITY}(?:/${SEGMENT}*)?|(?!//)${SEGMENT}+)(?:\?${REST})?(?:#${REST})?$`,
  "i",
)
const DATE = /^(\d{4})-(\d\d)-(\d\d)$/
const DATE_TIME = /^(.{10})[Tt](?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:[Zz]|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/

function isEmail(text: string): boolean {
  const at = text.lastIndexOf("@")
  const [mailbox, host] = [text.slice(0, at), text.slice(at + 1)]
  if (at < 0 || host.length > 253 || !MAILBOX.test(mailbox)) return false
  return mailbox.split(".").every((part) => part !== "") && host.split(".").every((label) => HOST_LABEL.test(label))
}

function isUri(text: string): boolean {
  if (!URI.test(text)) return false
  try {
    new URL(text)
    return true
  } catch {
    return false
  }
}

function isDate(text: string): boolean {
  const [, year = "", month = "", day = ""] = DATE.exec(text) ?? []
  return Number(day) >= 1 && Number(day) <= daysOf(Number(year), Number(month))
}

function daysOf(year: number, month: number): number {
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  return [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
}

function isDateTime(text: string): boolean {
  const [, date = ""] = DATE_TIME.exec(text) ?? []
  return isDate(date)
}
