/** Calls that a server of 2025-11-25 refuses until the user has visited a page. */
import { describe, expect, it, vi } from "vitest"
import { toProtocolError } from "../../src/client/connection/outcome.js"
import type { AnswererParts } from "../../src/client/handler/answerer.js"
import type { ElicitAnswer, FormQuestion, Handlers, UrlQuestion } from "../../src/client/handler/handlers.js"
import { createInput } from "../../src/client/pipeline/input.js"
import type { Attempt, Next } from "../../src/client/pipeline/stage.js"
import { McpError } from "../../src/core/error/error.js"
import type { JsonObject, JsonValue } from "../../src/core/wire/message.js"
import { answererOf, errorOf, GIVEN_UP, openCall, revisionOf } from "./answering.js"

const DONE = { content: [] }
const page = (elicitationId?: string): JsonObject => ({
  mode: "url",
  message: "Sign in",
  url: `https://example.com/${elicitationId ?? ""}`,
  ...(elicitationId === undefined ? {} : { elicitationId }),
})
const required = (elicitations: JsonValue) =>
  toProtocolError(
    { code: -32042, message: "This request requires more information.", data: { elicitations } },
    "tools/call",
  )

/** Runs one call against a server that gives each of the answers in turn. */
function run(
  handlers: Handlers,
  answers: readonly (McpError | JsonObject)[],
  options: Partial<AnswererParts> & { readonly version?: string } = {},
) {
  const { version = "2025-11-25" } = options
  const answerer = answererOf(handlers, options)
  const sent: Attempt[] = []
  const next: Next = async (_call, attempt) => {
    const answer = answers[sent.length]
    sent.push(attempt)
    if (McpError.is(answer)) throw answer
    return answer ?? DONE
  }
  const stage = createInput({ answerer, limits: { maxRounds: 1 }, revision: () => revisionOf(version) })
  const { call } = openCall()
  call.clock = undefined
  const attempt = { params: { name: "book" }, headers: undefined, isRepeatable: false, timeoutMs: 1_000 }
  const finish = (elicitationId: string) =>
    answerer.notice({ method: "notifications/elicitation/complete", params: { elicitationId } })
  return { call, sent, finish, attempt, result: call.run(() => stage(call, attempt, next)) }
}

/** Resolves after everything that can happen by itself has happened. */
const idle = () => new Promise<void>((resolve) => setImmediate(resolve))

const accept = (): ElicitAnswer => ({ action: "accept" })

describe("a call that needs a page", () => {
  it("asks the user, waits for the page to be finished with, and is sent once more as it was", async () => {
    const elicit = vi.fn((_question: FormQuestion | UrlQuestion): ElicitAnswer => accept())
    const { sent, finish, attempt, result } = run({ elicit }, [required([page("e1")]), DONE])
    await idle()
    expect(elicit.mock.calls.map(([question]) => question)).toEqual([
      { mode: "url", message: "Sign in", url: "https://example.com/e1", elicitationId: "e1", meta: undefined },
    ])
    expect(sent).toHaveLength(1)
    finish("e1")
    expect(await result).toBe(DONE)
    expect(sent).toEqual([attempt, attempt])
  })

  it("waits for all of its pages, in whichever order they are finished with", async () => {
    const { sent, finish, result } = run({ elicit: accept }, [required([page("e1"), page("e2")]), DONE])
    await idle()
    finish("e2")
    await idle()
    expect(sent).toHaveLength(1)
    finish("e1")
    expect(await result).toBe(DONE)
  })

  it("does not wait for a page that was finished with before the user said so", async () => {
    const started = run(
      {
        elicit: () => {
          started.finish("e1")
          return accept()
        },
      },
      [required([page("e1")]), DONE],
    )
    expect(await started.result).toBe(DONE)
  })

  it("is sent again at once when the page has no id", async () => {
    expect(await run({ elicit: accept }, [required([page()]), DONE]).result).toBe(DONE)
  })

  it("is not sent a third time", async () => {
    const second = required([page()])
    const { sent, result } = run({ elicit: accept }, [required([page()]), second, DONE])
    expect(await errorOf(result)).toBe(second)
    expect(sent).toHaveLength(2)
  })

  it("gets the error of the server when a page is not visited, and the pages after it are not shown", async () => {
    const elicit = vi.fn(
      (_question: unknown): ElicitAnswer => ({ action: elicit.mock.calls.length === 1 ? "accept" : "decline" }),
    )
    const error = required([page("e1"), page("e2"), page("e3")])
    const { sent, result } = run({ elicit }, [error])
    const failed = await errorOf(result)
    expect(failed).toBe(error)
    expect(failed).toMatchObject({
      reason: "url_required",
      code: -32042,
      data: { elicitations: [page("e1"), page("e2"), page("e3")] },
    })
    expect(elicit).toHaveBeenCalledTimes(2)
    expect(sent).toHaveLength(1)
  })

  it("gets the error of the server when the handler fails", async () => {
    const error = required([page()])
    expect(await errorOf(run({ elicit: () => Promise.reject(new Error("no")) }, [error]).result)).toBe(error)
  })

  it.each<[what: string, options: Parameters<typeof run>[2], handlers: Handlers, elicitations: JsonValue]>([
    ["there is no handler", {}, {}, [page("e1")]],
    ["the handler shows no pages", { elicitation: ["form"] }, { elicit: accept }, [page("e1")]],
    ["the revision knows no pages", { version: "2025-06-18" }, { elicit: accept }, [page("e1")]],
    ["the revision asks in rounds", { version: "2026-07-28" }, { elicit: accept }, [page("e1")]],
    ["it names no pages", {}, { elicit: accept }, []],
    ["its pages are no list", {}, { elicit: accept }, "https://example.com"],
    [
      "one of its pages is a form",
      {},
      { elicit: accept },
      [page("e1"), { mode: "form", message: "?", requestedSchema: { type: "object" } }],
    ],
    [
      "one of its pages does not say that it is one",
      {},
      { elicit: accept },
      [{ message: "?", url: "https://example.com" }],
    ],
    [
      "one of its pages is no web page",
      {},
      { elicit: accept },
      [page("e1"), { ...page("e2"), url: "javascript:alert(1)" }],
    ],
    ["one of its pages is no object", {}, { elicit: accept }, [page("e1"), null]],
  ])("gets the error of the server as it is when %s", async (_what, options, handlers, elicitations) => {
    const elicit = vi.fn(accept)
    const error = required(elicitations)
    const { sent, result } = run(handlers.elicit === undefined ? {} : { elicit }, [error, DONE], options)
    expect(await errorOf(result)).toBe(error)
    expect(error.reason).toBe("url_required")
    expect(elicit).not.toHaveBeenCalled()
    expect(sent).toHaveLength(1)
  })

  it("stops waiting when it is given up, and nothing more is sent", async () => {
    const { call, sent, finish, result } = run({ elicit: accept }, [required([page("e1")]), DONE])
    await idle()
    call.fail(GIVEN_UP)
    expect(await errorOf(result)).toBe(GIVEN_UP)
    finish("e1")
    await idle()
    expect(sent).toHaveLength(1)
  })

  it("does not take another call's completion for its own", async () => {
    const { sent, finish, call, result } = run({ elicit: accept }, [required([page("e1")]), DONE])
    await idle()
    finish("e2")
    await idle()
    expect(sent).toHaveLength(1)
    call.fail(GIVEN_UP)
    await errorOf(result)
  })
})
