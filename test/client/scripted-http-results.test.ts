/** What an application gets for what a server answers over HTTP, in both eras: whole results, questions, and what is neither. */
import type { Client } from "conduit-mcp/client"
import { describe, expect, it } from "vitest"
import { failure, failureOf, until } from "../support/failure.js"
import {
  type Answer,
  discover,
  error,
  event,
  initialized,
  plain,
  result,
  type Script,
  stream,
} from "../support/http-peer.js"
import { open, start } from "./scripted-http/harness.js"

const modern: Script = { "server/discover": discover() }
const legacy: Script = { "server/discover": plain(404), initialize: initialized(), GET: plain(405) }
const eras: readonly (readonly [era: string, script: Script])[] = [
  ["modern", modern],
  ["legacy", legacy],
]
const whole = { resultType: "complete", content: [{ type: "text", text: "done" }] }
const invalid = (message: string): object => failure({ kind: "protocol", reason: "invalid_result", message })

async function connected(script: Script, options: Parameters<typeof open>[1] = {}): Promise<Client> {
  return (await open(await start(script), { standby: false, ...options })).client
}

describe.each(eras)("in the %s era", (_era, script) => {
  it("a result is the application's, with what it says of itself", async () => {
    const answer = result({ ...whole, structuredContent: [1], _meta: { "com.example/a": 1 }, more: true })
    const client = await connected({ ...script, "tools/call": answer })
    expect(await client.callTool("t")).toEqual({
      content: [{ type: "text", text: "done" }],
      structured: [1],
      isError: false,
      meta: { "com.example/a": 1 },
      raw: { ...whole, structuredContent: [1], _meta: { "com.example/a": 1 }, more: true },
    })
  })

  it("an error of a tool is a result", async () => {
    const client = await connected({ ...script, "tools/call": result({ ...whole, isError: true }) })
    expect(await client.callTool("t")).toMatchObject({ isError: true, content: [{ text: "done" }] })
  })

  it("an error of the server is thrown with its code and data, whatever its status", async () => {
    for (const status of [200, 400, 404, 500]) {
      const client = await connected({ ...script, "tools/call": error(status, -32602, { tool: "t" }) })
      expect(await failureOf(client.callTool("t"))).toEqual(
        failure({
          kind: "protocol",
          reason: "jsonrpc",
          code: -32602,
          message: "tools/call: the server answered with error -32602: refused",
          data: { tool: "t" },
        }),
      )
    }
  })

  it.each<[status: number, kind: string, reason: string, retryable: boolean, more: object]>([
    [400, "transport", "http_status", false, {}],
    [401, "authorization", "unauthenticated", false, { challenge: "Bearer" }],
    [403, "authorization", "forbidden", false, { challenge: "Bearer" }],
    [405, "transport", "http_status", false, { retryAfterMs: 7_000 }],
    [408, "transport", "http_status", true, { retryAfterMs: 7_000 }],
    [413, "transport", "http_status", false, { retryAfterMs: 7_000 }],
    [429, "transport", "http_status", true, { retryAfterMs: 7_000 }],
    [500, "transport", "http_status", true, { retryAfterMs: 7_000 }],
    [501, "transport", "http_status", false, { retryAfterMs: 7_000 }],
    [503, "transport", "http_status", true, { retryAfterMs: 7_000 }],
  ])(
    "HTTP %i without a response is of kind %s, and the caller's to try again",
    async (status, kind, reason, retryable, more) => {
      const headers = { "www-authenticate": "Bearer", ...(status === 400 ? {} : { "retry-after": "7" }) }
      const peer = await start({ ...script, "tools/call": plain(status, "", headers) })
      const { client } = await open(peer, { standby: false })
      const sent = peer.heard.length
      expect(await failureOf(client.callTool("t"))).toMatchObject({
        kind,
        reason,
        retryable,
        data: { status, ...more },
      })
      expect(peer.heard).toHaveLength(sent + 1)
    },
  )

  it("an error without the id of a request is that of the one whose answer it is", async () => {
    const answer = plain(400, '{"jsonrpc":"2.0","error":{"code":-32700,"message":"Parse error"}}', {
      "content-type": "application/json",
    })
    const client = await connected({ ...script, "tools/call": answer })
    expect(await failureOf(client.callTool("t"))).toMatchObject({ kind: "protocol", code: -32700 })
  })

  it.each<[member: string, work: (client: Client) => Promise<unknown>, message: string]>([
    ["tools", (client) => client.listTools(), 'tools/list: the result must have "tools" as a list, not undefined'],
    [
      "resources",
      (client) => client.listResources(),
      'resources/list: the result must have "resources" as a list, not undefined',
    ],
    [
      "contents",
      (client) => client.readResource("a:b"),
      'resources/read: the result must have "contents" as a list, not undefined',
    ],
    [
      "messages",
      (client) => client.getPrompt("p"),
      'prompts/get: the result must have "messages" as a list, not undefined',
    ],
    [
      "completion",
      (client) => client.complete({ type: "ref/prompt", name: "p" }, { name: "a", value: "" }),
      'completion/complete: the result must have "completion" as an object, not undefined',
    ],
  ])("a result without %s is invalid", async (_member, work, message) => {
    const client = await connected({ ...script, "*": result({ resultType: "complete" }) })
    expect(await failureOf(work(client))).toEqual(invalid(message))
  })
})

