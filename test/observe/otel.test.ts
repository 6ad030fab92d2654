/** Spans and metrics as OpenTelemetry's SDK gets them, by the semantic conventions for MCP. */
import { context, SpanKind, SpanStatusCode, trace } from "@opentelemetry/api"
import type { ReadableSpan } from "@opentelemetry/sdk-trace-base"
import { createServer, McpError, prompt, resource, ToolError, tool } from "conduit-mcp"
import { otel } from "conduit-mcp/otel"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { accept, modernCall } from "../support/asking.js"
import { createRecordingLogger } from "../support/logger.js"
import { ask, type EraName, eras, linked } from "../support/story.js"
import { useTelemetry } from "../support/telemetry.js"
import type { Json } from "../support/wire.js"

const tools = [
  tool("fine", {}, () => "fine"),
  tool("fail", {}, () => {
    throw new ToolError("no table")
  }),
  tool("crash", {}, () => {
    throw new RangeError("deep down")
  }),
  tool("refuse", {}, () => {
    throw new McpError("not you", { kind: "protocol", reason: "jsonrpc", code: -32602 })
  }),
  tool("inside", {}, async () => {
    await new Promise((resolve) => setImmediate(resolve))
    trace.getTracer("handler").startSpan("query").end()
    return "inside"
  }),
  tool("ask", {}, async (_, ctx) => (await ctx.elicit("Sure?", z.object({ yes: z.boolean() }))).action),
]

/** Made before any provider is registered, as at module scope. */
const server = createServer({
  name: "test",
  version: "1.0.0",
  tools,
  resources: [resource("test://a", { name: "a" }, () => "a")],
  prompts: [prompt("hi", {}, () => "hi")],
  logger: createRecordingLogger(),
  watch: [otel()],
})

const { spans, histogram } = useTelemetry()

/** The spans of one method. */
function spansOf(method: string): readonly ReadableSpan[] {
  return spans().filter(({ attributes }) => attributes["mcp.method.name"] === method)
}

async function spanOf(era: EraName, method: string, params: Json = {}): Promise<ReadableSpan> {
  await ask(server, era, method, params)
  const [span, ...more] = spansOf(method)
  if (span === undefined || more.length > 0) throw new Error(`one span, not ${more.length}`)
  return span
}

const revisionOf = { modern: "2026-07-28", legacy: "2025-11-25" } as const

describe.each(eras)("a span (%s)", (era) => {
  const shared = { "mcp.protocol.version": revisionOf[era], "network.transport": "pipe" }

  it.each<[method: string, params: Json, name: string, attributes: Json]>([
    [
      "tools/call",
      { name: "fine" },
      "tools/call fine",
      { "gen_ai.operation.name": "execute_tool", "gen_ai.tool.name": "fine" },
    ],
    ["prompts/get", { name: "hi" }, "prompts/get hi", { "gen_ai.prompt.name": "hi" }],
    ["resources/read", { uri: "test://a" }, "resources/read", { "mcp.resource.uri": "test://a" }],
    ["tools/list", {}, "tools/list", {}],
    ["tools/call", { name: "nope" }, "tools/call", { "gen_ai.operation.name": "execute_tool" }],
  ])("is named and described as the conventions say: %s %j", async (method, params, name, attributes) => {
    const span = await spanOf(era, method, params)
    expect(span.name).toBe(name)
    expect(span.kind).toBe(SpanKind.SERVER)
    expect(span.instrumentationScope.name).toBe("conduit-mcp")
    expect(span.attributes).toMatchObject({ "mcp.method.name": method, ...shared, ...attributes })
    expect(span.attributes["jsonrpc.request.id"]).toMatch(/^\d+$/)
  })

  it.each<[tool: string, errorType: string | undefined, code: string | undefined]>([
    ["fine", undefined, undefined],
    ["fail", "tool_error", undefined],
    ["crash", "tool_error", undefined],
    ["refuse", "-32602", "-32602"],
    ["nope", "-32602", "-32602"],
  ])("says how it ended: %s", async (name, errorType, code) => {
    const span = await spanOf(era, "tools/call", { name })
    expect(span.attributes["error.type"]).toBe(errorType)
    expect(span.attributes["rpc.response.status_code"]).toBe(code)
    expect(span.status.code).toBe(errorType === undefined ? SpanStatusCode.UNSET : SpanStatusCode.ERROR)
  })

  it("holds an exception that nobody expected", async () => {
    const { events } = await spanOf(era, "tools/call", { name: "crash" })
    expect(events).toMatchObject([
      { name: "exception", attributes: { "exception.type": "RangeError", "exception.message": "deep down" } },
    ])
  })

  it("is the parent of what handlers do", async () => {
    const span = await spanOf(era, "tools/call", { name: "inside" })
    const query = spans().find(({ name }) => name === "query")
    expect(query?.parentSpanContext?.spanId).toBe(span.spanContext().spanId)
  })

  it("never holds arguments or results", async () => {
    const span = await spanOf(era, "tools/call", { name: "fine", arguments: { password: "hunter2" } })
    expect(JSON.stringify([span.attributes, span.events, span.status])).not.toContain("hunter2")
  })
})

