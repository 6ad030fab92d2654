/** What the specification asks of every server and no other test shows: on real sockets, processes and pipes. */
import { fileURLToPath } from "node:url"
import { content, createServer, inputRequired, prompt, resource, resourceTemplate, tool } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { everything } from "../support/asking.js"
import { startScript } from "../support/child.js"
import { openSession, post, postModern, type Reply, send } from "../support/http.js"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import { openModern, openStream } from "../support/stream.js"
import { initializeRequest, type Json, legacyRequest, modernHeaders, modernRequest } from "../support/wire.js"

const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
const LOG_LEVEL = "io.modelcontextprotocol/logLevel"
const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

const ask = tool("ask", {}, async (_, ctx) => {
  const { action } = await ctx.elicit("Who?", z.object({ name: z.string() }))
  return action
})
const talk = tool("talk", {}, async (_, ctx) => {
  ctx.log.error("said")
  ctx.progress(1)
  await ctx.flush()
  return content.text("done")
})
const server = createServer({
  name: "spec",
  version: "1.0.0",
  logger: createRecordingLogger(),
  pageSize: 1,
  tools: [ask, talk],
  resources: [
    resource("test://a", { name: "a" }, () => "a"),
    resourceTemplate("test://{id}", { name: "t" }, () => "t"),
  ],
  prompts: [prompt("p", {}, () => "p"), prompt("q", {}, () => "q")],
})

let running: Running
beforeAll(async () => {
  running = await serve(server, { port: 0 })
})
afterAll(() => running.close())

const call = (id: number, name: string, meta: Json = {}): Json =>
  modernRequest(id, "tools/call", { name, arguments: {}, _meta: meta })
const asking = (id: number): Json => call(id, "ask", { [CAPABILITIES]: everything })
const errorOf = ({ error }: Json): Json => error as Json

describe("what a client can do", () => {
  it("is what this request says, whatever an earlier one on the same connection said", async () => {
    const wire = link(server)
    expect(await wire.request(asking(1))).toMatchObject({ result: { resultType: "input_required" } })
    const refused = { code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } }
    expect(errorOf(await wire.request(call(2, "ask")))).toMatchObject(refused)
    expect((await postModern(running.url, asking(1))).json).toMatchObject({ result: { resultType: "input_required" } })
    const reply = await postModern(running.url, call(1, "ask"))
    expect([reply.status, errorOf(reply.json)["code"]]).toEqual([400, -32021])
  })

  it("may be an extension that the server does not know, which then serves the protocol itself", async () => {
    const extensions = { "com.example/far": { deep: true } }
    const { result } = await link(server).request(call(1, "talk", { [CAPABILITIES]: { extensions } }))
    expect(result).toMatchObject({ resultType: "complete", content: [{ text: "done" }] })
  })
})

describe("a server of the modern era", () => {
  it("sends no request, and asks by its result alone: in memory, over HTTP and on standard streams", async () => {
    const wire = link(server)
    await wire.request(asking(1))
    expect(wire.received).toHaveLength(1)
    const stream = await openModern(running.url, call(1, "ask", { [CAPABILITIES]: everything, progressToken: 1 }))
    await stream.ended
    expect(stream.messages.filter(({ method }) => method !== undefined)).toEqual([])
    const child = startScript(fileURLToPath(new URL("../server/input/book-table.js", import.meta.url)), {}, ["stdio"])
    const booking = { name: "book_table", arguments: { party: 2 }, _meta: { [CAPABILITIES]: everything } }
    child.process.stdin.write(`${JSON.stringify(modernRequest(1, "tools/call", booking))}\n`)
    const printed = (await child.printing(/\n/)).trim().split("\n")
    expect(printed.map((line) => JSON.parse(line))).toMatchObject([{ id: 1, result: { resultType: "input_required" } }])
    child.process.stdin.end()
    expect(await child.ended).toBe(0)
  })

  it.each(["tools/call", "ping", "__proto__", 5])(
    "what is asked by hand is one of three questions: %s",
    async (method) => {
      const request = { method, params: {} } as never
      const odd = tool("odd", {}, () => inputRequired({ requests: { q: request } }))
      const logger = createRecordingLogger()
      const asked = createServer({ name: "s", version: "1", tools: [odd], logger })
      const { result } = await link(asked).request(call(1, "odd", { [CAPABILITIES]: everything }))
      expect(result).toMatchObject({ resultType: "complete", isError: true })
      expect(logger.lines).toMatchObject([{ level: "error", message: 'tool "odd" failed' }])
    },
  )

  it("says nothing of one request on the stream of another: no log and no progress on a listen stream", async () => {
    const listen = modernRequest("l", "subscriptions/listen", { notifications: { toolsListChanged: true } })
    const stream = await openModern(running.url, listen)
    await stream.received(1)
    const wire = link(server)
    wire.send(listen)
    await wire.next(({ method }) => method === "notifications/subscriptions/acknowledged")
    const meta = { [LOG_LEVEL]: "debug", progressToken: 7 }
    const reply = await postModern(running.url, call(1, "talk", meta))
    expect(reply.messages.map(({ method }) => method)).toEqual([
      "notifications/message",
      "notifications/progress",
      undefined,
    ])
    await wire.request(call(1, "talk", meta))
    server.changed("tools")
    await stream.received(2)
    expect(stream.messages.map(({ method }) => method)).toEqual([
      "notifications/subscriptions/acknowledged",
      "notifications/tools/list_changed",
    ])
    const ofCall = wire.received.filter(({ method }) => /message|progress/.test(String(method)))
    for (const { params } of ofCall) expect((params as Json)["_meta"] ?? {}).not.toHaveProperty(SUBSCRIPTION)
    stream.close()
  })

  it("reads its headers by name in any case, and their values as they are", async () => {
    const message = call(1, "talk")
    const names = { "MCP-PROTOCOL-VERSION": "2026-07-28", "mCp-MeThOd": "tools/call", "MCP-NAME": "talk" }
    expect((await post(running.url, message, names)).status).toBe(200)
    for (const wrong of [{ "mcp-method": "Tools/Call" }, { "mcp-name": "Talk" }]) {
      const { status, json } = await post(running.url, message, { ...modernHeaders(message), ...wrong })
      expect([status, errorOf(json)["code"]]).toEqual([400, -32020])
    }
  })

  it("takes no response, which nobody may send", async () => {
    const headers = { "mcp-protocol-version": "2026-07-28" }
    const { status, json } = await post(running.url, { jsonrpc: "2.0", id: 1, result: {} }, headers)
    expect([status, json["id"]]).toEqual([400, undefined])
  })
})

