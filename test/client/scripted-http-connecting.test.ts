/** Earlier verdicts, and the ways in which an attempt to connect over HTTP is ended: what is sent, and what is left. */
import { type Client, lookup, type Prior } from "conduit-mcp/client"
import { describe, expect, it } from "vitest"
import { failure, failureOf, until } from "../support/failure.js"
import {
  type Answer,
  cut,
  discover,
  error,
  event,
  type HttpPeer,
  initialized,
  plain,
  result,
  type Script,
  silence,
} from "../support/http-peer.js"
import { dial, expectNothingLeft, open, start } from "./scripted-http/harness.js"

const called = result({ resultType: "complete", content: [{ type: "text", text: "done" }] })
const old: Script = { "server/discover": plain(404), initialize: initialized("2025-11-25", "s-1"), GET: plain(405) }
const modern = (peer: HttpPeer): Prior => ({ era: "modern", version: "2026-07-28", origin: peer.origin })
const legacy = (peer: HttpPeer): Prior => ({ era: "legacy", version: "2025-11-25", origin: peer.origin })
const textOf = async (client: Client): Promise<unknown> => (await client.callTool("t")).content

describe("an earlier verdict", () => {
  it("is plain JSON, and costs no round trip in the modern era", async () => {
    const peer = await start({ "server/discover": discover({ instructions: "use it" }), "tools/call": called })
    const first = await open(peer)
    const prior = JSON.parse(JSON.stringify(first.client.prior)) as Prior
    expect(prior).toEqual({
      era: "modern",
      version: "2026-07-28",
      origin: peer.origin,
      server: { name: "scripted", version: "1.0.0" },
      capabilities: { tools: {} },
      instructions: "use it",
    })
    await first.client.close()
    const { client } = await open(peer, { prior })
    expect(client.status).toMatchObject({ state: "connected", era: "modern", version: "2026-07-28", reason: "prior" })
    expect(client.status.server).toEqual({ name: "scripted", version: "1.0.0" })
    expect([client.capabilities, client.instructions]).toEqual([{ tools: {} }, "use it"])
    expect(await textOf(client)).toEqual([{ type: "text", text: "done" }])
    expect(peer.log).toEqual(["POST server/discover 1", "POST tools/call 1"])
    expect(peer.heard[1]?.headers).toMatchObject({ "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call" })
  })

  it("of the legacy era costs the handshake alone", async () => {
    const peer = await start({ ...old, "tools/call": called })
    const { client } = await open(peer, { prior: legacy(peer), standby: false })
    expect(client.status).toMatchObject({ era: "legacy", version: "2025-11-25", reason: "prior" })
    await textOf(client)
    expect(peer.log).toEqual(["POST initialize 1", "POST notifications/initialized", "POST tools/call 2"])
  })

  it("of a version that is answered and never offered costs the handshake alone, too", async () => {
    const peer = await start({ ...old, initialize: initialized("2025-03-26", "s-1"), "tools/call": called })
    const { client } = await open(peer, { prior: { ...legacy(peer), version: "2025-03-26" }, standby: false })
    expect(client.status).toMatchObject({ era: "legacy", version: "2025-03-26", reason: "prior" })
    await textOf(client)
    expect(peer.log).toEqual(["POST initialize 1", "POST notifications/initialized", "POST tools/call 2"])
    expect(peer.heard[0]?.message?.params).toMatchObject({ protocolVersion: "2025-11-25" })
  })

  it.each<[what: string, prior: (peer: HttpPeer) => Prior]>([
    ["of another origin", () => ({ era: "legacy", version: "2025-11-25", origin: "https://example.com" })],
    ["of a version that is not known", (peer) => ({ ...modern(peer), version: "2027-01-01" })],
  ])("%s is ignored", async (_what, prior) => {
    const peer = await start({ "server/discover": discover() })
    const { client } = await open(peer, { prior: prior(peer) })
    expect(client.status).toMatchObject({ era: "modern", reason: "discovered" })
    expect(peer.log).toEqual(["POST server/discover 1"])
  })

  it("of the legacy era is ignored where the modern one is asked for", async () => {
    const peer = await start({ "server/discover": discover() })
    const { client } = await open(peer, { prior: legacy(peer), protocol: "modern" })
    expect(client.status).toMatchObject({ era: "modern", reason: "pinned" })
    expect(peer.log).toEqual(["POST server/discover 1"])
  })

  const foreign: [what: string, answer: Answer][] = [
    ["400 without a body", plain(400)],
    ["404 with HTML", plain(404, "<html>")],
    ["405", plain(405)],
    ["400 with -32000", error(400, -32000)],
    ["404 with -32601", error(404, -32601)],
    ["200 with -32601", error(200, -32601)],
    ["400 with -32600", error(400, -32600)],
  ]

  it.each(foreign)("that turns out wrong is made anew by the first call: %s", async (_what, answer) => {
    const peer = await start({ ...old, "tools/call": [answer, called] })
    const { client } = await open(peer, { prior: modern(peer), standby: false })
    expect(await textOf(client)).toEqual([{ type: "text", text: "done" }])
    expect(client.status).toMatchObject({ state: "connected", era: "legacy", reason: "fell_back" })
    expect(client.prior).toMatchObject({ era: "legacy", version: "2025-11-25" })
    expect(peer.log).toEqual([
      "POST tools/call 1",
      "POST server/discover 1",
      "POST initialize 2",
      "POST notifications/initialized",
      "POST tools/call 3",
    ])
    expect(peer.heard[4]?.headers).toMatchObject({ "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" })
  })

  it("that turns out right although the call was refused is made anew once, and the refusal is the caller's: nothing is called again", async () => {
    const peer = await start({ "server/discover": discover(), "tools/call": error(200, -32602) })
    const { client } = await open(peer, { prior: modern(peer) })
    const told = { kind: "protocol", reason: "jsonrpc", code: -32602 }
    await expect(client.callTool("t")).rejects.toMatchObject(told)
    await expect(client.callTool("t")).rejects.toMatchObject(told)
    expect(peer.log).toEqual(["POST tools/call 1", "POST server/discover 1", "POST tools/call 2"])
  })

  it("is made anew by the first call only: after an answer it is the server's own", async () => {
    const peer = await start({ "server/discover": discover(), "tools/call": [called, plain(404)] })
    const { client } = await open(peer, { prior: modern(peer) })
    await client.callTool("t")
    await expect(client.callTool("t")).rejects.toMatchObject({ kind: "transport", reason: "http_status" })
    expect(peer.log).toEqual(["POST tools/call 1", "POST tools/call 2"])
  })

  it("is made anew once for all calls that wait", async () => {
    const peer = await start({ ...old, "tools/call": [plain(404), plain(404), plain(404), called] })
    const { client } = await open(peer, { prior: modern(peer), standby: false })
    await Promise.all([textOf(client), textOf(client), textOf(client)])
    expect(peer.log.filter((line) => /discover|initialize /.test(line))).toEqual([
      "POST server/discover 1",
      "POST initialize 2",
    ])
  })

  it("that turns out wrong, and nothing else right, is the call's error", async () => {
    const peer = await start({ "server/discover": plain(401), "tools/call": plain(404) })
    const { client } = await open(peer, { prior: modern(peer) })
    await expect(client.callTool("t")).rejects.toMatchObject({ kind: "authorization", reason: "unauthenticated" })
    expect(peer.log).toEqual(["POST tools/call 1", "POST server/discover 1"])
  })

  it.each<[what: string, answer: Answer]>([
    ...foreign,
    ["400 with -32020", error(400, -32020)],
    ["400 with -32022", error(400, -32022, { supported: ["2026-07-28"], requested: "2025-11-25" })],
    ["a version that is not known", initialized("2027-01-01")],
  ])("of the legacy era that turns out wrong is followed by a probe: %s", async (_what, answer) => {
    const peer = await start({ "server/discover": discover(), initialize: answer, "tools/call": called })
    const { client } = await open(peer, { prior: legacy(peer) })
    expect(client.status).toMatchObject({ era: "modern", reason: "discovered" })
    await textOf(client)
    expect(peer.log).toEqual(["POST initialize 1", "POST server/discover 1", "POST tools/call 2"])
  })

  it("of the legacy era is no reason to probe a server that wants credentials", async () => {
    const peer = await start({ "server/discover": discover(), initialize: plain(401) })
    const { opening } = dial(peer, { prior: legacy(peer) })
    await expect(opening).rejects.toMatchObject({ kind: "authorization", reason: "unauthenticated" })
    expect(peer.log).toEqual(["POST initialize 1"])
  })

  it.each<[what: string, prior: object]>([
    ["nothing", {}],
    ["members of other types", { era: 1, version: {}, capabilities: "x", server: 7, instructions: [] }],
    ["a server and capabilities of other types", { era: "modern", version: "2026-07-28", capabilities: 3, server: 7 }],
  ])("that was not kept as it was given harms nothing: %s", async (_what, prior) => {
    const peer = await start({ "server/discover": discover() })
    const { client } = await open(peer, { prior: { ...prior, origin: peer.origin } as unknown as Prior })
    expect(client.status.era).toBe("modern")
    expect(client.status.server).toSatisfy((server) => server === undefined || typeof server === "object")
    expect(typeof client.capabilities).toBe("object")
  })
})

