/** What a child says on stderr, line by line and bounded: the last lines say why it died. */
import { stripVTControlCharacters } from "node:util"
import { clampText } from "../../core/feature/text.js"

/** Reads lines out of chunks. */
export interface StderrLines {
  push(chunk: Uint8Array): void
  /** Ends the input: what is left without a line break is a line too. */
  end(): void
  /** The last lines, made fit to be shown. */
  readonly last: readonly string[]
}

/** How much of one line is kept; the rest of it is dropped. */
const MAX_LINE_BYTES = 8_192
/** How much of one line is shown, in code points. */
const SHOWN = 300

/** Makes {@link StderrLines} that keep `count` lines. `tell` hears each line that is not empty, as it came. */
export function createStderrLines(count: number, tell: (line: string) => void): StderrLines {
  const decoder = new TextDecoder()
  const last: string[] = []
  let held: Uint8Array[] = []
  let heldLength = 0

  const hold = (piece: Uint8Array): void => {
    const kept = piece.slice(0, MAX_LINE_BYTES - heldLength)
    if (kept.length === 0) return
    held.push(kept)
    heldLength += kept.length
  }
  const complete = (): void => {
    if (heldLength === 0) return
    const line = decoder.decode(Buffer.concat(held)).replace(/\r$/, "")
    held = []
    heldLength = 0
    if (line === "") return
    last.push(showable(line))
    if (last.length > count) last.shift()
    tell(line)
  }
  return {
    push(chunk) {
      let start = 0
      for (let end = chunk.indexOf(10); end >= 0; end = chunk.indexOf(10, start)) {
        hold(chunk.subarray(start, end))
        complete()
        start = end + 1
      }
      hold(chunk.subarray(start))
    },
    end: complete,
    last,
  }
}

/** A line of a child without colours and other controls, and not too long. */
export function showable(line: string): string {
  return clampText(stripVTControlCharacters(line), SHOWN)
}
