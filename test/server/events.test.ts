/** What a server tells whoever watches it: of each request, question and change once, in order, and nothing that is secret. */
import { AsyncLocalStorage } from "node:async_hooks"
import {
  createServer,
  isSuspended,
  McpError,
  prompt,
  type RequestFacts,
  resource,
  type ServerEvent,
  type ServerOptions,
  serverEvents,
  ToolError,
  tool,
  type Watcher,
} from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { accept, legacyClient, modernCall } from "../support/asking.js"
import { listenTo } from "../support/events.js"
import { createRecordingLogger } from "../support/logger.js"
import { ask, callTool, type EraName, eras, linked } from "../support/story.js"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"

const revisionOf = { modern: "2026-07-28", legacy: "2025-11-25" } as const

const tools = [
  tool("fine", { input: z.object({ password: z.string().optional() }) }, () => "a result that nobody tells"),
  tool("fail", {}, () => {
    throw new ToolError("no table")
  }),
  tool("crash", {}, () => {
    throw new Error("the database is down")
  }),
  tool("unsendable", { output: z.object({ n: z.number() }) }, () => ({ n: "x" }) as unknown as { n: number }),
  tool("refuse", {}, () => {
    throw new McpError("not you", { kind: "protocol", reason: "jsonrpc", code: -32602 })
  }),
  tool(
    "wait",
    {},
    (_, ctx) => new Promise<string>((resolve) => ctx.signal.addEventListener("abort", () => resolve("late"))),
  ),
  tool("ask", {}, async (_, ctx) => {
    ctx.log.debug("asking", { deep: true })
    const sure = await ctx.elicit("Sure?", z.object({ yes: z.boolean() }))
    return sure.action
  }),
  tool("swallow", {}, async (_, ctx) => {
    try {
      await ctx.elicit("Sure?", z.object({ yes: z.boolean() }))
    } catch (error) {
      return isSuspended(error) ? "swallowed" : "other"
    }
    return "answered"
  }),
]

function watchedServer(options: Partial<ServerOptions> = {}) {
  const logger = createRecordingLogger()
  const server = createServer({
    name: "test",
    version: "1.0.0",
    tools,
    resources: [resource("test://a", { name: "a" }, () => "a")],
    prompts: [prompt("hi", {}, () => "hi")],
    logger,
    ...options,
  })
  return { server, logger, events: listenTo(server) }
}

const requests: readonly ServerEvent[] = ["server.request.start", "server.request.stop", "server.request.exception"]

