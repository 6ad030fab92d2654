/** `singleUse`: each round of a call counts once. */
import { createServer, fail, prompt, tool } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createMemoryStore } from "../../../src/store/memory.js"
import { accept, decline, modernCall, textOf } from "../../support/asking.js"
import { createManualClock } from "../../support/clock.js"
import { link } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"

const name = z.object({ name: z.string() })
const [ada, eve] = [accept({ name: "Ada" }), accept({ name: "Eve" })]
const consumed = { code: -32602, data: { reason: "request_state_consumed" } }
const secrets = ["0123456789abcdef0123456789abcdef"]

let ran = 0
const twice = tool("twice", { singleUse: true }, async (_, ctx) => {
  const first = await ctx.elicit("First?", name)
  ran++
  if (first.action !== "accept") return fail("declined")
  const second = await ctx.elicit("Second?", name)
  return `${first.content.name} ${second.content?.name} ${ran}`
})

function node(store = createMemoryStore({ clock: createManualClock() }), clock = createManualClock()) {
  const server = createServer({
    name: "test",
    version: "1.0.0",
    logger: createRecordingLogger(),
    tools: [twice],
    prompts: [
      prompt("once", { singleUse: true }, async (_, ctx) => {
        const { content } = await ctx.elicit("Who?", name)
        return `For ${content?.name} ${++ran}`
      }),
    ],
  })
  const raw = link(server, { store, clock, secrets })
  return {
    raw,
    call: modernCall(raw.request, { name: "twice" }),
    get: modernCall(raw.request, { name: "once" }, { method: "prompts/get" }),
  }
}

describe("a round that counts once", () => {
  it("gives the same answers the same response again, questions and results alike", async () => {
    const { call } = node()
    const { state } = await call.round()
    const rounds = [
      await call.round({ state, answers: { q1: ada } }),
      await call.round({ state, answers: { q1: ada } }),
    ]
    expect(rounds[1]?.state).toBe(rounds[0]?.state)
    expect(rounds[1]?.response["id"]).not.toBe(rounds[0]?.response["id"])
    expect(rounds[1]?.response["result"]).toEqual(rounds[0]?.response["result"])
    const last = { state: rounds[0]?.state, answers: { q2: eve } }
    const [done, again] = [await call.round(last), await call.round(last)]
    expect(textOf(done.result)).toMatch(/^Ada Eve \d+$/)
    expect(again.result).toEqual(done.result)
  })

  it("refuses other answers, and the handler is not entered", async () => {
    const { call } = node()
    const { state } = await call.round()
    await call.round({ state, answers: { q1: ada } })
    const before = ran
    for (const answer of [eve, decline]) {
      expect((await call.round({ state, answers: { q1: answer } })).error).toMatchObject(consumed)
    }
    expect(ran).toBe(before)
  })

  it("does so at the same time: the second waits for the response of the first", async () => {
    const { call } = node()
    const { state } = await call.round()
    const before = ran
    const sent = [{ q1: ada }, { q1: ada }, { q1: eve }].map((answers) => call.round({ state, answers }))
    const [one, two, three] = await Promise.all(sent)
    expect(one?.asked).toHaveLength(1)
    expect(two?.state).toBe(one?.state)
    expect(three?.error).toMatchObject(consumed)
    expect(ran).toBe(before + 1)
  })

  it("does so over nodes with one store", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock })
    const [one, two] = [node(store, clock), node(store, clock)]
    const { state } = await one.call.round()
    const first = await one.call.round({ state, answers: { q1: ada } })
    expect((await two.call.round({ state, answers: { q1: ada } })).state).toBe(first.state)
    expect((await two.call.round({ state, answers: { q1: eve } })).error).toMatchObject(consumed)
  })

  it("takes no notice of answers that were not asked for", async () => {
    const { call } = node()
    const { state } = await call.round()
    const first = await call.round({ state, answers: { q1: ada } })
    expect((await call.round({ state, answers: { q1: ada, other: eve } })).state).toBe(first.state)
  })

  it("does not count what came without answers, or with one that does not fit", async () => {
    const { call } = node()
    const { state } = await call.round()
    expect((await call.round({ state })).asked).toHaveLength(1)
    expect((await call.round({ state, answers: { q1: accept({ name: 5 }) } })).error?.data).toMatchObject({
      reason: "invalid_answer",
    })
    expect((await call.round({ state, answers: { q1: ada } })).asked).toHaveLength(1)
  })

  it("is one of a prompt too", async () => {
    const { get } = node()
    const { state } = await get.round()
    const first = await get.round({ state, answers: { q1: ada } })
    expect(JSON.stringify(first.result)).toContain("For Ada")
    expect((await get.round({ state, answers: { q1: ada } })).result).toEqual(first.result)
    expect((await get.round({ state, answers: { q1: eve } })).error).toMatchObject(consumed)
  })
})
