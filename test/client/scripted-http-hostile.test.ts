/** Servers over HTTP that lie, flood, and send what nobody should: what the application is told, and that the client goes on. */
import { brotliCompressSync, gzipSync } from "node:zlib"
import type { Client } from "conduit-mcp/client"
import { describe, expect, it } from "vitest"
import { failure, failureOf, until } from "../support/failure.js"
import {
  type Answer,
  discover,
  type Heard,
  type HttpPeer,
  initialized,
  plain,
  raw,
  result,
  type Script,
  stream,
} from "../support/http-peer.js"
import { dial, expectNothingLeft, open, start } from "./scripted-http/harness.js"

const modern: Script = { "server/discover": discover() }
const legacy: Script = { "server/discover": plain(404), initialize: initialized("2025-11-25", "s-1"), GET: plain(405) }
const whole = { resultType: "complete", content: [{ type: "text", text: "done" }] }
const json = { "content-type": "application/json" }
const eras: readonly (readonly [era: string, script: Script])[] = [
  ["modern", modern],
  ["legacy", legacy],
]

/** A response whose result is given as raw JSON text; `$ID` stands for the id. */
const text = ({ message }: Heard, of: string): string =>
  `{"jsonrpc":"2.0","id":${JSON.stringify(message?.id)},"result":${of}}`
const asJson =
  (of: string): Answer =>
  (heard, response) => {
    response.writeHead(200, json).end(text(heard, of))
  }
const asEvent = (of: string): Answer => stream((heard) => `data: ${text(heard, of)}\n\n`)
const kinds: readonly (readonly [kind: string, answer: (of: string) => Answer])[] = [
  ["a JSON answer", asJson],
  ["an event", asEvent],
]

/** The answer to the first tool call; the second one is answered well, which shows that the client went on. */
async function tell(answer: Answer, script: Script = modern, options: Parameters<typeof open>[1] = {}) {
  const peer = await start({ ...script, "tools/call": [answer, result(whole)] })
  const { client, clock } = await open(peer, { standby: false, ...options })
  const noises: unknown[] = []
  client.on("client.noise", (noise) => noises.push(noise))
  const told = await failureOf(client.callTool("t"))
  expect((await client.callTool("t")).content).toEqual(whole.content)
  await client.close()
  await expectNothingLeft(peer, clock)
  return { told, noises, peer }
}

const unreadable = (peer: HttpPeer, why: string): object =>
  failure({
    kind: "transport",
    reason: "unreadable_answer",
    message: `tools/call: the answer of ${peer.origin} cannot be read: ${why}`,
  })

const deep = (levels: number): string => `{"content":[],"a":${"[".repeat(levels)}${"]".repeat(levels)}}`

describe.each(eras)("in the %s era", (_era, script) => {
  describe.each(kinds)("%s", (_kind, answer) => {
    it.each<[what: string, of: string, why: string]>([
      ["that is nested too deep", deep(200), "nested deeper than 128 levels (limits.maxDepth)"],
      ["with 100,000 levels", deep(100_000), "nested deeper than 128 levels (limits.maxDepth)"],
      ["with an own __proto__", '{"content":[],"__proto__":{"admin":true}}', 'the key "__proto__" is not accepted'],
      ["with an escaped __proto__", '{"content":[],"a":{"\\u005f_proto__":{}}}', 'the key "__proto__" is not accepted'],
      ["with a number out of range", '{"content":[],"n":1e400}', "a number is beyond what a double can hold"],
      [
        "with more keys than may be",
        `{"content":[${"0,".repeat(1_001)}0]}`,
        "more than 1000 keys and items (limits.maxKeys)",
      ],
    ])("%s fails its call at once, says why, and is all that fails", async (_what, of, why) => {
      const { told, peer } = await tell(answer(of), script, { limits: { maxKeys: 1_000 } })
      expect(told).toMatchObject({ kind: "transport", reason: "unreadable_answer", retryable: false })
      expect(told).toEqual(unreadable(peer, why))
      expect(({} as { admin?: unknown }).admin).toBeUndefined()
    })

    it("that is larger than limits.maxMessageBytes fails its call at once, and is all that fails", async () => {
      const { told, peer } = await tell(answer(`{"content":["${"x".repeat(10_000)}"]}`), script, {
        limits: { maxMessageBytes: 5_000 },
      })
      expect(told).toEqual(
        failure({
          kind: "transport",
          reason: "message_too_large",
          message: `tools/call: the answer of ${peer.origin} cannot be read: it has more than 5000 bytes (limits.maxMessageBytes)`,
        }),
      )
    })

    it("with keys that an object has by itself harms nothing", async () => {
      const of = '{"content":[],"constructor":{"prototype":{"admin":true}},"toString":1,"hasOwnProperty":null}'
      const peer = await start({ ...script, "tools/call": answer(of) })
      const { client } = await open(peer, { standby: false })
      expect(await client.callTool("t")).toMatchObject({ content: [], isError: false })
      expect(({} as { admin?: unknown }).admin).toBeUndefined()
    })
  })
})

