/** Who can cancel a call and how, in each era and on each transport, and what is left of it afterwards. */
import { request as httpRequest } from "node:http"
import {
  type CompletionContext,
  type Context,
  createServer,
  type Logger,
  type Middleware,
  prompt,
  resource,
  resourceTemplate,
  type Server,
  tool,
} from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import fc from "fast-check"
import { afterEach, describe, expect, it } from "vitest"
import { openSession, post, postModern } from "../support/http.js"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import { initializeRequest, type Json, modernHeaders, modernRequest } from "../support/wire.js"

const eras = ["modern", "legacy"] as const

/** A promise and the function that fulfils it. */
function signal<T = void>(): { readonly reached: Promise<T>; readonly reach: (value: T) => void } {
  let reach: (value: T) => void = () => {}
  const reached = new Promise<T>((resolve) => {
    reach = resolve
  })
  return { reached, reach }
}

/** A server whose tool `slow` runs until it is released or its signal aborts, and tells both. */
function slowServer() {
  const entered = signal<Context>()
  const aborted = signal<unknown>()
  const released = signal<string>()
  const logger = createRecordingLogger()
  const slow = tool("slow", {}, async (_, ctx) => {
    ctx.signal.addEventListener("abort", () => aborted.reach(ctx.signal.reason))
    entered.reach(ctx)
    return released.reached
  })
  const unheeding = tool("unheeding", {}, async (_, ctx) => {
    entered.reach(ctx)
    return released.reached
  })
  const quick = tool("quick", {}, () => "quick")
  const server = createServer({ name: "test", version: "1.0.0", tools: [slow, unheeding, quick], logger })
  return { server, logger, entered: entered.reached, aborted: aborted.reached, release: released.reach }
}

/** A server where something other than a tool fails, with a request that enters it. */
function failingIn(
  what: "a prompt" | "a resource" | "a completion" | "middleware" | "a handler by hand",
  fail: (aborts: AbortSignal) => Promise<never>,
  logger: Logger,
): { readonly method: string; readonly params: Json; readonly server: Server } {
  const about = { name: "test", version: "1.0.0", logger }
  switch (what) {
    case "a prompt": {
      const prompts = [prompt("fails", {}, (_, { signal }) => fail(signal))]
      return { method: "prompts/get", params: { name: "fails" }, server: createServer({ ...about, prompts }) }
    }
    case "a resource": {
      const resources = [resource("test://fails", { name: "fails" }, ({ signal }) => fail(signal))]
      return {
        method: "resources/read",
        params: { uri: "test://fails" },
        server: createServer({ ...about, resources }),
      }
    }
    case "a completion": {
      const complete = { id: (_: string, { signal }: CompletionContext) => fail(signal) }
      const resources = [resourceTemplate("test://{id}", { name: "fails", complete }, () => "")]
      const ref = { type: "ref/resource", uri: "test://{id}" }
      const params = { ref, argument: { name: "id", value: "" } }
      return { method: "completion/complete", params, server: createServer({ ...about, resources }) }
    }
    case "middleware": {
      const middleware: Middleware = ({ signal }) => fail(signal)
      const server = createServer({
        ...about,
        tools: [tool("none", {}, () => "")],
        middleware: [["tools/list", middleware]],
      })
      return { method: "tools/list", params: {}, server }
    }
    case "a handler by hand": {
      const handlers = { "tools/list": (_: Json, { signal }: Context) => fail(signal) }
      return { method: "tools/list", params: {}, server: createServer({ ...about, handlers }) }
    }
  }
}

const call = (era: (typeof eras)[number], id: string | number, name: string): Json =>
  era === "modern"
    ? modernRequest(id, "tools/call", { name })
    : { jsonrpc: "2.0", id, method: "tools/call", params: { name } }
const cancel = (requestId: unknown, more: Json = {}): Json => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId, ...more },
})

