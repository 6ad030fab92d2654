/** Calls that need something of the user first: rounds of questions, and pages to visit. */
import { describe, expect, it, vi } from "vitest"
import type { AnswererParts } from "../../src/client/handler/answerer.js"
import type { HandlerContext, Handlers } from "../../src/client/handler/handlers.js"
import { createInput } from "../../src/client/pipeline/input.js"
import type { Attempt, Next } from "../../src/client/pipeline/stage.js"
import { McpError } from "../../src/core/error/error.js"
import type { JsonObject } from "../../src/core/wire/message.js"
import { answererOf, errorOf, GIVEN_UP, openCall, revisionOf } from "./answering.js"

const PARAMS = { name: "book", arguments: { party: 2 }, _meta: { "example.com/a": 1 } }
const DONE = { resultType: "complete", content: [] }
const FORM = {
  method: "elicitation/create",
  params: {
    mode: "form",
    message: "When?",
    requestedSchema: { type: "object", properties: { day: { type: "string" } } },
  },
}
const ROOTS = { method: "roots/list" }
const SAMPLE = { method: "sampling/createMessage", params: { messages: [], maxTokens: 1 } }
const COMPLETION = { role: "assistant", content: { type: "text", text: "x" }, model: "m" } as const

const asks = (members: JsonObject): JsonObject => ({ resultType: "input_required", ...members })

/** Answers attempts in order with what is given: a result, an error, or what a function makes. */
function serverOf(...answers: readonly (JsonObject | McpError | (() => JsonObject))[]) {
  const sent: Attempt[] = []
  const next: Next = async (_call, attempt) => {
    sent.push(attempt)
    const answer = answers[Math.min(sent.length, answers.length) - 1]
    if (McpError.is(answer)) throw answer
    return typeof answer === "function" ? answer() : (answer ?? DONE)
  }
  return { next, sent, params: () => sent.map(({ params }) => params) }
}

interface RunOptions extends Partial<AnswererParts> {
  readonly version?: string
  readonly method?: string
  readonly maxRounds?: number
  readonly params?: JsonObject
}

/** Runs one call through the stage. */
function run(handlers: Handlers, next: Next, options: RunOptions = {}) {
  const { version = "2026-07-28", method = "tools/call", params = PARAMS, maxRounds = 32 } = options
  const answerer = answererOf(handlers, options)
  const stage = createInput({ answerer, limits: { maxRounds }, revision: () => revisionOf(version) })
  const { call } = openCall(method, params)
  call.clock = undefined
  const attempt: Attempt = { params, headers: { "x-a": "1" }, isRepeatable: true, timeoutMs: 500 }
  return { answerer, call, result: call.run(() => stage(call, attempt, next)) }
}

const saying = (day: string): Handlers => ({ elicit: () => ({ action: "accept", content: { day } }) })
const accepted = (day: string) => ({ action: "accept", content: { day } })

describe("a call without questions", () => {
  it.each<[what: string, result: JsonObject, version: string]>([
    ["a complete result", DONE, "2026-07-28"],
    ["a result that does not say what it is", { content: [] }, "2026-07-28"],
    ["a result of a kind that is not known here", { resultType: "task", task: { taskId: "1" } }, "2026-07-28"],
    ["a result of the legacy era, whatever it says", asks({ inputRequests: {} }), "2025-11-25"],
  ])("gets %s as it came, and is sent once", async (_what, given, version) => {
    const server = serverOf(given)
    expect(await run({}, server.next, { version }).result).toBe(given)
    expect(server.sent).toHaveLength(1)
  })

  it("gets the error of the server as it came", async () => {
    const error = new McpError("no", { kind: "protocol", reason: "jsonrpc", code: -32602 })
    expect(await errorOf(run({}, serverOf(error).next).result)).toBe(error)
  })
})

