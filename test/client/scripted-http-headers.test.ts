/** The headers of everything that a client sends over HTTP: the application's, those that repeat the body, and the session's. */
import type { HeaderSource } from "conduit-mcp/client"
import { describe, expect, it } from "vitest"
import { failure, failureOf, pass, until } from "../support/failure.js"
import {
  type Answer,
  discover,
  error,
  event,
  type Heard,
  type HttpPeer,
  initialized,
  plain,
  result,
  type Script,
  silence,
  stream,
} from "../support/http-peer.js"
import { dial, expectNothingLeft, open, start } from "./scripted-http/harness.js"

const called = result({ resultType: "complete", content: [] })
const legacy = (session?: string): Script => ({
  "server/discover": plain(404),
  initialize: initialized("2025-11-25", session),
  GET: plain(405),
})
const lastOf = (peer: HttpPeer): Heard["headers"] => peer.heard.at(-1)?.headers ?? {}
const sentOf = (peer: HttpPeer, name: string): readonly unknown[] => peer.heard.map(({ headers }) => headers[name])

/** The three forms in which headers can be given. */
const forms: readonly (readonly [form: string, of: (values: Record<string, string>) => HeaderSource])[] = [
  ["an object", (values) => values],
  ["Headers", (values) => new Headers(values)],
  ["an async function", (values) => async () => values],
]

describe.each(forms)("headers as %s", (_form, of) => {
  it("go with every request of the client: POST, GET and DELETE", async () => {
    const drop = stream(`retry: 700\n${event({ jsonrpc: "2.0", method: "notifications/message", params: {} }, "e-1")}`)
    const answered = stream(event({ jsonrpc: "2.0", id: 3, result: { content: [] } }))
    const peer = await start({ ...legacy("s-1"), "tools/call": drop, GET: [plain(405), answered] })
    const { client, clock } = await open(peer, { headers: of({ "X-Tenant": " acme ", Authorization: "Bearer a" }) })
    await until(() => peer.heard.length === 4)
    const call = client.callTool("t")
    await pass(clock, 700)
    await call
    await client.close()
    await until(() => peer.heard.length === 7)
    expect(peer.log).toEqual([
      "POST server/discover 1",
      "POST initialize 2",
      "POST notifications/initialized",
      "GET",
      "POST tools/call 3",
      "GET",
      "DELETE",
    ])
    expect(sentOf(peer, "x-tenant")).toEqual(Array(7).fill("acme"))
    expect(sentOf(peer, "authorization")).toEqual(Array(7).fill("Bearer a"))
  })

  it("of a call go over the client's with every request that is for the call, and with no other", async () => {
    const ask = event({ jsonrpc: "2.0", id: "q", method: "roots/list" }, "e-1")
    const peer = await start({ ...legacy("s-1"), "tools/call": stream(ask), GET: [plain(405), silence] })
    const { client, clock } = await open(peer, {
      headers: { authorization: "Bearer client", "x-tenant": "acme" },
      handlers: { roots: () => [] },
    })
    await until(() => peer.heard.length === 4)
    const call = client.callTool("t", {}, { headers: of({ authorization: "Bearer call" }), timeoutMs: 5_000 })
    call.catch(() => {})
    await until(() => peer.heard.length === 6)
    clock.advance(1_000)
    await until(() => peer.heard.length === 7)
    clock.advance(5_000)
    await expect(call).rejects.toMatchObject({ kind: "timeout" })
    await until(() => peer.heard.length === 8)
    await client.close()
    expect(peer.log.slice(4)).toEqual(["POST tools/call 3", "POST q", "GET", "POST notifications/cancelled", "DELETE"])
    expect(sentOf(peer, "authorization").slice(4)).toEqual([...Array(4).fill("Bearer call"), "Bearer client"])
    expect(sentOf(peer, "x-tenant").slice(4)).toEqual(Array(5).fill("acme"))
    expect(sentOf(peer, "mcp-session-id").slice(3)).toEqual(Array(6).fill("s-1"))
  })

  it.each<[what: string, name: string, value: string, why: string]>([
    [
      "a line break",
      "x-a",
      "1\r\nx-b: 2",
      "the value of x-a has a line break or another character that no header may hold",
    ],
    [
      "a character beyond Latin-1",
      "x-a",
      "☃",
      "the value of x-a has a line break or another character that no header may hold",
    ],
    ["too much", "x-a", "a".repeat(16_385), "the value of x-a is longer than 16384 bytes"],
    ["a name with a space", "x a", "1", '"x a" is no name of a header'],
  ])("with %s are refused before anything is sent", async (_what, name, value, why) => {
    let source: HeaderSource
    try {
      source = of({ [name]: value })
    } catch {
      return // The platform's own form takes no such header.
    }
    const told = failure({ kind: "misuse", reason: "invalid_option", message: `headers: ${why}` })
    const peer = await start({ "server/discover": discover(), "tools/call": called })
    expect(await failureOf(dial(peer, { headers: source }).opening)).toEqual(told)
    expect(peer.log).toEqual([])
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("t", {}, { headers: source }))).toEqual(told)
    expect(peer.log).toEqual(["POST server/discover 1"])
    await client.callTool("t")
  })
})

