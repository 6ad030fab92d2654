/** Messages without an answer, letting go of requests, and the end of a link, after which nothing of it is left. */
import { afterEach, describe, expect, it } from "vitest"
import { createSend } from "../../src/transport/http/send-node.js"
import {
  type Answer,
  cut,
  event,
  type HttpPeer,
  plain,
  result,
  type Script,
  silence,
  startHttpPeer,
  stream,
} from "../support/http-peer.js"
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

const note = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
const closed = (peer: HttpPeer): object => ({
  kind: "gone",
  error: { kind: "connection_down", reason: "pipe_closed", message: `the connection to ${peer.origin} was closed` },
})

describe("a message without an answer", () => {
  it.each([202, 200, 204])("is taken with HTTP %i, and its connection is used again", async (status) => {
    const peer = await start({ "*": plain(status, status === 200 ? "thanks" : "") })
    const { link } = await openLink(peer.url)
    link.adopt(legacy)
    await link.send(note, { "mcp-method": "notifications/initialized" })
    await until(() => peer.heard.length === 1)
    expect(peer.heard[0]).toMatchObject({
      verb: "POST",
      text: note,
      headers: { "mcp-session-id": "s-1", "mcp-method": "notifications/initialized" },
    })
  })

  it.each([400, 401, 404, 413, 503, 307])("is not taken with HTTP %i", async (status) => {
    const peer = await start({ "*": plain(status, "no") })
    const { link } = await openLink(peer.url)
    await expect(link.send(note, undefined)).rejects.toMatchObject({
      kind: "transport",
      reason: "http_status",
      data: { status },
      message: `a message without an answer: ${peer.origin} answered with HTTP ${status}`,
    })
  })

  it("may be answered with a stream that never ends", async () => {
    const peer = await start({ "*": stream(": hi\n\n", false) })
    const { link } = await openLink(peer.url)
    await link.send(note, undefined)
    expect(peer.connections()).toBe(1)
  })

  it("is lost with its connection", async () => {
    const peer = await start({ "*": cut })
    const { link } = await openLink(peer.url)
    await expect(link.send(note, undefined)).rejects.toMatchObject({ kind: "transport", reason: "network_error" })
    expect(peer.heard).toHaveLength(1)
  })
})

describe("a request that is let go", () => {
  it.each<[when: string, answer: Answer]>([
    ["before its answer", silence],
    ["on its stream", stream(": hi\n\n", false)],
    ["in its body", (_, reply) => void reply.writeHead(200, { "content-type": "application/json" }).write("{")],
  ])("closes its connection and tells nothing more: %s", async (_, answer) => {
    const peer = await start({ "tools/call": answer, ping: result({}) })
    const { link, ask } = await openLink(peer.url)
    link.adopt(legacy)
    const asked = ask()
    await peer.until(1)
    asked.sent.letGo()
    asked.sent.letGo()
    await peer.idle()
    expect(asked.settled).toBe(0)
    expect(await ask("ping").outcome).toMatchObject({ kind: "message" })
  })

  it("before its headers are known is never sent", async () => {
    const peer = await start({ ping: result({}) })
    const { ask } = await openLink(peer.url)
    let give: (headers: Record<string, string>) => void = () => {}
    const asked = ask("tools/call", {
      caller: () =>
        new Promise((resolve) => {
          give = resolve
        }),
    })
    asked.sent.letGo()
    give({})
    expect(await ask("ping").outcome).toMatchObject({ kind: "message" })
    expect(peer.log).toEqual(["POST ping 2"])
    expect(asked.settled).toBe(0)
  })

  it("after its answer changes nothing", async () => {
    const peer = await start({ "*": result({}) })
    const { ask } = await openLink(peer.url)
    const asked = ask()
    await asked.outcome
    asked.sent.letGo()
    await ask().outcome
    expect(peer.connections()).toBe(1)
  })
})

