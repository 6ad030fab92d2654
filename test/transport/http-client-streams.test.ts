/** Event streams that are lost and gone on with, and the stream that waits for what belongs to no request. */
import { afterEach, describe, expect, it } from "vitest"
import { type Answer, event, type HttpPeer, plain, type Script, startHttpPeer, stream } from "../support/http-peer.js"
import { closeLinks, legacy, openLink, until } from "./http-client/harness.js"

const peers: HttpPeer[] = []

async function start(script: Script): Promise<HttpPeer> {
  const peer = await startHttpPeer(script)
  peers.push(peer)
  return peer
}

afterEach(async () => {
  await closeLinks()
  for (const peer of peers.splice(0)) {
    await peer.idle()
    await peer.close()
  }
})

const response = { jsonrpc: "2.0", id: 1, result: { ok: true } }
const settled = { kind: "message", message: { kind: "result", id: 1, result: { ok: true } } }
const changed = { jsonrpc: "2.0", method: "notifications/tools/list_changed" }
const primer = (id: string, retryMs?: number): string =>
  `id: ${id}\n${retryMs === undefined ? "" : `retry: ${retryMs}\n`}data:\n\n`

/** Sends a part of a stream and cuts the connection. */
const torn =
  (text: string): Answer =>
  (_, reply) => {
    reply.writeHead(200, { "content-type": "text/event-stream" })
    reply.write(text, () => reply.socket?.resetAndDestroy())
  }

const resumes = (peer: HttpPeer): unknown[] =>
  peer.heard.filter(({ verb }) => verb === "GET").map(({ headers }) => headers["last-event-id"])

describe("a stream that ends before its response", () => {
  it.each<[why: string, first: Answer]>([
    ["the server ends it", stream(primer("a"))],
    ["the connection is lost", torn(primer("a"))],
  ])("is gone on with from its last event: %s", async (_, first) => {
    const peer = await start({ "tools/call": first, GET: stream(event(response, "b")) })
    const { link, ask, clock } = await openLink(peer.url, { headers: { "x-client": "1" } })
    link.adopt(legacy)
    const asked = ask("tools/call", { caller: { "x-call": "2" } })
    await until(() => clock.waiting === 1)
    clock.advance(999)
    expect(peer.log).toEqual(["POST tools/call 1"])
    clock.advance(1)
    expect(await asked.outcome).toMatchObject(settled)
    expect(peer.log).toEqual(["POST tools/call 1", "GET"])
    expect(peer.heard[1]?.headers).toMatchObject({
      accept: "text/event-stream",
      "last-event-id": "a",
      "mcp-session-id": "s-1",
      "mcp-protocol-version": "2025-11-25",
      "x-client": "1",
      "x-call": "2",
    })
    expect(peer.heard[1]?.headers).not.toHaveProperty("content-type")
  })

  it.each<[why: string, retry: string, ms: number]>([
    ["the server's own", "retry: 3000\n", 3_000],
    ["one that is cut to the limit", "retry: 999999999999\n", 60_000],
    ["one that is no number", "retry: 1e12\n", 1_000],
    ["none", "retry: 0\n", 0],
  ])("waits before that: %s", async (_, retry, ms) => {
    const peer = await start({ "tools/call": stream(`id: a\n${retry}data:\n\n`), GET: stream(event(response)) })
    const { link, ask, clock } = await openLink(peer.url)
    link.adopt(legacy)
    const asked = ask()
    await until(() => clock.waiting === 1)
    if (ms > 0) {
      clock.advance(ms - 1)
      expect(clock.waiting).toBe(1)
    }
    clock.advance(1)
    expect(await asked.outcome).toMatchObject(settled)
  })

  it("the place is kept when the next stream brings nothing, and pauses grow until a message comes", async () => {
    const note = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: 1 } }
    const peer = await start({
      "tools/call": stream(event(note, "a")),
      GET: [stream(": hi\n\n"), plain(503), stream(primer("b")), stream(event(note, "c")), stream(event(response))],
    })
    const { link, ask, clock } = await openLink(peer.url)
    link.adopt(legacy)
    const asked = ask()
    const pauses: number[] = []
    for (let resumed = 1; resumed <= 5; resumed++) {
      await until(() => clock.waiting === 1)
      let ms = 0
      while (clock.waiting === 1) {
        clock.advance(500)
        ms += 500
      }
      pauses.push(ms)
      await peer.until(1 + resumed)
    }
    expect(await asked.outcome).toMatchObject(settled)
    expect(pauses).toEqual([1_000, 2_000, 4_000, 8_000, 1_000])
    expect(resumes(peer)).toEqual(["a", "a", "a", "b", "c"])
    expect(asked.messages).toHaveLength(2)
  })

  it("is given up after so many attempts without a message", async () => {
    const peer = await start({ "tools/call": stream(primer("a")), GET: stream(primer("b")) })
    const { link, ask, clock } = await openLink(peer.url, { limits: { maxReconnects: 3 } })
    link.adopt(legacy)
    const asked = ask()
    for (let resumed = 1; resumed <= 3; resumed++) {
      await until(() => clock.waiting === 1)
      clock.advance(60_000)
      await peer.until(1 + resumed)
    }
    expect(await asked.outcome).toMatchObject({
      kind: "broken",
      answered: true,
      error: { kind: "transport", reason: "stream_broken", retryable: true },
    })
    expect(resumes(peer)).toEqual(["a", "b", "b"])
    expect(clock.waiting).toBe(0)
  })

  it.each([400, 401, 404, 405])("HTTP %i to the attempt ends it", async (status) => {
    const peer = await start({ "tools/call": stream(primer("a")), GET: plain(status, "no") })
    const { link, ask, clock } = await openLink(peer.url)
    link.adopt(legacy)
    const asked = ask()
    await until(() => clock.waiting === 1)
    clock.advance(1_000)
    const outcome = await asked.outcome
    expect(outcome).toMatchObject({
      kind: "broken",
      answered: true,
      error: { reason: "stream_broken", data: { status } },
    })
    expect(clock.waiting).toBe(0)
  })

  it.each<[why: string, text: string, facts: object | undefined]>([
    ["its events have no ids", "data:\n\n", legacy],
    ["the last id was taken back", `${primer("a")}id\ndata:\n\n`, legacy],
    ["the id cannot be sent", primer("a\u0007"), legacy],
    ["the id is too long", primer("a".repeat(9_000)), legacy],
    ["the revision has no such thing", primer("a"), { ...legacy, version: "2026-07-28", resumes: false }],
    ["nothing is settled yet", primer("a"), undefined],
  ])("is broken at once when %s", async (_, text, facts) => {
    const peer = await start({ "tools/call": stream(text) })
    const { link, ask, clock } = await openLink(peer.url)
    if (facts !== undefined) link.adopt(facts as typeof legacy)
    expect(await ask().outcome).toMatchObject({ kind: "broken", answered: true, error: { reason: "stream_broken" } })
    expect(clock.waiting).toBe(0)
  })

  it("an id beyond ASCII is sent back as the bytes that came", async () => {
    const peer = await start({ "tools/call": stream(primer("é☀")), GET: stream(event(response)) })
    const { link, ask, clock } = await openLink(peer.url)
    link.adopt(legacy)
    const asked = ask()
    await until(() => clock.waiting === 1)
    clock.advance(1_000)
    expect(await asked.outcome).toMatchObject(settled)
    expect(Buffer.from(String(resumes(peer)[0]), "latin1").toString("utf8")).toBe("é☀")
  })

  it("is not gone on with once it was let go", async () => {
    const peer = await start({ "tools/call": stream(primer("a")) })
    const { link, ask, clock } = await openLink(peer.url)
    link.adopt(legacy)
    const asked = ask()
    await until(() => clock.waiting === 1)
    asked.sent.letGo()
    expect(clock.waiting).toBe(0)
    expect(asked.settled).toBe(0)
  })
})

