/**
 * What can be told of a message that cannot be read as a whole: whether it is an answer, and to which request. Only its
 * beginning and its end are looked at, and only members of its outermost object count.
 */
import type { LineEnds } from "./lines.js"
import { isRequestId, type RequestId } from "./message.js"

/** What the two ends of a message show. */
export interface Glimpse {
  /** Whether it begins as an object does. */
  readonly isObject: boolean
  /** The names of outermost members that were seen. */
  readonly names: ReadonlySet<string>
  /** The outermost `id`; undefined when it was not seen, or is no request id. */
  readonly id: RequestId | undefined
}

const QUOTE = 34
const COMMA = 44
const COLON = 58
const BACKSLASH = 92

/** Looks at the ends of a message. Linear in their length. */
export function glimpse({ head, tail }: LineEnds): Glimpse {
  const seen = new Members()
  const start = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf ? 3 : 0
  const first = skipSpace(head, start, 1)
  const isObject = head[first] === 123
  if (isObject) {
    readForward(head, first + 1, seen)
    readBackward(tail, seen)
  }
  return { isObject, names: seen.names, id: seen.id }
}

class Members {
  readonly names = new Set<string>()
  id: RequestId | undefined

  add(bytes: Uint8Array, key: readonly [number, number], value: readonly [number, number] | undefined): void {
    const name = parse(bytes, key)
    if (typeof name !== "string") return
    this.names.add(name)
    if (name !== "id" || value === undefined || this.id !== undefined) return
    const id = parse(bytes, value)
    if (isRequestId(id)) this.id = id
  }
}

/** Reads the members of an object that opened right before `start`, as far as they are there. */
function readForward(bytes: Uint8Array, start: number, seen: Members): void {
  let depth = 1
  let token: readonly [number, number] | undefined
  let key: readonly [number, number] | undefined
  let valueStart = start
  for (let i = start; i < bytes.length && depth > 0; i++) {
    const byte = bytes[i] ?? 0
    if (byte === QUOTE) {
      const end = closingQuote(bytes, i)
      if (end < 0) return
      token = [i, end + 1]
      i = end
    } else if (isOpening(byte)) depth++
    else if (isClosing(byte)) depth--
    if (depth === 1 && byte === COLON) {
      key = token
      valueStart = i + 1
      if (key !== undefined) seen.add(bytes, key, undefined)
    } else if (key !== undefined && (depth === 0 || (depth === 1 && byte === COMMA))) {
      seen.add(bytes, key, [valueStart, i])
      key = undefined
    }
  }
}

/** Reads the members of an object that closes at the end of `bytes`, as far back as they are there. */
function readBackward(bytes: Uint8Array, seen: Members): void {
  const last = skipSpace(bytes, bytes.length - 1, -1)
  if (bytes[last] !== 125) return
  let depth = 1
  let valueEnd = last
  let colon = -1
  for (let i = last - 1; i >= 0 && depth > 0; i--) {
    const byte = bytes[i] ?? 0
    if (byte === QUOTE) {
      const start = openingQuote(bytes, i)
      if (start < 0) return
      if (depth === 1 && colon >= 0) {
        seen.add(bytes, [start, i + 1], [colon + 1, valueEnd])
        colon = -1
      }
      i = start
    } else if (isClosing(byte)) depth++
    else if (isOpening(byte)) depth--
    else if (depth === 1 && byte === COLON) colon = i
    else if (depth === 1 && byte === COMMA) valueEnd = i
  }
}

/** The longest piece of text that is parsed: names and ids of a sane length. */
const LONGEST = 512

function parse(bytes: Uint8Array, [start, end]: readonly [number, number]): unknown {
  if (end - start > LONGEST) return undefined
  try {
    return JSON.parse(new TextDecoder().decode(bytes.subarray(start, end)))
  } catch {
    return undefined
  }
}

function closingQuote(bytes: Uint8Array, opening: number): number {
  for (let i = opening + 1; i < bytes.length; i++) {
    if (bytes[i] === BACKSLASH) i++
    else if (bytes[i] === QUOTE) return i
  }
  return -1
}

/** A quote within a string has an odd number of backslashes before it; the one that opens it has none. */
function openingQuote(bytes: Uint8Array, closing: number): number {
  let i = closing - 1
  while (i >= 0) {
    const quote = bytes.lastIndexOf(QUOTE, i)
    let before = quote - 1
    while (before >= 0 && bytes[before] === BACKSLASH) before--
    if (quote < 0 || (quote - before) % 2 === 1) return quote
    i = before
  }
  return -1
}

function skipSpace(bytes: Uint8Array, start: number, step: 1 | -1): number {
  let i = start
  while (bytes[i] === 32 || bytes[i] === 9 || bytes[i] === 13) i += step
  return i
}

function isOpening(byte: number): boolean {
  return byte === 123 || byte === 91
}

function isClosing(byte: number): boolean {
  return byte === 125 || byte === 93
}
