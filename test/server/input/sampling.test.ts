/** Completions by the client's model, and its roots. */
import { createServer, type SamplingMessage, type SamplingRequest, tool } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { legacyClient, modernCall, textOf } from "../../support/asking.js"
import { link } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"
import type { Json } from "../../support/wire.js"

type Handler = Parameters<typeof tool>[2]

const user = (content: SamplingMessage["content"]): SamplingMessage => ({ role: "user", content })
const assistant = (content: SamplingMessage["content"]): SamplingMessage => ({ role: "assistant", content })
const text = { type: "text", text: "hi" } as const
const use = (id: string) => ({ type: "tool_use", id, name: "weather", input: { city: "Oslo" } }) as const
const result = (toolUseId: string) => ({ type: "tool_result", toolUseId, content: [text] }) as const
const completion: Json = {
  role: "assistant",
  content: { type: "text", text: "The capital is Paris." },
  model: "test-model",
  stopReason: "endTurn",
}

function linked(handler: Handler) {
  const server = createServer({
    name: "test",
    version: "1.0.0",
    logger: createRecordingLogger(),
    tools: [tool("subject", {}, handler)],
  })
  return link(server)
}

const sampling =
  (request: SamplingRequest): Handler =>
  async (_, ctx) => {
    const { content } = await ctx.sample(request)
    return JSON.stringify(content)
  }

/** What the client is asked, and what the tool makes of its answer, in each era. */
const eras = {
  modern: async (handler: Handler, answer: Json) => {
    const call = modernCall(linked(handler).request, { name: "subject" })
    const first = await call.round()
    if (first.asked.length === 0) return { asked: first.asked, answered: first.result, error: first.error }
    const last = await call.round({ state: first.state, answers: { q1: answer } })
    return { asked: first.asked, answered: last.result, error: last.error }
  },
  legacy: async (handler: Handler, answer: Json) => {
    const client = await legacyClient(linked(handler))
    const { asked, response } = await client.call("tools/call", { name: "subject" }, () => answer)
    return { asked, answered: response["result"] as Json | undefined, error: undefined }
  },
}

describe.each(Object.keys(eras) as (keyof typeof eras)[])("ctx.sample in the %s era", (era) => {
  const run = eras[era]

  it("sends the request as it is, and gives the completion", async () => {
    const request: SamplingRequest = {
      messages: [user(text)],
      maxTokens: 100,
      systemPrompt: "Be brief.",
      modelPreferences: { hints: [{ name: "sonnet" }], costPriority: 0.3 },
      temperature: 0.1,
      stopSequences: ["\n"],
      metadata: { a: 1 },
    }
    const { asked, answered } = await run(sampling(request), completion)
    expect(asked).toMatchObject([{ method: "sampling/createMessage" }])
    expect(asked[0]?.params).toEqual(request)
    expect(textOf(answered)).toBe(JSON.stringify(completion["content"]))
  })

  it("gives tool uses too", async () => {
    const tools = [{ name: "weather", inputSchema: { type: "object" } }]
    const request: SamplingRequest = { messages: [user(text)], maxTokens: 5, tools, toolChoice: { mode: "auto" } }
    const { asked, answered } = await run(sampling(request), {
      role: "assistant",
      content: [use("1"), use("2")],
      model: "test-model",
      stopReason: "toolUse",
    })
    expect(asked[0]?.params).toEqual(request)
    expect(JSON.parse(textOf(answered))).toEqual([use("1"), use("2")])
  })

  it.each<[what: string, messages: readonly SamplingMessage[]]>([
    ["a use with its result", [user(text), assistant(use("1")), user(result("1"))]],
    [
      "several uses with their results",
      [user(text), assistant([use("1"), use("2")]), user([result("2"), result("1")])],
    ],
    ["text beside a use", [user(text), assistant([text, use("1")]), user(result("1"))]],
    [
      "two turns of tools",
      [user(text), assistant(use("1")), user(result("1")), assistant(use("2")), user(result("2"))],
    ],
  ])("sends a conversation with %s", async (_, messages) => {
    const { asked } = await run(sampling({ messages, maxTokens: 5 }), completion)
    expect(asked).toHaveLength(1)
  })

  it.each<[what: string, messages: readonly SamplingMessage[], problem: string]>([
    [
      "results beside other content",
      [user(text), assistant(use("1")), user([text, result("1")])],
      "mixes tool results with other content",
    ],
    [
      "a use without its result",
      [user(text), assistant([use("1"), use("2")]), user(result("1"))],
      'lacks the result of tool use "2"',
    ],
    ["another message before the result", [user(text), assistant(use("1")), assistant(text)], "lacks the result"],
    ["a use that is the last word", [user(text), assistant(use("1"))], 'lacks the result of tool use "1"'],
    ["a result that nothing asked for", [user(text), user(result("1"))], "which the message before does not make"],
    [
      "two results of one use",
      [user(text), assistant(use("1")), user([result("1"), result("1")])],
      "two results of one tool use",
    ],
    ["a use by the user", [user(use("1")), user(result("1"))], "is not the assistant's"],
    ["a result of the assistant", [assistant(use("1")), assistant(result("1"))], "is not the user's"],
  ])("refuses, before it is sent, a conversation with %s", async (_, messages, problem) => {
    const errors: unknown[] = []
    const handler: Handler = async (__, ctx) => {
      await ctx.sample({ messages, maxTokens: 5 }).catch((error: unknown) => errors.push(error))
      return "caught"
    }
    const { asked, answered } = await run(handler, completion)
    expect(asked).toEqual([])
    expect(textOf(answered)).toBe("caught")
    expect(errors).toMatchObject([{ kind: "misuse", message: expect.stringContaining(problem) }])
  })

  it.each([[0], [-1], [1.5], [Number.NaN], [Number.POSITIVE_INFINITY]])("refuses %s tokens", async (maxTokens) => {
    const { asked, answered } = await run(sampling({ messages: [user(text)], maxTokens }), completion)
    expect(asked).toEqual([])
    expect(answered).toMatchObject({ isError: true })
  })

  it.each<[what: string, answer: Json]>([
    ["without a model", { role: "assistant", content: text }],
    ["without content", { role: "assistant", model: "m" }],
    ["with content that is null", { role: "assistant", content: null, model: "m" }],
    ["with content without a type", { role: "assistant", content: { text: "hi" }, model: "m" }],
    ["with content that is a text", { role: "assistant", content: "hi", model: "m" }],
    ["of nobody", { content: text, model: "m" }],
  ])("refuses an answer %s", async (_, answer) => {
    const { answered, error } = await run(sampling({ messages: [user(text)], maxTokens: 5 }), answer)
    if (era === "modern") expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_answer", key: "q1" } })
    else expect(answered).toMatchObject({ isError: true })
  })
})

