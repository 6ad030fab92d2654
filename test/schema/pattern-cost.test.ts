/** Which regular expressions a JSON Schema may use: every one that is let through stays within the time that it was judged for. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type PatternNode, parsePattern } from "../../src/core/schema/pattern.js"
import { judgePattern } from "../../src/core/schema/pattern-cost.js"

const tooSlow = /can take too long/
const verdicts: readonly (readonly [string, 1 | 2 | RegExp])[] = [
  // Linear.
  ["", 1],
  ["foo", 1],
  ["^[a-z]{2,8}$", 1],
  ["^\\d{4}-\\d{2}-\\d{2}$", 1],
  ["^(?:\\d+\\.){3}\\d+$", 1],
  ["^(a+b)*c$", 1],
  ["^(read|reply|write)(,(read|reply|write))*$", 1],
  ["^[a-z0-9]+(?:-[a-z0-9]+)*$", 1],
  ["^[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}$", 1],
  ["^(?=.*[A-Z])(?=.*\\d).{8,}$", 1],
  ["^(?:(?!ab).)*$", 1],
  ["^\\p{Lu}\\p{Ll}*$", 1],
  ["^https?://[^/]+/.*$", 1],
  ["^(a|ab)*$", 1],
  ["^.*$", 1],
  [".*", 1],
  ["\\d+", 1],
  ["^[\\w\\-.+]+@example\\.com$", 1],
  ["^(?<year>\\d{4})-\\u0041\\u{1f600}\\x41\\cA\\0$", 1],
  ["^[\\b\\]\\-\\^a-c]*$", 1],
  ["^.{1,1000}$", 1],
  // Quadratic.
  ["\\s+$", 2],
  ["f.*o", 2],
  ["^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$", 2],
  ["^.*foo.*$", 2],
  ["^(?:[a-z0-9]+(?:-[a-z0-9]+)*\\.)+[a-z]{2,}$", 2],
  // Worse.
  ["^(a+)+$", tooSlow],
  ["(a|a)*$", tooSlow],
  ["(.*a){25}", tooSlow],
  ["^(([a-z])+.)+[A-Z]([a-z])+$", tooSlow],
  ["^(a|ab)*b$", tooSlow],
  ["^(a*)*$", tooSlow],
  ["^(a?)*$", tooSlow],
  ["^(?:a?){30}a{30}$", tooSlow],
  ["(x+x+)+y", tooSlow],
  ["^(\\w|\\d)*$", tooSlow],
  ["^.*.*.*$", tooSlow],
  ["a*a*a*b", tooSlow],
  ["^(a|b|ab)*c$", tooSlow],
  ["^(?:(?=.*x).)*$", tooSlow],
  [`^${"(a|a)".repeat(30)}$`, tooSlow],
  [`^${"(|)".repeat(30)}$`, tooSlow],
  [`^a{2}${"(?:b?b?)".repeat(20)}$`, tooSlow],
  // Not supported, or not a regular expression.
  ["^(a)\\1$", /backreference/],
  ["^(?<n>a)\\k<n>$", /backreference/],
  ["(?<=a)b", /lookbehind/],
  ["(?<!a)b", /lookbehind/],
  ["(", /is not a regular expression/],
  ["\\-", /is not a regular expression/],
  ["a{2,1}", /is not a regular expression/],
  ["a".repeat(1001), /longer than 1000 characters/],
]

describe("A pattern", () => {
  it.each(verdicts)("%s is judged", (source, verdict) => {
    const cost = judgePattern(source)
    if (typeof verdict === "number") expect(cost).toEqual({ ok: true, degree: verdict })
    else expect(cost).toMatchObject({ ok: false, problem: expect.stringMatching(verdict) })
  })

  it("is judged quickly, however it is nested", () => {
    for (const source of [
      `${"(".repeat(450)}a${"){2}".repeat(100)}${")".repeat(350)}`,
      `${"(?:".repeat(180)}a${"+)".repeat(180)}`,
      `${"(?:".repeat(150)}a${")?b".repeat(150)}`,
      `[${"a-zA-Z".repeat(80)}]*${"[a-z]?".repeat(80)}`,
    ]) {
      const before = process.cpuUsage().user
      judgePattern(source)
      expect(process.cpuUsage().user - before).toBeLessThan(1_000_000)
    }
  })

  it("never takes more time than it was judged for", () => {
    fc.assert(
      fc.property(pattern, fc.array(fc.constantFrom("a", "b"), { minLength: 1, maxLength: 4 }), (source, unit) => {
        const cost = judgePattern(source)
        if (!cost.ok) return
        const worst = (length: number): number => {
          const text = unit.join("").repeat(length).slice(0, length)
          return Math.max(...["", "c", "ac"].map((tail) => countSteps(source, text + tail)))
        }
        // Four times the text may take four times the steps, or sixteen times; counted repetitions blur it a little.
        expect(worst(320)).toBeLessThan(Math.max(20_000, worst(80) * 4 ** cost.degree * 2.5))
      }),
      { numRuns: 2000 },
    )
  })

  it("is read as the engine reads it", () => {
    fc.assert(
      fc.property(pattern, fc.string({ unit: fc.constantFrom("a", "b", "c"), maxLength: 6 }), (source, text) => {
        expect(isMatch(source, text)).toBe(new RegExp(source, "u").test(text))
      }),
    )
  })
})

/** Patterns over a and b, with every construct that is supported. */
const pattern: fc.Arbitrary<string> = fc.letrec<{ part: string }>((tie) => ({
  part: fc.oneof(
    { depthSize: "small", withCrossShrink: true },
    { weight: 4, arbitrary: fc.constantFrom("a", "b", "[ab]", ".", "^", "$", "\\b") },
    fc.tuple(tie("part"), tie("part")).map(([one, two]) => one + two),
    fc.tuple(tie("part"), tie("part")).map(([one, two]) => `(?:${one}|${two})`),
    fc
      .tuple(tie("part"), fc.constantFrom("*", "+", "?", "*?", "{2}", "{0,3}", "{1,20}"))
      .map(([one, count]) => `(?:${one})${count}`),
    tie("part").map((one) => `(?=${one})`),
    tie("part").map((one) => `(?!${one})`),
  ),
})).part

