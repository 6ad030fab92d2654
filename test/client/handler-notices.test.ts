/** What a server says without asking: which handler hears it, and that nothing which a handler does harms anything. */
import { describe, expect, it, vi } from "vitest"
import type { JsonObject } from "../../src/core/wire/message.js"
import { answererOf, factsOf } from "./answering.js"

const page = (elicitationId: string) => ({
  method: "elicitation/create",
  params: { mode: "url", message: "?", url: "https://example.com/", elicitationId },
})
const completion = (elicitationId: unknown) => ({
  method: "notifications/elicitation/complete",
  params: { elicitationId } as JsonObject,
})

describe("a notification", () => {
  it.each<[method: string, params: JsonObject | undefined, handler: "log" | "changed", heard: unknown]>([
    [
      "notifications/message",
      { level: "info", logger: "db", data: { a: 1 } },
      "log",
      { level: "info", logger: "db", data: { a: 1 } },
    ],
    ["notifications/message", { level: "error", data: "x" }, "log", { level: "error", logger: undefined, data: "x" }],
    ["notifications/tools/list_changed", undefined, "changed", { list: "tools" }],
    ["notifications/prompts/list_changed", {}, "changed", { list: "prompts" }],
    ["notifications/resources/list_changed", { _meta: {} }, "changed", { list: "resources" }],
    ["notifications/resources/updated", { uri: "file:///a" }, "changed", { uri: "file:///a" }],
  ])("%s is heard", (method, params, handler, heard) => {
    const handlers = { log: vi.fn(), changed: vi.fn() }
    expect(answererOf(handlers).notice({ method, params })).toBe(true)
    expect(handlers[handler]).toHaveBeenCalledExactlyOnceWith(heard)
    expect(handlers[handler === "log" ? "changed" : "log"]).not.toHaveBeenCalled()
  })

  it.each<[what: string, method: string, params: JsonObject]>([
    ["a line of no level", "notifications/message", { data: "x" }],
    ["a line of an unknown level", "notifications/message", { level: "loud", data: "x" }],
    ["a resource without its URI", "notifications/resources/updated", {}],
    ["a page without its id", "notifications/elicitation/complete", {}],
  ])("that is not well formed is passed over: %s", (_what, method, params) => {
    const handlers = { log: vi.fn(), changed: vi.fn(), elicitationComplete: vi.fn() }
    expect(answererOf(handlers).notice({ method, params })).toBe(true)
    for (const handler of Object.values(handlers)) expect(handler).not.toHaveBeenCalled()
  })

  it("is not known when no handler could hear it", () => {
    const { notice } = answererOf({})
    expect(notice({ method: "notifications/message", params: { level: "info" } })).toBe(true)
    expect(notice({ method: "notifications/unheard_of", params: {} })).toBe(false)
    expect(notice({ method: "__proto__", params: {} })).toBe(false)
  })

  it.each([
    [
      "throws",
      () => {
        throw new Error("no")
      },
    ],
    ["rejects later", () => Promise.reject(new Error("no"))],
  ])("harms nothing when its handler %s: the application is told", async (_what, log) => {
    const answerer = answererOf({ log })
    expect(answerer.notice({ method: "notifications/message", params: { level: "info" } })).toBe(true)
    await Promise.resolve()
    expect(answerer.logger.lines).toMatchObject([
      { level: "error", message: "a handler failed", fields: { handler: "handlers.log", error: { message: "no" } } },
    ])
  })
})

describe("the completion of a page", () => {
  const accept = () => ({ action: "accept" as const })

  it("is heard once, for a page that the user was sent to", async () => {
    const elicitationComplete = vi.fn()
    const { answer, notice } = answererOf({ elicit: accept, elicitationComplete })
    await answer(page("e1"), factsOf())
    expect(notice(completion("e1"))).toBe(true)
    expect(notice(completion("e1"))).toBe(true)
    expect(elicitationComplete).toHaveBeenCalledExactlyOnceWith("e1")
  })

  it("is heard even while the user has not answered yet", async () => {
    const elicitationComplete = vi.fn()
    const answerer = answererOf({
      elicit: () => {
        answerer.notice(completion("e1"))
        return accept()
      },
      elicitationComplete,
    })
    await answerer.answer(page("e1"), factsOf())
    expect(elicitationComplete).toHaveBeenCalledExactlyOnceWith("e1")
  })

  it.each([
    ["of an id that nobody named", accept, "e2"],
    ["of a page that the user did not visit", () => ({ action: "decline" as const }), "e1"],
    ["of an id that is no text", accept, 1],
  ])("is ignored: one %s", async (_what, elicit, id) => {
    const elicitationComplete = vi.fn()
    const { answer, notice } = answererOf({ elicit, elicitationComplete })
    await answer(page("e1"), factsOf())
    expect(notice(completion(id))).toBe(true)
    expect(elicitationComplete).not.toHaveBeenCalled()
  })

  it("is forgotten for the oldest of very many pages", async () => {
    const elicitationComplete = vi.fn()
    const { answer, notice } = answererOf({ elicit: accept, elicitationComplete })
    for (let count = 0; count <= 1_000; count++) await answer(page(`e${count}`), factsOf())
    notice(completion("e0"))
    notice(completion("e1"))
    expect(elicitationComplete).toHaveBeenCalledExactlyOnceWith("e1")
  })
})
