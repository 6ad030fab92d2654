import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createDecodeUtf8 } from "../../src/core/wire/parse.js"
import { decodeUtf8 } from "../../src/transport/utf8.js"

const FUZZ = { seed: 1, numRuns: 500 }

describe("decodeUtf8", () => {
  it.each<{ name: string; bytes: readonly number[]; text: string | undefined }>([
    { name: "nothing", bytes: [], text: "" },
    { name: "ASCII", bytes: [0x61], text: "a" },
    { name: "four bytes", bytes: [0xf0, 0x9f, 0x98, 0x80], text: "😀" },
    { name: "U+FFFD that was sent", bytes: [0xef, 0xbf, 0xbd], text: "\ufffd" },
    { name: "a byte order mark", bytes: [0xef, 0xbb, 0xbf, 0x61], text: "\ufeffa" },
    { name: "a byte that begins nothing", bytes: [0x61, 0xff], text: undefined },
    { name: "a sequence cut short", bytes: [0xe2, 0x82], text: undefined },
    { name: "an overlong sequence", bytes: [0xc0, 0x80], text: undefined },
    { name: "a surrogate", bytes: [0xed, 0xa0, 0x80], text: undefined },
    { name: "U+FFFD that was sent before a bad byte", bytes: [0xef, 0xbf, 0xbd, 0x80], text: undefined },
  ])("reads $name", ({ bytes, text }) => {
    expect(decodeUtf8(Uint8Array.from(bytes))).toBe(text)
  })

  it("agrees with the decoder of the web about any bytes", () => {
    const reference = createDecodeUtf8()
    const bytes = fc.oneof(
      fc.uint8Array(),
      fc.string({ unit: "binary" }).map((text) => new TextEncoder().encode(text)),
    )
    fc.assert(
      fc.property(bytes, (given) => {
        expect(decodeUtf8(given)).toBe(reference(given))
      }),
      FUZZ,
    )
  })
})
