/** Whatever a process writes where messages belong: what an application gets of it, what it is told, and what goes on. */
import { describe, expect, it } from "vitest"
import { failure, failureOf, until } from "../support/failure.js"
import {
  cancelLine,
  DONE,
  error,
  LEGACY,
  lines,
  MODERN,
  modernLine,
  open,
  result,
  type Script,
  type Step,
  start,
  text,
} from "./scripted-stdio/harness.js"

const node = process.execPath
const answer = text({ id: "$ID", result: DONE })
const fine: Script = { "tools/list": [result({ resultType: "complete", tools: [] })] }
const eras = [
  ["modern", MODERN, 2],
  ["legacy", LEGACY, 3],
] as const

/** A peer that answers each call of a tool with this, and lists no tools. */
function calls(step: Step, era: Script = MODERN): Script {
  return { ...era, ...fine, "tools/call": [step] }
}

describe("lines that are no messages are passed over, each told at once", () => {
  it.each<[what: string, printed: string, told: string]>([
    ["a banner", "Secure MCP server ready on stdio", "Secure MCP server ready on stdio"],
    ["a banner in colours", "\u001b[1;32mReady\u001b[0m", "[1;32mReady[0m"],
    ["a line of a JSON logger", '{"level":30,"time":1,"msg":"x"}', '{"level":30,"time":1,"msg":"x"}'],
    ["JSON that is no object", "[1,2]", "[1,2]"],
    ["a batch", `[${text({ method: "notifications/message" })}]`, `[${text({ method: "notifications/message" })}]`],
    ["half of a message", '{"jsonrpc":"2.0","id":1,', '{"jsonrpc":"2.0","id":1,'],
    ["a message of another protocol", '{"jsonrpc":"1.0","id":1,"result":{}}', '{"jsonrpc":"1.0","id":1,"result":{}}'],
    ["a message that says nothing", '{"jsonrpc":"2.0"}', '{"jsonrpc":"2.0"}'],
    ["a stack trace", "    at Object.<anonymous> (index.js:1:1)", "    at Object.<anonymous> (index.js:1:1)"],
    ["text with bidi and invisible characters", "a\u202eb\u200bc\u0007d", "abcd"],
    ["a long line", "x".repeat(5_000), `${"x".repeat(199)}…`],
  ])("%s", async (_, printed, told) => {
    const peer = await start(calls([...lines(printed), ...result(DONE), ...lines(printed)]))
    const { client, noises } = await open(peer)
    expect((await client.callTool("echo")).content).toEqual(DONE.content)
    await client.listTools()
    expect(noises).toEqual([
      { from: "output", text: told },
      { from: "output", text: told },
    ])
  })

  it("before the first message, too: a noisy start is no reason to fall back", async () => {
    const peer = await start(MODERN, { start: lines("> my-server@1.0.0 start", "> node server.js", "", "listening") })
    const { client } = await open(peer)
    expect(client.status).toMatchObject({ era: "modern", reason: "discovered" })
  })

  it("bytes that are no UTF-8, a null byte and a lone carriage return", async () => {
    const odd: Step = [
      { hex: "fffe0a" },
      { hex: "c0800a" },
      { hex: "e2980a" },
      { hex: "000a" },
      { hex: "0d0a" },
      { hex: "0a" },
    ]
    const peer = await start(calls([...odd, ...result(DONE)]))
    const { client, noises } = await open(peer)
    expect((await client.callTool("echo")).content).toEqual(DONE.content)
    expect(noises.map((noise) => noise.text)).toEqual(["\ufffd\ufffd", "\ufffd\ufffd", "\ufffd", ""])
  })

  it("a log text in front of an answer loses that answer: told at once, and the cause of the timeout", async () => {
    const glued = `log ${answer}`
    const peer = await start(calls([{ write: `${glued}\n` }]))
    const { client, clock, noises } = await open(peer)
    const call = client.callTool("echo", {}, { timeoutMs: 500 })
    await until(() => noises.length > 0)
    const told = glued.replace("$ID", "2")
    expect(noises).toEqual([{ from: "output", text: told }])
    clock.advance(500)
    const { cause, ...rest } = await failureOf(call)
    expect(rest).toMatchObject({
      kind: "timeout",
      reason: "request_timeout",
      message: `tools/call "echo" was not answered within 500 ms; timeoutMs of the call or the client says how long it may take; the last thing that came was no message: ${told}`,
    })
    expect(cause).toEqual(new Error(told))
    expect((await client.listTools()).tools).toEqual([])
    expect(peer.lines.slice(1)).toEqual([
      modernLine(2, "tools/call", { name: "echo", arguments: {} }),
      cancelLine(2),
      modernLine(3, "tools/list"),
    ])
  })

  it("what came before a call is not the cause of its timeout", async () => {
    const peer = await start(calls([]), { start: lines("ready") })
    const { client, clock } = await open(peer)
    const call = client.callTool("echo", {}, { timeoutMs: 500 })
    await peer.heard(2)
    clock.advance(500)
    expect(await failureOf(call)).toMatchObject({
      message:
        'tools/call "echo" was not answered within 500 ms; timeoutMs of the call or the client says how long it may take',
      cause: undefined,
    })
  })
})