describe("ctx.sample for a client of 2025-06-18", () => {
  const run = async (request: SamplingRequest) => {
    const client = await legacyClient(linked(sampling(request)), {
      version: "2025-06-18",
      capabilities: { sampling: {} },
    })
    const { asked, response } = await client.call("tools/call", { name: "subject" }, () => completion)
    return { asked, text: textOf(response["result"] as Json) }
  }

  it.each<[what: string, request: Partial<SamplingRequest>]>([
    ["tools", { tools: [] }],
    ["a tool choice", { toolChoice: { mode: "none" } }],
    ["tool uses", { messages: [assistant(use("1")), user(result("1"))] }],
    ["lists of blocks", { messages: [user([text])] }],
  ])("is a clear tool error with %s", async (_, more) => {
    const { asked, text: said } = await run({ messages: [user(text)], maxTokens: 5, ...more })
    expect(asked).toEqual([])
    expect(said).toContain("2025-06-18")
  })

  it("may ask for context, which had no capability of its own", async () => {
    const { asked } = await run({ messages: [user(text)], maxTokens: 5, includeContext: "allServers" })
    expect(asked).toHaveLength(1)
  })
})

describe.each(Object.keys(eras) as (keyof typeof eras)[])("ctx.roots in the %s era", (era) => {
  const roots: Handler = async (_, ctx) => JSON.stringify(await ctx.roots())

  it("gives the roots of the client", async () => {
    const shown = [{ uri: "file:///projects/ada", name: "Home" }, { uri: "file:///srv" }]
    const { asked, answered } = await eras[era](roots, { roots: shown })
    expect(asked).toMatchObject([{ method: "roots/list", params: {} }])
    expect(JSON.parse(textOf(answered))).toEqual(shown)
  })

  it.each<[what: string, answer: Json]>([
    ["no list", {}],
    ["a root without a uri", { roots: [{ name: "x" }] }],
    ["a root that is a text", { roots: ["file:///"] }],
  ])("refuses an answer with %s", async (_, answer) => {
    const { answered, error } = await eras[era](roots, answer)
    if (era === "modern") expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_answer" } })
    else expect(answered).toMatchObject({ isError: true })
  })
})
