/** The caller's headers, in every form, on every request that the client makes. */
import { afterEach, describe, expect, it } from "vitest"
import type { HeaderSource, HeaderValues } from "../../src/client/options.js"
import { McpError } from "../../src/core/error/error.js"
import { event, type HttpPeer, plain, result, startHttpPeer, stream } from "../support/http-peer.js"
import { closeLinks, legacy, makeLink, openLink, until, ways } from "./http-client/harness.js"

const peers: HttpPeer[] = []

async function start(): Promise<HttpPeer> {
  const peer = await startHttpPeer({ "*": result({}), GET: stream("", false), DELETE: plain(204) })
  peers.push(peer)
  return peer
}

afterEach(async () => {
  await closeLinks()
  for (const peer of peers.splice(0)) await peer.close()
})

function thrown(run: () => unknown): unknown {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

describe.each(ways)("over %s", (_name, makeSend) => {
  it.each<[form: string, source: HeaderSource]>([
    ["an object", { "X-One": " 1\t", "x-two": "é" }],
    ["Headers", new Headers({ "X-One": "1", "x-two": "é" })],
    [
      "pairs",
      [
        ["X-One", "1"],
        ["x-two", "é"],
      ],
    ],
    [
      "a map",
      new Map([
        ["X-One", "1"],
        ["x-two", "é"],
      ]),
    ],
    ["a function", () => ({ "X-One": "1", "x-two": "é" })],
    ["an async function", async () => new Headers({ "X-One": "1", "x-two": "é" })],
  ])("%s is sent on POST, GET and DELETE alike", async (_form, headers) => {
    const peer = await start()
    const { link, ask } = await openLink(peer.url, { headers, send: makeSend() })
    link.adopt({ ...legacy, standby: true })
    await ask().outcome
    await link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}', undefined)
    await until(() => peer.log.includes("GET"))
    await link.close()
    expect(peer.log.toSorted()).toEqual(["DELETE", "GET", "POST notifications/initialized", "POST tools/call 1"])
    for (const { headers: sent } of peer.heard) expect(sent).toMatchObject({ "x-one": "1", "x-two": "é" })
  })

  it("a function is asked before each request", async () => {
    const peer = await start()
    let asked = 0
    const { ask } = await openLink(peer.url, { headers: () => ({ "x-count": String(++asked) }), send: makeSend() })
    await ask().outcome
    await ask().outcome
    expect(peer.heard.map(({ headers }) => headers["x-count"])).toEqual(["1", "2"])
  })

  it("a body beyond ASCII and a header beyond ASCII arrive whole together", async () => {
    const peer = await start()
    const { ask } = await openLink(peer.url, { send: makeSend(), headers: { "x-two": "é" } })
    const text = '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"a":"—☀😀"}}'
    await ask("tools/call", { text }).outcome
    expect(peer.heard[0]).toMatchObject({ text, headers: { "x-two": "é" } })
    expect(peer.heard[0]?.headers["content-length"]).toBe(String(Buffer.byteLength(text)))
  })
})

describe("whose header is sent", () => {
  it("a call's goes over the client's, and the protocol's over both", async () => {
    const peer = await start()
    const own = {
      accept: "text/html",
      "content-type": "text/plain",
      "content-length": "1",
      host: "example.com",
      connection: "close",
      "transfer-encoding": "chunked",
      expect: "100-continue",
      upgrade: "x",
      te: "x",
      "accept-encoding": "gzip",
      "last-event-id": "x",
      "Mcp-Session-Id": "stolen",
      "mcp-protocol-version": "1",
      "MCP-Anything": "x",
    }
    const { link, ask } = await openLink(peer.url, { headers: { ...own, "x-a": "client", "x-b": "client" } })
    link.adopt(legacy)
    const { outcome } = ask("tools/call", {
      headers: { "mcp-method": "tools/call", "mcp-param-city": "Oslo" },
      caller: { ...own, "X-B": "call" },
    })
    expect(await outcome).toMatchObject({ kind: "message" })
    const { text = "", headers } = peer.heard[0] ?? {}
    expect(headers).toEqual({
      host: new URL(peer.url).host,
      accept: "application/json, text/event-stream",
      "accept-encoding": "identity",
      connection: "keep-alive",
      "content-type": "application/json",
      "content-length": String(text.length),
      "mcp-session-id": "s-1",
      "mcp-protocol-version": "2025-11-25",
      "mcp-method": "tools/call",
      "mcp-param-city": "Oslo",
      "x-a": "client",
      "x-b": "call",
    })
  })

  it("before anything is settled, a request's own version goes out and no session", async () => {
    const peer = await start()
    const { ask } = await openLink(peer.url)
    await ask("server/discover", { headers: { "mcp-protocol-version": "2026-07-28", "mcp-method": "server/discover" } })
      .outcome
    expect(peer.heard[0]?.headers).toMatchObject({
      "mcp-protocol-version": "2026-07-28",
      "mcp-method": "server/discover",
    })
    expect(peer.heard[0]?.headers).not.toHaveProperty("mcp-session-id")
  })

  it("a handshake belongs to no session, whatever came before it", async () => {
    const peer = await start()
    const { link, ask } = await openLink(peer.url)
    link.adopt(legacy)
    await ask("initialize").outcome
    expect(peer.heard[0]?.headers).not.toHaveProperty("mcp-session-id")
    expect(peer.heard[0]?.headers).not.toHaveProperty("mcp-protocol-version")
  })

  it("values of one name are joined", async () => {
    const peer = await start()
    const { ask } = await openLink(peer.url, {
      headers: [
        ["x-a", "1"],
        ["X-A", "2"],
      ],
    })
    await ask().outcome
    expect(peer.heard[0]?.headers["x-a"]).toBe("1, 2")
  })

  it("what a one-time list of pairs holds is sent with each request", async () => {
    const peer = await start()
    const { ask } = await openLink(peer.url, { headers: new Map([["x-a", "1"]]).entries() })
    await ask().outcome
    await ask().outcome
    expect(peer.heard.map(({ headers }) => headers["x-a"])).toEqual(["1", "1"])
  })

  it("user and password of the address are sent as such, unless a header says otherwise, and shown nowhere", async () => {
    const peer = await start()
    const url = peer.url.replace("://", "://us%C3%A9r:p%40ss@").concat("#fragment")
    for (const [headers, authorization] of [
      [undefined, `Basic ${Buffer.from("usér:p@ss").toString("base64")}`],
      [{ authorization: "Bearer t" }, "Bearer t"],
      [() => ({ Authorization: "Bearer t" }), "Bearer t"],
    ] as const) {
      const { link, ask } = await openLink(url, headers === undefined ? {} : { headers })
      expect(await ask().outcome).toMatchObject({ kind: "message" })
      expect(peer.heard.at(-1)).toMatchObject({ path: "/mcp", headers: { authorization } })
      expect(link.origin).toBe(peer.origin)
    }
  })
})

