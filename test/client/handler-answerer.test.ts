/** A question while the application has it: whose clocks stand still, who lets go of it, and what the server hears in the end. */
import { describe, expect, it, vi } from "vitest"
import { toProtocolError } from "../../src/client/connection/outcome.js"
import type { HandlerContext } from "../../src/client/handler/handlers.js"
import { McpError } from "../../src/core/error/error.js"
import type { Root } from "../../src/core/model/sampling.js"
import { answererOf, errorOf, factsOf, GIVEN_UP, openCall, told } from "./answering.js"

const ROOTS = { method: "roots/list", params: undefined }

/** A handler for roots that answers when it is told to, and what it was given. */
function waiting() {
  let settle: { resolve(roots: readonly Root[]): void; reject(error: unknown): void } | undefined
  let context: HandlerContext | undefined
  return {
    handlers: {
      roots: (given: HandlerContext) => {
        context = given
        return new Promise<readonly Root[]>((resolve, reject) => {
          settle = { resolve, reject }
        })
      },
    },
    answer: (roots: readonly Root[] = []) => settle?.resolve(roots),
    fail: (error: unknown) => settle?.reject(error),
    get context(): HandlerContext {
      if (context === undefined) throw new Error("the handler was not called")
      return context
    },
  }
}

describe("while a handler answers", () => {
  it("no clock of the calls that the question may belong to runs, and then all run again", async () => {
    const [one, two] = [openCall(), openCall("resources/read", { uri: "file:///a" })]
    const handler = waiting()
    const answer = answererOf(handler.handlers).answer(ROOTS, factsOf([one, two]))
    expect([one.clock.isRunning, two.clock.isRunning]).toEqual([false, false])
    handler.answer()
    expect(await answer).toEqual({ roots: [] })
    expect([one.clock.isRunning, two.clock.isRunning]).toEqual([true, true])
  })

  it("a clock stands still until the last question of its call is answered", async () => {
    const call = openCall()
    const [first, second] = [waiting(), waiting()]
    const one = answererOf(first.handlers).answer(ROOTS, factsOf([call]))
    const two = answererOf(second.handlers).answer(ROOTS, factsOf([call]))
    first.answer()
    await one
    expect(call.clock.isRunning).toBe(false)
    second.fail(new Error("no"))
    await errorOf(two)
    expect(call.clock.isRunning).toBe(true)
  })

  it("no clock stops for a question that is refused", async () => {
    const call = openCall()
    await errorOf(answererOf({}).answer(ROOTS, factsOf([call])))
    expect(call.clock.isRunning).toBe(true)
  })
})

describe("a handler is told", () => {
  it.each([
    ["who asks and with what the call was made, when the question belongs to one call", 1, "book", { of: "call" }],
    ["what the client was made with, when it may belong to several", 2, undefined, { of: "client" }],
    ["what the client was made with, when it belongs to none", 0, undefined, { of: "client" }],
  ])("%s", async (_what, count, askedBy, assigns) => {
    const roots = vi.fn((_context: HandlerContext) => [])
    const calls = Array.from({ length: count }, () => openCall())
    await answererOf({ roots }).answer(ROOTS, factsOf(calls))
    expect(roots).toHaveBeenCalledExactlyOnceWith(expect.objectContaining({ askedBy, assigns }))
  })
})

describe("a question is let go of", () => {
  const over = {
    kind: "protocol",
    code: -32603,
    reason: "internal_error",
    message: "Internal error: the question is no longer open",
  }

  it("when its server withdraws it, with the server's reason", async () => {
    const [call, handler, controller] = [openCall(), waiting(), new AbortController()]
    const answerer = answererOf(handler.handlers)
    const answer = answerer.answer(ROOTS, factsOf([call], "2025-11-25", controller.signal))
    controller.abort("changed my mind")
    expect(told(await errorOf(answer))).toEqual(over)
    expect(handler.context.signal).toMatchObject({ aborted: true, reason: "changed my mind" })
    expect(call.clock.isRunning).toBe(true)
    handler.fail(handler.context.signal.reason)
    await Promise.resolve()
    expect(answerer.logger.lines).toEqual([])
  })

  it("when its call is given up, with the error of the call", async () => {
    const [call, handler] = [openCall(), waiting()]
    const answer = answererOf(handler.handlers).answer(ROOTS, factsOf([call]))
    call.call.fail(GIVEN_UP)
    expect(told(await errorOf(answer))).toEqual(over)
    expect(handler.context.signal.reason).toBe(GIVEN_UP)
  })

  it("when the last of the calls that it may belong to is over, and one of them was given up", async () => {
    const [one, two, handler] = [openCall(), openCall(), waiting()]
    const answer = answererOf(handler.handlers).answer(ROOTS, factsOf([one, two]))
    one.call.fail(GIVEN_UP)
    expect(handler.context.signal.aborted).toBe(false)
    two.answer({})
    await two.done
    expect(told(await errorOf(answer))).toEqual(over)
    expect(handler.context.signal.reason).toBe(GIVEN_UP)
  })

  it("not when a call is answered: on a shared pipe the question may have nothing to do with it", async () => {
    const [call, handler] = [openCall(), waiting()]
    const answer = answererOf(handler.handlers).answer(ROOTS, factsOf([call]))
    call.answer({})
    await call.done
    expect(handler.context.signal.aborted).toBe(false)
    handler.answer()
    expect(await answer).toEqual({ roots: [] })
  })

  it("before anybody is asked, when it was withdrawn already", async () => {
    const roots = vi.fn()
    const answer = answererOf({ roots }).answer(ROOTS, factsOf([], "2025-11-25", AbortSignal.abort()))
    expect(told(await errorOf(answer))).toEqual(over)
    expect(roots).not.toHaveBeenCalled()
  })

  it("without leaving a listener behind, however it ends", async () => {
    const controller = new AbortController()
    const listens = vi.spyOn(controller.signal, "addEventListener")
    const leaves = vi.spyOn(controller.signal, "removeEventListener")
    await answererOf({ roots: () => [] }).answer(ROOTS, factsOf([], "2025-11-25", controller.signal))
    await errorOf(
      answererOf({ roots: () => Promise.reject(1) }).answer(ROOTS, factsOf([], "2025-11-25", controller.signal)),
    )
    expect(listens).toHaveBeenCalledTimes(2)
    expect(leaves).toHaveBeenCalledTimes(2)
  })
})

