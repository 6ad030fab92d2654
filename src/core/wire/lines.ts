/** Newline-delimited messages out of a stream of bytes, whatever the borders of its chunks. */

/** What a {@link LineReader} tells. */
export interface LineSink {
  /** One line, without its line break. */
  line(bytes: Uint8Array): void
  /** A line that was longer than the cap, and was let go. */
  tooLong(length: number): void
  /** Far more than a line without any line break, in one chunk or in many: nothing more is read. */
  overflow(length: number): void
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
  let dead = false

  const complete = (piece: Uint8Array): void => {
    const length = heldLength + piece.length
    const whole = length > maxBytes ? undefined : join(held, heldLength, piece)
    held = []
    heldLength = 0
    if (length > maxBytes * OVERFLOW_FACTOR) return giveUp(length)
    if (whole === undefined) return sink.tooLong(length)
    const line = whole[whole.length - 1] === CARRIAGE_RETURN ? whole.subarray(0, -1) : whole
    if (line.length > 0) sink.line(line)
  }

  const hold = (piece: Uint8Array): void => {
    heldLength += piece.length
    if (heldLength <= maxBytes) held.push(piece)
    else held = []
    if (heldLength > maxBytes * OVERFLOW_FACTOR) giveUp(heldLength)
  }

  const giveUp = (length: number): void => {
    dead = true
    held = []
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
      if (!dead && heldLength > 0) complete(new Uint8Array(0))
    },
  }
}

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
