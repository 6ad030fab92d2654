import {
  type Authenticate,
  type Bus,
  type Change,
  createServer,
  type EndpointOptions,
  McpError,
  type Principal,
  prompt,
  resource,
  resourceTemplate,
  type Server,
  tool,
} from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import type { Endpoint } from "../../src/core/exchange.js"
import { Outlet } from "../../src/server/stream/outlet.js"
import { createManualClock, type ManualClock } from "../support/clock.js"
import { post, postModern } from "../support/http.js"
import { link, type RawLink } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import { type EventStream, openModern } from "../support/stream.js"
import { initializeRequest, type Json, modernHeaders, modernRequest } from "../support/wire.js"

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

const readme = resource("file:///readme.md", { name: "readme" }, () => "# hi")
const page = resourceTemplate("page://{id}", { name: "page" }, ({ id }) => id)
const echo = tool("echo", {}, () => "echo")
const hello = prompt("hello", {}, () => "hello")

function fullServer(): Server {
  return createServer({ name: "s", version: "1", tools: [echo], resources: [readme, page], prompts: [hello] })
}

/** A listen stream, whichever wire it came over. */
interface Listening {
  /** Everything that belongs to the stream, in order: notifications, and the result. */
  readonly heard: () => readonly Json[]
  /** Resolves with that once it is so much. */
  received(count: number): Promise<readonly Json[]>
  /** Lets go of it in the way of the client. */
  cancel(): void
}

interface Wire {
  readonly name: string
  open(server: Server, options?: EndpointOptions): Promise<(id: string | number, filter: Json) => Promise<Listening>>
}

const http: Wire = {
  name: "HTTP",
  async open(server, options = {}) {
    const { url } = await start(server, options)
    return async (id, notifications) => {
      const stream = await openModern(url, modernRequest(id, "subscriptions/listen", { notifications }))
      open.push(() => stream.close())
      return { heard: () => stream.messages, received: (count) => stream.received(count), cancel: () => stream.close() }
    }
  },
}

const memory: Wire = {
  name: "a pipe",
  open(server, options = {}) {
    const raw = link(server, options)
    open.push(() => raw.close())
    return Promise.resolve((id, notifications) => {
      raw.send(modernRequest(id, "subscriptions/listen", { notifications }))
      return Promise.resolve(listeningOn(raw, id))
    })
  },
}

const fetched: Wire = {
  name: "a fetch handler",
  open(server, options = {}) {
    const handler = createFetchHandler(server, options)
    open.push(() => handler.close())
    return Promise.resolve(async (id, notifications) => {
      const message = modernRequest(id, "subscriptions/listen", { notifications })
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...modernHeaders(message),
      }
      const request = new Request("http://localhost/mcp", { method: "POST", headers, body: JSON.stringify(message) })
      return readingFrom(await handler(request))
    })
  },
}

/** Reads a response as it comes. */
function readingFrom(response: Response): Listening {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  const isStream = response.headers.get("content-type") === "text/event-stream"
  let text = ""
  const heard = (): readonly Json[] =>
    isStream
      ? [...text.matchAll(/^data: (.+)$/gm)].map(([, data = ""]) => JSON.parse(data) as Json)
      : [JSON.parse(text) as Json]
  open.push(() => reader?.cancel())
  return {
    heard,
    async received(count) {
      for (;;) {
        if (text !== "" && heard().length >= count) return heard()
        const { value, done } = (await reader?.read()) ?? { value: undefined, done: true }
        if (done) throw new Error(`the response ended before ${count} messages came: ${text}`)
        text += value
      }
    },
    cancel: () => void reader?.cancel(),
  }
}

async function start(server: Server, options: ServeOptions = {}): Promise<Running> {
  const running = await serve(server, { port: 0, ...options })
  open.push(() => running.close())
  return running
}

