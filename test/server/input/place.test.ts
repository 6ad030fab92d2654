/** Prompts and resource reads ask like tools do. */
import { createServer, prompt, resource, resourceTemplate, type tool } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { accept, modernCall } from "../../support/asking.js"
import { link } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"
import type { Json } from "../../support/wire.js"

type Ctx = Parameters<Parameters<typeof tool>[2]>[1]

const name = z.object({ name: z.string() })
const ada = accept({ name: "Ada" })
let freed = 0
let ran = 0

async function work(ctx: Ctx): Promise<string> {
  const [who, where] = await Promise.all([
    ctx.elicit("Who?", name),
    ctx.elicit("Where?", name),
    ctx.once("step", () => ++ran),
  ])
  ctx.onEnd(() => ++freed)
  await ctx.elicit("Sure?", name)
  return `${who.content?.name} in ${where.content?.name}`
}

const server = () => {
  const logger = createRecordingLogger()
  return {
    logger,
    server: createServer({
      name: "test",
      version: "1.0.0",
      logger,
      prompts: [
        prompt("subject", { args: z.object({ topic: z.string() }) }, (_, ctx) => work(ctx)),
        prompt("swallows", {}, async (_, ctx) => {
          await ctx.elicit("Who?", name).catch(() => {})
          return "swallowed"
        }),
      ],
      resources: [
        resource("test://fixed", { name: "fixed", freshness: { ttlMs: 5_000, cacheScope: "public" } }, work),
        resource("test://free", { name: "free", freshness: { ttlMs: 5_000, cacheScope: "public" } }, () => "free"),
        resource("test://swallows", { name: "swallows" }, async (ctx) => {
          await ctx.elicit("Who?", name).catch(() => {})
          return "swallowed"
        }),
        resourceTemplate("test://many/{id}", { name: "many" }, (_, ctx) => work(ctx)),
      ],
    }),
  }
}

const places: readonly (readonly [method: string, params: Json])[] = [
  ["prompts/get", { name: "subject", arguments: { topic: "x" } }],
  ["resources/read", { uri: "test://fixed" }],
  ["resources/read", { uri: "test://many/5" }],
]

describe.each(places)("%s of %o", (method, params) => {
  const call = () => modernCall(link(server().server).request, params, { method })

  it("asks in rounds, runs steps once, and frees at its end", async () => {
    ;[freed, ran] = [0, 0]
    const rounds = await call().run(() => ada)
    expect(rounds.map(({ asked }) => asked.map(({ key }) => key))).toEqual([["q1", "q2"], ["q3"], []])
    expect(rounds.map(({ result }) => result?.["resultType"])).toEqual(["input_required", "input_required", "complete"])
    expect(JSON.stringify(rounds.at(-1)?.result)).toContain("Ada in Ada")
    expect([freed, ran]).toEqual([1, 1])
  })

  it("gives no hints on caching before its end, and none to keep anything after it", async () => {
    const rounds = await call().run(() => ada)
    for (const { result } of rounds.slice(0, -1)) {
      expect(result).not.toHaveProperty("ttlMs")
      expect(result).not.toHaveProperty("cacheScope")
    }
    if (method === "resources/read") expect(rounds.at(-1)?.result).toMatchObject({ ttlMs: 0, cacheScope: "private" })
  })

  it("refuses an answer that does not fit", async () => {
    const one = call()
    const { state } = await one.round()
    const { error } = await one.round({ state, answers: { q1: accept({ name: 5 }), q2: ada } })
    expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_answer", key: "q1" } })
  })
})

describe("a resource that asks nothing", () => {
  it("may be kept as it says, unless it was read with answers", async () => {
    const one = modernCall(link(server().server).request, { uri: "test://free" }, { method: "resources/read" })
    expect((await one.round()).result).toMatchObject({ ttlMs: 5_000, cacheScope: "public" })
    expect((await one.round({ answers: {} })).result).toMatchObject({ ttlMs: 0, cacheScope: "private" })
  })
})

describe("a prompt or resource that swallows the suspension", () => {
  it.each<[method: string, params: Json, name: string]>([
    ["prompts/get", { name: "swallows" }, 'prompt "swallows"'],
    ["resources/read", { uri: "test://swallows" }, 'resource "test://swallows"'],
  ])("is reported by its name: %s", async (method, params, who) => {
    const { server: one, logger } = server()
    expect((await modernCall(link(one).request, params, { method }).round()).asked).toHaveLength(1)
    await expect
      .poll(() => logger.lines)
      .toMatchObject([{ message: expect.stringContaining(who), fields: { event: "server.suspension_swallowed" } }])
  })
})
