/** Eras, ids, cancellation and notifications on one pipe, as bytes on the streams of a real process. */
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"
import { type Child, fixture, startNode } from "./stdio/child.js"

let child: Child
beforeEach(() => {
  child = startNode([fixture("server.js")])
})
afterEach(() => child.stop())

const call = (id: string | number, name: string, args: Json = {}): Json =>
  modernRequest(id, "tools/call", { name, arguments: args })
const legacyCall = (id: string | number, name: string, args: Json = {}): Json =>
  legacyRequest(id, "tools/call", { name, arguments: args })
const cancelled = (requestId: string | number): Json => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId, reason: "changed my mind" },
})
const text = (said: string): object => ({ result: { content: [{ type: "text", text: said }] } })
const answers = (): Json[] => child.lines.map((line) => JSON.parse(line) as Json)

describe("request ids", () => {
  const duplicate = { error: { code: -32600, data: { reason: "duplicate_request_id" } } }

  it.each([
    ["modern", call, () => Promise.resolve()],
    ["legacy", legacyCall, async () => void (await child.request(initializeRequest("open")))],
  ])("in flight are refused to a newcomer, and the first completes (%s)", async (_, request, open) => {
    await open()
    const before = child.lines.length
    await child.send(request(7, "wait", { ms: 20 }), request(7, "echo", { text: "the newcomer" }))
    expect(await child.next((message) => message["id"] === 7 && "error" in message)).toMatchObject(duplicate)
    expect(await child.next((message) => message["id"] === 7 && "result" in message)).toMatchObject(text("waited"))
    expect(child.lines).toHaveLength(before + 2)
  })

  it("in flight in one era are refused in the other", async () => {
    await child.request(initializeRequest("open"))
    await child.send(call(7, "wait", { ms: 20 }), legacyCall(7, "echo", { text: "the newcomer" }))
    expect(await child.next((message) => message["id"] === 7 && "error" in message)).toMatchObject(duplicate)
    expect(await child.next((message) => message["id"] === 7 && "result" in message)).toMatchObject(text("waited"))
  })

  it("can be used again after completion", async () => {
    for (const said of ["one", "two", "three"]) {
      await child.send(call(1, "echo", { text: said }))
      await child.next((message) => JSON.stringify(message).includes(`"${said}"`))
    }
    expect(child.lines).toHaveLength(3)
  })

  it("come back with their type", async () => {
    for (const id of [0, "", "1", 1, -1, "a b"]) {
      expect(await child.request(call(id, "echo", { text: "x" }))).toMatchObject({ id, ...text("x") })
    }
  })

  it("are compared with their type", async () => {
    await child.send(call(1, "wait", { ms: 20 }), call("1", "echo", { text: "x" }))
    expect(await child.next((message) => message["id"] === "1")).toMatchObject(text("x"))
    expect(await child.next((message) => message["id"] === 1)).toMatchObject(text("waited"))
  })
})

describe("cancellation", () => {
  it.each([
    ["modern", call, () => Promise.resolve()],
    ["legacy", legacyCall, async () => void (await child.request(initializeRequest("open")))],
  ])("aborts the handler, writes nothing for the id and releases it (%s)", async (_, request, open) => {
    await open()
    const before = child.lines.length
    await child.send(request(0, "hang"))
    await child.says("hang: started")
    await child.send(cancelled(0))
    await child.says("hang: aborted, changed my mind")
    expect(await child.request(request(0, "echo", { text: "again" }))).toMatchObject(text("again"))
    await child.request(call("last", "echo", { text: "x" }))
    expect(child.lines).toHaveLength(before + 2)
  })

  it("of an id that is not in flight, or of another type, has no effect", async () => {
    const withoutParams = { jsonrpc: "2.0", method: "notifications/cancelled" }
    await child.send(call(1, "wait", { ms: 20 }), cancelled("1"), cancelled(99), withoutParams)
    expect(await child.next((message) => message["id"] === 1)).toMatchObject(text("waited"))
    expect(child.lines).toHaveLength(1)
  })
})