describe("the content of a tool's result", () => {
  it("may be missing in the legacy era, where deployed servers leave it out", async () => {
    const client = await connected({ ...legacy, "tools/call": result({ structuredContent: { a: 1 } }) })
    expect(await client.callTool("t")).toMatchObject({ content: [], structured: { a: 1 }, isError: false })
  })

  it("has to be there in the modern era", async () => {
    const client = await connected({ ...modern, "tools/call": result({ resultType: "complete" }) })
    const message = 'tools/call "t": the result must have "content" as a list, not undefined'
    expect(await failureOf(client.callTool("t"))).toEqual(invalid(message))
  })

  it.each(eras)("is a list or nothing in the %s era", async (_era, script) => {
    for (const content of [null, "done", { type: "text" }]) {
      const client = await connected({ ...script, "tools/call": result({ resultType: "complete", content }) })
      expect(await failureOf(client.callTool("t"))).toMatchObject({ kind: "protocol", reason: "invalid_result" })
    }
  })
})

describe.each(eras)("structured content in the %s era", (_era, script) => {
  const outputSchema = { type: "object", properties: { sum: { type: "number" } }, required: ["sum"] }
  const tools = [{ name: "t", inputSchema: { type: "object" }, outputSchema }]
  const listed = result({ resultType: "complete", tools, ttlMs: 0, cacheScope: "private" })
  const call = async (more: object): Promise<unknown> => {
    const client = await connected({ ...script, "tools/list": listed, "tools/call": result({ ...whole, ...more }) })
    await client.listTools()
    return client.callTool("t")
  }

  it("that fits the tool's output schema is given", async () => {
    expect(await call({ structuredContent: { sum: 3, more: 1 } })).toMatchObject({ structured: { sum: 3, more: 1 } })
  })

  it.each<[what: string, more: object, problem: string | RegExp]>([
    [
      "of the wrong type",
      { structuredContent: { sum: "3" } },
      /^tools\/call "t": structuredContent does not fit its output schema: .*sum/,
    ],
    [
      "that lacks a member",
      { structuredContent: {} },
      /^tools\/call "t": structuredContent does not fit its output schema: .*sum/,
    ],
    ["that is missing", {}, /^tools\/call "t": it has an output schema, and the result no structuredContent$/],
  ])("%s is told as invalid output", async (_what, more, problem) => {
    expect(await failureOf(call(more))).toEqual(
      failure({ kind: "validation", reason: "invalid_output", message: expect.stringMatching(problem) }),
    )
  })

  it("of an error is not looked at", async () => {
    expect(await call({ isError: true, structuredContent: { why: 1 } })).toMatchObject({ isError: true })
    expect(await call({ isError: true })).toMatchObject({ isError: true, structured: undefined })
  })
})

