/** Which era an application gets over HTTP, what it costs on the wire, and what it is told when there is none. */
import { describe, expect, it } from "vitest"
import { failure, failureOf, pass, until } from "../support/failure.js"
import {
  type Answer,
  cut,
  discover,
  error,
  type HttpPeer,
  initialized,
  plain,
  result,
  type Script,
  silence,
} from "../support/http-peer.js"
import { dial, expectNothingLeft, open, start } from "./scripted-http/harness.js"

const probe = "POST server/discover 1"
const handshake = (id: number): string[] => [`POST initialize ${id}`, "POST notifications/initialized"]
const html = plain(200, "<html>hello</html>", { "content-type": "text/html" })
const offers = (peer: HttpPeer): unknown[] =>
  peer.heard.flatMap(({ message }) => (message?.method === "initialize" ? message.params?.["protocolVersion"] : []))

describe("a modern server", () => {
  it("is asked once, by a request that names everything it has to", async () => {
    const peer = await start({ "server/discover": discover() })
    const { client } = await open(peer, { clientInfo: { name: "host", version: "2.0.0" } })
    expect(client.status).toEqual({
      state: "connected",
      era: "modern",
      version: "2026-07-28",
      reason: "discovered",
      origin: peer.origin,
      server: { name: "scripted", version: "1.0.0" },
    })
    expect(peer.log).toEqual([probe])
    expect(peer.heard[0]?.headers).toMatchObject({
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "server/discover",
    })
    expect(peer.heard[0]?.message?.params).toEqual({
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
        "io.modelcontextprotocol/clientInfo": { name: "host", version: "2.0.0" },
      },
    })
  })

  it.each<[what: string, more: object]>([
    ["none", { _meta: undefined }],
    ["an empty _meta", { _meta: {} }],
    ["one that is malformed", { _meta: { "io.modelcontextprotocol/serverInfo": { name: 7 } } }],
    ["one that is text", { _meta: { "io.modelcontextprotocol/serverInfo": "scripted" }, serverInfo: null }],
    ["no freshness and no resultType", { _meta: undefined, ttlMs: "x", cacheScope: 7, resultType: undefined }],
  ])("may say of itself what it likes: %s", async (_what, more) => {
    const peer = await start({ "server/discover": discover(more) })
    const { client } = await open(peer)
    expect(client.status).toMatchObject({ era: "modern", reason: "discovered", server: undefined })
    expect(peer.log).toEqual([probe])
  })

  it("is modern whichever HTTP status its answer has", async () => {
    const answer: Answer = ({ message }, response) => {
      const value = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} }
      response.writeHead(404, { "content-type": "application/json" })
      response.end(JSON.stringify({ jsonrpc: "2.0", id: message?.id, result: value }))
    }
    const { client } = await open(await start({ "server/discover": answer }))
    expect(client.status.era).toBe("modern")
  })
})

describe("-32022 to the probe", () => {
  const refused = (supported: unknown): Answer => error(400, -32022, { supported, requested: "2026-07-28" })

  it("is followed by one more probe with a version of its list", async () => {
    const peer = await start({ "server/discover": [refused(["2026-07-28", "2025-11-25"]), discover()] })
    const { client } = await open(peer)
    expect(client.status).toMatchObject({ era: "modern", version: "2026-07-28", reason: "discovered" })
    expect(peer.log).toEqual([probe, "POST server/discover 2"])
  })

  it("twice is no common version", async () => {
    const peer = await start({ "server/discover": refused(["2026-07-28"]) })
    const { opening, clock } = dial(peer)
    expect(await failureOf(opening)).toMatchObject({ kind: "protocol", reason: "no_common_version", retryable: false })
    expect(peer.log).toEqual([probe, "POST server/discover 2"])
    await expectNothingLeft(peer, clock)
  })

  it.each<[what: string, supported: unknown]>([
    ["only older versions", ["2025-11-25", "2025-06-18"]],
    ["only newer versions", ["2027-01-01"]],
    ["no list", undefined],
    ["a list of something else", [1, null]],
  ])("with %s is no common version, and never a fallback", async (_what, supported) => {
    const peer = await start({ "server/discover": refused(supported), initialize: initialized() })
    const listed = Array.isArray(supported) ? supported.filter((version) => typeof version === "string") : []
    const spoken = listed.length === 0 ? "none" : listed.join(", ")
    expect(await failureOf(dial(peer).opening)).toEqual(
      failure({
        kind: "protocol",
        reason: "no_common_version",
        code: -32022,
        message: `server/discover: no common modern protocol version: the client speaks 2026-07-28, the server ${spoken}`,
        data: { ...(supported === undefined ? {} : { supported }), requested: "2026-07-28" },
      }),
    )
    expect(peer.log).toEqual([probe])
  })
})

