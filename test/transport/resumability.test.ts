import { type Authenticate, createServer, type EventStore, type Server, type StreamEvent, tool } from "conduit-mcp"
import { type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { createManualClock } from "../support/clock.js"
import { openSession, post, type Reply, send } from "../support/http.js"
import { link } from "../support/link.js"
import { type Event, type EventStream, openModern, openStream } from "../support/stream.js"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** A step that a test lets the tool take. */
interface Gate {
  readonly passed: Promise<void>
  pass(): void
}

function createGate(): Gate {
  let pass: () => void = () => {}
  const passed = new Promise<void>((resolve) => {
    pass = resolve
  })
  return { passed, pass: () => pass() }
}

/** A tool that sends something, waits, sends something more, waits, and answers; and one that lets its client go. */
function createSteps(): { readonly server: Server; readonly gates: readonly [Gate, Gate]; readonly letGo: boolean[] } {
  const gates = [createGate(), createGate()] as const
  const letGo: boolean[] = []
  const steps = tool("steps", {}, async (_, ctx) => {
    ctx.log.info("one")
    await gates[0].passed
    ctx.log.info("two")
    await gates[1].passed
    return "done"
  })
  const parting = tool(
    "parting",
    { input: z.object({ late: z.boolean(), retryMs: z.number().optional() }) },
    async (given, ctx) => {
      if (given.late) ctx.log.info("one")
      letGo.push(ctx.disconnect(given.retryMs === undefined ? {} : { retryMs: given.retryMs }))
      await gates[0].passed
      ctx.log.info("two")
      return "done"
    },
  )
  const quick = tool("quick", {}, () => "done")
  return { server: createServer({ name: "s", version: "1", tools: [steps, parting, quick] }), gates, letGo }
}

async function start(server: Server, options: ServeOptions = {}): Promise<Running> {
  const running = await serve(server, { port: 0, ...options })
  open.push(() => running.close())
  return running
}

type Headers = Readonly<Record<string, string>>

const call = (name: string, args: Json = {}): Json => legacyRequest(1, "tools/call", { name, arguments: args })

async function openCall(url: string, headers: Headers, message: Json): Promise<EventStream> {
  const stream = await openStream(url, { message, headers })
  open.push(() => stream.close())
  return stream
}

async function resume(url: string, headers: Headers, lastEventId: string): Promise<EventStream> {
  const stream = await openStream(url, { headers: { ...headers, "last-event-id": lastEventId } })
  open.push(() => stream.close())
  return stream
}

const said = (text: string): object => ({ method: "notifications/message", params: { data: text } })
const done = { id: 1, result: { content: [{ type: "text", text: "done" }] } }
const isSaid =
  (text: string) =>
  ({ data = "" }: Event) =>
    data.includes(`"${text}"`)
const idOf = ({ id = "" }: Event | undefined = {}): string => id

describe("an answer of a session of 2025-11-25", () => {
  it("in JSON has no events", async () => {
    const { server } = createSteps()
    const { url } = await start(server)
    const reply = await post(url, call("quick"), await openSession(url))
    expect(reply.headers["content-type"]).toBe("application/json")
    expect(reply.json).toMatchObject(done)
  })

  it("as a stream begins with an id to come back with, and gives every message one", async () => {
    const { server, gates } = createSteps()
    const { url } = await start(server, { limits: { retryMs: 1_500 } })
    const stream = await openCall(url, await openSession(url), call("steps"))
    for (const gate of gates) gate.pass()
    expect(await stream.received(3)).toMatchObject([said("one"), said("two"), done])
    await stream.ended
    const [first, ...rest] = stream.events
    expect(first).toEqual({ id: expect.stringMatching(/^[\w-]{22}:0$/), retry: 1_500, data: "" })
    const ids = rest.map(idOf)
    expect(new Set([idOf(first), ...ids]).size).toBe(4)
    expect(ids.every((id) => id.startsWith(idOf(first).slice(0, 22)))).toBe(true)
  })

  it("as a stream that has nothing but the answer, for a client that takes streams only, has ids too", async () => {
    const { server } = createSteps()
    const { url } = await start(server)
    const headers = { ...(await openSession(url)), accept: "text/event-stream" }
    const stream = await openCall(url, headers, call("quick"))
    await stream.ended
    expect(stream.events.map(({ id = "" }) => id.slice(22))).toEqual([":0", ":1"])
    const again = await resume(url, headers, idOf(stream.events[0]))
    await again.ended
    expect(again.messages).toMatchObject([done])
  })

  it("goes on behind the last event, over another connection, when the first is lost", async () => {
    const { server, gates } = createSteps()
    const { url } = await start(server)
    const headers = await openSession(url)
    const lost = await openCall(url, headers, call("steps"))
    const seen = idOf(await lost.next(isSaid("one")))
    lost.close()
    gates[0].pass()
    const second = await resume(url, headers, seen)
    expect(await second.received(1)).toMatchObject([said("two")])
    gates[1].pass()
    expect(await second.received(2)).toMatchObject([said("two"), done])
    await second.ended
    expect(idOf(second.events[0])).toBe(seen)
  })

  it("is replayed when it was complete before the client came back, as often as it asks", async () => {
    const { server, gates } = createSteps()
    const { url } = await start(server)
    const headers = await openSession(url)
    const stream = await openCall(url, headers, call("steps"))
    for (const gate of gates) gate.pass()
    await stream.ended
    const [prime, one, two, last] = stream.events.map(idOf)
    for (const [from, count] of [
      [prime, 3],
      [prime, 3],
      [one, 2],
      [two, 1],
      [last, 0],
    ] as const) {
      const again = await resume(url, headers, from ?? "")
      await again.ended
      expect(again.messages).toEqual(stream.messages.slice(3 - count))
      expect(again.events.slice(1).map(idOf)).toEqual([one, two, last].slice(3 - count))
    }
  })

  it("is taken over by the newest connection", async () => {
    const { server, gates } = createSteps()
    const { url } = await start(server)
    const headers = await openSession(url)
    const first = await openCall(url, headers, call("steps"))
    const seen = idOf(await first.next(isSaid("one")))
    const second = await resume(url, headers, seen)
    await first.ended
    const third = await resume(url, headers, seen)
    await second.ended
    for (const gate of gates) gate.pass()
    expect(await third.received(2)).toMatchObject([said("two"), done])
    expect([first.messages.length, second.messages.length]).toEqual([1, 0])
  })

  it("carries the server's questions over to the next connection, and takes their answers", async () => {
    const gate = createGate()
    const ask = tool("ask", {}, async (_, ctx) => {
      ctx.log.info("one")
      await gate.passed
      return `${(await ctx.roots()).length} roots`
    })
    const { url } = await start(createServer({ name: "s", version: "1", tools: [ask] }))
    const opened = await post(url, initializeRequest(0, "2025-11-25", { roots: {} }))
    const headers = { "mcp-session-id": String(opened.headers["mcp-session-id"]) }
    const lost = await openCall(url, headers, call("ask"))
    const seen = idOf(await lost.next(isSaid("one")))
    lost.close()
    gate.pass()
    const second = await resume(url, headers, seen)
    const [question] = await second.received(1)
    await post(url, { jsonrpc: "2.0", id: question?.["id"], result: { roots: [] } }, headers)
    expect((await second.received(2))[1]).toMatchObject({ result: { content: [{ text: "0 roots" }] } })
  })

  it("that was cancelled ends without a response, on whatever connection it has", async () => {
    const { server } = createSteps()
    const { url } = await start(server)
    const headers = await openSession(url)
    const lost = await openCall(url, headers, call("steps"))
    const seen = idOf(await lost.next(isSaid("one")))
    lost.close()
    const second = await resume(url, headers, seen)
    await post(url, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } }, headers)
    await second.ended
    expect(second.messages).toEqual([])
  })
})

