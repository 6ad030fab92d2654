/** JSON in its canonical form (RFC 8785), so that equal values have equal bytes and so equal digests. */
import type { JsonValue } from "../wire/message.js"

/**
 * The canonical text of a JSON value: members sorted by the UTF-16 code units of their names, no white space, numbers and
 * strings as ECMAScript writes them. Members that are undefined are left out.
 *
 * @see https://www.rfc-editor.org/rfc/rfc8785
 */
export function canonicalJson(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(",")}]`
  if (typeof value !== "object" || value === null) return JSON.stringify(value)
  const members: string[] = []
  for (const key of Object.keys(value).sort()) {
    const member = (value as Record<string, JsonValue | undefined>)[key]
    if (member !== undefined) members.push(`${JSON.stringify(key)}:${canonicalJson(member)}`)
  }
  return `{${members.join(",")}}`
}
