/** Progress tokens, and values that only grow. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { isProgress, isProgressToken } from "../../../src/core/feature/progress.js"

describe("a progress token", () => {
  it.each(["abc123", "", 0, -1, 7, Number.MAX_SAFE_INTEGER])("may be %j", (value) => {
    expect(isProgressToken(value)).toBe(true)
  })

  it.each([undefined, null, 1.5, Number.NaN, 2 ** 53, true, {}, ["a"]])("may not be %j", (value) => {
    expect(isProgressToken(value)).toBe(false)
  })
})

describe("progress", () => {
  it.each<[number | undefined, number, boolean]>([
    [undefined, 0, true],
    [undefined, -5, true],
    [0.2, 0.6, true],
    [0.6, 0.6, false],
    [0.6, 0.2, false],
    [0, -0, false],
    [1, Number.NaN, false],
    [undefined, Number.NaN, false],
    [undefined, Number.POSITIVE_INFINITY, false],
    [1, Number.POSITIVE_INFINITY, false],
    [Number.MAX_SAFE_INTEGER, Number.MAX_SAFE_INTEGER + 1, true],
  ])("after %j, %j may be sent: %j", (previous, next, allowed) => {
    expect(isProgress(previous, next)).toBe(allowed)
  })

  it("that is let through grows with each value", () => {
    fc.assert(
      fc.property(fc.array(fc.double()), (values) => {
        const sent: number[] = []
        for (const value of values) if (isProgress(sent.at(-1), value)) sent.push(value)
        const grows = sent.every((value, at) => Number.isFinite(value) && (at === 0 || value > Number(sent[at - 1])))
        expect(grows).toBe(true)
      }),
    )
  })
})
