import { type Authenticate, createServer, type Server, tool } from "conduit-mcp"
import { type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { createManualClock } from "../support/clock.js"
import { post, type Reply, send } from "../support/http.js"
import { type EventStream, openStream } from "../support/stream.js"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const echo = tool("echo", {}, (_, ctx) => {
  ctx.log.info("at it")
  return `echo for ${ctx.principal?.id ?? "anybody"} in ${ctx.revision}`
})
const ask = tool("ask", {}, async (_, ctx) => `${(await ctx.roots()).length} roots`)

function fullServer(): Server {
  return createServer({ name: "s", version: "1", tools: [echo, ask] })
}

async function start(
  options: ServeOptions = {},
  server = fullServer(),
): Promise<Running & { readonly origin: string }> {
  const running = await serve(server, { port: 0, sse: true, ...options })
  open.push(() => running.close())
  return { ...running, origin: new URL(running.url).origin }
}

/** A client of the transport: its stream, and where it posts to. */
interface Connected {
  readonly stream: EventStream
  readonly messagesUrl: string
  post(message: unknown, headers?: Record<string, string>): Promise<Reply>
}

async function connect(origin: string, headers: Record<string, string> = {}): Promise<Connected> {
  const stream = await openStream(`${origin}/sse`, { headers })
  open.push(() => stream.close())
  const { data = "" } = await stream.next(({ event }) => event === "endpoint")
  const messagesUrl = new URL(data, `${origin}/sse`).href
  return { stream, messagesUrl, post: (message, more = headers) => post(messagesUrl, message, more) }
}

/** The messages behind the endpoint event. */
const messagesOf = ({ events }: EventStream): readonly Json[] =>
  events.flatMap(({ event, data }) => (event === undefined && data !== undefined ? [JSON.parse(data) as Json] : []))

async function received({ stream }: Connected, count: number): Promise<readonly Json[]> {
  await stream.next(() => messagesOf(stream).length >= count)
  return messagesOf(stream)
}

describe("HTTP+SSE", () => {
  it("is not offered unless it is asked for", async () => {
    const { origin } = await start({ sse: false })
    for (const path of ["/sse", "/messages?sessionId=x"]) {
      expect((await send(origin + path, { method: "GET", headers: { accept: "text/event-stream" } })).status).toBe(404)
    }
  })

  it("says first where messages are posted to, then answers them on the stream", async () => {
    const { origin } = await start()
    const client = await connect(origin)
    expect(client.stream.headers["content-type"]).toBe("text/event-stream")
    expect(new URL(client.messagesUrl).pathname).toBe("/messages")
    const reply = await client.post(initializeRequest(0, "2024-11-05"))
    expect([reply.status, reply.text]).toEqual([202, ""])
    expect(await received(client, 1)).toMatchObject([{ id: 0, result: { protocolVersion: "2025-11-25" } }])
    await client.post({ jsonrpc: "2.0", method: "notifications/initialized" })
    await client.post(legacyRequest(1, "tools/call", { name: "echo" }))
    expect((await received(client, 3)).slice(1)).toMatchObject([
      { method: "notifications/message" },
      { id: 1, result: { content: [{ text: "echo for anybody in 2025-11-25" }] } },
    ])
  })

  it("carries the server's questions, and changes", async () => {
    const server = fullServer()
    const { origin } = await start({}, server)
    const client = await connect(origin)
    await client.post(initializeRequest(0, "2025-06-18", { roots: {} }))
    await client.post(legacyRequest(1, "tools/call", { name: "ask" }))
    const question = (await received(client, 2))[1]
    expect(question).toMatchObject({ method: "roots/list" })
    await client.post({ jsonrpc: "2.0", id: question?.["id"], result: { roots: [] } })
    expect((await received(client, 3))[2]).toMatchObject({ id: 1, result: { content: [{ text: "0 roots" }] } })
    server.changed("tools")
    expect((await received(client, 4))[3]).toMatchObject({ method: "notifications/tools/list_changed" })
  })

  it("keeps clients apart, though all use the same ids", async () => {
    const { origin } = await start()
    const clients = await Promise.all([1, 2, 3].map(() => connect(origin)))
    await Promise.all(clients.map((client) => client.post(initializeRequest(0))))
    for (const client of clients) expect(await received(client, 1)).toHaveLength(1)
    expect(new Set(clients.map(({ messagesUrl }) => messagesUrl)).size).toBe(3)
  })

  it.each<[string, unknown, Record<string, string>, number, object]>([
    ["what is no JSON", "{", {}, 400, { code: -32700 }],
    ["a batch", [], {}, 400, { code: -32600 }],
    ["another media type", "{}", { "content-type": "text/plain" }, 415, { code: -32600 }],
    [
      "a message of the modern era",
      modernRequest(1, "tools/list"),
      {},
      400,
      { code: -32022, data: { supported: ["2025-11-25", "2025-06-18"] } },
    ],
    ["a page of another origin", initializeRequest(), { origin: "http://evil.example.com" }, 403, { code: -32600 }],
    ["another host", initializeRequest(), { host: "evil.example.com" }, 403, { code: -32600 }],
  ])("refuses %s where it is posted", async (_, message, headers, status, error) => {
    const { origin } = await start()
    const client = await connect(origin)
    const reply = await client.post(message, headers)
    expect(reply.status).toBe(status)
    expect(reply.json["error"]).toMatchObject(error)
    expect(messagesOf(client.stream)).toEqual([])
  })

  it("refuses a body that is too large", async () => {
    const { origin } = await start({ limits: { maxBodyBytes: 100 } })
    const client = await connect(origin)
    expect((await client.post(legacyRequest(1, "ping", { padding: "x".repeat(200) }))).status).toBe(413)
  })

  it.each([
    ["/sse", "POST", "GET"],
    ["/sse", "DELETE", "GET"],
    ["/messages", "GET", "POST"],
  ])("takes on %s no %s", async (path, method, allow) => {
    const { origin } = await start()
    const reply = await send(origin + path, { method, headers: { "content-type": "application/json" } })
    expect([reply.status, reply.headers["allow"]]).toEqual([405, allow])
  })

  it("is not for a client that takes no streams", async () => {
    const { origin } = await start()
    expect((await send(`${origin}/sse`, { method: "GET", headers: { accept: "application/json" } })).status).toBe(406)
  })

  it("is nobody else's: a connection of another principal is as good as none", async () => {
    const auth: Authenticate = ({ header }) => {
      const id = header("authorization")
      return id === undefined ? undefined : { id }
    }
    const { origin } = await start({ auth })
    expect((await send(`${origin}/sse`, { method: "GET" })).status).toBe(401)
    const ada = await connect(origin, { authorization: "ada" })
    const foreign = await ada.post(initializeRequest(), { authorization: "eve" })
    const unknown = await post(`${origin}/messages?sessionId=dead`, initializeRequest(), { authorization: "ada" })
    expect((await ada.post(initializeRequest(), {})).status).toBe(401)
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    expect(unknown.status).toBe(404)
    expect((await post(`${origin}/messages`, initializeRequest(), { authorization: "ada" })).status).toBe(404)
    await ada.post(initializeRequest())
    await ada.post(legacyRequest(1, "tools/call", { name: "echo" }))
    expect((await received(ada, 3))[2]).toMatchObject({ result: { content: [{ text: "echo for ada in 2025-11-25" }] } })
  })

  it("has limits.maxSseConnections connections, and one more once another is gone", async () => {
    const { origin } = await start({ limits: { maxSseConnections: 2 } })
    const [first] = [await connect(origin), await connect(origin)]
    const refused = await send(`${origin}/sse`, { method: "GET" })
    expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "1"])
    first?.stream.close()
    let status = 503
    while (status === 503) {
      const stream = await openStream(`${origin}/sse`)
      open.push(() => stream.close())
      status = stream.status
    }
    expect(status).toBe(200)
  })

  it("closes a connection after limits.sseLifetimeMs, or when what its caller showed expires", async () => {
    const clock = createManualClock()
    const auth: Authenticate = ({ header }) => {
      const id = header("authorization") ?? "nobody"
      return id === "brief" ? { id, expiresAtMs: clock.now() + 1_000 } : { id }
    }
    const { origin } = await start({ clock, auth, limits: { sseLifetimeMs: 60_000 } })
    const [brief, long] = [await connect(origin, { authorization: "brief" }), await connect(origin)]
    clock.advance(1_000)
    await brief.stream.ended
    expect((await brief.post(initializeRequest())).status).toBe(404)
    expect((await long.post(initializeRequest())).status).toBe(202)
    clock.advance(59_000)
    await long.stream.ended
    expect((await long.post(initializeRequest())).status).toBe(404)
  })

  it("aborts what runs for a client that is gone", async () => {
    let aborted: () => void = () => {}
    const isAborted = new Promise<void>((resolve) => {
      aborted = resolve
    })
    const wait = tool("wait", {}, async (_, ctx) => {
      ctx.signal.addEventListener("abort", () => aborted())
      ctx.log.info("waiting")
      await isAborted
      return "gone"
    })
    const { origin } = await start({}, createServer({ name: "s", version: "1", tools: [wait] }))
    const client = await connect(origin)
    await client.post(initializeRequest())
    await client.post(legacyRequest(1, "tools/call", { name: "wait" }))
    await received(client, 2)
    client.stream.close()
    await isAborted
  })

  it("goes down with the server, which waits for no stream", async () => {
    const running = await start()
    const client = await connect(running.origin)
    await client.post(initializeRequest())
    await received(client, 1)
    await running.drain(60_000)
    await client.stream.ended
  })

  it("leaves the endpoint of the newer revisions as it is", async () => {
    const { url } = await start()
    expect((await post(url, initializeRequest())).status).toBe(200)
  })

  it.each([{ path: "/sse" }, { path: "/messages" }, { healthPath: "/sse" }])(
    "cannot share a path (%j)",
    async (options) => {
      await expect(serve(fullServer(), { port: 0, sse: true, ...options })).rejects.toThrow("/sse or /messages")
    },
  )
})