function idOf({ id, params, result }: Json): unknown {
  const meta = ((params ?? result) as Json | undefined)?.["_meta"] as Json | undefined
  return meta?.[SUBSCRIPTION] ?? id
}

function listeningOn(raw: RawLink, id: string | number): Listening {
  const heard = (): readonly Json[] => raw.received.filter((message) => idOf(message) === id)
  return {
    heard,
    async received(count) {
      await raw.next(() => heard().length >= count)
      return heard()
    },
    cancel: () => raw.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: id } }),
  }
}

const changed = (list: string, id: string | number): Json => ({
  jsonrpc: "2.0",
  method: `notifications/${list}/list_changed`,
  params: { _meta: { [SUBSCRIPTION]: id } },
})
const updated = (uri: string, id: string | number): Json => ({
  jsonrpc: "2.0",
  method: "notifications/resources/updated",
  params: { _meta: { [SUBSCRIPTION]: id }, uri },
})
const acknowledged = (id: string | number, notifications: Json): Json => ({
  jsonrpc: "2.0",
  method: "notifications/subscriptions/acknowledged",
  params: { _meta: { [SUBSCRIPTION]: id }, notifications },
})
const ended = (id: string | number): Json => ({
  jsonrpc: "2.0",
  id,
  result: {
    resultType: "complete",
    _meta: { [SUBSCRIPTION]: id, "io.modelcontextprotocol/serverInfo": { name: "s", version: "1" } },
  },
})
const cancelled = (id: string | number): Json => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { _meta: { [SUBSCRIPTION]: id }, requestId: id },
})

