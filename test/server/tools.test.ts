/** `tools/list` and `tools/call`: what is listed, which arguments reach a handler, and what is refused. */
import { readdirSync, readFileSync } from "node:fs"
import { createServer, McpError, tool } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { jsonSchema } from "conduit-mcp/schema"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { openSession, post, postModern } from "../support/http.js"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import { type Json, modernHeaders, modernRequest } from "../support/wire.js"

const eras = ["modern", "legacy"] as const

function text(answer: Json): unknown {
  return (answer as { result?: { content?: { text?: string }[] } }).result?.content?.[0]?.text
}

/** A tool that answers with the arguments that it got. */
function echo(name: string, input?: Parameters<typeof tool>[1]["input"]) {
  return tool(name, input === undefined ? {} : { input }, (args) => args as object)
}

describe.each(eras)("a tool is listed to a %s client", (era) => {
  const list = async (...tools: readonly ReturnType<typeof echo>[]): Promise<readonly Json[]> => {
    const answer = await link(createServer({ name: "test", version: "1.0.0", tools, logger: createRecordingLogger() }))[
      era
    ]("tools/list")
    return (answer["result"] as { tools: Json[] }).tools
  }

  it("with everything that was said of it, and nothing that was not", async () => {
    const everything = tool(
      "everything",
      {
        title: "Everything",
        description: "All members",
        input: z.object({ city: z.string().describe("Where") }),
        output: z.object({ celsius: z.number() }),
        annotations: { title: "Hint", readOnlyHint: true, openWorldHint: false },
        icons: [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] }],
        meta: { "example.com/team": "weather" },
      },
      () => ({ celsius: 1 }),
    )
    const [full, bare] = await list(everything, echo("bare"))
    expect(full).toEqual({
      name: "everything",
      title: "Everything",
      description: "All members",
      inputSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { city: { type: "string", description: "Where" } },
        required: ["city"],
      },
      outputSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { celsius: { type: "number" } },
        required: ["celsius"],
        additionalProperties: false,
      },
      annotations: { title: "Hint", readOnlyHint: true, openWorldHint: false },
      icons: [{ src: "https://example.com/icon.png", mimeType: "image/png", sizes: ["48x48"] }],
      _meta: { "example.com/team": "weather" },
    })
    expect(Object.keys(bare ?? {})).toEqual(["name", "inputSchema"])
  })

  it("closed when it takes no arguments", async () => {
    const [bare] = await list(echo("bare"))
    expect(bare?.["inputSchema"]).toEqual({ type: "object", additionalProperties: false })
  })

  it("as an object with its branches when its input is a union", async () => {
    const union = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("circle"), radius: z.number() }),
      z.object({ kind: z.literal("square"), side: z.number() }),
    ])
    const [shape] = await list(echo("shape", union))
    expect(shape?.["inputSchema"]).toMatchObject({
      type: "object",
      oneOf: [
        { properties: { kind: { const: "circle" }, radius: { type: "number" } } },
        { properties: { kind: { const: "square" }, side: { type: "number" } } },
      ],
    })
  })

  it("with the side of its input that callers write: before defaults, transforms and pipes", async () => {
    const input = z.object({
      count: z.string().transform(Number).pipe(z.number()),
      limit: z.number().default(10),
      anything: z.unknown(),
    })
    const [sides] = await list(echo("sides", input))
    const schema = sides?.["inputSchema"] as { properties: Json; required: string[] }
    expect(schema.properties["count"]).toEqual({ type: "string" })
    expect(schema.required).not.toContain("limit")
  })

  it("with the side of its output that callers read: after defaults and transforms", async () => {
    const output = z.object({
      length: z
        .string()
        .transform((word) => word.length)
        .pipe(z.number()),
      limit: z.number().default(1),
    })
    const [sides] = await list(tool("sides", { output }, () => ({ length: "four" })))
    const schema = sides?.["outputSchema"] as { properties: Json; required: string[] }
    expect(schema.properties["length"]).toEqual({ type: "number" })
    expect(schema.required).toEqual(["length", "limit"])
  })

  it("with its recursive schema, once and finite", async () => {
    const node = z.object({
      name: z.string(),
      get children() {
        return z.array(node)
      },
    })
    const [tree] = await list(echo("tree", node))
    expect(JSON.stringify(tree?.["inputSchema"])).toMatch(/"\$ref":"#/)
  })

  it("with properties that are named like keywords", async () => {
    const input = z.object({ title: z.string(), description: z.string(), type: z.string(), $ref: z.string() })
    const [keywords] = await list(echo("keywords", input))
    expect(keywords?.["inputSchema"]).toMatchObject({
      properties: {
        title: { type: "string" },
        description: { type: "string" },
        type: { type: "string" },
        $ref: { type: "string" },
      },
      required: ["title", "description", "type", "$ref"],
    })
  })

  it("in the dialect that its schema names, references and all", async () => {
    const raw = {
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      definitions: { city: { type: "string", minLength: 1 } },
      properties: { city: { $ref: "#/definitions/city" } },
      required: ["city"],
    }
    const [old] = await list(echo("old", jsonSchema<{ city: string }>(raw)))
    expect(old?.["inputSchema"]).toEqual(raw)
  })

  it("in the order in which it was defined, and the same every time", async () => {
    const names = ["zebra", "10", "apple", "9", "__proto__"]
    const tools = names.map((name) => echo(name))
    expect((await list(...tools)).map((one) => one["name"])).toEqual(names)
    expect((await list(...tools)).map((one) => one["name"])).toEqual(names)
  })
})

