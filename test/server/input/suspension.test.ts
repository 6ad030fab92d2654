/** A run that waits for its client is over: what it may still do, and who is told when it does not let go. */
import { createServer, isSuspended, tool } from "conduit-mcp"
import { serve } from "conduit-mcp/node"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { accept, modernCall, textOf } from "../../support/asking.js"
import { postModern } from "../../support/http.js"
import { link } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"
import { modernHeaders, modernRequest } from "../../support/wire.js"

type Handler = Parameters<typeof tool>[2]
type Ctx = Parameters<Handler>[1]

const name = z.object({ name: z.string() })
const ada = accept({ name: "Ada" })

function subject(handler: Handler) {
  const logger = createRecordingLogger()
  const server = createServer({ name: "test", version: "1.0.0", logger, tools: [tool("subject", {}, handler)] })
  const raw = link(server)
  const swallowed = (): readonly unknown[] =>
    logger.lines.filter(({ fields }) => fields?.["event"] === "server.suspension_swallowed")
  return { logger, raw, swallowed, call: modernCall(raw.request, { name: "subject", arguments: {} }) }
}

/** Runs a handler to its first question; resolves with what `look` sees in the `catch` around it, once the handler is done. */
async function inDeadRun<T>(
  look: (ctx: Ctx, error: unknown) => T | Promise<T>,
  before?: (ctx: Ctx) => void,
): Promise<T> {
  let done: (seen: T) => void
  const seen = new Promise<T>((resolve) => {
    done = resolve
  })
  const { call } = subject(async (_, ctx) => {
    before?.(ctx)
    try {
      await ctx.elicit("Who?", name)
    } catch (error) {
      done(await look(ctx, error))
      throw error
    }
    return "done"
  })
  expect((await call.round()).asked).toHaveLength(1)
  return seen
}

