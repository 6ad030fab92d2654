/** What a handler knows of its call and can do beside returning: progress, log, values, headers, the client. */
import { type Context, contextKey, createServer, type ServerOptions, tool } from "conduit-mcp"
import { type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { openSession, post, postModern, type Reply } from "../support/http.js"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import { initializeRequest, type Json, modernRequest } from "../support/wire.js"

const eras = ["modern", "legacy"] as const
type Era = (typeof eras)[number]

const LEVEL = "io.modelcontextprotocol/logLevel"

/** A server with one tool, `subject`, that does `act` with its context. */
function serving(act: (ctx: Context) => unknown, more: Partial<ServerOptions> = {}) {
  const run = async (_: unknown, ctx: Context): Promise<string> => {
    await act(ctx)
    return "done"
  }
  return createServer({
    name: "test",
    version: "1.0.0",
    tools: [tool("subject", {}, run)],
    logger: createRecordingLogger(),
    ...more,
  })
}

/** Calls the tool in memory; the notifications that came before the answer. */
async function notified(era: Era, server: ReturnType<typeof serving>, meta: Json = {}): Promise<readonly Json[]> {
  const wire = link(server)
  const answer = await wire[era]("tools/call", { name: "subject", _meta: meta })
  expect(answer).toMatchObject({ result: { content: [{ text: "done" }] } })
  expect(wire.received.at(-1)).toBe(answer)
  return wire.received.filter(({ method }) => method !== undefined)
}

const running: Running[] = []
afterEach(async () => {
  for (const one of running.splice(0)) await one.close()
})

/** Calls the tool over HTTP. */
async function posted(
  era: Era,
  server: ReturnType<typeof serving>,
  meta: Json = {},
  headers: Record<string, string> = {},
  options: ServeOptions = {},
): Promise<Reply> {
  const one = await serve(server, { port: 0, ...options })
  running.push(one)
  const call = { name: "subject", _meta: meta }
  if (era === "modern") return postModern(one.url, modernRequest(1, "tools/call", call), headers)
  const message = { jsonrpc: "2.0", id: 1, method: "tools/call", params: call }
  const session = options.sessions === false ? { "mcp-protocol-version": "2025-11-25" } : await openSession(one.url)
  return post(one.url, message, { ...session, ...headers })
}

const progressOf = (token: unknown, ...steps: readonly Json[]): readonly Json[] =>
  steps.map((step) => ({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken: token, ...step } }))

