import fc from "fast-check"
import { expect, it } from "vitest"
import { createMemo } from "../../../src/core/http/memo.js"

it("answers as what it remembers would, whatever comes in which order", () => {
  const compute = (value: string): number | false | undefined => {
    if (value === "") return undefined
    return value.startsWith("n") ? false : value.length
  }
  const value = fc.oneof(fc.constantFrom("", "n", "a", "bb", "c".repeat(257)), fc.string({ maxLength: 3 }))
  fc.assert(
    fc.property(fc.array(value, { maxLength: 600 }), (values) => {
      const memo = createMemo(compute)
      expect(values.map(memo)).toEqual(values.map(compute))
    }),
    { seed: 1, numRuns: 100 },
  )
})

it("computes what it knows once, and again what it forgot for 256 others", () => {
  const computed: string[] = []
  const memo = createMemo((value) => computed.push(value))
  const others = Array.from({ length: 256 }, (_, at) => `other ${at}`)
  for (const value of ["first", "first", ...others, "first"]) memo(value)
  expect(computed.filter((value) => value === "first")).toHaveLength(2)
})