describe.each([http, fetched, memory])("on $name", (wire) => {
  it.each([1, "1", "", 0, 1_723_000_000_000])(
    "a stream is acknowledged first, and everything on it carries its id (%j)",
    async (id) => {
      const server = fullServer()
      const listen = await wire.open(server)
      const filter = {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: ["file:///readme.md", "page://7"],
      }
      const stream = await listen(id, filter)
      await stream.received(1)
      server.changed("tools")
      server.changed("prompts")
      server.changed("resources")
      server.updated("file:///readme.md")
      server.updated("page://7")
      expect(await stream.received(6)).toEqual([
        acknowledged(id, filter),
        changed("tools", id),
        changed("prompts", id),
        changed("resources", id),
        updated("file:///readme.md", id),
        updated("page://7", id),
      ])
    },
  )

  it.each<[string, Server, Json, Json]>([
    [
      "only what is asked for",
      fullServer(),
      { toolsListChanged: true, promptsListChanged: false },
      { toolsListChanged: true },
    ],
    [
      "only lists that the server has",
      createServer({ name: "s", version: "1", prompts: [hello] }),
      { toolsListChanged: true, promptsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ["a:b"] },
      { promptsListChanged: true },
    ],
    [
      "only resources that the caller can read, each once",
      fullServer(),
      {
        toolsListChanged: true,
        resourceSubscriptions: ["file:///readme.md", "file:///other", "page://1", "page://1", "not a uri"],
      },
      { toolsListChanged: true, resourceSubscriptions: ["file:///readme.md", "page://1"] },
    ],
    [
      "by hand only what is declared",
      createServer({
        name: "s",
        version: "1",
        handlers: {},
        capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, prompts: {} },
      }),
      {
        toolsListChanged: true,
        promptsListChanged: true,
        resourcesListChanged: true,
        resourceSubscriptions: ["any:thing"],
      },
      { toolsListChanged: true, resourceSubscriptions: ["any:thing"] },
    ],
  ])("%s is honoured", async (_, server, asked, honoured) => {
    const stream = await (await wire.open(server))(1, asked)
    expect(await stream.received(1)).toEqual([acknowledged(1, honoured)])
  })

  it("a stream hears nothing that it did not ask for", async () => {
    const server = fullServer()
    const listen = await wire.open(server)
    const [prompts, all] = [
      await listen(1, { promptsListChanged: true }),
      await listen(2, { toolsListChanged: true, resourceSubscriptions: ["page://1"] }),
    ]
    await Promise.all([prompts.received(1), all.received(1)])
    server.changed("tools")
    server.updated("page://1")
    server.updated("page://2")
    await all.received(3)
    server.changed("prompts")
    expect(await prompts.received(2)).toEqual([acknowledged(1, { promptsListChanged: true }), changed("prompts", 1)])
    expect(all.heard()).toHaveLength(3)
  })

  it.each([
    {},
    { toolsListChanged: false },
    { resourceSubscriptions: [] },
    { resourceSubscriptions: ["file:///none"] },
  ])("a stream that hears of nothing (%j) is acknowledged and over at once", async (filter) => {
    const listen = await wire.open(fullServer())
    const stream = await listen(1, filter)
    expect(await stream.received(2)).toEqual([acknowledged(1, {}), ended(1)])
  })

  it.each<[string, unknown]>([
    ["no filter", undefined],
    ["a list", []],
    ["a wrong member", { toolsListChanged: "yes" }],
    ["a wrong uri", { resourceSubscriptions: [1] }],
  ])("%s is invalid", async (_, notifications) => {
    const listen = await wire.open(fullServer())
    const stream = await listen(1, notifications as Json)
    expect(await stream.received(1)).toMatchObject([
      { id: 1, error: { code: -32602, data: { reason: "invalid_params" } } },
    ])
  })

  it("nobody hears of what the caller cannot see", async () => {
    const server = createServer({
      name: "s",
      version: "1",
      tools: [echo],
      resources: [readme, page],
      canSee: (definition) => definition.kind === "resource",
    })
    const stream = await (await wire.open(server))(1, {
      toolsListChanged: true,
      resourceSubscriptions: ["file:///readme.md", "page://1"],
    })
    const honoured = { resourceSubscriptions: ["file:///readme.md"] }
    expect(await stream.received(1)).toEqual([acknowledged(1, honoured)])
  })

  it("middleware goes around a stream, and may refuse it", async () => {
    const server = fullServer()
    const seen: string[] = []
    server.use("subscriptions/listen", async (call, next) => {
      if (call.id === 2) throw new McpError("not for you", { kind: "protocol", reason: "forbidden", code: -32602 })
      seen.push("opened")
      const reply = await next()
      seen.push("closed")
      return reply
    })
    const listen = await wire.open(server)
    const stream = await listen(1, { toolsListChanged: true })
    await stream.received(1)
    expect(await (await listen(2, { toolsListChanged: true })).received(1)).toMatchObject([
      { id: 2, error: { code: -32602, message: "not for you" } },
    ])
    server.changed("tools")
    expect(await stream.received(2)).toHaveLength(2)
    expect(seen).toEqual(["opened"])
    stream.cancel()
    while (seen.length < 2) await new Promise((resolve) => setImmediate(resolve))
    expect(stream.heard()).toHaveLength(2)
  })

  it("what is added, changed and removed at run time is heard", async () => {
    const server = fullServer()
    const clock = createManualClock()
    const stream = await (await wire.open(server, { clock }))(1, {
      toolsListChanged: true,
      promptsListChanged: true,
      resourcesListChanged: true,
    })
    await stream.received(1)
    const steps: readonly (readonly [() => unknown, string])[] = [
      [() => server.tool("more", {}, () => "more"), "tools"],
      [() => server.resource("a:b", { name: "b" }, () => "b"), "resources"],
      [() => server.resourceTemplate("c:{d}", { name: "d" }, () => "d"), "resources"],
      [() => server.prompt("more", {}, () => "more").remove(), "prompts"],
    ]
    for (const [index, [step, list]] of steps.entries()) {
      clock.advance(1_000)
      step()
      expect((await stream.received(index + 2)).at(-1)).toEqual(changed(list, 1))
    }
  })

  it("a burst of the same change is heard once at once, and once behind it", async () => {
    const server = fullServer()
    const clock = createManualClock()
    const stream = await (await wire.open(server, { clock, limits: { coalesceMs: 100 } }))(1, {
      toolsListChanged: true,
    })
    await stream.received(1)
    for (let count = 0; count < 10_000; count++) server.changed("tools")
    await stream.received(2)
    for (let count = 0; count < 10_000; count++) server.changed("tools")
    clock.advance(100)
    await stream.received(3)
    clock.advance(100)
    server.changed("tools")
    expect(await stream.received(4)).toHaveLength(4)
  })

  it("the client ends a stream, and the place is free at once", async () => {
    const server = fullServer()
    const listen = await wire.open(server, { limits: { maxListens: 1 } })
    const first = await listen(1, { toolsListChanged: true })
    await first.received(1)
    expect(await (await listen(2, { toolsListChanged: true })).received(1)).toMatchObject([
      { id: 2, error: { code: -32603 } },
    ])
    first.cancel()
    await untilAccepted(async (id) => (await listen(id, { toolsListChanged: true })).received(1))
    server.changed("tools")
    expect(first.heard()).toHaveLength(1)
  })

  it("streams may be as many as limits.maxListens says, and resources as limits.maxSubscriptions", async () => {
    const listen = await wire.open(fullServer(), { limits: { maxListens: 3, maxSubscriptions: 2 } })
    await (await listen(1, { resourceSubscriptions: ["page://1", "page://2"] })).received(1)
    const full = await listen(2, { resourceSubscriptions: ["page://1"] })
    expect(await full.received(1)).toMatchObject([{ id: 2, error: { code: -32603, data: { reason: "overloaded" } } }])
    for (const id of [3, 4]) await (await listen(id, { toolsListChanged: true })).received(1)
    const refused = await listen(5, { toolsListChanged: true })
    expect(await refused.received(1)).toMatchObject([
      { id: 5, error: { code: -32603, data: { reason: "overloaded" } } },
    ])
  })

  it("one stream watches no more resources than limits.maxSubscriptionsPerPeer", async () => {
    const listen = await wire.open(fullServer(), { limits: { maxSubscriptionsPerPeer: 2 } })
    const stream = await listen(1, { resourceSubscriptions: ["page://1", "page://2", "page://3"] })
    expect(await stream.received(1)).toMatchObject([{ id: 1, error: { code: -32602 } }])
  })

  it("streams take no place among the requests that are worked on", async () => {
    const listen = await wire.open(fullServer(), { limits: { maxInFlight: 1 } })
    for (const id of [1, 2, 3]) await (await listen(id, { toolsListChanged: true })).received(1)
    expect(await (await listen(4, { toolsListChanged: true })).received(1)).toEqual([
      acknowledged(4, { toolsListChanged: true }),
    ])
  })

  it("is served or not, as the option listen says, and so are the capabilities", async () => {
    const listen = await wire.open(fullServer(), { listen: false })
    const stream = await listen(1, { toolsListChanged: true })
    expect(await stream.received(1)).toMatchObject([
      { id: 1, error: { code: -32601, message: expect.stringContaining("listen: false") } },
    ])
  })

  it("a bus that is shared carries changes to every node, once, the publishing one too", async () => {
    const bus = sharedBus()
    const servers = [fullServer(), fullServer()]
    const streams: Listening[] = []
    for (const server of servers) {
      for (const times of [1, 2]) {
        const stream = await (await wire.open(server, { bus }))(times, { toolsListChanged: true })
        await stream.received(1)
        streams.push(stream)
      }
    }
    servers[0]?.changed("tools")
    for (const stream of streams) expect(await stream.received(2)).toHaveLength(2)
    expect(bus.published).toEqual([{ kind: "list", list: "tools" }])
  })
})

