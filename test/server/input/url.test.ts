/** Questions that send the user to a page. */
import { createServer, isSuspended, tool } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { accept, decline, legacyClient, modernCall, textOf } from "../../support/asking.js"
import { createManualClock } from "../../support/clock.js"
import { link } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"
import { type Json, legacyRequest } from "../../support/wire.js"

type Handler = Parameters<typeof tool>[2]

const pay = (id: string): string => `https://pay.example.com/?id=${id}`

function subject(handler: Handler, clock = createManualClock()) {
  const logger = createRecordingLogger()
  const server = createServer({ name: "test", version: "1.0.0", logger, tools: [tool("subject", {}, handler)] })
  const raw = link(server, { clock })
  return { clock, server, raw, call: modernCall(raw.request, { name: "subject" }) }
}

const idOf = (url: unknown): string => new URL(String(url)).searchParams.get("id") ?? ""

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe("a page in the modern era", () => {
  it("is sent with its mode, message and URL, and no id beside it", async () => {
    const { call } = subject(async (_, ctx) => {
      await ctx.elicitUrl("Pay", pay)
      return "done"
    })
    const { asked } = await call.round()
    expect(asked).toEqual([
      {
        key: "q1",
        method: "elicitation/create",
        params: {
          mode: "url",
          message: "Pay",
          url: expect.stringMatching(/^https:\/\/pay\.example\.com\/\?id=[\w-]{22}$/),
        },
      },
    ])
  })

  it("has one id over all rounds, and another in another call", async () => {
    const urls: string[] = []
    const { call } = subject(async (_, ctx) => {
      await ctx.elicitUrl("Pay", (id) => {
        urls.push(pay(id))
        return pay(id)
      })
      await ctx.elicitUrl("Pay again", pay)
      return "done"
    })
    const rounds = await call.run(() => accept())
    expect(textOf(rounds.at(-1)?.result)).toBe("done")
    expect(urls).toHaveLength(3)
    expect(new Set(urls).size).toBe(1)
    expect(rounds[1]?.asked[0]?.params["url"]).not.toBe(urls[0])
    await call.round()
    expect(new Set(urls).size).toBe(2)
  })

  it("has an id of its own beside others that are asked together, in whatever order they are answered", async () => {
    const { call } = subject(async (_, ctx) => {
      await Promise.all(["a", "b"].map((key) => ctx.elicitUrl(key, pay, { key })))
      return "done"
    })
    const first = await call.round()
    const [a, b] = first.asked.map(({ params }) => idOf(params["url"]))
    expect(a).not.toBe(b)
    const second = await call.round({ state: first.state, answers: { b: accept() } })
    expect(second.asked.map(({ key, params }) => [key, idOf(params["url"])])).toEqual([["a", a]])
    expect(textOf((await call.round({ state: second.state, answers: { a: accept() } })).result)).toBe("done")
  })

  it("is asked again under its key and id as long as it is accepted and not done", async () => {
    let paid = false
    const ids: string[] = []
    const done = (id: string): Promise<boolean> => {
      ids.push(id)
      return Promise.resolve(paid)
    }
    const { call } = subject(async (_, ctx) => (await ctx.elicitUrl("Pay", pay, { done })).action)
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { q1: accept() } })
    expect(second.asked).toEqual(first.asked)
    paid = true
    expect(textOf((await call.round({ state: second.state, answers: { q1: accept() } })).result)).toBe("accept")
    const id = idOf(first.asked[0]?.params["url"])
    expect(ids).toEqual([id, id])
  })

  it.each([["decline"], ["cancel"]])("is not asked again after %s", async (action) => {
    const { call } = subject(async (_, ctx) => (await ctx.elicitUrl("Pay", pay, { done: () => false })).action)
    const { state } = await call.round()
    expect(textOf((await call.round({ state, answers: { q1: { action } } })).result)).toBe(action)
  })

  it("fails with the error of done()", async () => {
    const { call } = subject(async (_, ctx) => {
      const done = (): boolean => {
        throw new Error("no bank")
      }
      return ctx.elicitUrl("Pay", pay, { done }).then(
        () => "done",
        (error: Error) => {
          if (isSuspended(error)) throw error
          return error.message
        },
      )
    })
    const { state } = await call.round()
    expect(textOf((await call.round({ state, answers: { q1: accept() } })).result)).toBe("no bank")
  })
})

