/** What may be shown of a peer's text. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { clampText } from "../../../src/core/feature/text.js"

const cases: [string, string, string][] = [
  ["plain text", "get_weather", "get_weather"],
  ["letters of any script", "Ünïcödé 世界 שלום 😀", "Ünïcödé 世界 שלום 😀"],
  ["a colour", "\u001b[31mred\u001b[0m", "[31mred[0m"],
  ["a terminal link", "\u001b]8;;http://evil\u0007click", "]8;;http://evilclick"],
  ["NUL, DEL and C1 controls", "a\0b\u007fc\u009bd", "abcd"],
  ["line breaks", "a\r\nb\tc\u2028d\u2029e\u0085f", "a  b c d e f"],
  ["the Arabic letter mark", "a\u061cb", "ab"],
  ["zero width characters and marks", "a\u200b\u200c\u200d\u200e\u200fb", "ab"],
  ["bidi embeddings and overrides", "a\u202a\u202b\u202c\u202d\u202eb", "ab"],
  ["joiners, operators and isolates", "a\u2060\u2061\u2064\u2065\u2066\u2067\u2068\u2069b", "ab"],
  ["a byte order mark", "\ufeffab", "ab"],
  ["a soft hyphen and fillers", "a\u00ad\u3164\uffa0\u115fb", "ab"],
  ["the tag block", "a\u{e0001}\u{e0041}\u{e007f}b", "ab"],
  ["variation selectors", "a\ufe0f\u{e0100}b", "ab"],
  ["a lone high surrogate", "a\ud800b", "a\ufffdb"],
  ["a lone low surrogate at the end", "a\udc00", "a\ufffd"],
]

describe("clamped text", () => {
  it.each(cases)("shows %s as it should", (_, text, shown) => {
    expect(clampText(text)).toBe(shown)
  })

  it.each<[string, number | undefined, string]>([
    ["x".repeat(200), undefined, "x".repeat(200)],
    ["x".repeat(201), undefined, `${"x".repeat(199)}…`],
    ["abcdef", 4, "abc…"],
    ["abcd", 4, "abcd"],
    ["😀😀😀", 2, "😀…"],
    ["ab\u202e", 2, "ab"],
    ["ab", 1, "…"],
    ["ab", 0, ""],
    [`a${"\u200b".repeat(5000)}b`, 10, "a…"],
  ])("cuts %j at %j code points to %j", (text, max, shown) => {
    expect(clampText(text, max)).toBe(shown)
  })

  it.each<[string, unknown, string]>([
    ["undefined", undefined, "undefined"],
    ["null", null, "null"],
    ["a number", 1.5, "1.5"],
    ["a big integer", 10n, "10"],
    ["a boolean", true, "true"],
    ["a symbol", Symbol("s"), "Symbol(s)"],
    ["an error", new Error("broken\u0007"), "broken"],
    ["an object", { secret: 1 }, "[object]"],
    ["an array", [1], "[array]"],
    ["a function", () => 1, "[function]"],
  ])("shows %s", (_, value, shown) => {
    expect(clampText(value)).toBe(shown)
  })

  it("is never an exception, and always short and visible", () => {
    const hostile = new Error("x")
    Object.defineProperty(hostile, "message", {
      get() {
        throw new Error("trap")
      },
    })
    const { proxy, revoke } = Proxy.revocable({}, {})
    revoke()
    expect([clampText(hostile), clampText(proxy), clampText(Object.create(null))]).toEqual(Array(3).fill("[object]"))
    fc.assert(
      fc.property(
        fc.oneof(fc.string({ unit: "binary" }), fc.anything()),
        fc.integer({ min: -1, max: 50 }),
        (value, max) => {
          const shown = clampText(value, max)
          expect(Array.from(shown).length).toBeLessThanOrEqual(Math.max(0, max))
          expect(shown).not.toMatch(/[\p{Cc}\p{Cf}\p{Cs}\p{Zl}\p{Zp}]/u)
        },
      ),
    )
  })
})