describe("a response that says something twice", () => {
  const twice: readonly (readonly [what: string, of: (id: unknown) => string])[] = [
    ["its id", (id) => `{"jsonrpc":"2.0","id":7,"id":${id},"result":{"content":[]}}`],
    ["its result", (id) => `{"jsonrpc":"2.0","id":${id},"result":{"content":[]},"result":{"content":[1]}}`],
  ]
  const why = "a key stands twice at the top level"

  it.each(twice)("as JSON, %s, is refused", async (_what, of) => {
    const { told, peer } = await tell(
      ({ message }, response) => void response.writeHead(200, json).end(of(message?.id)),
    )
    expect(told).toEqual(unreadable(peer, why))
  })

  it("as an event is no response, unless it can be told whose it was", async () => {
    const { told, peer } = await tell(stream(({ message }) => `data: ${twice[1]?.[1](message?.id)}\n\n`))
    expect(told).toEqual(unreadable(peer, why))
  })
})

describe("a body that is no good", () => {
  it.each<[what: string, answer: Answer, shown: string]>([
    ["nothing", plain(200, "", json), "got HTTP 200 without a body"],
    ["null", plain(200, "null", json), "got HTTP 200 with application/json: null"],
    ["a list", plain(200, "[]", json), "got HTTP 200 with application/json: []"],
    ["text", plain(200, '"x"', json), 'got HTTP 200 with application/json: "x"'],
    ["half of a message", plain(200, '{"jsonrpc":"2.0"', json), 'got HTTP 200 with application/json: {"jsonrpc":"2.0"'],
    [
      "another version of JSON-RPC",
      plain(200, '{"jsonrpc":"1.0","id":2,"result":{}}', json),
      'got HTTP 200 with application/json: {"jsonrpc":"1.0","id":2,"result":{}}',
    ],
    [
      "no type",
      plain(200, '{"jsonrpc":"2.0","id":2,"result":{}}'),
      'got HTTP 200: {"jsonrpc":"2.0","id":2,"result":{}}',
    ],
    [
      "HTML",
      plain(200, "<h1>Welcome</h1>", { "content-type": "text/html" }),
      "got HTTP 200 with text/html: <h1>Welcome</h1>",
    ],
  ])("such as %s is told as it came", async (_what, answer, shown) => {
    const { told } = await tell(answer)
    expect(told).toEqual(
      failure({
        kind: "transport",
        reason: "http_status",
        message: `tools/call: expected a JSON-RPC response, ${shown}`,
        data: { status: 200 },
      }),
    )
  })

  it("such as bytes that are no UTF-8 is refused", async () => {
    const bytes = Buffer.concat([
      Buffer.from('{"jsonrpc":"2.0","id":2,"result":{"a":"'),
      Buffer.from([0xc0, 0x80]),
      Buffer.from('"}}'),
    ])
    const { told, peer } = await tell((_, response) => void response.writeHead(200, json).end(bytes))
    expect(told).toEqual(unreadable(peer, "the body is not valid UTF-8"))
  })
})

