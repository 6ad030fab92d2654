/** Caching hints: what a client reads out of a result, what a server may promise, and when a result is fresh. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { checkFreshness, DEFAULT_FRESHNESS, isFresh, readFreshness } from "../../../src/core/feature/freshness.js"
import type { JsonObject } from "../../../src/core/wire/message.js"

describe("the hints of a received result", () => {
  it.each<[JsonObject, number, string]>([
    [{ ttlMs: 300_000, cacheScope: "public" }, 300_000, "public"],
    [{ ttlMs: 0, cacheScope: "private" }, 0, "private"],
    [{}, 0, "private"],
    [{ ttlMs: 5 }, 5, "private"],
    [{ cacheScope: "public" }, 0, "public"],
    [{ ttlMs: -1, cacheScope: "public" }, 0, "public"],
    [{ ttlMs: "300" }, 0, "private"],
    [{ ttlMs: 1.5 }, 0, "private"],
    [{ ttlMs: 1e300 }, 0, "private"],
    [{ ttlMs: Number.POSITIVE_INFINITY }, 0, "private"],
    [{ ttlMs: null, cacheScope: null }, 0, "private"],
    [{ ttlMs: 5, cacheScope: "Public" }, 5, "private"],
    [{ ttlMs: 5, cacheScope: ["public"] }, 5, "private"],
  ])("of %j are %j and %j", (result, ttlMs, cacheScope) => {
    expect(readFreshness(result)).toEqual({ ttlMs, cacheScope })
  })

  it("are always hints that a server may send", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.jsonValue(), (ttlMs, cacheScope) => {
        expect(checkFreshness(readFreshness({ ttlMs, cacheScope } as JsonObject)).ok).toBe(true)
      }),
    )
  })
})

describe("the hints of a server", () => {
  it.each<[unknown, object]>([
    [
      { ttlMs: 1000, cacheScope: "public" },
      { ttlMs: 1000, cacheScope: "public" },
    ],
    [{ ttlMs: 1000 }, { ttlMs: 1000, cacheScope: "private" }],
    [{ cacheScope: "public" }, { ttlMs: 0, cacheScope: "public" }],
    [{}, DEFAULT_FRESHNESS],
  ])("%j are sent as %j", (value, freshness) => {
    expect(checkFreshness(value)).toEqual({ ok: true, freshness })
  })

  it.each([
    [{ ttlMs: -1 }, "ttlMs"],
    [{ ttlMs: 0.5 }, "ttlMs"],
    [{ ttlMs: Number.NaN }, "ttlMs"],
    [{ ttlMs: "1" }, "ttlMs"],
    [{ ttlMs: null }, "ttlMs"],
    [{ ttlMs: 1, cacheScope: "shared" }, "cacheScope"],
    [1000, "freshness"],
    [null, "freshness"],
    [undefined, "freshness"],
    [[], "freshness"],
  ])("%j are refused, and %s is named", (value, named) => {
    expect(checkFreshness(value)).toMatchObject({ ok: false, problem: expect.stringContaining(named) })
  })
})

describe("a result received at 1000", () => {
  it.each([
    [0, 1000, false],
    [500, 1000, true],
    [500, 1499, true],
    [500, 1500, false],
    [500, 2000, false],
  ])("with a time to live of %j is, at %j, fresh: %j", (ttlMs, nowMs, fresh) => {
    expect(isFresh(1000, ttlMs, nowMs)).toBe(fresh)
  })
})
