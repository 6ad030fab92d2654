/** `ctx.once`: a step that runs once over all rounds of a call, on whichever node they come. */
import { createServer, type Logger, McpError, type Store, ToolError, tool } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createMemoryStore } from "../../../src/store/memory.js"
import { accept, everything, legacyClient, modernCall, textOf } from "../../support/asking.js"
import { createManualClock, type ManualClock } from "../../support/clock.js"
import { link } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"

type Handler = Parameters<typeof tool>[2]
type Ctx = Parameters<Handler>[1]

const name = z.object({ name: z.string() })
const ada = accept({ name: "Ada" })
const secrets = ["0123456789abcdef0123456789abcdef"]

interface Node {
  readonly store?: Store
  readonly clock?: ManualClock
  readonly logger?: Logger
}

/** One tool, `subject`, on a node of its own. */
function subject(handler: Handler, { store, clock, logger = createRecordingLogger() }: Node = {}) {
  const server = createServer({ name: "test", version: "1.0.0", logger, tools: [tool("subject", {}, handler)] })
  const raw = link(server, {
    secrets,
    ...(store === undefined ? {} : { store }),
    ...(clock === undefined ? {} : { clock }),
  })
  return { raw, call: modernCall(raw.request, { name: "subject", arguments: {} }) }
}

