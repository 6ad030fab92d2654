/** A client's spans and metrics as OpenTelemetry's SDK gets them, by the semantic conventions for MCP, and the trace that servers join. */
import { context, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api"
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base"
import { createServer, fail, McpError, prompt, resource, tool } from "conduit-mcp"
import { type Client, type ConnectOptions, connect } from "conduit-mcp/client"
import { serve } from "conduit-mcp/node"
import { otel } from "conduit-mcp/otel"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { createRecordingLogger } from "../support/logger.js"
import { type EraName, eras } from "../support/story.js"
import { useTelemetry } from "../support/telemetry.js"

/** The trace that each request told the server, since the client of the test was connected. */
let seen: (string | undefined)[] = []

const tools = [
  tool("fine", {}, () => "fine"),
  tool("fail", {}, () => fail("no table")),
  tool("refuse", {}, () => {
    throw new McpError("not you", { kind: "protocol", reason: "jsonrpc", code: -32602 })
  }),
  tool("wait", {}, async (_, ctx) => {
    await new Promise<void>((resolve) => ctx.signal.addEventListener("abort", () => resolve()))
    return "late"
  }),
  tool("ask", {}, async (_, ctx) => {
    const { action } = await ctx.elicit("Sure?", z.object({ yes: z.boolean() }))
    return action
  }),
]

/** Made before any provider is registered, as at module scope. */
const server = createServer({
  name: "test",
  version: "1.0.0",
  tools,
  resources: [resource("test://a", { name: "a" }, () => "a")],
  prompts: [prompt("hi", {}, () => "hi")],
  logger: createRecordingLogger(),
  watch: [
    otel(),
    { watch: (on) => void on.on("server.request.start", ({ request }) => seen.push(request.traceparent)) },
  ],
})
const tracing = otel()

const { spans, histogram } = useTelemetry()

const versionOf = { modern: "2026-07-28", legacy: "2025-11-25" } as const
const tracer = (): Tracer => trace.getTracer("application")

async function withClient<T>(
  era: EraName,
  use: (client: Client) => Promise<T>,
  options: ConnectOptions = {},
): Promise<T> {
  await using client = await connect(server, { protocol: era, trace: tracing, ...options })
  seen = []
  return await use(client)
}

/** The spans of one kind, in the order of their ends. */
function spansOf(kind: SpanKind): readonly ReadableSpan[] {
  return spans().filter((span) => span.kind === kind && span.attributes["mcp.method.name"] !== "initialize")
}

/** The one span of the client. */
function clientSpan(): ReadableSpan {
  const [span, ...more] = spansOf(SpanKind.CLIENT)
  if (span === undefined || more.length > 0) throw new Error(`one span, not ${more.length}`)
  return span
}

describe.each(eras)("the span of a request (%s)", (era) => {
  const shared = { "mcp.protocol.version": versionOf[era], "network.transport": "pipe" }

  it.each<[what: string, make: (client: Client) => Promise<unknown>, name: string, attributes: object]>([
    [
      "a call of a tool",
      (client) => client.callTool("fine"),
      "tools/call fine",
      { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "fine" },
    ],
    ["a prompt", (client) => client.getPrompt("hi"), "prompts/get hi", { "gen_ai.prompt.name": "hi" }],
    ["a resource", (client) => client.readResource("test://a"), "resources/read", { "mcp.resource.uri": "test://a" }],
    ["a list", (client) => client.listTools(), "tools/list", {}],
  ])("is named and described as the conventions say: %s", async (_, make, name, attributes) => {
    await withClient(era, make)
    const span = clientSpan()
    expect(span.name).toBe(name)
    expect(span.instrumentationScope.name).toBe("conduit-mcp")
    expect(span.attributes).toEqual({
      "mcp.method.name": name.split(" ")[0],
      "jsonrpc.request.id": "2",
      ...shared,
      ...attributes,
    })
    expect(span.status.code).toBe(SpanStatusCode.UNSET)
  })

  it.each<[tool: string, errorType: string | undefined, code: string | undefined]>([
    ["fine", undefined, undefined],
    ["fail", "tool_error", undefined],
    ["refuse", "-32602", "-32602"],
    ["nope", "-32602", "-32602"],
  ])("says how it ended: %s", async (name, errorType, code) => {
    await withClient(era, (client) => client.callTool(name).catch(() => undefined))
    const span = clientSpan()
    expect(span.attributes["error.type"]).toBe(errorType)
    expect(span.attributes["rpc.response.status_code"]).toBe(code)
    expect(span.status.code).toBe(errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR)
  })

  it("says that it was given up, and why", async () => {
    await withClient(era, async (client) => {
      const giving = new AbortController()
      const call = client.callTool("wait", {}, { signal: giving.signal })
      giving.abort()
      await expect(call).rejects.toMatchObject({ kind: "cancelled" })
      await expect(client.callTool("wait", {}, { timeoutMs: 1 })).rejects.toMatchObject({ kind: "timeout" })
    })
    expect(spansOf(SpanKind.CLIENT).map(({ attributes }) => attributes["error.type"])).toEqual([
      "aborted",
      "request_timeout",
    ])
  })

  it("is under the span that is active", async () => {
    const task = tracer().startSpan("task")
    await withClient(era, (client) =>
      context.with(trace.setSpan(context.active(), task), () => client.callTool("fine")),
    )
    expect(clientSpan().parentSpanContext?.spanId).toBe(task.spanContext().spanId)
  })

  it("never holds arguments or results", async () => {
    await withClient(era, (client) => client.callTool("fine", { password: "hunter2" }))
    const { attributes, events, status } = clientSpan()
    expect(JSON.stringify([attributes, events, status])).not.toMatch(/hunter2|"fine"]/)
  })

  it("is where the answer to a question is made", async () => {
    const elicit = async (): Promise<{ action: "decline" }> => {
      await Promise.resolve()
      tracer().startSpan("dialog").end()
      return { action: "decline" }
    }
    await withClient(era, (client) => client.callTool("ask"), { handlers: { elicit } })
    const span = clientSpan()
    const dialog = spans().find(({ name }) => name === "dialog")
    expect(dialog?.parentSpanContext?.spanId).toBe(span.spanContext().spanId)
    const question = {
      name: "mcp.question",
      attributes: { "mcp.question.method": "elicitation/create", "mcp.question.outcome": "answered" },
    }
    const asked = {
      name: "mcp.input_asked",
      attributes: { "mcp.input.round": 1, "mcp.input.questions": ["elicitation/create"] },
    }
    expect(span.events).toMatchObject(era === "modern" ? [asked, question] : [question])
  })

  it("is that of its own call, also where calls wait in line for each other", async () => {
    const limits = { maxInFlight: 1 }
    const made: string[] = []
    const elicit = (): { action: "decline" } => {
      made.push(trace.getActiveSpan()?.spanContext().spanId ?? "none")
      return { action: "decline" }
    }
    await withClient(era, (client) => Promise.all([client.callTool("ask"), client.callTool("ask")]), {
      handlers: { elicit },
      limits,
    })
    expect(made).toEqual(spansOf(SpanKind.CLIENT).map((span) => span.spanContext().spanId))
    expect(new Set(made).size).toBe(2)
  })
})