describe("-32022 to a call", () => {
  const refused = (supported: readonly string[]): Answer => error(400, -32022, { supported, requested: "2026-07-28" })
  const done = result({ resultType: "complete", content: [] })

  it("is followed by the call once more, in a version of its list and with a new id", async () => {
    const peer = await start({ "server/discover": discover(), "tools/call": [refused(["2026-07-28"]), done] })
    const { client } = await open(peer)
    await client.callTool("t", { a: 1 })
    expect(peer.log).toEqual([probe, "POST tools/call 2", "POST tools/call 3"])
    expect(peer.heard[2]?.headers["mcp-protocol-version"]).toBe("2026-07-28")
    expect(peer.heard[2]?.message?.params).toEqual(peer.heard[1]?.message?.params)
  })

  it("twice is the call's error", async () => {
    const peer = await start({ "server/discover": discover(), "tools/call": refused(["2026-07-28"]) })
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("t"))).toMatchObject({ kind: "protocol", reason: "jsonrpc", code: -32022 })
    expect(peer.log).toEqual([probe, "POST tools/call 2", "POST tools/call 3"])
  })

  it("with older versions alone is the call's error: nothing is downgraded", async () => {
    const peer = await start({
      "server/discover": discover(),
      "tools/call": refused(["2025-11-25"]),
      initialize: initialized(),
    })
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("t"))).toMatchObject({
      kind: "protocol",
      reason: "no_common_version",
      code: -32022,
      message: "the server no longer speaks 2026-07-28, and no version of its list is spoken here: 2025-11-25",
    })
    expect(peer.log).toEqual([probe, "POST tools/call 2"])
    expect(client.status).toMatchObject({ state: "connected", era: "modern" })
  })
})

describe("an error that only modern servers send", () => {
  it.each<[code: number, reason: string, why: string]>([
    [-32020, "header_mismatch", "it got headers that do not repeat the body"],
    [-32021, "missing_client_capability", "it needs a capability that this client does not declare"],
  ])("%i is told, with any status, and never a fallback", async (code, reason, why) => {
    for (const status of [200, 400, 404]) {
      const peer = await start({ "server/discover": error(status, code), initialize: initialized() })
      expect(await failureOf(dial(peer).opening)).toEqual(
        failure({
          kind: "protocol",
          reason,
          code,
          message: `server/discover: the server refused with error ${code}, because ${why}: "refused"`,
        }),
      )
      expect(peer.log).toEqual([probe])
    }
  })
})