describe("an answer", () => {
  it("is not written together with the progress of its call, which some clients would then drop", async () => {
    const other = startNode(["--import", "./test/transport/stdio/writes.js", fixture("server.js")])
    const params = { name: "report", _meta: { progressToken: "p" } }
    expect(await other.request(modernRequest(1, "tools/call", params))).toMatchObject(text("reported"))
    other.end()
    await other.ended
    const writes = other.stderr.split("\n").filter((line) => line.startsWith("[write] "))
    expect(writes).toHaveLength(2)
    expect(writes[0]).toContain('"whole')
    expect(writes[0]).not.toContain("reported")
  })

  it("is still written when the input ends while it is held apart", async () => {
    await child.send(modernRequest(1, "tools/call", { name: "report", _meta: { progressToken: "p" } }))
    child.end()
    await child.ended
    expect(answers()).toMatchObject([
      { method: "notifications/progress" },
      { method: "notifications/progress" },
      { id: 1 },
    ])
  })
})

describe("both eras", () => {
  it("interleave on one process", async () => {
    expect(await child.request(call(1, "echo", { text: "modern first" }))).toMatchObject({
      result: { resultType: "complete", content: [{ text: "modern first" }] },
    })
    const opened = await child.request(initializeRequest(2, "2025-06-18"))
    expect(opened).toMatchObject({ result: { protocolVersion: "2025-06-18", serverInfo: { name: "stdio" } } })
    await child.send({ jsonrpc: "2.0", method: "notifications/initialized" })
    await Promise.all(
      Array.from({ length: 20 }, async (_, index) => {
        const said = `call ${index}`
        const request = index % 2 === 0 ? call : legacyCall
        const answer = await child.request(request(100 + index, "echo", { text: said }))
        expect(answer).toMatchObject(text(said))
        expect(JSON.stringify(answer).includes("resultType")).toBe(index % 2 === 0)
      }),
    )
  })

  it("are told apart by the message, not by what came before", async () => {
    await child.request(initializeRequest(1))
    expect(await child.request(modernRequest(2, "server/discover"))).toMatchObject({
      result: { supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18"] },
    })
    expect(await child.request(legacyRequest(3, "server/discover"))).toMatchObject({ error: { code: -32601 } })
    expect(await child.request(modernRequest(4, "ping"))).toMatchObject({ error: { code: -32601 } })
    expect(await child.request(legacyRequest(5, "ping"))).toMatchObject({ result: {} })
  })
})

describe("the handshake", () => {
  it("is refused when it comes twice, and the session goes on in its version", async () => {
    await child.request(initializeRequest(1, "2025-06-18"))
    expect(await child.request(initializeRequest(2, "2025-11-25"))).toMatchObject({
      id: 2,
      error: { code: -32600, data: { reason: "already_initialized" } },
    })
    expect(await child.request(legacyCall(3, "echo", { text: "still" }))).toMatchObject(text("still"))
  })

  it("may be preceded by ping", async () => {
    expect(await child.request(legacyRequest(1, "ping"))).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
  })

  it("or a version in _meta must precede every other request", async () => {
    for (const method of ["tools/list", "tools/call", "server/discover", "logging/setLevel", "no/such"]) {
      const answer = await child.request(legacyRequest(method, method, {}))
      expect(answer).toMatchObject({ id: method, error: { code: -32602 } })
      expect((answer["error"] as Json)["message"]).toContain("io.modelcontextprotocol/protocolVersion")
    }
    expect(await child.request(initializeRequest("late"))).toHaveProperty("result")
  })
})

describe("notifications", () => {
  it("are never answered, known or not, well formed or not", async () => {
    const methods = ["notifications/initialized", "notifications/cancelled", "notifications/no-such", "tools/list"]
    for (const method of methods) {
      await child.send({ jsonrpc: "2.0", method })
      await child.send({
        jsonrpc: "2.0",
        method,
        params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2099-01-01" } },
      })
      await child.send({
        jsonrpc: "2.0",
        method,
        params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
      })
    }
    await child.request(legacyRequest("after", "ping"))
    expect(answers()).toEqual([{ jsonrpc: "2.0", id: "after", result: {} }])
  })

  it("and responses that nobody waits for are passed over", async () => {
    await child.send({ jsonrpc: "2.0", id: 5, result: {} })
    await child.send({ jsonrpc: "2.0", id: 6, error: { code: -1, message: "no" } })
    await child.send({ jsonrpc: "2.0", id: null, error: { code: -32700, message: "no" } })
    await child.request(legacyRequest("after", "ping"))
    expect(child.lines).toHaveLength(1)
  })
})