describe("an answer is read however it is written", () => {
  const bom = "\ufeff"
  const told = '—☀😀\u2028\u0000"\\'
  const whole = text({ id: "$ID", result: { content: [], structuredContent: told } })
  const writes: [what: string, step: (id: number) => Step][] = [
    ["behind a byte order mark", () => [{ write: `${bom}${whole}\n` }]],
    ["ended by CRLF", () => [{ write: `${whole}\r\n` }]],
    ["byte by byte", (id) => [{ singly: `${bom}${whole.replace("$ID", String(id))}\r\n` }]],
    ["with the LF of its CRLF in another piece", () => [{ write: `${whole}\r` }, { write: "\n" }]],
    ["with space around it", () => [{ write: `  ${whole}\t \n` }]],
    [
      "with its members in another order",
      () => [
        { write: `{"result":{"structuredContent":${JSON.stringify(told)},"content":[]},"id":$ID,"jsonrpc":"2.0"}\n` },
      ],
    ],
    ["with escapes for everything", () => [{ write: whole.replace("—", "\\u2014") + "\n" }]],
  ]

  it.each(writes)("%s", async (_, step) => {
    for (const [, era, id] of eras) {
      const peer = await start(calls(step(id), era))
      const { client, noises } = await open(peer)
      expect((await client.callTool("echo")).structured).toBe(told)
      expect(noises).toEqual([])
    }
  })

  it("behind one in the same piece, in whatever order", async () => {
    const both = [3, 2].map((id) => text({ id, result: { content: [{ type: "text", text: `of ${id}` }] } }))
    const peer = await start({ ...MODERN, "tools/call": [[], [{ write: `${both.join("\n")}\n` }]] })
    const { client } = await open(peer)
    const answers = await Promise.all([client.callTool("a"), client.callTool("b")])
    expect(answers.map(({ content }) => content)).toEqual([2, 3].map((id) => [{ type: "text", text: `of ${id}` }]))
  })

  it("of nine million bytes in small pieces", async () => {
    const piece = "☀".repeat(3_000)
    const open_ = `{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":"`
    const peer = await start(calls([{ write: open_ }, { flood: piece, times: 1_000 }, { write: '"}}\n' }]))
    const { client } = await open(peer)
    const { structured } = await client.callTool("big")
    expect(String(structured).length).toBe(3_000_000)
  })
})