describe.each(eras)("arguments of a %s call", (era) => {
  const seen: unknown[] = []
  const server = createServer({
    name: "test",
    version: "1.0.0",
    logger: createRecordingLogger(),
    tools: [
      echo("bare"),
      echo("optional", z.object({ a: z.number().optional() })),
      echo("word", z.object({ word: z.string().transform((word) => word.length) })),
      echo("nested", z.object({ forecast: z.object({ days: z.array(z.number()) }) })),
      echo("open", z.looseObject({})),
      echo("raw", jsonSchema<Json>({ type: "object" })),
      echo(
        "old",
        jsonSchema<Json>({
          $schema: "http://json-schema.org/draft-07/schema#",
          type: "object",
          definitions: { city: { type: "string" } },
          properties: { city: { $ref: "#/definitions/city" } },
        }),
      ),
      echo("later", z.object({ a: z.number().refine((a) => Promise.resolve(a > 0), "must be positive") })),
      echo(
        "broken",
        z.object({
          a: z.number().refine(() => {
            throw new Error("secret detail")
          }),
        }),
      ),
      tool("keeps", { input: jsonSchema<Json>({ type: "object" }) }, (args) => {
        seen.push({ ...args })
        Object.assign(args, { left: "behind" })
        return "ok"
      }),
    ],
  })
  const call = (params: Json): Promise<Json> => link(server)[era]("tools/call", params)

  it.each(["bare", "optional", "open", "raw"])("that are absent are none (%s)", async (name) => {
    expect(await call({ name })).toMatchObject({ result: { structuredContent: {} } })
  })

  it.each([
    ["null", null],
    ["an array", []],
    ["an array with members", [{ a: 1 }]],
    ["a text", "{}"],
    ["a number", 1],
    ["a boolean", false],
  ])("that are %s are refused as invalid params", async (_, value) => {
    for (const name of ["bare", "optional", "raw"]) {
      const { error, result } = await call({ name, arguments: value })
      expect(result).toBeUndefined()
      expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_params" } })
    }
  })

  it.each([
    ["of the wrong type", "optional", { a: "one" }, /^Invalid arguments for tool optional: a: /],
    ["missing", "word", {}, /^Invalid arguments for tool word: word: /],
    ["deep inside", "nested", { forecast: { days: [1, "two"] } }, /forecast\.days\[1\]: /],
    ["refused by an asynchronous check", "later", { a: -1 }, /a: must be positive/],
    ["wrong in an older dialect", "old", { city: 5 }, /city: /],
    ["given to a tool that takes none", "bare", { extra: 1 }, /takes no arguments, but got extra/],
  ])("that are %s are a result that the model can read", async (_, name, args, expected) => {
    const { result, error } = await call({ name, arguments: args })
    expect(error).toBeUndefined()
    expect(result).toMatchObject({ isError: true })
    expect(result).not.toHaveProperty("structuredContent")
    expect(text({ result })).toMatch(expected)
  })

  it("reach the handler as the schema made them", async () => {
    expect(await call({ name: "word", arguments: { word: "four" } })).toMatchObject({
      result: { structuredContent: { word: 4 } },
    })
    expect(await call({ name: "later", arguments: { a: 1 } })).toMatchObject({
      result: { structuredContent: { a: 1 } },
    })
  })

  it.each(["constructor", "toString", "hasOwnProperty", "valueOf", "prototype"])(
    "that are named %s are arguments like any other",
    async (name) => {
      const args = { [name]: "plain" }
      expect(await call({ name: "raw", arguments: args })).toMatchObject({ result: { structuredContent: args } })
      expect(text(await call({ name: "bare", arguments: args }))).toContain(`takes no arguments, but got ${name}`)
    },
  )

  it.each(["__proto__", "\\u005f_proto__"])("that are named %s are refused before they are parsed", async (key) => {
    const wire = link(server)
    const request = modernRequest(1, "tools/call", { name: "raw", arguments: { replace: { polluted: true } } })
    wire.send(JSON.stringify(request).replace('"replace"', `"${key}"`))
    const answer = await wire.next(() => true)
    expect(answer).toMatchObject({ error: { code: -32600, data: { reason: "forbidden_key" } } })
    expect(({} as Json)["polluted"]).toBeUndefined()
  })

  it("of one call never reach the next, whatever a handler does to them", async () => {
    seen.length = 0
    await call({ name: "keeps" })
    await call({ name: "keeps" })
    await call({ name: "keeps", arguments: {} })
    expect(seen).toEqual([{}, {}, {}])
  })

  it("that make the schema itself fail say nothing of why to the client", async () => {
    const answer = await call({ name: "broken", arguments: { a: 1 } })
    expect(JSON.stringify(answer)).not.toContain("secret detail")
    expect(answer).toMatchObject({ result: { isError: true } })
  })
})

