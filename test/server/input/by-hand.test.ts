/** `inputRequired()`: questions that a handler returns, on every wire. */
import { createServer, type InputRequest, inputRequired, type JsonValue, prompt, resource, tool } from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { type Asked, accept, everything, legacyClient, modernCall, type Reply, textOf } from "../../support/asking.js"
import { link } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"
import type { Json } from "../../support/wire.js"

type Handler = Parameters<typeof tool>[2]
type Ctx = Parameters<Handler>[1]

const form = (message: string): InputRequest => ({
  method: "elicitation/create",
  params: {
    message,
    requestedSchema: { type: "object", properties: { name: { type: "string", pattern: "^A" } }, required: ["name"] },
  },
})
const ada = accept({ name: "Ada" })

/** Asks for a name, then for roots, and keeps what it heard in its state. */
const steps = (ctx: Ctx): ReturnType<typeof inputRequired> | string => {
  const { who, roots } = ctx.responses
  const state = (ctx.state ?? { seen: 0 }) as { seen: number }
  if (who?.["action"] !== "accept") return inputRequired({ requests: { who: form("Who?") }, state: { seen: 1 } })
  if (roots === undefined) {
    return inputRequired({ requests: { roots: { method: "roots/list" } }, state: { seen: state.seen + 1 } })
  }
  const { name } = who["content"] as { name: string }
  return `${name} has ${(roots["roots"] as unknown[]).length} roots, seen ${state.seen}`
}

function serverOf(handler: Handler, logger = createRecordingLogger()) {
  return createServer({
    name: "test",
    version: "1.0.0",
    logger,
    tools: [tool("subject", {}, handler)],
    prompts: [prompt("subject", {}, (_, ctx) => steps(ctx))],
    resources: [resource("test://subject", { name: "subject" }, (ctx) => steps(ctx))],
  })
}

/** Calls a tool and answers what it asks; the text of its result, and what was asked. */
type Run = (handler: Handler, reply: Reply) => Promise<{ readonly text: string; readonly asked: readonly Asked[] }>

const eras: Readonly<Record<"modern" | "legacy", Run>> = {
  modern: async (handler, reply) => {
    const rounds = await modernCall(link(serverOf(handler)).request, { name: "subject" }).run(reply)
    return { text: textOf(rounds.at(-1)?.result), asked: rounds.flatMap(({ asked }) => asked) }
  },
  legacy: async (handler, reply) => {
    const client = await legacyClient(link(serverOf(handler)))
    const { response, asked } = await client.call("tools/call", { name: "subject" }, reply)
    return { text: textOf(response["result"] as Json), asked }
  },
}

const reply: Reply = ({ method }) => (method === "roots/list" ? { roots: [{ uri: "file:///a" }] } : ada)

