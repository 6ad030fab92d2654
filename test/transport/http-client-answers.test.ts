/** What each answer to a request over HTTP becomes: the exact outcome, whichever way out was taken. */
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib"
import { afterEach, describe, expect, it } from "vitest"
import type { Outcome } from "../../src/client/link.js"
import { McpError } from "../../src/core/error/error.js"
import { type Answer, error, event, type HttpPeer, plain, result, startHttpPeer, stream } from "../support/http-peer.js"
import { closeLinks, legacy, openLink, until, ways } from "./http-client/harness.js"

const peers: HttpPeer[] = []

async function peerOf(answer: Answer): Promise<HttpPeer> {
  const peer = await startHttpPeer({ "*": answer })
  peers.push(peer)
  return peer
}

afterEach(async () => {
  await closeLinks()
  for (const peer of peers.splice(0)) await peer.close()
})

const json = { "content-type": "application/json" }
const response = { jsonrpc: "2.0", id: 1, result: { ok: true } }
const progress = { jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: 1, progress: 1 } }
const settled = {
  kind: "message",
  message: { kind: "result", id: 1, result: { ok: true } },
  status: 200,
  session: undefined,
}
const nothing = { contentType: undefined, body: "", retryAfterMs: undefined, challenge: undefined }
const http = (status: number, more: object = {}): object => ({ kind: "http", status, ...nothing, ...more })
const bytes =
  (status: number, body: Uint8Array | string, headers: Record<string, string> = json): Answer =>
  (_, reply) => {
    reply.writeHead(status, headers)
    reply.end(body)
  }

/** An answer in raw bytes, after which the connection is closed. */
const raw =
  (text: string): Answer =>
  (_, reply) => {
    reply.socket?.end(text)
  }

const failed = (kind: string, reason: string, message: string | RegExp): object => ({
  kind,
  reason,
  message: expect.stringMatching(message),
})

