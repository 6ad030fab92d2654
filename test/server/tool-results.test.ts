/** What handlers return and throw, and what becomes of it on the wire, in both eras. */
import {
  assistant,
  codes,
  content,
  createServer,
  fail,
  McpError,
  prompt,
  result,
  type Schema,
  ToolError,
  type ToolResult,
  tool,
  user,
} from "conduit-mcp"
import { jsonSchema } from "conduit-mcp/schema"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { link } from "../support/link.js"
import { createRecordingLogger, type RecordingLogger } from "../support/logger.js"
import type { Json } from "../support/wire.js"

const eras = ["modern", "legacy"] as const
type Era = (typeof eras)[number]

/** Calls a tool without arguments whose handler does `run`. */
async function callTool(
  era: Era,
  run: () => unknown,
  options: { readonly output?: unknown; readonly logger?: RecordingLogger; readonly version?: string } = {},
): Promise<Json> {
  const { output, logger = createRecordingLogger(), version } = options
  const definition = tool(
    "subject",
    (output === undefined ? {} : { output }) as Record<string, never>,
    run as () => string,
  )
  const server = createServer({ name: "test", version: "1.0.0", tools: [definition], logger })
  const wire = link(server)
  const answer = await (era === "modern"
    ? wire.modern("tools/call", params)
    : wire.legacy("tools/call", params, version))
  return answer
}
const params = { name: "subject" }

async function resultOf(...call: Parameters<typeof callTool>): Promise<Json> {
  const answer = await callTool(...call)
  expect(answer["error"]).toBeUndefined()
  const { _meta, resultType, ...rest } = answer["result"] as Json
  return rest
}

/** A schema of objects whose check is written by hand. */
function schema(validate: Schema["~standard"]["validate"]): Schema {
  const toJson = (): Json => ({ type: "object" })
  return { "~standard": { version: 1, vendor: "test", validate, jsonSchema: { input: toJson, output: toJson } } }
}

const textBlock = (text: string): Json => ({ type: "text", text })

describe.each(eras)("the value that a tool without an output schema returns to a %s client", (era) => {
  const wrap = (value: unknown): unknown => (era === "modern" ? value : { result: value })

  it("is one text block when it is a text", async () => {
    expect(await resultOf(era, () => "plain")).toEqual({ content: [textBlock("plain")] })
    expect(await resultOf(era, () => "")).toEqual({ content: [textBlock("")] })
    expect(await resultOf(era, () => Promise.resolve("later"))).toEqual({ content: [textBlock("later")] })
  })

  it.each<[what: string, value: object]>([
    ["an object", { celsius: 21, wind: { from: "NW" }, gone: undefined }],
    ["an empty object", {}],
    ["an object without a prototype", Object.assign(Object.create(null) as object, { a: 1 })],
    ["an object that looks like a result", { content: [{ type: "text", text: "not a result" }], isError: true }],
    ["an object that looks like a block", { type: "text", text: "not a block" }],
  ])("is JSON text and structured content when it is %s", async (_, value) => {
    const json = JSON.stringify(value)
    expect(await resultOf(era, () => value)).toEqual({
      content: [textBlock(json)],
      structuredContent: JSON.parse(json),
    })
  })

  it.each<[what: string, value: unknown]>([
    ["an array", [1, { a: 2 }]],
    ["an empty array", []],
    ["a number", 21.5],
    ["zero", 0],
    ["true", true],
    ["false", false],
    ["null", null],
    ["an array of things that look like blocks", [{ type: "text", text: "not a block" }]],
  ])("is JSON text and structured content, under result for old clients, when it is %s", async (_, value) => {
    const expected = { content: [textBlock(JSON.stringify(value))], structuredContent: wrap(value) }
    expect(await resultOf(era, () => value)).toEqual(expected)
  })
})