describe("on HTTP", () => {
  it("a stream opens at once, with a comment, and without whatever would hold it back", async () => {
    const { url } = await start(fullServer())
    const stream = await openModern(
      url,
      modernRequest(1, "subscriptions/listen", { notifications: { toolsListChanged: true } }),
    )
    open.push(() => stream.close())
    await stream.received(1)
    expect(stream.status).toBe(200)
    expect(stream.headers).toMatchObject({
      "content-type": "text/event-stream",
      "x-accel-buffering": "no",
      "cache-control": "no-store, no-transform",
    })
    expect(stream.events.map(({ id, data }) => [id, data === undefined])).toEqual([
      [undefined, true],
      [undefined, false],
    ])
  })

  it("a quiet stream is kept open by comments", async () => {
    const clock = createManualClock()
    const { url } = await start(fullServer(), { clock, limits: { keepAliveMs: 15_000 } })
    const stream = await openListen(url, 1)
    for (const count of [2, 3]) {
      clock.advance(15_000)
      await stream.next(() => stream.events.filter(({ data }) => data === undefined).length === count)
    }
    expect(stream.messages).toHaveLength(1)
  })

  it.each<[string, Json, Record<string, string>, number, object]>([
    [
      "a client that takes no streams",
      {},
      { accept: "application/json" },
      406,
      { code: -32600, data: { reason: "not_acceptable" } },
    ],
    ["a filter that is none", { notifications: 1 }, {}, 200, { code: -32602 }],
    [
      "one stream too many",
      { notifications: { toolsListChanged: true } },
      {},
      503,
      { code: -32603, data: { reason: "overloaded" } },
    ],
  ])("%s is refused", async (_, params, headers, status, error) => {
    const { url } = await start(fullServer(), { limits: { maxListens: 1 } })
    await openListen(url, 1)
    const reply = await postModern(url, modernRequest(2, "subscriptions/listen", params), headers)
    expect(reply.status).toBe(status)
    expect(reply.json).toMatchObject({ id: 2, error })
    expect(reply.headers["retry-after"]).toBe(status === 503 ? "1" : undefined)
  })

  it("there is no such method where streams are not held, and no capability that needs one", async () => {
    const { url } = await start(fullServer(), { listen: false })
    const reply = await postModern(url, modernRequest(1, "subscriptions/listen", { notifications: {} }))
    expect([reply.status, reply.json["error"]]).toMatchObject([
      404,
      { code: -32601, data: { reason: "method_not_found" } },
    ])
    const { json } = await postModern(url, modernRequest(2, "server/discover"))
    expect(json["result"]).toMatchObject({ capabilities: { tools: {}, resources: {}, prompts: {}, logging: {} } })
    expect(JSON.stringify(json)).not.toMatch(/listChanged|subscribe/)
  })

  it("what can be heard is declared", async () => {
    const { url } = await start(fullServer())
    const { json } = await postModern(url, modernRequest(2, "server/discover"))
    expect(json["result"]).toMatchObject({
      capabilities: {
        tools: { listChanged: true },
        prompts: { listChanged: true },
        resources: { listChanged: true, subscribe: true },
      },
    })
  })

  it("the legacy era has no such method", async () => {
    const { url } = await start(fullServer())
    const { headers } = await post(url, initializeRequest())
    const session = { "mcp-session-id": String(headers["mcp-session-id"]) }
    const reply = await post(url, { jsonrpc: "2.0", id: 1, method: "subscriptions/listen", params: {} }, session)
    expect(reply.json).toMatchObject({ id: 1, error: { code: -32601 } })
  })

  it("a stream that the server ends closes behind its result", async () => {
    const running = await start(fullServer())
    const stream = await openListen(running.url, "a")
    await running.close()
    await stream.ended
    expect(stream.messages).toEqual([acknowledged("a", { toolsListChanged: true }), ended("a")])
  })

  it("each principal has limits.maxListensPerPeer streams, and takes none from another", async () => {
    const { url } = await start(fullServer(), { auth: byName, limits: { maxListensPerPeer: 2 } })
    for (const id of [1, 2]) await openListen(url, id, { authorization: "ada" })
    const listen = modernRequest(3, "subscriptions/listen", { notifications: { toolsListChanged: true } })
    expect((await postModern(url, listen, { authorization: "ada" })).status).toBe(503)
    expect((await openListen(url, 4, { authorization: "bob" })).status).toBe(200)
  })

  it("a stream ends without a result when what its caller showed expires", async () => {
    const clock = createManualClock()
    const { url } = await start(fullServer(), { clock, auth: () => ({ id: "ada", expiresAtMs: clock.now() + 60_000 }) })
    const stream = await openListen(url, 1)
    clock.advance(59_999)
    expect(stream.messages).toHaveLength(1)
    clock.advance(1)
    await stream.ended
    expect(stream.messages).toEqual([acknowledged(1, { toolsListChanged: true })])
  })

  it("nothing of one caller's stream reaches another, whatever the ids are", async () => {
    const server = fullServer()
    const { url } = await start(server, { auth: byName })
    const streams = await Promise.all(["ada", "bob"].map((name) => openListen(url, 1, { authorization: name })))
    const listen = { notifications: { resourceSubscriptions: ["page://secret"] } }
    const secret = await openModern(url, modernRequest(1, "subscriptions/listen", listen), { authorization: "eve" })
    open.push(() => secret.close())
    await secret.received(1)
    server.updated("page://secret")
    await secret.received(2)
    server.changed("tools")
    for (const stream of streams) expect(await stream.received(2)).toHaveLength(2)
  })
})

