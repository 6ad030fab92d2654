/** `prompts/list` and `prompts/get`, in both eras. */
import { assistant, content, createServer, McpError, prompt, user } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import type { Json } from "../support/wire.js"

const eras = ["modern", "legacy"] as const

function bare({ result }: Json): Json {
  const { _meta, resultType, ...rest } = result as Json
  return rest
}

function serving(...prompts: readonly ReturnType<typeof prompt>[]) {
  return createServer({ name: "test", version: "1.0.0", prompts, logger: createRecordingLogger() })
}

const said = (role: string, text: string): Json => ({ role, content: { type: "text", text } })

describe.each(eras)("prompts listed to a %s client", (era) => {
  const list = async (...prompts: readonly ReturnType<typeof prompt>[]): Promise<readonly Json[]> =>
    (bare(await link(serving(...prompts))[era]("prompts/list")) as { prompts: Json[] }).prompts

  it("say all that was said of them, with the arguments of their schema", async () => {
    const args = z.object({
      code: z.string().describe("What to review").meta({ title: "Code" }),
      style: z.string().optional(),
      lines: z.string().transform(Number).default(10),
    })
    const review = prompt(
      "review",
      { title: "Review", description: "Reviews code", args, icons: [{ src: "data:," }], meta: { "example.com/a": 1 } },
      () => "",
    )
    expect(
      await list(
        review,
        prompt("bare", {}, () => ""),
      ),
    ).toEqual([
      {
        name: "review",
        title: "Review",
        description: "Reviews code",
        arguments: [
          { name: "code", title: "Code", description: "What to review", required: true },
          { name: "style" },
          { name: "lines" },
        ],
        icons: [{ src: "data:," }],
        _meta: { "example.com/a": 1 },
      },
      { name: "bare" },
    ])
  })

  it("stand in the order in which they were defined", async () => {
    const names = ["b", "10", "a", "2", "constructor"]
    expect((await list(...names.map((name) => prompt(name, {}, () => "")))).map(({ name }) => name)).toEqual(names)
  })
})

describe.each(eras)("what a prompt says to a %s client", (era) => {
  const get = async (returned: unknown, description?: string): Promise<Json> => {
    const options = description === undefined ? {} : { description }
    return link(serving(prompt("subject", options, () => returned as string)))[era]("prompts/get", { name: "subject" })
  }

  it.each<[what: string, returned: unknown, messages: readonly Json[]]>([
    ["a text, as the user", "hello", [said("user", "hello")]],
    ["one message", assistant("hello"), [said("assistant", "hello")]],
    [
      "several messages",
      [user("a"), assistant("b"), user("c")],
      [said("user", "a"), said("assistant", "b"), said("user", "c")],
    ],
    [
      "content, as the user",
      content.image("AAAA", "image/png"),
      [{ role: "user", content: { type: "image", data: "AAAA", mimeType: "image/png" } }],
    ],
    [
      "an embedded resource",
      user(content.embed({ uri: "file:///a", text: "a" })),
      [{ role: "user", content: { type: "resource", resource: { uri: "file:///a", text: "a" } } }],
    ],
    ["nothing", [], []],
  ])("is %s", async (_, returned, messages) => {
    expect(bare(await get(returned))).toEqual({ messages })
    expect(bare(await get(Promise.resolve(returned), "Says it"))).toEqual({ description: "Says it", messages })
  })

  it.each<[what: string, returned: unknown]>([
    ["nothing", undefined],
    ["null", null],
    ["a number", 5],
    ["a result written by hand", { messages: [said("user", "a")] }],
    ["a message without content", { role: "user" }],
    ["a list with a hole", [user("a"), undefined]],
  ])("is an internal error when it is %s", async (_, returned) => {
    expect(await get(returned)).toMatchObject({ error: { code: -32603, data: { reason: "internal_error" } } })
  })
})

