/** What a server tells of HTTP: who is turned away at the door and why, sessions from beginning to end, and streams. */
import { createServer, type RequestFacts, type ServerEvents, type SessionFacts, type Store, tool } from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { createManualClock } from "../support/clock.js"
import { listenTo } from "../support/events.js"
import { openSession, post, postModern, type SendOptions, send } from "../support/http.js"
import { createRecordingLogger } from "../support/logger.js"
import { openModern, openStream } from "../support/stream.js"
import { initializeRequest, type Json, legacyRequest, modernHeaders, modernRequest } from "../support/wire.js"

const running: Running[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.close()
})

async function start(options: ServeOptions = {}) {
  const tools = [tool("hello", {}, () => "hello")]
  const server = createServer({ name: "test", version: "1.0.0", tools, logger: createRecordingLogger() })
  const events = listenTo(server)
  const one = await serve(server, { port: 0, ...options })
  running.push(one)
  return { url: one.url, events, running: one, server }
}

const json = { "content-type": "application/json", accept: "application/json, text/event-stream" }
const list = modernRequest(1, "tools/list")
const listHeaders = { ...json, ...modernHeaders(list) }

describe("a request that is turned away", () => {
  it.each<[reason: string, status: number, options: SendOptions, serving?: ServeOptions]>([
    ["host_not_allowed", 403, { headers: { ...listHeaders, host: "evil.example" } }],
    ["origin_not_allowed", 403, { headers: { ...listHeaders, origin: "https://evil.example" } }],
    ["unauthenticated", 401, { headers: listHeaders }, { auth: () => undefined }],
    [
      "internal_error",
      500,
      { headers: listHeaders },
      {
        auth: () => {
          throw new Error("down")
        },
      },
    ],
    ["method_not_allowed", 405, { method: "PUT", headers: listHeaders }],
    ["unsupported_media_type", 415, { headers: { ...listHeaders, "content-type": "text/plain" } }],
    ["not_acceptable", 406, { headers: { ...listHeaders, accept: "text/html" } }],
    ["body_too_large", 413, { headers: listHeaders, body: JSON.stringify(list) }, { limits: { maxBodyBytes: 10 } }],
    ["parse_error", 400, { headers: listHeaders, body: "{" }],
    ["header_mismatch", 400, { headers: json, body: JSON.stringify(list) }],
    [
      "session_not_found",
      404,
      { headers: { ...json, "mcp-session-id": "no" }, body: '{"jsonrpc":"2.0","id":1,"method":"ping"}' },
    ],
    ["session_not_found", 404, { method: "DELETE", headers: { "mcp-session-id": "no" } }],
    ["method_not_allowed", 405, { method: "GET", headers: { accept: "text/event-stream" } }],
  ])("is told once, with its reason: %s (%i)", async (reason, status, options, serving = {}) => {
    const { url, events } = await start(serving)
    const reply = await send(url, options)
    expect(reply.status).toBe(status)
    expect(events.told).toMatchObject([
      { name: "server.request_refused", event: { reason, status, transport: "http" } },
    ])
    expect(events.of("server.request_refused")[0]?.message).toBe((reply.json["error"] as Json)["message"])
  })

  it("is told of when the path is wrong", async () => {
    const { url, events } = await start()
    await send(url.replace("/mcp", "/other"), { headers: listHeaders })
    expect(events.of("server.request_refused")).toMatchObject([{ reason: "path_not_found", status: 404 }])
  })

  it("is told of by fetch handlers too", async () => {
    const server = createServer({ name: "test", version: "1.0.0" })
    const events = listenTo(server)
    const handler = createFetchHandler(server)
    await handler(new Request("http://127.0.0.1/mcp", { method: "POST", headers: { "content-type": "text/plain" } }))
    expect(events.told).toMatchObject([
      { name: "server.request_refused", event: { reason: "unsupported_media_type", transport: "http" } },
    ])
  })

  it("is told of when the store of sessions fails", async () => {
    const fail = () => Promise.reject(new Error("down"))
    const store: Store = { get: fail, set: fail, delete: fail }
    const { url, events } = await start({ store })
    await post(url, legacyRequest(1, "ping"), { "mcp-session-id": "any" })
    expect(events.told).toMatchObject([{ name: "server.request_refused", event: { status: 500 } }])
  })
})