describe("ctx.disconnect", () => {
  it.each([
    { late: false, retryMs: undefined, expected: [1_000] },
    { late: false, retryMs: 250, expected: [250] },
    { late: true, retryMs: undefined, expected: [1_000] },
    { late: true, retryMs: 250, expected: [1_000, 250] },
  ])(
    "closes the connection behind an event with an id and a time, and the call goes on (%j)",
    async ({ late, retryMs, expected }) => {
      const { server, gates, letGo } = createSteps()
      const { url } = await start(server)
      const headers = await openSession(url)
      const stream = await openCall(
        url,
        headers,
        call("parting", { late, ...(retryMs === undefined ? {} : { retryMs }) }),
      )
      await stream.ended
      expect(letGo).toEqual([true])
      expect(stream.messages).toHaveLength(late ? 1 : 0)
      expect(stream.events.flatMap(({ retry }) => retry ?? [])).toEqual(expected)
      const polling = await resume(url, headers, idOf(stream.events.at(-1)))
      gates[0].pass()
      expect(await polling.received(2)).toMatchObject([said("two"), done])
      await polling.ended
    },
  )

  it.each([-1, 0.5, Number.NaN])("takes no such time as %d", async (retryMs) => {
    const errors: unknown[] = []
    const parting = tool("parting", {}, (_, ctx) => {
      try {
        ctx.disconnect({ retryMs })
      } catch (error) {
        errors.push(error)
      }
      return "done"
    })
    const { url } = await start(createServer({ name: "s", version: "1", tools: [parting] }))
    expect((await post(url, call("parting"), await openSession(url))).json).toMatchObject(done)
    expect(errors).toMatchObject([{ kind: "misuse", reason: "invalid_option" }])
  })

  it("may be done again on the next connection", async () => {
    const gates = [createGate(), createGate()]
    const parting = tool("parting", {}, async (_, ctx) => {
      for (const gate of gates) {
        ctx.disconnect()
        await gate.passed
      }
      return "done"
    })
    const { url } = await start(createServer({ name: "s", version: "1", tools: [parting] }))
    const headers = await openSession(url)
    const first = await openCall(url, headers, call("parting"))
    await first.ended
    const second = await resume(url, headers, idOf(first.events.at(-1)))
    gates[0]?.pass()
    await second.ended
    gates[1]?.pass()
    const third = await resume(url, headers, idOf(second.events.at(-1)))
    expect(await third.received(1)).toMatchObject([done])
  })

  it.each<[string, (letGo: boolean[], server: Server) => Promise<unknown>]>([
    [
      "in revision 2025-06-18",
      async (_, server) => {
        const { url } = await start(server)
        return post(url, call("parting", { late: true }), await openSession(url, "2025-06-18"))
      },
    ],
    [
      "where nothing is kept",
      async (_, server) => {
        const { url } = await start(server, { resumable: false })
        return post(url, call("parting", { late: true }), await openSession(url))
      },
    ],
    [
      "for a client that takes JSON only",
      async (_, server) => {
        const { url } = await start(server)
        return post(url, call("parting", { late: true }), { ...(await openSession(url)), accept: "application/json" })
      },
    ],
    [
      "without sessions",
      async (_, server) => {
        const { url } = await start(server, { sessions: false })
        return post(url, call("parting", { late: true }), { "mcp-protocol-version": "2025-11-25" })
      },
    ],
    [
      "in the modern era",
      async (_, server) => {
        const { url } = await start(server)
        const message = modernRequest(1, "tools/call", { name: "parting", arguments: { late: true } })
        const stream = await openModern(url, message)
        return stream.received(1).then((messages) => ({ json: messages.at(-1) }))
      },
    ],
    [
      "on a pipe",
      async (_, server) => ({
        json: await link(server).legacy("tools/call", { name: "parting", arguments: { late: true } }),
      }),
    ],
  ])("does nothing %s", async (_, ask) => {
    const { server, gates, letGo } = createSteps()
    gates[0].pass()
    const reply = (await ask(letGo, server)) as Reply
    expect(letGo).toEqual([false])
    expect(reply.json).toMatchObject({ result: done.result })
  })
})