describe.each(eras)("a %s call on a pipe", (era) => {
  const open = async (server: Parameters<typeof link>[0]) => {
    const wire = link(server)
    if (era === "legacy") await wire.request(initializeRequest("open"))
    return wire
  }

  it.each([
    ["a number", 7],
    ["zero", 0],
    ["a text", "call"],
    ["an empty text", ""],
  ])("is cancelled by a notification with its id, %s, and nothing is written for it", async (_, id) => {
    const { server, entered, aborted, release } = slowServer()
    const wire = await open(server)
    wire.send(call(era, id, "slow"))
    await entered
    wire.send(cancel(id, { reason: "the user left" }))
    expect(await aborted).toMatchObject({ name: "AbortError", message: "the user left" })
    release("too late")
    await wire.request(call(era, "after", "quick"))
    expect(wire.received.filter((message) => message["id"] === id)).toEqual([])
  })

  it("is cancelled even when its handler does not listen: its answer, progress and log are dropped", async () => {
    const { server, entered, release, logger } = slowServer()
    const wire = await open(server)
    wire.send(call(era, 1, "unheeding"))
    const ctx = await entered
    wire.send(cancel(1))
    await wire.request(call(era, 2, "quick"))
    ctx.progress(1)
    ctx.log.error("too late")
    release("too late")
    await wire.request(call(era, 3, "quick"))
    expect(wire.received.filter(({ id, method }) => id === 1 || method !== undefined)).toEqual([])
    expect(ctx.signal.aborted).toBe(true)
    expect(logger.lines).toEqual([])
  })

  it("may fail after it was cancelled, and nobody hears of it", async () => {
    const entered = signal<Context>()
    const logger = createRecordingLogger()
    const failing = tool("failing", {}, async (_, ctx) => {
      const over = new Promise<never>((_, reject) =>
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason)),
      )
      entered.reach(ctx)
      return over
    })
    const wire = await open(createServer({ name: "test", version: "1.0.0", tools: [failing], logger }))
    wire.send(call(era, 1, "failing"))
    await entered.reached
    wire.send(cancel(1))
    await wire.request(
      era === "modern" ? modernRequest(2, "tools/list") : { jsonrpc: "2.0", id: 2, method: "tools/list" },
    )
    expect(wire.received.filter(({ id }) => id === 1)).toEqual([])
    expect(logger.lines).toEqual([])
  })

  it.each(["a prompt", "a resource", "a completion", "middleware", "a handler by hand"] as const)(
    "may fail after it was cancelled, and nobody hears of it, in %s too",
    async (what) => {
      const entered = signal()
      const untilAborted = (aborts: AbortSignal): Promise<never> => {
        entered.reach()
        return new Promise((_, reject) => aborts.addEventListener("abort", () => reject(aborts.reason)))
      }
      const logger = createRecordingLogger()
      const { method, params, server } = failingIn(what, untilAborted, logger)
      const wire = await open(server)
      wire.send(era === "modern" ? modernRequest(1, method, params) : { jsonrpc: "2.0", id: 1, method, params })
      await entered.reached
      wire.send(cancel(1))
      await wire.request(call(era, 2, "none"))
      expect(wire.received.filter(({ id }) => id === 1)).toEqual([])
      expect(logger.lines).toEqual([])
    },
  )

  it("says why it was cancelled to a handler that asks later", async () => {
    const { server, entered } = slowServer()
    const wire = await open(server)
    wire.send(call(era, 1, "unheeding"))
    const ctx = await entered
    wire.send(cancel(1, { reason: "the user left" }))
    await wire.request(call(era, 2, "quick"))
    expect(ctx.signal.reason).toMatchObject({ name: "AbortError", message: "the user left" })
  })

  it("gives its id back at once", async () => {
    const { server, entered, release } = slowServer()
    const wire = await open(server)
    wire.send(call(era, 1, "unheeding"))
    await entered
    wire.send(cancel(1))
    expect(await wire.request(call(era, 1, "quick"))).toMatchObject({ result: { content: [{ text: "quick" }] } })
    release("too late")
    await wire.request(call(era, 2, "quick"))
    expect(wire.received.filter(({ id }) => id === 1)).toHaveLength(1)
  })

  it.each<[what: string, message: Json]>([
    ["of an id of another type", cancel("1")],
    ["of an id that is not there", cancel(99)],
    ["of no id", cancel(undefined)],
    ["of null", cancel(null)],
    ["of a fraction", cancel(1.5)],
    ["of a list", cancel([1])],
    ["without params", { jsonrpc: "2.0", method: "notifications/cancelled" }],
  ])("goes on after a cancellation %s, which is not answered", async (_, message) => {
    const { server, entered, release } = slowServer()
    const wire = await open(server)
    wire.send(call(era, 1, "slow"))
    const ctx = await entered
    wire.send(message)
    await wire.request(call(era, 2, "quick"))
    expect(ctx.signal.aborted).toBe(false)
    release("done")
    expect(await wire.next(({ id }) => id === 1)).toMatchObject({ result: { content: [{ text: "done" }] } })
    const expected = era === "legacy" ? ["open", 2, 1] : [2, 1]
    expect(wire.received.map(({ id }) => id)).toEqual(expected)
  })

  it("ends with the pipe", async () => {
    const { server, entered, aborted } = slowServer()
    const wire = await open(server)
    wire.send(call(era, 1, "slow"))
    await entered
    wire.close()
    expect(await aborted).toMatchObject({ name: "AbortError", message: "the connection closed" })
  })

  it("is not cancelled once it was answered", async () => {
    const { server, entered, release } = slowServer()
    const wire = await open(server)
    const answer = wire.request(call(era, 1, "slow"))
    const ctx = await entered
    release("done")
    expect(await answer).toMatchObject({ result: { content: [{ text: "done" }] } })
    wire.send(cancel(1))
    await wire.request(call(era, 2, "quick"))
    expect(ctx.signal.aborted).toBe(false)
  })
})