describe.each(eras)("a request (%s)", (era: EraName) => {
  it.each<[what: string, method: string, params: Json, facts: Partial<RequestFacts>, end: Json]>([
    ["a tool", "tools/call", { name: "fine" }, { tool: "fine" }, { outcome: "complete", error: undefined }],
    ["a tool that fails", "tools/call", { name: "fail" }, { tool: "fail" }, { outcome: "tool_error" }],
    [
      "wrong arguments",
      "tools/call",
      { name: "fail", arguments: { a: 1 } },
      { tool: "fail" },
      { outcome: "tool_error" },
    ],
    [
      "a tool that there is not",
      "tools/call",
      { name: "whatever" },
      { tool: undefined },
      { outcome: "error", error: { code: -32602, reason: "unknown_tool" } },
    ],
    [
      "a handler's own error",
      "tools/call",
      { name: "refuse" },
      { tool: "refuse" },
      { outcome: "error", error: { code: -32602, reason: "jsonrpc" } },
    ],
    ["a prompt", "prompts/get", { name: "hi" }, { prompt: "hi", tool: undefined }, { outcome: "complete" }],
    ["a prompt that there is not", "prompts/get", { name: "ho" }, { prompt: undefined }, { outcome: "error" }],
    ["a resource", "resources/read", { uri: "test://a" }, { uri: "test://a" }, { outcome: "complete" }],
    ["a list", "tools/list", {}, { tool: undefined, uri: undefined }, { outcome: "complete" }],
  ])("is told when it starts and when it stops: %s", async (_, method, params, facts, end) => {
    const { server, events } = watchedServer()
    await ask(server, era, method, params)
    const [start] = events.of("server.request.start").filter(({ request }) => request.method === method)
    const [stop] = events.of("server.request.stop").filter(({ request }) => request.method === method)
    expect(start?.request).toMatchObject({
      method,
      era,
      revision: revisionOf[era],
      transport: "pipe",
      client: { name: "test", version: "1.0.0" },
      principal: undefined,
      ...facts,
    })
    expect(stop).toMatchObject(end)
    expect(stop?.request).toBe(start?.request)
    expect(stop?.durationMs).toBeGreaterThanOrEqual(0)
  })

  it.each([
    ["crash", "tool_error", new Error("the database is down")],
    ["unsendable", "tool_error", expect.any(TypeError)],
  ])("is told of as an exception when something failed unexpectedly: %s", async (name, outcome, thrown) => {
    const { server, logger, events } = watchedServer()
    const result = await callTool(server, era, name)
    const [exception] = events.of("server.request.exception")
    expect(exception).toMatchObject({ outcome, request: { tool: name } })
    expect(exception?.thrown).toEqual(thrown)
    expect(JSON.stringify(result)).toContain(exception?.reference)
    expect(logger.lines[0]?.fields?.["reference"]).toBe(exception?.reference)
    expect(events.of("server.request.stop").filter(({ request }) => request.tool === name)).toEqual([])
  })

  it("is told when it was cancelled", async () => {
    const { server, events } = watchedServer()
    await linked(server, async (raw) => {
      if (era === "legacy") await raw.legacy("ping")
      const params = { name: "wait", arguments: {} }
      raw.send(era === "modern" ? modernRequest(7, "tools/call", params) : legacyRequest(7, "tools/call", params))
      await events.first("server.request.start")
      const started = () => events.of("server.request.start").some(({ request }) => request.tool === "wait")
      while (!started()) await new Promise((resolve) => setImmediate(resolve))
      raw.send({
        jsonrpc: "2.0",
        method: "notifications/cancelled",
        params: { requestId: 7, ...(era === "modern" ? { _meta: modernRequest(0, "x")["params"] } : {}) },
      })
      const stopped = () => events.of("server.request.stop").find(({ request }) => request.tool === "wait")
      while (stopped() === undefined) await new Promise((resolve) => setImmediate(resolve))
      expect(stopped()).toMatchObject({ outcome: "cancelled", error: undefined })
    })
  })

  it("tells the trace that its caller is in when that is well formed", async () => {
    const { server, events } = watchedServer()
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    await ask(server, era, "tools/list", { _meta: { traceparent, tracestate: "a=1" } })
    await ask(server, era, "prompts/list", { _meta: { traceparent: "00-nonsense" } })
    const started = events.of("server.request.start").map(({ request }) => request)
    expect(started.find(({ method }) => method === "tools/list")).toMatchObject({ traceparent, tracestate: "a=1" })
    expect(started.find(({ method }) => method === "prompts/list")?.traceparent).toBeUndefined()
  })

  it("tells nothing of what it carries", async () => {
    const { server, events } = watchedServer()
    await callTool(server, era, "fine", { password: "hunter2" })
    const all = JSON.stringify(events.told)
    expect(all).not.toContain("hunter2")
    expect(all).not.toContain("nobody tells")
  })

  it("goes on when a listener fails, which is logged", async () => {
    const { server, logger, events } = watchedServer()
    server.on("server.request.start", () => {
      throw new Error("mine")
    })
    expect(await callTool(server, era, "fine")).toMatchObject({ content: [{ text: "a result that nobody tells" }] })
    expect(events.names).toContain("server.request.stop")
    expect(logger.lines[0]).toMatchObject({ level: "error", fields: { event: "server.request.start" } })
  })

  it("is not told of any more once a listener was taken off", async () => {
    const { server } = watchedServer()
    const heard: string[] = []
    const listener = ({ request }: { readonly request: RequestFacts }): void => void heard.push(request.method)
    const stop = server.on("server.request.start", listener)
    stop()
    server.on("server.request.start", listener)
    server.off("server.request.start", listener)
    await callTool(server, era, "fine")
    expect(heard).toEqual([])
  })

  it("runs where its watcher wants it to", async () => {
    const storage = new AsyncLocalStorage<string>()
    const watcher: Watcher = { watch() {}, run: ({ method }, work) => storage.run(method, work) }
    const seen: unknown[] = []
    const here = tool("here", {}, async () => {
      await new Promise((resolve) => setImmediate(resolve))
      seen.push(storage.getStore())
      return "here"
    })
    const { server } = watchedServer({ watch: [watcher], tools: [here] })
    await callTool(server, era, "here")
    expect(seen).toEqual(["tools/call"])
  })

  it.each<[what: string, run: NonNullable<Watcher["run"]>]>([
    ["forgets to run it", () => undefined as never],
    [
      "runs it twice",
      (_, work) => {
        work()
        return work()
      },
    ],
    [
      "throws",
      () => {
        throw new Error("mine")
      },
    ],
  ])("runs once although its watcher %s", async (_, run) => {
    let times = 0
    const count = tool("count", {}, () => String(++times))
    const { server } = watchedServer({ tools: [count], watch: [{ watch() {}, run }] })
    expect(await callTool(server, era, "count")).toMatchObject({ content: [{ text: "1" }] })
    expect(times).toBe(1)
  })
})

