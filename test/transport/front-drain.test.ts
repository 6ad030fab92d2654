/** Going down at every HTTP door: what is still answered, what is refused, and what is cut. */
import { getEventListeners } from "node:events"
import { createServer, fail, tool } from "conduit-mcp"
import type { HttpOptions } from "conduit-mcp/node"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { createManualClock } from "../support/clock.js"
import { doors, type OpenDoor } from "../support/doors.js"
import type { Reply } from "../support/http.js"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** What the tool `wait` is told, and what ends it. */
let stage: { entered: Promise<AbortSignal>; enter: (signal: AbortSignal) => void; done: Promise<void>; end: () => void }
beforeEach(() => {
  let enter: (signal: AbortSignal) => void = () => {}
  let end: () => void = () => {}
  const entered = new Promise<AbortSignal>((resolve) => {
    enter = resolve
  })
  const done = new Promise<void>((resolve) => {
    end = resolve
  })
  stage = { entered, enter, done, end }
})

const server = createServer({
  name: "drain",
  version: "1.0.0",
  logger: quiet,
  tools: [
    tool("hello", {}, () => "hello"),
    tool("wait", {}, async (_, ctx) => {
      stage.enter(ctx.signal)
      await stage.done
      return "waited"
    }),
    tool("ask", {}, async (_, ctx) => {
      const answer = await ctx.elicit("Name?", z.object({ name: z.string() }))
      return answer.action === "accept" ? answer.content.name : fail("no")
    }),
  ],
})

/** Resolves once the server tells of something. */
function heard(event: "server.stream.start" | "server.input_asked"): Promise<void> {
  return new Promise((resolve) => {
    const end = server.on(event, () => {
      end()
      resolve()
    })
  })
}

const hello = modernRequest(1, "tools/call", { name: "hello" })
const wait = modernRequest(2, "tools/call", { name: "wait" })
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" }

const open: OpenDoor[] = []
afterEach(async () => {
  stage.end()
  for (const door of open.splice(0)) await door.close()
})