describe.each(eras)("the arguments of a prompt, from a %s client,", (era) => {
  const server = serving(
    prompt("bare", {}, (args) => JSON.stringify(args)),
    prompt("optional", { args: z.object({ style: z.string().optional() }) }, (args) => JSON.stringify(args)),
    prompt("review", { args: z.object({ code: z.string(), lines: z.coerce.number().max(100).default(1) }) }, (args) =>
      JSON.stringify(args),
    ),
    prompt("loose", { args: z.looseObject({}) }, (args) => JSON.stringify(args)),
  )
  const get = (params: Json): Promise<Json> => link(server)[era]("prompts/get", params)
  const answered = async (params: Json): Promise<unknown> => {
    const { messages } = bare(await get(params)) as { messages: { content: { text: string } }[] }
    return JSON.parse(messages[0]?.content.text ?? "null")
  }

  it("are none when they are absent", async () => {
    expect(await answered({ name: "bare" })).toEqual({})
    expect(await answered({ name: "optional" })).toEqual({})
  })

  it("reach the handler as the schema made them", async () => {
    expect(await answered({ name: "review", arguments: { code: "x", lines: "7" } })).toEqual({ code: "x", lines: 7 })
    expect(await answered({ name: "review", arguments: { code: "x" } })).toEqual({ code: "x", lines: 1 })
  })

  it.each([
    ["null", null],
    ["a list", []],
    ["a text", "code"],
    ["a number", 1],
  ])("are invalid params when they are %s", async (_, value) => {
    for (const name of ["bare", "optional"]) {
      const { error } = await get({ name, arguments: value })
      expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_params" } })
    }
  })

  it.each<[what: string, args: Json, says: RegExp]>([
    ["a required one is missing", {}, /review"?: code: /],
    ["one is no text", { code: 5 }, /argument "code" must be a string/],
    ["one is null", { code: null }, /argument "code" must be a string/],
    ["one does not fit", { code: "x", lines: "1000" }, /review"?: lines: /],
  ])("are invalid params when %s", async (_, args, says) => {
    const { error } = await get({ name: "review", arguments: args })
    expect(error).toMatchObject({ code: -32602, message: expect.stringMatching(says) })
  })

  it.each(["constructor", "toString", "valueOf"])("may be named %s", async (name) => {
    expect(await answered({ name: "loose", arguments: { [name]: "plain" } })).toEqual({ [name]: "plain" })
  })
})

describe.each(eras)("the name of a prompt in a %s request", (era) => {
  it.each(["__proto__", "constructor", "toString", "", "Review"])(
    "that is not defined is invalid params: %j",
    async (name) => {
      const server = serving(prompt("review", {}, () => ""))
      const { error } = await link(server)[era]("prompts/get", { name })
      expect(error).toMatchObject({ code: -32602, data: { reason: "unknown_prompt" } })
    },
  )

  it.each(["__proto__", "constructor", "toString"])("may be %s", async (name) => {
    const answer = await link(serving(prompt(name, {}, () => `I am ${name}`)))[era]("prompts/get", { name })
    expect(bare(answer)).toEqual({ messages: [said("user", `I am ${name}`)] })
  })

  it.each([[{}], [{ name: 1 }], [{ name: null }], [{ name: ["review"] }]])(
    "that is no text is invalid params: %j",
    async (params) => {
      const answer = await link(serving(prompt("review", {}, () => "")))[era]("prompts/get", params)
      expect(answer).toMatchObject({ error: { code: -32602, data: { reason: "invalid_params" } } })
    },
  )
})

describe.each(eras)("a prompt that fails, for a %s client,", (era) => {
  it("says nothing of why; the log does", async () => {
    const logger = createRecordingLogger()
    const failing = prompt("subject", {}, () => Promise.reject(new Error("secret detail")))
    const server = createServer({ name: "test", version: "1.0.0", prompts: [failing], logger })
    const answer = await link(server)[era]("prompts/get", { name: "subject" })
    expect(answer).toMatchObject({ error: { code: -32603 } })
    expect(JSON.stringify(answer)).not.toContain("secret detail")
    expect(logger.lines).toMatchObject([{ level: "error", message: expect.stringContaining('"subject"') }])
  })
})

describe("a prompt that cannot be", () => {
  it.each<[what: string, define: () => unknown, says: RegExp]>([
    ["without a name", () => prompt("", {}, () => ""), /needs a name/],
    ["whose arguments are no object", () => prompt("x", { args: z.string() as never }, () => ""), /prompt "x"/],
    [
      "that completes what it has not",
      () => prompt("x", { args: z.object({ a: z.string() }), complete: { b: () => [] } as never }, () => ""),
      /complete\.b is not an argument/,
    ],
    [
      "that stands twice",
      () =>
        serving(
          prompt("x", {}, () => ""),
          prompt("x", {}, () => ""),
        ),
      /prompt "x" is defined twice/,
    ],
  ])("%s is refused where it is defined", (_, define, says) => {
    let thrown: unknown
    try {
      define()
    } catch (error) {
      thrown = error
    }
    expect(McpError.is(thrown, "misuse")).toBe(true)
    expect((thrown as McpError).message).toMatch(says)
  })
})
