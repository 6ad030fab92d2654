/**
 * The events of an event stream out of its bytes, whatever the borders of their chunks. Lines and events are found in the bytes
 * and only whole events are decoded, so that no character is torn and no event outgrows its bound.
 *
 * @see https://html.spec.whatwg.org/multipage/server-sent-events.html#event-stream-interpretation
 */
import { createParser } from "eventsource-parser"
import { ByteBuffer } from "./byte-buffer.js"

/** One event. */
export interface ServerEvent {
  /** Its own id; undefined when it has none. An empty one takes back the ids before it. */
  readonly id: string | undefined
  /** Its type; undefined for the default, `message`. */
  readonly event: string | undefined
  /** Its data; empty for an event that has nothing but an id. Events that have neither are passed over. */
  readonly data: string
}

/** What an {@link EventReader} is told, and what it tells. */
export interface EventReaderOptions {
  /** The longest event, with its line ends, without comments and the blank line. */
  readonly maxBytes: number
  event(event: ServerEvent): void
  /** The server asks for this pause before the stream is opened again. */
  retry(ms: number): void
  /** An event that is longer than the bound, of which `length` bytes had come when that was seen. The rest of it is passed over. */
  tooLong(length: number): void
}

/** Reads one stream. */
export interface EventReader {
  push(chunk: Uint8Array): void
  /** Ends the stream: an event without its blank line is no event. */
  end(): void
}

const LF = 10
const CR = 13
const COLON = 58
const DATA_LINE = /(?:^|[\r\n])data[:\r\n]/
const ID_LINE = /(?:^|[\r\n])id[:\r\n]/

/** Makes an {@link EventReader}. */
export function createEventReader(options: EventReaderOptions): EventReader {
  return new Reader(options)
}

class Reader implements EventReader {
  readonly #options: EventReaderOptions
  readonly #parser: { feed(text: string): void }
  readonly #decoder = new TextDecoder("utf-8", { ignoreBOM: true })
  readonly #held: ByteBuffer
  /** Whether nothing of the line has come yet. */
  #isLineStart = true
  #isComment = false
  /** Whether the last byte was a CR, so that an LF belongs to it. */
  #isAfterCr = false
  #isTooLong = false
  /** Whether what is held is the beginning of the stream, where a byte order mark may stand. */
  #isFirst = true

  constructor(options: EventReaderOptions) {
    this.#options = options
    this.#held = new ByteBuffer(options.maxBytes)
    this.#parser = createParser({
      onEvent: ({ id, event, data }) => {
        if (data !== "" || id !== undefined) options.event({ id, event, data })
      },
      onRetry: (ms) => options.retry(ms),
    })
    // The parser looks for a byte order mark in what it is fed first; here only bytes are searched for one.
    this.#parser.feed("")
  }

  push(chunk: Uint8Array): void {
    const { length } = chunk
    if (length === 0) return
    let at = this.#isAfterCr && chunk[0] === LF ? 1 : 0
    let heldTo = at
    let cr = find(chunk, CR, at)
    let lf = find(chunk, LF, at)
    while (at < length) {
      if (this.#isLineStart && chunk[at] === COLON) {
        this.#hold(chunk, heldTo, at)
        this.#isComment = true
      }
      const end = Math.min(cr, lf)
      const isBlank = this.#isLineStart && end === at
      this.#isLineStart = end < length
      at = Math.min(end === cr && chunk[end + 1] === LF ? end + 2 : end + 1, length)
      if (this.#isComment || isBlank) {
        if (isBlank) this.#complete(chunk, heldTo, end)
        if (this.#held.length === 0) this.#isFirst = false
        heldTo = at
      }
      if (end === length) break
      this.#isComment = false
      if (cr < at) cr = find(chunk, CR, at)
      if (lf < at) lf = find(chunk, LF, at)
    }
    this.#hold(chunk, heldTo, length)
    this.#isAfterCr = this.#isLineStart && chunk[length - 1] === CR
  }

  end(): void {
    const bytes = this.#held.view()
    const whole = Math.max(bytes.lastIndexOf(LF), bytes.lastIndexOf(CR)) + 1
    // The parser waits after a CR for what comes next; an LF is a part of it.
    if (whole > 0) this.#parser.feed(this.#decode(bytes.subarray(0, whole)) + (bytes[whole - 1] === CR ? "\n" : ""))
    this.#held.clear()
  }

  #hold(chunk: Uint8Array, from: number, to: number): void {
    if (from >= to || this.#isTooLong) return
    const piece = from === 0 && to === chunk.length ? chunk : chunk.subarray(from, to)
    if (this.#held.add(piece)) return
    this.#isTooLong = true
    const length = this.#held.length + piece.length
    this.#held.clear()
    this.#options.tooLong(length)
  }

  /** Ends an event: its blank line begins at `to`. The parser tells nothing of an event without data, not even its id. */
  #complete(chunk: Uint8Array, from: number, to: number): void {
    this.#hold(chunk, from, to)
    if (this.#held.length > 0) {
      const text = this.#decode(this.#held.view())
      this.#parser.feed(text + (!DATA_LINE.test(text) && ID_LINE.test(text) ? "data\n\n" : "\n\n"))
    }
    this.#held.clear()
    this.#isTooLong = false
  }

  #decode(bytes: Uint8Array): string {
    const isMarked = this.#isFirst && bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf
    return this.#decoder.decode(isMarked ? bytes.subarray(3) : bytes)
  }
}

/** Where `byte` stands next; the length when it does not. */
function find(bytes: Uint8Array, byte: number, from: number): number {
  const at = bytes.indexOf(byte, from)
  return at < 0 ? bytes.length : at
}