describe("credentials are never evidence of an era", () => {
  it.each<[status: number, what: string, answer: Answer]>([
    [401, "without a body", plain(401, "", { "www-authenticate": 'Bearer realm="mcp"' })],
    [401, "with -32601", error(401, -32601, undefined, { "www-authenticate": 'Bearer realm="mcp"' })],
    [401, "with a modern error", error(401, -32022, { supported: [] }, { "www-authenticate": 'Bearer realm="mcp"' })],
    [403, "with HTML", plain(403, "<html>", { "www-authenticate": 'Bearer realm="mcp"' })],
  ])("%i %s is told at once", async (status, _what, answer) => {
    const peer = await start({ "server/discover": answer, initialize: initialized() })
    const { opening, clock } = dial(peer)
    const what = status === 401 ? "needs credentials that it accepts" : "refuses these credentials"
    expect(await failureOf(opening)).toEqual(
      failure({
        kind: "authorization",
        reason: status === 401 ? "unauthenticated" : "forbidden",
        message: `server/discover: the server ${what} (HTTP ${status})`,
        data: { status, challenge: 'Bearer realm="mcp"' },
      }),
    )
    expect(peer.log).toEqual([probe])
    await expectNothingLeft(peer, clock)
  })

  it("nor in the handshake, where the deprecated transport is not tried either", async () => {
    const peer = await start({ "server/discover": plain(404), initialize: plain(401) })
    expect(await failureOf(dial(peer).opening)).toEqual(
      failure({
        kind: "authorization",
        reason: "unauthenticated",
        message: "initialize: the server needs credentials that it accepts (HTTP 401)",
        data: { status: 401 },
      }),
    )
    expect(peer.log).toEqual([probe, "POST initialize 2"])
  })
})

describe("a server that is busy says nothing about its era", () => {
  it.each<[what: string, answer: Answer]>([
    ["408", plain(408)],
    ["429", plain(429)],
    ["500", plain(500)],
    ["503 with -32601", error(503, -32601)],
    ["500 with -32601", error(500, -32601)],
    ["a connection that is cut", cut],
  ])("%s is asked again", async (_what, answer) => {
    const peer = await start({ "server/discover": [answer, discover()], initialize: initialized() })
    const { opening, clock } = dial(peer)
    await until(() => clock.dueInMs.some((ms) => ms <= 200))
    clock.advance(200)
    expect((await opening).status).toMatchObject({ era: "modern", reason: "discovered" })
    expect(peer.log).toEqual([probe, "POST server/discover 2"])
  })

  it.each<[what: string, answer: Answer, told: object]>([
    [
      "503",
      plain(503, "down for maintenance"),
      {
        reason: "http_status",
        message: "server/discover: expected a JSON-RPC response, got HTTP 503: down for maintenance",
        data: { status: 503 },
      },
    ],
    [
      "a server that is not there",
      cut,
      { reason: "network_error", message: expect.stringMatching(/^no answer from .*: ECONNRESET$/) },
    ],
  ])("%s for good is told after three more attempts, and no verdict is made of it", async (_what, answer, told) => {
    const peer = await start({ "server/discover": answer, initialize: initialized() })
    const { opening, clock } = dial(peer)
    for (const ms of [200, 400, 800]) {
      await until(() => clock.dueInMs.some((due) => due <= ms))
      clock.advance(ms)
    }
    expect(await failureOf(opening)).toMatchObject({ kind: "transport", retryable: true, ...told })
    expect(peer.log).toEqual([1, 2, 3, 4].map((id) => `POST server/discover ${id}`))
    await expectNothingLeft(peer, clock)
  })

  it("Retry-After is waited for, to the second, whichever form it has", async () => {
    const seconds = plain(429, "", { "retry-after": "7" })
    const date = plain(503, "", { "retry-after": new Date(1_000_000 + 7_000 + 9_000).toUTCString() })
    const peer = await start({ "server/discover": [seconds, date, discover()] })
    const { opening, clock } = dial(peer)
    await pass(clock, 7_000)
    await until(() => peer.heard.length === 2)
    await pass(clock, 9_000)
    expect((await opening).status.era).toBe("modern")
    expect(peer.log).toEqual([1, 2, 3].map((id) => `POST server/discover ${id}`))
  })

  it("a longer Retry-After than limits.maxRetryMs is told at once", async () => {
    const peer = await start({ "server/discover": plain(429, "", { "retry-after": "61" }) })
    const { opening, clock } = dial(peer)
    expect(await failureOf(opening)).toEqual(
      failure({
        kind: "transport",
        reason: "http_status",
        retryable: true,
        message: "server/discover: expected a JSON-RPC response, got HTTP 429 without a body",
        data: { status: 429, retryAfterMs: 61_000 },
      }),
    )
    expect(peer.log).toEqual([probe])
    await expectNothingLeft(peer, clock)
  })

  it("in the handshake it is asked again, too, and never cancelled", async () => {
    const busy = plain(503, "", { "retry-after": "3" })
    const peer = await start({ "server/discover": plain(404), initialize: [busy, initialized()], GET: plain(405) })
    const { opening, clock } = dial(peer)
    await pass(clock, 3_000)
    expect((await opening).status).toMatchObject({ era: "legacy", reason: "fell_back" })
    expect(peer.log.slice(0, 4)).toEqual([probe, "POST initialize 2", ...handshake(3)])
  })

  it("a probe without an answer is asked again, too", async () => {
    const peer = await start({ "server/discover": [silence, discover()] })
    const { opening, clock } = dial(peer, { probeTimeoutMs: 5_000 })
    await until(() => peer.heard.length === 1)
    await pass(clock, 5_000)
    await until(() => clock.dueInMs.some((ms) => ms <= 200))
    clock.advance(200)
    expect((await opening).status.era).toBe("modern")
    expect(peer.log).toEqual([probe, "POST server/discover 2"])
  })
})