describe("closing a link", () => {
  it("ends the session", async () => {
    const peer = await start({ DELETE: plain(200) })
    const { link } = await openLink(peer.url)
    link.adopt(legacy)
    await link.close()
    expect(peer.log).toEqual(["DELETE"])
    expect(peer.heard[0]?.headers).toMatchObject({ "mcp-session-id": "s-1", "mcp-protocol-version": "2025-11-25" })
    expect(peer.heard[0]?.headers).not.toHaveProperty("content-type")
  })

  it.each<[why: string, answer: Answer]>([
    ["404", plain(404)],
    ["405", plain(405)],
    ["500", plain(500, "no")],
    ["a lost connection", cut],
    ["a page without end", (_, reply) => void reply.writeHead(200).write("x")],
  ])("takes any answer to that: %s", async (_, answer) => {
    const peer = await start({ DELETE: answer })
    const { link, clock } = await openLink(peer.url)
    link.adopt(legacy)
    await link.close()
    await peer.idle()
    expect(clock.waiting).toBe(0)
  })

  it("waits for that answer at most two seconds", async () => {
    const peer = await start({ DELETE: silence })
    const { link, clock } = await openLink(peer.url)
    link.adopt(legacy)
    const closing = link.close()
    await peer.until(1)
    clock.advance(1_999)
    expect(clock.waiting).toBe(1)
    clock.advance(1)
    await closing
    await peer.idle()
  })

  it("does not wait longer for headers that never come", async () => {
    const peer = await start({})
    const { link, clock } = await openLink(peer.url, { headers: () => new Promise(() => {}) })
    link.adopt(legacy)
    const closing = link.close()
    clock.advance(2_000)
    await closing
    expect(peer.heard).toEqual([])
  })

  it.each([
    ["a modern server", { ...legacy, version: "2026-07-28", session: undefined, resumes: false }],
    ["a server without sessions", { ...legacy, session: undefined }],
    ["before anything is settled", undefined],
  ])("ends no session where there is none: %s", async (_, facts) => {
    const peer = await start({ ping: result({}) })
    const { link, ask } = await openLink(peer.url)
    if (facts !== undefined) link.adopt(facts)
    await ask("ping").outcome
    await link.close()
    await peer.idle()
    expect(peer.log).toEqual(["POST ping 1"])
  })

  it("ends every request, in whatever state it is, and leaves nothing behind", async () => {
    const endless = (text: string): Answer => stream(text, false)
    const peer = await start({
      silent: silence,
      streaming: endless(": hi\n\n"),
      answered: endless(event({ jsonrpc: "2.0", id: 3, result: {} })),
      lost: stream("id: a\ndata:\n\n"),
      GET: endless(""),
    })
    const { link, ask, clock } = await openLink(peer.url)
    link.adopt({ ...legacy, session: undefined, standby: true })
    const asked = ["silent", "streaming", "answered", "lost"].map((method) => ask(method))
    await asked[2]?.outcome
    await until(() => clock.waiting === 2 && peer.heard.length === 5)
    const sending = link.send('{"jsonrpc":"2.0","method":"silent"}', undefined)
    await peer.until(6)
    await Promise.all([link.close(), expect(sending).rejects.toMatchObject({ kind: "cancelled", reason: "aborted" })])
    const outcomes = await Promise.all(asked.map(({ outcome }) => outcome))
    expect(outcomes).toMatchObject([closed(peer), closed(peer), { kind: "message" }, closed(peer)])
    expect(asked.map(({ settled }) => settled)).toEqual([1, 1, 1, 1])
    await peer.idle()
    expect(clock.waiting).toBe(0)
  })

  it("the second time is the first, and nothing is sent after it", async () => {
    const peer = await start({ DELETE: plain(200) })
    const { link, ask, goneWith, noises } = await openLink(peer.url)
    link.adopt(legacy)
    const [first, second] = [link.close(), link.close()]
    expect(second).toBe(first)
    await first
    const asked = ask()
    expect(asked.settled).toBe(0)
    expect(await asked.outcome).toMatchObject(closed(peer))
    await expect(link.send(note, undefined)).rejects.toMatchObject({ kind: "connection_down", reason: "pipe_closed" })
    link.adopt({ ...legacy, standby: true })
    await link.close()
    expect(peer.log).toEqual(["DELETE"])
    expect([goneWith, noises]).toEqual([[], []])
  })

  it("at the very moment of an answer leaves no connection", { timeout: 3_000 }, async () => {
    for (const answer of [result({}), stream(event({ jsonrpc: "2.0", id: 1, result: {} }))]) {
      const peer = await start({ ping: answer })
      const { link, clock } = await openLink(peer.url)
      const text = '{"jsonrpc":"2.0","id":1,"method":"ping"}'
      const outbound = { id: 1, method: "ping", text, headers: undefined, caller: undefined, repeatable: true }
      await new Promise<void>((resolve) => {
        link.request(outbound, { message() {}, settle: () => resolve(link.close()) })
      })
      await peer.idle()
      expect(clock.waiting).toBe(0)
    }
  })

  it("leaves the requests of another link on the same way out alone", async () => {
    const peer = await start({ ping: [stream(": hi\n\n", false), result({})] })
    const send = createSend()
    const one = await openLink(peer.url, { send })
    const asked = one.ask("ping")
    await peer.until(1)
    const other = await openLink(peer.url, { send })
    await other.ask("ping").outcome
    await other.link.close()
    await until(() => peer.connections() === 1)
    expect(asked.settled).toBe(0)
  })
})
