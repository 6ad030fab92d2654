import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createEventReader } from "../../../src/core/http/event-reader.js"

const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

/** What a reader told, in order. */
type Told =
  | { readonly id?: string; readonly event?: string; readonly data: string }
  | { readonly retry: number }
  | { readonly tooLong: number }

function read(chunks: Iterable<Uint8Array>, maxBytes = 1_000_000): Told[] {
  const told: Told[] = []
  const reader = createEventReader({
    maxBytes,
    event: ({ id, event, data }) =>
      told.push({ ...(id === undefined ? {} : { id }), ...(event === undefined ? {} : { event }), data }),
    retry: (retry) => told.push({ retry }),
    tooLong: (tooLong) => told.push({ tooLong }),
  })
  for (const chunk of chunks) reader.push(chunk)
  reader.end()
  return told
}

const readText = (text: string, maxBytes?: number): Told[] => read([encode(text)], maxBytes)
const byBytes = (bytes: Uint8Array): Uint8Array[] => [...bytes].map((byte) => Uint8Array.of(byte))

/** The events of a whole stream by the steps of the HTML standard; an event without data counts only when it sets an id. */
function model(text: string): Told[] {
  const told: Told[] = []
  const lines = text.replace(/^\ufeff/, "").split(/\r\n|\r|\n/)
  let id: string | undefined
  let event = ""
  let data: string[] = []
  for (const line of lines.slice(0, -1)) {
    if (line === "") {
      const joined = data.join("\n")
      if (joined !== "" || id !== undefined) {
        told.push({ ...(id === undefined ? {} : { id }), ...(event === "" ? {} : { event }), data: joined })
      }
      id = undefined
      event = ""
      data = []
      continue
    }
    if (line.startsWith(":")) continue
    const colon = line.indexOf(":")
    const field = colon < 0 ? line : line.slice(0, colon)
    const value = colon < 0 ? "" : line.slice(colon + 1).replace(/^ /, "")
    if (field === "data") data.push(value)
    else if (field === "event") event = value
    else if (field === "id" && !value.includes("\0")) id = value
    else if (field === "retry" && /^[0-9]+$/.test(value)) told.push({ retry: Number(value) })
  }
  return told
}

describe("an event stream is read by the HTML standard", () => {
  it.each<[why: string, text: string, told: Told[]]>([
    ["an event of one line", "data: a\n\n", [{ data: "a" }]],
    ["the lines of data are joined", "data: a\ndata:b\ndata\n\n", [{ data: "a\nb\n" }]],
    ["an event has a type and an id", "id: 7\nevent: x\ndata: a\n\n", [{ id: "7", event: "x", data: "a" }]],
    ["only the first space after the colon is left out", "data:  a\n\n", [{ data: " a" }]],
    ["lines end with CR", "data: a\rdata: b\r\rdata: c\r\r", [{ data: "a\nb" }, { data: "c" }]],
    ["lines end with CRLF", "data: a\r\n\r\ndata: b\r\n\r\n", [{ data: "a" }, { data: "b" }]],
    ["line ends are mixed", "data: a\n\r\ndata: b\r\rdata: c\r\n\n", [{ data: "a" }, { data: "b" }, { data: "c" }]],
    ["a byte order mark at the beginning is no part of it", "\ufeffdata: a\n\n", [{ data: "a" }]],
    ["a byte order mark anywhere else is", "data: a\n\n\ufeffdata: b\n\n", [{ data: "a" }]],
    ["a byte order mark after a comment is", ": hi\n\ufeffdata: b\n\n", []],
    ["only one byte order mark is left out", "\ufeff\ufeffdata: a\n\n", []],
    [
      "comments are passed over, with a blank line and without",
      ": a\n\n:\n: b\r\ndata: c\n: d\ndata: e\n\n",
      [{ data: "c\ne" }],
    ],
    ["empty data is data", "id: 1\ndata:\n\n", [{ id: "1", data: "" }]],
    ["an id without data is told", "id: 1\n\n", [{ id: "1", data: "" }]],
    ["an empty id is told", "id\ndata: a\n\n", [{ id: "", data: "a" }]],
    ["an id with NUL is none", "id: 1\0\ndata: a\n\n", [{ data: "a" }]],
    ["an event without data and id is none", "event: x\n\nevent: x\ndata:\n\n", []],
    ["unknown fields are passed over", "foo: bar\nDATA: x\ndata: a\n\n", [{ data: "a" }]],
    ["retry takes digits only", "retry: 12\nretry: 1e3\nretry: -1\nretry: 1.5\nretry:\n\n", [{ retry: 12 }]],
    ["retry counts without a blank line", "retry: 5\n", [{ retry: 5 }]],
    ["retry counts with a CR at the end", "retry: 5\r", [{ retry: 5 }]],
    ["an unfinished event is lost", "data: a\n\ndata: b\n", [{ data: "a" }]],
    ["an unfinished line is lost", "data: a\n\nretry: 5", [{ data: "a" }]],
    ["a line separator of Unicode ends no line", "data: a\u2028id: 1\n\n", [{ data: "a\u2028id: 1" }]],
    ["nothing comes of nothing", "\n\r\n\r\n\n", []],
  ])("%s", (_, text, told) => {
    expect(readText(text)).toEqual(told)
    expect(read(byBytes(encode(text)))).toEqual(told)
    expect(model(text)).toEqual(told)
  })

  it("a character that is cut by the border of a chunk stays whole", () => {
    expect(read(byBytes(encode("data: —☀😀\n\n")))).toEqual([{ data: "—☀😀" }])
  })

  it("bytes that are no UTF-8 become U+FFFD, and nothing else is lost", () => {
    const bytes = Uint8Array.of(...encode("data: a"), 0xff, ...encode("b\n\n"))
    expect(read([bytes])).toEqual([{ data: "a\ufffdb" }])
  })
})