describe("the trace", () => {
  const traceId = "0af7651916cd43dd8448eb211c80319c"
  const traceparent = `00-${traceId}-b7ad6b7169203331-01`

  it("is the one that the caller names, with a link to the span that is active here", async () => {
    const ambient = trace.getTracer("http").startSpan("POST /mcp")
    const span = await context.with(trace.setSpan(context.active(), ambient), () =>
      spanOf("modern", "tools/list", { _meta: { traceparent, tracestate: "vendor=1" } }),
    )
    expect(span.spanContext().traceId).toBe(traceId)
    expect(span.parentSpanContext).toMatchObject({ spanId: "b7ad6b7169203331", isRemote: true })
    expect(span.spanContext().traceState?.serialize()).toBe("vendor=1")
    expect(span.links.map((link) => link.context.spanId)).toEqual([ambient.spanContext().spanId])
  })

  it("is that of the span that is active here when the caller names none", async () => {
    const ambient = trace.getTracer("http").startSpan("POST /mcp")
    const span = await context.with(trace.setSpan(context.active(), ambient), () => spanOf("modern", "tools/list"))
    expect(span.parentSpanContext?.spanId).toBe(ambient.spanContext().spanId)
    expect(span.links).toEqual([])
  })

  it.each(["nonsense", `ff-${traceId}-b7ad6b7169203331-01`, `00-${"0".repeat(32)}-b7ad6b7169203331-01`])(
    "is a new one when what the caller names is malformed: %s",
    async (malformed) => {
      const span = await spanOf("modern", "tools/list", { _meta: { traceparent: malformed } })
      expect(span.parentSpanContext).toBeUndefined()
      expect(span.links).toEqual([])
    },
  )
})

describe("questions", () => {
  it("are events of the span of the round that asks them", async () => {
    await linked(server, (raw) =>
      modernCall((message) => raw.request(message), { name: "ask" }).run(() => accept({ yes: true })),
    )
    const [first, second] = spansOf("tools/call")
    expect(first?.events).toMatchObject([
      { name: "mcp.input_asked", attributes: { "mcp.input.questions": ["elicitation/create"], "mcp.input.round": 1 } },
    ])
    expect(first?.status.code).toBe(SpanStatusCode.UNSET)
    expect(second?.events).toEqual([])
  })
})

describe("metrics", () => {
  it("measure requests in seconds, in the buckets of the conventions, without what is of one request only", async () => {
    await ask(server, "modern", "tools/call", { name: "fine" })
    await ask(server, "modern", "tools/call", { name: "fine" })
    await ask(server, "modern", "resources/read", { uri: "test://a" })
    await ask(server, "modern", "tools/call", { name: "nope" })
    const { descriptor, dataPoints } = await histogram("mcp.server.operation.duration")
    expect(descriptor.unit).toBe("s")
    expect(dataPoints[0]?.value.buckets.boundaries).toEqual([
      0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300,
    ])
    const connection = { "mcp.protocol.version": "2026-07-28", "network.transport": "pipe" }
    const calls = { "mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", ...connection }
    expect(dataPoints.map(({ attributes, value }) => [attributes, value.count])).toEqual([
      [{ ...calls, "gen_ai.tool.name": "fine" }, 2],
      [{ "mcp.method.name": "resources/read", ...connection }, 1],
      [{ ...calls, "error.type": "-32602", "rpc.response.status_code": "-32602" }, 1],
    ])
  })

  it("measure legacy sessions", async () => {
    await ask(server, "legacy", "tools/list")
    const { descriptor, dataPoints } = await histogram("mcp.server.session.duration")
    expect(descriptor.unit).toBe("s")
    expect(dataPoints.map(({ attributes, value }) => [attributes, value.count])).toEqual([
      [{ "mcp.protocol.version": "2025-11-25", "network.transport": "pipe" }, 1],
    ])
  })
})
