import { describe, expect, it } from "vitest"
import type { Notice } from "../../../src/core/feature/listen.js"
import { type Audience, createAudience, type Reader } from "../../../src/server/stream/audience.js"
import { createMemoryBus } from "../../../src/store/memory.js"
import type { Bus } from "../../../src/store/port.js"
import { createManualClock, type ManualClock } from "../../support/clock.js"

interface Room {
  readonly audience: Audience
  readonly bus: Bus
  readonly clock: ManualClock
}

function openRoom(maxSubscriptions = 10): Room {
  const clock = createManualClock()
  const bus = createMemoryBus()
  return { audience: createAudience({ bus, clock, limits: { coalesceMs: 100, maxSubscriptions } }), bus, clock }
}

function createReader(): Reader & { readonly heard: string[] } {
  const heard: string[] = []
  return { heard, hear: ({ topic }: Notice) => void heard.push(topic) }
}

const tools = { kind: "list", list: "tools" } as const
const watched = { kind: "resource", uri: "file:///a" } as const
const WATCHED = "updated file:///a"

/** Lets what was put off to the end of the job happen. */
const settled = (): Promise<void> => Promise.resolve()

describe("a reader", () => {
  it("hears of the topics that it joined, and of no other", async () => {
    const { audience, bus } = openRoom()
    const reader = createReader()
    audience.join("tools", reader)
    void bus.publish(tools)
    void bus.publish({ kind: "list", list: "prompts" })
    void bus.publish(watched)
    await settled()
    expect(reader.heard).toEqual(["tools"])
  })

  it("hears nothing more once it left", async () => {
    const { audience, bus } = openRoom()
    const reader = createReader()
    audience.join("tools", reader)
    audience.leave("tools", reader)
    void bus.publish(tools)
    await settled()
    expect(reader.heard).toEqual([])
  })

  it("that leaves while it is told does not keep the others from hearing", async () => {
    const { audience, bus } = openRoom()
    const first: Reader = { hear: () => audience.leave("tools", first) }
    const second = createReader()
    audience.join("tools", first)
    audience.join("tools", second)
    void bus.publish(tools)
    await settled()
    expect(second.heard).toEqual(["tools"])
  })
})

describe("a burst of the same change", () => {
  it("within one job is one notice", async () => {
    const { audience, bus, clock } = openRoom()
    const reader = createReader()
    audience.join("tools", reader)
    for (let count = 0; count < 10_000; count++) void bus.publish(tools)
    await settled()
    clock.advance(1_000)
    expect(reader.heard).toEqual(["tools"])
  })

  it("over time is one notice at once and one for each interval, the last behind the last change", async () => {
    const { audience, bus, clock } = openRoom()
    const reader = createReader()
    audience.join("tools", reader)
    for (let count = 0; count < 1_000; count++) {
      void bus.publish(tools)
      await settled()
      clock.advance(1)
    }
    expect(reader.heard).toHaveLength(11)
    clock.advance(1_000)
    expect(reader.heard).toHaveLength(11)
  })

  it("that goes on after a notice is not lost", async () => {
    const { audience, bus, clock } = openRoom()
    const reader = createReader()
    audience.join(WATCHED, reader)
    void bus.publish(watched)
    await settled()
    void bus.publish(watched)
    expect(reader.heard).toHaveLength(1)
    clock.advance(100)
    expect(reader.heard).toHaveLength(2)
  })

  it("does not hold up another change", async () => {
    const { audience, bus } = openRoom()
    const reader = createReader()
    audience.join("tools", reader)
    audience.join(WATCHED, reader)
    void bus.publish(tools)
    void bus.publish(watched)
    await settled()
    expect(reader.heard).toEqual(["tools", WATCHED])
  })

  it("of resources that nobody watches takes no room", () => {
    const { audience, bus, clock } = openRoom()
    audience.join("tools", createReader())
    for (let count = 0; count < 1_000; count++) void bus.publish({ kind: "resource", uri: `file:///${count}` })
    expect(clock.waiting).toBe(0)
  })
})

describe("the bus", () => {
  function countingBus(): Bus & { listeners: number } {
    const inner = createMemoryBus()
    const bus = {
      listeners: 0,
      publish: (change: Parameters<Bus["publish"]>[0]) => inner.publish(change),
      subscribe(listener: Parameters<Bus["subscribe"]>[0]) {
        bus.listeners++
        const stop = inner.subscribe(listener)
        return () => {
          bus.listeners--
          stop()
        }
      },
    }
    return bus
  }

  it("is heard only while somebody listens", () => {
    const bus = countingBus()
    const clock = createManualClock()
    const audience = createAudience({ bus, clock, limits: { coalesceMs: 100, maxSubscriptions: 10 } })
    const readers = [createReader(), createReader()]
    expect(bus.listeners).toBe(0)
    for (const reader of readers) audience.join("tools", reader)
    expect(bus.listeners).toBe(1)
    for (const reader of readers) audience.leave("tools", reader)
    expect(bus.listeners).toBe(0)
  })

  it("is let go when the audience closes, with every timer", () => {
    const bus = countingBus()
    const clock = createManualClock()
    const audience = createAudience({ bus, clock, limits: { coalesceMs: 100, maxSubscriptions: 10 } })
    audience.join("tools", createReader())
    void bus.publish(tools)
    audience.close()
    expect([bus.listeners, clock.waiting]).toEqual([0, 0])
  })
})

describe("room", () => {
  it("is counted in watched resources, of all readers together, and freed with them", () => {
    const { audience } = openRoom(2)
    const [first, second] = [createReader(), createReader()]
    audience.join("tools", first)
    audience.join(WATCHED, first)
    expect(audience.hasRoom([WATCHED])).toBe(true)
    audience.join(WATCHED, second)
    expect(audience.hasRoom([WATCHED])).toBe(false)
    expect(audience.hasRoom(["tools", "prompts"])).toBe(true)
    audience.leave(WATCHED, first)
    expect(audience.hasRoom([WATCHED])).toBe(true)
  })

  it("is taken once by a reader that joins twice", () => {
    const { audience } = openRoom(2)
    const reader = createReader()
    audience.join(WATCHED, reader)
    audience.join(WATCHED, reader)
    expect(audience.hasRoom([WATCHED])).toBe(true)
  })
})