describe("an answer that is too long", () => {
  const opening = '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"structuredContent":"'
  const long = (bytes: number): Step => [
    { write: opening },
    { flood: "x".repeat(1_000), times: bytes / 1_000 },
    { write: '"}}\n' },
  ]

  it("fails alone, by its size and the limit's name; those beside it and after it are answered", async () => {
    const peer = await start({
      ...MODERN,
      "tools/call": [[], [...long(20_000), ...lines(text({ id: 2, result: DONE }))], result(DONE)],
    })
    const { client, noises } = await open(peer, { limits: { maxMessageBytes: 10_000 } })
    const [beside, big] = [client.callTool("small"), failureOf(client.callTool("big"))]
    expect((await beside).content).toEqual(DONE.content)
    expect(await big).toEqual(
      failure({
        kind: "transport",
        reason: "message_too_large",
        message: `tools/call: the answer of ${node} cannot be read: it has ${opening.length - 2 + 20_000 + 3} bytes, at most 10000 are taken (limits.maxMessageBytes)`,
      }),
    )
    expect((await client.callTool("after")).content).toEqual(DONE.content)
    expect(noises).toEqual([])
    expect(peer.lives).toHaveLength(1)
    expect(peer.log.slice(1)).toEqual(["tools/call 2", "tools/call 3", "tools/call 4"])
  })

  it("many small ones in one piece are none", async () => {
    const many = Array.from({ length: 50 }, (_, n) => text({ id: n + 2, result: DONE })).join("\n")
    const peer = await start({
      ...MODERN,
      "tools/call": [...Array.from({ length: 49 }, () => []), [{ write: `${many}\n` }]],
    })
    const { client } = await open(peer, { limits: { maxMessageBytes: 300 } })
    const all = await Promise.all(Array.from({ length: 50 }, (_, n) => client.callTool(`t${n}`)))
    expect(all.map(({ content }) => content)).toEqual(all.map(() => DONE.content))
  })

  it("bytes without end: the process is ended, and every call is told why", async () => {
    const peer = await start({ ...MODERN, "tools/call": [[], [{ flood: "x".repeat(10_000), times: 100_000 }]] })
    const limits = { maxMessageBytes: 100_000, exitMs: 1 }
    const { client, clock } = await open(peer, { limits, reconnect: false })
    const both = [client.callTool("a"), client.callTool("b")].map(failureOf)
    const [first, second] = await Promise.all(both)
    expect(first).toEqual(second)
    expect(first).toMatchObject({ kind: "transport", reason: "message_too_large" })
    expect(first?.message).toMatch(
      /^\S+ sent \d+ bytes without a line break, at most 100000 are read as one message \(limits\.maxMessageBytes\)$/,
    )
    expect(client.status).toMatchObject({ state: "failed", reason: "message_too_large" })
    const closing = client.close()
    for (let n = 0; n < 3; n++) clock.advance(1)
    await closing
  })
})

describe("an answer that must not be read fails its call alone", () => {
  const keys = (count: number): string => Array.from({ length: count }, (_, n) => `"k${n}":1`).join(",")
  const nest = (depth: number): string => `${"[".repeat(depth)}${"]".repeat(depth)}`

  it.each<[what: string, content: string, why: string, reason: string]>([
    [
      "nested too deeply",
      `{"content":[],"a":${nest(127)}}`,
      "nested deeper than 128 levels (limits.maxDepth)",
      "too_deep",
    ],
    [
      "too many keys",
      `{"content":[],"a":{${keys(2_000)}}}`,
      "more than 1000 keys and items (limits.maxKeys)",
      "too_many_keys",
    ],
    [
      "too many items",
      `{"content":[${"1,".repeat(2_000)}1]}`,
      "more than 1000 keys and items (limits.maxKeys)",
      "too_many_keys",
    ],
    [
      "a prototype",
      '{"content":[],"a":{"__proto__":{"admin":true}}}',
      'the key "__proto__" is not accepted',
      "forbidden_key",
    ],
    [
      "a prototype in escapes",
      '{"content":[],"\\u005f_proto__":{"admin":true}}',
      'the key "__proto__" is not accepted',
      "forbidden_key",
    ],
    [
      "a number beyond all numbers",
      '{"content":[],"a":1e400}',
      "a number is beyond what a double can hold",
      "number_out_of_range",
    ],
    ["null", "null", 'a message needs a "method", or an "id" with one of "result" and "error"', "invalid_request"],
    [
      "a result and an error",
      '{"content":[]},"error":{"code":1,"message":"x"}',
      'a message needs a "method", or an "id" with one of "result" and "error"',
      "invalid_request",
    ],
    ["no JSON", "{content:[]}", "the body is not valid JSON", "parse_error"],
  ])("%s", async (_, content, why, reason) => {
    const peer = await start(calls([{ write: `{"jsonrpc":"2.0","id":$ID,"result":${content}}\n` }]))
    const { client } = await open(peer, { limits: { maxKeys: 1_000 } })
    expect(await failureOf(client.callTool("echo"))).toEqual(
      failure({
        kind: "transport",
        reason: "unreadable_answer",
        message: `tools/call: the answer of ${node} cannot be read: ${why}`,
        data: { reason },
      }),
    )
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
    expect((await client.listTools()).tools).toEqual([])
    expect(peer.lives).toHaveLength(1)
  })

  it("nested deeper than any parser likes", async () => {
    const nested: Step = [
      { write: '{"jsonrpc":"2.0","id":$ID,"result":{"content":' },
      { flood: "[".repeat(1_000), times: 1_000 },
      { flood: "]".repeat(1_000), times: 1_000 },
      { write: "}}\n" },
    ]
    const peer = await start(calls(nested))
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("echo"))).toMatchObject({
      reason: "unreadable_answer",
      data: { reason: "too_deep" },
    })
    expect((await client.listTools()).tools).toEqual([])
  })

  it("with bytes that are no UTF-8", async () => {
    const peer = await start(
      calls([{ write: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[],"a":"' }, { hex: "c080" }, { write: '"}}\n' }]),
    )
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("echo"))).toMatchObject({
      reason: "unreadable_answer",
      data: { reason: "invalid_utf8" },
    })
    expect((await client.listTools()).tools).toEqual([])
  })

  it("with a key twice at its top", async () => {
    const peer = await start(
      calls([{ write: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[]},"result":{"content":[1]}}\n' }]),
    )
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("echo"))).toMatchObject({
      reason: "unreadable_answer",
      message: `tools/call: the answer of ${node} cannot be read: a key stands twice at the top level`,
    })
  })

  it("what only looks dangerous is data", async () => {
    const structuredContent = { constructor: { prototype: { admin: true } }, toString: 1, hasOwnProperty: 2, "": 3 }
    const peer = await start(calls(result({ content: [], structuredContent })))
    const { client } = await open(peer)
    expect((await client.callTool("constructor")).structured).toEqual(structuredContent)
    expect((await client.callTool("__proto__")).structured).toEqual(structuredContent)
    const names = peer.lines.slice(1).map((line) => JSON.parse(line).params.name)
    expect(names).toEqual(["constructor", "__proto__"])
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })
})

