/** Media types: whether a body is JSON, and which kinds of answer a client accepts. */
import { createMemo } from "./memo.js"

/** The kinds of answer that an `Accept` header allows, as bits. */
export const Accepts = { none: 0, json: 1, stream: 2, both: 3 } as const

/** One of {@link Accepts}. */
export type Accepts = (typeof Accepts)[keyof typeof Accepts]

const JSON_TYPE = "application/json"
const STREAM_TYPE = "text/event-stream"

interface MediaRange {
  /** `type/subtype` in lower case. */
  readonly type: string
  /** The parameters, names in lower case, values as they came without their quotes. */
  readonly params: readonly (readonly [name: string, value: string])[]
}

/** The type and subtype of a media type, in lower case, without its parameters. */
export function mediaType(value: string): string {
  const end = value.indexOf(";")
  return (end < 0 ? value : value.slice(0, end)).trim().toLowerCase()
}

/**
 * Whether a `Content-Type` names JSON in UTF-8: exactly `application/json`, in any case, with any parameters except a
 * `charset` other than UTF-8.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-8.3
 */
export function isJsonMedia(value: string | undefined): boolean {
  if (value === undefined) return false
  return value === JSON_TYPE || parseJsonMedia(value) === "json"
}

/**
 * Which kinds of answer an `Accept` header allows. Without one, everything. The most specific range that covers a kind
 * decides about it, and a weight of zero excludes; other parameters are not compared.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-12.5.1
 */
export function decideAccept(value: string | undefined): Accepts {
  return value === undefined ? Accepts.both : parseAccept(value)
}

const parseJsonMedia = createMemo((value: string): "json" | "other" => {
  const [range, ...more] = parseRanges(value)
  if (range?.type !== JSON_TYPE || more.length > 0) return "other"
  return range.params.every(([name, text]) => name !== "charset" || /^utf-?8$/i.test(text)) ? "json" : "other"
})

const parseAccept = createMemo((value: string): Accepts => {
  const ranges = parseRanges(value)
  if (ranges.length === 0) return Accepts.both
  const json = covers(ranges, [JSON_TYPE, "application/*", "*/*"])
  const stream = covers(ranges, [STREAM_TYPE, "text/*", "*/*"])
  if (json) return stream ? Accepts.both : Accepts.json
  return stream ? Accepts.stream : Accepts.none
})

function covers(ranges: readonly MediaRange[], bySpecificity: readonly string[]): boolean {
  for (const type of bySpecificity) {
    const found = ranges.filter((range) => range.type === type)
    if (found.length > 0) return found.some((range) => !isExcluded(range))
  }
  return false
}

function isExcluded({ params }: MediaRange): boolean {
  return params.some(([name, value]) => name === "q" && /^0(?:\.0*)?$/.test(value))
}

/** The ranges of a list, read in one pass: commas and semicolons inside quotes separate nothing. */
function parseRanges(value: string): MediaRange[] {
  return splitOutsideQuotes(value, ",").flatMap((item) => {
    const [type = "", ...rest] = splitOutsideQuotes(item, ";")
    const name = type.trim().toLowerCase()
    return name === "" && rest.length === 0 ? [] : [{ type: name, params: rest.map(parseParam) }]
  })
}

function parseParam(text: string): readonly [string, string] {
  const equals = text.indexOf("=")
  if (equals < 0) return [text.trim().toLowerCase(), ""]
  const value = text.slice(equals + 1).trim()
  const isQuoted = value.length > 1 && value.startsWith('"') && value.endsWith('"')
  return [text.slice(0, equals).trim().toLowerCase(), isQuoted ? value.slice(1, -1).replace(/\\(.)/g, "$1") : value]
}

function splitOutsideQuotes(text: string, separator: string): string[] {
  const parts: string[] = []
  let start = 0
  let isQuoted = false
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at)
    if (char === '"') isQuoted = !isQuoted
    else if (char === "\\" && isQuoted) at += 1
    else if (char === separator && !isQuoted) {
      parts.push(text.slice(start, at))
      start = at + 1
    }
  }
  parts.push(text.slice(start))
  return parts
}