describe.each(eras)("the name of a tool in a %s call", (era) => {
  const inherited = ["__proto__", "constructor", "toString", "hasOwnProperty"]

  it.each([...inherited, "", "Echo", " echo", "echo\u0000"])(
    "that is not defined is invalid params: %j",
    async (name) => {
      const server = createServer({ name: "test", version: "1.0.0", tools: [echo("echo")] })
      const { error } = await link(server)[era]("tools/call", { name, arguments: {} })
      expect(error).toMatchObject({ code: -32602, data: { reason: "unknown_tool" } })
    },
  )

  it.each(inherited)("may be %s, and then it is a tool like any other", async (name) => {
    const server = createServer({ name: "test", version: "1.0.0", tools: [tool(name, {}, () => `I am ${name}`)] })
    expect(text(await link(server)[era]("tools/call", { name }))).toBe(`I am ${name}`)
    for (const other of inherited.filter((one) => one !== name)) {
      const answer = await link(server)[era]("tools/call", { name: other })
      expect(answer).toMatchObject({ error: { code: -32602 } })
    }
  })

  it.each([
    ["missing", {}],
    ["a number", { name: 1 }],
    ["null", { name: null }],
    ["an array", { name: ["echo"] }],
  ])("that is %s is invalid params", async (_, params) => {
    const server = createServer({ name: "test", version: "1.0.0", tools: [echo("echo")] })
    const { error } = await link(server)[era]("tools/call", params)
    expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_params" } })
  })

  it("is shown back short and without control or bidi characters", async () => {
    const server = createServer({ name: "test", version: "1.0.0", tools: [echo("echo")] })
    const name = `\u202e\u001b[8m${"x".repeat(5_000)}`
    const { error } = await link(server)[era]("tools/call", { name })
    const { message } = error as { message: string }
    expect(message.length).toBeLessThan(300)
    expect(message).not.toMatch(/[\p{Cc}\p{Cf}]/u)
  })
})