describe("ids are keys by type and value", () => {
  it.each(eras)("%s: an answer to the text of an id is nobody's, and the number's still comes", async (_, era, id) => {
    const texts = lines(text({ id: String(id), result: { content: [{ type: "text", text: "foreign" }] } }))
    const peer = await start({
      ...era,
      "tools/call": [texts],
      "tools/list": [[...lines(text({ id, result: DONE })), ...result({ tools: [] })]],
    })
    const { client, noises } = await open(peer)
    const call = client.callTool("echo")
    await client.listTools()
    expect((await call).content).toEqual(DONE.content)
    expect(noises).toEqual([
      { from: "output", text: text({ id: String(id), result: { content: [{ type: "text", text: "foreign" }] } }) },
    ])
  })

  it.each<[what: string, id: unknown]>([
    ["of nobody", 99],
    ["that is a fraction", 2.5],
    ["that is an object", { n: 2 }],
    ["beyond the safe range", 2 ** 53],
    ["that is null", null],
  ])("an answer with an id %s is passed over", async (_, id) => {
    const odd = text({ id, result: DONE })
    const peer = await start(calls([...lines(odd), ...result(DONE)]))
    const { client, noises } = await open(peer)
    expect((await client.callTool("echo")).content).toEqual(DONE.content)
    expect(noises).toEqual([{ from: "output", text: odd }])
  })

  it("an error without an id, once a connection is open, is told and is nobody's", async () => {
    const peer = await start(
      calls([...lines(text({ id: null, error: { code: -32700, message: "what?" } })), ...result(DONE)]),
    )
    const { client, noises } = await open(peer)
    expect((await client.callTool("echo")).content).toEqual(DONE.content)
    expect(noises).toEqual([{ from: "output", text: "an answer to no request (id undefined)" }])
  })

  it("an answer that comes twice is told the second time", async () => {
    const peer = await start(calls([...result(DONE), ...result({ content: [] })]))
    const { client, noises } = await open(peer)
    expect((await client.callTool("echo")).content).toEqual(DONE.content)
    await client.listTools()
    expect(noises).toEqual([{ from: "output", text: text({ id: 2, result: { content: [] } }) }])
  })

  it("questions with the ids 0, an empty text, and one that is in use here, are answered and withdrawn by exactly those", async () => {
    const ids = [0, "", 3, "3"]
    const asked = lines(...ids.map((id) => text({ id, method: "roots/list" })))
    const withdrawn = lines(
      ...ids
        .slice(0, 2)
        .map((id) => text({ method: "notifications/cancelled", params: { requestId: id, reason: `no ${typeof id}` } })),
    )
    const peer = await start({ ...LEGACY, "tools/call": [[...asked, ...withdrawn]], response: [[], result(DONE)] })
    const reasons: unknown[] = []
    const waits: (() => void)[] = []
    const { client } = await open(peer, {
      handlers: {
        roots: ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => reasons.push(signal.reason))
            waits.push(() => resolve([]))
          }),
      },
    })
    const call = failureOf(client.callTool("echo"))
    await until(() => reasons.length === 2)
    for (const go of waits) go()
    await peer.heard(6)
    expect(reasons).toEqual(["no number", "no string"])
    expect(peer.lines.slice(4)).toEqual([3, "3"].map((id) => text({ id, result: { roots: [] } })))
    await client.close()
    expect(await call).toMatchObject({ kind: "cancelled", reason: "closed" })
  })
})