/** The ways to wait while connecting: what is answered up to there, and what was sent by then. */
const waits: readonly (readonly [where: string, script: Script, sent: number])[] = [
  ["for the probe", { "server/discover": silence }, 1],
  ["for a server that is busy", { "server/discover": plain(503, "", { "retry-after": "30" }) }, 1],
  ["for the handshake", { ...old, initialize: silence }, 2],
  ["for the end of the handshake", { ...old, "notifications/initialized": silence }, 3],
  ["for the deprecated transport", { "server/discover": plain(404), initialize: plain(404), GET: silence }, 3],
]

describe("connecting is ended", () => {
  it.each(waits)("by connectTimeoutMs while it waits %s", async (_where, script, sent) => {
    const peer = await start(script)
    const { opening, clock } = dial(peer, { connectTimeoutMs: 9_000 })
    await until(() => peer.heard.length === sent)
    await until(() => clock.dueInMs.length > 1 || sent !== 1)
    clock.advance(9_000)
    expect(await failureOf(opening)).toEqual(
      failure({
        kind: "timeout",
        reason: "connect_timeout",
        retryable: true,
        message: `connecting to ${peer.origin} took longer than 9000 ms (connectTimeoutMs)`,
      }),
    )
    await expectNothingLeft(peer, clock)
    expect(peer.log.filter((line) => line !== "DELETE")).toHaveLength(sent)
    expect(peer.log.join()).not.toContain("cancelled")
  })

  it.each(waits)("by its signal while it waits %s", async (_where, script, sent) => {
    const peer = await start(script)
    const controller = new AbortController()
    const { opening, clock } = dial(peer, { signal: controller.signal })
    await until(() => peer.heard.length === sent)
    controller.abort(new Error("the user went away"))
    expect(await failureOf(opening)).toEqual(
      failure({
        kind: "cancelled",
        reason: "aborted",
        message: "the call was aborted by its caller",
        cause: new Error("the user went away"),
      }),
    )
    await expectNothingLeft(peer, clock)
    expect(peer.log.filter((line) => line !== "DELETE")).toHaveLength(sent)
    expect(peer.log.join()).not.toContain("cancelled")
  })

  it("by a signal that has aborted before anything is sent", async () => {
    const peer = await start({ "server/discover": discover() })
    const { opening, clock } = dial(peer, { signal: AbortSignal.abort("no") })
    expect(await failureOf(opening)).toMatchObject({ kind: "cancelled", reason: "aborted", cause: "no" })
    await expectNothingLeft(peer, clock)
    expect(peer.log).toEqual([])
  })

  it("by closing the client that was looked up meanwhile", async () => {
    const peer = await start({ "server/discover": plain(503, "", { "retry-after": "30" }) })
    const { opening, clock } = dial(peer, { name: "slow" })
    await until(() => clock.dueInMs.includes(30_000))
    await lookup("slow")?.client.close()
    expect(await failureOf(opening)).toEqual(
      failure({ kind: "cancelled", reason: "closed", message: "the client was closed" }),
    )
    await expectNothingLeft(peer, clock)
    expect(lookup("slow")).toBeUndefined()
    expect(peer.log).toEqual(["POST server/discover 1"])
  })

  it("no more once it is connected: the signal leaves the client alone, and keeps no listener", async () => {
    const peer = await start({ "server/discover": discover(), "tools/call": called })
    const controller = new AbortController()
    const { client } = await open(peer, { signal: controller.signal })
    controller.abort()
    expect(await textOf(client)).toEqual([{ type: "text", text: "done" }])
    expect(client.status.state).toBe("connected")
  })

  it("by a handshake without an answer, which is never cancelled", async () => {
    const peer = await start({ ...old, initialize: silence })
    const { opening, clock } = dial(peer, { timeoutMs: 4_000 })
    await until(() => peer.heard.length === 2)
    clock.advance(4_000)
    expect(await failureOf(opening)).toEqual(
      failure({
        kind: "timeout",
        reason: "connect_timeout",
        retryable: true,
        message: "initialize was not answered within 4000 ms (timeoutMs)",
      }),
    )
    await expectNothingLeft(peer, clock)
    expect(peer.log).toEqual(["POST server/discover 1", "POST initialize 2"])
  })

  it("by a handshake whose end is refused, without another transport, and the session is ended", async () => {
    for (const status of [400, 404, 405]) {
      const peer = await start({ ...old, "notifications/initialized": plain(status) })
      const { opening, clock } = dial(peer)
      expect(await failureOf(opening)).toMatchObject({ kind: "transport", reason: "http_status", data: { status } })
      await expectNothingLeft(peer, clock)
      expect(peer.log).toEqual([
        "POST server/discover 1",
        "POST initialize 2",
        "POST notifications/initialized",
        "DELETE",
      ])
    }
  })

  it("by a server that is gone for the whole of it, and a client can be made again", async () => {
    const peer = await start({ "server/discover": [cut, cut, cut, cut, discover()] })
    const { opening, clock } = dial(peer, { name: "again" })
    for (const ms of [200, 400, 800]) {
      await until(() => clock.dueInMs.some((due) => due <= ms))
      clock.advance(ms)
    }
    await expect(opening).rejects.toMatchObject({ kind: "transport", reason: "network_error", retryable: true })
    const { client } = await open(peer, { name: "again" })
    expect(lookup("again")?.client).toBe(client)
  })
})

describe("handlers are there from the first byte", () => {
  const question = { jsonrpc: "2.0", id: 0, method: "roots/list" }
  const roots = { roots: () => [{ uri: "file:///srv/project" }] }
  const answer = { jsonrpc: "2.0", id: 0, result: { roots: [{ uri: "file:///srv/project" }] } }

  it.each(["initialize", "GET"])("a question on the stream of %s is answered", async (where) => {
    const asks: Answer = ({ message }, response) => {
      response.writeHead(200, { "content-type": "text/event-stream", "mcp-session-id": "s-1" })
      response.write(event(question))
      const opened = { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "s", version: "1" } }
      if (message !== undefined) response.end(event({ jsonrpc: "2.0", id: message.id, result: opened }))
    }
    const peer = await start({ ...old, [where]: asks })
    await open(peer, { handlers: roots })
    await until(() => peer.heard.some(({ message }) => message !== undefined && message.method === undefined))
    const told = peer.heard.filter(({ message }) => message !== undefined && message.method === undefined)
    expect(told.map(({ message }) => message)).toEqual([answer])
    expect(peer.heard[1]?.message?.params).toMatchObject({ capabilities: { roots: {} } })
  })
})
