/** Asking in the modern era: rounds, what a run repeats, and what comes in with it. */
import { createServer, fail, isSuspended, McpError, tool } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { accept, answersOf, byMessage, decline, modernCall, type Round, textOf } from "../../support/asking.js"
import { link } from "../../support/link.js"
import { createRecordingLogger, type RecordingLogger } from "../../support/logger.js"
import type { Json } from "../../support/wire.js"

type Handler = Parameters<typeof tool>[2]

/** One tool, `subject`, on a link. */
function subject(handler: Handler, logger: RecordingLogger = createRecordingLogger()) {
  const server = createServer({ name: "test", version: "1.0.0", logger, tools: [tool("subject", {}, handler)] })
  const raw = link(server)
  return { logger, raw, call: modernCall(raw.request, { name: "subject", arguments: {} }) }
}

const name = z.object({ name: z.string().min(2) })
const day = z.object({ day: z.iso.date() })
const ada = accept({ name: "Ada" })

describe("a question in the modern era", () => {
  it("is the answer of the call, of type input_required, with a state", async () => {
    const { call } = subject(async (_, ctx) => {
      await ctx.elicit("Who?", name)
      return "done"
    })
    const { result, response } = await call.round()
    expect(result).toEqual({
      resultType: "input_required",
      inputRequests: {
        q1: {
          method: "elicitation/create",
          params: {
            mode: "form",
            message: "Who?",
            requestedSchema: {
              type: "object",
              properties: { name: { type: "string", minLength: 2 } },
              required: ["name"],
            },
          },
        },
      },
      requestState: expect.stringMatching(/^[\w.-]+$/),
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "test", version: "1.0.0" } },
    })
    expect(response).not.toHaveProperty("error")
  })

  it("gets its answer when the call comes again, and what was answered before stays answered", async () => {
    const seen: unknown[] = []
    const { call } = subject(async (_, ctx) => {
      const who = await ctx.elicit("Who?", name)
      const when = await ctx.elicit("When?", day)
      seen.push(who, when)
      return "done"
    })
    const rounds = await call.run(byMessage({ "Who?": ada, "When?": accept({ day: "2026-12-01" }) }))
    expect(rounds.map(({ asked }) => asked.map(({ key }) => key))).toEqual([["q1"], ["q2"], []])
    expect(seen).toEqual([
      { action: "accept", content: { name: "Ada" } },
      { action: "accept", content: { day: "2026-12-01" } },
    ])
    expect(new Set(rounds.map(({ state }) => state)).size).toBe(3)
  })

  it.each([["decline"], ["cancel"]])("is answered by %s too, with content null or none", async (action) => {
    const seen: unknown[] = []
    const { call } = subject(async (_, ctx) => {
      seen.push(await ctx.elicit("Who?", name))
      return "done"
    })
    const { state } = await call.round()
    const last = await call.round({ state, answers: { q1: { action, content: null } } })
    expect(textOf(last.result)).toBe("done")
    expect(seen).toEqual([{ action }])
  })

  it("is a new question when it is asked again", async () => {
    const { call } = subject(async (_, ctx) => {
      let asked = 0
      for (;;) {
        asked++
        const { action } = await ctx.elicit("Who?", name)
        if (action === "accept") return `asked ${asked} times`
      }
    })
    const answers = [decline, { action: "cancel" }, ada]
    const rounds = await call.run(() => answers.shift())
    expect(rounds.map(({ asked }) => asked.map(({ key }) => key))).toEqual([["q1"], ["q2"], ["q3"], []])
    expect(textOf(rounds.at(-1)?.result)).toBe("asked 3 times")
  })

  it("costs one round together with those that are asked with it", async () => {
    const { call } = subject(async (_, ctx) => {
      const [who, when, where] = await Promise.all([
        ctx.elicit("Who?", name),
        ctx.elicit("When?", day),
        ctx.elicit("Where?", name, { key: "place" }),
      ])
      return `${who.content?.name} ${when.content?.day} ${where.content?.name}`
    })
    const rounds = await call.run(
      byMessage({ "Who?": ada, "When?": accept({ day: "2026-12-01" }), "Where?": accept({ name: "Oslo" }) }),
    )
    expect(rounds.map(({ asked }) => asked.map(({ key }) => key))).toEqual([["q1", "q2", "place"], []])
    expect(textOf(rounds.at(-1)?.result)).toBe("Ada 2026-12-01 Oslo")
  })

  it("costs one round with one that is asked some microtasks later, under a key", async () => {
    const { call } = subject(async (_, ctx) => {
      const first = ctx.elicit("Who?", name)
      for (let turn = 0; turn < 20; turn++) await undefined
      const second = ctx.elicit("When?", day, { key: "day" })
      await Promise.all([first, second])
      return "done"
    })
    expect((await call.round()).asked.map(({ key }) => key)).toEqual(["q1", "day"])
  })

  it("is a misuse, every time, in a later turn without a key", async () => {
    const errors: unknown[] = []
    const { call } = subject(async (_, ctx) => {
      const first = ctx.elicit("Who?", name)
      await undefined
      await undefined
      const second = ctx.elicit("When?", day)
      second.catch((error: unknown) => errors.push(error))
      await Promise.all([first, second])
      return "done"
    })
    for (let time = 0; time < 3; time++) {
      expect(textOf((await call.round()).result)).toMatch(/^Tool subject failed/)
    }
    expect(errors).toHaveLength(3)
    expect(errors.every((error) => McpError.is(error, "misuse") && error.reason === "ambiguous_question")).toBe(true)
  })

  it("may follow one that failed at once", async () => {
    const { call } = subject(async (_, ctx) => {
      await ctx.elicit("Who?", z.object({ deep: z.object({}) })).catch(() => {})
      await ctx.elicit("When?", day)
      return "done"
    })
    expect((await call.round()).asked).toMatchObject([{ params: { message: "When?" } }])
  })

  it("has no place in a method that may not ask", async () => {
    const errors: unknown[] = []
    const raw = link(
      createServer({
        name: "test",
        version: "1.0.0",
        logger: createRecordingLogger(),
        prompts: [],
        resources: [],
        handlers: {
          "tools/list": async (_, ctx) => {
            await ctx.elicit("Who?", name).catch((error: unknown) => errors.push(error))
            return { tools: [] }
          },
        },
      }),
    )
    await raw.modern("tools/list")
    expect(errors).toMatchObject([{ kind: "misuse" }])
  })
})

