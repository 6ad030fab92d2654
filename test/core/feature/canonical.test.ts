/** JSON in its canonical form. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { canonicalJson } from "../../../src/core/feature/canonical.js"
import type { JsonValue } from "../../../src/core/wire/message.js"

describe("the canonical form", () => {
  // The input and output of RFC 8785, section 3.2.2 and 3.2.3.
  it("is that of the example in RFC 8785", () => {
    const value = JSON.parse(String.raw`{
      "numbers": [333333333.33333329, 1E30, 4.50, 2e-3, 0.000000000000000000000000001],
      "string": "\u20ac$\u000F\u000aA'\u0042\u0022\u005c\\\"\/",
      "literals": [null, true, false]
    }`) as JsonValue
    expect(canonicalJson(value)).toBe(
      String.raw`{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],"string":"€$\u000f\nA'B\"\\\\\"/"}`,
    )
  })

  it("sorts names by their UTF-16 code units, as RFC 8785, section 3.2.3 shows", () => {
    const value = {
      "\u20ac": "Euro Sign",
      "\r": "Carriage Return",
      "\ufb33": "Hebrew Letter Dalet With Dagesh",
      "1": "One",
      "\ud83d\ude00": "Emoji: Grinning Face",
      "\u0080": "Control",
      "\u00f6": "Latin Small Letter O With Diaeresis",
    }
    expect(Object.values(JSON.parse(canonicalJson(value)) as object)).toEqual([
      "One",
      "Carriage Return",
      "Control",
      "Latin Small Letter O With Diaeresis",
      "Euro Sign",
      "Emoji: Grinning Face",
      "Hebrew Letter Dalet With Dagesh",
    ])
  })

  it.each<[what: string, value: JsonValue, text: string]>([
    ["minus zero", -0, "0"],
    ["an empty object", {}, "{}"],
    ["an empty list", [], "[]"],
    ["nested objects", { b: { d: 1, c: 2 }, a: [{ z: 1, y: 2 }] }, '{"a":[{"y":2,"z":1}],"b":{"c":2,"d":1}}'],
    ["the smallest number", 5e-324, "5e-324"],
    ["the largest number", 1.7976931348623157e308, "1.7976931348623157e+308"],
  ])("writes %s", (_, value, text) => {
    expect(canonicalJson(value)).toBe(text)
  })

  it("leaves out members that are undefined", () => {
    expect(canonicalJson({ a: 1, b: undefined })).toBe('{"a":1}')
  })

  const json = fc.jsonValue() as fc.Arbitrary<JsonValue>

  it("means the same value", () => {
    fc.assert(
      fc.property(json, (value) => {
        expect(JSON.parse(canonicalJson(value))).toEqual(JSON.parse(JSON.stringify(value)))
      }),
    )
  })

  it("does not depend on the order of members", () => {
    const shuffled = (value: JsonValue): JsonValue => {
      if (Array.isArray(value)) return value.map(shuffled)
      if (typeof value !== "object" || value === null) return value
      return Object.fromEntries(
        Object.entries(value)
          .reverse()
          .map(([key, member]) => [key, shuffled(member ?? null)]),
      )
    }
    fc.assert(
      fc.property(json, (value) => {
        const plain = JSON.parse(JSON.stringify(value)) as JsonValue
        expect(canonicalJson(shuffled(plain))).toBe(canonicalJson(plain))
      }),
    )
  })

  it("is a fixed point", () => {
    fc.assert(
      fc.property(json, (value) => {
        const text = canonicalJson(value)
        expect(canonicalJson(JSON.parse(text) as JsonValue)).toBe(text)
      }),
    )
  })
})
