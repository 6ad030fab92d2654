/** Clients that do not read what they are sent: how much waits for them, for how long, and what becomes of their calls. */
import { once } from "node:events"
import { createServer as createHttpServer, type IncomingMessage, request } from "node:http"
import type { AddressInfo, Socket } from "node:net"
import { createServer, tool } from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { createNodeHandler, type HttpOptions } from "conduit-mcp/node"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { createManualClock } from "../support/clock.js"
import { postModern } from "../support/http.js"
import { createRecordingLogger } from "../support/logger.js"
import { type Json, modernHeaders, modernRequest } from "../support/wire.js"

const logger = createRecordingLogger()
const PIECE = "x".repeat(100_000)
/** More than the buffers of a connection hold. */
const PIECES = 300

/** What the tools of the running test have done. */
let signal: AbortSignal | undefined
let sent = 0
let hear: (signal: AbortSignal) => void = () => {}
let aborted = Promise.resolve<AbortSignal | undefined>(undefined)
beforeEach(() => {
  signal = undefined
  sent = 0
  aborted = new Promise((resolve) => {
    hear = resolve
  })
})

function watch(ctx: { readonly signal: AbortSignal }): AbortSignal {
  const { signal: own } = ctx
  signal = own
  own.addEventListener("abort", () => hear(own))
  return own
}

const server = createServer({
  name: "readers",
  version: "1.0.0",
  logger,
  tools: [
    tool("flood", {}, async (_, ctx) => {
      const own = watch(ctx)
      for (; !own.aborted && sent < PIECES; sent++) {
        ctx.progress(sent + 1, undefined, PIECE)
        await new Promise(setImmediate)
      }
      return "flooded"
    }),
    tool("polite", {}, async (_, ctx) => {
      const own = watch(ctx)
      for (; !own.aborted && sent < PIECES; sent++) {
        ctx.progress(sent + 1, undefined, PIECE)
        await ctx.flush()
      }
      return "sent"
    }),
    tool("burst", {}, async (_, ctx) => {
      for (; sent < PIECES; sent++) ctx.progress(sent + 1, undefined, PIECE)
      return "sent"
    }),
    tool("large", {}, () => "x".repeat(32 << 20)),
    tool("hello", {}, () => "hello"),
  ],
})

const call = (name: string): Json => modernRequest(1, "tools/call", { name, _meta: { progressToken: 1 } })

const open: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of open.splice(0)) await close()
})

describe("at the door of node", () => {
  async function start(options: HttpOptions) {
    const sockets: Socket[] = []
    const handler = createNodeHandler(server, options)
    const http = createHttpServer(handler).on("connection", (socket: Socket) => sockets.push(socket))
    http.listen(0, "127.0.0.1")
    await once(http, "listening")
    open.push(async () => {
      handler.close()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    })
    return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`, sockets }
  }

  /** Calls a tool and reads nothing but the head of its answer. */
  async function ignore(url: string, name: string): Promise<IncomingMessage> {
    const message = call(name)
    const accept = "application/json, text/event-stream"
    const headers = { "content-type": "application/json", accept, ...modernHeaders(message) }
    const outgoing = request(url, { method: "POST", headers, agent: false })
    outgoing.on("error", () => {})
    outgoing.end(JSON.stringify(message))
    const [incoming] = (await once(outgoing, "response")) as [IncomingMessage]
    incoming.on("error", () => {}).pause()
    return incoming
  }

  it("a stream for which too much waits is dropped, and its call aborted", async () => {
    const { url } = await start({ limits: { maxBufferedBytes: 1 << 20 } })
    const incoming = await ignore(url, "flood")
    expect((await aborted)?.reason).toMatchObject({ name: "AbortError" })
    expect(sent).toBeLessThan(PIECES)
    expect(logger.lines.at(-1)).toMatchObject({ level: "warn", message: expect.stringContaining("dropped") })
    expect((await postModern(url, call("hello"))).status).toBe(200)
    incoming.destroy()
  })

  it("a reader that takes nothing of a stream for too long loses it, though its handler waits politely", async () => {
    const { url } = await start({ limits: { writeTimeoutMs: 50 } })
    const incoming = await ignore(url, "polite")
    expect((await aborted)?.aborted).toBe(true)
    expect(sent).toBeLessThan(PIECES)
    incoming.destroy()
  })

  it.each([
    ["a large answer", "large"],
    ["a stream whose call is over", "burst"],
  ])("a reader that takes nothing of %s loses its connection", async (_what, name) => {
    const { url, sockets } = await start({ limits: { writeTimeoutMs: 50, maxBufferedBytes: 1 << 30 } })
    const incoming = await ignore(url, name)
    const [socket] = sockets
    if (socket?.destroyed === false) await once(socket, "close")
    expect(socket?.destroyed).toBe(true)
    incoming.destroy()
  })

  it("a reader that reads gets everything, however much that is", async () => {
    const { url } = await start({ limits: { writeTimeoutMs: 5_000, maxBufferedBytes: 1 << 20 } })
    expect((await postModern(url, call("large"))).text.length).toBeGreaterThan(32 << 20)
    const { json } = await postModern(url, call("polite"))
    expect(json).toMatchObject({ id: 1, result: { content: [{ text: "sent" }] } })
  })
})

describe("at the door of fetch", () => {
  async function start(options: HttpOptions) {
    const clock = createManualClock()
    const handler = createFetchHandler(server, { clock, ...options })
    open.push(async () => handler.close())
    const fetch = (name: string): Promise<Response> => {
      const message = call(name)
      const accept = "application/json, text/event-stream"
      const headers = { "content-type": "application/json", accept, ...modernHeaders(message) }
      return handler(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body: JSON.stringify(message) }))
    }
    return { clock, fetch }
  }

  it("a stream for which too much waits is dropped, and its call aborted", async () => {
    const { fetch } = await start({ limits: { maxBufferedBytes: 1 << 20 } })
    const response = await fetch("flood")
    expect((await aborted)?.reason).toMatchObject({ name: "AbortError" })
    expect(sent).toBeLessThan(20)
    expect(logger.lines.at(-1)).toMatchObject({ level: "warn", message: expect.stringContaining("dropped") })
    await expect(response.text()).rejects.toThrow(/does not read/)
  })

  it("a reader that takes nothing of a stream for too long loses it, though its handler waits politely", async () => {
    const { clock, fetch } = await start({ limits: { writeTimeoutMs: 1_000 } })
    const response = await fetch("polite")
    await new Promise(setImmediate)
    clock.advance(1_000)
    expect((await aborted)?.aborted).toBe(true)
    expect(sent).toBeLessThan(3)
    await expect(response.text()).rejects.toThrow(/does not read/)
  })

  it("a reader that takes something in time keeps it", async () => {
    const { clock, fetch } = await start({ limits: { writeTimeoutMs: 1_000 } })
    const reader = (await fetch("polite")).body?.getReader()
    for (let turn = 0; turn < 20; turn++) {
      await new Promise(setImmediate)
      clock.advance(999)
      expect((await reader?.read())?.done).toBe(false)
    }
    expect(signal?.aborted).toBe(false)
    await reader?.cancel()
    expect(signal?.aborted).toBe(true)
  })
})
