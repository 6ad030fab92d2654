/** Lines out of bytes: the same ones wherever the chunks are cut, each byte looked at and copied at most once. */
import fc from "fast-check"
import { afterEach, describe, expect, it, vi } from "vitest"
import { createLineReader, KEPT_BYTES } from "../../../src/core/wire/lines.js"

type Event = { kind: "line"; bytes: readonly number[] } | { kind: "tooLong"; length: number } | { kind: "overflow" }

const LF = 10
const CR = 13

/** What a reader tells of these chunks. */
function read(chunks: readonly Uint8Array[], maxBytes: number): Event[] {
  const events: Event[] = []
  const reader = createLineReader(maxBytes, {
    line: (bytes) => events.push({ kind: "line", bytes: [...bytes] }),
    tooLong: (length) => events.push({ kind: "tooLong", length }),
    overflow(length) {
      expect(length).toBeGreaterThan(4 * maxBytes)
      events.push({ kind: "overflow" })
    },
  })
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return events
}

/** The rule, written down without chunks: split, strip one CR, pass over what is empty, refuse what is too long. */
function expected(bytes: readonly number[], maxBytes: number): Event[] {
  const lines: number[][] = [[]]
  for (const byte of bytes) {
    if (byte === LF) lines.push([])
    else lines.at(-1)?.push(byte)
  }
  const events: Event[] = []
  for (const line of lines) {
    if (line.length > 4 * maxBytes) return [...events, { kind: "overflow" }]
    if (line.length > maxBytes) {
      events.push({ kind: "tooLong", length: line.length })
      continue
    }
    const text = line.at(-1) === CR ? line.slice(0, -1) : line
    if (text.length > 0) events.push({ kind: "line", bytes: text })
  }
  return events
}

/** Cuts bytes at the given places, which may coincide. */
function cut(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const borders = [0, ...places.map((place) => place % (bytes.length + 1)), bytes.length].sort((a, b) => a - b)
  return borders.slice(1).map((end, index) => bytes.subarray(borders[index], end))
}

const byte = fc.oneof(
  { weight: 2, arbitrary: fc.constantFrom(LF, CR, 0x7b, 0xef, 0xbb, 0xbf) },
  { weight: 3, arbitrary: fc.integer({ min: 0, max: 255 }) },
)
const input = fc.array(byte, { maxLength: 200 })
const places = fc.array(fc.nat(), { maxLength: 20 })
const cap = fc.integer({ min: 1, max: 30 })

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const line = (text: string): Event => ({ kind: "line", bytes: [...encode(text)] })

describe("a line reader", () => {
  it("tells the same lines wherever the chunks are cut", () => {
    fc.assert(
      fc.property(input, places, cap, (bytes, at, maxBytes) => {
        expect(read(cut(Uint8Array.from(bytes), at), maxBytes)).toEqual(expected(bytes, maxBytes))
      }),
      { numRuns: 500 },
    )
  })

  it("tells the same lines for one byte per chunk and for one chunk", () => {
    fc.assert(
      fc.property(input, cap, (bytes, maxBytes) => {
        const whole = Uint8Array.from(bytes)
        const bitByBit = bytes.map((one) => Uint8Array.of(one))
        expect(read(bitByBit, maxBytes)).toEqual(read([whole], maxBytes))
      }),
    )
  })

  it("gives back every text that has no line break, whatever its characters", () => {
    const text = fc.string({ unit: "binary", minLength: 1 }).filter((one) => !/[\r\n]/.test(one))
    fc.assert(
      fc.property(fc.array(text), fc.constantFrom("\n", "\r\n"), places, (texts, lineBreak, at) => {
        const bytes = encode(texts.map((one) => one + lineBreak).join(""))
        expect(read(cut(bytes, at), 10_000)).toEqual(texts.map(line))
      }),
    )
  })

  it.each([
    ["LF", ["a\n", "b\n"], [line("a"), line("b")]],
    ["CRLF", ["a\r\nb\r\n"], [line("a"), line("b")]],
    ["CRLF in two chunks", ["a\r", "\nb"], [line("a"), line("b")]],
    ["a CR within a line", ["a\rb\n"], [line("a\rb")]],
    ["one CR of two before LF", ["a\r\r\n"], [line("a\r")]],
    ["empty lines", ["\n\r\n", "\r", "\n\n"], []],
    ["a last line without a line break", ["a\nb"], [line("a"), line("b")]],
    ["no input", [], []],
    ["empty chunks", ["", "a", "", "\n", ""], [line("a")]],
    ["a line at the cap", ["12345678\n"], [line("12345678")]],
    ["a line beyond the cap", ["123456789\nok\n"], [{ kind: "tooLong", length: 9 }, line("ok")]],
    ["a last line beyond the cap", ["1234", "56789"], [{ kind: "tooLong", length: 9 }]],
    ["four caps in one line", [`${"x".repeat(32)}\nok\n`], [{ kind: "tooLong", length: 32 }, line("ok")]],
    ["more than four caps in one line", [`${"x".repeat(33)}\nok\n`], [{ kind: "overflow" }]],
    ["more than four caps without a line break", ["x".repeat(32), "x", "\nok\n"], [{ kind: "overflow" }]],
  ] as const)("reads %s with a cap of eight bytes", (_, chunks, events) => {
    expect(read(chunks.map(encode), 8)).toEqual(events)
  })
})

