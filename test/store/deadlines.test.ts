/** Deadlines on one task of a clock, and on a clock whose tasks belong to single requests. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createDeadlines, Due } from "../../src/store/deadlines.js"
import { createManualClock } from "../support/clock.js"

class Thing extends Due {
  readonly expired: number[] = []
  readonly #now: () => number

  constructor(dueMs: number, now: () => number) {
    super()
    this.dueMs = dueMs
    this.#now = now
  }

  override expire(): void {
    this.expired.push(this.#now())
  }
}

describe.each([
  ["one task for all", false],
  ["a task for each", true],
])("deadlines with %s", (_name, isBound) => {
  function setUp() {
    const clock = createManualClock(0)
    const bound = { isBound, now: clock.now, after: clock.after }
    return { clock, deadlines: createDeadlines<Thing>(bound), at: (ms: number) => new Thing(ms, clock.now) }
  }

  it("expire what is still there when its moment comes, once", () => {
    const { clock, deadlines, at } = setUp()
    const [early, late, gone] = [at(100), at(300), at(200)]
    for (const thing of [late, early, gone]) deadlines.add(thing)
    expect(deadlines.delete(gone)).toBe(true)
    expect(deadlines.delete(gone)).toBe(false)
    for (let turn = 0; turn < 10; turn++) clock.advance(50)
    expect([early.expired, late.expired, gone.expired]).toEqual([[100], [300], []])
    expect(deadlines.size).toBe(0)
    expect(clock.waiting).toBe(0)
  })

  it("follow a moment that moves either way", () => {
    const { clock, deadlines, at } = setUp()
    const [later, sooner] = [at(100), at(1_000)]
    deadlines.add(later)
    deadlines.add(sooner)
    later.dueMs = 500
    deadlines.add(later)
    sooner.dueMs = 200
    deadlines.add(sooner)
    clock.advance(100)
    expect(later.expired).toEqual([])
    clock.advance(100)
    expect(sooner.expired).toEqual([200])
    clock.advance(300)
    expect(later.expired).toEqual([500])
  })

  it("never expire what is in no hurry, and no timer runs for it", () => {
    const { clock, deadlines, at } = setUp()
    const thing = at(Number.POSITIVE_INFINITY)
    deadlines.add(thing)
    expect(clock.waiting).toBe(0)
    clock.advance(1e12)
    expect([...deadlines.values()]).toEqual([thing])
  })

  it("take up what is added while others expire", () => {
    const { clock, deadlines, at } = setUp()
    const next = at(200)
    const first = at(100)
    first.expire = () => deadlines.add(next)
    deadlines.add(first)
    clock.advance(100)
    clock.advance(100)
    expect(next.expired).toEqual([200])
  })

  it("let all go at once", () => {
    const { clock, deadlines, at } = setUp()
    const thing = at(100)
    deadlines.add(thing)
    deadlines.clear()
    expect(clock.waiting).toBe(0)
    clock.advance(200)
    expect(thing.expired).toEqual([])
    const again = at(300)
    deadlines.add(again)
    clock.advance(100)
    expect(again.expired).toEqual([300])
  })
})

it("however things come and go, one task waits, and each expires at the first look at or behind its moment", () => {
  const step = fc.record({ dueMs: fc.integer({ min: 1, max: 500 }), advanceMs: fc.integer({ min: 0, max: 50 }) })
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const clock = createManualClock(0)
      const deadlines = createDeadlines<Thing>(clock)
      const things = steps.map(({ dueMs, advanceMs }) => {
        const thing = new Thing(clock.now() + dueMs, clock.now)
        deadlines.add(thing)
        expect(clock.waiting).toBe(1)
        clock.advance(advanceMs)
        return thing
      })
      while (clock.waiting > 0) clock.advance(1)
      for (const { dueMs, expired } of things) {
        expect(expired).toHaveLength(1)
        expect(expired[0]).toBeGreaterThanOrEqual(dueMs)
        expect(expired[0]).toBeLessThanOrEqual(dueMs + 50)
      }
    }),
  )
})