describe("a round", () => {
  it("sends the call again with the answers by their keys and the state as it came", async () => {
    const state = '{"not": "ours"}\u2028 \\"'
    const server = serverOf(
      asks({ inputRequests: { when: FORM, where: ROOTS, "": SAMPLE }, requestState: state }),
      DONE,
    )
    const handlers: Handlers = {
      ...saying("monday"),
      roots: () => [{ uri: "file:///a" }],
      sample: () => COMPLETION,
    }
    expect(await run(handlers, server.next).result).toBe(DONE)
    expect(server.params()).toStrictEqual([
      PARAMS,
      {
        ...PARAMS,
        inputResponses: { when: accepted("monday"), where: { roots: [{ uri: "file:///a" }] }, "": COMPLETION },
        requestState: state,
      },
    ])
    expect(server.sent[1]).toMatchObject({ headers: { "x-a": "1" }, isRepeatable: true, timeoutMs: 500 })
  })

  it.each<[what: string, members: JsonObject, sent: JsonObject]>([
    ["answers alone, when there is no state", { inputRequests: { k: FORM } }, { inputResponses: { k: accepted("d") } }],
    ["the state alone, when there are no questions", { requestState: "s" }, { requestState: "s" }],
    ["a state that is empty", { requestState: "" }, { requestState: "" }],
    ["no answers to no questions", { inputRequests: {}, requestState: "s" }, { inputResponses: {}, requestState: "s" }],
    [
      "answers to a key of any name",
      { inputRequests: JSON.parse(`{ "__proto__": ${JSON.stringify(FORM)} }`) },
      { inputResponses: JSON.parse('{ "__proto__": { "action": "accept", "content": { "day": "d" } } }') },
    ],
  ])("sends %s", async (_what, members, sent) => {
    const server = serverOf(asks(members), DONE)
    await run(saying("d"), server.next).result
    expect(server.params()[1]).toStrictEqual({ ...PARAMS, ...sent })
  })

  it("carries nothing of the round before, nor of the caller's own rounds", async () => {
    const server = serverOf(
      asks({ inputRequests: { a: FORM }, requestState: "1" }),
      asks({ inputRequests: { b: FORM } }),
      asks({ requestState: "3" }),
      DONE,
    )
    const own = { inputResponses: { mine: {} }, requestState: "mine" }
    await run(saying("d"), server.next, { params: { ...PARAMS, ...own } }).result
    expect(server.params()).toStrictEqual([
      { ...PARAMS, ...own },
      { ...PARAMS, inputResponses: { a: accepted("d") }, requestState: "1" },
      { ...PARAMS, inputResponses: { b: accepted("d") } },
      { ...PARAMS, requestState: "3" },
    ])
  })

  it("is nothing of another call", async () => {
    const servers = ["one", "two"].map((state) =>
      serverOf(asks({ inputRequests: { k: FORM }, requestState: state }), DONE),
    )
    await Promise.all(servers.map(({ next }, index) => run(saying(`day ${index}`), next).result))
    expect(servers.map((server) => server.params()[1])).toStrictEqual([
      { ...PARAMS, inputResponses: { k: accepted("day 0") }, requestState: "one" },
      { ...PARAMS, inputResponses: { k: accepted("day 1") }, requestState: "two" },
    ])
  })

  it("asks all of its questions at once, in the name of the call", async () => {
    const contexts: HandlerContext[] = []
    const answers: (() => void)[] = []
    const elicit = (_question: unknown, context: HandlerContext) => {
      contexts.push(context)
      return new Promise<{ action: "decline" }>((resolve) => answers.push(() => resolve({ action: "decline" })))
    }
    const { result } = run({ elicit }, serverOf(asks({ inputRequests: { a: FORM, b: FORM } }), DONE).next)
    await vi.waitFor(() => expect(contexts).toHaveLength(2))
    expect(contexts).toMatchObject([
      { askedBy: "book", assigns: { of: "call" } },
      { askedBy: "book", assigns: { of: "call" } },
    ])
    for (const answer of answers) answer()
    expect(await result).toBe(DONE)
  })

  it.each(["prompts/get", "resources/read"])("may be asked by %s, too", async (method) => {
    const server = serverOf(asks({ requestState: "s" }), DONE)
    expect(await run({}, server.next, { method }).result).toBe(DONE)
  })

  it("sends a declined question as an answer", async () => {
    const server = serverOf(asks({ inputRequests: { k: FORM } }), DONE)
    await run({ elicit: () => ({ action: "decline" }) }, server.next).result
    expect(server.params()[1]).toMatchObject({ inputResponses: { k: { action: "decline" } } })
  })

  it("stops the clock of a request that is on its way, and starts it for the next", async () => {
    const { clock, call } = openCall()
    const running: boolean[] = []
    const answerer = answererOf({
      elicit: () => {
        running.push(clock.isRunning)
        return { action: "decline" }
      },
    })
    const server = serverOf(asks({ inputRequests: { a: FORM, b: FORM } }), () => {
      running.push(clock.isRunning)
      return DONE
    })
    const stage = createInput({ answerer, limits: { maxRounds: 1 }, revision: () => revisionOf("2026-07-28") })
    await stage(call, { params: PARAMS, headers: undefined, isRepeatable: false, timeoutMs: 1 }, server.next)
    expect(running).toEqual([false, false, true])
  })
})