describe("a legacy handshake", () => {
  it("is a request, and begins a session that ends with its pipe", async () => {
    const { server, events } = watchedServer()
    await linked(server, (raw) => raw.legacy("ping"))
    expect(events.names).toEqual([
      "server.request.start",
      "server.session.start",
      "server.request.stop",
      "server.request.start",
      "server.request.stop",
      "server.session.stop",
    ])
    const session = {
      session: "",
      revision: "2025-11-25",
      transport: "pipe",
      client: { name: "test", version: "1.0.0" },
      principal: undefined,
    }
    expect(events.of("server.session.start")).toEqual([{ session, resumed: false }])
    expect(events.of("server.session.stop")).toMatchObject([{ session, why: "disconnected" }])
    expect(events.of("server.request.start")[0]?.request).toMatchObject({ method: "initialize", era: "legacy" })
  })
})

describe("a refusal before any method", () => {
  it.each<[what: string, message: Json | string, refusal: Json]>([
    ["a missing _meta", legacyRequest(1, "tools/list"), { code: -32602, reason: "missing_meta", status: 400 }],
    ["an unknown method", modernRequest(1, "no/such"), { code: -32601, reason: "method_not_found" }],
    ["a handshake without a version", legacyRequest(1, "initialize", {}), { code: -32602, reason: "invalid_params" }],
  ])("is told once, and no request is: %s", async (_, message, refusal) => {
    const { server, events } = watchedServer()
    await linked(server, async (raw) => {
      raw.send(message)
      await raw.next(() => true)
    })
    expect(events.names).toEqual(["server.request_refused"])
    expect(events.told[0]?.event).toMatchObject({ transport: "pipe", ...refusal })
  })

  it("is told of an id that is taken and of a method that a session does not have", async () => {
    const { server, events } = watchedServer()
    await linked(server, async (raw) => {
      raw.send(modernRequest(7, "tools/call", { name: "wait" }))
      raw.send(modernRequest(7, "tools/list"))
      await raw.next(({ error }) => error !== undefined)
      await raw.legacy("server/discover")
    })
    expect(events.of("server.request_refused")).toMatchObject([
      { reason: "duplicate_request_id" },
      { reason: "method_not_found" },
    ])
  })

  it("is told of a line that is no message", async () => {
    const { server, events } = watchedServer()
    await linked(server, async (raw) => {
      raw.send("{")
      await raw.next(() => true)
    })
    expect(events.of("server.request_refused")).toMatchObject([{ reason: "parse_error", transport: "pipe" }])
  })
})

describe("questions", () => {
  it("are told round by round in the modern era", async () => {
    const { server, events } = watchedServer()
    await linked(server, (raw) =>
      modernCall((message) => raw.request(message), { name: "ask" }).run(() => accept({ yes: true })),
    )
    expect(events.names.filter((name) => name !== "server.log")).toEqual([
      "server.request.start",
      "server.input_asked",
      "server.request.stop",
      "server.request.start",
      "server.input_answered",
      "server.request.stop",
    ])
    const [first, second] = events.of("server.request.start").map(({ request }) => request)
    expect(events.of("server.input_asked")).toEqual([{ request: first, round: 1, questions: ["elicitation/create"] }])
    expect(events.of("server.input_answered")).toEqual([{ request: second, round: 1 }])
    expect(events.of("server.request.stop").map(({ outcome }) => outcome)).toEqual(["input_required", "complete"])
  })

  it("are told within their request in the legacy era", async () => {
    const { server, events } = watchedServer()
    await linked(server, async (raw) => {
      await (await legacyClient(raw)).call("tools/call", { name: "ask" }, () => accept({ yes: true }))
    })
    const [asked] = events.of("server.input_asked")
    expect(asked).toMatchObject({ round: 1, questions: ["elicitation/create"], request: { tool: "ask" } })
    expect(events.of("server.input_answered")).toEqual([{ request: asked?.request, round: 1 }])
    expect(events.of("server.request.stop").at(-1)).toMatchObject({ outcome: "complete", request: asked?.request })
  })

  it("are told of when their state is refused, which is never told itself", async () => {
    const { server, events } = watchedServer()
    await linked(server, async (raw) => {
      const call = modernCall((message) => raw.request(message), { name: "ask" })
      const { state } = await call.round()
      await call.round({ state: `${state}x`, answers: {} })
      expect(JSON.stringify(events.told)).not.toContain(String(state))
    })
    expect(events.of("server.state_refused")).toMatchObject([
      { reason: "request_state_invalid", request: { tool: "ask" } },
    ])
    expect(events.of("server.request.stop").at(-1)).toMatchObject({
      outcome: "error",
      error: { code: -32602, reason: "request_state_invalid" },
    })
  })

  it("are told of when a handler swallows the suspension of its call", async () => {
    const { server, events } = watchedServer()
    await linked(server, async (raw) => {
      await modernCall((message) => raw.request(message), { name: "swallow" }).round()
      expect(await events.first("server.suspension_swallowed")).toMatchObject({ what: 'tool "swallow"' })
    })
  })
})

