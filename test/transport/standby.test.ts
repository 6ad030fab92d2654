import {
  type Authenticate,
  createServer,
  type EndpointOptions,
  prompt,
  resource,
  resourceTemplate,
  type Server,
  tool,
} from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { createManualClock } from "../support/clock.js"
import { openSession, post, send } from "../support/http.js"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import { type EventStream, openStream } from "../support/stream.js"
import { initializeRequest, type Json, legacyRequest } from "../support/wire.js"

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const versions = ["2025-11-25", "2025-06-18"] as const

function fullServer(): Server {
  return createServer({
    name: "s",
    version: "1",
    tools: [tool("echo", {}, () => "echo")],
    resources: [
      resource("file:///readme.md", { name: "readme" }, () => "# hi"),
      resourceTemplate("page://{id}", { name: "page" }, ({ id }) => id),
    ],
    prompts: [prompt("hello", {}, () => "hello")],
  })
}

async function start(server: Server, options: ServeOptions = {}): Promise<Running> {
  const running = await serve(server, { port: 0, ...options })
  open.push(() => running.close())
  return running
}

type SessionHeaders = Readonly<Record<string, string>>

async function standBy(url: string, headers: SessionHeaders, more: SessionHeaders = {}): Promise<EventStream> {
  const stream = await openStream(url, { headers: { ...headers, ...more } })
  open.push(() => stream.close())
  return stream
}

const listChanged = (list: string): Json => ({ jsonrpc: "2.0", method: `notifications/${list}/list_changed` })
const updated = (uri: string): Json => ({ jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri } })

const byName: Authenticate = ({ header }) => ({ id: header("authorization") ?? "nobody" })