describe("the number of rounds", () => {
  it("is bounded, and the error names the bound", async () => {
    const server = serverOf(asks({ requestState: "again" }))
    const error = await errorOf(run({}, server.next, { maxRounds: 2 }).result)
    expect(error).toMatchObject({ kind: "protocol", reason: "too_many_rounds" })
    expect(error.message).toBe('tools/call "book": the server asked in 2 rounds (limits.maxRounds) and asks again')
    expect(server.sent).toHaveLength(3)
  })

  it("may be reached", async () => {
    const again = asks({ requestState: "again" })
    expect(await run({}, serverOf(again, again, DONE).next, { maxRounds: 2 }).result).toBe(DONE)
  })
})

describe("a round that must not be answered", () => {
  it.each<[what: string, members: JsonObject, reason: string, message: string]>([
    ["neither questions nor a state", {}, "invalid_result", '"inputRequests" and "requestState" are both missing'],
    ["a state that is no text", { requestState: { a: 1 } }, "invalid_result", '"requestState" must be a string'],
    [
      "a state that is null",
      { inputRequests: {}, requestState: null },
      "invalid_result",
      '"requestState" must be a string',
    ],
    ["a list of questions", { inputRequests: [FORM] }, "invalid_result", '"inputRequests" must be an object'],
    [
      "null for questions",
      { inputRequests: null, requestState: "s" },
      "invalid_result",
      '"inputRequests" must be an object',
    ],
    ["a question that is no object", { inputRequests: { k: "?" } }, "invalid_result", 'question "k" is no request'],
    ["a question without a method", { inputRequests: { k: {} } }, "invalid_result", 'question "k" is no request'],
    [
      "a question with a list of params",
      { inputRequests: { k: { method: "roots/list", params: [] } } },
      "invalid_result",
      'question "k" is no request',
    ],
    [
      "a form that is none",
      { inputRequests: { k: { method: "elicitation/create", params: { message: "?" } } } },
      "invalid_result",
      'question "k" cannot be answered: Invalid params: "requestedSchema" must be a schema of "type": "object"',
    ],
    [
      "a page that is no web page",
      {
        inputRequests: {
          k: { method: "elicitation/create", params: { mode: "url", message: "?", url: "javascript:a()" } },
        },
      },
      "invalid_result",
      'question "k" cannot be answered: Invalid params: "url" must be an http: or https: URL without a user name, not javascript:a()',
    ],
    [
      "a method that was not declared",
      { inputRequests: { k: SAMPLE } },
      "unexpected_question",
      'question "k" cannot be answered: Method not found: the client did not declare that it answers sampling/createMessage',
    ],
    [
      "a method that is no question",
      { inputRequests: { k: { method: "ping" } } },
      "unexpected_question",
      'question "k" cannot be answered: Method not found: the client did not declare that it answers ping',
    ],
  ])("fails the call: one with %s", async (_what, members, reason, message) => {
    const elicit = vi.fn()
    const roots = vi.fn(() => [])
    const { inputRequests } = members
    const all = typeof inputRequests === "object" && inputRequests !== null && !Array.isArray(inputRequests)
    const asked = all ? { ...members, inputRequests: { first: ROOTS, ...inputRequests } } : members
    const server = serverOf(asks(Object.keys(inputRequests ?? {}).length > 0 ? asked : members))
    const error = await errorOf(run({ elicit, roots }, server.next).result)
    expect(error).toMatchObject({ kind: "protocol", reason, message: `tools/call "book": ${message}` })
    expect(server.sent).toHaveLength(1)
    expect(elicit).not.toHaveBeenCalled()
    expect(roots).not.toHaveBeenCalled()
  })

  it("fails the call: one with a kind of question that was not declared", async () => {
    const page = { method: "elicitation/create", params: { mode: "url", message: "?", url: "https://example.com" } }
    const server = serverOf(asks({ inputRequests: { k: page } }))
    const error = await errorOf(run(saying("d"), server.next, { elicitation: ["form"] }).result)
    expect(error.reason).toBe("unexpected_question")
    expect(server.sent).toHaveLength(1)
  })

  it.each(["tools/list", "server/discover", "completion/complete", "unknown/method"])(
    "fails the call: one of %s",
    async (method) => {
      const server = serverOf(asks({ requestState: "s" }))
      const error = await errorOf(run(saying("d"), server.next, { method, params: {} }).result)
      expect(error).toMatchObject({ kind: "protocol", reason: "invalid_result" })
      expect(error.message).toBe(`${method}: the server asks for input, which this method does not know`)
      expect(server.sent).toHaveLength(1)
    },
  )
})