describe("text of a server", () => {
  const nasty = "\u001b[31mred\u0007\u202eevil\u200b\u0000\r\nnext"
  const clean = "[31mredevil  next"
  const refused =
    (message: string): Answer =>
    ({ message: asked }, response) => {
      const error = { code: -32000, message, data: { keep: nasty } }
      response.writeHead(200, json).end(JSON.stringify({ jsonrpc: "2.0", id: asked?.id, error }))
    }

  it("in an error's message is clamped and free of what cannot be seen, and its data is as it came", async () => {
    const { told } = await tell(refused(nasty))
    expect(told).toEqual(
      failure({
        kind: "protocol",
        reason: "jsonrpc",
        code: -32000,
        message: `tools/call: the server answered with error -32000: ${clean}`,
        data: { keep: nasty },
      }),
    )
    const long = await tell(refused("x".repeat(100_000)))
    expect(long.told).toMatchObject({
      message: `tools/call: the server answered with error -32000: ${"x".repeat(499)}…`,
    })
  })

  it("in a page, a type, a challenge and a list of versions is, too", async () => {
    const page = await tell(plain(500, nasty, { "content-type": "text/plain" }))
    expect(page.told).toMatchObject({
      message: `tools/call: expected a JSON-RPC response, got HTTP 500 with text/plain: ${clean}`,
    })
    const type = await tell(plain(500, "x", { "content-type": `text/plain; a=${"b".repeat(500)}` }))
    expect(JSON.stringify(type.told).length).toBeLessThan(400)
    const challenge = await tell(plain(401, "", { "www-authenticate": `Bearer a="${"b".repeat(10_000)}"` }))
    expect(JSON.stringify(challenge.told).length).toBeLessThan(1_400)
    const peer = await start({ "server/discover": discover({ supportedVersions: [nasty, "y".repeat(9_000)] }) })
    const told = await failureOf(dial(peer).opening)
    expect(told).toMatchObject({
      kind: "protocol",
      reason: "no_common_version",
      message: expect.stringContaining(clean),
    })
    expect(told).toMatchObject({ message: expect.not.stringMatching(/\p{Cc}|\u202e|\u200b/u) })
  })

  it("in noise is, too", async () => {
    const odd = `event: ${"e".repeat(500)}\ndata: x\n\ndata: ${nasty.replace("\r\n", "")}${"z".repeat(500)}\n\n`
    const { noises } = await tell(stream(odd))
    for (const noise of noises) {
      expect(noise).toMatchObject({ from: "stream", text: expect.not.stringMatching(/\p{Cc}|\u202e|\u200b/u) })
      expect((noise as { text: string }).text.length).toBeLessThanOrEqual(200)
    }
    expect(noises).toHaveLength(2)
  })
})

