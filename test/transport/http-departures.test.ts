import { AsyncLocalStorage } from "node:async_hooks"
import { afterEach, describe, expect, it, vi } from "vitest"
import { Departures } from "../../src/transport/http/departures.js"

afterEach(() => vi.restoreAllMocks())

function setUp(): { departures: Departures; left: string[]; add: (name: string) => void } {
  const departures = new Departures()
  const left: string[] = []
  return { departures, left, add: (name) => departures.add({ depart: () => void left.push(name) }) }
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

describe("answers that are ready in one turn", () => {
  it("leave together at its end, in the order in which they came", async () => {
    vi.spyOn(performance, "now").mockReturnValue(0)
    const { add, left } = setUp()
    add("first")
    await Promise.resolve()
    add("second")
    expect(left).toEqual([])
    await turn()
    expect(left).toEqual(["first", "second"])
  })

  it("leave in each turn anew", async () => {
    const { add, left } = setUp()
    add("first")
    await turn()
    add("second")
    await turn()
    expect(left).toEqual(["first", "second"])
  })

  it("wait no longer when the turn is long, nor does what is ready after that turn", async () => {
    const now = vi.spyOn(performance, "now").mockReturnValue(0)
    const { add, left } = setUp()
    add("first")
    now.mockReturnValue(2.1)
    add("second")
    expect(left).toEqual(["first", "second"])
    add("third")
    expect(left).toEqual(["first", "second"])
    await turn()
    expect(left).toEqual(["first", "second", "third"])
  })

  it("leave at once when they are told to, and once", async () => {
    const { add, left, departures } = setUp()
    add("first")
    departures.leave()
    expect(left).toEqual(["first"])
    await turn()
    expect(left).toEqual(["first"])
  })

  it.each([
    { when: "at the end of the turn", laterMs: 0 },
    { when: "in the middle of a long one", laterMs: 2.1 },
  ])("do not lend each other the async context of a request $when", async ({ laterMs }) => {
    const now = vi.spyOn(performance, "now").mockReturnValue(0)
    const storage = new AsyncLocalStorage<string>()
    const departures = new Departures()
    const seen: unknown[] = []
    storage.run("one", () => departures.add({ depart: () => void seen.push(storage.getStore()) }))
    now.mockReturnValue(laterMs)
    storage.run("other", () => departures.add({ depart: () => void seen.push(storage.getStore()) }))
    await turn()
    expect(seen).toEqual([undefined, undefined])
  })
})