describe("a line that is too long", () => {
  it("is told with its first and last bytes, wherever the chunks are cut", () => {
    const maxBytes = 1_500
    const long = fc.integer({ min: maxBytes + 1, max: 4 * maxBytes })
    fc.assert(
      fc.property(long, fc.array(fc.nat(), { maxLength: 40 }), fc.boolean(), (length, at, isWhole) => {
        const bytes = Uint8Array.from({ length }, (_, index) => 32 + (index % 90))
        const told: Uint8Array[] = []
        const reader = createLineReader(maxBytes, {
          line() {},
          tooLong: (_, { head, tail }) => told.push(head, tail),
          overflow() {},
        })
        for (const chunk of cut(Uint8Array.from([...bytes, ...(isWhole ? [LF] : [])]), at)) reader.push(chunk)
        reader.end()
        expect(told).toEqual([bytes.slice(0, KEPT_BYTES), bytes.slice(-KEPT_BYTES)])
      }),
    )
  })

  it("is told by one byte per chunk, one after the other", () => {
    const told: string[] = []
    const reader = createLineReader(4, {
      line: (bytes) => told.push(new TextDecoder().decode(bytes)),
      tooLong: (length, { head, tail }) => told.push(`${length} ${head.length} ${tail.length} ${tail.at(-1)}`),
      overflow() {},
    })
    for (const byte of encode("123456\nok\n12345\n")) reader.push(Uint8Array.of(byte))
    expect(told).toEqual(["6 6 6 54", "ok", "5 5 5 53"])
  })
})

describe("the work of a line reader", () => {
  afterEach(() => {
    vi.restoreAllMocks()
  })

  /** How many bytes are searched and copied while these chunks are read. */
  function count(chunks: readonly Uint8Array[], maxBytes: number): { searched: number; copied: number } {
    const { indexOf, set } = Uint8Array.prototype
    const counts = { searched: 0, copied: 0 }
    vi.spyOn(Uint8Array.prototype, "indexOf").mockImplementation(function (this: Uint8Array, value, from = 0) {
      const found = indexOf.call(this, value, from)
      counts.searched += (found < 0 ? this.length : found + 1) - from
      return found
    })
    vi.spyOn(Uint8Array.prototype, "set").mockImplementation(function (this: Uint8Array, source, offset) {
      counts.copied += source.length
      set.call(this, source, offset)
    })
    const reader = createLineReader(maxBytes, { line() {}, tooLong() {}, overflow() {} })
    for (const chunk of chunks) reader.push(chunk)
    reader.end()
    vi.restoreAllMocks()
    return counts
  }

  it("looks at each byte once and copies it at most once", () => {
    fc.assert(
      fc.property(input, places, cap, (bytes, at, maxBytes) => {
        const { searched, copied } = count(cut(Uint8Array.from(bytes), at), maxBytes)
        expect(searched).toBeLessThanOrEqual(bytes.length)
        expect(copied).toBeLessThanOrEqual(bytes.length)
      }),
    )
  })

  it("does not grow faster than a long line does that comes in small chunks", () => {
    const chunk = new Uint8Array(64).fill(0x78)
    const chunks = Array.from({ length: 4_096 }, () => chunk)
    const total = chunk.length * chunks.length
    expect(count([...chunks, Uint8Array.of(LF)], total)).toEqual({ searched: total + 1, copied: total })
  })

  it("keeps nothing of a line that is too long", () => {
    const chunk = new Uint8Array(64).fill(0x78)
    const chunks = [...Array.from({ length: 30 }, () => chunk), Uint8Array.of(LF)]
    expect(count(chunks, 640).copied).toBe(0)
  })
})