describe("on a pipe", () => {
  const listen = (id: string | number): Json =>
    modernRequest(id, "subscriptions/listen", { notifications: { toolsListChanged: true } })

  it.each([1, "1"])(
    "a stream that the server ends gets its result, then a cancellation, both with its id (%j)",
    async (id) => {
      const server = fullServer()
      const endpoint = server.endpoint()
      const raw = link({ endpoint: () => endpoint })
      raw.send(listen(id))
      const stream = listeningOn(raw, id)
      await stream.received(1)
      endpoint.endStreams()
      expect((await stream.received(3)).slice(1)).toEqual([ended(id), cancelled(id)])
      server.changed("tools")
      expect((await raw.modern("tools/list"))["result"]).toBeDefined()
      expect(stream.heard()).toHaveLength(3)
    },
  )

  it("a stream that is cut gets a cancellation alone", async () => {
    const clock = createManualClock()
    const stream = await listenAs({ id: "ada", expiresAtMs: clock.now() + 1_000 }, clock)
    clock.advance(1_000)
    expect((await stream.received(2)).slice(1)).toEqual([cancelled(1)])
  })

  it("an id whose stream is open cannot be taken twice, and is free behind its end", async () => {
    const raw = link(fullServer())
    raw.send(listen(1))
    const stream = listeningOn(raw, 1)
    await stream.received(1)
    raw.send(modernRequest(1, "tools/list"))
    expect((await stream.received(2)).at(-1)).toMatchObject({ id: 1, error: { code: -32600 } })
    stream.cancel()
    raw.send(modernRequest(1, "tools/list"))
    expect((await stream.received(3)).at(-1)).toMatchObject({ id: 1, result: { tools: expect.any(Array) } })
  })

  it("nothing is written for a stream that the client cancelled", async () => {
    const server = fullServer()
    const raw = link(server)
    raw.send(listen(1))
    const stream = listeningOn(raw, 1)
    await stream.received(1)
    stream.cancel()
    await raw.modern("tools/list")
    server.changed("tools")
    raw.send(listen(2))
    await listeningOn(raw, 2).received(1)
    server.changed("prompts")
    await raw.modern("tools/list")
    expect(stream.heard()).toHaveLength(1)
  })

  it("several streams are told apart by their ids, and each is told", async () => {
    const server = fullServer()
    const raw = link(server)
    for (const id of [1, "1", 2]) raw.send(listen(id))
    const streams = [1, "1", 2].map((id) => listeningOn(raw, id))
    for (const stream of streams) await stream.received(1)
    server.changed("tools")
    for (const stream of streams) expect(await stream.received(2)).toHaveLength(2)
  })

  it("one pipe has limits.maxListensPerPeer streams", async () => {
    const raw = link(fullServer(), { limits: { maxListensPerPeer: 2 } })
    for (const id of [1, 2, 3]) raw.send(listen(id))
    expect(await listeningOn(raw, 3).received(1)).toMatchObject([{ id: 3, error: { code: -32603 } }])
  })
})

