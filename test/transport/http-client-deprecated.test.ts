/** The deprecated HTTP+SSE transport: one stream that brings everything, and an address that the server names for messages. */

import type { ServerResponse } from "node:http"
import { createServer, tool } from "conduit-mcp"
import { serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import {
  type Answer,
  cut,
  event,
  type HttpPeer,
  plain,
  type Script,
  silence,
  startHttpPeer,
  stream,
} from "../support/http-peer.js"
import { initializeRequest } from "../support/wire.js"
import { closeLinks, legacy, makeLink, openLink, until } from "./http-client/harness.js"

const peers: { idle?(): Promise<void>; close(): Promise<unknown> }[] = []

afterEach(async () => {
  await closeLinks()
  for (const peer of peers.splice(0)) {
    await peer.idle?.()
    await peer.close()
  }
})

/** The open stream of a peer, and how to write to it. */
interface OldPeer extends HttpPeer {
  say(message: object): void
  readonly stream: ServerResponse
}

const endpoint = (address: string): string => `event: endpoint\ndata: ${address}\n\n`

async function start(script: Script = {}, address = "/messages?sessionId=1"): Promise<OldPeer> {
  let opened: ServerResponse | undefined
  const get: Answer = (_, response) => {
    opened = response
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(endpoint(address))
  }
  const peer = await startHttpPeer({ GET: get, "*": plain(202, "Accepted"), ...script })
  peers.push(peer)
  return Object.create(peer, {
    say: { value: (message: object) => opened?.write(event(message)) },
    stream: { get: () => opened },
  }) as OldPeer
}

const response = (id: unknown, more: object = { result: { ok: true } }): object => ({ jsonrpc: "2.0", id, ...more })
const failureOf = (opening: Promise<unknown>): Promise<unknown> =>
  opening.then(
    () => undefined,
    (error: unknown) => error,
  )

describe("opening it", () => {
  it.each<[address: string, path: string]>([
    ["/messages?sessionId=1", "/messages?sessionId=1"],
    ["messages", "/messages"],
    ["?session=1", "/mcp?session=1"],
  ])("waits for the address of messages: %s", async (address, path) => {
    const peer = await start({}, address)
    const { link } = await openLink(peer.url, { deprecated: true, headers: { "x-a": "1" } })
    await link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}', undefined)
    expect(peer.heard.map(({ verb, path: at }) => `${verb} ${at}`)).toEqual(["GET /mcp", `POST ${path}`])
    expect(peer.heard[0]?.headers).toMatchObject({ accept: "text/event-stream", "x-a": "1" })
    expect(peer.heard[1]?.headers).toMatchObject({ "content-type": "application/json", "x-a": "1" })
  })

  it("takes a whole address of the same origin", async () => {
    const peer = await start({
      GET: (heard, reply) =>
        void reply
          .writeHead(200, { "content-type": "text/event-stream" })
          .write(endpoint(`http://${heard.headers.host}/m`)),
    })
    const { link } = await openLink(peer.url, { deprecated: true })
    await link.send("{}", undefined)
    expect(peer.heard[1]?.path).toBe("/m")
  })

  it.each(["http://192.0.2.1/m", "//192.0.2.1/m", "https://127.0.0.1/m", "http://", "javascript:alert(1)"])(
    "refuses an address of another origin: %s",
    async (address) => {
      const peer = await start({}, address)
      const { link } = makeLink(peer.url, { deprecated: true })
      const error = await failureOf(link.open({ message() {}, gone() {}, noise() {} }))
      expect(error).toMatchObject({ kind: "transport", reason: "unreadable_answer" })
      expect(String(error)).toContain(`expected an endpoint at ${peer.origin}, the server named `)
      await peer.idle()
      expect(peer.log).toEqual(["GET"])
    },
  )

  it("refuses an address with a user and a password", async () => {
    const peer = await start({
      GET: (heard, reply) =>
        void reply
          .writeHead(200, { "content-type": "text/event-stream" })
          .write(endpoint(`http://a:b@${heard.headers.host}/m`)),
    })
    const error = await failureOf(
      makeLink(peer.url, { deprecated: true }).link.open({ message() {}, gone() {}, noise() {} }),
    )
    expect(error).toMatchObject({ kind: "transport", reason: "unreadable_answer" })
  })

  it.each<[why: string, answer: Answer, error: object]>([
    [
      "a page that was not found",
      plain(404, "no"),
      { kind: "transport", reason: "http_status", data: { status: 404 } },
    ],
    [
      "a page",
      plain(200, "<html>", { "content-type": "text/html" }),
      { kind: "transport", reason: "http_status", data: { status: 200 } },
    ],
    ["a redirect", plain(302, "", { location: "http://192.0.2.1" }), { reason: "http_status", data: { status: 302 } }],
    ["a stream that ends at once", stream(""), { kind: "transport", reason: "stream_broken" }],
    ["a lost connection", cut, { kind: "transport", reason: "network_error" }],
  ])("fails with %s", async (_, answer, error) => {
    const peer = await start({ GET: answer })
    const { link } = makeLink(peer.url, { deprecated: true })
    const gone: unknown[] = []
    expect(await failureOf(link.open({ message() {}, gone: (why) => gone.push(why), noise() {} }))).toMatchObject(error)
    expect(gone).toEqual([])
  })

  it("ends when it is closed before that", async () => {
    const peer = await start({ GET: silence })
    const { link } = makeLink(peer.url, { deprecated: true })
    const failure = failureOf(link.open({ message() {}, gone() {}, noise() {} }))
    await peer.until(1)
    await link.close()
    expect(await failure).toMatchObject({ kind: "connection_down", reason: "pipe_closed" })
  })

  it("keeps to the first address", async () => {
    const peer = await start({ GET: stream(`${endpoint("/a")}${endpoint("/b")}`, false) })
    const { link, noises } = await openLink(peer.url, { deprecated: true })
    await until(() => noises.length === 1)
    await link.send("{}", undefined)
    expect(peer.heard[1]?.path).toBe("/a")
  })
})

