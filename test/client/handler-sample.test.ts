/** Requests for a completion, and the roots: what reaches the application, and what of its answers is sent. */
import { describe, expect, it, vi } from "vitest"
import type { Handlers } from "../../src/client/handler/handlers.js"
import type { Root, SamplingResult } from "../../src/core/model/sampling.js"
import type { JsonObject } from "../../src/core/wire/message.js"
import { answererOf, errorOf, factsOf } from "./answering.js"

const sampling = (params: JsonObject) => ({ method: "sampling/createMessage", params })
const text = (value: string) => ({ type: "text", text: value })
const REQUEST = { messages: [{ role: "user", content: text("hi") }], maxTokens: 100 }
const RESULT = { role: "assistant", content: text("hello"), model: "m", stopReason: "endTurn" }
const TOOLS = [{ name: "t", inputSchema: { type: "object" } }]
const use = (id: string) => ({ type: "tool_use", id, name: "t", input: {} })
const result = (id: string) => ({ type: "tool_result", toolUseId: id, content: [text("r")] })

/** What the handler returns may be anything: it is the application's. */
const saying = (answer: unknown): Handlers => ({ sample: () => answer as SamplingResult })

describe("a request for a completion", () => {
  it("reaches the handler with all of its members, and the answer goes out as it is", async () => {
    const params = {
      ...REQUEST,
      systemPrompt: "be brief",
      modelPreferences: { hints: [{ name: "m" }], costPriority: 0.3 },
      temperature: 0.1,
      stopSequences: ["."],
      metadata: { a: 1 },
      _meta: { "example.com/a": 1 },
    }
    const answer = { ...RESULT, _meta: { "example.com/b": 2 } } as unknown as SamplingResult
    const sample = vi.fn(() => answer)
    expect(await answererOf({ sample }).answer(sampling(params), factsOf())).toEqual(answer)
    expect(sample).toHaveBeenCalledExactlyOnceWith(params, expect.anything())
  })

  it.each<[what: string, params: JsonObject]>([
    ["tools", { tools: TOOLS }],
    ["an empty list of tools", { tools: [] }],
    ["a choice of tools", { toolChoice: { mode: "none" } }],
    [
      "uses of tools",
      {
        messages: [
          { role: "assistant", content: use("1") },
          { role: "user", content: result("1") },
        ],
      },
    ],
  ])("is refused with %s when the model cannot be given tools", async (_what, members) => {
    const sample = vi.fn()
    const error = await errorOf(answererOf({ sample }).answer(sampling({ ...REQUEST, ...members }), factsOf()))
    expect(error).toMatchObject({ kind: "protocol", code: -32602, reason: "unexpected_question" })
    expect(sample).not.toHaveBeenCalled()
  })

  it("may have tools when that was declared", async () => {
    const sample = vi.fn(() => ({ ...RESULT, content: [use("1"), use("2")] }) as unknown as SamplingResult)
    const params = { ...REQUEST, tools: TOOLS, toolChoice: { mode: "auto" } }
    const answer = await answererOf({ sample }, { samplingTools: true }).answer(sampling(params), factsOf())
    expect(answer).toEqual({ ...RESULT, content: [use("1"), use("2")] })
    expect(sample).toHaveBeenCalledExactlyOnceWith(params, expect.anything())
  })

  it.each([
    ["is left out where that was not declared", false, undefined],
    ["stays where it was declared", true, "thisServer"],
  ])("whose wish for the context of servers %s", async (_what, samplingContext, includeContext) => {
    const sample = vi.fn((request: { readonly includeContext?: string }) => {
      expect(request.includeContext).toBe(includeContext)
      return RESULT as unknown as SamplingResult
    })
    const question = sampling({ ...REQUEST, includeContext: "thisServer" })
    await answererOf({ sample }, { samplingContext }).answer(question, factsOf())
    expect(sample).toHaveBeenCalledOnce()
  })

  it.each<[what: string, params: JsonObject]>([
    ["no messages", { maxTokens: 1 }],
    ["messages that are no list", { ...REQUEST, messages: {} }],
    ["a message of nobody", { ...REQUEST, messages: [{ role: "system", content: text("x") }] }],
    ["a message without content", { ...REQUEST, messages: [{ role: "user" }] }],
    ["content without a type", { ...REQUEST, messages: [{ role: "user", content: [{ text: "x" }] }] }],
    ["no maxTokens", { messages: REQUEST.messages }],
    ["tools that are no list", { ...REQUEST, tools: {} }],
    ["a choice of tools that is no object", { ...REQUEST, toolChoice: "auto" }],
    [
      "tool results among other content",
      {
        ...REQUEST,
        messages: [
          { role: "assistant", content: use("1") },
          { role: "user", content: [result("1"), text("x")] },
        ],
      },
    ],
    [
      "a use of a tool without its result",
      {
        ...REQUEST,
        messages: [
          { role: "assistant", content: [use("1"), use("2")] },
          { role: "user", content: [result("1")] },
        ],
      },
    ],
    ["a result of a tool that was not used", { ...REQUEST, messages: [{ role: "user", content: [result("1")] }] }],
  ])("is refused with -32602 when it has %s", async (_what, params) => {
    const sample = vi.fn()
    const error = await errorOf(answererOf({ sample }, { samplingTools: true }).answer(sampling(params), factsOf()))
    expect(error).toMatchObject({ kind: "protocol", code: -32602, reason: "invalid_params" })
    expect(sample).not.toHaveBeenCalled()
  })

  it("is refused with -32601 without the handler", async () => {
    const error = await errorOf(answererOf({ roots: () => [] }).answer(sampling(REQUEST), factsOf()))
    expect(error).toMatchObject({ code: -32601, reason: "unexpected_question" })
  })

  it.each<[what: string, answer: unknown]>([
    ["nothing", undefined],
    ["a text", "hello"],
    ["no role", { content: RESULT.content, model: "m" }],
    ["no model", { role: "assistant", content: RESULT.content }],
    ["no content", { role: "assistant", model: "m" }],
    ["content that is a text", { ...RESULT, content: "hello" }],
    ["a text block without text", { ...RESULT, content: { type: "text" } }],
    ["an image without its type", { ...RESULT, content: { type: "image", data: "" } }],
    ["a block of an unknown type", { ...RESULT, content: [{ type: "video" }] }],
    ["a use of a tool without input", { ...RESULT, content: { type: "tool_use", id: "1", name: "t" } }],
    ["a reason to stop that is no text", { ...RESULT, stopReason: 1 }],
    ["what is no JSON", { ...RESULT, model: 1n }],
  ])("is never answered with %s", async (_what, answer) => {
    const answerer = answererOf(saying(answer))
    const error = await errorOf(answerer.answer(sampling(REQUEST), factsOf()))
    expect(error).toMatchObject({ code: -32603, reason: "internal_error", cause: { reason: "invalid_answer" } })
    expect(answerer.logger.lines).toMatchObject([{ level: "error", fields: { handler: "handlers.sample" } }])
  })
})