describe.each(ways)("over %s", (_name, makeSend) => {
  const outcomeOf = async (answer: Answer, limits = {}): Promise<{ outcome: Outcome; noises: readonly unknown[] }> => {
    const peer = await peerOf(answer)
    const { ask, noises } = await openLink(peer.url, { send: makeSend(), limits })
    const { outcome } = ask()
    return { outcome: await outcome, noises }
  }

  it.each<[why: string, answer: Answer, outcome: object]>([
    ["a JSON response", result({ ok: true }), settled],
    [
      "a media type in another case, with parameters",
      bytes(200, JSON.stringify(response), { "content-type": "Application/JSON; charset=UTF-8" }),
      settled,
    ],
    ["a JSON response with a byte order mark", bytes(200, `\ufeff${JSON.stringify(response)}`), settled],
    ["a session", result({ ok: true }, { "mcp-session-id": "s-1" }), { ...settled, session: "s-1" }],
    ["a session id that cannot be sent back", result({ ok: true }, { "mcp-session-id": "a b" }), settled],
    [
      "an error with the request's id",
      error(200, -32602),
      {
        kind: "message",
        message: { kind: "error", id: 1, error: { code: -32602, message: "refused" } },
        status: 200,
        session: undefined,
      },
    ],
    [
      "an error with a status of its own",
      error(400, -32020),
      {
        kind: "message",
        message: { kind: "error", id: 1, error: { code: -32020, message: "refused" } },
        status: 400,
        session: undefined,
      },
    ],
    [
      "an error without an id",
      bytes(404, '{"jsonrpc":"2.0","error":{"code":-32601,"message":"no"}}'),
      {
        kind: "message",
        message: { kind: "error", id: undefined, error: { code: -32601, message: "no" } },
        status: 404,
        session: undefined,
      },
    ],
    [
      "an error with a null id",
      bytes(400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no"}}'),
      {
        kind: "message",
        message: { kind: "error", id: undefined, error: { code: -32600, message: "no" } },
        status: 400,
        session: undefined,
      },
    ],
    ["nothing at all", plain(202), http(202)],
    ["no content", plain(204), http(204)],
    [
      "a page",
      plain(200, "<html>", { "content-type": "text/html" }),
      http(200, { contentType: "text/html", body: "<html>" }),
    ],
    ["an empty JSON body", bytes(200, ""), http(200, { contentType: "application/json" })],
    ["JSON that is none", bytes(200, "{"), http(200, { contentType: "application/json", body: "{" })],
    [
      "JSON that is no JSON-RPC",
      bytes(200, '{"ok":true}'),
      http(200, { contentType: "application/json", body: '{"ok":true}' }),
    ],
    [
      "an array, where there are none",
      bytes(200, JSON.stringify([response])),
      http(200, { contentType: "application/json", body: JSON.stringify([response]) }),
    ],
    [
      "a result that is no object",
      bytes(200, '{"jsonrpc":"2.0","id":1,"result":7}'),
      http(200, { contentType: "application/json", body: '{"jsonrpc":"2.0","id":1,"result":7}' }),
    ],
    [
      "JSON in another charset",
      bytes(200, "{}", { "content-type": "application/json; charset=utf-16" }),
      http(200, { contentType: "application/json; charset=utf-16", body: "{}" }),
    ],
    [
      "a media type that only looks like JSON",
      bytes(200, JSON.stringify(response), { "content-type": "text/plain; a=application/json" }),
      http(200, { contentType: "text/plain; a=application/json", body: JSON.stringify(response) }),
    ],
    ["a page that was not found", plain(404, "no"), http(404, { body: "no" })],
    [
      "a redirect to another host, which is not followed",
      plain(307, "", { location: "http://192.0.2.1/mcp" }),
      http(307),
    ],
    [
      "a challenge, whatever the body says",
      bytes(401, '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}', {
        ...json,
        "www-authenticate": "Bearer x",
      }),
      http(401, {
        contentType: "application/json",
        body: '{"jsonrpc":"2.0","id":1,"error":{"code":-32600,"message":"no"}}',
        challenge: "Bearer x",
      }),
    ],
    [
      "a refusal for now",
      plain(503, "later", { "retry-after": "7" }),
      http(503, { body: "later", retryAfterMs: 7_000 }),
    ],
    [
      "a refusal until a date",
      plain(429, "", { "retry-after": new Date(1_000_000 + 5_000).toUTCString() }),
      http(429, { retryAfterMs: 5_000 }),
    ],
    ["a refusal until nobody knows when", plain(429, "", { "retry-after": "soon" }), http(429)],
    [
      "an event stream with an error status",
      bytes(500, event(response), { "content-type": "text/event-stream" }),
      http(500, { contentType: "text/event-stream", body: event(response) }),
    ],
    ["a stream with the response", stream(event(response)), settled],
    [
      "a stream with CRLF, comments and empty data",
      stream(`: hi\r\nid: 1\r\ndata:\r\n\r\n:\r\ndata: ${JSON.stringify(response)}\r\n\r\n`),
      settled,
    ],
    [
      "a stream with an error without an id",
      stream('data: {"jsonrpc":"2.0","error":{"code":-32603,"message":"no"}}\n\n'),
      {
        kind: "message",
        message: { kind: "error", id: undefined, error: { code: -32603, message: "no" } },
        status: 200,
        session: undefined,
      },
    ],
  ])("%s", async (_, answer, outcome) => {
    expect((await outcomeOf(answer)).outcome).toEqual(outcome)
  })

  it.each<[why: string, answer: Answer, failure: object, more: object]>([
    [
      "a JSON body without its end",
      raw('HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n{"jsonrpc"'),
      failed(
        "transport",
        "stream_broken",
        /^tools\/call: the answer of http:\/\/127\.0\.0\.1:\d+ ended before the response: /,
      ),
      { kind: "broken", answered: true },
    ],
    [
      "a stream without the response",
      stream(event(progress)),
      failed("transport", "stream_broken", /ended before the response$/),
      { kind: "broken", answered: true },
    ],
    [
      "a stream whose last event has no blank line",
      stream(`data: ${JSON.stringify(response)}\n`),
      failed("transport", "stream_broken", /ended before the response$/),
      { kind: "broken", answered: true },
    ],
    [
      "a connection that is cut",
      (_, reply) => void reply.destroy(),
      failed("transport", "network_error", /^no answer from http:\/\/127\.0\.0\.1:\d+: (?:ECONNRESET|UND_ERR_SOCKET)$/),
      { kind: "broken", answered: false },
    ],
    [
      "an answer that is no HTTP",
      raw("hello\r\n\r\n"),
      failed("transport", "network_error", /^no answer from .*: HPE_/),
      { kind: "broken", answered: false },
    ],
    [
      "a switch of protocols that nobody asked for",
      raw("HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n"),
      failed("transport", "network_error", /^no answer from /),
      { kind: "broken", answered: false },
    ],
    [
      "a response nested too deep",
      bytes(200, `{"jsonrpc":"2.0","id":1,"result":{"a":${"[".repeat(200)}${"]".repeat(200)}}}`),
      failed("transport", "unreadable_answer", /cannot be read: nested deeper than 128 levels \(limits\.maxDepth\)$/),
      { kind: "refused" },
    ],
    [
      "a response with a key that is not accepted",
      bytes(200, '{"jsonrpc":"2.0","id":1,"result":{"__proto__":{}}}'),
      failed("transport", "unreadable_answer", /cannot be read: the key "__proto__" is not accepted$/),
      { kind: "refused" },
    ],
    [
      "a response that is no UTF-8",
      bytes(200, Buffer.from('{"jsonrpc":"2.0","id":1,"result":{"a":"\xff"}}', "latin1")),
      failed("transport", "unreadable_answer", /not valid UTF-8/),
      { kind: "refused" },
    ],
    [
      "a response on a stream that breaks the rules",
      stream('data: {"jsonrpc":"2.0","id":1,"result":7}\n\n', false),
      failed("transport", "unreadable_answer", /cannot be read: a message needs/),
      { kind: "refused" },
    ],
  ])("%s", async (_, answer, failure, more) => {
    const { outcome } = await outcomeOf(answer)
    expect(outcome).toMatchObject(more)
    expect(outcome).toHaveProperty("error", expect.objectContaining(failure))
  })

  it("a stream's messages are told before the response, and those after it are not", async () => {
    const asks = { jsonrpc: "2.0", id: "q", method: "roots/list" }
    const peer = await peerOf(stream(event(progress) + event(asks) + event(response) + event(progress)))
    const { ask } = await openLink(peer.url, { send: makeSend() })
    const asked = ask()
    expect(await asked.outcome).toEqual(settled)
    expect(asked.messages).toEqual([
      { kind: "notification", id: undefined, method: "notifications/progress", params: progress.params },
      { kind: "request", id: "q", method: "roots/list", params: undefined },
    ])
    expect(asked.settled).toBe(1)
  })

  it.each<[id: string | number, other: unknown]>([
    [1, "1"],
    ["1", 1],
    [0, ""],
    ["", 0],
    [1, 2],
  ])("an id is compared with its type: %j is not %j", async (id, other) => {
    const peer = await peerOf(stream(event({ ...response, id: other }) + event({ ...response, id })))
    const { ask, noises } = await openLink(peer.url, { send: makeSend() })
    expect(await ask("tools/call", { id }).outcome).toMatchObject({ kind: "message", message: { id } })
    expect(noises).toEqual([{ from: "stream", text: `an answer to another request (id ${JSON.stringify(other)})` }])
  })

  it("a JSON answer to another request is no answer", async () => {
    const { outcome, noises } = await outcomeOf(bytes(200, JSON.stringify({ ...response, id: "1" })))
    expect(outcome).toMatchObject({ kind: "http", status: 200 })
    expect(noises).toEqual([{ from: "stream", text: 'an answer to another request (id "1")' }])
  })

  it("what is no message on a stream is passed over", async () => {
    const { outcome, noises } = await outcomeOf(
      stream(`data: hello\n\nevent: ping\ndata: x\n\ndata: {"jsonrpc":"2.0","id":2,"result":7}\n\n${event(response)}`),
    )
    expect(outcome).toEqual(settled)
    expect(noises).toEqual([
      { from: "stream", text: "hello" },
      { from: "stream", text: "an event of type ping" },
      { from: "stream", text: '{"jsonrpc":"2.0","id":2,"result":7}' },
    ])
  })

  it("messages that come as an array are read where the revision has that", async () => {
    const peer = await peerOf(bytes(200, JSON.stringify([progress, response])))
    const { link, ask } = await openLink(peer.url, { send: makeSend() })
    link.adopt({ ...legacy, version: "2025-03-26", batches: true })
    const asked = ask()
    expect(await asked.outcome).toEqual(settled)
    expect(asked.messages).toHaveLength(1)
  })

  it("every piece may come alone, in an answer of either kind", async () => {
    const text = '{"jsonrpc":"2.0","id":1,"result":{"text":"—☀😀"}}'
    const dribble =
      (type: string, body: string): Answer =>
      async (_, reply) => {
        reply.writeHead(200, { "content-type": type })
        for (const byte of Buffer.from(body)) {
          reply.write(Uint8Array.of(byte))
          await new Promise((resolve) => setImmediate(resolve))
        }
        reply.end()
      }
    const message = { message: { result: { text: "—☀😀" } } }
    expect((await outcomeOf(dribble("application/json", text))).outcome).toMatchObject(message)
    expect((await outcomeOf(dribble("text/event-stream", `\ufeffdata: ${text}\r\n\r\n`))).outcome).toMatchObject(
      message,
    )
  })

  it.each<[encoding: string, encode: (body: string) => Uint8Array]>([
    ["gzip", (body) => gzipSync(body)],
    ["x-gzip", (body) => gzipSync(body)],
    ["deflate", (body) => deflateSync(body)],
    ["br", (body) => brotliCompressSync(body)],
    ["identity", (body) => Buffer.from(body)],
  ])("a body that is encoded all the same is decoded: %s", async (encoding, encode) => {
    const answer = bytes(200, encode(JSON.stringify(response)), { ...json, "content-encoding": encoding })
    expect((await outcomeOf(answer)).outcome).toEqual(settled)
  })
})

describe("an answer is bounded while it is read", () => {
  const limits = { maxMessageBytes: 1_000 }
  const large = (length: number): string => {
    const empty = JSON.stringify({ ...response, result: { a: "" } })
    return JSON.stringify({ ...response, result: { a: "x".repeat(length - empty.length) } })
  }
  const refused = {
    kind: "refused",
    error: failed(
      "transport",
      "message_too_large",
      /^tools\/call: the answer of http:\/\/127\.0\.0\.1:\d+ cannot be read: it has more than 1000 bytes \(limits\.maxMessageBytes\)$/,
    ),
  }

  /** Writes until the connection is closed from the other side. */
  const endless =
    (headers: Record<string, string>, first: string, chunk: string | Uint8Array, done: () => void): Answer =>
    (_, reply) => {
      reply.writeHead(200, headers)
      reply.write(first)
      const more = (): void => {
        while (!reply.destroyed && reply.write(chunk));
        if (!reply.destroyed) reply.once("drain", more)
      }
      reply.on("close", done)
      more()
    }

  describe.each(ways)("over %s", (_, makeSend) => {
    it("exactly the bound is taken, one byte more is not", async () => {
      for (const [length, kind] of [
        [1_000, "message"],
        [1_001, "refused"],
      ] as const) {
        const peer = await peerOf(bytes(200, large(length)))
        const { ask } = await openLink(peer.url, { send: makeSend(), limits })
        expect(await ask().outcome).toMatchObject({ kind })
      }
    })

    it.each<[why: string, type: string, first: string, chunk: string]>([
      ["a JSON body without end", "application/json", '{"jsonrpc":"2.0","id":1,"result":{"a":"', "x".repeat(10_000)],
      ["an event without end", "text/event-stream", "data: ", "x".repeat(10_000)],
      ["an event of many lines without end", "text/event-stream", "data: ", "data: x\n".repeat(1_000)],
    ])("%s", async (_why, type, first, chunk) => {
      let isClosed = false
      const peer = await peerOf(
        endless({ "content-type": type }, first, chunk, () => {
          isClosed = true
        }),
      )
      const { ask } = await openLink(peer.url, { send: makeSend(), limits })
      expect(await ask().outcome).toMatchObject(refused)
      await until(() => isClosed)
    })

    it("an endless page is cut at 64 KiB", async () => {
      let isClosed = false
      const peer = await peerOf(
        endless({ "content-type": "text/html" }, "", "é".repeat(10_000), () => {
          isClosed = true
        }),
      )
      const { ask } = await openLink(peer.url, { send: makeSend() })
      const outcome = await ask().outcome
      expect(outcome).toMatchObject({ kind: "http", status: 200, contentType: "text/html" })
      expect(outcome.kind === "http" && Buffer.byteLength(outcome.body)).toBe(65_536)
      await until(() => isClosed)
    })

    it("comments without end cost nothing, and the response after them is read", async () => {
      const flood = ": nothing to say\n".repeat(100_000)
      const peer = await peerOf(stream(`${flood}${event(response)}`))
      const { ask } = await openLink(peer.url, { send: makeSend(), limits })
      expect(await ask().outcome).toEqual(settled)
    })

    it("what counts is the decoded length of an encoded body", async () => {
      const bomb = gzipSync(Buffer.alloc(50_000_000, 0x20))
      const peer = await peerOf(bytes(200, bomb, { ...json, "content-encoding": "gzip" }))
      const { ask } = await openLink(peer.url, { send: makeSend(), limits })
      expect(await ask().outcome).toMatchObject(refused)
    })
  })

  it("an encoding that is not known, or one inside of another, is refused", async () => {
    for (const encoding of ["zstd", "gzip, gzip"]) {
      const peer = await peerOf(bytes(200, JSON.stringify(response), { ...json, "content-encoding": encoding }))
      const { ask } = await openLink(peer.url)
      const outcome = await ask().outcome
      const message = `the answer has the content encoding ${encoding}, which was not asked for`
      expect(outcome).toMatchObject({
        kind: "refused",
        error: { kind: "transport", reason: "unsupported_encoding", message },
      })
    }
  })

  it("a body whose encoding breaks off is broken", async () => {
    const half = gzipSync(large(100_000)).subarray(0, 60)
    for (const body of [half, Buffer.from("no gzip at all")]) {
      const peer = await peerOf(bytes(200, body, { ...json, "content-encoding": "gzip" }))
      const { ask } = await openLink(peer.url)
      const outcome = await ask().outcome
      expect(outcome).toMatchObject({ kind: "broken", answered: true })
      expect(outcome.kind === "broken" && McpError.is(outcome.error, "transport")).toBe(true)
    }
  })
})