describe.each(versions)("the standby stream of %s", (version) => {
  it("opens at once and stays open", async () => {
    const { url } = await start(fullServer())
    const stream = await standBy(url, await openSession(url, version))
    expect(stream.status).toBe(200)
    expect(stream.headers["content-type"]).toBe("text/event-stream")
    await stream.next(() => stream.events.length > 0)
    expect(stream.messages).toEqual([])
  })

  it("says what changes, in the shape of the legacy era", async () => {
    const server = fullServer()
    const { url } = await start(server)
    const headers = await openSession(url, version)
    const stream = await standBy(url, headers)
    await post(url, legacyRequest(1, "resources/subscribe", { uri: "page://1" }), headers)
    server.changed("tools")
    server.changed("prompts")
    server.changed("resources")
    server.updated("page://1")
    server.updated("page://2")
    expect(await stream.received(4)).toEqual([
      listChanged("tools"),
      listChanged("prompts"),
      listChanged("resources"),
      updated("page://1"),
    ])
  })

  it("is kept open by comments, and its session with it", async () => {
    const clock = createManualClock()
    const { url } = await start(fullServer(), { clock, limits: { sessionIdleMs: 60_000, keepAliveMs: 15_000 } })
    const [heard, idle] = [await openSession(url, version), await openSession(url, version)]
    const stream = await standBy(url, heard)
    for (let step = 0; step < 40; step++) clock.advance(15_000)
    await stream.next(() => stream.events.some(({ data }) => data === undefined))
    expect((await post(url, legacyRequest(1, "ping"), heard)).status).toBe(200)
    expect((await post(url, legacyRequest(1, "ping"), idle)).status).toBe(404)
    stream.close()
    let status = 200
    while (status !== 404) {
      clock.advance(60_000)
      status = (await post(url, legacyRequest(1, "ping"), heard)).status
    }
  })

  it("gets each message on exactly one of its connections, at most four, the oldest ended", async () => {
    const server = fullServer()
    const { url } = await start(server)
    const headers = await openSession(url, version)
    const streams: EventStream[] = []
    for (let count = 0; count < 5; count++) streams.push(await standBy(url, headers))
    await streams[0]?.ended
    server.changed("tools")
    await streams[4]?.received(1)
    server.changed("prompts")
    await streams[4]?.received(2)
    expect(streams.map(({ messages }) => messages.length)).toEqual([0, 0, 0, 0, 2])
    streams[4]?.close()
    server.changed("resources")
    await untilHeard(server, streams.slice(1, 4))
  })

  it.each<[string, SessionHeaders, number]>([
    ["an unknown session", { "mcp-session-id": "dead" }, 404],
    ["no session", {}, 405],
    ["the modern era", { "mcp-session-id": "dead", "mcp-protocol-version": "2026-07-28" }, 405],
  ])("is not there for %s", async (_, headers, status) => {
    const { url } = await start(fullServer())
    const reply = await send(url, { method: "GET", headers: { accept: "text/event-stream", ...headers } })
    expect(reply.status).toBe(status)
  })

  it("is not for a client that takes no streams", async () => {
    const { url } = await start(fullServer())
    const headers = { ...(await openSession(url, version)), accept: "application/json" }
    expect((await send(url, { method: "GET", headers })).status).toBe(406)
  })

  it("is nobody else's: another principal is told what an unknown session is told, and the owner's stays", async () => {
    const server = fullServer()
    const { url } = await start(server, { auth: byName })
    const ada = { authorization: "ada" }
    const reply = await post(url, initializeRequest(0, version), ada)
    const headers = { "mcp-session-id": String(reply.headers["mcp-session-id"]), "mcp-protocol-version": version }
    const stream = await standBy(url, headers, ada)
    const accept = { accept: "text/event-stream" }
    const foreign = await send(url, { method: "GET", headers: { ...headers, ...accept, authorization: "eve" } })
    const unknown = await send(url, {
      method: "GET",
      headers: { ...headers, ...accept, ...ada, "mcp-session-id": "dead" },
    })
    expect([foreign.status, foreign.text]).toEqual([404, unknown.text])
    expect(unknown.status).toBe(404)
    server.changed("tools")
    expect(await stream.received(1)).toEqual([listChanged("tools")])
  })

  it("ends with its session, and with the server", async () => {
    const running = await start(fullServer())
    const [first, second] = [await openSession(running.url, version), await openSession(running.url, version)]
    const streams = [await standBy(running.url, first), await standBy(running.url, second)]
    await send(running.url, { method: "DELETE", headers: first })
    await streams[0]?.ended
    await running.close()
    await streams[1]?.ended
  })

  it("ends when what its caller showed expires", async () => {
    const clock = createManualClock()
    const auth: Authenticate = () => ({ id: "ada", expiresAtMs: clock.now() + 1_000 })
    const { url } = await start(fullServer(), { auth, clock })
    const stream = await standBy(url, await openSession(url, version))
    clock.advance(1_000)
    await stream.ended
  })

  it("carries no requests of the server: those stay on the stream of their call", async () => {
    const asking = tool("ask", {}, async (_, ctx) => {
      const answer = await ctx.roots()
      return `${answer.length} roots`
    })
    const { url } = await start(createServer({ name: "s", version: "1", tools: [asking] }))
    const { headers } = await post(url, initializeRequest(0, version, { roots: {} }))
    const session = { "mcp-session-id": String(headers["mcp-session-id"]), "mcp-protocol-version": version }
    const standby = await standBy(url, session)
    const call = await openStream(url, { message: legacyRequest(1, "tools/call", { name: "ask" }), headers: session })
    open.push(() => call.close())
    const [question] = await call.received(1)
    expect(question).toMatchObject({ method: "roots/list" })
    await post(url, { jsonrpc: "2.0", id: question?.["id"], result: { roots: [] } }, session)
    expect((await call.received(2))[1]).toMatchObject({ id: 1, result: { content: [{ text: "0 roots" }] } })
    expect(standby.messages).toEqual([])
  })
})