describe("a completion for a server of 2025-06-18", () => {
  const facts = factsOf([], "2025-06-18")

  it("has its only block by itself", async () => {
    const answer = await answererOf(saying({ ...RESULT, content: [text("hello")] })).answer(sampling(REQUEST), facts)
    expect(answer).toEqual(RESULT)
  })

  it.each([
    ["several blocks", [text("a"), text("b")]],
    ["no block", []],
    ["a use of a tool", use("1")],
  ])("never has %s", async (_what, content) => {
    const error = await errorOf(answererOf(saying({ ...RESULT, content })).answer(sampling(REQUEST), facts))
    expect(error).toMatchObject({ code: -32603, cause: { reason: "invalid_answer" } })
  })
})

describe("the roots", () => {
  const question = { method: "roots/list", params: undefined }
  const showing = (answer: unknown): Handlers => ({ roots: () => answer as readonly Root[] })

  it.each<[what: string, roots: readonly unknown[]]>([
    ["none", []],
    ["a directory and a file", [{ uri: "file:///somewhere/user/a", name: "A" }, { uri: "file:///C:/b.txt" }]],
    ["one with more to say", [{ uri: "file:///a..b/.c", _meta: { "example.com/a": 1 } }]],
  ])("are sent as they are: %s", async (_what, roots) => {
    expect(await answererOf(showing(roots)).answer(question, factsOf())).toEqual({ roots })
  })

  it.each<[what: string, roots: unknown]>([
    ["nothing", undefined],
    ["an object", { roots: [] }],
    ["a text", ["file:///a"]],
    ["no URI", [{ name: "a" }]],
    ["a path", [{ uri: "/somewhere/user" }]],
    ["a web page", [{ uri: "https://example.com/" }]],
    ["one that leads out of itself", [{ uri: "file:///somewhere/user/../other" }]],
    ["one that hides that", [{ uri: "file:///somewhere/user/%2E%2e%2Fother" }]],
    ["a name that is no text", [{ uri: "file:///a", name: 1 }]],
  ])("are an error of the handler when it shows %s", async (_what, roots) => {
    const answerer = answererOf(showing(roots))
    const error = await errorOf(answerer.answer(question, factsOf()))
    expect(error).toMatchObject({ code: -32603, reason: "internal_error", cause: { reason: "invalid_answer" } })
    expect(error.message).not.toContain("user")
    expect(answerer.logger.lines).toMatchObject([{ level: "error", fields: { handler: "handlers.roots" } }])
  })

  it("are refused with -32601 without the handler", async () => {
    const error = await errorOf(answererOf({}).answer(question, factsOf()))
    expect(error).toMatchObject({ code: -32601, reason: "unexpected_question" })
  })
})
