/** Claims on a store: leases, waiting, and what is left of a node that died. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createClaims } from "../../../src/server/input/claim.js"
import type { Outcome } from "../../../src/server/input/outcome.js"
import { createMemoryStore } from "../../../src/store/memory.js"
import { createManualClock } from "../../support/clock.js"

async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

function nodes() {
  const clock = createManualClock()
  const store = createMemoryStore({ clock })
  const node = () => createClaims({ store, clock, ttlMs: 900_000 })
  return { clock, store, one: node(), two: node() }
}

const never = new Promise<Outcome>(() => {})

describe("a claim", () => {
  it("is renewed as long as its step runs", async () => {
    const { clock, one, two } = nodes()
    let finish: (outcome: Outcome) => void = () => {}
    const running = one.run("key", () => new Promise((resolve) => (finish = resolve)))
    await settle()
    let ran = 0
    const waiting = two.run("key", () => Promise.resolve({ value: ++ran }))
    for (let minute = 0; minute < 10; minute++) {
      for (let step = 0; step < 12; step++) {
        clock.advance(5_000)
        await settle()
      }
    }
    finish({ value: "first" })
    expect(await running).toEqual({ value: "first" })
    await settle()
    clock.advance(1_000)
    expect(await waiting).toEqual({ value: "first" })
    expect(ran).toBe(0)
  })

  it("is given up by a node that dies, and the step runs again elsewhere", async () => {
    const { clock, store, two } = nodes()
    await store.set("key", "pending:of a dead node", { ttlMs: 60_000 })
    const running = two.run("key", () => Promise.resolve({ value: "second" }))
    await settle()
    clock.advance(61_000)
    expect(await running).toEqual({ value: "second" })
  })

  it("is given back by a step that comes to nothing, and who waits for it runs its own", async () => {
    const { one } = nodes()
    const ran: string[] = []
    const first = one.run("key", async () => {
      ran.push("first")
      await settle()
      return undefined
    })
    const second = one.run("key", async () => {
      ran.push("second")
      return { value: 2 }
    })
    expect(await first).toBeUndefined()
    expect(await second).toEqual({ value: 2 })
    expect(ran).toEqual(["first", "second"])
  })

  it("does not stop the event loop when the store is full", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock, maxEntries: 1 })
    await store.set("other", "value")
    const claims = createClaims({ store, clock, ttlMs: 900_000 })
    let ran = 0
    await expect(claims.run("key", () => Promise.resolve({ value: ++ran }))).rejects.toThrow("is it full?")
    expect(ran).toBe(0)
  })

  it("is looked up in the store where nothing outlives its request", async () => {
    const manual = createManualClock()
    const clock = { now: () => manual.now(), after: manual.after, isBound: true }
    const claims = createClaims({ store: createMemoryStore({ clock }), clock, ttlMs: 900_000 })
    let finish: (outcome: Outcome) => void = () => {}
    const first = claims.run("key", () => new Promise((resolve) => (finish = resolve)))
    await settle()
    const second = claims.run("key", () => Promise.resolve({ value: "second" }))
    finish({ value: "first" })
    expect(await first).toEqual({ value: "first" })
    await settle()
    manual.advance(1_000)
    expect(await second).toEqual({ value: "first" })
  })

  it("leaves no timer behind", async () => {
    const { clock, one } = nodes()
    await one.run("key", () => Promise.resolve({ value: 1 }))
    expect(clock.waiting).toBe(0)
    void one.run("other", () => never)
    await settle()
    expect(clock.waiting).toBe(1)
  })

  it("is held by one at a time, in whatever order things happen", async () => {
    await fc.assert(
      fc.asyncProperty(fc.scheduler(), fc.integer({ min: 2, max: 5 }), async (scheduler, count) => {
        const clock = createManualClock()
        const store = createMemoryStore({ clock })
        let ran = 0
        const runs = Array.from({ length: count }, () => {
          const claims = createClaims({ store, clock, ttlMs: 900_000 })
          return scheduler.schedule(Promise.resolve()).then(() =>
            claims.run("key", async () => {
              ran++
              await scheduler.schedule(Promise.resolve())
              return { value: ran }
            }),
          )
        })
        const all = Promise.all(runs)
        let done = false
        void all.then(() => {
          done = true
        })
        while (!done) {
          if (scheduler.count() > 0) await scheduler.waitOne()
          await settle()
          clock.advance(250)
        }
        expect(ran).toBe(1)
        expect(await all).toEqual(Array.from({ length: count }, () => ({ value: 1 })))
      }),
      { numRuns: 20 },
    )
  })
})