describe("a flood", () => {
  const limits = { maxMessageBytes: 100_000 }
  const chunk = Buffer.alloc(65_536, "x")
  /** Writes without an end, for as long as somebody reads. */
  const endless =
    (head: Record<string, string>, first: string, more: string | Buffer = chunk): Answer =>
    (_, response) => {
      response.writeHead(200, head)
      response.write(first)
      const pump = (): void => {
        while (!response.destroyed && response.write(more));
      }
      response.on("drain", pump)
      pump()
    }

  it.each<[what: string, answer: Answer]>([
    ["of JSON", endless(json, '{"jsonrpc":"2.0","id":2,"result":"')],
    ["of an event", endless({ "content-type": "text/event-stream" }, "data: ")],
    ["of an event in many lines", endless({ "content-type": "text/event-stream" }, "data: ", "x\ndata: ")],
    ["of an id", endless({ "content-type": "text/event-stream" }, "id: ")],
  ])("%s is cut at limits.maxMessageBytes, and its connection is closed", async (_what, answer) => {
    const { told } = await tell(answer, modern, { limits })
    expect(told).toMatchObject({ kind: "transport", reason: "message_too_large", retryable: false })
  })

  it("of a page that is no answer is cut at 64 KiB", async () => {
    const { told } = await tell(endless({ "content-type": "text/html" }, "<html>"), modern, { limits })
    expect(told).toMatchObject({ kind: "transport", reason: "http_status", data: { status: 200 } })
    expect(JSON.stringify(told).length).toBeLessThan(500)
  })

  it("of comments costs nothing, and ends at the deadline of the call", async () => {
    const peer = await start({
      ...modern,
      "tools/call": endless({ "content-type": "text/event-stream" }, ":", `${"c".repeat(1_000)}\n:`),
    })
    const { client, clock } = await open(peer, { limits })
    const call = failureOf(client.callTool("t", {}, { timeoutMs: 1_000 }))
    await until(() => peer.heard.length === 2)
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
    clock.advance(1_000)
    expect(await call).toMatchObject({ kind: "timeout", reason: "request_timeout" })
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it.each<[coding: string, encode: (bytes: Buffer) => Buffer]>([
    ["gzip", (bytes) => gzipSync(bytes)],
    ["br", (bytes) => brotliCompressSync(bytes)],
  ])("in %s counts as what it is when it is unpacked", async (coding, encode) => {
    const bomb = encode(
      Buffer.concat([Buffer.from('{"jsonrpc":"2.0","id":2,"result":"'), Buffer.alloc(20_000_000, "x")]),
    )
    expect(bomb.length).toBeLessThan(limits.maxMessageBytes)
    const { told } = await tell(
      (_, response) => void response.writeHead(200, { ...json, "content-encoding": coding }).end(bomb),
      modern,
      { limits },
    )
    expect(told).toMatchObject({ kind: "transport", reason: "message_too_large", retryable: false })
  })

  it("in a coding that was not asked for and is not known is refused", async () => {
    const { told } = await tell(plain(200, "x", { ...json, "content-encoding": "zstd, gzip" }))
    expect(told).toMatchObject({ kind: "transport", reason: "unsupported_encoding", retryable: false })
  })

  it.each<[what: string, answer: Answer]>([
    ["of headers", raw(`HTTP/1.1 200 OK\r\n${"x-a: b\r\n".repeat(20_000)}`)],
    ["of one header", raw(`HTTP/1.1 200 OK\r\nx-a: ${"b".repeat(200_000)}\r\n\r\n`)],
    ["of a status line", raw(`HTTP/1.1 200 ${"K".repeat(200_000)}\r\n\r\n`)],
    ["of what is no HTTP", raw("SSH-2.0-OpenSSH_9.0\r\n".repeat(1_000))],
    ["of informational answers without an end", raw("HTTP/1.1 102 Processing\r\n\r\n".repeat(1_000))],
  ])("%s is no answer", async (_what, answer) => {
    const { told } = await tell(answer)
    expect(told).toMatchObject({ kind: "transport", reason: "network_error", retryable: true })
  })

  it("of pages and of cursors is bounded", async () => {
    let page = 0
    const next: Answer = (heard, response) =>
      result({ resultType: "complete", tools: [], nextCursor: String(++page) })(heard, response)
    const peer = await start({ ...modern, "tools/list": next })
    const { client } = await open(peer, { limits: { maxPages: 5 } })
    expect(await failureOf(client.listTools())).toMatchObject({ kind: "protocol", reason: "invalid_result" })
    expect(peer.log.slice(1)).toHaveLength(5)
  })
})

describe("a legacy server that floods", () => {
  it("with questions has no more than limits.maxQuestions of them open", async () => {
    const asks = Array.from({ length: 50 }, (_, id) => `data: {"jsonrpc":"2.0","id":${id},"method":"roots/list"}\n\n`)
    const peer = await start({ ...legacy, GET: stream(asks.join(""), false) })
    let asked = 0
    const roots = (): Promise<never> => {
      asked++
      return new Promise(() => {})
    }
    const { client, clock } = await open(peer, { handlers: { roots }, limits: { maxQuestions: 3 } })
    const answers = (): readonly Heard[] =>
      peer.heard.filter(({ message }) => message !== undefined && message.method === undefined)
    await until(() => answers().length === 47)
    expect(asked).toBe(3)
    for (const { message } of answers()) expect(message).toMatchObject({ error: { code: -32603 } })
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("with log lines and changes of lists has each heard, and the call its answer", async () => {
    const line = 'data: {"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}\n\n'
    const change = 'data: {"jsonrpc":"2.0","method":"notifications/tools/list_changed"}\n\n'
    const peer = await start({
      ...legacy,
      "tools/call": stream(
        (heard) => `${line.repeat(5_000)}${change.repeat(5_000)}data: ${text(heard, JSON.stringify(whole))}\n\n`,
      ),
    })
    let lines = 0
    let changes = 0
    const { client } = await open(peer, { standby: false, handlers: { log: () => lines++, changed: () => changes++ } })
    expect((await client.callTool("t")).content).toEqual(whole.content)
    expect([lines, changes]).toEqual([5_000, 5_000])
  })
})

describe("a probe that is hostile", () => {
  it.each<[what: string, answer: Answer, told: object]>([
    ["too large", asJson(`"${"x".repeat(10_000)}"`), { kind: "transport", reason: "message_too_large" }],
    ["too deep", asJson(deep(200)), { kind: "transport", reason: "unreadable_answer" }],
    [
      "polluting",
      asJson('{"__proto__":{"supportedVersions":["2026-07-28"]}}'),
      { kind: "transport", reason: "unreadable_answer" },
    ],
  ])("because it is %s is told at once, and no verdict is made of it", async (_what, answer, told) => {
    const peer = await start({ "server/discover": answer, initialize: initialized() })
    const { opening, clock } = dial(peer, { limits: { maxMessageBytes: 5_000 } })
    expect(await failureOf(opening)).toMatchObject(told)
    expect(peer.log).toEqual(["POST server/discover 1"])
    await expectNothingLeft(peer, clock)
  })

  it("because it never stops talking ends at its deadline", async () => {
    let talking: Client | undefined
    const peer = await start({ "server/discover": stream(": hi\n\n", false) })
    const { opening, clock } = dial(peer, { connectTimeoutMs: 3_000 })
    opening.then(
      (client) => {
        talking = client
      },
      () => {},
    )
    await until(() => peer.heard.length === 1)
    clock.advance(3_000)
    expect(await failureOf(opening)).toMatchObject({ kind: "timeout", reason: "connect_timeout" })
    expect(talking).toBeUndefined()
    await expectNothingLeft(peer, clock)
  })
})