describe("a run that repeats what was answered", () => {
  it("ends with -32603 where a question is not the same as before; only the log names it", async () => {
    let text = "Who?"
    const { call, logger } = subject(async (_, ctx) => {
      await ctx.elicit(text, name, { key: "person" })
      await ctx.elicit("When?", day)
      return "done"
    })
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { person: ada } })
    expect(second.asked).toHaveLength(1)
    text = "Who is it?"
    const third = await call.round({ state: second.state, answers: { q1: accept({ day: "2026-12-01" }) } })
    expect(third.error).toMatchObject({ code: -32603, data: { reason: "replay_diverged" } })
    expect(JSON.stringify(third.response)).not.toContain("person")
    expect(logger.lines).toContainEqual(
      expect.objectContaining({ level: "error", fields: expect.objectContaining({ key: "person" }) }),
    )
  })

  it("cannot go on after that, whatever the handler catches", async () => {
    let text = "Who?"
    let ran = 0
    const { call } = subject(async (_, ctx) => {
      try {
        await ctx.elicit(text, name)
      } catch {
        await ctx.once("effect", () => ++ran)
      }
      return "swallowed"
    })
    const { state } = await call.round()
    text = "Who is it?"
    const { error } = await call.round({ state, answers: { q1: ada } })
    expect(error).toMatchObject({ code: -32603, data: { reason: "replay_diverged" } })
    expect(ran).toBe(0)
  })

  it("diverges by the schema and by the method of a question too", async () => {
    const questions = [
      (ctx: Parameters<Handler>[1]): Promise<unknown> => ctx.elicit("Who?", name, { key: "k" }),
      (ctx: Parameters<Handler>[1]): Promise<unknown> => ctx.elicit("Who?", day, { key: "k" }),
      (ctx: Parameters<Handler>[1]): Promise<unknown> => ctx.roots({ key: "k" }),
    ]
    let which = 0
    const { call } = subject(async (_, ctx) => {
      await questions[which]?.(ctx)
      return "done"
    })
    const { state } = await call.round()
    for (const other of [1, 2]) {
      which = other
      expect((await call.round({ state, answers: { k: ada } })).error?.data).toEqual({ reason: "replay_diverged" })
    }
  })

  it("takes what changes between rounds from ctx.once", async () => {
    let price = 10
    const { call } = subject(async (_, ctx) => {
      const fixed = await ctx.once("price", () => price++)
      const sure = await ctx.elicit(`It costs ${fixed}, buy?`, z.object({ yes: z.boolean() }))
      return `${sure.content?.yes} ${fixed}`
    })
    const rounds = await call.run(() => accept({ yes: true }))
    expect(rounds[0]?.asked).toMatchObject([{ params: { message: "It costs 10, buy?" } }])
    expect(textOf(rounds.at(-1)?.result)).toBe("true 10")
  })

  it("ignores recorded answers that nobody asks for any more", async () => {
    let asks = true
    const { call } = subject(async (_, ctx) => {
      if (asks) await ctx.elicit("Who?", name)
      await ctx.elicit("When?", day, { key: "day" })
      return "done"
    })
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { q1: ada } })
    asks = false
    const third = await call.round({ state: second.state, answers: { day: accept({ day: "2026-12-01" }) } })
    expect(textOf(third.result)).toBe("done")
  })

  it("checks a recorded answer again with the schema of the handler", async () => {
    let refuses = false
    const picky = z.object({ name: z.string().refine(() => !refuses, "not any more") })
    const { call } = subject(async (_, ctx) => {
      await ctx.elicit("Who?", picky)
      await ctx.elicit("When?", day)
      return "done"
    })
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { q1: ada } })
    refuses = true
    const third = await call.round({ state: second.state, answers: { q2: accept({ day: "2026-12-01" }) } })
    expect(third.error).toMatchObject({ code: -32602, data: { reason: "invalid_answer", key: "q1" } })
  })

  it("sends no log line again, and progress of its own", async () => {
    const { call, raw } = subject(async (_, ctx) => {
      ctx.log.info("one")
      ctx.progress(1)
      await ctx.elicit("Who?", name)
      ctx.log.info("two")
      await ctx.once("step", () => 1)
      ctx.log.info("three")
      await ctx.elicit("When?", day)
      ctx.log.info("four")
      return "done"
    })
    const meta = { "io.modelcontextprotocol/logLevel": "info" }
    const heard = (): unknown[] =>
      raw.received
        .splice(0)
        .filter(({ method }) => method === "notifications/message")
        .map(({ params }) => (params as Json)["data"])
    const first = await call.round({ meta })
    expect(heard()).toEqual(["one"])
    const second = await call.round({ state: first.state, answers: { q1: ada }, meta })
    expect(heard()).toEqual(["two", "three"])
    await call.round({ state: second.state, meta })
    expect(heard()).toEqual([])
    const last = await call.round({
      state: second.state,
      answers: { q2: accept({ day: "2026-12-01" }) },
      meta: { ...meta, progressToken: "p" },
    })
    expect(raw.received.filter(({ method }) => method === "notifications/progress")).toHaveLength(1)
    expect(heard()).toEqual(["four"])
    expect(textOf(last.result)).toBe("done")
  })
})