describe("a round that counts once", () => {
  it.each<[what: string, end: () => string, expected: Json]>([
    ["a result", () => "done", { outcome: "complete" }],
    [
      "a tool that fails",
      () => {
        throw new ToolError("no")
      },
      { outcome: "tool_error" },
    ],
    [
      "an error",
      () => {
        throw new McpError("not you", { kind: "protocol", reason: "jsonrpc", code: -32602 })
      },
      { outcome: "error", error: { code: -32602, reason: "jsonrpc" } },
    ],
  ])("ends the same way when it is sent again: %s", async (_, end, expected) => {
    const once = tool("once", { singleUse: true }, async (_args, ctx) => {
      await ctx.elicit("Sure?", z.object({ yes: z.boolean() }))
      return end()
    })
    const { server, events } = watchedServer({ tools: [once] })
    await linked(server, async (raw) => {
      const call = modernCall((message) => raw.request(message), { name: "once" })
      const { state } = await call.round()
      const answers = { q1: accept({ yes: true }) }
      const rounds = [await call.round({ state, answers }), await call.round({ state, answers })]
      expect(rounds[1]?.response).toEqual({ ...rounds[0]?.response, id: rounds[1]?.response["id"] })
    })
    expect(events.of("server.request.stop")).toMatchObject([{ outcome: "input_required" }, expected, expected])
  })
})

describe("a line of ctx.log", () => {
  it.each(eras)("is told whether or not the client asked for its level, and once over all rounds (%s)", async (era) => {
    const { server, events } = watchedServer()
    await linked(server, async (raw) => {
      const reply = () => accept({ yes: true })
      if (era === "modern") await modernCall((message) => raw.request(message), { name: "ask" }).run(reply)
      else await (await legacyClient(raw)).call("tools/call", { name: "ask" }, reply)
      expect(raw.received.filter(({ method }) => method === "notifications/message")).toEqual([])
    })
    expect(events.of("server.log")).toMatchObject([
      { level: "debug", message: "asking", data: { deep: true }, request: { tool: "ask", era } },
    ])
  })
})

describe("changes", () => {
  it("are told: of lists, whoever changed them, and of resources", () => {
    const { server, events } = watchedServer()
    server.tool("more", {}, () => "more").remove()
    server.changed("prompts")
    server.updated("test://a")
    expect(events.told).toEqual([
      { name: "server.list_changed", event: { list: "tools" } },
      { name: "server.list_changed", event: { list: "tools" } },
      { name: "server.list_changed", event: { list: "prompts" } },
      { name: "server.resource_updated", event: { uri: "test://a" } },
    ])
  })
})

describe("a server that is made with watchers", () => {
  it("is watched by each of them", async () => {
    const heard: string[] = []
    const named = (name: string): Watcher => ({
      watch: (server) => void server.on("server.request.start", () => heard.push(name)),
    })
    const { server } = watchedServer({ watch: [named("one"), named("other")] })
    await linked(server, (raw) => raw.request(initializeRequest(1)))
    expect(heard).toEqual(["one", "other"])
  })

  it("refuses names of events that there are not", () => {
    const { server } = watchedServer()
    expect(() => server.on("server.request" as ServerEvent, () => {})).toThrow(/is not an event \(there are: server\./)
    expect(() => server.off("nothing" as ServerEvent, () => {})).toThrow(/is not an event/)
    expect(serverEvents).toEqual(expect.arrayContaining([...requests]))
  })
})