describe("a list", () => {
  const methods = ["tools/list", "prompts/list", "resources/list", "resources/templates/list"]

  it.each(methods)("is the same on every connection, before and after other requests: %s", async (method) => {
    const [one, two] = [link(server), link(server)]
    const first = (await one.modern(method))["result"]
    await one.request(call(1, "talk"))
    await one.modern("resources/read", { uri: "test://a" })
    await one.modern("prompts/get", { name: "p" })
    expect((await one.modern(method))["result"]).toEqual(first)
    expect((await two.modern(method))["result"]).toEqual(first)
    expect((await postModern(running.url, modernRequest(1, method))).json["result"]).toEqual(first)
  })

  it.each(["public", "private"] as const)("has one cache scope on all its pages: %s", async (cacheScope) => {
    const tools = ["a", "b", "c"].map((name) => tool(name, {}, () => ""))
    const paged = createServer({ name: "s", version: "1", pageSize: 1, tools, freshness: { ttlMs: 5, cacheScope } })
    const wire = link(paged)
    const scopes: unknown[] = []
    let cursor: unknown
    do {
      const { result } = await wire.modern("tools/list", cursor === undefined ? {} : { cursor })
      const page = result as Json
      scopes.push(page["cacheScope"])
      cursor = page["nextCursor"]
    } while (cursor !== undefined)
    expect(scopes).toEqual([cacheScope, cacheScope, cacheScope])
  })
})

describe("a server of the legacy era", () => {
  it("answers ping with an empty result, over HTTP and on a pipe", async () => {
    const session = await openSession(running.url)
    const pong = { jsonrpc: "2.0", id: 1, result: {} }
    expect((await post(running.url, legacyRequest(1, "ping"), session)).json).toEqual(pong)
    expect(await link(server).request(legacyRequest(1, "ping"))).toEqual(pong)
  })

  it("gives every event of a session an id of its own, whichever stream it is on", async () => {
    const session = await openSession(running.url)
    const accept = { accept: "text/event-stream" }
    const answer = (id: number): Promise<Reply> =>
      send(running.url, {
        headers: { ...session, ...accept, "content-type": "application/json" },
        body: JSON.stringify(legacyRequest(id, "tools/call", { name: "talk", _meta: { progressToken: id } })),
      })
    const streams = await Promise.all([
      openStream(running.url, { headers: session }),
      openStream(running.url, { headers: session }),
    ])
    const replies = await Promise.all([answer(1), answer(2), answer(3)])
    server.changed("tools")
    await Promise.race(streams.map((stream) => stream.received(1)))
    const ids = [
      ...replies.flatMap(({ text }) => [...text.matchAll(/^id: (.*)$/gm)].map(([, id]) => id)),
      ...streams.flatMap(({ events }) => events.flatMap(({ id }) => (id === undefined ? [] : [id]))),
    ]
    expect(ids.length).toBeGreaterThanOrEqual(15)
    expect(new Set(ids).size).toBe(ids.length)
    for (const stream of streams) stream.close()
  })

  it("accepts notifications and responses with 202 and no body, and refuses them with a status and no id", async () => {
    const session = await openSession(running.url)
    const notices = [
      { jsonrpc: "2.0", method: "notifications/initialized" },
      { jsonrpc: "2.0", id: 99, result: {} },
      { jsonrpc: "2.0", id: 99, error: { code: -1, message: "no" } },
    ]
    for (const notice of notices) {
      const taken = await post(running.url, notice, session)
      expect([taken.status, taken.text, taken.headers["content-type"]]).toEqual([202, "", undefined])
      const refused = await post(running.url, notice, { ...session, "mcp-session-id": "none" })
      expect([refused.status, refused.json["id"]]).toEqual([404, undefined])
    }
  })

  it("speaks the version that was agreed on, whatever the client asked for first", async () => {
    const wire = link(server)
    const opened = await wire.request(initializeRequest(1, "2099-01-01"))
    expect(opened).toMatchObject({ result: { protocolVersion: "2025-11-25" } })
    expect((await wire.request(legacyRequest(2, "server/discover")))["error"]).toMatchObject({ code: -32601 })
  })
})

it("leaves every global as it was, whatever is imported", async () => {
  const entries = ["", "/node", "/fetch", "/schema", "/protocol", "/testing", "/prometheus"]
  const script = `
    const values = () => Object.getOwnPropertyNames(globalThis).map((name) => [name, globalThis[name]])
    values()
    const before = values()
    ${entries.map((entry) => `await import("conduit-mcp${entry}")`).join("\n")}
    const after = new Map(values())
    const differs = before.filter(([name, value]) => !Object.is(after.get(name), value)).map(([name]) => name)
    console.log(JSON.stringify([...differs, after.size - before.length]))
  `
  const child = startScript("--input-type=module", {}, ["--eval", script])
  expect((await child.printing(/\n/)).trim()).toBe("[0]")
})
