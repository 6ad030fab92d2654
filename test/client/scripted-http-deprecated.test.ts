/** The deprecated HTTP+SSE transport as the last resort: when it is tried, what is shown when it fails too, and calls over it. */
import type { ServerResponse } from "node:http"
import { describe, expect, it } from "vitest"
import { failure, failureOf, until } from "../support/failure.js"
import {
  type Answer,
  cut,
  discover,
  error,
  event,
  type Heard,
  type HttpPeer,
  initialized,
  plain,
  result,
  type Script,
  stream,
} from "../support/http-peer.js"
import { dial, expectNothingLeft, open, start } from "./scripted-http/harness.js"

const html = { "content-type": "text/html" }
const opened = { protocolVersion: "2024-11-05", capabilities: {}, serverInfo: { name: "old", version: "1.0.0" } }
const byPath = (heard: Heard): boolean => heard.path.startsWith("/messages")

interface OldPeer {
  readonly peer: HttpPeer
  readonly stream: ServerResponse
  say(message: object): void
}

/** A server of the deprecated transport: what it answers with goes out on its one stream; POSTs elsewhere get `refusal`. */
async function startOld(answers: Record<string, (heard: Heard, say: OldPeer["say"]) => void>, refusal: Answer) {
  let opening: ServerResponse | undefined
  const say = (message: object): void => void opening?.write(event(message))
  const get: Answer = (_, response) => {
    opening = response
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write("event: endpoint\ndata: /messages?sessionId=1\n\n")
  }
  const post: Answer = (heard, response) => {
    if (!byPath(heard)) return refusal(heard, response)
    response.writeHead(202).end("Accepted")
    const { id, method = "response" } = heard.message ?? {}
    if (method === "initialize") return say({ jsonrpc: "2.0", id, result: opened })
    answers[method]?.(heard, say)
  }
  const peer = await start({ GET: get, "*": post })
  return { peer, say, end: () => opening?.end() }
}

const lines = (peer: HttpPeer): string[] => peer.heard.map(({ path }, index) => `${peer.log[index]} ${path}`)