describe("headers of the application", () => {
  it("that are asked for are asked for before each request", async () => {
    const peer = await start({ "server/discover": discover(), "tools/call": called })
    let count = 0
    const { client } = await open(peer, { headers: () => ({ "x-n": String(++count) }) })
    await client.callTool("t")
    await client.callTool("t")
    expect(sentOf(peer, "x-n")).toEqual(["1", "2", "3"])
  })

  it("that cannot be had fail the request with the function's error as the cause, and nothing is sent", async () => {
    const peer = await start({ "server/discover": discover(), "tools/call": called })
    const { client } = await open(peer)
    const headers = (): Promise<never> => Promise.reject(new Error("no token"))
    expect(await failureOf(client.callTool("t", {}, { headers }))).toEqual(
      failure({
        kind: "misuse",
        reason: "invalid_option",
        message: "headers: the function that gives them failed",
        cause: new Error("no token"),
      }),
    )
    expect(await failureOf(dial(peer, { headers }).opening)).toMatchObject({ kind: "misuse" })
    expect(peer.log).toEqual(["POST server/discover 1"])
  })

  it("never stand for the protocol's own", async () => {
    const peer = await start({ "server/discover": discover(), "tools/call": called })
    const headers = {
      "Mcp-Method": "tools/list",
      "mcp-protocol-version": "2024-11-05",
      "Mcp-Session-Id": "mine",
      "mcp-param-a": "b",
      accept: "text/html",
      "content-type": "text/plain",
      host: "evil.example",
    }
    const { client } = await open(peer, { headers })
    const { "mcp-param-a": _, ...others } = headers
    await client.callTool("t", {}, { headers: others })
    expect(lastOf(peer)).toMatchObject({
      "mcp-method": "tools/call",
      "mcp-protocol-version": "2026-07-28",
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      host: new URL(peer.url).host,
    })
    expect(lastOf(peer)).not.toHaveProperty("mcp-session-id")
    expect(lastOf(peer)).not.toHaveProperty("mcp-param-a")
  })

  it("of a call may repeat arguments of a tool that was never listed, and stand for none of a listed one", async () => {
    const inputSchema = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }
    const tools = result({
      resultType: "complete",
      tools: [{ name: "t", inputSchema }],
      ttlMs: 0,
      cacheScope: "private",
    })
    const peer = await start({ "server/discover": discover(), "tools/list": tools, "tools/call": called })
    const { client } = await open(peer)
    const headers = async () => ({ "Mcp-Param-Region": "us", "Mcp-Param-Other": "x" })
    await client.callTool("t", { region: "eu" }, { headers })
    expect(lastOf(peer)).toMatchObject({ "mcp-param-region": "us", "mcp-param-other": "x" })
    await client.listTools()
    await client.callTool("t", { region: "eu" }, { headers })
    expect(lastOf(peer)).toMatchObject({ "mcp-param-region": "eu", "mcp-param-other": "x" })
    await client.callTool("t", { region: "eu" })
    expect(lastOf(peer)).not.toHaveProperty("mcp-param-other")
  })

  it("user and password of the address are sent as credentials, and never shown", async () => {
    const peer = await start({ "server/discover": discover(), "tools/call": plain(500) })
    const { client } = await open({ url: peer.url.replace("//", "//ada:s3cret@") })
    expect(peer.heard[0]?.headers["authorization"]).toBe(`Basic ${btoa("ada:s3cret")}`)
    expect(peer.heard[0]?.path).toBe("/mcp")
    const told = await failureOf(client.callTool("t"))
    expect(JSON.stringify([told, client.status, client.prior])).not.toContain("s3cret")
  })
})