describe("an event is bounded while it is read", () => {
  const event = (bytes: number): string => `data: ${"x".repeat(bytes - 7)}\n\n`

  it("an event of exactly the bound is read, one byte more is not", () => {
    expect(readText(event(100), 100)).toHaveLength(1)
    expect(readText(event(101), 100)).toEqual([{ tooLong: 101 }])
  })

  it("the events after it are read, whatever the borders of chunks", () => {
    const bytes = encode(`data: 1\n\n${event(101)}data: 2\n\n`)
    for (const chunks of [[bytes], byBytes(bytes)]) {
      expect(read(chunks, 100)).toEqual([{ data: "1" }, { tooLong: 101 }, { data: "2" }])
    }
  })

  it("it is told while the event still comes, once", () => {
    const chunk = encode("x".repeat(64))
    const told: number[] = []
    const reader = createEventReader({ maxBytes: 100, event() {}, retry() {}, tooLong: (length) => told.push(length) })
    reader.push(encode("data: "))
    for (let round = 0; round < 1_000; round++) reader.push(chunk)
    expect(told).toEqual([134])
  })

  it("nothing of it is kept beyond the bound, and a gigabyte of it is passed over", () => {
    const chunk = new Uint8Array(1 << 20).fill(0x78)
    const told: Told[] = []
    const reader = createEventReader({
      maxBytes: 1_000_000,
      event: ({ data }) => told.push({ data }),
      retry() {},
      tooLong: (tooLong) => told.push({ tooLong }),
    })
    reader.push(encode("data: "))
    const before = process.memoryUsage().arrayBuffers
    for (let round = 0; round < 1_024; round++) reader.push(chunk)
    expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(4_000_000)
    reader.push(encode("\n\ndata: a\n\n"))
    expect(told).toEqual([{ tooLong: 6 + chunk.length }, { data: "a" }])
  })

  it("however small its pieces are, about twice its length is kept", () => {
    const reader = createEventReader({ maxBytes: 1_000_000, event() {}, retry() {}, tooLong() {} })
    const piece = encode("x")
    const before = process.memoryUsage()
    for (let round = 0; round < 900_000; round++) reader.push(piece)
    const after = process.memoryUsage()
    expect(after.arrayBuffers - before.arrayBuffers).toBeLessThan(4_000_000)
  })

  it("many small events in one chunk are no large one", () => {
    expect(readText(event(50).repeat(100), 60)).toHaveLength(100)
  })

  it("comments count for nothing, however many there are", () => {
    const flood = ": ping\r\n".repeat(1_000)
    expect(readText(`data: a\n${flood}data: b\n\n`, 40)).toEqual([{ data: "a\nb" }])
    expect(read(byBytes(encode(`data: a\n:${"x".repeat(1_000)}\n\n`)), 40)).toEqual([{ data: "a" }])
  })
})

describe("whatever the borders of the chunks, the events are the same", () => {
  const line = fc.oneof(
    fc.constantFrom(
      "data: a",
      "data",
      "data:",
      "id: 1",
      "id",
      "id: \0",
      "event: x",
      "retry: 10",
      ": c",
      ":",
      "",
      "x",
      "\ufeff",
    ),
    fc.string({ unit: "grapheme", maxLength: 8 }).map((text) => `data: ${text.replace(/[\r\n]/g, "")}`),
    fc.string({ maxLength: 6 }).map((text) => text.replace(/[\r\n]/g, "")),
  )
  const stream = fc
    .tuple(
      fc.constantFrom("", "\ufeff"),
      fc.array(fc.tuple(line, fc.constantFrom("\n", "\r", "\r\n", "\n\n", "\r\n\r\n"))),
    )
    .map(([mark, lines]) => mark + lines.flat().join(""))

  it("cut anywhere, and as the standard reads the whole text", () => {
    fc.assert(
      fc.property(stream, fc.array(fc.nat({ max: 12 }), { maxLength: 40 }), (text, lengths) => {
        const bytes = encode(text)
        const chunks: Uint8Array[] = []
        let at = 0
        for (const length of lengths) {
          chunks.push(bytes.subarray(at, at + length))
          at += length
        }
        chunks.push(bytes.subarray(at))
        const told = model(text)
        expect(read([bytes])).toEqual(told)
        expect(read(chunks)).toEqual(told)
      }),
      { numRuns: 2_000 },
    )
  })
})