describe("a client that comes back", () => {
  async function lose(url: string, headers: Headers): Promise<string> {
    const stream = await openCall(url, headers, call("steps"))
    const seen = idOf(await stream.next(isSaid("one")))
    stream.close()
    return seen
  }

  it.each<[string, (seen: string) => string]>([
    ["never was", () => "dead"],
    ["names another stream", (seen) => `${"A".repeat(22)}${seen.slice(22)}`],
    ["was never sent", (seen) => `${seen.slice(0, 22)}:7`],
    ["is no position", (seen) => `${seen.slice(0, 22)}:-1`],
    ["is padded", (seen) => `${seen.slice(0, 22)}:01`],
    ["is beyond every number", (seen) => `${seen.slice(0, 22)}:${"9".repeat(30)}`],
  ])("is told that its session is unknown when the event %s", async (_, toId) => {
    const { server } = createSteps()
    const { url } = await start(server)
    const headers = await openSession(url)
    const seen = await lose(url, headers)
    const get = (more: Headers): Promise<Reply> =>
      send(url, { method: "GET", headers: { accept: "text/event-stream", ...headers, ...more } })
    const unknown = await get({ "mcp-session-id": "dead", "last-event-id": seen })
    const reply = await get({ "last-event-id": toId(seen) })
    expect([reply.status, reply.text]).toEqual([404, unknown.text])
  })

  it("gets nothing of another session's stream, nor of another principal's, and the owner loses nothing", async () => {
    const { server, gates } = createSteps()
    const auth: Authenticate = ({ header }) => ({ id: header("authorization") ?? "nobody" })
    const { url } = await start(server, { auth })
    const openAs = async (authorization: string): Promise<Headers> => {
      const { headers } = await post(url, initializeRequest(), { authorization })
      return { "mcp-session-id": String(headers["mcp-session-id"]), authorization }
    }
    const [ada, other, eve] = [await openAs("ada"), await openAs("ada"), await openAs("eve")]
    const seen = await lose(url, ada)
    const thieves = [other, eve, { ...ada, authorization: "eve" }]
    for (const headers of thieves) {
      const reply = await send(url, {
        method: "GET",
        headers: { accept: "text/event-stream", "last-event-id": seen, ...headers },
      })
      expect(reply.status).toBe(404)
    }
    const stream = await resume(url, ada, seen)
    for (const gate of gates) gate.pass()
    expect(await stream.received(2)).toMatchObject([said("two"), done])
  })

  it("gets the messages of its own stream only, not those of another of the same session", async () => {
    const { server, gates } = createSteps()
    const { url } = await start(server)
    const headers = await openSession(url)
    const [first, second] = [
      await openCall(url, headers, call("steps")),
      await openCall(url, headers, { ...call("steps"), id: 2 }),
    ]
    const seen = idOf(await first.next(isSaid("one")))
    await second.received(1)
    for (const stream of [first, second]) stream.close()
    for (const gate of gates) gate.pass()
    const again = await resume(url, headers, seen)
    expect(await again.received(2)).toMatchObject([said("two"), done])
    await again.ended
  })

  it("is too late once its events are forgotten, or were too many", async () => {
    const { server, gates } = createSteps()
    const clock = createManualClock()
    const { url } = await start(server, { clock, limits: { eventTtlMs: 60_000, maxStreamBytes: 500 } })
    const headers = await openSession(url)
    const stream = await openCall(url, headers, call("steps"))
    for (const gate of gates) gate.pass()
    await stream.ended
    const ids = stream.events.map(idOf)
    expect((await resume(url, headers, ids[0] ?? "")).status).toBe(404)
    expect((await resume(url, headers, ids[2] ?? "")).status).toBe(200)
    clock.advance(60_000)
    expect((await resume(url, headers, ids[2] ?? "")).status).toBe(404)
  })

  it("loses its streams with its session", async () => {
    const { server } = createSteps()
    const { url } = await start(server)
    const headers = await openSession(url)
    const seen = await lose(url, headers)
    await send(url, { method: "DELETE", headers })
    expect((await resume(url, headers, seen)).status).toBe(404)
  })
})