describe("an older server is known by its answer", () => {
  it.each<[what: string, answer: Answer]>([
    ["400 without a body", plain(400)],
    ["404 with HTML", plain(404, "<html>", { "content-type": "text/html" })],
    ["405", plain(405)],
    ["400 with -32600", error(400, -32600)],
    ["400 with -32000", error(400, -32000)],
    ["400 with an error of its own", error(400, 1234)],
    ["404 with -32601", error(404, -32601)],
    ["200 with -32601", error(200, -32601)],
    ["410 with -32601", error(410, -32601)],
    ["400 with broken JSON", plain(400, '{"jsonrpc":', { "content-type": "application/json" })],
    ["400 with JSON that is no JSON-RPC", plain(400, '{"error":"x"}', { "content-type": "application/json" })],
    ["a result of another kind", result({ ok: true })],
    // Nothing that the table knows: one handshake is tried.
    ["200 without a body", plain(200)],
    ["202", plain(202)],
    ["204", plain(204)],
    ["HTML", html],
    ["200 with an error of its own", error(200, -32603)],
    ["410", plain(410)],
    ["418 with an error of its own", error(418, -32603)],
    ["a redirect", plain(302, "", { location: "/elsewhere" })],
  ])("%s", async (_what, answer) => {
    const peer = await start({ "server/discover": answer, initialize: initialized("2025-11-25"), GET: plain(405) })
    const { client } = await open(peer)
    await until(() => peer.heard.length === 4)
    expect(client.status).toEqual({
      state: "connected",
      era: "legacy",
      version: "2025-11-25",
      reason: "fell_back",
      origin: peer.origin,
      server: { name: "scripted", version: "1.0.0" },
    })
    expect(peer.log).toEqual([probe, ...handshake(2), "GET"])
    expect(offers(peer)).toEqual(["2025-11-25"])
    expect(peer.heard[1]?.headers).not.toHaveProperty("mcp-protocol-version")
    expect(peer.heard[1]?.headers).not.toHaveProperty("mcp-method")
    expect(peer.heard[1]?.message?.params).not.toHaveProperty("_meta")
  })

  it.each<[what: string, answer: Answer, reason: string, first: string]>([
    ["200 without a body", plain(200), "unusable_response", "got HTTP 200 without a body"],
    ["202", plain(202), "unusable_response", "got HTTP 202 without a body"],
    ["HTML", html, "unusable_response", "got HTTP 200 with text/html: <html>hello</html>"],
    ["410", plain(410), "unrecognised_error", "got HTTP 410 without a body"],
  ])("%s, and a handshake that fails, are both told", async (_what, answer, reason, first) => {
    const peer = await start({ "server/discover": answer, initialize: html })
    const { opening, clock } = dial(peer)
    const told = await failureOf(opening)
    expect(told).toMatchObject({
      kind: "protocol",
      reason,
      retryable: false,
      message: `server/discover: expected a DiscoverResult or an error that names the era, ${first}; then initialize: expected a JSON-RPC response, got HTTP 200 with text/html: <html>hello</html>`,
      cause: { errors: [{ reason }, { kind: "transport", reason: "http_status", data: { status: 200 } }] },
    })
    expect(peer.log).toEqual([probe, "POST initialize 2"])
    await expectNothingLeft(peer, clock)
  })

  it.each<[version: string, spoken: boolean]>([
    ["2025-11-25", true],
    ["2025-06-18", true],
    ["2025-03-26", true],
    ["2024-11-05", true],
    ["2026-07-28", false],
    ["2023-01-01", false],
    ["draft", false],
  ])("which answers the handshake with %s: spoken, %s", async (version, spoken) => {
    const peer = await start({ "server/discover": plain(404), initialize: initialized(version), GET: plain(405) })
    const { opening, clock } = dial(peer)
    if (spoken) {
      const { status } = await opening
      expect(status).toMatchObject({ era: "legacy", version })
      expect(peer.heard[2]?.headers["mcp-protocol-version"]).toBe(version)
      return
    }
    expect(await failureOf(opening)).toEqual(
      failure({
        kind: "protocol",
        reason: "no_common_version",
        message: `no common protocol version: the server offers ${version}`,
        data: { served: [version] },
      }),
    )
    expect(peer.log).toEqual([probe, "POST initialize 2"])
    await expectNothingLeft(peer, clock)
  })
})