describe("the deprecated transport", () => {
  it.each<[what: string, refusal: Answer]>([
    ["400", plain(400)],
    ["404 with HTML", plain(404, "<html>", html)],
    ["405", plain(405)],
    ["400 with an error of JSON-RPC that any server may send", error(400, -32000)],
  ])("is tried after %s, and calls go over it", async (_what, refusal) => {
    const { peer } = await startOld(
      { "tools/call": ({ message }, say) => say({ jsonrpc: "2.0", id: message?.id, result: { content: [] } }) },
      refusal,
    )
    const { client, clock } = await open(peer)
    expect(client.status).toEqual({
      state: "connected",
      era: "legacy",
      version: "2024-11-05",
      reason: "fell_back",
      origin: peer.origin,
      server: { name: "old", version: "1.0.0" },
    })
    expect(await client.callTool("t")).toMatchObject({ content: [], isError: false })
    expect(lines(peer)).toEqual([
      "POST server/discover 1 /mcp",
      "POST initialize 2 /mcp",
      "GET /mcp",
      "POST initialize 1 /messages?sessionId=1",
      "POST notifications/initialized /messages?sessionId=1",
      "POST tools/call 2 /messages?sessionId=1",
    ])
    expect(peer.heard[5]?.headers).not.toHaveProperty("mcp-session-id")
    expect(peer.heard[5]?.message?.params).toEqual({ name: "t", arguments: {} })
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("is tried where a legacy version is asked for, too, and offered that version", async () => {
    const { peer } = await startOld({}, plain(404))
    const { client } = await open(peer, { protocol: "legacy" })
    expect(client.status).toMatchObject({ era: "legacy", version: "2024-11-05", reason: "pinned" })
    expect(lines(peer).slice(0, 3)).toEqual([
      "POST initialize 1 /mcp",
      "GET /mcp",
      "POST initialize 1 /messages?sessionId=1",
    ])
    const pinned = await startOld({}, plain(404))
    expect(await failureOf(dial(pinned.peer, { protocol: "2025-06-18" }).opening)).toMatchObject({
      kind: "transport",
      reason: "http_status",
      message: `initialize: expected a JSON-RPC response, got HTTP 404 without a body; the deprecated HTTP+SSE transport was tried last: no common protocol version: the server offers 2024-11-05`,
    })
    expect(pinned.peer.heard[2]?.message?.params).toMatchObject({ protocolVersion: "2025-06-18" })
  })

  it.each<[what: string, script: Script, told: object]>([
    ["401", { initialize: plain(401) }, { kind: "authorization", reason: "unauthenticated" }],
    ["403", { initialize: plain(403) }, { kind: "authorization", reason: "forbidden" }],
    ["406", { initialize: plain(406) }, { kind: "transport", reason: "http_status", data: { status: 406 } }],
    ["200 with HTML", { initialize: plain(200, "<html>", html) }, { kind: "transport", reason: "http_status" }],
    ["-32601", { initialize: error(404, -32601) }, { kind: "protocol", reason: "jsonrpc", code: -32601 }],
    ["-32020", { initialize: error(400, -32020) }, { kind: "protocol", reason: "jsonrpc", code: -32020 }],
    ["-32021", { initialize: error(400, -32021) }, { kind: "protocol", reason: "jsonrpc", code: -32021 }],
    ["-32022", { initialize: error(400, -32022) }, { kind: "protocol", reason: "jsonrpc", code: -32022 }],
    ["200 with an error", { initialize: error(200, -32000) }, { kind: "protocol", reason: "jsonrpc", code: -32000 }],
    ["another version", { initialize: initialized("2020-01-01") }, { kind: "protocol", reason: "no_common_version" }],
    ["a modern error", { "server/discover": error(404, -32021) }, { kind: "protocol", code: -32021 }],
    ["401 to the probe", { "server/discover": plain(401) }, { kind: "authorization", reason: "unauthenticated" }],
  ])("is not tried after %s", async (_what, script, told) => {
    const peer = await start({ "server/discover": plain(404), GET: stream("event: endpoint\ndata: /m\n\n"), ...script })
    const { opening, clock } = dial(peer)
    expect(await failureOf(opening)).toMatchObject(told)
    expect(peer.log).not.toContain("GET")
    await expectNothingLeft(peer, clock)
  })

  it("is not tried where the modern era is asked for, or when it is switched off", async () => {
    const script: Script = { "*": plain(404) }
    const modern = await start(script)
    expect(await failureOf(dial(modern, { protocol: "modern" }).opening)).toMatchObject({ reason: "no_common_version" })
    expect(modern.log).toEqual(["POST server/discover 1"])
    const off = await start(script)
    expect(await failureOf(dial(off, { deprecatedSse: false }).opening)).toEqual(
      failure({
        kind: "transport",
        reason: "http_status",
        message: "initialize: expected a JSON-RPC response, got HTTP 404 without a body",
        data: { status: 404 },
      }),
    )
    expect(off.log).toEqual(["POST server/discover 1", "POST initialize 2"])
  })

  it.each<[what: string, answer: Answer, last: string | RegExp]>([
    ["405", plain(405), /the event stream of the HTTP\+SSE transport: http:\S+ answered with HTTP 405$/],
    [
      "HTML",
      plain(200, "<html>", html),
      /the event stream of the HTTP\+SSE transport: http:\S+ answered with HTTP 200$/,
    ],
    ["a cut connection", cut, /no answer from http:\S+: ECONNRESET$/],
    ["a stream that ends", stream(": hi\n\n"), /the answer of http:\S+ ended before the response$/],
    [
      "an address elsewhere",
      stream("event: endpoint\ndata: https://evil.example/steal?x=1\n\n", false),
      /the server named one at https:\/\/evil\.example: messages are sent to no other origin$/,
    ],
  ])("that fails with %s leaves the first error as the cause that is shown", async (_what, answer, last) => {
    const peer = await start({ "*": plain(404, "nothing here", { "content-type": "text/plain" }), GET: answer })
    const { opening, clock } = dial(peer)
    const first = "initialize: expected a JSON-RPC response, got HTTP 404 with text/plain: nothing here"
    const told = await failureOf(opening)
    expect(told).toMatchObject({
      kind: "transport",
      reason: "http_status",
      retryable: false,
      data: { status: 404 },
      message: expect.stringMatching(/^initialize: .*; the deprecated HTTP\+SSE transport was tried last: /),
      cause: {
        message: "no transport of any era was answered as expected",
        errors: [
          { message: first.replace("initialize", "server/discover") },
          { message: first },
          { message: expect.stringMatching(last) },
        ],
      },
    })
    expect(told).toMatchObject({ message: expect.stringMatching(last) })
    expect(peer.log).toEqual(["POST server/discover 1", "POST initialize 2", "GET"])
    await expectNothingLeft(peer, clock)
  })

  it("an error of JSON-RPC that was the first keeps its code", async () => {
    const peer = await start({ "*": error(400, -32000), GET: plain(404) })
    expect(await failureOf(dial(peer).opening)).toMatchObject({ kind: "protocol", reason: "jsonrpc", code: -32000 })
    expect(peer.log).toEqual(["POST server/discover 1", "POST initialize 2", "GET"])
  })

  it("carries the headers of the client and of the call on every request", async () => {
    const { peer, say } = await startOld(
      { "tools/call": () => say({ jsonrpc: "2.0", id: "q", method: "roots/list" }) },
      plain(404),
    )
    const { client, clock } = await open(peer, {
      headers: { authorization: "Bearer client" },
      handlers: { roots: () => [] },
    })
    const call = client.callTool("t", {}, { headers: { authorization: "Bearer call" }, timeoutMs: 1_000 })
    call.catch(() => {})
    await until(() => peer.heard.length === 7)
    clock.advance(1_000)
    await expect(call).rejects.toMatchObject({ kind: "timeout" })
    await until(() => peer.heard.length === 8)
    expect(lines(peer).slice(5)).toEqual([
      "POST tools/call 2 /messages?sessionId=1",
      "POST q /messages?sessionId=1",
      "POST notifications/cancelled /messages?sessionId=1",
    ])
    const sent = peer.heard.map(({ headers }) => headers["authorization"])
    expect(sent.slice(0, 5)).toEqual(Array(5).fill("Bearer client"))
    // The stream is shared: a question on it belongs to no one call, a cancellation does.
    expect(sent.slice(5)).toEqual(["Bearer call", "Bearer client", "Bearer call"])
  })

  it("that is lost fails what is in flight, and every later call", async () => {
    const { peer, end } = await startOld({ "tools/call": () => end() }, plain(404))
    const { client, clock } = await open(peer, { reconnect: false })
    expect(await failureOf(client.callTool("t"))).toMatchObject({
      kind: "connection_down",
      reason: "pipe_closed",
      retryable: true,
      message: `the event stream of ${peer.origin} is lost: the server ended it`,
    })
    expect(client.status).toMatchObject({ state: "failed", reason: "pipe_closed" })
    expect(await failureOf(client.callTool("t"))).toMatchObject({ kind: "connection_down", reason: "not_connected" })
    await client.close()
    await expectNothingLeft(peer, clock)
  })
})

it("a server that speaks both is spoken to by the newer transport", async () => {
  const peer = await start({ "server/discover": discover(), "tools/list": result({ tools: [] }), GET: plain(500) })
  const { client } = await open(peer)
  await client.listTools()
  expect(peer.log).toEqual(["POST server/discover 1", "POST tools/list 2"])
})