describe("a handler that fails", () => {
  const silent = {
    kind: "protocol",
    code: -32603,
    reason: "internal_error",
    message: "Internal error: the question could not be answered",
  }

  it.each([
    [
      "throws",
      () => {
        throw new Error("the key is hunter2")
      },
    ],
    ["rejects", () => Promise.reject(new Error("the key is hunter2"))],
    ["rejects with no error", () => Promise.reject("the key is hunter2")],
    [
      "answers what is no JSON",
      () => {
        const roots: unknown[] = []
        roots.push(roots)
        return roots
      },
    ],
  ])("tells the server nothing of why when it %s, and the application all of it", async (_what, roots) => {
    const answerer = answererOf({ roots: roots as () => readonly Root[] })
    const error = await errorOf(answerer.answer(ROOTS, factsOf()))
    expect(told(error)).toEqual(silent)
    expect(error.data).toBeUndefined()
    expect(error.cause).toMatchObject({ kind: "validation", reason: "invalid_answer" })
    expect(answerer.logger.lines).toMatchObject([
      {
        level: "error",
        message: "a question of the server was not answered",
        fields: { method: "roots/list", handler: "handlers.roots" },
      },
    ])
  })

  it("says what the server is told by an error of kind protocol with a code", async () => {
    const refusal = new McpError("User rejected sampling request", {
      kind: "protocol",
      reason: "jsonrpc",
      code: -1,
      data: { a: 1 },
    })
    const answerer = answererOf({ roots: () => Promise.reject(refusal) })
    expect(await errorOf(answerer.answer(ROOTS, factsOf()))).toBe(refusal)
    expect(answerer.logger.lines).toEqual([])
  })

  it.each([
    ["what another server answered", toProtocolError({ code: -32000, message: "for you only" }, "tools/call")],
    ["an error without a code", new McpError("private", { kind: "protocol", reason: "invalid_result" })],
    ["a code that is none", new McpError("private", { kind: "protocol", reason: "jsonrpc", code: 1.5 })],
    ["another kind of error", new McpError("private", { kind: "timeout", reason: "request_timeout" })],
  ])("does not pass on %s", async (_what, thrown) => {
    const error = await errorOf(answererOf({ roots: () => Promise.reject(thrown) }).answer(ROOTS, factsOf()))
    expect(told(error)).toEqual(silent)
    expect(error.cause).toBe(thrown)
  })
})

describe("the number of open questions", () => {
  it("is bounded; a handler that does not let go counts until it ends", async () => {
    const handler = waiting()
    const answerer = answererOf(handler.handlers, { limits: { maxQuestions: 1 } })
    const controller = new AbortController()
    const first = answerer.answer(ROOTS, factsOf([], "2025-11-25", controller.signal))
    controller.abort()
    await errorOf(first)
    expect(told(await errorOf(answerer.answer(ROOTS, factsOf())))).toEqual({
      kind: "protocol",
      code: -32603,
      reason: "too_many_questions",
      message: "Internal error: 1 questions are open already (limits.maxQuestions of the client)",
    })
    handler.answer()
    await vi.waitFor(async () => {
      const second = answerer.answer(ROOTS, factsOf())
      handler.answer()
      expect(await second).toEqual({ roots: [] })
    })
  })

  it("does not count pings, which are answered without asking anybody", async () => {
    const answerer = answererOf({}, { limits: { maxQuestions: 0 } })
    expect(await answerer.answer({ method: "ping", params: undefined }, factsOf())).toEqual({})
  })
})

it.each(["tools/call", "sampling/create", "", "__proto__"])(
  "a method that is no question is refused: %j",
  async (method) => {
    const error = await errorOf(answererOf({}).answer({ method, params: {} }, factsOf()))
    expect(error).toMatchObject({ kind: "protocol", code: -32601, reason: "unexpected_question" })
  },
)