describe("headers that repeat the body", () => {
  const tool = (marks: Record<string, unknown> = {}): object => ({
    name: "t",
    inputSchema: { type: "object", properties: marks },
  })
  const marked = tool({
    region: { type: "string", "x-mcp-header": "Region" },
    count: { type: "integer", "x-mcp-header": "Count" },
    dry: { type: "boolean", "x-mcp-header": "Dry" },
    note: { type: "string" },
  })
  const listed = (...tools: object[]): Answer =>
    result({ resultType: "complete", tools, ttlMs: 0, cacheScope: "private" })
  const mismatch = error(400, -32020)

  it("name the method, and what it is about", async () => {
    const peer = await start({ "*": result({ resultType: "complete", contents: [], messages: [], content: [] }) })
    const { client } = await open(peer, { prior: { era: "modern", version: "2026-07-28", origin: peer.origin } })
    await client.readResource("file:///a b.txt")
    await client.getPrompt("größe")
    await client.callTool("🙂")
    expect(sentOf(peer, "mcp-method")).toEqual(["resources/read", "prompts/get", "tools/call"])
    const base64 = (text: string): string => `=?base64?${Buffer.from(text).toString("base64")}?=`
    expect(sentOf(peer, "mcp-name")).toEqual(["file:///a b.txt", base64("größe"), base64("🙂")])
    expect(sentOf(peer, "mcp-protocol-version")).toEqual(Array(3).fill("2026-07-28"))
  })

  it("repeat the arguments that a listed tool marks", async () => {
    const peer = await start({ "server/discover": discover(), "tools/list": listed(marked), "tools/call": called })
    const { client } = await open(peer)
    await client.listTools()
    await client.callTool("t", { region: "eu\n1", count: 3, dry: false, note: "n" })
    const headers = Object.entries(lastOf(peer)).filter(([name]) => name.startsWith("mcp-param-"))
    expect(Object.fromEntries(headers)).toEqual({
      "mcp-param-region": `=?base64?${btoa("eu\n1")}?=`,
      "mcp-param-count": "3",
      "mcp-param-dry": "false",
    })
    await client.callTool("t", { note: "n" })
    expect(Object.keys(lastOf(peer)).filter((name) => name.startsWith("mcp-param-"))).toEqual([])
  })

  it("that are missed are sent once the tools were listed again", async () => {
    const script: Script = {
      "server/discover": discover(),
      "tools/list": listed(marked),
      "tools/call": [mismatch, called],
    }
    const peer = await start(script)
    // The call has the only place in line, and the list is a part of it.
    const { client } = await open(peer, { limits: { maxInFlight: 1 } })
    await client.callTool("t", { region: "eu" }, { headers: { authorization: "Bearer call" } })
    expect(peer.log).toEqual(["POST server/discover 1", "POST tools/call 2", "POST tools/list 3", "POST tools/call 4"])
    expect(sentOf(peer, "mcp-param-region")).toEqual([undefined, undefined, undefined, "eu"])
    expect(sentOf(peer, "authorization")).toEqual([undefined, ...Array(3).fill("Bearer call")])
  })

  it("that are missed twice are the call's error", async () => {
    const peer = await start({ "server/discover": discover(), "tools/list": listed(marked), "tools/call": mismatch })
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("t", { region: "eu" }))).toEqual(
      failure({
        kind: "protocol",
        reason: "jsonrpc",
        code: -32020,
        message: "tools/call: the server answered with error -32020: refused",
      }),
    )
    expect(peer.log.slice(1)).toEqual(["POST tools/call 2", "POST tools/list 3", "POST tools/call 4"])
  })

  it.each<[what: string, answer: Answer]>([
    ["is refused", plain(401)],
    ["fails", plain(500)],
    ["is no list", result({ resultType: "complete" })],
  ])("that are missed are the call's error when the list %s", async (_what, answer) => {
    const peer = await start({ "server/discover": discover(), "tools/list": answer, "tools/call": mismatch })
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("t"))).toMatchObject({ kind: "protocol", code: -32020 })
    expect(peer.log.slice(1)).toEqual(["POST tools/call 2", "POST tools/list 3"])
  })

  it("are not looked for once the caller has gone", async () => {
    const peer = await start({ "server/discover": discover(), "tools/list": silence, "tools/call": mismatch })
    const { client, clock } = await open(peer)
    const controller = new AbortController()
    const call = client.callTool("t", {}, { signal: controller.signal })
    await until(() => peer.heard.length === 3)
    controller.abort("gone")
    expect(await failureOf(call)).toMatchObject({ kind: "cancelled", reason: "aborted", cause: "gone" })
    await peer.idle()
    await client.close()
    await expectNothingLeft(peer, clock)
    expect(peer.log.slice(1)).toEqual(["POST tools/call 2", "POST tools/list 3"])
  })

  it("-32020 to anything but a tool call is told as it is", async () => {
    const peer = await start({ "server/discover": discover(), "prompts/get": mismatch })
    const { client } = await open(peer)
    expect(await failureOf(client.getPrompt("p"))).toMatchObject({ kind: "protocol", code: -32020 })
    expect(peer.log.slice(1)).toEqual(["POST prompts/get 2"])
  })

  it("are not sent in the legacy era", async () => {
    const list = result({ tools: [marked] })
    const peer = await start({ ...legacy("s-1"), "tools/list": list, "tools/call": called })
    const { client } = await open(peer, { standby: false })
    await client.listTools()
    await client.callTool("t", { region: "eu" })
    expect(Object.keys(lastOf(peer)).filter((name) => name.startsWith("mcp-"))).toEqual([
      "mcp-protocol-version",
      "mcp-session-id",
    ])
  })
})

