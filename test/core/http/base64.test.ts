/** Strict base64: the vectors of RFC 4648, what is refused, and that one value has one text. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  decodeBase64,
  decodeBase64Url,
  encodeBase64,
  encodeBase64Url,
  isBase64,
} from "../../../src/core/http/base64.js"

const utf8 = (text: string) => new TextEncoder().encode(text)

describe("base64", () => {
  it.each([
    ["", ""],
    ["f", "Zg=="],
    ["fo", "Zm8="],
    ["foo", "Zm9v"],
    ["foob", "Zm9vYg=="],
    ["fooba", "Zm9vYmE="],
    ["foobar", "Zm9vYmFy"],
  ])("writes and reads the test vector %j as %j", (plain, encoded) => {
    expect(encodeBase64(utf8(plain))).toBe(encoded)
    expect(decodeBase64(encoded)).toEqual(utf8(plain))
  })

  it.each([
    ["no padding", "Zg"],
    ["half of the padding", "Zg="],
    ["padding after a full group", "Zm9v="],
    ["padding alone", "===="],
    ["too much padding", "Z==="],
    ["padding in the middle", "Zg==Zg=="],
    ["a space", "Zm 9"],
    ["a line break at the end", "Zm9v\n"],
    ["a character outside the alphabet", "SGVs!!!bG8="],
    ["the URL alphabet", "-_-_"],
    ["a letter beyond ASCII", "Zm9é"],
    ["trailing bits before two pads", "Zh=="],
    ["trailing bits before one pad", "Zm9="],
  ])("refuses %s", (_, text) => {
    expect(decodeBase64(text)).toBeUndefined()
  })

  it("gives every value back, in both alphabets", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), (bytes) => {
        expect(decodeBase64(encodeBase64(bytes))).toEqual(bytes)
        expect(decodeBase64Url(encodeBase64Url(bytes))).toEqual(bytes)
        expect(encodeBase64Url(bytes)).toMatch(/^[A-Za-z0-9_-]*$/)
      }),
    )
  })

  it("is told from other texts without being decoded, but for trailing bits", () => {
    const text = fc.oneof(
      fc.base64String({ maxLength: 12 }),
      fc.string({ unit: fc.constantFrom(..."ABab01+/-_= \n"), maxLength: 12 }),
    )
    fc.assert(
      fc.property(text, (given) => {
        expect(isBase64(given)).toBe(/^([A-Za-z0-9+/]{4})*([A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(given))
        if (decodeBase64(given) !== undefined) expect(isBase64(given)).toBe(true)
      }),
      { numRuns: 2000 },
    )
  })

  it("reads no text that it would not write", () => {
    const nearly = fc.string({ unit: fc.constantFrom(..."ABab01+/-_= \n"), maxLength: 12 })
    fc.assert(
      fc.property(nearly, (text) => {
        const bytes = decodeBase64(text)
        if (bytes !== undefined) expect(encodeBase64(bytes)).toBe(text)
        const url = decodeBase64Url(text)
        if (url !== undefined) expect(encodeBase64Url(url)).toBe(text)
      }),
      { numRuns: 2000 },
    )
  })
})