describe.each(eras)("what is no JSON, returned to a %s client,", (era) => {
  const cycle: Record<string, unknown> = {}
  cycle["self"] = cycle
  const unusable: readonly [what: string, value: unknown][] = [
    ["undefined", undefined],
    ["a function", () => "x"],
    ["a symbol", Symbol("x")],
    ["a big integer", 1n],
    ["a big integer deep inside", { a: [{ b: 1n }] }],
    ["a date", new Date(0)],
    ["a map", new Map()],
    ["an instance of a class", new (class City {})()],
    ["an error", new Error("secret detail")],
    ["a cycle", cycle],
    ["not a number", Number.NaN],
    ["infinity", { a: Number.POSITIVE_INFINITY }],
    ["a list of holes", new Array(3)],
    ["a list of content with a hole", Object.assign(new Array(2), { 1: content.text("a") })],
    ["a result whose content is no list", result({ content: { type: "text", text: "a" } as never })],
    ["a result whose content is no content", result({ content: ["a"] as never })],
    [
      "an object whose getter throws",
      {
        get a(): never {
          throw new Error("secret detail")
        },
      },
    ],
    [
      "a result with a big integer in its content",
      result({ content: [{ type: "text", text: "a", _meta: { a: 1n } } as never] }),
    ],
    ["a result with a cycle in its structured value", result({ content: "a", structured: cycle })],
    ["a result with a big integer in its meta", result({ content: "a", meta: { a: 1n } as never })],
  ]

  it.each(unusable)("is an error result and a log line that names the tool: %s", async (_, value) => {
    const logger = createRecordingLogger()
    const answer = await resultOf(era, () => value, { logger })
    expect(answer).toEqual({ content: [textBlock(expect.any(String) as string)], isError: true })
    const [line, ...more] = logger.lines
    expect(more).toEqual([])
    expect(line).toMatchObject({ level: "error", message: expect.stringContaining('"subject"') })
    const reference = String(line?.fields?.["reference"])
    expect(reference).toMatch(/^tools-call-[0-9a-f]{8}$/)
    expect(JSON.stringify(answer)).toContain(reference)
    expect(JSON.stringify(answer)).not.toContain("secret detail")
  })

  it.each(unusable)("is the same when it comes later: %s", async (_, value) => {
    expect(await resultOf(era, async () => value)).toMatchObject({ isError: true })
  })
})

describe.each(eras)("the value that a tool with an output schema returns to a %s client", (era) => {
  const wrap = (value: unknown): unknown => (era === "modern" ? value : { result: value })

  it("is checked, and sent as the schema made it", async () => {
    const output = z.object({ celsius: z.number(), unit: z.string().default("C") })
    const expected = { celsius: 21, unit: "C" }
    expect(await resultOf(era, () => ({ celsius: 21 }), { output })).toEqual({
      content: [textBlock(JSON.stringify(expected))],
      structuredContent: expected,
    })
  })

  it.each<[what: string, output: z.ZodType, value: unknown]>([
    ["a text", z.string(), "plain"],
    ["a list", z.array(z.number()), [1, 2]],
    ["null", z.null(), null],
    ["a number", z.number(), 0],
  ])("may be %s, and is wrapped for old clients", async (_, output, value) => {
    expect(await resultOf(era, () => value, { output })).toEqual({
      content: [textBlock(JSON.stringify(value))],
      structuredContent: wrap(value),
    })
  })

  it("is always the value, also when it looks like a result", async () => {
    const output = z.object({
      content: z.array(z.object({ type: z.string(), text: z.string() })),
      isError: z.boolean(),
    })
    const value = { content: [{ type: "text", text: "data" }], isError: true }
    expect(await resultOf(era, () => value, { output })).toEqual({
      content: [textBlock(JSON.stringify(value))],
      structuredContent: value,
    })
  })

  it.each<[what: string, value: unknown]>([
    ["does not fit", { celsius: "warm" }],
    ["is not there", undefined],
    ["is only content", content.text("21")],
    ["is a list of content", [content.text("21")]],
    ["is a result without a structured value", result({ content: "21" })],
    ["is a result whose structured value does not fit", result({ content: "21", structured: { celsius: "warm" } })],
  ])("is an error result, loud in the log, when it %s", async (_, value) => {
    const logger = createRecordingLogger()
    const output = z.object({ celsius: z.number() })
    const answer = await resultOf(era, () => value, { output, logger })
    expect(answer).toEqual({ content: [textBlock(expect.any(String) as string)], isError: true })
    expect(logger.lines).toMatchObject([{ level: "error", message: expect.stringContaining('"subject"') }])
  })

  it("is an error result when the check itself throws", async () => {
    const logger = createRecordingLogger()
    const throwing = schema(() => {
      throw new Error("secret detail")
    })
    const rejecting = schema(() => Promise.reject(new Error("secret detail")))
    for (const output of [throwing, rejecting]) {
      const answer = await resultOf(era, () => ({}), { output, logger })
      expect(answer).toMatchObject({ isError: true })
      expect(JSON.stringify(answer)).not.toContain("secret detail")
    }
    expect(logger.lines).toHaveLength(2)
  })

  it("is checked by an asynchronous schema too", async () => {
    const output = z.object({ a: z.number().refine((a) => Promise.resolve(a > 0)) })
    expect(await resultOf(era, () => ({ a: 1 }), { output })).toMatchObject({ structuredContent: { a: 1 } })
    expect(await resultOf(era, () => ({ a: -1 }), { output })).toMatchObject({ isError: true })
  })

  it("is not asked for when the result is an error", async () => {
    const output = z.object({ celsius: z.number() })
    const thrown = (): never => {
      throw new ToolError("no station")
    }
    for (const run of [
      () => fail("no station"),
      thrown,
      () => result({ content: "no station", structured: { celsius: 1 }, isError: true }),
    ]) {
      expect(await resultOf(era, run, { output })).toEqual({ content: [textBlock("no station")], isError: true })
    }
  })
})