describe.each(["modern", "legacy"] as const)("a handler that returns its questions in the %s era", (era) => {
  const run = eras[era]

  it("is entered again with the answers and with what it kept", async () => {
    const { text, asked } = await run((_, ctx) => steps(ctx), reply)
    expect(text).toBe("Ada has 1 roots, seen 2")
    expect(asked.map(({ method }) => method)).toEqual(["elicitation/create", "roots/list"])
  })

  it("asks several things at once", async () => {
    const { text, asked } = await run((_, ctx) => {
      const { a, b } = ctx.responses
      if (a === undefined || b === undefined) return inputRequired({ requests: { a: form("A?"), b: form("B?") } })
      return `${JSON.stringify([a["action"], b["action"]])}`
    }, reply)
    expect(asked).toHaveLength(2)
    expect(text).toBe('["accept","accept"]')
  })

  it("asks again under the same key, and the new answer counts", async () => {
    const answers = [{ action: "decline" }, ada]
    const { text, asked } = await run(
      (_, ctx) => {
        const { who } = ctx.responses
        return who?.["action"] === "accept" ? "done" : inputRequired({ requests: { who: form("Who?") } })
      },
      () => answers.shift(),
    )
    expect([text, asked.length]).toEqual(["done", 2])
  })

  it("projects its forms onto what the client's revision shows", async () => {
    const { asked } = await run((_, ctx) => steps(ctx), reply)
    expect(asked[0]?.params).toEqual({
      mode: "form",
      message: "Who?",
      requestedSchema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] },
    })
  })

  it("sends users to pages and asks for completions", async () => {
    const { asked, text } = await run(
      (_, ctx) =>
        Object.keys(ctx.responses).length === 2
          ? "done"
          : inputRequired({
              requests: {
                page: {
                  method: "elicitation/create",
                  params: { mode: "url", message: "Go", url: "https://example.com/" },
                },
                joke: {
                  method: "sampling/createMessage",
                  params: { messages: [{ role: "user", content: { type: "text", text: "A joke" } }], maxTokens: 5 },
                },
              },
            }),
      ({ method }) =>
        method === "elicitation/create"
          ? accept()
          : { role: "assistant", content: { type: "text", text: "." }, model: "m" },
    )
    expect(asked.map(({ method, params }) => [method, params["url"] ?? params["maxTokens"]])).toEqual([
      ["elicitation/create", "https://example.com/"],
      ["sampling/createMessage", 5],
    ])
    expect("elicitationId" in (asked[0]?.params ?? {})).toBe(era === "legacy")
    expect(text).toBe("done")
  })

  it("keeps its ctx.once, and frees when the call ends", async () => {
    let ran = 0
    let freed = 0
    const { text } = await run(async (_, ctx) => {
      const table = await ctx.once("hold", () => ++ran)
      ctx.onEnd(() => ++freed)
      if (ctx.responses["who"] === undefined) {
        expect(freed).toBe(0)
        return inputRequired({ requests: { who: form("Who?") } })
      }
      return `table ${table}`
    }, reply)
    expect([text, ran]).toEqual(["table 1", 1])
    expect(freed).toBe(1)
  })

  it("may ask by ctx.elicit too", async () => {
    const { text, asked } = await run(async (_, ctx) => {
      const first = await ctx.elicit("First?", z.object({ name: z.string() }), { key: "first" })
      if (ctx.responses["who"] === undefined) return inputRequired({ requests: { who: form("Who?") } })
      return `${first.content?.name}`
    }, reply)
    expect(asked.map(({ params }) => params["message"])).toEqual(["First?", "Who?"])
    expect(text).toBe("Ada")
  })

  it("fails on a state that is not JSON", async () => {
    const { text, asked } = await run(
      () => inputRequired({ requests: { who: form("Who?") }, state: new Map() as unknown as JsonValue }),
      reply,
    )
    expect(asked).toEqual([])
    expect(text).toMatch(/^Tool subject failed/)
  })

  it.each<[what: string, requests: Record<string, InputRequest>]>([
    [
      "a form that cannot be shown",
      {
        who: {
          method: "elicitation/create",
          params: { message: "?", requestedSchema: { type: "object", properties: { a: { type: "object" } } } },
        },
      },
    ],
    ["a page that is none", { who: { method: "elicitation/create", params: { mode: "url", message: "?", url: "x" } } }],
    ["an empty key", { "": form("Who?") }],
  ])("fails on %s, and nothing is sent", async (_, requests) => {
    const { text, asked } = await run(() => inputRequired({ requests }), reply)
    expect(asked).toEqual([])
    expect(text).toMatch(/^Tool subject failed/)
  })

  it("is stopped at 32 rounds", async () => {
    const { asked } = await run(() => inputRequired({ requests: { who: form("Who?") } }), reply)
    expect(asked).toHaveLength(32)
  })
})