/** A promise with its handles. */
function deferred<T>() {
  let resolve: (value: T) => void = () => {}
  let reject: (reason: unknown) => void = () => {}
  const promise = new Promise<T>((onResolve, onReject) => {
    resolve = onResolve
    reject = onReject
  })
  return { promise, resolve, reject }
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe.each(["modern", "legacy"])("ctx.once in the %s era", (era) => {
  const run = async (handler: Handler): Promise<string> => {
    const { raw, call } = subject(handler)
    if (era === "modern") return textOf((await call.run(() => ada)).at(-1)?.result)
    const client = await legacyClient(raw)
    const { response } = await client.call("tools/call", { name: "subject" }, () => ada)
    return textOf(response["result"] as Record<string, unknown>)
  }

  it("runs once over three rounds, and gives its value in each", async () => {
    let ran = 0
    const seen: unknown[] = []
    const text = await run(async (_, ctx) => {
      const table = await ctx.once("hold", () => ({ table: ++ran }))
      seen.push(table)
      await ctx.elicit("Who?", name)
      await ctx.elicit("Who else?", name)
      return `table ${table.table}`
    })
    expect(text).toBe("table 1")
    expect(ran).toBe(1)
    expect(new Set(seen.map((table) => JSON.stringify(table)))).toEqual(new Set(['{"table":1}']))
  })

  it("gives what JSON gives back, in the first run too", async () => {
    const seen: unknown[] = []
    await run(async (_, ctx) => {
      const value = await ctx.once("value", () => ({
        at: new Date(0),
        left: undefined,
        not: Number.NaN,
        map: new Map([["a", 1]]),
      }))
      seen.push(value)
      await ctx.elicit("Who?", name)
      return "done"
    })
    for (const value of seen) expect(value).toEqual({ at: "1970-01-01T00:00:00.000Z", not: null, map: {} })
  })

  it.each<[what: string, value: unknown]>([
    ["undefined", undefined],
    ["null", null],
    ["false", false],
    ["an empty text", ""],
  ])("counts %s as done", async (_, value) => {
    let ran = 0
    const seen: unknown[] = []
    await run(async (__, ctx) => {
      seen.push(
        await ctx.once("step", () => {
          ran++
          return value as string
        }),
      )
      await ctx.elicit("Who?", name)
      return "done"
    })
    expect(ran).toBe(1)
    expect(seen.every((one) => one === value)).toBe(true)
  })

  it("runs once for a key that is used twice in a run", async () => {
    let ran = 0
    const text = await run(async (_, ctx) => {
      const both = await Promise.all([ctx.once("step", () => ++ran), ctx.once("step", () => ++ran)])
      return JSON.stringify([...both, await ctx.once("step", () => ++ran)])
    })
    expect(text).toBe("[1,1,1]")
  })

  it.each<[what: string, thrown: () => unknown, seen: Record<string, unknown>]>([
    ["an error", () => new TypeError("no table"), { name: "TypeError", message: "no table" }],
    ["a ToolError", () => new ToolError("no table"), { name: "ToolError", message: "no table" }],
    [
      "an McpError",
      () => new McpError("no table", { kind: "protocol", reason: "invalid_params", code: -32602, data: { table: 5 } }),
      { message: "no table", kind: "protocol", reason: "invalid_params", code: -32602, data: { table: 5 } },
    ],
    ["something else", () => "no table", { message: "no table" }],
  ])("keeps %s that was thrown, and throws it in every round", async (_, thrown, like) => {
    let ran = 0
    const seen: unknown[] = []
    await run(async (__, ctx) => {
      await ctx
        .once("step", () => {
          ran++
          throw thrown()
        })
        .catch((error: unknown) => seen.push(error))
      await ctx.elicit("Who?", name)
      return "done"
    })
    expect(ran).toBe(1)
    for (const error of seen) {
      expect(error).toMatchObject(like)
      expect(ToolError.is(error)).toBe(like["name"] === "ToolError")
    }
  })

  it("keeps the error of a value that is not JSON: the step has run", async () => {
    let ran = 0
    const text = await run(async (_, ctx) => {
      const step = (): Promise<unknown> =>
        ctx.once("step", () => {
          ran++
          return { big: 1n } as unknown as string
        })
      const message = await step().catch((error: unknown) => (error as Error).message)
      await ctx.elicit("Who?", name)
      return `${await step().catch((error: unknown) => (error as Error).message === message)}`
    })
    expect([text, ran]).toEqual(["true", 1])
  })

  it("gives its function a key that is the same in every run of it and differs by step and call", async () => {
    const keys: string[] = []
    const handler: Handler = async (_, ctx) => {
      await ctx.once("one", ({ idempotencyKey }) => keys.push(idempotencyKey))
      await ctx.once("two", ({ idempotencyKey }) => keys.push(idempotencyKey))
      return "done"
    }
    await run(handler)
    await run(handler)
    expect(new Set(keys).size).toBe(4)
    for (const key of keys) expect(key.length).toBeGreaterThanOrEqual(22)
  })

  it("refuses to ask inside of a step", async () => {
    const text = await run(async (_, ctx) => {
      const asked = await ctx.once("step", () => ctx.elicit("Who?", name)).catch((error: unknown) => error)
      return McpError.is(asked, "misuse") ? "misuse" : "asked"
    })
    expect(text).toBe("misuse")
  })

  it("takes no empty key", async () => {
    const text = await run(async (_, ctx) => {
      const error = await ctx.once("", () => 1).catch((thrown: unknown) => thrown)
      return McpError.is(error, "misuse") ? "misuse" : "ran"
    })
    expect(text).toBe("misuse")
  })
})

describe("a round", () => {
  it("is sent when every running step has settled, and holds what it came to", async () => {
    const effect = deferred<string>()
    let ran = 0
    const { call, raw } = subject(async (_, ctx) => {
      const [who, step] = await Promise.all([
        ctx.elicit("Who?", name),
        ctx.once("step", () => {
          ran++
          return effect.promise
        }),
      ])
      return `${who.content?.name} ${step}`
    })
    const first = call.round()
    await settle()
    expect(raw.received).toEqual([])
    effect.resolve("done")
    const { asked, state } = await first
    expect(asked).toHaveLength(1)
    expect(textOf((await call.round({ state, answers: { q1: ada } })).result)).toBe("Ada done")
    expect(ran).toBe(1)
  })

  it("holds a question that is asked as soon as a step has settled", async () => {
    const effect = deferred<number>()
    const { call } = subject(async (_, ctx) => {
      const step = ctx.once("step", () => effect.promise)
      const first = ctx.elicit("Who?", name, { key: "first" })
      await step
      await Promise.all([first, ctx.elicit("Who else?", name, { key: "second" })])
      return "done"
    })
    const first = call.round()
    await settle()
    effect.resolve(1)
    expect((await first).asked.map(({ key }) => key)).toEqual(["first", "second"])
  })
})

describe("a round that is sent more than once", () => {
  /** Asks, performs an effect, asks again. */
  const booking =
    (book: () => unknown): Handler =>
    async (_, ctx) => {
      await ctx.elicit("Who?", name)
      const booked = await ctx.once("book", book)
      await ctx.elicit("Sure?", name)
      return `booked ${booked}`
    }

  it("performs the effect of its steps once, in turn", async () => {
    let ran = 0
    const { call } = subject(booking(() => ++ran))
    const first = await call.round()
    const answers = { q1: ada }
    const second = await call.round({ state: first.state, answers })
    const again = await call.round({ state: first.state, answers })
    for (const { state } of [second, again]) {
      expect(textOf((await call.round({ state, answers: { q2: ada } })).result)).toBe("booked 1")
    }
    expect(ran).toBe(1)
  })

  it("performs them once at the same time: the other waits for the outcome and takes it", async () => {
    let ran = 0
    const effect = deferred<string>()
    const { call, raw } = subject(
      booking(() => {
        ran++
        return effect.promise
      }),
    )
    const first = await call.round()
    const both = [1, 2].map(() => call.round({ state: first.state, answers: { q1: ada } }))
    await settle()
    expect(raw.received).toHaveLength(1)
    effect.resolve("one")
    for (const { state } of await Promise.all(both)) {
      expect(textOf((await call.round({ state, answers: { q2: ada } })).result)).toBe("booked one")
    }
    expect(ran).toBe(1)
  })

  it("performs them once when the state of round 1 comes back after round 3", async () => {
    let ran = 0
    const { call } = subject(booking(() => ++ran))
    const rounds = await call.run(() => ada)
    expect(textOf(rounds.at(-1)?.result)).toBe("booked 1")
    const replayed = await call.round({ state: rounds[0]?.state, answers: { q1: ada } })
    expect(replayed.asked.map(({ key }) => key)).toEqual(["q2"])
    const last = await call.round({ state: replayed.state, answers: { q2: ada } })
    expect(textOf(last.result)).toBe("booked 1")
    expect(ran).toBe(1)
  })

  it("takes the error that a step came to", async () => {
    let ran = 0
    const { call } = subject(async (_, ctx) => {
      await ctx.elicit("Who?", name)
      return ctx.once("book", () => {
        ran++
        throw new ToolError("fully booked")
      })
    })
    const { state } = await call.round()
    for (let time = 0; time < 3; time++) {
      expect(textOf((await call.round({ state, answers: { q1: ada } })).result)).toBe("fully booked")
    }
    expect(ran).toBe(1)
  })

  it("performs them once on several nodes with one store, at the same time and in turn", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock })
    const effect = deferred<string>()
    const ran: string[] = []
    const node = (which: string) =>
      subject(
        booking(() => {
          ran.push(which)
          return effect.promise
        }),
        { store, clock },
      )
    const [one, two] = [node("one"), node("two")]
    const { state } = await one.call.round()
    const here = one.call.round({ state, answers: { q1: ada } })
    await settle()
    const there = two.call.round({ state, answers: { q1: ada } })
    await settle()
    expect(two.raw.received).toEqual([])
    effect.resolve("table 5")
    const [first] = await Promise.all([here, settle()])
    clock.advance(1_000)
    for (const { state: next } of [first, await there]) {
      expect(textOf((await two.call.round({ state: next, answers: { q2: ada } })).result)).toBe("booked table 5")
    }
    const late = await two.call.round({ state, answers: { q1: ada } })
    expect(textOf((await one.call.round({ state: late.state, answers: { q2: ada } })).result)).toBe("booked table 5")
    expect(ran).toEqual(["one"])
  })

  it("gives a step the same key on every node", async () => {
    const keys: string[] = []
    const clock = createManualClock()
    const node = () =>
      subject(
        async (_, ctx: Ctx) => {
          await ctx.elicit("Who?", name)
          await ctx.once("step", ({ idempotencyKey }) => keys.push(idempotencyKey))
          return "done"
        },
        { store: createMemoryStore({ clock }), clock },
      )
    const [one, two] = [node(), node()]
    const { state } = await one.call.round()
    await one.call.round({ state, answers: { q1: ada } })
    await two.call.round({ state, answers: { q1: ada } })
    expect(keys).toHaveLength(2)
    expect(keys[0]).toBe(keys[1])
  })
})