describe("an output schema and the structured content of its tool", () => {
  const shapes: readonly [what: string, output: unknown, value: unknown, wrapped: boolean][] = [
    ["an object", z.object({ a: z.number() }), { a: 1 }, false],
    ["a list", z.array(z.object({ a: z.number() })), [{ a: 1 }], true],
    ["a union that gives an object", z.union([z.object({ a: z.number() }), z.string()]), { a: 1 }, true],
    ["a union that gives a text", z.union([z.object({ a: z.number() }), z.string()]), "a", true],
    [
      "a union of objects",
      z.discriminatedUnion("k", [z.object({ k: z.literal(1) }), z.object({ k: z.literal(2) })]),
      { k: 2 },
      true,
    ],
    ["anything", z.unknown(), { a: 1 }, true],
  ]

  it.each(shapes)("agree in the legacy era: %s", async (_, output, value, wrapped) => {
    const definition = tool("subject", { output: output as z.ZodType<object> }, () => value as object)
    const wire = link(createServer({ name: "test", version: "1.0.0", tools: [definition] }))
    const { tools } = (await wire.legacy("tools/list"))["result"] as { tools: { outputSchema: Json }[] }
    const { structuredContent } = (await wire.legacy("tools/call", params))["result"] as Json
    expect(structuredContent).toEqual(wrapped ? { result: value } : value)
    const listed = tools[0]?.outputSchema
    expect(listed?.["type"]).toBe("object")
    const check = jsonSchema(listed ?? {})["~standard"].validate(structuredContent)
    expect(check).not.toHaveProperty("issues")
  })

  it.each(shapes)("agree in the modern era, as they are: %s", async (_, output, value) => {
    const definition = tool("subject", { output: output as z.ZodType<object> }, () => value as object)
    const wire = link(createServer({ name: "test", version: "1.0.0", tools: [definition] }))
    const { tools } = (await wire.modern("tools/list"))["result"] as { tools: { outputSchema: Json }[] }
    const { structuredContent } = (await wire.modern("tools/call", params))["result"] as Json
    expect(structuredContent).toEqual(value)
    expect(tools[0]?.outputSchema).not.toHaveProperty("properties.result")
  })

  it("keep their references when the schema moves under result", async () => {
    interface Node {
      readonly name: string
      readonly children: readonly Node[]
    }
    const raw = {
      type: "array",
      items: { $ref: "#/$defs/node" },
      $defs: {
        node: {
          type: "object",
          properties: { name: { type: "string" }, children: { type: "array", items: { $ref: "#/$defs/node" } } },
          required: ["name", "children"],
        },
      },
    }
    const forest = tool("subject", { output: jsonSchema<readonly Node[]>(raw) }, () => [{ name: "root", children: [] }])
    const wire = link(createServer({ name: "test", version: "1.0.0", tools: [forest] }))
    const listed = (await wire.legacy("tools/list"))["result"] as { tools: { outputSchema: Json }[] }
    const schema = listed.tools[0]?.outputSchema ?? {}
    const { validate } = jsonSchema(schema)["~standard"]
    expect(validate({ result: [{ name: "a", children: [{ name: "b", children: [] }] }] })).not.toHaveProperty("issues")
    expect(validate({ result: [{ name: "a", children: [{ name: 1, children: [] }] }] })).toHaveProperty("issues")
  })
})