/** Lets everything that is due happen. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setImmediate(resolve))
}

describe("a run that is over", () => {
  it("is told so by the error of every open question, which isSuspended() knows", async () => {
    const errors: unknown[] = []
    const { call } = subject(async (_, ctx) => {
      const questions = ["a", "b", "c"].map((key) => ctx.elicit(key, name, { key }))
      for (const question of questions) question.catch((error: unknown) => errors.push(error))
      await Promise.all(questions)
      return "done"
    })
    await call.round()
    await settle()
    expect(errors).toHaveLength(3)
    expect(errors.every(isSuspended)).toBe(true)
    expect(new Set(errors).size).toBe(1)
    expect([new Error("other"), undefined, "text", {}].some(isSuspended)).toBe(false)
  })

  it("says that it is suspended, and did not before", async () => {
    let before: boolean | undefined
    const after = await inDeadRun(
      (ctx) => ctx.suspended,
      (ctx) => {
        before = ctx.suspended
      },
    )
    expect([before, after]).toEqual([false, true])
  })

  it("has a signal that is aborted with the same error, listened to before or not", async () => {
    let early: AbortSignal | undefined
    const [reason, error] = await inDeadRun(
      (ctx, thrown) => [ctx.signal.reason as unknown, thrown],
      (ctx) => {
        early = ctx.signal
      },
    )
    expect(reason).toBe(error)
    expect(early?.aborted).toBe(true)
    expect(early?.reason).toBe(error)
    const late = await inDeadRun((ctx, thrown) => ctx.signal.aborted && ctx.signal.reason === thrown)
    expect(late).toBe(true)
  })

  it("does not run the function of ctx.once", async () => {
    let ran = 0
    const error = await inDeadRun((ctx) => ctx.once("effect", () => ++ran).catch((thrown: unknown) => thrown))
    expect(isSuspended(error)).toBe(true)
    expect(ran).toBe(0)
  })

  it.each<[what: string, ask: (ctx: Ctx) => Promise<unknown>]>([
    ["elicit", (ctx) => ctx.elicit("Who?", name)],
    ["elicitUrl", (ctx) => ctx.elicitUrl("Go", () => "https://example.com/")],
    ["sample", (ctx) => ctx.sample({ messages: [], maxTokens: 1 })],
    ["roots", (ctx) => ctx.roots()],
  ])("rejects ctx.%s with the same error", async (_, ask) => {
    const [again, error] = await inDeadRun(async (ctx, thrown) => [
      await ask(ctx).catch((rejection: unknown) => rejection),
      thrown,
    ])
    expect(again).toBe(error)
  })

  it("sends neither progress nor log", async () => {
    const { raw } = subject(async (_, ctx) => {
      ctx.progress(1)
      ctx.log.error("before")
      try {
        await ctx.elicit("Who?", name)
      } finally {
        ctx.progress(2)
        ctx.log.error("after")
      }
      return "done"
    })
    const message = modernRequest(1, "tools/call", {
      name: "subject",
      _meta: {
        progressToken: "p",
        "io.modelcontextprotocol/logLevel": "debug",
        "io.modelcontextprotocol/clientCapabilities": { elicitation: {} },
      },
    })
    await raw.request(message)
    await settle()
    expect(raw.received.map(({ method }) => method)).toEqual([
      "notifications/progress",
      "notifications/message",
      undefined,
    ])
  })

  it("still runs finally, which is for things of this run", async () => {
    let opened = 0
    let closed = 0
    const { call } = subject(async (_, ctx) => {
      opened++
      try {
        const who = await ctx.elicit("Who?", name)
        return `Hello ${who.content?.name}`
      } finally {
        closed++
      }
    })
    expect(textOf((await call.run(() => ada)).at(-1)?.result)).toBe("Hello Ada")
    expect([opened, closed]).toEqual([2, 2])
  })
})

describe("a handler that does not let the suspension through", () => {
  it.each<[what: string, handler: Handler]>([
    [
      "returns in catch",
      async (_, ctx) => {
        try {
          await ctx.elicit("Who?", name)
        } catch {
          return "swallowed"
        }
        return "done"
      },
    ],
    [
      "throws another error",
      async (_, ctx) => {
        await ctx.elicit("Who?", name).catch(() => {
          throw new Error("another")
        })
        return "done"
      },
    ],
    [
      "waits for all to settle",
      async (_, ctx) => {
        await Promise.allSettled([ctx.elicit("Who?", name)])
        return "done"
      },
    ],
  ])("is reported by its name, and the client is asked all the same, when it %s", async (_, handler) => {
    const { call, swallowed } = subject(handler)
    expect((await call.round()).asked).toHaveLength(1)
    await settle()
    expect(swallowed()).toMatchObject([
      { level: "warn", message: expect.stringContaining('tool "subject"'), fields: { handler: 'tool "subject"' } },
    ])
  })

  it.each<[what: string, handler: Handler]>([
    [
      "as it is",
      async (_, ctx) => {
        await ctx.elicit("Who?", name)
        return "done"
      },
    ],
    [
      "as the cause of its own error",
      async (_, ctx) => {
        try {
          await ctx.elicit("Who?", name)
        } catch (cause) {
          throw new Error("could not ask", { cause })
        }
        return "done"
      },
    ],
    [
      "among the errors of Promise.any",
      async (_, ctx) => {
        await Promise.any([ctx.elicit("Who?", name), ctx.elicit("Who else?", name)])
        return "done"
      },
    ],
    [
      "through the signal",
      async (_, ctx) => {
        void ctx.elicit("Who?", name)
        await new Promise((__, reject) => {
          ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason as Error))
        })
        return "done"
      },
    ],
    [
      "where isSuspended() says so",
      async (_, ctx) => {
        try {
          await ctx.elicit("Who?", name)
        } catch (error) {
          if (isSuspended(error)) throw error
          return "another error"
        }
        return "done"
      },
    ],
  ])("is not one that passes it on %s", async (_, handler) => {
    const { call, swallowed } = subject(handler)
    expect((await call.round()).asked.length).toBeGreaterThan(0)
    await settle()
    expect(swallowed()).toEqual([])
  })

  it("can neither ask nor run ctx.once", async () => {
    let ran = 0
    let asked = 0
    const { call, raw } = subject(async (_, ctx) => {
      for (let time = 0; time < 3; time++) {
        await ctx.elicit("Who?", name).catch(() => asked++)
        await ctx.once("effect", () => ++ran).catch(() => {})
      }
      return "swallowed"
    })
    expect((await call.round()).asked.map(({ key }) => key)).toEqual(["q1"])
    await settle()
    expect([ran, asked]).toEqual([0, 3])
    expect(raw.received).toHaveLength(1)
  })

  it("comes to the same answer as one that does", async () => {
    const { call } = subject(async (_, ctx) => {
      let who = "nobody"
      try {
        who = (await ctx.elicit("Who?", name)).content?.name ?? "nobody"
      } catch {
        who = "swallowed"
      }
      return `Hello ${who}`
    })
    const rounds = await call.run(() => ada)
    expect(rounds.map(({ asked }) => asked.length)).toEqual([1, 0])
    expect(textOf(rounds.at(-1)?.result)).toBe("Hello Ada")
  })
})

describe("a question that nobody awaits", () => {
  it("raises no unhandled rejection, and the run may end without it", async () => {
    const { call } = subject((_, ctx) => {
      void ctx.elicit("Who?", name)
      return "done at once"
    })
    expect(textOf((await call.round()).result)).toBe("done at once")
    await settle()
  })

  it("is answered once only, by the handler's return", async () => {
    const { call, raw } = subject((_, ctx) => {
      void ctx.elicit("Who?", name)
      void ctx.elicit("Who?", name)
      void ctx.once("effect", () => 1)
      return "done at once"
    })
    await call.round()
    await settle()
    expect(raw.received).toHaveLength(1)
  })

  it("raises none in a longer run either, which it ends", async () => {
    const { call } = subject(async (_, ctx) => {
      void ctx.elicit("Who?", name)
      await new Promise((resolve) => ctx.signal.addEventListener("abort", resolve))
      await ctx.once("late", () => 1)
      return "done"
    })
    expect((await call.round()).asked).toHaveLength(1)
    await settle()
  })
})

describe("ctx.onEnd", () => {
  it("frees when the call ends, and in no earlier round, last made first", async () => {
    const freed: string[] = []
    const { call } = subject(async (_, ctx) => {
      ctx.onEnd(() => freed.push("first"))
      ctx.onEnd(async () => {
        await settle()
        freed.push("second")
      })
      await ctx.elicit("Who?", name)
      await ctx.elicit("Who else?", name)
      return "done"
    })
    const first = await call.round()
    await settle()
    const second = await call.round({ state: first.state, answers: { q1: ada } })
    await settle()
    expect(freed).toEqual([])
    await call.round({ state: second.state, answers: { q2: ada } })
    expect(freed).toEqual(["second", "first"])
  })

  it.each<[what: string, end: () => unknown]>([
    ["returns at once", () => "done"],
    [
      "throws",
      () => {
        throw new Error("broken")
      },
    ],
    ["rejects", () => Promise.reject(new Error("broken"))],
  ])("frees when the handler %s", async (_, end) => {
    let freed = 0
    const { call } = subject((__, ctx) => {
      ctx.onEnd(() => ++freed)
      return end() as string
    })
    await call.round()
    expect(freed).toBe(1)
  })

  it("frees nothing while the same round may come again with another answer", async () => {
    const freed: string[] = []
    const { call } = subject(async (_, ctx) => {
      const hold = await ctx.once("hold", () => "table 5")
      ctx.onEnd(() => freed.push(hold))
      const { content } = await ctx.elicit("Sure?", z.object({ yes: z.boolean() }))
      return `${hold} ${content?.yes}`
    })
    const { state } = await call.round()
    const wrong = await call.round({ state, answers: { q1: accept({ yes: "perhaps" }) } })
    expect(wrong.error).toMatchObject({ code: -32602 })
    await settle()
    expect(freed).toEqual([])
    const last = await call.round({ state, answers: { q1: accept({ yes: true }) } })
    expect(textOf(last.result)).toBe("table 5 true")
    expect(freed).toEqual(["table 5"])
  })

  it("frees nothing when the connection of a later round breaks: the round may be sent again", async () => {
    const freed: string[] = []
    let times = 0
    const handler: Handler = async (_, ctx) => {
      const { content } = await ctx.elicit("Who?", name)
      const hold = await ctx.once("hold", () => `table ${++times}`)
      ctx.onEnd(() => freed.push(hold))
      const { signal } = ctx
      if (!interrupted) {
        interrupted = true
        started()
        await new Promise((__, reject) => signal.addEventListener("abort", () => reject(signal.reason as Error)))
      }
      return `${hold} for ${content?.name}`
    }
    let interrupted = false
    let started = (): void => {}
    const running = new Promise<void>((resolve) => {
      started = resolve
    })
    const logger = createRecordingLogger()
    const server = createServer({ name: "test", version: "1.0.0", logger, tools: [tool("subject", {}, handler)] })
    const { url, close } = await serve(server, { port: 0 })
    try {
      const call = modernCall(async (message) => (await postModern(url, message)).json, { name: "subject" })
      const { state } = await call.round()
      const controller = new AbortController()
      const broken = modernCall(
        async (message) => {
          const headers = {
            "content-type": "application/json",
            accept: "application/json, text/event-stream",
            ...modernHeaders(message),
          }
          await fetch(url, { method: "POST", headers, body: JSON.stringify(message), signal: controller.signal })
          return {}
        },
        { name: "subject" },
      ).round({ state, answers: { q1: ada } })
      await running
      controller.abort()
      await expect(broken).rejects.toThrow()
      await expect.poll(() => freed.length + Number(interrupted)).toBe(1)
      const last = await call.round({ state, answers: { q1: ada } })
      expect(textOf(last.result)).toBe("table 1 for Ada")
      expect(freed).toEqual(["table 1"])
    } finally {
      await close()
    }
  })

  it("frees when the call is cancelled", async () => {
    let freed = 0
    const { raw } = subject(async (_, ctx) => {
      ctx.onEnd(() => ++freed)
      await new Promise((__, reject) => {
        ctx.signal.addEventListener("abort", () => reject(ctx.signal.reason as Error))
      })
      return "done"
    })
    raw.send(modernRequest(1, "tools/call", { name: "subject" }))
    await settle()
    raw.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
    await expect.poll(() => freed).toBe(1)
  })

  it("may use what ctx.once gave", async () => {
    const freed: unknown[] = []
    const { call } = subject(async (_, ctx) => {
      await ctx.once("hold", () => "table 5")
      ctx.onEnd(async () => freed.push(await ctx.once("hold", () => "another")))
      return "done"
    })
    await call.round()
    expect(freed).toEqual(["table 5"])
  })

  it("is told to the log when it fails, and spoils nothing", async () => {
    const freed: string[] = []
    const { call, logger } = subject((_, ctx) => {
      ctx.onEnd(() => freed.push("first"))
      ctx.onEnd(() => {
        throw new Error("broken")
      })
      return "done"
    })
    expect(textOf((await call.round()).result)).toBe("done")
    expect(freed).toEqual(["first"])
    expect(logger.lines).toMatchObject([{ level: "error", message: expect.stringContaining("ctx.onEnd") }])
  })
})

describe("a call that is cancelled while it is being answered with questions", () => {
  it("is not answered any more", async () => {
    const { raw } = subject(async (_, ctx) => {
      ctx.signal.addEventListener("abort", () => {
        raw.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } })
      })
      await ctx.elicit("Who?", name)
      return "done"
    })
    const meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } }
    raw.send(modernRequest(7, "tools/call", { name: "subject", _meta: meta }))
    await settle()
    expect((await raw.modern("tools/list"))["result"]).toBeDefined()
    await settle()
    expect(raw.received.filter(({ id }) => id === 7)).toEqual([])
  })
})
