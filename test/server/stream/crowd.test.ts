/** Many streams at once: everybody hears, and whatever is abandoned is freed. */
import { fileURLToPath } from "node:url"
import { createServer, type Server, tool } from "conduit-mcp"
import { serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { type Child, startScript } from "../../support/child.js"
import { openSession, post } from "../../support/http.js"
import { link } from "../../support/link.js"
import { type EventStream, openModern, openStream } from "../../support/stream.js"
import { type Json, legacyRequest, modernRequest } from "../../support/wire.js"

const COUNT = 1_000
const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const echoServer = (): Server => createServer({ name: "s", version: "1", tools: [tool("echo", {}, () => "echo")] })

const listen = (id: number): Json =>
  modernRequest(id, "subscriptions/listen", { notifications: { toolsListChanged: true } })

/** Makes `count` things, a hundred at a time. */
async function inBatches<T>(count: number, make: (index: number) => Promise<T>): Promise<T[]> {
  const made: T[] = []
  while (made.length < count) {
    const size = Math.min(100, count - made.length)
    made.push(...(await Promise.all(Array.from({ length: size }, (_, index) => make(made.length + index)))))
  }
  return made
}

describe("a change", () => {
  it("reaches all of 1,000 listeners over HTTP, none twice", { timeout: 60_000 }, async () => {
    const server = echoServer()
    const { url, close } = await serve(server, { port: 0 })
    open.push(close)
    const streams = await inBatches(COUNT, (index) => openModern(url, listen(index)))
    await Promise.all(streams.map((stream) => stream.received(1)))
    server.changed("tools")
    await Promise.all(streams.map((stream) => stream.received(2)))
    await post(url, listen(0), { accept: "application/json" })
    expect(new Set(streams.map(({ messages }) => messages.length))).toEqual(new Set([2]))
    expect(streams.map(({ messages }) => subscriptionOf(messages[1]))).toEqual(streams.map((_, index) => index))
    for (const stream of streams) stream.close()
  })

  it("reaches all of 1,000 listeners on a pipe, none twice", { timeout: 60_000 }, async () => {
    const server = echoServer()
    const raw = link(server, { limits: { maxListensPerPeer: COUNT } })
    for (let id = 0; id < COUNT; id++) raw.send(listen(id))
    await raw.next(({ params }) => subscriptionOf({ params }) === COUNT - 1)
    server.changed("tools")
    await raw.next((message) => message["method"] === CHANGED && subscriptionOf(message) === COUNT - 1)
    await raw.modern("tools/list")
    const told = raw.received.filter(({ method }) => method === CHANGED).map(subscriptionOf)
    expect(told).toEqual(Array.from({ length: COUNT }, (_, id) => id))
  })
})

const CHANGED = "notifications/tools/list_changed"

function subscriptionOf(message: Json | undefined): unknown {
  const params = message?.["params"] as Json | undefined
  return (params?.["_meta"] as Json | undefined)?.["io.modelcontextprotocol/subscriptionId"]
}

describe("the memory of a server", () => {
  async function startLoad(limits: object = {}): Promise<{ readonly child: Child; readonly url: string }> {
    const script = fileURLToPath(new URL("../../load/server.js", import.meta.url))
    const child = startScript(script, { LIMITS: JSON.stringify(limits), NODE_OPTIONS: "--expose-gc" })
    open.push(async () => {
      child.process.kill()
      await child.ended
    })
    const url = (await child.printing(/\n/)).trim()
    return { child, url }
  }

  async function heapOf({ process, printed, printing }: Child): Promise<number> {
    const lines = printed.stdout.split("\n").length
    process.stdin.write("memory\n")
    const text = await printing(new RegExp(`^(?:.*\\n){${lines}}`))
    const { heapUsed } = JSON.parse(text.split("\n").at(-2) ?? "{}") as { readonly heapUsed: number }
    return heapUsed
  }

  /** Looks until no more than a tenth of what was taken is left. */
  async function untilReturned(child: Child, before: number, during: number, age = (): unknown => 0): Promise<void> {
    for (;;) {
      age()
      const now = await heapOf(child)
      if (now - before < (during - before) / 10) return
    }
  }

  it("returns when 1,000 listen streams are abandoned", { timeout: 60_000 }, async () => {
    const { child, url } = await startLoad()
    const openAll = (): Promise<EventStream[]> =>
      inBatches(COUNT, async (index) => {
        const stream = await openModern(url, listen(index))
        await stream.received(1)
        return stream
      })
    for (const stream of await openAll()) stream.close()
    const before = await heapOf(child)
    const streams = await openAll()
    const during = await heapOf(child)
    expect(during - before).toBeLessThan(COUNT * 40 * 1024)
    for (const stream of streams) stream.close()
    await untilReturned(child, before, during)
  })

  it("returns when 1,000 sessions with a standby stream, subscriptions and a lost answer are abandoned", {
    timeout: 60_000,
  }, async () => {
    const { child, url } = await startLoad()
    const openAll = (): Promise<Record<string, string>[]> =>
      inBatches(COUNT, async () => {
        const headers = await openSession(url)
        const standby = await openStream(url, { headers })
        const subscribed = await post(url, legacyRequest(1, "resources/subscribe", { uri: "note://1" }), headers)
        expect(subscribed.json).toMatchObject({ result: {} })
        const call = await openStream(url, {
          message: legacyRequest(2, "tools/call", { name: "echo" }),
          headers: { ...headers, accept: "text/event-stream" },
        })
        for (const stream of [standby, call]) stream.close()
        return headers
      })
    const age = (): unknown => child.process.stdin.write("advance 3600000\n")
    await openAll()
    age()
    const before = await heapOf(child)
    const sessions = await openAll()
    const during = await heapOf(child)
    await untilReturned(child, before, during, age)
    age()
    for (const headers of sessions.slice(0, 10)) {
      expect((await post(url, legacyRequest(3, "ping"), headers)).status).toBe(404)
    }
  })
})