describe.each(eras)("marked content for a %s client", (era) => {
  const bytes = new Uint8Array([137, 80, 78, 71])
  const blocks = [
    content.text("words", { annotations: { audience: ["user"], priority: 1 } }),
    content.json({ a: 1 }),
    content.image(bytes, "image/png"),
    content.audio("AAAA", "audio/wav", { _meta: { "example.com/a": 1 } }),
    content.link("file:///a", "a", { mimeType: "text/plain", size: 3, title: "A", description: "The a" }),
    content.embed({ uri: "file:///b", text: "b", mimeType: "text/plain" }),
    content.embed({ uri: "file:///c", blob: "AAAA" }),
  ]
  const wire = [
    { type: "text", text: "words", annotations: { audience: ["user"], priority: 1 } },
    { type: "text", text: '{"a":1}' },
    { type: "image", data: "iVBORw==", mimeType: "image/png" },
    { type: "audio", data: "AAAA", mimeType: "audio/wav", _meta: { "example.com/a": 1 } },
    {
      type: "resource_link",
      uri: "file:///a",
      name: "a",
      mimeType: "text/plain",
      size: 3,
      title: "A",
      description: "The a",
    },
    { type: "resource", resource: { uri: "file:///b", text: "b", mimeType: "text/plain" } },
    { type: "resource", resource: { uri: "file:///c", blob: "AAAA" } },
  ]

  it("is a result by itself, block by block", async () => {
    for (const [index, block] of blocks.entries()) {
      expect(await resultOf(era, () => block)).toEqual({ content: [wire[index]] })
    }
  })

  it("is a result as a bare list", async () => {
    expect(await resultOf(era, () => blocks)).toEqual({ content: wire })
  })

  it("stays what it is when it is copied", async () => {
    expect(await resultOf(era, () => ({ ...content.text("a"), text: "b" }))).toEqual({ content: [textBlock("b")] })
  })

  it("stands beside a structured value in a result", async () => {
    const returned = (): ToolResult =>
      result({ content: blocks, structured: { a: 1 }, meta: { "example.com/took": 5 } })
    const answer = (await callTool(era, returned))["result"] as Json
    expect(answer).toMatchObject({ content: wire, structuredContent: { a: 1 }, _meta: { "example.com/took": 5 } })
  })

  it("is the text of a structured value when a result names none", async () => {
    expect(await resultOf(era, () => result({ structured: { a: 1 } }))).toEqual({
      content: [textBlock('{"a":1}')],
      structuredContent: { a: 1 },
    })
    expect(await resultOf(era, () => result({ content: "said" }))).toEqual({ content: [textBlock("said")] })
    expect(await resultOf(era, () => result({}))).toEqual({ content: [] })
  })

  it("tells the model what went wrong", async () => {
    expect(await resultOf(era, () => fail("no such city"))).toEqual({
      content: [textBlock("no such city")],
      isError: true,
    })
    expect(await resultOf(era, () => fail(blocks))).toEqual({ content: wire, isError: true })
  })
})

describe.each(eras)("binary data that is no base64, for a %s client,", (era) => {
  const wrong = ["not base64!", "AAA", "-_-_", "AAAA\n", "data:image/png;base64,AAAA"]
  it.each(wrong)("is an error result and a log line, since clients refuse what holds it: %j", async (data) => {
    const makers = [
      () => content.image(data, "image/png"),
      () => content.audio(data, "audio/wav"),
      () => content.embed({ uri: "file:///c", blob: data }),
    ]
    for (const run of makers) {
      const logger = createRecordingLogger()
      expect(await resultOf(era, run, { logger })).toMatchObject({ isError: true })
      expect(logger.lines).toMatchObject([{ level: "error", message: 'tool "subject" failed' }])
    }
  })
})

describe("what every result says of itself", () => {
  it("is its type and its server in the modern era, whatever a handler puts into _meta", async () => {
    const meta = { "io.modelcontextprotocol/serverInfo": { name: "forged", version: "0" }, "example.com/a": 1 }
    const { result: sent } = await callTool("modern", () => result({ content: "a", meta }))
    expect(sent).toEqual({
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0" }, "example.com/a": 1 },
      content: [textBlock("a")],
    })
  })

  it("is nothing in the legacy era", async () => {
    expect((await callTool("legacy", () => "a"))["result"]).toEqual({ content: [textBlock("a")] })
  })
})