describe("a header that cannot be sent is refused before anything is, and its value is not shown", () => {
  const secret = "SECRET"
  it.each<[why: string, headers: unknown, message: string | RegExp]>([
    [
      "a line break",
      { "x-a": `a\r\n${secret}: b` },
      "headers: the value of x-a has a line break or another character that no header may hold",
    ],
    [
      "a line break at the end",
      { Authorization: `Bearer ${secret}\n` },
      "headers: the value of authorization has a line break or another character that no header may hold",
    ],
    ["NUL", { "x-a": `${secret}\0` }, /^headers: the value of x-a has /],
    ["beyond Latin-1", { "x-a": `${secret}☀` }, /^headers: the value of x-a has /],
    ["too long", { "x-a": secret + "x".repeat(16_379) }, "headers: the value of x-a is longer than 16384 bytes"],
    ["no string", { "x-a": undefined }, "headers: the value of x-a must be a string"],
    ["a name that is none", { "x a\r\n": secret }, 'headers: "x a  " is no name of a header'],
    ["an empty name", { "": secret }, 'headers: "" is no name of a header'],
    ["no pairs", [["x-a"]], "headers: expected pairs of name and value"],
    ["a string", secret, "headers: expected an object or pairs of name and value"],
    ["null", null, "headers: expected an object or pairs of name and value"],
    ["a name that is a symbol", [[Symbol("x"), secret]], /is no name of a header$/],
  ])("%s", async (_, headers, message) => {
    const values = headers as HeaderValues
    const misuse = { kind: "misuse", reason: "invalid_option", message: expect.stringMatching(message) }
    expect(thrown(() => makeLink("http://127.0.0.1/mcp", { headers: values }))).toMatchObject(misuse)

    const peer = await start()
    const { ask } = await openLink(peer.url)
    for (const caller of [values, () => values, async () => values]) {
      const outcome = await ask("tools/call", { caller }).outcome
      expect(outcome).toMatchObject({ kind: "refused", error: misuse })
      expect(outcome.kind === "refused" && outcome.error.message).not.toContain(secret)
    }
    const other = await openLink(peer.url, { headers: () => values })
    expect(await other.ask().outcome).toMatchObject({ kind: "refused", error: misuse })
    await expect(other.link.send("{}", undefined)).rejects.toMatchObject(misuse)
    expect(peer.heard).toEqual([])
  })

  it("a value of exactly the bound is not refused", () => {
    expect(thrown(() => makeLink("http://127.0.0.1/mcp", { headers: { "x-a": "x".repeat(16_384) } }))).toBeUndefined()
  })

  it("a function that fails is named as the cause", async () => {
    const peer = await start()
    const cause = new Error("no token")
    const { ask } = await openLink(peer.url, { headers: () => Promise.reject(cause) })
    const error = {
      kind: "misuse",
      reason: "invalid_option",
      message: "headers: the function that gives them failed",
      cause,
    }
    expect(await ask().outcome).toMatchObject({ kind: "refused", error })
    expect(peer.heard).toEqual([])
  })

  it("an error of the library that a function throws goes through as it is", async () => {
    const peer = await start()
    const error = new McpError("sign in first", { kind: "authorization", reason: "unauthenticated" })
    const { ask } = await openLink(peer.url, {
      headers: () => {
        throw error
      },
    })
    expect(await ask().outcome).toEqual({ kind: "refused", error })
  })
})

describe("an address that cannot be used is refused", () => {
  it.each(["", "/mcp", "ftp://example.com", "stdio", "http://"])("%j", (url) => {
    expect(thrown(() => makeLink(url))).toMatchObject({
      kind: "misuse",
      reason: "invalid_option",
      message: "url: expected a whole address with http: or https:, such as https://example.com/mcp",
    })
  })
})

it("events are told by their data, not by what it looks like", async () => {
  const peer = await startHttpPeer({
    "*": stream(event({ jsonrpc: "2.0", id: 1, result: { text: "a\n\ndata: {}\r\rid: 9\n" } })),
  })
  peers.push(peer)
  const { ask } = await openLink(peer.url)
  expect(await ask().outcome).toMatchObject({ message: { result: { text: "a\n\ndata: {}\r\rid: 9\n" } } })
})