describe("results that are not whole", () => {
  const asking = {
    resultType: "input_required",
    inputRequests: {
      name: {
        method: "elicitation/create",
        params: { message: "Who?", requestedSchema: { type: "object", properties: { name: { type: "string" } } } },
      },
    },
    requestState: ' {"a":1}\u00e9\ud83d\ude42 ',
  }
  const ada = { elicit: () => ({ action: "accept" as const, content: { name: "Ada" } }) }

  it("are rounds of the call: each with an id of its own, the caller's params, the answers, and the state as it came", async () => {
    const more = { resultType: "input_required", requestState: "two" }
    const peer = await start({ ...modern, "tools/call": [result(asking), result(more), result(whole)] })
    const { client } = await open(peer, { handlers: ada })
    const { content } = await client.callTool("t", { a: 1 }, { meta: { trace: "t" } })
    expect(content).toEqual(whole.content)
    expect(peer.log.slice(1)).toEqual(["POST tools/call 2", "POST tools/call 3", "POST tools/call 4"])
    const params = peer.heard.slice(1).map(({ message }) => message?.params ?? {})
    const meta = { trace: "t", "io.modelcontextprotocol/clientCapabilities": { elicitation: { form: {}, url: {} } } }
    expect(params).toEqual([
      { name: "t", arguments: { a: 1 }, _meta: expect.objectContaining(meta) },
      {
        name: "t",
        arguments: { a: 1 },
        inputResponses: { name: { action: "accept", content: { name: "Ada" } } },
        requestState: ' {"a":1}\u00e9\ud83d\ude42 ',
        _meta: expect.objectContaining(meta),
      },
      { name: "t", arguments: { a: 1 }, requestState: "two", _meta: expect.objectContaining(meta) },
    ])
  })

  it("may ask many things at once, and nothing of that is left", async () => {
    const warnings: unknown[] = []
    const warn = (warning: Error): void => void warnings.push(warning)
    process.on("warning", warn)
    const keys = Array.from({ length: 30 }, (_, index) => [`q${index}`, { method: "roots/list" }])
    const many = { resultType: "input_required", inputRequests: Object.fromEntries(keys) }
    const client = await connected(
      { ...modern, "tools/call": [result(many), result(whole)] },
      { handlers: { roots: () => [] } },
    )
    await client.callTool("t")
    await new Promise((resolve) => setImmediate(resolve))
    process.off("warning", warn)
    expect(warnings).toEqual([])
  })

  it("are never taken for the result when nobody is there to answer", async () => {
    const client = await connected({ ...modern, "tools/call": result({ ...asking, content: [] }) })
    expect(await failureOf(client.callTool("t"))).toMatchObject({
      kind: "protocol",
      reason: "unexpected_question",
      message: expect.stringMatching(/^tools\/call "t": question "name" cannot be answered: /),
    })
  })

  it("are invalid where the method asks nothing", async () => {
    const client = await connected({ ...modern, "tools/list": result({ ...asking, tools: [] }) }, { handlers: ada })
    const message = "tools/list: the server asks for input, which this method does not know"
    expect(await failureOf(client.listTools())).toEqual(invalid(message))
  })

  it("of a type that is not known are invalid", async () => {
    for (const resultType of ["partial", "task", 7, null, "\u202ex\u0007"]) {
      const client = await connected({ ...modern, "*": result({ ...whole, resultType, tools: [] }) })
      const shown = resultType === "\u202ex\u0007" ? "x" : String(resultType)
      const invalidType = (method: string): object =>
        invalid(`${method}: the result is of a type that is not known: ${shown}`)
      expect(await failureOf(client.callTool("t"))).toEqual(invalidType("tools/call"))
      expect(await failureOf(client.listTools())).toEqual(invalidType("tools/list"))
      expect(await failureOf(client.request("com.example/x"))).toEqual(invalidType("com.example/x"))
    }
  })

  it("of an extension that was declared are had by request(), and are no results of a tool", async () => {
    const task = { resultType: "task", taskId: "1" }
    const client = await connected({ ...modern, "tools/call": result(task) })
    const extensions = { "io.modelcontextprotocol/tasks": {} }
    expect(await client.request("tools/call", { name: "t" }, { extensions })).toEqual(task)
    const message = "tools/call: the result is of type task, which only client.request() gives"
    expect(await failureOf(client.callTool("t", {}, { extensions }))).toEqual(invalid(message))
  })

  it("are unknown in the legacy era, whose results say nothing of their type", async () => {
    const client = await connected({ ...legacy, "tools/call": result({ ...asking, content: [] }) }, { handlers: ada })
    expect(await client.request("tools/call", { name: "t" })).toMatchObject({ resultType: "input_required" })
  })
})