describe.each(eras)("what a handler throws, towards a %s client", (era) => {
  it("is a result for the model when it is a ToolError", async () => {
    for (const run of [
      () => {
        throw new ToolError("no such city")
      },
      () => Promise.reject(new ToolError("no such city")),
    ]) {
      const logger = createRecordingLogger()
      expect(await resultOf(era, run, { logger })).toEqual({ content: [textBlock("no such city")], isError: true })
      expect(logger.lines).toEqual([])
    }
  })

  it.each<[what: string, thrown: unknown]>([
    ["an error", new Error("secret detail")],
    ["an error with a code", Object.assign(new Error("secret detail"), { code: -32000 })],
    ["a text", "secret detail"],
    ["undefined", undefined],
    ["null", null],
    ["an object", { message: "secret detail" }],
    ["an error of the library's own use", new McpError("secret detail", { kind: "misuse", reason: "invalid_option" })],
  ])("is a result with a reference and no detail when it is %s", async (_, thrown) => {
    for (const run of [
      () => {
        throw thrown
      },
      () => Promise.reject(thrown),
    ]) {
      const logger = createRecordingLogger()
      const answer = await resultOf(era, run, { logger })
      expect(answer).toMatchObject({ isError: true })
      expect(JSON.stringify(answer)).not.toContain("secret detail")
      expect(logger.lines).toHaveLength(1)
      const [line] = logger.lines
      expect(line?.message).toContain('"subject"')
      expect(line?.fields?.["error"]).toBe(thrown)
      expect(JSON.stringify(answer)).toContain(String(line?.fields?.["reference"]))
    }
  })

  it.each<[code: number, modern: number, legacy: number]>([
    [codes.invalidParams, -32602, -32602],
    [codes.serverError, -32603, -32000],
    [codes.resourceNotFound, -32603, -32002],
    [codes.urlElicitationRequired, -32603, -32042],
    [codes.taskNotReady, -32603, -32603],
    [codes.requestCancelled, -32603, -32603],
    [-32019, -32603, -32019],
    [codes.missingClientCapability, -32021, -32603],
    [-32023, -32603, -32023],
    [-32050, -32603, -32050],
    [-32099, -32603, -32099],
    [-32100, -32100, -32100],
    [1234, 1234, 1234],
    [Number.NaN, -32603, -32603],
    [1.5, -32603, -32603],
  ])("is an error of the protocol when it is a McpError with the code %d", async (code, modern, legacy) => {
    const error = new McpError("on purpose", { kind: "protocol", reason: "jsonrpc", code, data: { city: "Oslo" } })
    const answer = await callTool(era, () => Promise.reject(error))
    expect(answer["error"]).toEqual({
      code: era === "modern" ? modern : legacy,
      message: "on purpose",
      data: { reason: "jsonrpc", city: "Oslo" },
    })
  })

  it("is also seen in a promise that is not the platform's own", async () => {
    const foreign = (settle: (resolve: (value: unknown) => void, reject: (error: unknown) => void) => void) => ({
      then: settle,
    })
    expect(await resultOf(era, () => foreign((resolve) => resolve("later")))).toEqual({ content: [textBlock("later")] })
    const failing = () => foreign((_, reject) => reject(new ToolError("no")))
    expect(await resultOf(era, failing)).toEqual({ content: [textBlock("no")], isError: true })
  })
})

describe("a link with icons", () => {
  const icons = [{ src: "https://example.com/a.png" }]
  const server = createServer({
    name: "test",
    version: "1.0.0",
    tools: [tool("subject", {}, () => [content.link("file:///a", "a", { icons }), content.text("b")])],
    prompts: [prompt("said", {}, () => [user(content.link("file:///a", "a", { icons })), assistant("b")])],
  })

  it.each([
    ["2026-07-28", true],
    ["2025-11-25", true],
    ["2025-06-18", false],
  ])("has them in a result and in a message of %s: %s", async (version, sent) => {
    const wire = link(server)
    const ask = (method: string, about: Json): Promise<Json> =>
      version === "2026-07-28" ? wire.modern(method, about) : wire.legacy(method, about, version)
    const called = (await ask("tools/call", params))["result"] as { content: Json[] }
    const got = (await ask("prompts/get", { name: "said" }))["result"] as { messages: { content: Json }[] }
    const expected = { type: "resource_link", uri: "file:///a", name: "a", ...(sent ? { icons } : {}) }
    expect(called.content).toEqual([expected, textBlock("b")])
    expect(got.messages.map((message) => message.content)).toEqual([expected, textBlock("b")])
  })
})