describe("questions that are returned in the modern era", () => {
  it("count with answers that come before any state, and ignore what is no answer", async () => {
    const call = modernCall(link(serverOf((_, ctx) => steps(ctx))).request, { name: "subject" })
    const first = await call.round({ answers: { who: ada, other: ada } })
    expect(first.asked.map(({ key }) => key)).toEqual(["roots"])
    for (const wrong of [12345, null, "Ada", [], {}]) {
      const again = await call.round({ answers: { who: wrong } as Json })
      expect(again.asked.map(({ key }) => key)).toEqual(["who"])
    }
  })

  it("ignore answers to what was not asked", async () => {
    const call = modernCall(link(serverOf((_, ctx) => steps(ctx))).request, { name: "subject" })
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { who: ada, roots: { roots: [] } } })
    expect(second.asked.map(({ key }) => key)).toEqual(["roots"])
  })

  it("keep the state of the handler from the client's eyes and hands", async () => {
    const call = modernCall(link(serverOf((_, ctx) => steps(ctx))).request, { name: "subject" })
    const { state = "" } = await call.round()
    expect(Buffer.from(state.split(".")[2] ?? "", "base64url").toString("latin1")).not.toContain("seen")
    const { error } = await call.round({ state: `${state}x`, answers: { who: ada } })
    expect(error).toMatchObject({ code: -32602, data: { reason: "request_state_invalid" } })
  })

  it("may be none: a state alone asks for the call again", async () => {
    const handler: Handler = (_, ctx) =>
      ctx.state === undefined ? inputRequired({ state: [1] }) : JSON.stringify(ctx.state)
    const call = modernCall(link(serverOf(handler)).request, { name: "subject" })
    const { result, state } = await call.round()
    expect(result).toMatchObject({ resultType: "input_required" })
    expect(textOf((await call.round({ state })).result)).toBe("[1]")
  })

  it("are refused with -32021 where the client did not declare what they need", async () => {
    const { request } = link(serverOf((_, ctx) => steps(ctx)))
    const { error } = await modernCall(request, { name: "subject" }, { capabilities: { roots: {} } }).round()
    expect(error).toMatchObject({ code: -32021, data: { requiredCapabilities: { elicitation: { form: {} } } } })
  })

  it("wait for a step that nobody awaits, and keep what it came to", async () => {
    let finish: (table: number) => void = () => {}
    let ran = 0
    const handler: Handler = (_, ctx) => {
      const hold = ctx.once("hold", () => {
        ran++
        return new Promise<number>((resolve) => (finish = resolve))
      })
      if (ctx.responses["who"] === undefined) return inputRequired({ requests: { who: form("Who?") } })
      return hold.then((table) => `table ${table}`)
    }
    const raw = link(serverOf(handler))
    const call = modernCall(raw.request, { name: "subject" })
    const first = call.round()
    await expect.poll(() => ran).toBe(1)
    expect(raw.received).toEqual([])
    finish(5)
    const { state } = await first
    expect(textOf((await call.round({ state, answers: { who: ada } })).result)).toBe("table 5")
    expect(ran).toBe(1)
  })

  it("are not reported as a suspension that was swallowed", async () => {
    const logger = createRecordingLogger()
    await modernCall(link(serverOf((_, ctx) => steps(ctx), logger)).request, { name: "subject" }).round()
    expect(logger.lines).toEqual([])
  })

  it.each<[method: string, params: Json]>([
    ["prompts/get", { name: "subject" }],
    ["resources/read", { uri: "test://subject" }],
  ])("belong to %s too, in both eras", async (method, params) => {
    const rounds = await modernCall(link(serverOf(() => "")).request, params, { method }).run(reply)
    expect(rounds.map(({ asked }) => asked.length)).toEqual([1, 1, 0])
    expect(JSON.stringify(rounds.at(-1)?.result)).toContain("Ada has 1 roots, seen 2")
    const client = await legacyClient(link(serverOf(() => "")))
    const { response } = await client.call(method, params, reply)
    expect(JSON.stringify(response["result"])).toContain("Ada has 1 roots, seen 2")
  })
})

describe("questions that are returned in the legacy era", () => {
  it.each<[what: string, capabilities: Json, text: string]>([
    ["are refused where the client did not declare what they need", { roots: {} }, "did not declare"],
    ["end in a tool error where the client refuses", everything, "the client refused"],
  ])("%s", async (_, capabilities, text) => {
    const client = await legacyClient(link(serverOf((__, ctx) => steps(ctx))), { capabilities })
    const call = client.call("tools/call", { name: "subject" }, ({ method }) => {
      if (method === "elicitation/create") {
        const { id } = client.link.received.findLast((message) => message["method"] === method) ?? {}
        client.link.send({ jsonrpc: "2.0", id, error: { code: -1, message: "no" } })
      }
      return undefined
    })
    expect(textOf((await call).response["result"] as Json)).toContain(text)
  })

  it("are sent to a client of 2025-06-18 as it knows them", async () => {
    const client = await legacyClient(link(serverOf((_, ctx) => steps(ctx))), { version: "2025-06-18" })
    const { asked } = await client.call("tools/call", { name: "subject" }, reply)
    expect(asked[0]?.params).not.toHaveProperty("mode")
  })

  it("hear what the answer of a form is, checked for its form only", async () => {
    const client = await legacyClient(link(serverOf((_, ctx) => steps(ctx))))
    const { response } = await client.call("tools/call", { name: "subject" }, () => ({ action: "maybe" }))
    expect(textOf(response["result"] as Json)).toContain('answer to "who" is not valid')
  })
})

describe("inputRequired()", () => {
  it("needs something to ask or to keep", () => {
    expect(() => inputRequired({})).toThrow(expect.objectContaining({ kind: "misuse" }) as Error)
    expect(() => inputRequired({ requests: {} })).toThrow(expect.objectContaining({ kind: "misuse" }) as Error)
  })

  it("is not what a handler of a method written by hand returns", async () => {
    const logger = createRecordingLogger()
    const server = createServer({
      name: "test",
      version: "1.0.0",
      logger,
      capabilities: { tools: {} },
      handlers: { "tools/call": () => inputRequired({ state: 1 }) as unknown as Record<string, never> },
    })
    expect(await link(server).modern("tools/call", { name: "x" })).toMatchObject({ error: { code: -32603 } })
    expect(String(logger.lines[0]?.fields?.["error"])).toContain("input_required")
  })
})