describe.each(eras)("progress of a %s call", (era) => {
  it.each([
    ["a text", "token"],
    ["an empty text", ""],
    ["a number", 7],
    ["zero", 0],
  ])("is sent with the caller's token, in its type, when that is %s", async (_, progressToken) => {
    const server = serving((ctx) => {
      ctx.progress(0.5, 1, "half way")
      ctx.progress(1)
    })
    expect(await notified(era, server, { progressToken })).toEqual(
      progressOf(progressToken, { progress: 0.5, total: 1, message: "half way" }, { progress: 1 }),
    )
  })

  it.each([
    ["missing", {}],
    ["null", { progressToken: null }],
    ["a fraction", { progressToken: 1.5 }],
    ["a boolean", { progressToken: true }],
    ["an object", { progressToken: {} }],
    ["a list", { progressToken: ["a"] }],
  ])("is never sent when the token is %s", async (_, meta) => {
    expect(
      await notified(
        era,
        serving((ctx) => ctx.progress(1)),
        meta,
      ),
    ).toEqual([])
    const reply = await posted(
      era,
      serving((ctx) => ctx.progress(1)),
      meta,
    )
    expect(reply.headers["content-type"]).toBe("application/json")
  })

  it("only ever grows: what is equal, smaller or no number is dropped", async () => {
    const server = serving((ctx) => {
      for (const done of [-5, 0, 0, 0.1, 0.1, 0.05, Number.NaN, Number.POSITIVE_INFINITY, 7, 3, 8]) ctx.progress(done)
    })
    const steps = [-5, 0, 0.1, 7, 8].map((progress) => ({ progress }))
    expect(await notified(era, server, { progressToken: 1 })).toEqual(progressOf(1, ...steps))
  })

  it("has no total that is no number", async () => {
    const server = serving((ctx) => {
      ctx.progress(1, Number.NaN)
      ctx.progress(2, Number.POSITIVE_INFINITY, "on")
      ctx.progress(3, 0)
    })
    expect(await notified(era, server, { progressToken: 1 })).toEqual(
      progressOf(1, { progress: 1 }, { progress: 2, message: "on" }, { progress: 3, total: 0 }),
    )
  })

  it("ends with the answer: a handler that goes on is not heard", async () => {
    let late: () => void = () => {}
    const server = serving((ctx) => {
      late = () => {
        ctx.progress(2)
        ctx.log.error("late")
      }
      ctx.progress(1)
    })
    const wire = link(server)
    await wire[era]("tools/call", { name: "subject", _meta: { progressToken: 1, [LEVEL]: "debug" } })
    late()
    await wire[era]("tools/list")
    expect(wire.received.filter(({ method }) => method !== undefined)).toEqual(progressOf(1, { progress: 1 }))
  })

  it("turns an HTTP answer into an event stream whose last event is the answer", async () => {
    const server = serving(async (ctx) => {
      ctx.progress(1, 2)
      await ctx.flush()
      ctx.progress(2, 2)
      await ctx.flush()
    })
    const reply = await posted(era, server, { progressToken: "t" })
    expect(reply.status).toBe(200)
    expect(reply.headers["content-type"]).toBe("text/event-stream")
    expect(reply.headers["x-accel-buffering"]).toBe("no")
    expect(reply.headers["cache-control"]).toMatch(/no-transform/)
    expect(reply.messages.slice(0, -1)).toEqual(progressOf("t", { progress: 1, total: 2 }, { progress: 2, total: 2 }))
    expect(reply.json).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } })
  })

  it("is dropped for a client that accepts JSON only, which gets its answer all the same", async () => {
    const server = serving((ctx) => ctx.progress(1))
    const reply = await posted(era, server, { progressToken: "t" }, { accept: "application/json" })
    expect(reply.headers["content-type"]).toBe("application/json")
    expect(reply.messages).toHaveLength(1)
    expect(reply.json).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } })
  })

  it("is sent without sessions too", async () => {
    const server = serving((ctx) => ctx.progress(1))
    const reply = await posted(era, server, { progressToken: "t" }, {}, { sessions: false })
    expect(reply.messages).toEqual([...progressOf("t", { progress: 1 }), expect.objectContaining({ id: 1 })])
  })

  it("goes to nobody but the call that it is of", async () => {
    const release: (() => void)[] = []
    const server = serving(async (ctx) => {
      await new Promise<void>((resolve) => release.push(resolve))
      ctx.progress(1)
    })
    const wire = link(server)
    const both = [
      wire[era]("tools/call", { name: "subject", _meta: { progressToken: "one" } }),
      wire[era]("tools/call", { name: "subject" }),
      wire[era]("tools/call", { name: "subject", _meta: { progressToken: "three" } }),
    ]
    await expect.poll(() => release.length, { interval: 1 }).toBe(3)
    for (const resolve of release) resolve()
    await Promise.all(both)
    const heard = wire.received.filter(({ method }) => method !== undefined)
    expect(heard).toHaveLength(2)
    expect(heard).toEqual(
      expect.arrayContaining([...progressOf("one", { progress: 1 }), ...progressOf("three", { progress: 1 })]),
    )
  })
})

const said = (level: string, data: unknown): Json => ({
  jsonrpc: "2.0",
  method: "notifications/message",
  params: { level, data },
})

const speakAll = (ctx: Context): void => {
  for (const level of ["debug", "info", "notice", "warning", "error"] as const) ctx.log[level](level)
}

describe("the log of a modern call", () => {
  it.each<[level: string | undefined, heard: readonly string[]]>([
    [undefined, []],
    ["debug", ["debug", "info", "notice", "warning", "error"]],
    ["info", ["info", "notice", "warning", "error"]],
    ["notice", ["notice", "warning", "error"]],
    ["warning", ["warning", "error"]],
    ["error", ["error"]],
    ["critical", []],
    ["emergency", []],
  ])("reaches a client that asked for %s", async (level, heard) => {
    const meta = level === undefined ? {} : { [LEVEL]: level }
    expect(await notified("modern", serving(speakAll), meta)).toEqual(heard.map((one) => said(one, one)))
  })

  it("is asked for request by request", async () => {
    const wire = link(serving(speakAll))
    await wire.modern("tools/call", { name: "subject", _meta: { [LEVEL]: "error" } })
    await wire.modern("tools/call", { name: "subject" })
    expect(wire.received.filter(({ method }) => method !== undefined)).toEqual([said("error", "error")])
  })

  it.each([["verbose"], ["ERROR"], [3], [null], [{}]])("is invalid params when the level is %j", async (level) => {
    const { error } = await link(serving(speakAll)).modern("tools/call", { name: "subject", _meta: { [LEVEL]: level } })
    expect(error).toMatchObject({ code: -32602 })
  })
})