describe("params that are not there", () => {
  it("are invalid params of a legacy call", async () => {
    const server = createServer({ name: "test", version: "1.0.0", tools: [echo("echo")] })
    expect(await link(server).legacy("tools/call")).toMatchObject({ error: { code: -32602 } })
  })

  it("are a missing _meta of a modern call", async () => {
    const server = createServer({ name: "test", version: "1.0.0", tools: [echo("echo")] })
    const answer = await link(server).request({ jsonrpc: "2.0", id: 1, method: "tools/call" })
    expect(answer).toMatchObject({ id: 1, error: { code: -32602, data: { reason: "missing_meta" } } })
  })
})

describe("a tool that cannot be", () => {
  const misuse = (reason: string) => (error: unknown) =>
    McpError.is(error, "misuse") && error.reason === reason && error.message

  it.each<[what: string, define: () => unknown, reason: string, says: RegExp]>([
    ["without a name", () => echo(""), "invalid_definition", /needs a name/],
    ["without a handler", () => tool("x", {}, undefined as never), "invalid_definition", /"x" needs a handler/],
    ["whose input is no object", () => echo("x", z.string()), "invalid_schema", /tool "x".*only allows "string"/],
    [
      "whose schema is none",
      () => echo("x", { type: "object" } as never),
      "invalid_schema",
      /tool "x".*jsonSchema\(raw\)/,
    ],
    [
      "whose header annotation is no token",
      () =>
        echo("x", jsonSchema({ type: "object", properties: { a: { type: "string", "x-mcp-header": "no token" } } })),
      "invalid_schema",
      /tool "x".*x-mcp-header at \/properties\/a/,
    ],
    [
      "that is defined twice",
      () => createServer({ name: "test", version: "1.0.0", tools: [echo("x"), echo("x")] }),
      "duplicate_definition",
      /tool "x" is defined twice/,
    ],
  ])("%s is refused where it is defined, by name", (_, define, reason, says) => {
    let message: unknown
    try {
      define()
    } catch (error) {
      message = misuse(reason)(error)
    }
    expect(message).toMatch(says)
  })

  it.each(eras)("hides no other tool from a %s client", async (era) => {
    const server = createServer({ name: "test", version: "1.0.0", tools: [echo("good")] })
    expect(() => server.tool("bad", { input: z.string() as never }, () => "")).toThrow(/tool "bad"/)
    const { result } = await link(server)[era]("tools/list")
    expect(result).toMatchObject({ tools: [{ name: "good" }] })
  })
})

describe("a name that providers of models refuse", () => {
  it("is warned about once, when the tool is added, with who refuses it", async () => {
    const logger = createRecordingLogger()
    const server = createServer({
      name: "test",
      version: "1.0.0",
      tools: [echo("files.read"), echo("good_name")],
      logger,
    })
    const entry = server.tool("files/write", {}, () => "")
    entry.update({ description: "again" })
    for (let round = 0; round < 3; round++) await link(server).modern("tools/list")
    const warnings = logger.lines.filter(({ level }) => level === "warn")
    expect(warnings.map(({ message }) => /"(.*?)"/.exec(message)?.[1])).toEqual(["files.read", "files/write"])
    expect(warnings[0]?.message).toContain("anthropic")
    expect(warnings[0]?.message).toContain("openai")
    expect(warnings[0]?.message).not.toContain("google")
    expect(warnings[1]?.message).toContain("google")
  })

  it("is served all the same", async () => {
    const server = createServer({
      name: "test",
      version: "1.0.0",
      tools: [echo("a/b.c é")],
      logger: createRecordingLogger(),
    })
    expect(await link(server).modern("tools/call", { name: "a/b.c é" })).toMatchObject({ result: { content: [{}] } })
  })
})

