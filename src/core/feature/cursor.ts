/** Cursors of paged lists: opaque, without a key, and good for the list that they were made for only. */
import { decodeBase64Url, encodeBase64Url } from "../http/base64.js"

const VERSION = 1
const SEPARATOR = 0

/**
 * The cursor of the page after the entry named `last`. `list` names the list and holds no NUL, or what follows it would
 * count as part of the entry.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
export function encodeCursor(list: string, last: string): string {
  const head = new TextEncoder().encode(list)
  const tail = new TextEncoder().encode(last)
  const bytes = new Uint8Array(head.length + tail.length + 2)
  bytes[0] = VERSION
  bytes.set(head, 1)
  bytes[head.length + 1] = SEPARATOR
  bytes.set(tail, head.length + 2)
  return encodeBase64Url(bytes)
}

/** The name of the last entry seen. Undefined for what is no cursor, is of another version or belongs to another list. */
export function decodeCursor(cursor: string, list: string): string | undefined {
  const bytes = decodeBase64Url(cursor)
  if (bytes?.[0] !== VERSION) return undefined
  const end = bytes.indexOf(SEPARATOR)
  if (end < 0) return undefined
  try {
    const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true })
    const named = decoder.decode(bytes.subarray(1, end))
    return named === list ? decoder.decode(bytes.subarray(end + 1)) : undefined
  } catch {
    return undefined
  }
}