describe("a request over HTTP", () => {
  it("tells who calls, and of a session only how its id begins", async () => {
    const { url, events } = await start({ auth: () => ({ id: "ada", scopes: ["all"], claims: { email: "a@b" } }) })
    await postModern(url, modernRequest("x", "tools/call", { name: "hello" }))
    const session = await openSession(url)
    await post(url, legacyRequest(7, "tools/call", { name: "hello" }), session)
    const calls = events.of("server.request.start").filter(({ request }) => request.method === "tools/call")
    const id = String(session["mcp-session-id"])
    expect(calls.map(({ request }) => request)).toMatchObject([
      { id: "x", era: "modern", transport: "http", principal: "ada", session: undefined },
      { id: 7, era: "legacy", transport: "http", principal: "ada", session: id.slice(0, 8) },
    ] satisfies Partial<RequestFacts>[])
    expect(id.length).toBeGreaterThanOrEqual(32)
    expect(JSON.stringify(events.told)).not.toMatch(new RegExp(`${id}|a@b`))
  })
})

describe("a legacy session", () => {
  const facts = async (url: string): Promise<readonly [headers: Record<string, string>, facts: SessionFacts]> => {
    const headers = await openSession(url)
    const session = String(headers["mcp-session-id"]).slice(0, 8)
    const client = { name: "test", version: "1.0.0" }
    return [headers, { session, revision: "2025-11-25", transport: "http", client, principal: undefined }]
  }
  const ends = (stops: readonly ServerEvents["server.session.stop"][]): unknown =>
    stops.map(({ session, why }) => [session.session, why])

  it("is told when it begins and when its client ends it", async () => {
    const { url, events } = await start()
    const [headers, session] = await facts(url)
    await send(url, { method: "DELETE", headers })
    expect(events.of("server.session.start")).toEqual([{ session, resumed: false }])
    expect(events.of("server.session.stop")).toMatchObject([{ session, why: "ended" }])
  })

  it("is told when it was idle for too long", async () => {
    const clock = createManualClock()
    const { url, events } = await start({ clock, limits: { sessionIdleMs: 60_000 } })
    const [, { session }] = await facts(url)
    clock.advance(59_000)
    expect(events.of("server.session.stop")).toEqual([])
    clock.advance(61_000)
    expect(ends(events.of("server.session.stop"))).toEqual([[session, "expired"]])
  })

  it("is told when the server stops", async () => {
    const { url, events, running: one } = await start()
    const [, { session }] = await facts(url)
    await one.close()
    expect(ends(events.of("server.session.stop"))).toEqual([[session, "stopped"]])
  })

  it("is told when there is no room for it", async () => {
    const { url, events } = await start({ limits: { maxSessions: 1 } })
    await openSession(url)
    await post(url, initializeRequest(5))
    expect(events.of("server.session_refused")).toEqual([
      { revision: "2025-11-25", client: { name: "test", version: "1.0.0" } },
    ])
    expect(events.of("server.request.stop").at(-1)).toMatchObject({
      request: { method: "initialize", id: 5 },
      outcome: "error",
      error: { code: -32603, reason: "overloaded" },
    })
  })

  it("is told as one that goes on when another process opened it", async () => {
    const values = new Map<string, string>()
    const store: Store = {
      get: (key) => {
        const value = values.get(key)
        return value === undefined ? undefined : { value, version: "1" }
      },
      set: (key, value) => {
        values.set(key, value)
        return true
      },
      delete: (key) => values.delete(key),
    }
    const [first, second] = [await start({ store }), await start({ store })]
    const [headers, session] = await facts(first.url)
    await post(second.url, legacyRequest(1, "ping"), headers)
    expect(second.events.of("server.session.start")).toEqual([{ session, resumed: true }])
  })
})

describe("a stream", () => {
  it("is told while a listen request is open", async () => {
    const { url, events } = await start()
    const notifications = { toolsListChanged: true }
    const stream = await openModern(url, modernRequest("l", "subscriptions/listen", { notifications }))
    await stream.received(1)
    const facts = { kind: "listen", transport: "http", principal: undefined }
    expect(events.of("server.stream.start")).toEqual([{ stream: facts }])
    expect(events.of("server.stream.stop")).toEqual([])
    stream.close()
    expect(await events.first("server.stream.stop")).toMatchObject({ stream: facts })
    expect(await events.first("server.request.stop")).toMatchObject({ request: { method: "subscriptions/listen" } })
  })

  it("is told while a legacy session stands by", async () => {
    const { url, events } = await start()
    const headers = await openSession(url)
    const stream = await openStream(url, { headers })
    expect(events.of("server.stream.start")).toMatchObject([{ stream: { kind: "standby", transport: "http" } }])
    await send(url, { method: "DELETE", headers })
    await stream.ended
    expect(events.of("server.stream.stop")).toMatchObject([{ stream: { kind: "standby" } }])
  })
})