/** Says that something changed until one of the streams hears of it. */
async function untilHeard(server: Server, streams: readonly EventStream[]): Promise<void> {
  const heard = Promise.race(streams.map((stream) => stream.received(1)))
  let isOver = false
  void heard.then(() => {
    isOver = true
  })
  while (!isOver) {
    server.changed("resources")
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe.each(versions)("resources/subscribe of %s", (version) => {
  const subscribe = (uri: unknown, method = "resources/subscribe"): Json => legacyRequest(1, method, { uri })

  it("is declared with sessions, and is not there without", async () => {
    const { url } = await start(fullServer())
    const changes = { listChanged: true }
    const reply = await post(url, initializeRequest(0, version))
    expect(reply.json["result"]).toMatchObject({
      capabilities: { tools: changes, prompts: changes, resources: { ...changes, subscribe: true }, logging: {} },
    })
    const bare = await start(fullServer(), { sessions: false })
    const { json } = await post(bare.url, initializeRequest(0, version))
    expect(JSON.stringify(json)).not.toMatch(/listChanged|subscribe|logging/)
    for (const method of ["resources/subscribe", "resources/unsubscribe"]) {
      const refused = await post(bare.url, subscribe("page://1", method), { "mcp-protocol-version": version })
      expect(refused.json).toMatchObject({ id: 1, error: { code: -32601 } })
    }
    const got = await send(bare.url, { method: "GET", headers: { accept: "text/event-stream" } })
    expect([got.status, got.headers["allow"]]).toEqual([405, "POST"])
  })

  it.each<[string, Json, object]>([
    ["of a resource that is there", subscribe("file:///readme.md"), { result: {} }],
    ["of a resource of a template", subscribe("page://7"), { result: {} }],
    [
      "of a resource that is not there",
      subscribe("file:///none"),
      { error: { code: -32002, data: { uri: "file:///none" } } },
    ],
    ["of something that is no uri", subscribe("none"), { error: { code: -32002 } }],
    ["without a uri", subscribe(undefined), { error: { code: -32602 } }],
    ["the end of one that never was", subscribe("file:///none", "resources/unsubscribe"), { result: {} }],
    ["an end without a uri", subscribe(1, "resources/unsubscribe"), { error: { code: -32602 } }],
  ])("%s is answered", async (_, message, expected) => {
    const { url } = await start(fullServer())
    const { json } = await post(url, message, await openSession(url, version))
    expect(json).toMatchObject({ id: 1, ...expected })
  })

  it("is not for a resource that the caller cannot see", async () => {
    const secret = resource("file:///secret", { name: "secret" }, () => "hush")
    const seen = resource("file:///seen", { name: "seen" }, () => "hello")
    const canSee = ({ kind, listed }: { readonly kind: string; readonly listed: { readonly name: string } }): boolean =>
      kind === "resource" && listed.name === "seen"
    const raw = link(createServer({ name: "s", version: "1", resources: [secret, seen], canSee }))
    const hidden = await raw.legacy("resources/subscribe", { uri: "file:///secret" }, version)
    expect(hidden).toMatchObject({ error: { code: -32002 } })
    expect(await raw.legacy("resources/subscribe", { uri: "file:///seen" }, version)).toMatchObject({ result: {} })
  })

  it("ends with resources/unsubscribe", async () => {
    const server = fullServer()
    const raw = link(server)
    await raw.legacy("resources/subscribe", { uri: "page://1" }, version)
    server.updated("page://1")
    await raw.next(({ method }) => method === "notifications/resources/updated")
    await raw.legacy("resources/unsubscribe", { uri: "page://1" }, version)
    server.updated("page://1")
    server.changed("tools")
    await raw.next(({ method }) => method === "notifications/tools/list_changed")
    expect(raw.received.filter(({ method }) => method === "notifications/resources/updated")).toHaveLength(1)
  })

  it.each<[string, EndpointOptions["limits"]]>([
    ["for each session", { maxSubscriptionsPerPeer: 2 }],
    ["in total", { maxSubscriptions: 2 }],
  ])("is bounded %s", async (_, limits) => {
    const raw = link(fullServer(), { limits: { ...limits } })
    for (const uri of ["page://1", "page://2", "page://2"]) {
      expect(await raw.legacy("resources/subscribe", { uri }, version)).toMatchObject({ result: {} })
    }
    const full = await raw.legacy("resources/subscribe", { uri: "page://3" }, version)
    expect(full).toMatchObject({ error: { code: -32603, data: { reason: "overloaded" } } })
    await raw.legacy("resources/unsubscribe", { uri: "page://1" }, version)
    expect(await raw.legacy("resources/subscribe", { uri: "page://3" }, version)).toMatchObject({ result: {} })
  })

  it("of one session is not heard in another", async () => {
    const server = fullServer()
    const { url } = await start(server)
    const [first, second] = [await openSession(url, version), await openSession(url, version)]
    const streams = [await standBy(url, first), await standBy(url, second)]
    await post(url, subscribe("page://1"), first)
    server.updated("page://1")
    server.changed("tools")
    expect((await streams[0]?.received(2))?.map(({ method }) => method)).toHaveLength(2)
    expect(await streams[1]?.received(1)).toEqual([listChanged("tools")])
  })
})

describe("a legacy client on a pipe", () => {
  it.each(versions)("hears of changes as soon as it is initialized (%s)", async (version) => {
    const server = fullServer()
    const raw = link(server)
    server.changed("tools")
    await raw.legacy("ping", undefined, version)
    server.changed("prompts")
    expect(await raw.next(({ method }) => method !== undefined)).toEqual(listChanged("prompts"))
  })

  it("hears nothing once it is gone", async () => {
    const server = fullServer()
    const raw = link(server)
    await raw.legacy("ping")
    raw.close()
    server.changed("prompts")
    await Promise.resolve()
    expect(raw.received.some(({ method }) => method !== undefined)).toBe(false)
  })
})

describe("a server written by hand", () => {
  const handlers = {
    "resources/list": () => ({ resources: [] }),
    "resources/subscribe": ({ uri }: { readonly uri?: unknown }) => {
      if (uri === "no:way") throw new Error("not for you")
      return {}
    },
  }

  it("tells what it declares, of what its handler allowed", async () => {
    const capabilities = { resources: { subscribe: true }, prompts: { listChanged: true }, tools: {} }
    const server = createServer({ name: "s", version: "1", handlers, capabilities, logger: createRecordingLogger() })
    const raw = link(server)
    expect(await raw.legacy("resources/subscribe", { uri: "a:b" })).toMatchObject({ result: {} })
    expect(await raw.legacy("resources/subscribe", { uri: "no:way" })).toMatchObject({ error: { code: -32603 } })
    server.changed("tools")
    server.updated("no:way")
    server.changed("prompts")
    server.updated("a:b")
    await raw.next(({ method }) => method === "notifications/resources/updated")
    expect(raw.received.filter(({ method }) => method !== undefined)).toEqual([listChanged("prompts"), updated("a:b")])
  })

  it("has no subscriptions that it does not declare", async () => {
    const raw = link(createServer({ name: "s", version: "1", handlers, capabilities: { resources: {} } }))
    expect(await raw.legacy("resources/subscribe", { uri: "a:b" })).toMatchObject({ error: { code: -32601 } })
  })
})

describe("a fetch handler with sessions", () => {
  it("has standby streams too", async () => {
    const server = fullServer()
    const handler = createFetchHandler(server, { sessions: true })
    const url = "http://localhost/mcp"
    const opened = await handler(
      new Request(url, {
        method: "POST",
        body: JSON.stringify(initializeRequest()),
        headers: { "content-type": "application/json", accept: "application/json, text/event-stream" },
      }),
    )
    const id = opened.headers.get("mcp-session-id") ?? ""
    const response = await handler(new Request(url, { headers: { accept: "text/event-stream", "mcp-session-id": id } }))
    expect(response.status).toBe(200)
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ""
    server.changed("tools")
    while (!text.includes("list_changed")) text += (await reader?.read())?.value ?? ""
    await reader?.cancel()
  })

  it("and none without", async () => {
    const handler = createFetchHandler(fullServer())
    const headers = { accept: "text/event-stream", "mcp-session-id": "x" }
    const response = await handler(new Request("http://localhost/mcp", { headers }))
    expect(response.status).toBe(405)
  })
})