describe("a bus", () => {
  it.each<[string, Bus["publish"]]>([
    [
      "throws",
      () => {
        throw new Error("down")
      },
    ],
    ["rejects", () => Promise.reject(new Error("down"))],
  ])("that %s is reported, and whoever says that something changed does not notice", async (_, publish) => {
    const logger = createRecordingLogger()
    const server = createServer({ name: "s", version: "1", tools: [echo], logger })
    const raw = link(server, { bus: { publish, subscribe: () => () => {} } })
    server.changed("tools")
    expect((await raw.modern("tools/list"))["result"]).toBeDefined()
    expect(logger.lines).toMatchObject([{ level: "error", message: "the bus failed" }])
  })
})

describe("a listener that does not read", () => {
  it("costs no more than what it was not told, once for each change", async () => {
    const sent: string[] = []
    let catchUp: () => void = () => {}
    const outlet = new Outlet({
      send: (frame) => void sent.push(frame),
      flush: () => new Promise((resolve) => (catchUp = resolve)),
    })
    outlet.send("tools", "first")
    for (let count = 0; count < 1_000; count++) outlet.send("tools", `later ${count}`)
    outlet.send("prompts", "other")
    expect(sent).toEqual(["first"])
    catchUp()
    await Promise.resolve()
    expect(sent).toEqual(["first", "later 999"])
    catchUp()
    await Promise.resolve()
    expect(sent).toEqual(["first", "later 999", "other"])
  })
})