describe("a standby stream of 2025-11-25", () => {
  it("begins with an id to come back with, and goes on behind it with what was said in between", async () => {
    const { server } = createSteps()
    const clock = createManualClock()
    const { url } = await start(server, { clock })
    const headers = await openSession(url)
    const first = await openStream(url, { headers })
    const prime = await first.next(() => first.events.length === 1)
    expect(prime).toEqual({ id: expect.stringMatching(/:0$/), retry: 1_000, data: "" })
    server.changed("tools")
    await first.received(1)
    first.close()
    server.changed("prompts")
    await Promise.resolve()
    const second = await resume(url, headers, idOf(first.events.at(-1)))
    expect(await second.received(1)).toEqual([{ jsonrpc: "2.0", method: "notifications/prompts/list_changed" }])
    clock.advance(1_000)
    server.changed("tools")
    await second.received(2)
  })

  it("that said nothing is found again however late", async () => {
    const { server } = createSteps()
    const clock = createManualClock()
    const { url } = await start(server, { clock, limits: { eventTtlMs: 60_000 } })
    const headers = await openSession(url)
    const first = await openStream(url, { headers })
    const prime = await first.next(() => first.events.length === 1)
    clock.advance(120_000)
    const second = await resume(url, headers, idOf(prime))
    await first.ended
    server.changed("tools")
    expect(await second.received(1)).toHaveLength(1)
  })
})