describe("what a server may not make of a request", () => {
  it.each([301, 302, 303, 307, 308])("HTTP %i is not followed, wherever it leads", async (status) => {
    const elsewhere = await start({ "*": called })
    const away = plain(status, "", { location: `${elsewhere.origin}/mcp` })
    const peer = await start({ "server/discover": discover(), "tools/call": away, "tools/list": plain(status) })
    const { client } = await open(peer, { headers: { authorization: "Bearer secret" } })
    for (const call of [client.callTool("t"), client.request("tools/list")]) {
      expect(await failureOf(call)).toMatchObject({
        kind: "transport",
        reason: "http_status",
        retryable: false,
        message: expect.stringMatching(`: expected a JSON-RPC response, got HTTP ${status} without a body$`),
        data: { status },
      })
    }
    expect(peer.log).toEqual(["POST server/discover 1", "POST tools/call 2", "POST tools/list 3"])
    expect(elsewhere.log).toEqual([])
  })

  it("cookies are not kept", async () => {
    const cookie = { "set-cookie": "sid=1; Path=/" }
    const peer = await start({ "server/discover": discover(), "tools/call": result({ content: [] }, cookie) })
    const { client } = await open(peer)
    await client.callTool("t")
    await client.callTool("t")
    expect(sentOf(peer, "cookie")).toEqual(Array(3).fill(undefined))
  })
})

it("no answer pins a connection, whatever it is, read or not: two serve forty calls", async () => {
  const response = { jsonrpc: "2.0", result: { content: [] } }
  const sse = (more: string): Answer => stream(({ message }) => event({ ...response, id: message?.id }) + more)
  const peer = await start({
    ...legacy("s-1"),
    "server/discover": plain(404, "x".repeat(60_000)),
    "notifications/initialized": plain(202, "Accepted", { "content-type": "text/plain" }),
    "tools/call": Array(5)
      .fill([
        result({ content: [] }),
        error(200, -32603),
        plain(500, "x".repeat(60_000)),
        plain(204),
        sse(""),
        sse(event({ jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } })),
        plain(401, "no", { "content-type": "application/json" }),
        result({ content: [] }),
      ])
      .flat(),
  })
  const { client } = await open(peer, { standby: false })
  for (let count = 0; count < 40; count++) await client.callTool("t").catch(() => {})
  expect(peer.log.filter((line) => line.startsWith("POST tools/call"))).toHaveLength(40)
  // The next call may begin before the end of a stream whose response has come.
  expect(peer.accepted).toBeLessThanOrEqual(2)
})
