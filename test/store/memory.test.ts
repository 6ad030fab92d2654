import { describe, expect, it, vi } from "vitest"
import { createSystemClock } from "../../src/store/clock.js"
import { createMemoryBus, createMemoryStore } from "../../src/store/memory.js"
import { createManualClock } from "../support/clock.js"

describe("the store in memory", () => {
  it("keeps a value until it is deleted", async () => {
    const store = createMemoryStore({ clock: createManualClock() })
    expect(await store.set("a", "1")).toBe(true)
    expect((await store.get("a"))?.value).toBe("1")
    expect(await store.delete("a")).toBe(true)
    expect(await store.get("a")).toBeUndefined()
    expect(await store.delete("a")).toBe(false)
  })

  it("answers in the same turn", () => {
    const store = createMemoryStore({ clock: createManualClock() })
    expect(store.set("a", "1")).toBe(true)
    expect(store.get("a")).toMatchObject({ value: "1" })
  })

  it("writes only when the key is absent, if asked to", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock })
    expect(await store.set("a", "1", { if: "absent", ttlMs: 100 })).toBe(true)
    expect(await store.set("a", "2", { if: "absent" })).toBe(false)
    clock.advance(100)
    expect(await store.set("a", "3", { if: "absent" })).toBe(true)
  })

  it("writes and deletes only at the version that is named", async () => {
    const store = createMemoryStore({ clock: createManualClock() })
    await store.set("a", "1")
    const first = await store.get("a")
    if (first === undefined) throw new Error("expected a value")
    expect(await store.set("a", "2", { if: { version: first.version } })).toBe(true)
    expect(await store.set("a", "3", { if: { version: first.version } })).toBe(false)
    expect(await store.delete("a", { if: { version: first.version } })).toBe(false)
    expect(await store.set("b", "1", { if: { version: "1" } })).toBe(false)
    expect((await store.get("a"))?.value).toBe("2")
  })

  it("drops a value when its time is over", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock })
    await store.set("a", "1", { ttlMs: 1_000 })
    clock.advance(999)
    expect((await store.get("a"))?.value).toBe("1")
    clock.advance(1)
    expect(await store.get("a")).toBeUndefined()
  })

  it("does not write beyond its size, and makes room by what has expired", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock, maxEntries: 2 })
    await store.set("a", "1", { ttlMs: 10 })
    await store.set("b", "1")
    expect(await store.set("c", "1")).toBe(false)
    expect(await store.set("b", "2")).toBe(true)
    clock.advance(10)
    expect(await store.set("c", "1")).toBe(true)
  })

  it("does not hold more than its bytes, and keeps what it has when something larger does not fit", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock, maxBytes: 100 })
    expect(await store.set("a", "x".repeat(30), { ttlMs: 10 })).toBe(true)
    expect(await store.set("b", "x".repeat(30))).toBe(false)
    expect(await store.set("a", "x".repeat(50))).toBe(false)
    expect((await store.get("a"))?.value).toBe("x".repeat(30))
    expect(await store.set("a", "x".repeat(49), { ttlMs: 10 })).toBe(true)
    clock.advance(10)
    expect(await store.set("b", "x".repeat(49))).toBe(true)
    await store.delete("b")
    expect(await store.set("c", "x".repeat(49))).toBe(true)
  })

  it("lets go of what has expired while others are written, whether or not anybody asks for it", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock, maxBytes: 1_000_000 })
    for (let at = 0; at < 900; at++)
      await store.set(`old ${at}`, "x".repeat(490), { ttlMs: at % 2 === 0 ? 10 : 10_000 })
    expect(await store.set("more", "x".repeat(100_000))).toBe(false)
    clock.advance(10_000)
    expect(await store.set("more", "x".repeat(490_000))).toBe(true)
  })

  it("gives the place of the oldest to what is new, if asked to", async () => {
    const store = createMemoryStore({
      clock: createManualClock(),
      maxEntries: 3,
      maxBytes: 100,
      whenFull: "drop_oldest",
    })
    const left = async (): Promise<string> => {
      const found = await Promise.all(
        ["a", "b", "c", "d"].map(async (key) => ((await store.get(key)) === undefined ? "" : key)),
      )
      return found.join("")
    }
    for (const key of ["a", "b", "c", "a"]) expect(await store.set(key, "1")).toBe(true)
    expect(await store.set("d", "1")).toBe(true)
    expect(await left()).toBe("acd")
    expect(await store.set("b", "x".repeat(46))).toBe(true)
    expect(await left()).toBe("bd")
    expect(await store.set("c", "x".repeat(50))).toBe(false)
    expect(await left()).toBe("bd")
  })

  it("looks at the oldest alone when it is full, so that a full store costs little", async () => {
    const clock = createManualClock()
    let asked = 0
    const now = (): number => {
      asked++
      return clock.now()
    }
    const counting = { now, after: clock.after }
    const store = createMemoryStore({ clock: counting, maxEntries: 10_000 })
    for (let at = 0; at < 10_000; at++) await store.set(`old ${at}`, "x", { ttlMs: 60_000 })
    asked = 0
    for (let at = 0; at < 100; at++) expect(await store.set(`new ${at}`, "x")).toBe(false)
    expect(asked).toBeLessThan(100 * 200)
  })
})

describe("the bus in memory", () => {
  it("tells every listener until it leaves, also after one that throws", () => {
    const bus = createMemoryBus()
    const heard: unknown[] = []
    bus.subscribe(() => {
      throw new Error("a listener's own fault")
    })
    const leave = bus.subscribe((change) => heard.push(change))
    void bus.publish({ kind: "list", list: "tools" })
    leave()
    void bus.publish({ kind: "resource", uri: "file:///a" })
    expect(heard).toEqual([{ kind: "list", list: "tools" }])
  })
})

describe("the system clock", () => {
  it("owns one timer while something waits, and none before and after", () => {
    vi.useFakeTimers()
    try {
      const clock = createSystemClock()
      expect(vi.getTimerCount()).toBe(0)
      const ran: string[] = []
      clock.after(300, () => ran.push("late"))
      clock.after(100, () => ran.push("early"))
      const cancel = clock.after(100, () => ran.push("never"))
      cancel()
      expect(vi.getTimerCount()).toBe(1)
      vi.advanceTimersByTime(250)
      expect(ran).toEqual(["early"])
      vi.advanceTimersByTime(250)
      expect(ran).toEqual(["early", "late"])
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })

  it("a task may set the next one", () => {
    vi.useFakeTimers()
    try {
      const clock = createSystemClock()
      let turns = 0
      const turn = (): void => {
        turns++
        if (turns < 3) clock.after(250, turn)
      }
      clock.after(250, turn)
      vi.advanceTimersByTime(2_000)
      expect(turns).toBe(3)
      expect(vi.getTimerCount()).toBe(0)
    } finally {
      vi.useRealTimers()
    }
  })
})
