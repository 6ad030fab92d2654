/** `initialize`: which version a legacy client gets, what it is told, and what may come before and after. */
import { createServer, resource, tool } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { openSession, post, send } from "../support/http.js"
import { link } from "../support/link.js"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"

const server = createServer({
  name: "test",
  version: "1.0.0",
  instructions: "Ask away.",
  tools: [tool("t", {}, (_, ctx) => ctx.revision)],
  resources: [resource("test://r", { name: "r" }, () => "")],
})

let running: Running
beforeAll(async () => {
  running = await serve(server, { port: 0 })
})
afterAll(() => running.close())

describe("the version that initialize asks for", () => {
  it.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2025-03-26", "2025-11-25"],
    ["2024-11-05", "2025-11-25"],
    ["2026-07-28", "2025-11-25"],
    ["2027-01-01", "2025-11-25"],
    ["1.0", "2025-11-25"],
    ["", "2025-11-25"],
    ["__proto__", "2025-11-25"],
  ])("%s is answered with %s, over HTTP and on a pipe", async (asked, given) => {
    const piped = await link(server).request(initializeRequest(1, asked))
    const posted = await post(running.url, initializeRequest(1, asked))
    expect(posted.status).toBe(200)
    for (const answer of [piped, posted.json])
      expect(answer).toMatchObject({ id: 1, result: { protocolVersion: given } })
    const session = { "mcp-session-id": String(posted.headers["mcp-session-id"]), "mcp-protocol-version": given }
    const { json } = await post(running.url, legacyRequest(2, "tools/call", { name: "t" }), session)
    expect(json).toMatchObject({ result: { content: [{ text: given }] } })
  })

  it.each([[undefined], [null], [20251125], [["2025-11-25"]], [{}]])(
    "is invalid params when it is %j",
    async (protocolVersion) => {
      const message = legacyRequest(0, "initialize", {
        protocolVersion,
        capabilities: {},
        clientInfo: { name: "t", version: "1" },
      })
      const wire = link(server)
      expect(await wire.request(message)).toMatchObject({ id: 0, error: { code: -32602 } })
      const reply = await post(running.url, message)
      expect([reply.status, reply.json["id"]]).toEqual([200, 0])
      expect(reply.json).toMatchObject({ error: { code: -32602, data: { reason: "invalid_params" } } })
      expect(await wire.request(initializeRequest(1))).toMatchObject({ result: { protocolVersion: "2025-11-25" } })
    },
  )

  it("is invalid params when there are none", async () => {
    expect(await link(server).request(legacyRequest(1, "initialize"))).toMatchObject({ error: { code: -32602 } })
  })
})

describe("the answer to initialize", () => {
  it("says the version, what there is, who it is and how to use it", async () => {
    const { result } = await link(server).request(initializeRequest(1))
    const { capabilities, ...rest } = result as { capabilities: Json }
    expect(rest).toEqual({
      protocolVersion: "2025-11-25",
      serverInfo: { name: "test", version: "1.0.0" },
      instructions: "Ask away.",
    })
    expect(Object.keys(capabilities).sort()).toEqual(["logging", "resources", "tools"])
  })

  it("is the same however little the client says of itself", async () => {
    for (const params of [
      { protocolVersion: "2025-11-25" },
      { protocolVersion: "2025-11-25", capabilities: null, clientInfo: "me" },
      { protocolVersion: "2025-11-25", capabilities: [], clientInfo: {} },
    ]) {
      const answer = await link(server).request(legacyRequest(1, "initialize", params))
      expect(answer).toMatchObject({ result: { protocolVersion: "2025-11-25", serverInfo: { name: "test" } } })
    }
  })

  it.each(["2025-11-25", "2025-06-18", "2024-11-05", "2027-01-01"])(
    "comes whatever legacy header it has (%s)",
    async (header) => {
      const reply = await post(running.url, initializeRequest(1, "2025-06-18"), { "mcp-protocol-version": header })
      const expected =
        header === "2027-01-01" ? { error: { code: -32602 } } : { result: { protocolVersion: "2025-06-18" } }
      expect(reply.json).toMatchObject(expected)
    },
  )
})

