/** Questions to the user: forms that are filled in, pages that are visited. */
import { describe, expect, it, vi } from "vitest"
import type { ElicitAnswer, Handlers } from "../../src/client/handler/handlers.js"
import type { JsonObject } from "../../src/core/wire/message.js"
import { answererOf, errorOf, factsOf, told } from "./answering.js"

const elicitation = (params: JsonObject) => ({ method: "elicitation/create", params })

const FORM = {
  message: "When?",
  requestedSchema: { type: "object", properties: { day: { type: "string", format: "date" } } },
}
const PAGE = { mode: "url", message: "Sign in", url: "https://example.com/sign-in?a=1#b", elicitationId: "e1" }

/** What the handler returns may be anything: it is the application's. */
const saying = (answer: unknown): Handlers => ({ elicit: () => answer as ElicitAnswer })

describe("a form", () => {
  it.each([
    ["without a mode", FORM],
    ["that says its mode", { mode: "form", ...FORM }],
  ])("reaches the handler as it came: one %s", async (_what, params) => {
    const elicit = vi.fn(() => ({ action: "accept" as const, content: { day: "2026-07-28" } }))
    const meta = { "example.com/a": 1 }
    const answer = await answererOf({ elicit }).answer(elicitation({ ...params, _meta: meta }), factsOf())
    expect(answer).toEqual({ action: "accept", content: { day: "2026-07-28" } })
    expect(elicit).toHaveBeenCalledExactlyOnceWith(
      { mode: "form", message: "When?", schema: FORM.requestedSchema, meta },
      expect.anything(),
    )
  })

  it("is filled in with the defaults of what the user left out", async () => {
    const properties = {
      size: { type: "integer", default: 2 },
      name: { type: "string" },
      ok: { type: "boolean", default: false },
    }
    const question = elicitation({ message: "?", requestedSchema: { type: "object", properties } })
    const answer = await answererOf(saying({ action: "accept", content: { name: "n", other: 1 } })).answer(
      question,
      factsOf(),
    )
    expect(answer).toEqual({ action: "accept", content: { size: 2, name: "n", ok: false } })
  })

  it.each([
    ["no content", { action: "accept" }],
    ["null as content", { action: "accept", content: null }],
  ])("is accepted with %s, and the defaults are sent", async (_what, answer) => {
    const requestedSchema = { type: "object", properties: { a: { type: "string", default: "d" } } }
    const sent = await answererOf(saying(answer)).answer(elicitation({ message: "?", requestedSchema }), factsOf())
    expect(sent).toEqual({ action: "accept", content: { a: "d" } })
  })

  it.each([
    ["declines", { action: "decline" }],
    ["declines with null as content", { action: "decline", content: null }],
    ["cancels with content", { action: "cancel", content: { day: "2026-07-28" } }],
  ])("has no content in its answer when the user %s", async (_what, answer) => {
    const sent = await answererOf(saying(answer)).answer(elicitation(FORM), factsOf())
    expect(sent).toStrictEqual({ action: answer.action })
  })

  it.each<[what: string, answer: unknown, problem: string]>([
    ["nothing", undefined, 'handlers.elicit must answer with an "action" of accept, decline or cancel'],
    [
      "an unknown action",
      { action: "submit" },
      'handlers.elicit must answer with an "action" of accept, decline or cancel',
    ],
    [
      "content that is a list",
      { action: "accept", content: [] },
      'handlers.elicit must answer with "content" that is an object',
    ],
    [
      "content that the form does not allow",
      { action: "accept", content: { day: "tomorrow" } },
      "handlers.elicit answered what the form does not allow: day: must be a date, as 2026-07-28",
    ],
  ])(
    "is never answered with %s: the server hears nothing of why, and the application does",
    async (_what, answer, problem) => {
      const answerer = answererOf(saying(answer))
      const error = await errorOf(answerer.answer(elicitation(FORM), factsOf()))
      expect(told(error)).toEqual({
        kind: "protocol",
        code: -32603,
        reason: "internal_error",
        message: "Internal error: the question could not be answered",
      })
      expect(error.cause).toMatchObject({ kind: "validation", reason: "invalid_answer", message: problem })
      expect(answerer.logger.lines).toMatchObject([
        {
          level: "error",
          fields: { method: "elicitation/create", handler: "handlers.elicit", error: { message: problem } },
        },
      ])
    },
  )

  it.each<[what: string, params: JsonObject, message: string]>([
    ["an unknown mode", { ...FORM, mode: "voice" }, 'Invalid params: "mode" must be "form" or "url"'],
    ["a mode that is null", { ...FORM, mode: null }, 'Invalid params: "mode" must be "form" or "url"'],
    ["no message", { requestedSchema: FORM.requestedSchema }, 'Invalid params: "message" must be a string'],
    ["no schema", { message: "?" }, 'Invalid params: "requestedSchema" must be a schema of "type": "object"'],
    [
      "a nested object",
      { message: "?", requestedSchema: { type: "object", properties: { a: { type: "object", properties: {} } } } },
      'Invalid params: "requestedSchema" has a field "a" that uses "properties", which no form can show',
    ],
  ])("is refused without asking anybody: one with %s", async (_what, params, message) => {
    const elicit = vi.fn()
    const error = await errorOf(answererOf({ elicit }).answer(elicitation(params), factsOf()))
    expect(told(error)).toEqual({ kind: "protocol", code: -32602, reason: "invalid_params", message })
    expect(elicit).not.toHaveBeenCalled()
  })
})