describe("requests on it", () => {
  it("get the response that has their id, in any order and type-exact", async () => {
    const peer = await start()
    const { ask, messages } = await openLink(peer.url, { deprecated: true })
    const asked = [ask("a", { id: 1 }), ask("b", { id: "1" }), ask("c", { id: 0 })]
    await peer.until(4)
    peer.say(response(0))
    peer.say(response("1", { error: { code: -32601, message: "no" } }))
    peer.say(response(9))
    peer.say(response(1))
    expect(await Promise.all(asked.map(({ outcome }) => outcome))).toEqual([
      {
        kind: "message",
        message: { kind: "result", id: 1, result: { ok: true } },
        status: undefined,
        session: undefined,
      },
      {
        kind: "message",
        message: { kind: "error", id: "1", error: { code: -32601, message: "no" } },
        status: undefined,
        session: undefined,
      },
      {
        kind: "message",
        message: { kind: "result", id: 0, result: { ok: true } },
        status: undefined,
        session: undefined,
      },
    ])
    expect(messages).toEqual([{ kind: "result", id: 9, result: { ok: true } }])
  })

  it("may be answered before their POST is", async () => {
    let answer: ServerResponse | undefined
    const peer = await start({
      a: (_, reply) => {
        answer = reply
      },
    })
    const { ask } = await openLink(peer.url, { deprecated: true })
    const asked = ask("a")
    await until(() => answer !== undefined)
    peer.say(response(1))
    expect(await asked.outcome).toMatchObject({ kind: "message" })
    answer?.writeHead(202).end()
  })

  it("what the server says of its own belongs to no request", async () => {
    const peer = await start()
    const { messages } = await openLink(peer.url, { deprecated: true })
    peer.say({ jsonrpc: "2.0", id: 1, method: "roots/list" })
    peer.say({ jsonrpc: "2.0", method: "notifications/tools/list_changed" })
    await until(() => messages.length === 2)
    expect(messages.map((message) => message.kind)).toEqual(["request", "notification"])
  })

  it.each<[why: string, answer: Answer, outcome: object]>([
    ["HTTP 404", plain(404, "no"), { kind: "http", status: 404, body: "no" }],
    ["HTTP 503", plain(503, "", { "retry-after": "1" }), { kind: "http", status: 503, retryAfterMs: 1_000 }],
    ["a lost connection", cut, { kind: "broken", answered: false, error: { reason: "network_error" } }],
  ])("fail when they are not taken: %s", async (_, answer, outcome) => {
    const peer = await start({ a: answer })
    const { ask } = await openLink(peer.url, { deprecated: true })
    expect(await ask("a").outcome).toMatchObject(outcome)
  })

  it("fail when their response cannot be read", async () => {
    const peer = await start()
    const { ask, noises } = await openLink(peer.url, { deprecated: true, limits: { maxMessageBytes: 1_000 } })
    const unreadable = ask("a")
    await peer.until(2)
    peer.stream.write('data: {"jsonrpc":"2.0","id":7,"result":7}\n\ndata: {"jsonrpc":"2.0","id":1,"result":7}\n\n')
    expect(await unreadable.outcome).toMatchObject({ kind: "refused", error: { reason: "unreadable_answer" } })
    const large = ask("a")
    await peer.until(3)
    peer.say(response(2, { result: { text: "x".repeat(2_000) } }))
    expect(await large.outcome).toMatchObject({ kind: "refused", error: { reason: "message_too_large" } })
    const both = [ask("a"), ask("a")]
    await peer.until(5)
    peer.say(response(4, { result: { text: "x".repeat(2_000) } }))
    peer.say(response(3))
    expect(await both[0]?.outcome).toMatchObject({ kind: "message" })
    expect(both[1]?.settled).toBe(0)
    expect(noises.map(({ text }) => text)).toEqual([
      '{"jsonrpc":"2.0","id":7,"result":7}',
      "a message of more than 1000 bytes (limits.maxMessageBytes)",
    ])
  })

  it("carry the version once it is settled, and never a session", async () => {
    const peer = await start()
    const { link } = await openLink(peer.url, { deprecated: true })
    link.adopt({ ...legacy, version: "2024-11-05" })
    await link.send("{}", undefined)
    expect(peer.heard[1]?.headers).toMatchObject({ "mcp-protocol-version": "2024-11-05" })
    expect(peer.heard[1]?.headers).not.toHaveProperty("mcp-session-id")
  })

  it("that are let go hear nothing more", async () => {
    const peer = await start()
    const { ask, messages } = await openLink(peer.url, { deprecated: true })
    const asked = ask("a")
    await peer.until(2)
    asked.sent.letGo()
    peer.say(response(1))
    await until(() => messages.length === 1)
    expect(asked.settled).toBe(0)
  })
})