describe("the log of a legacy call", () => {
  it("reaches a client from info upwards until it says otherwise", async () => {
    const heard = ["info", "notice", "warning", "error"]
    expect(await notified("legacy", serving(speakAll))).toEqual(heard.map((one) => said(one, one)))
  })

  it("keeps the level of its session, and of no other", async () => {
    const one = await serve(serving(speakAll), { port: 0 })
    running.push(one)
    const [loud, quiet] = [await openSession(one.url), await openSession(one.url)]
    const ask = (method: string, params: Json, session: Record<string, string>): Promise<Reply> =>
      post(one.url, { jsonrpc: "2.0", id: 1, method, params }, session)
    expect((await ask("logging/setLevel", { level: "debug" }, loud)).json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {},
    })
    expect((await ask("logging/setLevel", { level: "error" }, quiet)).json).toEqual({
      jsonrpc: "2.0",
      id: 1,
      result: {},
    })
    expect((await ask("tools/call", { name: "subject" }, loud)).messages).toHaveLength(6)
    expect((await ask("tools/call", { name: "subject" }, quiet)).messages).toHaveLength(2)
  })

  it.each([["verbose"], [""], [3], [null], [undefined]])("refuses the level %j", async (level) => {
    const { error } = await link(serving(speakAll)).legacy("logging/setLevel", { level })
    expect(error).toMatchObject({ code: -32602 })
  })

  it("says nothing without sessions, where no level was ever agreed", async () => {
    const reply = await posted("legacy", serving(speakAll), {}, {}, { sessions: false })
    expect(reply.headers["content-type"]).toBe("application/json")
  })
})

describe.each(eras)("what is logged to a %s client", (era) => {
  const meta = { [LEVEL]: "debug" }

  it("is the message, or an object with it and the facts", async () => {
    const server = serving((ctx) => {
      ctx.log.error("plain")
      ctx.log.error("with facts", { city: "Oslo", message: "not this one" })
    })
    expect(await notified(era, server, meta)).toEqual([
      said("error", "plain"),
      said("error", { message: "with facts", city: "Oslo" }),
    ])
  })

  it("never fails the call, whatever the facts are", async () => {
    const logger = createRecordingLogger()
    const server = serving((ctx) => ctx.log.error("facts", { big: 1n } as never), { logger })
    expect(await notified(era, server, meta)).toEqual([])
    expect(logger.lines).toMatchObject([{ level: "warn" }])
  })

  it("is not even looked at when nobody asked for it", async () => {
    let looked = 0
    const facts = {
      get city() {
        looked++
        return "Oslo"
      },
    }
    const server = serving((ctx) => ctx.log.debug("facts", facts))
    expect(await notified(era, server)).toEqual([])
    expect(looked).toBe(0)
  })

  it("is nothing when the server does not log, which then declares no logging", async () => {
    const server = serving(speakAll, { logging: false })
    expect(await notified(era, server, meta)).toEqual([])
    const wire = link(server)
    const opening = era === "modern" ? await wire.modern("server/discover") : await wire.request(initializeRequest(1))
    expect((opening["result"] as { capabilities: Json }).capabilities).not.toHaveProperty("logging")
    expect(await wire[era]("logging/setLevel", { level: "debug" })).toMatchObject({ error: { code: -32601 } })
  })
})

