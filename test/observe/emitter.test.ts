/** How events are carried: to listeners in turn, to diagnostics channels, and to nobody for nothing. */
import { channel } from "node:diagnostics_channel"
import { afterEach, describe, expect, it, vi } from "vitest"
import { createEmitter } from "../../src/observe/emitter.js"

interface Events {
  readonly "test.one": { readonly n: number }
  readonly "test.two": string
}

function emitter() {
  const reported: (readonly [string, unknown])[] = []
  const made = createEmitter<Events>(["test.one", "test.two"], (name, error) => reported.push([name, error]))
  return { ...made, reported }
}

afterEach(() => vi.unstubAllGlobals())

describe("a topic", () => {
  it("is watched while anybody listens", () => {
    const { topics, on, off } = emitter()
    expect(topics["test.one"].watched).toBe(false)
    const stop = on("test.one", () => {})
    const listener = (): void => {}
    on("test.one", listener)
    expect([topics["test.one"].watched, topics["test.two"].watched]).toEqual([true, false])
    stop()
    expect(topics["test.one"].watched).toBe(true)
    off("test.one", listener)
    expect(topics["test.one"].watched).toBe(false)
  })

  it("tells each listener once, in the order in which they came", () => {
    const { topics, on } = emitter()
    const heard: string[] = []
    const first = ({ n }: { readonly n: number }): void => void heard.push(`first ${n}`)
    on("test.one", first)
    on("test.one", ({ n }) => heard.push(`second ${n}`))
    on("test.one", first)
    topics["test.one"].publish({ n: 1 })
    expect(heard).toEqual(["first 1", "second 1"])
  })

  it("tells everybody who listened when it began, also when they come and go meanwhile", () => {
    const { topics, on } = emitter()
    const heard: string[] = []
    const stop = on("test.two", () => {
      heard.push("first")
      stop()
      on("test.two", () => heard.push("late"))
    })
    on("test.two", () => heard.push("second"))
    topics["test.two"].publish("x")
    expect(heard).toEqual(["first", "second"])
    topics["test.two"].publish("y")
    expect(heard).toEqual(["first", "second", "second", "late"])
  })

  it.each<[what: string, fail: () => unknown]>([
    [
      "throws",
      () => {
        throw new Error("mine")
      },
    ],
    ["rejects", () => Promise.reject(new Error("mine"))],
  ])("reports a listener that %s, and tells the others all the same", async (_, fail) => {
    const { topics, on, reported } = emitter()
    const heard: string[] = []
    on("test.two", fail)
    on("test.two", (said) => heard.push(said))
    topics["test.two"].publish("x")
    await vi.waitFor(() => expect(reported).toEqual([["test.two", new Error("mine")]]))
    expect(heard).toEqual(["x"])
  })
})

describe("a diagnostics channel", () => {
  it("hears a topic under its name, and counts as watching it", () => {
    const { topics } = emitter()
    const heard: unknown[] = []
    const subscriber = (message: unknown): void => void heard.push(message)
    const one = channel("conduit-mcp:test.one")
    one.subscribe(subscriber)
    expect([topics["test.one"].watched, topics["test.two"].watched]).toEqual([true, false])
    topics["test.one"].publish({ n: 2 })
    one.unsubscribe(subscriber)
    expect(topics["test.one"].watched).toBe(false)
    expect(heard).toEqual([{ n: 2 }])
  })

  it.each([
    ["there is no process", undefined],
    ["the process has no built-in modules to give", {}],
    ["there is no such module", { getBuiltinModule: () => undefined }],
  ])("is done without where %s", (_, process) => {
    vi.stubGlobal("process", process)
    const { topics, on } = emitter()
    const heard: string[] = []
    on("test.two", (said) => heard.push(said))
    topics["test.two"].publish("x")
    expect(heard).toEqual(["x"])
  })
})