describe("arguments that headers repeat", () => {
  const raw = { type: "object", properties: { region: { type: "string", "x-mcp-header": "Region" } } }
  const server = createServer({
    name: "test",
    version: "1.0.0",
    tools: [echo("where", jsonSchema<Json>(raw)), echo("größe")],
    logger: createRecordingLogger(),
  })
  let running: Running
  beforeAll(async () => {
    running = await serve(server, { port: 0 })
  })
  afterAll(() => running.close())

  it.each([
    ["the header is missing", { region: "eu" }, {}, 400],
    ["the header says something else", { region: "eu" }, { "mcp-param-region": "us" }, 400],
    ["the header is there without the argument", {}, { "mcp-param-region": "eu" }, 400],
    ["the header is broken base64", { region: "eu" }, { "mcp-param-region": "=?base64?ZX?=" }, 400],
    ["they are equal", { region: "eu" }, { "mcp-param-region": "eu" }, 200],
    ["the header is encoded", { region: "größe" }, { "mcp-param-region": "=?base64?Z3LDtsOfZQ==?=" }, 200],
    ["both are absent", {}, {}, 200],
  ])("are compared on modern HTTP: %s", async (_, args, headers, status) => {
    const reply = await postModern(
      running.url,
      modernRequest(1, "tools/call", { name: "where", arguments: args }),
      headers,
    )
    expect(reply.status).toBe(status)
    if (status === 400) expect(reply.json).toMatchObject({ id: 1, error: { code: -32020 } })
    else expect(reply.json).toMatchObject({ result: { structuredContent: args } })
  })

  it("are not looked at in the legacy era, nor on a pipe", async () => {
    const params = { name: "where", arguments: { region: "eu" } }
    const session = await openSession(running.url)
    const reply = await post(running.url, { jsonrpc: "2.0", id: 1, method: "tools/call", params }, session)
    expect(reply.json).toMatchObject({ id: 1, result: { structuredContent: { region: "eu" } } })
    expect(await link(server).modern("tools/call", params)).toMatchObject({
      result: { structuredContent: { region: "eu" } },
    })
  })

  it("have company in Mcp-Name, which may be encoded too", async () => {
    const message = modernRequest(1, "tools/call", { name: "größe" })
    const reply = await postModern(running.url, message, { "mcp-name": "=?base64?Z3LDtsOfZQ==?=" })
    expect(reply.json).toMatchObject({ id: 1, result: { structuredContent: {} } })
  })

  it("may stand between spaces and tabs, and so may every header", async () => {
    const args = { region: "eu" }
    const message = modernRequest(1, "tools/call", { name: "where", arguments: args })
    const padded = Object.entries({ ...modernHeaders(message), "mcp-param-region": "eu" })
    const headers = Object.fromEntries(padded.map(([name, value]) => [name, ` \t${value}\t `]))
    expect((await post(running.url, message, headers)).json).toMatchObject({ result: { structuredContent: args } })
  })
})

describe("the public types", () => {
  it("name no schema library, so that any version of any of them fits", () => {
    const declarations = readdirSync("dist", { recursive: true, encoding: "utf8" }).filter((file) =>
      file.endsWith(".d.ts"),
    )
    expect(declarations.length).toBeGreaterThan(30)
    for (const file of declarations) {
      expect(readFileSync(`dist/${file}`, "utf8"), file).not.toMatch(/(?:from|import\() ?["'](?:zod|valibot|arktype)/)
    }
  })
})
