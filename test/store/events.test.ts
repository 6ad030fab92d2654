import { describe, expect, it } from "vitest"
import { createMemoryEventStore, type MemoryEventStoreOptions } from "../../src/store/events.js"
import type { EventStore, StreamEvent } from "../../src/store/port.js"
import { createManualClock, type ManualClock } from "../support/clock.js"

function createStore(options: Partial<MemoryEventStoreOptions> = {}): {
  readonly store: EventStore
  readonly clock: ManualClock
} {
  const clock = createManualClock()
  return {
    clock,
    store: createMemoryEventStore({ clock, maxStreamBytes: 1 << 20, maxBytes: 1 << 24, ttlMs: 60_000, ...options }),
  }
}

const event = (position: number, frame = `frame ${position}`): StreamEvent => ({ position, frame })

function fill(store: EventStore, stream: string, count: number, frame?: string): void {
  for (let position = 1; position <= count; position++) void store.append(stream, event(position, frame))
}

describe("what was sent", () => {
  it("comes back behind the position that is named, in order", () => {
    const { store } = createStore()
    fill(store, "a", 3)
    expect(store.after("a", 0)).toEqual([event(1), event(2), event(3)])
    expect(store.after("a", 2)).toEqual([event(3)])
    expect(store.after("a", 3)).toEqual([])
  })

  it("is not known of another stream, nor behind what was never sent", () => {
    const { store } = createStore()
    fill(store, "a", 3)
    expect(store.after("b", 0)).toBeUndefined()
    expect(store.after("a", 4)).toBeUndefined()
  })

  it("is forgotten after a while without another event", () => {
    const { store, clock } = createStore()
    fill(store, "a", 1)
    clock.advance(59_999)
    expect(store.after("a", 0)).toHaveLength(1)
    void store.append("a", event(2))
    clock.advance(59_999)
    expect(store.after("a", 0)).toHaveLength(2)
    clock.advance(1)
    expect(store.after("a", 0)).toBeUndefined()
  })

  it("leaves no timer behind once everything is forgotten", () => {
    const { store, clock } = createStore()
    fill(store, "a", 1)
    expect(clock.waiting).toBe(1)
    clock.advance(60_000)
    clock.advance(60_000)
    expect(clock.waiting).toBe(0)
  })
})

describe("a stream that has had too much", () => {
  const frame = "x".repeat(450)

  it("loses its oldest events, and is not resumed from before them", () => {
    const { store } = createStore({ maxStreamBytes: 3_000 })
    fill(store, "a", 5, frame)
    expect(store.after("a", 1)).toBeUndefined()
    expect(store.after("a", 2)).toEqual([event(3, frame), event(4, frame), event(5, frame)])
  })

  it("is not resumed past an event that is larger than what may be kept", () => {
    const { store } = createStore({ maxStreamBytes: 3_000 })
    fill(store, "a", 1)
    void store.append("a", event(2, "x".repeat(2_000)))
    void store.append("a", event(3))
    expect(store.after("a", 1)).toBeUndefined()
    expect(store.after("a", 2)).toEqual([event(3)])
  })
})

describe("all streams together", () => {
  const frame = "x".repeat(450)

  it("keep no more than they may, and take nothing from each other", () => {
    const { store } = createStore({ maxBytes: 5_000 })
    fill(store, "a", 4, frame)
    fill(store, "b", 100, frame)
    expect(store.after("a", 0)).toHaveLength(4)
    expect(store.after("b", 0)).toBeUndefined()
  })

  it("have room again once others are forgotten", () => {
    const { store, clock } = createStore({ maxBytes: 5_000 })
    fill(store, "a", 5, frame)
    clock.advance(60_000)
    fill(store, "b", 5, frame)
    expect(store.after("b", 0)).toHaveLength(5)
  })
})