describe("one trace", () => {
  it("joins the client and a modern server, each round under the one span of the call", async () => {
    const elicit = (): { action: "decline" } => ({ action: "decline" })
    await withClient("modern", (client) => client.callTool("ask"), { handlers: { elicit } })
    const { traceId, spanId } = clientSpan().spanContext()
    const served = spansOf(SpanKind.SERVER).filter(({ name }) => name === "tools/call ask")
    expect(served.map((span) => span.parentSpanContext)).toMatchObject([
      { traceId, spanId, isRemote: true },
      { traceId, spanId, isRemote: true },
    ])
    expect(seen).toEqual([`00-${traceId}-${spanId}-01`, `00-${traceId}-${spanId}-01`])
  })

  it("joins them over HTTP, too", async () => {
    const running = await serve(server, { port: 0 })
    const client = await connect(running.url, { trace: tracing })
    await client.callTool("fine")
    await client.close()
    await running.close()
    const { traceId, spanId } = clientSpan().spanContext()
    const [served] = spansOf(SpanKind.SERVER).filter(({ name }) => name === "tools/call fine")
    expect(served?.parentSpanContext).toMatchObject({ traceId, spanId, isRemote: true })
    expect(clientSpan().attributes).toMatchObject({
      "network.transport": "tcp",
      "network.protocol.name": "http",
      "server.address": "127.0.0.1",
      "server.port": Number(new URL(running.url).port),
    })
  })

  it("is not named to a legacy server, which does not know where to look for it", async () => {
    await withClient("legacy", (client) => client.callTool("fine"))
    expect(seen).toEqual([undefined])
  })

  it("is named as one that is not sampled where it is not", async () => {
    const unsampled = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", traceFlags: 0 }
    await withClient("modern", (client) =>
      context.with(trace.setSpanContext(context.active(), unsampled), () => client.callTool("fine")),
    )
    expect(seen).toEqual([expect.stringMatching(/^00-0af7651916cd43dd8448eb211c80319c-[0-9a-f]{16}-00$/)])
  })

  it.each<[where: string, options: ConnectOptions, call: object]>([
    ["the call", {}, { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }],
    ["the client", { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" }, {}],
    ["_meta", {}, { meta: { traceparent: "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" } }],
  ])("is the one that the application names, and the span is under it: %s", async (_, options, call) => {
    const active = tracer().startSpan("task")
    await withClient(
      "modern",
      (client) => context.with(trace.setSpan(context.active(), active), () => client.callTool("fine", {}, call)),
      options,
    )
    expect(seen).toEqual(["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"])
    const span = clientSpan()
    expect(span.parentSpanContext).toMatchObject({ spanId: "b7ad6b7169203331", isRemote: true })
    expect(span.links.map((link) => link.context.spanId)).toEqual([active.spanContext().spanId])
  })
})

describe("the span of an agent for the same call of a tool", () => {
  /** Calls a tool inside of a span as instrumentations of agents make it. */
  async function calledBy(attributes: object, kind = SpanKind.INTERNAL): Promise<ReadableSpan> {
    const agent = tracer().startSpan("execute_tool fine", { kind, attributes: { ...attributes } })
    await withClient("modern", (client) =>
      context.with(trace.setSpan(context.active(), agent), () => client.callTool("fine")),
    )
    expect(agent.isRecording()).toBe(true)
    agent.end()
    const ended = spans().find(({ name }) => name === "execute_tool fine")
    if (ended === undefined) throw new Error("it has ended")
    return ended
  }

  it.each([
    ["of that name", { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "fine" }],
    ["without a name", { "gen_ai.operation.name": "execute_tool" }],
  ])("is used: %s", async (_, attributes) => {
    const span = await calledBy(attributes)
    expect(spansOf(SpanKind.CLIENT)).toEqual([])
    expect(span.attributes).toMatchObject({
      "mcp.method.name": "tools/call",
      "mcp.protocol.version": "2026-07-28",
      "jsonrpc.request.id": "2",
    })
    expect(seen).toEqual([`00-${span.spanContext().traceId}-${span.spanContext().spanId}-01`])
  })

  it.each<[what: string, attributes: object, kind?: SpanKind]>([
    ["of another tool", { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "research" }],
    ["of another operation", { "gen_ai.operation.name": "invoke_agent" }],
    ["of a server in whose handler the call is made", { "gen_ai.operation.name": "execute_tool" }, SpanKind.SERVER],
    ["of a call that was told already", { "gen_ai.operation.name": "execute_tool", "mcp.method.name": "tools/call" }],
  ])("is a parent like any other: %s", async (_, attributes, kind) => {
    const span = await calledBy(attributes, kind)
    expect(clientSpan().parentSpanContext?.spanId).toBe(span.spanContext().spanId)
  })
})

describe("metrics", () => {
  it("measure requests in seconds, in the buckets of the conventions, without what is of one request only", async () => {
    await withClient("modern", async (client) => {
      await client.callTool("fine")
      await client.callTool("fine")
      await client.readResource("test://a")
      await client.callTool("fail")
    })
    const { descriptor, dataPoints } = await histogram("mcp.client.operation.duration")
    expect(descriptor.unit).toBe("s")
    expect(dataPoints[0]?.value.buckets.boundaries).toEqual([
      0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
    ])
    const connection = { "mcp.protocol.version": "2026-07-28", "network.transport": "pipe" }
    const calls = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", ...connection }
    expect(dataPoints.map(({ attributes, value }) => [attributes, value.count])).toEqual([
      [{ ...calls, "gen_ai.tool.name": "fine" }, 2],
      [{ "mcp.method.name": "resources/read", ...connection }, 1],
      [{ ...calls, "gen_ai.tool.name": "fail", "error.type": "tool_error" }, 1],
    ])
  })

  it("measure legacy sessions", async () => {
    await withClient("legacy", (client) => client.ping())
    const { descriptor, dataPoints } = await histogram("mcp.client.session.duration")
    expect(descriptor.unit).toBe("s")
    expect(dataPoints.map(({ attributes, value }) => [attributes, value.count])).toEqual([
      [{ "mcp.protocol.version": "2025-11-25", "network.transport": "pipe" }, 1],
    ])
  })
})