describe("a page for a client of 2025-11-25", () => {
  it("is sent with the id that its URL was made for", async () => {
    const { raw } = subject(async (_, ctx) => (await ctx.elicitUrl("Pay", pay)).action)
    const client = await legacyClient(raw)
    const { asked, response } = await client.call("tools/call", { name: "subject" }, () => accept())
    const [{ params } = { params: {} as Json }] = asked
    expect(params).toEqual({ mode: "url", message: "Pay", url: expect.any(String), elicitationId: expect.any(String) })
    expect(idOf(params["url"])).toBe(params["elicitationId"])
    expect(textOf(response["result"] as Json)).toBe("accept")
  })

  it("is waited for until it is done, and server.elicitationComplete() tells the client", async () => {
    let paid = false
    const { raw, server } = subject(async (_, ctx) => (await ctx.elicitUrl("Pay", pay, { done: () => paid })).action)
    const client = await legacyClient(raw)
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    const question = await raw.next(({ method }) => method === "elicitation/create")
    raw.send({ jsonrpc: "2.0", id: question["id"], result: accept() })
    await settle()
    const { elicitationId } = question["params"] as { elicitationId: string }
    server.elicitationComplete("unknown")
    await settle()
    expect(raw.received.some(({ method }) => method === "notifications/elicitation/complete")).toBe(false)
    paid = true
    server.elicitationComplete(elicitationId)
    const answer = await client.link.next(({ id }) => id === 77)
    expect(textOf(answer["result"] as Json)).toBe("accept")
    expect(raw.received.filter(({ method }) => method === "notifications/elicitation/complete")).toEqual([
      { jsonrpc: "2.0", method: "notifications/elicitation/complete", params: { elicitationId } },
    ])
  })

  it("tells the session that was asked, and no other", async () => {
    const { server, raw } = subject(async (_, ctx) => (await ctx.elicitUrl("Pay", pay)).action)
    const other = link(server)
    await legacyClient(other)
    await legacyClient(raw)
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    const question = await raw.next(({ method }) => method === "elicitation/create")
    server.elicitationComplete((question["params"] as { elicitationId: string }).elicitationId)
    await raw.next(({ method }) => method === "notifications/elicitation/complete")
    expect(other.received.filter(({ method }) => method !== undefined)).toEqual([])
  })

  it("is looked at again by itself", async () => {
    let paid = false
    const clock = createManualClock()
    const { raw } = subject(async (_, ctx) => (await ctx.elicitUrl("Pay", pay, { done: () => paid })).action, clock)
    await legacyClient(raw)
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    const question = await raw.next(({ method }) => method === "elicitation/create")
    raw.send({ jsonrpc: "2.0", id: question["id"], result: accept() })
    await settle()
    paid = true
    clock.advance(1_000)
    expect(textOf((await raw.next(({ id }) => id === 77))["result"] as Json)).toBe("accept")
  })

  it("is waited for no longer than a question", async () => {
    const clock = createManualClock()
    let looked = 0
    const done = (): boolean => {
      looked++
      return false
    }
    const { raw } = subject(async (_, ctx) => (await ctx.elicitUrl("Pay", pay, { done })).action, clock)
    await legacyClient(raw)
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    const question = await raw.next(({ method }) => method === "elicitation/create")
    raw.send({ jsonrpc: "2.0", id: question["id"], result: accept() })
    await settle()
    clock.advance(15 * 60_000)
    expect(textOf((await raw.next(({ id }) => id === 77))["result"] as Json)).toContain("did not answer")
    await settle()
    const before = looked
    clock.advance(60_000)
    await settle()
    expect(looked).toBe(before)
  })

  it("is not waited for when it is declined", async () => {
    const { raw } = subject(async (_, ctx) => (await ctx.elicitUrl("Pay", pay, { done: () => false })).action)
    const client = await legacyClient(raw)
    const { response } = await client.call("tools/call", { name: "subject" }, () => decline)
    expect(textOf(response["result"] as Json)).toBe("decline")
  })
})

describe("a page for a client of 2025-06-18", () => {
  it("is a clear tool error", async () => {
    const { raw } = subject(async (_, ctx) => (await ctx.elicitUrl("Pay", pay)).action)
    const client = await legacyClient(raw, { version: "2025-06-18" })
    const { asked, response } = await client.call("tools/call", { name: "subject" }, () => accept())
    expect(asked).toEqual([])
    expect(response["result"]).toMatchObject({ isError: true })
    expect(textOf(response["result"] as Json)).toContain("2025-06-18")
  })
})

describe.each<[what: string, url: string, isTaken: boolean]>([
  ["https:", "https://example.com/a?b=c", true],
  ["http: on localhost", "http://localhost:3000/", true],
  ["http: on 127.0.0.1", "http://127.0.0.1:3000/", true],
  ["http: on [::1]", "http://[::1]:3000/", true],
  ["http: elsewhere", "http://example.com/", false],
  ["a name that looks like this machine", "http://localhost.example.com/", false],
  ["javascript:", "javascript:alert(1)", false],
  ["data:", "data:text/html,x", false],
  ["a path", "/pay", false],
  ["nothing", "", false],
  ["a user name", "https://ada@example.com/", false],
  ["a password", "https://:secret@example.com/", false],
])("a page at %s", (_, url, isTaken) => {
  it(isTaken ? "is sent" : "is a misuse", async () => {
    const errors: unknown[] = []
    const { call } = subject(async (__, ctx) => {
      await ctx
        .elicitUrl("Go", () => url)
        .catch((error: unknown) => {
          errors.push(error)
          if (isSuspended(error)) throw error
        })
      return "done"
    })
    const { asked } = await call.round()
    expect(asked).toHaveLength(isTaken ? 1 : 0)
    if (!isTaken) expect(errors).toMatchObject([{ kind: "misuse", reason: "invalid_option" }])
  })
})