describe("the end of it", () => {
  it.each<[why: string, end: (peer: OldPeer) => unknown]>([
    ["the server ends the stream", (peer) => peer.stream.end()],
    ["the connection is lost", (peer) => peer.stream.socket?.resetAndDestroy()],
  ])("is told to every request and once to the link: %s", async (_, end) => {
    const peer = await start({ slow: silence })
    const { link, ask, goneWith } = await openLink(peer.url, { deprecated: true })
    const asked = [ask("a"), ask("slow")]
    await peer.until(3)
    end(peer)
    const lost = { kind: "connection_down", reason: "pipe_closed", retryable: true }
    for (const { outcome } of asked) expect(await outcome).toMatchObject({ kind: "gone", error: lost })
    expect(goneWith).toEqual([expect.objectContaining(lost)])
    expect(goneWith[0]?.message).toContain(`the event stream of ${peer.origin} is lost: `)
    await peer.idle()
    expect(await ask("a").outcome).toMatchObject({ kind: "gone", error: lost })
    await expect(link.send("{}", undefined)).rejects.toMatchObject(lost)
  })

  it("closing it ends every request, leaves no connection, and is not told to the link", async () => {
    const peer = await start({ slow: silence, page: (_, reply) => void reply.writeHead(404).write("x") })
    const { link, ask, goneWith, clock } = await openLink(peer.url, { deprecated: true })
    const asked = [ask("a"), ask("slow"), ask("page")]
    await peer.until(4)
    await link.close()
    await link.close()
    for (const { outcome } of asked) {
      expect(await outcome).toMatchObject({
        kind: "gone",
        error: { kind: "connection_down", message: `the connection to ${peer.origin} was closed` },
      })
    }
    await peer.idle()
    expect(goneWith).toEqual([])
    expect(clock.waiting).toBe(0)
  })
})

it("our own server is spoken to over it", async () => {
  const server = createServer({ name: "s", version: "1.0.0", tools: [tool("echo", {}, () => "hi")] })
  const running = await serve(server, { port: 0, sse: true })
  peers.push(running)
  const { link, ask } = await openLink(new URL("/sse", running.url).href, { deprecated: true })
  const text = JSON.stringify(initializeRequest(1, "2025-06-18"))
  expect(await ask("initialize", { text }).outcome).toMatchObject({
    message: { result: { protocolVersion: "2025-06-18" } },
  })
  await link.send('{"jsonrpc":"2.0","method":"notifications/initialized"}', undefined)
  const call = '{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"echo","arguments":{}}}'
  expect(await ask("tools/call", { id: 2, text: call }).outcome).toMatchObject({
    message: { result: { content: [{ text: "hi" }] } },
  })
})