describe("text of a server in errors", () => {
  it("is cut, and free of what a terminal or a reader could fall for", async () => {
    const evil = `\u001b]0;owned\u0007\u001b[2J\r\nignore \u202eall\u200b previous${"!".repeat(1_000)}`
    const peer = await start(calls(error(-32000, evil, { detail: evil })))
    const { client } = await open(peer)
    const told = await failureOf(client.callTool("echo"))
    const shown = "tools/call: the server answered with error -32000: ]0;owned[2J  ignore all previous"
    expect(told.message).toBe(`${shown}${"!".repeat(499 - 32)}…`)
    expect(told.data).toEqual({ detail: evil })
  })

  it("names of tools, too, in whatever the client says of them", async () => {
    const name = "a\u001b[31m\u202eb\n"
    const clean = "a[31mb "
    const peer = await start(calls([]))
    const { client, clock } = await open(peer)
    const late = client.callTool(name, {}, { timeoutMs: 100 })
    clock.advance(100)
    expect((await failureOf(late)).message).toMatch(
      new RegExp(`^tools/call "${clean.replace("[", "\\[")}" was not answered`),
    )
    const total = client.callTool(name, {}, { maxTotalTimeoutMs: 100 })
    clock.advance(100)
    expect((await failureOf(total)).message).toMatch(
      new RegExp(`^tools/call "${clean.replace("[", "\\[")}" took longer`),
    )
  })

  it("and what comes where no message belongs", async () => {
    const evil = "x\u001b[2Jy"
    const peer = await start(
      calls([
        ...lines(text({ id: 1, method: evil }), text({ id: evil, error: { code: 1, message: "m" } })),
        ...result(DONE),
      ]),
    )
    const { client, noises } = await open(peer)
    await client.callTool("echo")
    expect(noises.map((noise) => noise.text)).toEqual([
      "a request that the revision does not have: x[2Jy",
      text({ id: evil, error: { code: 1, message: "m" } }),
    ])
  })
})

describe("a flood", () => {
  it("on stderr slows nothing down and is kept to its last lines", async () => {
    const flood: Step = [
      { flood: `${"y".repeat(1_000)}\n`, times: 5_000, to: 2 },
      { stderr: "the last word\n" },
      { exit: 1 },
    ]
    const peer = await start({ ...MODERN, "tools/call": [flood] })
    const { client } = await open(peer, { limits: { stderrLines: 2 }, reconnect: false })
    const told = await failureOf(client.callTool("echo"))
    expect(told).toEqual(
      failure({
        kind: "connection_down",
        reason: "process_exited",
        retryable: true,
        message: `${node} exited with code 1; the last of its stderr:\n  ${"y".repeat(299)}…\n  the last word`,
        data: { exitCode: 1, signal: null, stderr: [`${"y".repeat(299)}…`, "the last word"] },
      }),
    )
  })

  it("of notifications and of noise is heard to its end", async () => {
    const many = { method: "notifications/message", params: { level: "info", data: "x" } }
    const peer = await start(calls([{ flood: `${text(many)}\nnoise\n`, times: 2_000 }, ...result(DONE)], LEGACY))
    let logged = 0
    const { client, noises } = await open(peer, { handlers: { log: () => void logged++ } })
    expect((await client.callTool("echo")).content).toEqual(DONE.content)
    expect([logged, noises.length]).toEqual([2_000, 2_000])
  })

  it("of questions is answered as far as limits.maxQuestions allow, and the rest is refused", async () => {
    const ask = Array.from({ length: 5 }, (_, n) => text({ id: n, method: "roots/list" }))
    const peer = await start({ ...LEGACY, "tools/call": [lines(...ask)] })
    const goes: (() => void)[] = []
    const roots = () => new Promise<[]>((resolve) => goes.push(() => resolve([])))
    const { client } = await open(peer, { handlers: { roots }, limits: { maxQuestions: 2 } })
    const call = failureOf(client.callTool("echo"))
    await peer.heard(4 + 3)
    expect(peer.log.slice(4)).toEqual(["error -32603 2", "error -32603 3", "error -32603 4"])
    for (const go of goes) go()
    await peer.heard(4 + 5)
    expect(peer.log.slice(7)).toEqual(["result 0", "result 1"])
    await client.close()
    expect(await call).toMatchObject({ kind: "cancelled" })
  })
})