describe.each(eras)("any order of calls, cancellations and ends on a pipe, in the %s era,", (era) => {
  const step = fc.record({
    act: fc.constantFrom("call", "cancel", "end", "end late"),
    id: fc.constantFrom<(string | number)[]>(0, 1, "0", "1", ""),
  })

  it("answers every call once, unless it was cancelled, and refuses an id only while it is taken", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
        const gates: ((text: string) => void)[] = []
        const slow = tool("slow", {}, () => new Promise<string>((resolve) => gates.push(resolve)))
        const wire = link(createServer({ name: "test", version: "1.0.0", tools: [slow] }))
        if (era === "legacy") await wire.request(initializeRequest("open"))
        const running = new Map<string | number, number>()
        const cancelled: number[] = []
        const expected: unknown[] = []
        for (const { act, id } of steps) {
          const gate = running.get(id)
          if (act === "call") {
            wire.send(call(era, id, "slow"))
            if (gate === undefined) running.set(id, gates.length)
            else expected.push([id, -32600])
          } else if (act === "end late") {
            for (const late of cancelled.splice(0)) gates[late]?.("never heard")
          } else if (gate !== undefined) {
            running.delete(id)
            if (act === "cancel") cancelled.push(gate)
            else expected.push([id, `call ${gate}`])
            if (act === "cancel") wire.send(cancel(id))
            else gates[gate]?.(`call ${gate}`)
          } else if (act === "cancel") wire.send(cancel(id))
          await new Promise((resolve) => setImmediate(resolve))
        }
        const heard = wire.received
          .filter(({ id }) => id !== "open")
          .map(({ id, result, error }) => [
            id,
            (error as { code: number } | undefined)?.code ??
              (result as { content: [{ text: string }] }).content[0].text,
          ])
        expect(heard).toEqual(expected)
      }),
      { numRuns: 60 },
    )
  })
})

describe("both eras on one pipe", () => {
  it("share its ids, so that one may cancel what the other began", async () => {
    const { server, entered, aborted } = slowServer()
    const wire = link(server)
    await wire.request(initializeRequest("open"))
    wire.send(call("legacy", 1, "slow"))
    await entered
    const { requestId, ...params } = (modernRequest(0, "x", { requestId: 1 }) as { params: Json }).params
    wire.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId, ...params } })
    expect(await aborted).toMatchObject({ name: "AbortError" })
  })
})

describe("initialize", () => {
  it("is never cancelled", async () => {
    const wire = link(slowServer().server)
    wire.send(initializeRequest(1))
    wire.send(cancel(1))
    expect(await wire.next(({ id }) => id === 1)).toMatchObject({ result: { protocolVersion: "2025-11-25" } })
  })
})