describe.each(eras)("the values of a %s call", (era) => {
  it("are kept under typed keys, which are never the same", async () => {
    const one = contextKey<number>("name")
    const two = contextKey<number>("name")
    const seen: unknown[] = []
    await notified(
      era,
      serving((ctx) => {
        seen.push(ctx.get(one))
        ctx.set(one, 1)
        ctx.set(two, 2)
        seen.push(ctx.get(one), ctx.get(two))
        ctx.set(one, 3)
        seen.push(ctx.get(one), ctx.get(contextKey("name")))
      }),
    )
    expect(seen).toEqual([undefined, 1, 2, 3, undefined])
  })

  it("are of this call only", async () => {
    const key = contextKey<string>("user")
    const seen: unknown[] = []
    const wire = link(
      serving((ctx) => {
        seen.push(ctx.get(key))
        ctx.set(key, "left behind")
      }),
    )
    for (let round = 0; round < 3; round++) await wire[era]("tools/call", { name: "subject" })
    expect(seen).toEqual([undefined, undefined, undefined])
  })
})

describe.each(eras)("what a handler knows of a %s call", (era) => {
  it("is its era, its revision and nobody's identity", async () => {
    const seen: unknown[] = []
    await notified(
      era,
      serving((ctx) => void seen.push(ctx.era, ctx.revision, ctx.principal)),
    )
    expect(seen).toEqual([era, era === "modern" ? "2026-07-28" : "2025-11-25", undefined])
  })

  it("is every header over HTTP, in any case, and none elsewhere", async () => {
    const seen: unknown[] = []
    const server = serving(
      (ctx) => void seen.push(ctx.header("x-tenant"), ctx.header("X-Tenant"), ctx.header("x-absent")),
    )
    await posted(era, server, {}, { "X-Tenant": "blue" })
    await notified(era, server)
    expect(seen).toEqual(["blue", "blue", undefined, undefined, undefined, undefined])
  })

  it("is who the client says it is, and what it can do by leaf", async () => {
    const declared = {
      elicitation: { url: {} },
      sampling: { tools: {} },
      roots: { listChanged: true },
      extensions: { "example.com/tasks": {} },
    }
    const seen: Record<string, boolean> = {}
    let info: unknown
    const server = serving((ctx) => {
      info = ctx.client.info
      for (const leaf of [
        "elicitation",
        "elicitation.form",
        "elicitation.url",
        "sampling",
        "sampling.tools",
        "sampling.context",
        "roots",
        "extensions.example.com/tasks",
        "extensions.constructor",
      ] as const) {
        seen[leaf] = ctx.client.can(leaf)
      }
    })
    const wire = link(server)
    if (era === "modern") {
      await wire.modern("tools/call", {
        name: "subject",
        _meta: { "io.modelcontextprotocol/clientCapabilities": declared },
      })
    } else {
      await wire.request(initializeRequest(1, "2025-11-25", declared))
      await wire.request({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "subject" } })
    }
    expect(info).toEqual({ name: "test", version: "1.0.0" })
    expect(seen).toEqual({
      elicitation: true,
      "elicitation.form": false,
      "elicitation.url": true,
      sampling: true,
      "sampling.tools": true,
      "sampling.context": false,
      roots: true,
      "extensions.example.com/tasks": true,
      "extensions.constructor": false,
    })
  })

  it("has a form when elicitation names no mode", async () => {
    const seen: boolean[] = []
    const wire = link(serving((ctx) => void seen.push(ctx.client.can("elicitation.form"))))
    const declared = { elicitation: {} }
    if (era === "modern") {
      await wire.modern("tools/call", {
        name: "subject",
        _meta: { "io.modelcontextprotocol/clientCapabilities": declared },
      })
    } else {
      await wire.request(initializeRequest(1, "2025-11-25", declared))
      await wire.request({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "subject" } })
    }
    expect(seen).toEqual([true])
  })

  it("is no client info that the client did not give in full", async () => {
    const seen: unknown[] = []
    const wire = link(serving((ctx) => void seen.push(ctx.client.info)))
    if (era === "modern") {
      for (const clientInfo of [{ name: "half" }, "text", null, undefined]) {
        const meta = { "io.modelcontextprotocol/clientInfo": clientInfo }
        await wire.modern("tools/call", { name: "subject", _meta: meta })
      }
      expect(seen).toEqual([undefined, undefined, undefined, undefined])
    } else {
      const params = { protocolVersion: "2025-11-25", capabilities: {} }
      await wire.request({ jsonrpc: "2.0", id: 1, method: "initialize", params })
      await wire.request({ jsonrpc: "2.0", id: 2, method: "tools/call", params: { name: "subject" } })
      expect(seen).toEqual([undefined])
    }
  })
})