/** Asks until a place is free: letting go of a connection takes a moment to be heard. */
async function untilAccepted(ask: (id: number) => Promise<readonly Json[]>): Promise<void> {
  for (let id = 100; ; id++) {
    const [first] = await ask(id)
    if (first?.["error"] === undefined) return
  }
}

function sharedBus(): Bus & { readonly published: Change[] } {
  const listeners = new Set<(change: Change) => void>()
  const published: Change[] = []
  return {
    published,
    publish(change) {
      published.push(change)
      for (const listener of listeners) listener(change)
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const byName: Authenticate = ({ header }) => ({ id: header("authorization") ?? "nobody" })

async function openListen(
  url: string,
  id: string | number,
  headers: Record<string, string> = {},
): Promise<EventStream> {
  const message = modernRequest(id, "subscriptions/listen", { notifications: { toolsListChanged: true } })
  const stream = await openModern(url, message, headers)
  open.push(() => stream.close())
  await stream.received(1)
  return stream
}

/** A stream on a pipe whose other end is known. */
async function listenAs(principal: Principal, clock: ManualClock): Promise<Listening> {
  const endpoint = fullServer().endpoint({ clock })
  const serveAll = endpoint.serve.bind(endpoint)
  const serveTo: Endpoint["serve"] = (message, exchange) =>
    serveAll(message, Object.assign(exchange, { peer: { ...exchange.peer, principal } }))
  const raw = link({ endpoint: () => Object.assign(endpoint, { serve: serveTo }) })
  raw.send(modernRequest(1, "subscriptions/listen", { notifications: { toolsListChanged: true } }))
  const stream = listeningOn(raw, 1)
  await stream.received(1)
  return stream
}