describe.each(doors)("at the door of %s", (name, openDoor) => {
  async function start(options: HttpOptions = {}) {
    const clock = createManualClock()
    const door = await openDoor(server, { clock, sessions: true, ...options })
    open.push(door)
    const legacy = (message: Json, headers: Record<string, string> = {}): Promise<Reply> =>
      door.send({ headers: { ...JSON_HEADERS, ...headers }, body: JSON.stringify(message) })
    const openSession = async (capabilities: Json = {}): Promise<Record<string, string>> => {
      const opened = await legacy(initializeRequest(0, "2025-11-25", capabilities))
      return { "mcp-session-id": String(opened.headers["mcp-session-id"]), "mcp-protocol-version": "2025-11-25" }
    }
    return { clock, door, legacy, openSession }
  }

  it("calls that run are answered, and then it is down with nothing cut", async () => {
    const { door } = await start()
    const waiting = door.post(wait)
    const signal = await stage.entered
    const drained = door.drain()
    expect((await door.post(hello)).status).toBe(503)
    expect(signal.aborted).toBe(false)
    stage.end()
    expect((await waiting).json).toMatchObject({ id: 2, result: { content: [{ text: "waited" }] } })
    expect(await drained).toEqual({ cut: 0 })
    expect((await door.post(hello)).status).toBe(503)
  })

  it("new requests are told to go elsewhere, and their connections end", async () => {
    const { door, legacy } = await start()
    await door.drain()
    const replies = [await door.post(hello), await legacy(initializeRequest()), await legacy(hello, NEWEST)]
    for (const reply of replies) {
      expect(reply.status).toBe(503)
      expect(reply.headers["retry-after"]).toBe("1")
      expect(reply.json).toMatchObject({ error: { code: -32603, data: { reason: "draining" } } })
      if (name === "node") expect(reply.headers.connection).toBe("close")
    }
    expect(replies[0]?.json["id"]).toBe(1)
  })

  it("what takes longer than it may is aborted and answered with an error, and counted", async () => {
    const { clock, door } = await start()
    const waiting = door.post(wait)
    const signal = await stage.entered
    const drained = door.drain(3_000)
    clock.advance(2_999)
    expect(signal.aborted).toBe(false)
    clock.advance(1)
    expect(await drained).toEqual({ cut: 1 })
    expect(signal.reason).toMatchObject({ name: "AbortError" })
    const reply = await waiting
    expect(reply.json).toMatchObject({ id: 2, error: { code: -32603, data: { reason: "draining" } } })
    expect(reply.headers["retry-after"]).toBeUndefined()
  })

  it("the time is that of limits.drainMs unless another is given", async () => {
    const { clock, door } = await start({ limits: { drainMs: 2_000 } })
    const waiting = door.post(wait)
    await stage.entered
    const drained = door.drain()
    clock.advance(2_000)
    expect(await drained).toEqual({ cut: 1 })
    await waiting
  })

  it("asked again, it answers the same", async () => {
    const { clock, door } = await start()
    const waiting = door.post(wait)
    await stage.entered
    const first = door.drain(1_000)
    const second = door.drain(60_000)
    clock.advance(1_000)
    expect(await Promise.all([first, second, door.drain()])).toEqual([{ cut: 1 }, { cut: 1 }, { cut: 1 }])
    await waiting
  })

  it("stopping it cuts the drain short", async () => {
    const { door } = await start()
    const waiting = door.post(wait)
    const signal = await stage.entered
    const drained = door.drain()
    door.stop()
    expect(await drained).toEqual({ cut: 1 })
    expect(signal.aborted).toBe(true)
    expect((await waiting).json).toMatchObject({ error: { data: { reason: "draining" } } })
  })

  it("begins when the signal aborts, which is listened to no longer than that", async () => {
    const stop = new AbortController()
    const { door } = await start({ signal: stop.signal })
    expect((await door.post(hello)).status).toBe(200)
    const waiting = door.post(wait)
    await stage.entered
    stop.abort()
    expect((await door.post(hello)).status).toBe(503)
    stage.end()
    expect((await waiting).status).toBe(200)
    const { signal } = new AbortController()
    const { door: closed } = await start({ signal })
    expect(getEventListeners(signal, "abort")).toHaveLength(1)
    closed.stop()
    expect(getEventListeners(signal, "abort")).toHaveLength(0)
  })

  it("streams of changes end with their result", async () => {
    const { door } = await start()
    const listen = modernRequest("l", "subscriptions/listen", { notifications: { toolsListChanged: true } })
    const opened = heard("server.stream.start")
    const listening = door.post(listen)
    await opened
    expect(await door.drain()).toEqual({ cut: 0 })
    const { messages } = await listening
    expect(messages.at(-1)).toMatchObject({
      id: "l",
      result: { _meta: { "io.modelcontextprotocol/subscriptionId": "l" } },
    })
  })

  it("a legacy call that waits for its client still hears of the answer", async () => {
    const { door, legacy, openSession } = await start()
    const session = await openSession({ elicitation: {} })
    const asked = heard("server.input_asked")
    const asking = legacy(legacyRequest(7, "tools/call", { name: "ask" }), session)
    await asked
    const drained = door.drain()
    expect((await legacy(legacyRequest(9, "ping"), session)).status).toBe(503)
    const answer = { jsonrpc: "2.0", id: 1, result: { action: "accept", content: { name: "Ada" } } }
    expect((await legacy(answer, session)).status).toBe(202)
    expect((await asking).json).toMatchObject({ id: 7, result: { content: [{ text: "Ada" }] } })
    expect(await drained).toEqual({ cut: 0 })
  })

  it("no stream is opened to stand by, and sessions can still be ended", async () => {
    const { door, openSession } = await start()
    const session = await openSession()
    await door.drain()
    const standby = await door.send({ method: "GET", headers: { accept: "text/event-stream", ...session } })
    expect(standby.status).toBe(503)
    expect(standby.json).toMatchObject({ error: { data: { reason: "draining" } } })
  })
})

const NEWEST = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "hello" }