describe("a handler that fails", () => {
  it.each<[what: string, elicit: () => Promise<never>, expected: object]>([
    [
      "with any error: kind validation, with the error as its cause",
      () => Promise.reject(new Error("no screen")),
      {
        kind: "validation",
        reason: "invalid_answer",
        message: "handlers.elicit failed: no screen",
        cause: { message: "no screen" },
      },
    ],
    [
      "with an error of the library: that error",
      () => Promise.reject(new McpError("rejected", { kind: "protocol", reason: "jsonrpc", code: -1 })),
      { kind: "protocol", code: -1, message: "rejected" },
    ],
    [
      "with an error of another kind: that error",
      () => Promise.reject(new McpError("slow", { kind: "timeout", reason: "request_timeout" })),
      { kind: "timeout", reason: "request_timeout" },
    ],
  ])("ends the call %s", async (_what, elicit, expected) => {
    const server = serverOf(asks({ inputRequests: { k: FORM } }))
    expect(await errorOf(run({ elicit }, server.next).result)).toMatchObject(expected)
    expect(server.sent).toHaveLength(1)
  })

  it("ends the call when it answers what the form does not allow", async () => {
    const elicit = () => ({ action: "accept" as const, content: { day: 1 } })
    const error = await errorOf(run({ elicit }, serverOf(asks({ inputRequests: { k: FORM } })).next).result)
    expect(error).toMatchObject({ kind: "validation", reason: "invalid_answer" })
    expect(error.message).toBe("handlers.elicit answered what the form does not allow: day: must be of type string")
  })

  it("lets go of the other questions of the round", async () => {
    let signal: AbortSignal | undefined
    const handlers: Handlers = {
      elicit: (_question, context) => {
        signal = context.signal
        return new Promise(() => {})
      },
      roots: () => Promise.reject(new Error("no")),
    }
    const { result } = run(handlers, serverOf(asks({ inputRequests: { a: FORM, b: ROOTS } })).next)
    expect(await errorOf(result)).toMatchObject({ reason: "invalid_answer", message: "handlers.roots failed: no" })
    expect(signal?.aborted).toBe(true)
  })

  it("is not asked more than limits.maxQuestions allow at once", async () => {
    const server = serverOf(asks({ inputRequests: { a: FORM, b: FORM } }))
    const elicit = () => new Promise<never>(() => {})
    const error = await errorOf(run({ elicit }, server.next, { limits: { maxQuestions: 1 } }).result)
    expect(error).toMatchObject({ kind: "protocol", reason: "too_many_questions" })
    expect(server.sent).toHaveLength(1)
  })
})

describe("a call that is given up", () => {
  it("lets go of its questions, and nothing more is sent", async () => {
    let signal: AbortSignal | undefined
    const elicit: Handlers["elicit"] = (_question, context) => {
      signal = context.signal
      return new Promise(() => {})
    }
    const server = serverOf(asks({ inputRequests: { k: FORM } }), DONE)
    const { call, result } = run({ elicit }, server.next)
    await vi.waitFor(() => expect(signal).toBeDefined())
    call.fail(GIVEN_UP)
    expect(await errorOf(result)).toBe(GIVEN_UP)
    expect(signal?.reason).toBe(GIVEN_UP)
    expect(server.sent).toHaveLength(1)
  })

  it("sends nothing more, even when it is given up by the answer itself", async () => {
    const server = serverOf(asks({ inputRequests: { k: FORM } }), DONE)
    const started = run(
      {
        elicit: () => {
          started.call.fail(GIVEN_UP)
          return { action: "decline" }
        },
      },
      server.next,
    )
    expect(await errorOf(started.result)).toBe(GIVEN_UP)
    await new Promise((resolve) => setImmediate(resolve))
    expect(server.sent).toHaveLength(1)
  })
})