describe("a second initialize", () => {
  it("on a pipe is refused, and changes nothing", async () => {
    const wire = link(server)
    await wire.request(initializeRequest(1, "2025-06-18"))
    const again = await wire.request(initializeRequest(2, "2025-11-25"))
    expect(again).toMatchObject({ id: 2, error: { code: -32600, data: { reason: "already_initialized" } } })
    const called = await wire.request(legacyRequest(3, "tools/call", { name: "t" }))
    expect(called).toMatchObject({ result: { content: [{ text: "2025-06-18" }] } })
  })

  it("in the same breath is refused too", async () => {
    const wire = link(server)
    wire.send(initializeRequest(1))
    wire.send(initializeRequest(2))
    expect(await wire.next(({ id }) => id === 1)).toHaveProperty("result")
    expect(await wire.next(({ id }) => id === 2)).toMatchObject({ error: { code: -32600 } })
  })

  it("in a live session is refused, and without one opens another", async () => {
    const session = await openSession(running.url)
    const again = await post(running.url, initializeRequest(2), session)
    expect([again.status, again.json["id"]]).toEqual([400, 2])
    const another = await post(running.url, initializeRequest(2))
    expect(another.headers["mcp-session-id"]).not.toBe(session["mcp-session-id"])
  })
})

describe("before initialize", () => {
  it("a pipe answers ping, and tells every other legacy request what is missing", async () => {
    const wire = link(server)
    expect(await wire.request(legacyRequest(1, "ping"))).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
    for (const method of ["tools/list", "logging/setLevel", "unknown"]) {
      const { error } = await wire.request(legacyRequest(method, method))
      expect(error).toMatchObject({
        code: -32602,
        message: expect.stringContaining("_meta"),
        data: { reason: "missing_meta" },
      })
    }
    expect(await wire.request(initializeRequest(2))).toHaveProperty("result")
  })

  it("a pipe answers no notification", async () => {
    const wire = link(server)
    wire.send({ jsonrpc: "2.0", method: "notifications/initialized" })
    wire.send({ jsonrpc: "2.0", method: "unknown" })
    await wire.request(legacyRequest(1, "ping"))
    expect(wire.received).toHaveLength(1)
  })
})

describe("after initialize", () => {
  it("a pipe goes on to serve modern requests, and either may come at any time", async () => {
    const wire = link(server)
    expect(await wire.request(modernRequest(1, "tools/call", { name: "t" }))).toMatchObject({
      result: { content: [{ text: "2026-07-28" }] },
    })
    await wire.request(initializeRequest(2, "2025-06-18"))
    expect(await wire.request(legacyRequest(3, "tools/call", { name: "t" }))).toEqual({
      jsonrpc: "2.0",
      id: 3,
      result: { content: [{ type: "text", text: "2025-06-18" }] },
    })
    expect(await wire.request(modernRequest(4, "tools/call", { name: "t" }))).toMatchObject({
      result: { resultType: "complete", content: [{ text: "2026-07-28" }] },
    })
  })

  it("requests are served before the client says that it is initialized", async () => {
    const opened = await post(running.url, initializeRequest(1))
    const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) }
    expect((await post(running.url, legacyRequest(2, "ping"), session)).json).toEqual({
      jsonrpc: "2.0",
      id: 2,
      result: {},
    })
  })

  it.each([
    ["notifications/initialized", undefined],
    ["notifications/roots/list_changed", undefined],
    ["notifications/progress", { progressToken: 1, progress: 1 }],
    ["notifications/unknown", {}],
  ])("%s is accepted with 202, no body and no type", async (method, params) => {
    const session = await openSession(running.url)
    const reply = await post(running.url, { jsonrpc: "2.0", method, params }, session)
    expect([reply.status, reply.text]).toEqual([202, ""])
    expect(reply.headers).not.toHaveProperty("content-type")
  })

  it("the version header of a session may be left out, and must be served when it is there", async () => {
    const { "mcp-session-id": id = "" } = await openSession(running.url)
    expect((await post(running.url, legacyRequest(1, "ping"), { "mcp-session-id": id })).status).toBe(200)
    for (const version of ["2024-11-05", "2025-03-26"]) {
      const reply = await post(running.url, legacyRequest(1, "ping"), {
        "mcp-session-id": id,
        "mcp-protocol-version": version,
      })
      expect(reply.status).toBe(400)
      expect(reply.json).toMatchObject({
        id: 1,
        error: { code: -32600, data: { supported: ["2026-07-28", "2025-11-25", "2025-06-18"], requested: version } },
      })
    }
  })

  it("a batch is refused as one, without an id", async () => {
    const session = await openSession(running.url)
    for (const body of ["[]", JSON.stringify([legacyRequest(1, "ping"), legacyRequest(2, "ping")])]) {
      const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...session }
      const reply = await send(running.url, { body, headers })
      expect(reply.status).toBe(400)
      expect(reply.json).toMatchObject({ error: { code: -32600, data: { reason: "batch_unsupported" } } })
      expect(reply.json).not.toHaveProperty("id")
    }
  })
})