describe.each<[string, string, ServeOptions]>([
  ["revision 2025-06-18", "2025-06-18", {}],
  ["a server with resumable: false", "2025-11-25", { resumable: false }],
])("%s", (_, version, options) => {
  it("has no event ids and no events without data", async () => {
    const { server, gates } = createSteps()
    const { url } = await start(server, options)
    const headers = await openSession(url, version)
    const standby = await openStream(url, { headers })
    open.push(() => standby.close())
    const stream = await openCall(url, headers, call("steps"))
    for (const gate of gates) gate.pass()
    await stream.ended
    server.changed("tools")
    await standby.received(1)
    const events = [...stream.events, ...standby.events]
    expect(events.every(({ id, retry, data }) => id === undefined && retry === undefined && data !== "")).toBe(true)
    expect(stream.events[0]).toEqual({})
  })

  it("takes a last event id for nothing said", async () => {
    const { server } = createSteps()
    const { url } = await start(server, options)
    const stream = await resume(url, await openSession(url, version), `${"A".repeat(22)}:1`)
    expect(stream.status).toBe(200)
    server.changed("tools")
    await stream.received(1)
  })
})

describe("an event store of one's own", () => {
  function createStore(): EventStore & { readonly streams: Map<string, StreamEvent[]> } {
    const streams = new Map<string, StreamEvent[]>()
    return {
      streams,
      append: (stream, event) => Promise.resolve(void streams.set(stream, [...(streams.get(stream) ?? []), event])),
      after: async (stream, position) => streams.get(stream)?.filter((event) => event.position > position),
    }
  }

  it("is asked for what was missed, though it answers later", async () => {
    const { server, gates } = createSteps()
    const { url } = await start(server, { resumable: createStore() })
    const headers = await openSession(url)
    const lost = await openCall(url, headers, call("steps"))
    const seen = idOf(await lost.next(isSaid("one")))
    lost.close()
    gates[0].pass()
    const again = await resume(url, headers, seen)
    gates[1].pass()
    expect(await again.received(2)).toMatchObject([said("two"), done])
  })

  it("gives another node what was said so far, and the client comes back there until the answer is in", async () => {
    const { server, gates } = createSteps()
    const [store, clock] = [createStore(), createManualClock()]
    const values = new Map<string, string>()
    const sessions = {
      get: (key: string) => ({ value: values.get(key) ?? "", version: "1" }),
      set: (key: string, value: string) => values.set(key, value).has(key),
      delete: (key: string) => values.delete(key),
    }
    const nodes = await Promise.all([1, 2].map(() => start(server, { resumable: store, store: sessions, clock })))
    const [here = "", there = ""] = nodes.map(({ url }) => url)
    const headers = await openSession(here)
    const lost = await openCall(here, headers, call("steps"))
    const seen = idOf(await lost.next(isSaid("one")))
    lost.close()
    gates[0].pass()
    await untilKept(store.streams, 2)
    const first = await resume(there, headers, seen)
    await first.ended
    expect(first.messages).toMatchObject([said("two")])
    gates[1].pass()
    await untilKept(store.streams, 3)
    const second = await resume(there, headers, idOf(first.events.at(-1)))
    await second.ended
    expect(second.messages).toMatchObject([done])
  })

  it("that fails is reported, and the stream goes on", async () => {
    const lines: string[] = []
    const log = (message: string): void => void lines.push(message)
    const logger = { debug: log, info: log, warn: log, error: log }
    const failing: EventStore = {
      append: () => Promise.reject(new Error("down")),
      after: () => Promise.reject(new Error("down")),
    }
    const noisy = tool("noisy", {}, (_, ctx) => {
      ctx.log.info("one")
      return "done"
    })
    const { url } = await start(createServer({ name: "s", version: "1", tools: [noisy], logger }), {
      resumable: failing,
    })
    const headers = await openSession(url)
    const stream = await openCall(url, headers, call("noisy"))
    expect(await stream.received(2)).toMatchObject([said("one"), done])
    const reply = await send(url, {
      method: "GET",
      headers: { accept: "text/event-stream", ...headers, "last-event-id": idOf(stream.events[0]) },
    })
    expect(reply.status).toBe(500)
    expect(reply.text).not.toContain("down")
    expect(new Set(lines)).toEqual(new Set(["the event store failed", "a store failed"]))
  })
})

/** Waits until the store has so many events of a stream. */
async function untilKept(streams: ReadonlyMap<string, readonly StreamEvent[]>, count: number): Promise<void> {
  while (![...streams.values()].some((events) => events.length === count)) {
    await new Promise((resolve) => setImmediate(resolve))
  }
}