describe("a call over HTTP", () => {
  const running: Running[] = []
  afterEach(async () => {
    for (const one of running.splice(0)) await one.close()
  })
  const start = async (server: ReturnType<typeof slowServer>["server"], options = {}): Promise<string> => {
    const one = await serve(server, { port: 0, ...options })
    running.push(one)
    return one.url
  }

  /** Posts a message and hands out the way to break the connection off. */
  const begin = (url: string, message: Json, headers: Record<string, string>): (() => void) => {
    const accept = "application/json, text/event-stream"
    const outgoing = httpRequest(url, {
      method: "POST",
      agent: false,
      headers: { "content-type": "application/json", accept, ...headers },
    })
    outgoing.on("error", () => {})
    outgoing.end(JSON.stringify(message))
    return () => void outgoing.destroy()
  }

  it("is cancelled in the modern era when its connection closes, before anything was sent", async () => {
    const { server, entered, aborted } = slowServer()
    const url = await start(server)
    const message = call("modern", 1, "slow")
    const breakOff = begin(url, message, modernHeaders(message))
    await entered
    breakOff()
    expect(await aborted).toMatchObject({ name: "AbortError", message: "the connection closed" })
  })

  it("is cancelled in the modern era when its event stream closes", async () => {
    const { server, entered, aborted } = slowServer()
    const url = await start(server)
    const message = modernRequest(1, "tools/call", { name: "slow", _meta: { progressToken: 1 } })
    const breakOff = begin(url, message, modernHeaders(message))
    const ctx = await entered
    ctx.progress(1)
    await ctx.flush()
    breakOff()
    expect(await aborted).toMatchObject({ name: "AbortError" })
    ctx.progress(2)
    ctx.log.error("nobody is there")
    await ctx.flush()
  })

  it("is cancelled in the modern era for a handler that asks after the connection closed", async () => {
    const { server, entered, release } = slowServer()
    const url = await start(server)
    const message = call("modern", 1, "unheeding")
    const breakOff = begin(url, message, modernHeaders(message))
    const ctx = await entered
    breakOff()
    await expect.poll(() => ctx.signal.aborted, { interval: 1 }).toBe(true)
    release("too late")
  })

  it("is not cancelled in the modern era by a notification, which is accepted", async () => {
    const { server, entered, release } = slowServer()
    const url = await start(server)
    const answer = postModern(url, call("modern", 1, "slow"))
    const ctx = await entered
    const meta = (modernRequest(0, "x") as { params: Json }).params
    const notice = { jsonrpc: "2.0", method: "notifications/cancelled", params: { ...meta, requestId: 1 } }
    const reply = await post(url, notice, { "mcp-protocol-version": "2026-07-28" })
    expect([reply.status, reply.text]).toEqual([202, ""])
    expect(ctx.signal.aborted).toBe(false)
    release("done")
    expect((await answer).json).toMatchObject({ result: { content: [{ text: "done" }] } })
  })

  it("is not cancelled in the legacy era when its connection closes", async () => {
    const { server, entered, release } = slowServer()
    const url = await start(server)
    const session = await openSession(url)
    const breakOff = begin(url, call("legacy", 1, "slow"), session)
    const ctx = await entered
    breakOff()
    const again = await post(url, call("legacy", 2, "quick"), session)
    expect(again.json).toMatchObject({ id: 2, result: { content: [{ text: "quick" }] } })
    expect(ctx.signal.aborted).toBe(false)
    release("done")
  })

  it("is cancelled in the legacy era by a notification in its session, and its POST ends as a stream without an answer", async () => {
    const { server, entered, aborted, release } = slowServer()
    const url = await start(server)
    const session = await openSession(url)
    const answer = post(url, call("legacy", 0, "slow"), session)
    await entered
    const reply = await post(url, cancel(0, { reason: "the user left" }), session)
    expect([reply.status, reply.text]).toEqual([202, ""])
    expect(await aborted).toMatchObject({ message: "the user left" })
    const ended = await answer
    expect(ended.status).toBe(200)
    expect(ended.headers["content-type"]).toBe("text/event-stream")
    expect(ended.messages).toEqual([])
    release("too late")
  })

  it("ends for a client that accepts JSON only, too", async () => {
    const { server, entered } = slowServer()
    const url = await start(server)
    const session = await openSession(url)
    const answer = post(url, call("legacy", 1, "slow"), { ...session, accept: "application/json" })
    await entered
    await post(url, cancel(1), session)
    const ended = await answer
    expect([ended.status, ended.text]).toEqual([202, ""])
  })

  it("is not cancelled from another session, whatever the id", async () => {
    const { server, entered, release } = slowServer()
    const url = await start(server)
    const [mine, theirs] = [await openSession(url), await openSession(url)]
    const answer = post(url, call("legacy", 1, "slow"), mine)
    const ctx = await entered
    await post(url, cancel(1), theirs)
    await post(url, call("legacy", 2, "quick"), theirs)
    expect(ctx.signal.aborted).toBe(false)
    release("done")
    expect((await answer).json).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } })
  })

  it.each([
    ["modern", {}],
    ["legacy", {}],
    ["legacy without sessions", { sessions: false }],
  ])("is cancelled when the server stops: %s", async (what, options) => {
    const { server, entered, aborted } = slowServer()
    const one = await serve(server, { port: 0, ...options })
    const message = call(what === "modern" ? "modern" : "legacy", 1, "slow")
    const headers =
      what === "modern"
        ? modernHeaders(message)
        : what === "legacy"
          ? await openSession(one.url)
          : { "mcp-protocol-version": "2025-11-25" }
    begin(one.url, message, headers)
    const ctx = await entered
    await one.close()
    expect(await aborted).toMatchObject({ name: "AbortError" })
    expect(ctx.signal.aborted).toBe(true)
  })
})