describe("what comes in with a round", () => {
  const both: Handler = async (_, ctx) => {
    const [who, when] = await Promise.all([
      ctx.elicit("Who?", name, { key: "who" }),
      ctx.elicit("When?", day, { key: "when" }),
    ])
    return `${who.content?.name} ${when.content?.day}`
  }
  const today = accept({ day: "2026-12-01" })

  it("is asked again under the same key where it is missing, with a state that holds the rest", async () => {
    const { call } = subject(both)
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { when: today } })
    expect(second.asked.map(({ key }) => key)).toEqual(["who"])
    const third = await call.round({ state: second.state, answers: { who: ada } })
    expect(textOf(third.result)).toBe("Ada 2026-12-01")
  })

  it("asks again, and runs nothing twice, when it holds no answers at all", async () => {
    let ran = 0
    const { call } = subject(async (_, ctx) => {
      const count = await ctx.once("effect", () => ++ran)
      const who = await ctx.elicit("Who?", name)
      return `${count} ${who.content?.name}`
    })
    const first = await call.round()
    const again = await call.round({ state: first.state })
    expect(again.asked).toEqual(first.asked)
    const empty = await call.round({ state: again.state, answers: {} })
    expect(empty.asked).toEqual(first.asked)
    expect(textOf((await call.round({ state: empty.state, answers: { q1: ada } })).result)).toBe("1 Ada")
    expect(ran).toBe(1)
  })

  it("is ignored under keys that were not asked", async () => {
    const { call } = subject(both)
    const { state } = await call.round()
    const last = await call.round({ state, answers: { who: ada, when: today, other: ada, q1: ada } })
    expect(textOf(last.result)).toBe("Ada 2026-12-01")
  })

  it("does not replace what is sealed", async () => {
    const { call } = subject(both)
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { who: ada } })
    const last = await call.round({ state: second.state, answers: { who: accept({ name: "Eve" }), when: today } })
    expect(textOf(last.result)).toBe("Ada 2026-12-01")
  })

  it("is refused as -32602 where it does not fit; the same state may be answered again", async () => {
    const { call } = subject(both)
    const { state } = await call.round()
    const wrong = await call.round({ state, answers: { who: accept({ name: "A" }), when: today } })
    expect(wrong.error).toMatchObject({
      code: -32602,
      data: { reason: "invalid_answer", key: "who", issues: [{ path: ["name"], message: expect.any(String) }] },
    })
    const last = await call.round({ state, answers: { who: ada, when: today } })
    expect(textOf(last.result)).toBe("Ada 2026-12-01")
  })

  it("is not recorded where it does not fit, whatever the handler catches", async () => {
    const { call } = subject(async (_, ctx) => {
      try {
        await ctx.elicit("Who?", name, { key: "who" })
      } catch (error) {
        if (isSuspended(error)) throw error
        if (!McpError.is(error, "validation")) return fail("another error")
      }
      await ctx.elicit("When?", day, { key: "when" })
      const who = await ctx.elicit("Who?", name, { key: "again" })
      return `${who.content?.name}`
    })
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { who: accept({ name: "A" }) } })
    expect(second.asked.map(({ key }) => key)).toEqual(["when"])
    const third = await call.round({ state: second.state, answers: { when: today } })
    expect(third.asked.map(({ key }) => key)).toEqual(["who"])
    const fourth = await call.round({ state: third.state, answers: { who: ada } })
    expect(fourth.asked.map(({ key }) => key)).toEqual(["again"])
  })

  it("has fields that the form did not ask for taken away", async () => {
    const seen: unknown[] = []
    const { call } = subject(async (_, ctx) => {
      seen.push((await ctx.elicit("Who?", z.looseObject({ name: z.string() }))).content)
      return "done"
    })
    const { state } = await call.round()
    await call.round({ state, answers: { q1: accept({ name: "Ada", admin: true }) } })
    expect(seen).toEqual([{ name: "Ada" }])
  })

  it("gives null for a field that may be null and was left out", async () => {
    const seen: unknown[] = []
    const { call } = subject(async (_, ctx) => {
      const form = z.object({ name: z.string(), color: z.enum(["red"]).nullable() })
      seen.push((await ctx.elicit("Who?", form)).content)
      return "done"
    })
    const { state } = await call.round()
    await call.round({ state, answers: { q1: ada } })
    expect(seen).toEqual([{ name: "Ada", color: null }])
  })

  it.each<[what: string, answer: unknown]>([
    ["a number", 12345],
    ["null", null],
    ["a list", []],
    ["an object without an action", { content: { name: "Ada" } }],
    ["an unknown action", { action: "maybe" }],
    ["content that is no object", { action: "accept", content: "Ada" }],
    ["no content", { action: "accept" }],
  ])("is refused where it is %s", async (_, answer) => {
    const { call } = subject(both)
    const { state } = await call.round()
    const { error } = await call.round({ state, answers: { who: answer, when: today } as Json })
    expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_answer", key: "who" } })
  })

  it.each<[what: string, members: Json]>([
    ["inputResponses that are null", { inputResponses: null }],
    ["inputResponses that are a list", { inputResponses: [] }],
    ["a requestState that is no text", { requestState: 5 }],
    ["a requestState that is null", { requestState: null }],
  ])("is refused with %s, and the handler is not entered", async (_, members) => {
    let entered = 0
    const { raw } = subject(() => String(++entered))
    const { error } = await raw.modern("tools/call", { name: "subject", ...members })
    expect(error).toMatchObject({ code: -32602 })
    expect(entered).toBe(0)
  })

  it("counts without a state for keys that were chosen, and for no others", async () => {
    const { call } = subject(async (_, ctx) => {
      const who = await ctx.elicit("Who?", name, { key: "who" })
      const when = await ctx.elicit("When?", day)
      return `${who.content?.name} ${when.content?.day}`
    })
    const first = await call.round({ answers: { who: ada, q1: today, other: ada } })
    expect(first.asked.map(({ key }) => key)).toEqual(["q1"])
    const last = await call.round({ state: first.state, answers: { q1: today } })
    expect(textOf(last.result)).toBe("Ada 2026-12-01")
  })

  it("is checked without a state too", async () => {
    const { call } = subject(both)
    const { error } = await call.round({ answers: { who: 5, when: today } as Json })
    expect(error).toMatchObject({ code: -32602, data: { key: "who" } })
  })

  it("may end a call at 32 rounds, and no later", async () => {
    const { call } = subject(async (_, ctx) => {
      for (let asked = 0; ; asked++) {
        const { content } = await ctx.elicit("More?", z.object({ more: z.boolean() }))
        if (content?.more !== true) return `asked ${asked}`
      }
    })
    const more = accept({ more: true })
    let last: Round = await call.round()
    for (let round = 2; round <= 32; round++) {
      last = await call.round({ state: last.state, answers: answersOf(last.asked, () => more) })
      expect(last.asked).toHaveLength(1)
    }
    const enough = await call.round({
      state: last.state,
      answers: answersOf(last.asked, () => accept({ more: false })),
    })
    expect(textOf(enough.result)).toBe("asked 31")
    const tooMany = await call.round({ state: last.state, answers: answersOf(last.asked, () => more) })
    expect(tooMany.error).toMatchObject({ code: -32603, data: { reason: "too_many_rounds" } })
  })
})

describe("a schema that no form can show", () => {
  it.each<[what: string, form: z.ZodObject]>([
    ["a nested object", z.object({ deep: z.object({ a: z.string() }) })],
    ["a list", z.object({ deep: z.array(z.string()) })],
    ["a union", z.object({ deep: z.union([z.string(), z.number()]) })],
    ["a credential", z.object({ password: z.string() })],
  ])("is a misuse that names the property: %s", async (_, form) => {
    const errors: unknown[] = []
    const { call } = subject(async (__, ctx) => {
      await ctx.elicit("What?", form).catch((error: unknown) => errors.push(error))
      return "done"
    })
    expect(textOf((await call.round()).result)).toBe("done")
    const [property] = Object.keys(form.shape)
    expect(errors).toMatchObject([
      { kind: "misuse", reason: "invalid_schema", message: expect.stringContaining(`"${property}"`) },
    ])
  })
})