describe("a stream after its response", () => {
  it("is drained, and its connection is used again", async () => {
    const peer = await start({ "tools/call": stream(event(response)) })
    const { ask, clock } = await openLink(peer.url)
    await ask("tools/call", { id: 1 }).outcome
    await until(() => clock.waiting === 0)
    await ask("tools/call", { id: 1 }).outcome
    expect(peer.connections()).toBe(1)
  })

  it("is cut when the server does not end it", async () => {
    const peer = await start({ "tools/call": stream(event(response), false) })
    const { ask, clock } = await openLink(peer.url)
    expect(await ask().outcome).toMatchObject(settled)
    expect(peer.connections()).toBe(1)
    clock.advance(2_000)
    await peer.idle()
    expect(clock.waiting).toBe(0)
  })
})

describe("the stream for what belongs to no request", () => {
  const standby = { ...legacy, standby: true }

  it("is opened once the session is settled, and its messages belong to no request", async () => {
    const ask = { jsonrpc: "2.0", id: 7, method: "roots/list" }
    const peer = await start({ GET: stream(event(changed) + event(ask), false) })
    const { link, messages } = await openLink(peer.url, { headers: async () => ({ authorization: "Bearer t" }) })
    expect(peer.log).toEqual([])
    link.adopt(standby)
    await until(() => messages.length === 2)
    expect(messages).toEqual([
      { kind: "notification", id: undefined, method: "notifications/tools/list_changed", params: undefined },
      { kind: "request", id: 7, method: "roots/list", params: undefined },
    ])
    expect(peer.heard[0]?.headers).toMatchObject({
      accept: "text/event-stream",
      "mcp-session-id": "s-1",
      "mcp-protocol-version": "2025-11-25",
      authorization: "Bearer t",
    })
  })

  it("is not opened unless the facts say so", async () => {
    const peer = await start({ "tools/call": stream(event(response)) })
    const { link, ask } = await openLink(peer.url)
    link.adopt(legacy)
    await ask().outcome
    expect(peer.log).toEqual(["POST tools/call 1"])
  })

  it.each<[why: string, answer: Answer]>([
    ...[400, 401, 403, 404, 405, 406, 409, 429, 501, 302].map((status): [string, Answer] => [
      `HTTP ${status}`,
      plain(status, "no"),
    ]),
    ["a page", plain(200, "<html>", { "content-type": "text/html" })],
    ["202", plain(202)],
  ])("a server that has none is asked once, and that is said once: %s", async (_, answer) => {
    const peer = await start({ GET: answer, "tools/call": stream(event(response)) })
    const { link, ask, noises, clock } = await openLink(peer.url)
    link.adopt(standby)
    await until(() => noises.length === 1)
    clock.advance(1_000_000)
    await ask().outcome
    clock.advance(1_000_000)
    expect(noises).toEqual([
      { from: "stream", text: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+ has no stream for .*: HTTP \d+$/) },
    ])
    expect(resumes(peer)).toHaveLength(1)
    expect(clock.waiting).toBe(0)
  })

  it("is opened again when the server ends it, at growing gaps that only a message resets", async () => {
    const peer = await start({
      GET: [
        stream(primer("a", 2_000)),
        stream(""),
        stream(": hi\n\n"),
        stream(event(changed, "b")),
        stream(""),
        plain(503),
        stream(""),
      ],
    })
    const { link, messages, noises, clock } = await openLink(peer.url, {
      limits: { maxReconnects: 3, maxRetryMs: 6_000 },
    })
    link.adopt(standby)
    const pauses: number[] = []
    for (let opened = 2; opened <= 7; opened++) {
      await until(() => clock.waiting === 1)
      let ms = 0
      while (clock.waiting === 1) {
        clock.advance(1_000)
        ms += 1_000
      }
      pauses.push(ms)
      await peer.until(opened)
    }
    await until(() => noises.length === 1)
    expect(pauses).toEqual([2_000, 4_000, 6_000, 2_000, 4_000, 6_000])
    expect(resumes(peer)).toEqual([undefined, "a", "a", "a", "b", "b", "b"])
    expect(messages).toHaveLength(1)
    expect(noises).toEqual([
      { from: "stream", text: expect.stringMatching(/ is given up after 3 attempts: the server ends it each time$/) },
    ])
    expect(clock.waiting).toBe(0)
  })

  it("is tried once more when the server is used later, and not sooner than the longest pause", async () => {
    const peer = await start({ GET: stream(""), "tools/call": stream(event(response)) })
    const { link, ask, noises, clock } = await openLink(peer.url, { limits: { maxReconnects: 1, maxRetryMs: 5_000 } })
    link.adopt(standby)
    await until(() => clock.waiting === 1)
    clock.advance(1_000)
    await until(() => noises.length === 1)
    await ask("tools/call", { id: 1 }).outcome
    expect(resumes(peer)).toHaveLength(2)
    await until(() => clock.waiting === 0)
    clock.advance(5_000)
    await ask("tools/call", { id: 1 }).outcome
    await until(() => noises.length === 2)
    expect(resumes(peer)).toHaveLength(3)
    await ask("tools/call", { id: 1 }).outcome
    expect(resumes(peer)).toHaveLength(3)
  })

  it("a message that is too large is passed over, and the next one is heard", async () => {
    const large = event({ ...changed, params: { text: "x".repeat(2_000) } })
    const peer = await start({ GET: stream(`${large}data: hello\n\n${event(changed)}`, false) })
    const { link, messages, noises } = await openLink(peer.url, { limits: { maxMessageBytes: 1_000 } })
    link.adopt(standby)
    await until(() => messages.length === 1)
    expect(noises.map(({ text }) => text)).toEqual([
      "a message of more than 1000 bytes (limits.maxMessageBytes)",
      "message: hello",
    ])
  })

  it("ends with the link, in whatever state it is", async () => {
    for (const answer of [stream("", false), stream(""), () => {}]) {
      const peer = await start({ GET: answer })
      const { link, clock } = await openLink(peer.url)
      link.adopt({ ...standby, session: undefined })
      await peer.until(1)
      await link.close()
      await peer.idle()
      await until(() => clock.waiting === 0)
    }
  })

  it("is opened anew for another session", async () => {
    const peer = await start({ GET: stream(primer("a"), false) })
    const { link } = await openLink(peer.url)
    link.adopt(standby)
    await peer.until(1)
    link.adopt({ ...standby, session: "s-2" })
    await peer.until(2)
    await until(() => peer.connections() === 1)
    expect(peer.heard.map(({ headers }) => [headers["mcp-session-id"], headers["last-event-id"]])).toEqual([
      ["s-1", undefined],
      ["s-2", undefined],
    ])
  })
})
