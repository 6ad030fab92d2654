/** Text of a peer on its way into an error message or a log line: made short, and free of what a reader cannot see. */

const LINE_BREAK = /[\t\n\v\f\r\u0085\u2028\u2029]/u
const INVISIBLE = /[\p{Cc}\p{Cf}\p{Default_Ignorable_Code_Point}]/u
const LONE_SURROGATE = /\p{Cs}/u

/** How many code points are looked at for each that may be shown, so that a flood of invisible ones costs nothing. */
const MAX_LOOKED_AT = 16

/**
 * What may be shown of `value`: at most `max` code points (default 200, the last an ellipsis when something was cut), line
 * breaks as spaces, without control, bidi and invisible characters, lone surrogates replaced. A string is shown as it is,
 * an error by its message, another primitive as text, anything else by its type only. Never throws.
 */
export function clampText(value: unknown, max = 200): string {
  const shown: string[] = []
  let lookedAt = 0
  for (const point of toText(value)) {
    const visible = toVisible(point)
    lookedAt += 1
    if (lookedAt > max * MAX_LOOKED_AT || (visible !== "" && shown.length >= max)) return cut(shown, max)
    if (visible !== "") shown.push(visible)
  }
  return shown.join("")
}

/** What a process said last on stderr, as the end of an error's message; empty when it said nothing. */
export function lastWords(stderr: readonly string[]): string {
  return stderr.length === 0 ? "" : `; the last of its stderr:\n${stderr.map((line) => `  ${line}`).join("\n")}`
}

function cut(shown: readonly string[], max: number): string {
  return max > 0 ? `${shown.slice(0, max - 1).join("")}…` : ""
}

function toVisible(point: string): string {
  if (point >= " " && point <= "~") return point
  if (LINE_BREAK.test(point)) return " "
  if (INVISIBLE.test(point)) return ""
  return LONE_SURROGATE.test(point) ? "\ufffd" : point
}

function toText(value: unknown): string {
  if (typeof value === "string") return value
  if (typeof value === "function") return "[function]"
  if (typeof value !== "object" || value === null) return String(value)
  try {
    if (Array.isArray(value)) return "[array]"
    if (value instanceof Error) return String(value.message)
  } catch {
    // A proxy or a getter of the peer's making: nothing of it is shown.
  }
  return "[object]"
}