/** A matcher that tries one way after the other, as the engines do, and counts what it does. */
class Matcher {
  steps = 0
  readonly #text: string

  constructor(text: string) {
    this.#text = text
  }

  search(node: PatternNode): boolean {
    for (let at = 0; at <= this.#text.length; at += 1) if (this.#match(node, at, () => true)) return true
    return false
  }

  #match(node: PatternNode, at: number, next: (at: number) => boolean): boolean {
    this.steps += 1
    if (this.steps > 3_000_000) return true
    switch (node.kind) {
      case "set": {
        const point = this.#text.codePointAt(at)
        return point !== undefined && node.set.some(([from, to]) => from <= point && point <= to) && next(at + 1)
      }
      case "assert":
        return this.#holds(node, at) && next(at)
      case "look":
        return this.#match(node.body, at, () => true) !== node.negative && next(at)
      case "sequence":
        return this.#sequence(node.parts, 0, at, next)
      case "choice":
        return node.branches.some((branch) => this.#match(branch, at, next))
      case "repeat":
        return this.#repeat(node, 0, at, next)
    }
  }

  #holds(node: PatternNode & { kind: "assert" }, at: number): boolean {
    if (node.where === "start") return at === 0
    if (node.where === "end") return at === this.#text.length
    return (at === 0) !== (at === this.#text.length)
  }

  #sequence(parts: readonly PatternNode[], index: number, at: number, next: (at: number) => boolean): boolean {
    const part = parts[index]
    return part === undefined ? next(at) : this.#match(part, at, (then) => this.#sequence(parts, index + 1, then, next))
  }

  #repeat(node: PatternNode & { kind: "repeat" }, count: number, at: number, next: (at: number) => boolean): boolean {
    const again = (): boolean =>
      count < node.max &&
      this.#match(node.body, at, (then) => (then > at || count < node.min) && this.#repeat(node, count + 1, then, next))
    return count < node.min ? again() : again() || next(at)
  }
}

function parsed(source: string): PatternNode {
  const node = parsePattern(source)
  if (typeof node === "string") throw new Error(node)
  return node
}

function countSteps(source: string, text: string): number {
  const matcher = new Matcher(text)
  matcher.search(parsed(source))
  return matcher.steps
}

function isMatch(source: string, text: string): boolean {
  return new Matcher(text).search(parsed(source))
}
