/** What calls of a process come to: results, rounds of questions, and arguments in the form that a tool wants. */
import type { JsonObject } from "conduit-mcp/protocol"
import { describe, expect, it } from "vitest"
import { failure, failureOf } from "../support/failure.js"
import {
  DONE,
  error,
  LEGACY,
  META,
  MODERN,
  modernLine,
  open,
  result,
  type Script,
  start,
} from "./scripted-stdio/harness.js"

const eras = [
  ["modern", MODERN],
  ["legacy", LEGACY],
] as const
const listed = (...tools: object[]): Script => ({ "tools/list": [result({ resultType: "complete", tools })] })

describe("a result", () => {
  const weather = {
    name: "weather",
    inputSchema: { type: "object" },
    outputSchema: { type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] },
  }
  const gives = (script: Script, more: object): Script => ({
    ...script,
    ...listed(weather),
    "tools/call": [result({ resultType: "complete", content: [], ...more })],
  })

  it.each(eras)("%s: its structured content is held to the schema of a listed tool", async (_, script) => {
    const fits = await open(await start(gives(script, { structuredContent: { celsius: 21 } })))
    await fits.client.listTools()
    expect((await fits.client.callTool("weather")).structured).toEqual({ celsius: 21 })

    const cases: [more: object, problem: RegExp][] = [
      [{ structuredContent: { celsius: "21" } }, /: structuredContent does not fit its output schema: .*celsius/],
      [{}, /: it has an output schema, and the result no structuredContent$/],
    ]
    for (const [more, problem] of cases) {
      const { client } = await open(await start(gives(script, more)))
      await client.listTools()
      const told = await failureOf(client.callTool("weather"))
      expect(told).toMatchObject({ kind: "validation", reason: "invalid_output", retryable: false })
      expect(told.message).toMatch(/^tools\/call "weather": /)
      expect(told.message).toMatch(problem)
    }
  })

  it.each(eras)("%s: that says isError is held to nothing, and is no error", async (_, script) => {
    const peer = await start(gives(script, { isError: true, content: [{ type: "text", text: "no station" }] }))
    const { client } = await open(peer)
    await client.listTools()
    expect(await client.callTool("weather")).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "no station" }],
      structured: undefined,
    })
  })

  it("without content has none in the legacy era, and is invalid in the modern one", async () => {
    const legacy = await open(await start({ ...LEGACY, "tools/call": [result({ isError: false })] }))
    expect((await legacy.client.callTool("t")).content).toEqual([])
    const modern = await open(await start({ ...MODERN, "tools/call": [result({ resultType: "complete" })] }))
    expect(await failureOf(modern.client.callTool("t"))).toEqual(
      failure({
        kind: "protocol",
        reason: "invalid_result",
        message: 'tools/call "t": the result must have "content" as a list, not undefined',
      }),
    )
  })
})

describe("a round of questions", () => {
  const roots = { roots: () => [{ uri: "file:///projects/garden" }] }
  const asked = { method: "roots/list" }
  const answers = { where: { roots: [{ uri: "file:///projects/garden" }] } }
  const declared = { ...META, "io.modelcontextprotocol/clientCapabilities": { roots: {} } }
  const state = 'opaque \\u0000 —☀😀 "=?"'

  it("is answered by a request of its own, with the state byte for byte, and never is the result", async () => {
    const peer = await start({
      ...MODERN,
      "tools/call": [
        result({ resultType: "input_required", inputRequests: { where: asked }, requestState: state }),
        result({ resultType: "input_required", requestState: "second" }),
        result(DONE),
      ],
    })
    const { client } = await open(peer, { handlers: roots })
    const done = await client.callTool("book", { party: 2 })
    expect(done.content).toEqual(DONE.content)
    const params = { name: "book", arguments: { party: 2 } }
    expect(peer.lines.slice(1)).toEqual([
      modernLine(2, "tools/call", params, declared),
      modernLine(3, "tools/call", { ...params, inputResponses: answers, requestState: state }, declared),
      modernLine(4, "tools/call", { ...params, requestState: "second" }, declared),
    ])
  })

  it("is not answered without a handler: nothing more is sent, and the call fails", async () => {
    const round = result({ resultType: "input_required", inputRequests: { where: asked } })
    const peer = await start({ ...MODERN, "tools/call": [round] })
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("book"))).toMatchObject({
      kind: "protocol",
      reason: "unexpected_question",
      message:
        'tools/call "book": question "where" cannot be answered: Method not found: the client did not declare that it answers roots/list',
    })
    expect(peer.lines).toHaveLength(2)
  })

  it("of a kind that nobody knows is no result either", async () => {
    for (const resultType of ["task", "partial", "", 7, null]) {
      const peer = await start({ ...MODERN, "tools/call": [result({ resultType, content: [] })] })
      const { client } = await open(peer)
      expect(await failureOf(client.callTool("book"))).toMatchObject({ kind: "protocol", reason: "invalid_result" })
      expect(peer.lines).toHaveLength(2)
    }
  })

  it("is what it says in the modern era only", async () => {
    const odd = { resultType: "input_required", inputRequests: { where: asked }, content: [] }
    const peer = await start({ ...LEGACY, "tools/call": [result(odd)] })
    const { client } = await open(peer, { handlers: roots })
    expect(await client.request("tools/call", { name: "book" })).toEqual(odd)
    expect(peer.lines).toHaveLength(4)
  })
})

