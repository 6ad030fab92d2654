/** Newline-delimited messages out of a stream of bytes, whatever the borders of its chunks. */

/** What a {@link LineReader} tells. */
export interface LineSink {
  /** One line, without its line break. */
  line(bytes: Uint8Array): void
  /** A line that was longer than the cap, and was let go but for its ends. */
  tooLong(length: number, ends: LineEnds): void
  /** Far more than a line without any line break, in one chunk or in many: nothing more is read. */
  overflow(length: number): void
}

/** How a line began and ended of which the rest was let go: at most {@link KEPT_BYTES} each, which may overlap. */
export interface LineEnds {
  readonly head: Uint8Array
  readonly tail: Uint8Array
}

/** How much of each end of a line that is too long is kept: enough to tell what it was. */
export const KEPT_BYTES = 1_024

/** The ends of a line that is there. */
export function endsOf(bytes: Uint8Array): LineEnds {
  return { head: bytes.subarray(0, KEPT_BYTES), tail: bytes.subarray(-KEPT_BYTES) }
}

const NEWLINE = 10
const CARRIAGE_RETURN = 13
/** How many caps may arrive without a line break before the stream is given up. */
const OVERFLOW_FACTOR = 4

/** Splits bytes into lines. Each byte is looked at once; a chunk's pieces are joined only when their line is whole. */
export interface LineReader {
  push(chunk: Uint8Array): void
  /** Ends the input: what is left without a line break is a line too. */
  end(): void
}

/**
 * Makes a {@link LineReader} for lines of at most `maxBytes`. LF and CRLF end a line; empty lines are passed over.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/stdio
 */
export function createLineReader(maxBytes: number, sink: LineSink): LineReader {
  let held: Uint8Array[] = []
  let heldLength = 0
  let ends: KeptEnds | undefined
  let dead = false

  const complete = (piece: Uint8Array): void => {
    const length = heldLength + piece.length
    if (length > maxBytes) return completeLong(piece, length)
    const whole = join(held, heldLength, piece)
    held = []
    heldLength = 0
    const line = whole[whole.length - 1] === CARRIAGE_RETURN ? whole.subarray(0, -1) : whole
    if (line.length > 0) sink.line(line)
  }

  const completeLong = (piece: Uint8Array, length: number): void => {
    const kept = letGo(piece)
    heldLength = 0
    ends = undefined
    if (length > maxBytes * OVERFLOW_FACTOR) giveUp(length)
    else sink.tooLong(length, kept)
  }

  /** Keeps only the ends of what is held, with one more piece. */
  const letGo = (piece: Uint8Array): KeptEnds => {
    ends ??= new KeptEnds(held)
    ends.add(piece)
    held = []
    return ends
  }

  const hold = (piece: Uint8Array): void => {
    heldLength += piece.length
    if (heldLength <= maxBytes) held.push(piece)
    else letGo(piece)
    if (heldLength > maxBytes * OVERFLOW_FACTOR) giveUp(heldLength)
  }

  const giveUp = (length: number): void => {
    dead = true
    held = []
    ends = undefined
    sink.overflow(length)
  }

  return {
    push(chunk) {
      let start = 0
      while (!dead) {
        const end = chunk.indexOf(NEWLINE, start)
        if (end < 0) break
        complete(chunk.subarray(start, end))
        start = end + 1
      }
      if (!dead && start < chunk.length) hold(start === 0 ? chunk : chunk.subarray(start))
    },
    end() {
      if (!dead && heldLength > 0) complete(NOTHING)
    },
  }
}

/** The ends of a line that comes in pieces. They are joined only when somebody asks for them. */
class KeptEnds implements LineEnds {
  readonly #first: Uint8Array[] = []
  #firstLength = 0
  #last: Uint8Array[] = []
  #lastLength = 0

  constructor(pieces: readonly Uint8Array[]) {
    for (const piece of pieces) this.add(piece)
  }

  get head(): Uint8Array {
    return join(this.#first, this.#firstLength, NOTHING)
  }

  get tail(): Uint8Array {
    return join(this.#last, this.#lastLength, NOTHING).subarray(-KEPT_BYTES)
  }

  add(piece: Uint8Array): void {
    if (this.#firstLength < KEPT_BYTES) {
      const start = piece.subarray(0, KEPT_BYTES - this.#firstLength)
      this.#first.push(start)
      this.#firstLength += start.length
    }
    const end = piece.subarray(-KEPT_BYTES)
    this.#last.push(end)
    this.#lastLength += end.length
    if (this.#lastLength >= 2 * KEPT_BYTES) this.#trim()
  }

  /** Forgets the pieces that are no part of the end any more. */
  #trim(): void {
    let from = 0
    for (const piece of this.#last) {
      if (this.#lastLength - piece.length < KEPT_BYTES) break
      this.#lastLength -= piece.length
      from++
    }
    this.#last = this.#last.slice(from)
  }
}

const NOTHING = new Uint8Array(0)

function join(held: readonly Uint8Array[], heldLength: number, last: Uint8Array): Uint8Array {
  if (held.length === 0) return last
  const whole = new Uint8Array(heldLength + last.length)
  let at = 0
  for (const piece of held) {
    whole.set(piece, at)
    at += piece.length
  }
  whole.set(last, at)
  return whole
}
