/** Handlers that take too long: what their signals say, what their calls are answered, and what is free again. */
import { createServer, fail, prompt, resource, type ServerOptions, tool } from "conduit-mcp"
import { afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { createManualClock } from "../support/clock.js"
import { link, type RawLink } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import { eras } from "../support/story.js"
import { initializeRequest, type Json, modernRequest } from "../support/wire.js"

/** What the handlers of one test are told, and when they end. */
function createStage() {
  const signals: AbortSignal[] = []
  let entered: () => void = () => {}
  let end: () => void = () => {}
  const ended = new Promise<void>((resolve) => {
    end = resolve
  })
  return {
    signals,
    end,
    /** Resolves once a handler runs. */
    entered: new Promise<void>((resolve) => {
      entered = resolve
    }),
    async wait(ctx: { readonly signal: AbortSignal }): Promise<void> {
      signals.push(ctx.signal)
      entered()
      await ended
    },
  }
}

const links: RawLink[] = []
afterEach(() => {
  for (const raw of links.splice(0)) raw.close()
})

function setUp(options: Partial<ServerOptions>, limits: Json = {}) {
  const clock = createManualClock()
  const logger = createRecordingLogger()
  const raw = link(createServer({ name: "slow", version: "1.0.0", logger, ...options }), { clock, limits })
  links.push(raw)
  return { clock, logger, raw }
}

describe.each(eras)("in the %s era", (era) => {
  it("a tool is answered with isError that names its own limit", async () => {
    const stage = createStage()
    const slow = tool("slow", { timeoutMs: 5_000 }, async (_, ctx) => stage.wait(ctx).then(() => "late"))
    const { clock, logger, raw } = setUp({ tools: [slow] })
    const answered = raw[era]("tools/call", { name: "slow" })
    await stage.entered
    clock.advance(4_999)
    expect(stage.signals[0]?.aborted).toBe(false)
    clock.advance(1)
    expect(await answered).toMatchObject({
      result: { isError: true, content: [{ text: "Tool slow did not finish within 5000 ms (timeoutMs of the tool)" }] },
    })
    expect(stage.signals[0]?.reason).toMatchObject({ name: "TimeoutError" })
    expect(logger.lines).toMatchObject([{ level: "warn", message: expect.stringContaining('tool "slow"') }])
  })

  it("nothing is sent for it any more, whatever the handler still does", async () => {
    const stage = createStage()
    const slow = tool("slow", { timeoutMs: 5_000 }, async (_, ctx) => {
      ctx.progress(1)
      await stage.wait(ctx)
      ctx.progress(2)
      ctx.log.error("late")
      throw new Error("late")
    })
    const { clock, logger, raw } = setUp({ tools: [slow] })
    const answered = raw[era]("tools/call", { name: "slow", _meta: { progressToken: 1 } })
    await stage.entered
    clock.advance(5_000)
    await answered
    const count = raw.received.length
    stage.end()
    await raw[era]("tools/list")
    expect(raw.received).toHaveLength(count + 1)
    expect(logger.lines).toHaveLength(1)
  })

  it.each<[what: string, method: string, params: Json]>([
    ["a prompt", "prompts/get", { name: "slow" }],
    ["a resource", "resources/read", { uri: "slow:it" }],
  ])("%s is answered with an error that names the limit of the server", async (_what, method, params) => {
    const stage = createStage()
    const { clock, raw } = setUp(
      {
        prompts: [prompt("slow", {}, async (_, ctx) => stage.wait(ctx).then(() => "late"))],
        resources: [resource("slow:it", { name: "slow" }, async (ctx) => stage.wait(ctx).then(() => "late"))],
      },
      { handlerTimeoutMs: 2_000 },
    )
    const answered = raw[era](method, params)
    await stage.entered
    clock.advance(2_000)
    expect(await answered).toMatchObject({
      error: {
        code: -32603,
        message: `${method} did not finish within 2000 ms (limits.handlerTimeoutMs)`,
        data: { reason: "handler_timeout" },
      },
    })
    expect(stage.signals[0]?.reason).toMatchObject({ name: "TimeoutError" })
  })

  it("a tool without a limit has that of the server, and one with a limit its own, also a longer one", async () => {
    const stages = [createStage(), createStage()] as const
    const { clock, raw } = setUp(
      {
        tools: [
          tool("plain", {}, async (_, ctx) => stages[0].wait(ctx).then(() => "late")),
          tool("patient", { timeoutMs: 10_000 }, async (_, ctx) => stages[1].wait(ctx).then(() => "in time")),
        ],
      },
      { handlerTimeoutMs: 1_000 },
    )
    const plain = raw[era]("tools/call", { name: "plain" })
    await stages[0].entered
    const patient = raw[era]("tools/call", { name: "patient" })
    await stages[1].entered
    clock.advance(9_000)
    expect(await plain).toMatchObject({
      result: {
        isError: true,
        content: [{ text: expect.stringContaining("within 1000 ms (limits.handlerTimeoutMs)") }],
      },
    })
    stages[1].end()
    expect(await patient).toMatchObject({ result: { content: [{ text: "in time" }] } })
  })

  it("a handler that ends in time is not touched, and leaves nothing behind", async () => {
    const quick = tool("quick", { timeoutMs: 1_000 }, async (_, ctx) => String(ctx.signal.aborted))
    const { clock, logger, raw } = setUp({ tools: [quick] })
    expect(await raw[era]("tools/call", { name: "quick" })).toMatchObject({ result: { content: [{ text: "false" }] } })
    clock.advance(5_000)
    clock.advance(5_000)
    expect(logger.lines).toEqual([])
    expect(clock.waiting).toBe(0)
  })

  it("its id and its place are free again, although the handler never ends", async () => {
    const stage = createStage()
    const slow = tool("slow", { timeoutMs: 1_000 }, async (_, ctx) => stage.wait(ctx).then(() => "late"))
    const { clock, raw } = setUp({ tools: [slow, tool("quick", {}, () => "quick")] }, { maxInFlight: 1 })
    if (era === "legacy") await raw.request(initializeRequest(0))
    const request = (name: string): Json =>
      era === "modern"
        ? modernRequest(7, "tools/call", { name })
        : { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name } }
    raw.send(request("slow"))
    await stage.entered
    clock.advance(1_000)
    await raw.next(({ id }) => id === 7)
    raw.received.length = 0
    expect(await raw.request(request("quick"))).toMatchObject({ result: { content: [{ text: "quick" }] } })
  })

  it("what was given to ctx.onEnd runs when the handler ends, though the call was answered before", async () => {
    const stage = createStage()
    let freed = 0
    let hear: () => void = () => {}
    const heard = new Promise<void>((resolve) => {
      hear = resolve
    })
    const slow = tool("slow", { timeoutMs: 1_000 }, async (_, ctx) => {
      ctx.onEnd(() => {
        freed++
        hear()
      })
      await stage.wait(ctx)
      return "late"
    })
    const { clock, raw } = setUp({ tools: [slow] })
    const answered = raw[era]("tools/call", { name: "slow" })
    await stage.entered
    clock.advance(1_000)
    await answered
    expect(freed).toBe(0)
    stage.end()
    await heard
    expect(freed).toBe(1)
  })
})