describe("arguments that a model wrote as text", () => {
  const tool = {
    name: "find",
    inputSchema: {
      type: "object",
      properties: {
        filter: { type: "object", properties: { limit: { type: "integer" }, text: { type: "string" } } },
        tags: { type: "array", items: { type: "string" } },
        rows: { type: "array", items: { type: "object", properties: { n: { type: "number" } } } },
        dry: { type: "boolean" },
        ratio: { type: "number" },
        nothing: { type: "null" },
        text: { type: "string" },
        either: { type: ["string", "object"] },
        anything: {},
      },
    },
  }
  const given: JsonObject = {
    filter: '{"limit":"3","text":"[1]"}',
    tags: '["a","1"]',
    rows: ['{"n":"1.5"}', { n: "2" }],
    dry: "true",
    ratio: "0.5",
    nothing: "null",
    text: '{"a":1}',
    either: '{"a":1}',
    anything: "[1]",
    unknown: "{}",
  }
  const read = {
    filter: { limit: 3, text: "[1]" },
    tags: ["a", "1"],
    rows: [{ n: 1.5 }, { n: 2 }],
    dry: true,
    ratio: 0.5,
    nothing: null,
    text: '{"a":1}',
    either: '{"a":1}',
    anything: "[1]",
    unknown: "{}",
  }
  const sentBy = async (options: { coerceArguments?: boolean }, args: JsonObject, lists = true): Promise<unknown> => {
    const peer = await start({ ...MODERN, ...listed(tool), "tools/call": [result(DONE)] })
    const { client } = await open(peer, options)
    if (lists) await client.listTools()
    const before = JSON.stringify(args)
    await client.callTool("find", args)
    expect(JSON.stringify(args)).toBe(before)
    return JSON.parse(peer.lines.at(-1) ?? "").params.arguments
  }

  it("are read as what the tool's schema says, when that is asked for, and texts stay texts", async () => {
    expect(await sentBy({ coerceArguments: true }, given)).toEqual(read)
  })

  it("are sent as they are by default, and of a tool that was never listed", async () => {
    expect(await sentBy({}, given)).toEqual(given)
    expect(await sentBy({ coerceArguments: true }, given, false)).toEqual(given)
  })

  it.each<[what: string, args: JsonObject]>([
    ["no JSON", { filter: "{limit:3}", tags: "a, b", dry: "yes", ratio: "half" }],
    ["JSON of another type", { filter: "[1]", tags: "{}", dry: "1", ratio: '"0.5"' }],
    ["a fraction for an integer", { filter: { limit: "3.5" } }],
    ["a number beyond the safe range", { filter: { limit: "9007199254740993" } }],
    ["the empty text", { filter: "", tags: "", dry: "", ratio: "" }],
    ["the reverse: an object for a text", { text: { a: 1 }, tags: [1] }],
  ])("are left to the tool when they hold %s", async (_, args) => {
    expect(await sentBy({ coerceArguments: true }, args)).toEqual(args)
  })

  it("cannot bring in a prototype", async () => {
    const sent = await sentBy({ coerceArguments: true }, { filter: '{"__proto__":{"admin":true},"limit":"1"}' })
    expect(JSON.stringify(sent)).toBe('{"filter":{"__proto__":{"admin":true},"limit":1}}')
    expect(({} as { admin?: unknown }).admin).toBeUndefined()
  })
})

it("an error of the server is the caller's with its code, message and data, in both eras", async () => {
  for (const [, script] of eras) {
    const peer = await start({ ...script, "tools/call": [error(-32602, "Unknown tool: x", { name: "x" })] })
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("x"))).toEqual(
      failure({
        kind: "protocol",
        reason: "jsonrpc",
        code: -32602,
        message: "tools/call: the server answered with error -32602: Unknown tool: x",
        data: { name: "x" },
      }),
    )
  }
})