describe("a call whose first response was lost", () => {
  it("starts anew: nothing ties the second to the first", async () => {
    let ran = 0
    const { call } = subject(async (_, ctx) => {
      await ctx.once("hold", () => ++ran)
      await ctx.elicit("Who?", name)
      return "done"
    })
    await call.round()
    await call.round()
    expect(ran).toBe(2)
  })
})

describe("a step that cannot be claimed", () => {
  it.each<[what: string, store: Partial<Store>]>([
    ["fails", { set: () => Promise.reject(new Error("the store is down")) }],
    ["is full", { set: () => false }],
  ])("does not run when the store %s", async (_, broken) => {
    let ran = 0
    const clock = createManualClock()
    const { call } = subject(async (__, ctx) => String(await ctx.once("step", () => ++ran)), {
      store: { ...createMemoryStore({ clock }), ...broken },
      clock,
    })
    expect((await call.round()).result).toMatchObject({ isError: true })
    expect(ran).toBe(0)
  })
})

describe("what a step keeps", () => {
  it("stands in the store until the state of the call expires, and no longer", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock })
    const written: (readonly [key: string, value: string, options: unknown])[] = []
    const recording: Store = {
      ...store,
      set: (key, value, options) => {
        written.push([key, value, options])
        return store.set(key, value, options)
      },
    }
    const { raw } = subject(async (_, ctx) => String(await ctx.once("step", () => "kept")), { store: recording, clock })
    await modernCall(raw.request, { name: "subject" }, { capabilities: everything }).round()
    expect(written).toMatchObject([
      [expect.stringMatching(/^once:[\w-]{22}:step$/), expect.any(String), { if: "absent" }],
      [expect.stringMatching(/^once:[\w-]{22}:step$/), '{"value":"kept"}', { ttlMs: 15 * 60_000 }],
    ])
    expect(written[0]?.[0]).toBe(written[1]?.[0])
  })
})