describe("time in which the client is asked does not count", () => {
  const ask = tool("ask", { timeoutMs: 1_000 }, async (_, ctx) => {
    const answer = await ctx.elicit("Name?", z.object({ name: z.string() }))
    if (answer.action !== "accept") return fail("no")
    await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()))
    return "late"
  })

  it("in the legacy era, where the handler waits", async () => {
    const { clock, raw } = setUp({ tools: [ask] })
    await raw.request(initializeRequest(0, "2025-11-25", { elicitation: {} }))
    raw.send({ jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "ask" } })
    const question = await raw.next(({ method }) => method === "elicitation/create")
    clock.advance(500_000)
    expect(raw.received.some(({ id, method }) => id === 7 && method === undefined)).toBe(false)
    raw.send({ jsonrpc: "2.0", id: question["id"], result: { action: "accept", content: { name: "Ada" } } })
    await raw.legacy("ping")
    clock.advance(999)
    await raw.legacy("ping")
    expect(raw.received.some(({ id, method }) => id === 7 && method === undefined)).toBe(false)
    clock.advance(1)
    const answer = await raw.next(({ id, method }) => id === 7 && method === undefined)
    expect(answer).toMatchObject({ result: { isError: true } })
  })

  it("in the modern era, where each round has its own", async () => {
    const { clock, raw } = setUp({ tools: [ask] })
    const declared = { _meta: { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } } }
    const first = await raw.modern("tools/call", { name: "ask", ...declared })
    const { requestState, inputRequests } = first["result"] as { requestState: string; inputRequests: Json }
    clock.advance(500_000)
    const [key = ""] = Object.keys(inputRequests)
    const inputResponses = { [key]: { action: "accept", content: { name: "Ada" } } }
    const second = raw.modern("tools/call", { name: "ask", requestState, inputResponses, ...declared })
    while (clock.waiting === 0) await new Promise(setImmediate)
    clock.advance(1_000)
    expect(await second).toMatchObject({ result: { isError: true } })
  })
})

it("a limit that is none is refused when the tool is made", () => {
  for (const timeoutMs of [0, -1, 1.5, Number.NaN, "1" as never]) {
    expect(() => tool("slow", { timeoutMs }, () => "x")).toThrow(/timeoutMs must be a positive integer/)
  }
})