describe.each(eras)("ids in the %s era", (era, script) => {
  const last = era === "modern" ? 2 : 3
  const response = (id: unknown, value: object = whole): object => ({ jsonrpc: "2.0", id, result: value })
  const json =
    (...messages: object[]): Answer =>
    (_, reply) => {
      reply.writeHead(200, { "content-type": "application/json" })
      reply.end(JSON.stringify(messages.length === 1 ? messages[0] : messages))
    }

  it.each<[what: string, id: unknown]>([
    ["text in the place of a number", String(last)],
    ["another number", last + 100],
    ["a fraction", last + 0.5],
    ["null", null],
    ["a list", [last]],
    ["none", undefined],
  ])("a response with %s is none, in JSON and on a stream", async (_what, id) => {
    const client = await connected({ ...script, "tools/call": [json(response(id)), stream(event(response(id)))] })
    expect(await failureOf(client.callTool("t"))).toMatchObject({
      kind: "transport",
      reason: "http_status",
      message: expect.stringMatching(
        /^tools\/call: expected a JSON-RPC response, got HTTP 200 with application\/json: \{/,
      ),
      data: { status: 200 },
    })
    expect(await failureOf(client.callTool("t"))).toMatchObject({
      kind: "transport",
      reason: "stream_broken",
      retryable: true,
    })
  })

  it("a second response is nobody's, and the first one counts", async () => {
    const other = { ...whole, content: [] }
    const twice = stream(({ message }) => event(response(message?.id)) + event(response(message?.id, other)))
    const client = await connected({ ...script, "tools/call": twice })
    expect((await client.callTool("t")).content).toEqual(whole.content)
    expect((await client.callTool("t")).content).toEqual(whole.content)
  })

  it("the response of another request on a stream is passed over", async () => {
    const other = { ...whole, content: [] }
    const mixed = stream(
      ({ message }) => event(response(Number(message?.id) + 1, other)) + event(response(message?.id)),
    )
    const client = await connected({ ...script, "tools/call": mixed })
    const [first, second] = await Promise.all([client.callTool("t"), client.callTool("t")])
    expect([first.content, second.content]).toEqual([whole.content, whole.content])
  })

  it("events without data, with data of one space and of another type are no messages", async () => {
    const odd = 'data:\n\nid: 1\ndata:\n\n: hi\n\nevent: ping\ndata: {"jsonrpc":"2.0"}\n\nretry: 10\n\n'
    const client = await connected({
      ...script,
      "tools/call": stream(({ message }) => odd + event(response(message?.id))),
    })
    expect((await client.callTool("t")).content).toEqual(whole.content)
  })
})

describe("id 0", () => {
  it("is an id like any other: a question is answered with it, and withdrawn by it", async () => {
    const ask = (id: unknown): string => event({ jsonrpc: "2.0", id, method: "roots/list" })
    const cancel = event({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 0 } })
    const withdrawn: unknown[] = []
    const peer = await start({ ...legacy, GET: stream(ask(0), false), response: [plain(202)] })
    const roots = (_: unknown): [] => []
    const { client } = await open(peer, { handlers: { roots } })
    await until(() => peer.heard.length === 5)
    expect(peer.heard[4]?.text).toBe('{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}')
    await client.close()

    const silent = await start({ ...legacy, GET: stream(ask(0) + cancel + ask(""), false) })
    await open(silent, {
      handlers: {
        roots: ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => withdrawn.push(signal.aborted))
            setImmediate(() => resolve([]))
          }),
      },
    })
    await until(() => silent.heard.length === 5)
    expect(silent.heard[4]?.text).toBe('{"jsonrpc":"2.0","id":"","result":{"roots":[]}}')
    expect(withdrawn).toEqual([true])
  })
})
