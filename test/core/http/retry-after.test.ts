import { describe, expect, it } from "vitest"
import { parseRetryAfter } from "../../../src/core/http/retry-after.js"

const now = Date.UTC(1994, 10, 6, 8, 49, 0)

describe("Retry-After is understood", () => {
  it.each<[value: string | undefined, ms: number | undefined]>([
    ["0", 0],
    ["120", 120_000],
    [" 5 ", 5_000],
    ["Sun, 06 Nov 1994 08:49:37 GMT", 37_000],
    ["Sunday, 06-Nov-94 08:49:37 GMT", 37_000],
    ["Sun Nov  6 08:49:37 1994", 37_000],
    ["Sun, 06 Nov 1994 08:48:37 GMT", 0],
    ["9999999999999999999", 0x7fff_ffff],
    ["Fri, 31 Dec 9999 23:59:59 GMT", 0x7fff_ffff],
    [undefined, undefined],
    ["", undefined],
    ["-1", undefined],
    ["1.5", undefined],
    ["1e3", undefined],
    ["soon", undefined],
    ["12 Nov", undefined],
    ["1994-11-06T08:49:37Z", undefined],
    ["Sun, 99 Xxx 1994 08:49:37 GMT", undefined],
    ["9".repeat(1_000), undefined],
  ])("%j is %j ms", (value, ms) => {
    expect(parseRetryAfter(value, now)).toBe(ms)
  })
})