describe("a page", () => {
  it("reaches the handler with the URL as it came, and its answer has no content", async () => {
    const elicit = vi.fn(() => ({ action: "accept" as const, content: { a: 1 } }))
    const answer = await answererOf({ elicit }).answer(elicitation(PAGE), factsOf())
    expect(answer).toStrictEqual({ action: "accept" })
    expect(elicit).toHaveBeenCalledExactlyOnceWith(
      { mode: "url", message: "Sign in", url: PAGE.url, elicitationId: "e1", meta: undefined },
      expect.anything(),
    )
  })

  it("is never fetched", async () => {
    const fetched = vi.spyOn(globalThis, "fetch")
    await answererOf(saying({ action: "accept" })).answer(elicitation(PAGE), factsOf())
    expect(fetched).not.toHaveBeenCalled()
    fetched.mockRestore()
  })

  it.each([
    "javascript:alert(1)",
    "data:text/html,hello",
    "file:///etc/passwd",
    "vscode://settings",
    "example.com/sign-in",
    "",
    "https://",
    "https://accounts.example.com@evil.example/",
    "https://user:secret@example.com/",
    "https://example.com\\@evil.example/",
    "https://example.com/\u202Egpj.exe",
    "https://exa\nmple.com/",
    " https://example.com/",
  ])("is refused when its URL is no plain http(s) URL: %j", async (url) => {
    const elicit = vi.fn()
    const error = await errorOf(answererOf({ elicit }).answer(elicitation({ ...PAGE, url }), factsOf()))
    expect(error).toMatchObject({ kind: "protocol", code: -32602, reason: "invalid_params" })
    expect(error.message).toContain('"url" must be an http: or https: URL')
    expect(elicit).not.toHaveBeenCalled()
  })

  it.each([
    ["a URL that is no text", { ...PAGE, url: 1 }],
    ["an id that is no text", { ...PAGE, elicitationId: 1 }],
  ])("is refused with %s", async (_what, params) => {
    const error = await errorOf(answererOf(saying({ action: "accept" })).answer(elicitation(params), factsOf()))
    expect(error).toMatchObject({ code: -32602, reason: "invalid_params" })
  })
})

describe("what was not declared", () => {
  it.each<
    [
      what: string,
      handlers: Handlers,
      modes: readonly ("form" | "url")[],
      version: string,
      params: JsonObject,
      code: number,
    ]
  >([
    ["any question, without the handler", {}, ["form", "url"], "2025-11-25", FORM, -32601],
    ["any question, when no kind can be shown", saying({}), [], "2025-11-25", FORM, -32601],
    ["a form, when only pages can be shown", saying({}), ["url"], "2025-11-25", FORM, -32602],
    ["a page, when only forms can be shown", saying({}), ["form"], "2025-11-25", PAGE, -32602],
    ["a page, in a revision without pages", saying({}), ["form", "url"], "2025-06-18", PAGE, -32602],
    ["any question, when its revision has only forms", saying({}), ["url"], "2025-06-18", FORM, -32601],
  ])("is refused: %s", async (_what, handlers, modes, version, params, code) => {
    const answerer = answererOf(handlers, { elicitation: modes })
    const error = await errorOf(answerer.answer(elicitation(params), factsOf([], version)))
    expect(error).toMatchObject({ kind: "protocol", code, reason: "unexpected_question" })
    expect(answerer.logger.lines).toEqual([])
  })

  it("is not a form of 2025-06-18, which never says its mode", async () => {
    const answer = await answererOf(saying({ action: "decline" })).answer(elicitation(FORM), factsOf([], "2025-06-18"))
    expect(answer).toEqual({ action: "decline" })
  })

  it("is not a question that comes before the revision is known", async () => {
    const { calls, signal } = factsOf()
    const answer = await answererOf(saying({ action: "accept" })).answer(elicitation(PAGE), { calls, signal })
    expect(answer).toEqual({ action: "accept" })
  })
})