describe("a protocol that is asked for", () => {
  const old: Script = { "server/discover": plain(404), initialize: initialized(), GET: plain(405) }

  it.each(["modern", "2026-07-28"])("%s is probed for, and nothing older is spoken", async (protocol) => {
    const peer = await start(old)
    expect(await failureOf(dial(peer, { protocol }).opening)).toMatchObject({
      kind: "protocol",
      reason: "no_common_version",
      message: `protocol "${protocol}" was asked for, but the server does not speak it: server/discover got server/discover: expected a JSON-RPC response, got HTTP 404 without a body`,
      cause: { kind: "transport", reason: "http_status", data: { status: 404 } },
    })
    expect(peer.log).toEqual([probe])
    const modern = await start({ "server/discover": discover() })
    const { client } = await open(modern, { protocol })
    expect(client.status).toMatchObject({ era: "modern", version: "2026-07-28", reason: "pinned" })
  })

  it.each<[protocol: string, offered: string]>([
    ["legacy", "2025-11-25"],
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
  ])("%s is shaken hands for, without a probe", async (protocol, offered) => {
    const peer = await start({ ...old, initialize: initialized(offered) })
    const { client } = await open(peer, { protocol })
    expect(client.status).toMatchObject({ era: "legacy", version: offered, reason: "pinned" })
    expect(peer.log.slice(0, 2)).toEqual(handshake(1))
    expect(offers(peer)).toEqual([offered])
  })

  it("another version than the one that was asked for is refused", async () => {
    const peer = await start({ ...old, initialize: initialized("2025-11-25") })
    expect(await failureOf(dial(peer, { protocol: "2025-06-18" }).opening)).toMatchObject({
      kind: "protocol",
      reason: "no_common_version",
      message: "no common protocol version: the server offers 2025-11-25",
    })
    expect(peer.log).toEqual(["POST initialize 1"])
  })

  it("legacy takes any legacy version", async () => {
    const peer = await start({ ...old, initialize: initialized("2025-03-26") })
    const { client } = await open(peer, { protocol: "legacy" })
    expect(client.status.version).toBe("2025-03-26")
  })
})
