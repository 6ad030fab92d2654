/** The text that Prometheus reads: its form by the exposition format, its numbers from events. */
import { createServer, type RequestFacts, type ServerEvents, tool } from "conduit-mcp"
import { type Prometheus, prometheus } from "conduit-mcp/prometheus"
import { describe, expect, it } from "vitest"
import { createEmitter } from "../../src/observe/emitter.js"
import { serverEvents } from "../../src/observe/event.js"
import { callTool, eras } from "../support/story.js"

const request: RequestFacts = {
  id: 1,
  method: "tools/call",
  era: "modern",
  revision: "2026-07-28",
  transport: "http",
  tool: "add",
  prompt: undefined,
  uri: undefined,
  client: undefined,
  principal: "ada",
  session: undefined,
  traceparent: undefined,
  tracestate: undefined,
}

/** Metrics together with the topics of a server that they watch. */
function watched(options?: Parameters<typeof prometheus>[0]) {
  const metrics = prometheus(options)
  const { topics, on } = createEmitter<ServerEvents>(serverEvents, (_, error) => {
    throw error
  })
  metrics.watch({ on })
  return { metrics, topics }
}

const stop = (durationMs: number, facts: Partial<RequestFacts> = {}): ServerEvents["server.request.stop"] => ({
  request: { ...request, ...facts },
  durationMs,
  outcome: "complete",
  error: undefined,
})

/** The lines of one metric. */
const linesOf = (metrics: Prometheus, name: string): readonly string[] =>
  metrics
    .text()
    .split("\n")
    .filter((line) => new RegExp(`^(# (HELP|TYPE) )?conduit_mcp_${name}(_bucket|_sum|_count)?[ {]`).test(line))

describe("the text", () => {
  it("says what every metric is before it says how much there is, and ends with a line break", () => {
    const { metrics } = watched()
    const text = metrics.text()
    expect(metrics.contentType).toBe("text/plain; version=0.0.4; charset=utf-8")
    expect(text.endsWith("\n")).toBe(true)
    for (const line of text.trimEnd().split("\n")) {
      expect(line).toMatch(/^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? -?[\d.e+-]+)$/)
    }
  })

  it("counts a histogram's buckets upwards, each with all below it", () => {
    const { metrics, topics } = watched({ buckets: [0.01, 0.1, 1] })
    for (const durationMs of [5, 10, 50, 2_000]) topics["server.request.stop"].publish(stop(durationMs))
    const labels = 'tool="add",outcome="complete"'
    expect(linesOf(metrics, "tool_duration_seconds")).toEqual([
      "# HELP conduit_mcp_tool_duration_seconds How long calls of tools took.",
      "# TYPE conduit_mcp_tool_duration_seconds histogram",
      `conduit_mcp_tool_duration_seconds_bucket{${labels},le="0.01"} 2`,
      `conduit_mcp_tool_duration_seconds_bucket{${labels},le="0.1"} 3`,
      `conduit_mcp_tool_duration_seconds_bucket{${labels},le="1"} 3`,
      `conduit_mcp_tool_duration_seconds_bucket{${labels},le="+Inf"} 4`,
      `conduit_mcp_tool_duration_seconds_sum{${labels}} 2.065`,
      `conduit_mcp_tool_duration_seconds_count{${labels}} 4`,
    ])
  })

  it("escapes what stands in a label", () => {
    const { metrics, topics } = watched({ buckets: [1] })
    topics["server.request.stop"].publish(stop(1, { tool: 'a"b\\c\nd' }))
    expect(linesOf(metrics, "tool_duration_seconds").at(-1)).toBe(
      'conduit_mcp_tool_duration_seconds_count{tool="a\\"b\\\\c\\nd",outcome="complete"} 1',
    )
  })

  it("starts every name as it is told to", () => {
    const { metrics } = watched({ prefix: "shop_" })
    for (const line of metrics.text().trimEnd().split("\n")) expect(line).toMatch(/^(# (HELP|TYPE) )?shop_/)
  })

  it("never names a uri, a session, a principal or an id", () => {
    const { metrics, topics } = watched()
    const facts = { method: "resources/read", tool: undefined, uri: "test://secret", session: "abcdef01" }
    topics["server.request.start"].publish({ request: { ...request, ...facts } })
    topics["server.request.stop"].publish(stop(1, facts))
    expect(metrics.text()).not.toMatch(/secret|abcdef01|ada/)
  })

  it("stays bounded, however many names of tools come", () => {
    const { metrics, topics } = watched({ buckets: [1] })
    for (let n = 0; n < 5_000; n++) topics["server.request.stop"].publish(stop(1, { tool: `tool-${n}` }))
    const counts = linesOf(metrics, "tool_duration_seconds").filter((line) => line.includes("_count"))
    expect(counts).toHaveLength(2_001)
    expect(counts.at(-1)).toBe('conduit_mcp_tool_duration_seconds_count{tool="other",outcome="other"} 3000')
  })
})

describe("the numbers", () => {
  it("follow what lasts up and down", () => {
    const { metrics, topics } = watched()
    const gauges = () => ["requests_running", "sessions", "streams"].map((name) => linesOf(metrics, name).at(-1))
    const session = {
      session: "ab",
      revision: "2025-11-25",
      transport: "http",
      client: undefined,
      principal: undefined,
    } as const
    const stream = { kind: "listen", transport: "http", principal: undefined } as const
    topics["server.request.start"].publish({ request })
    topics["server.session.start"].publish({ session, resumed: false })
    topics["server.stream.start"].publish({ stream })
    expect(gauges()).toEqual([
      "conduit_mcp_requests_running 1",
      "conduit_mcp_sessions 1",
      'conduit_mcp_streams{kind="listen"} 1',
    ])
    topics["server.request.exception"].publish({
      ...stop(1),
      outcome: "tool_error",
      thrown: new Error(),
      reference: "r",
    })
    topics["server.session.stop"].publish({ session, durationMs: 1, why: "ended" })
    topics["server.stream.stop"].publish({ stream, durationMs: 1 })
    expect(gauges()).toEqual([
      "conduit_mcp_requests_running 0",
      "conduit_mcp_sessions 0",
      'conduit_mcp_streams{kind="listen"} 0',
    ])
    expect(linesOf(metrics, "exceptions_total").at(-1)).toBe('conduit_mcp_exceptions_total{method="tools/call"} 1')
  })

  it("count refusals by reason and questions by method", () => {
    const { metrics, topics } = watched()
    const refusal = { status: 403, code: -32600, message: "no", transport: "http" } as const
    topics["server.request_refused"].publish({ ...refusal, reason: "host_not_allowed" })
    topics["server.state_refused"].publish({ request, reason: "request_state_expired" })
    topics["server.session_refused"].publish({ revision: "2025-11-25", client: undefined })
    topics["server.input_asked"].publish({ request, round: 1, questions: ["roots/list", "elicitation/create"] })
    expect(linesOf(metrics, "refusals_total").slice(2)).toEqual([
      'conduit_mcp_refusals_total{reason="host_not_allowed"} 1',
      'conduit_mcp_refusals_total{reason="request_state_expired"} 1',
      'conduit_mcp_refusals_total{reason="overloaded"} 1',
    ])
    expect(linesOf(metrics, "questions_total").slice(2)).toEqual([
      'conduit_mcp_questions_total{question="roots/list"} 1',
      'conduit_mcp_questions_total{question="elicitation/create"} 1',
    ])
  })
})

describe.each(eras)("a server that is watched (%s)", (era) => {
  it("is counted", async () => {
    const metrics = prometheus()
    const server = createServer({
      name: "test",
      version: "1.0.0",
      tools: [tool("hello", {}, () => "hello")],
      watch: [metrics],
    })
    await callTool(server, era, "hello")
    await callTool(server, era, "unknown")
    const counts = linesOf(metrics, "request_duration_seconds").filter((line) => line.includes("_count"))
    expect(counts).toEqual(
      expect.arrayContaining([
        'conduit_mcp_request_duration_seconds_count{method="tools/call",outcome="complete"} 1',
        'conduit_mcp_request_duration_seconds_count{method="tools/call",outcome="error"} 1',
      ]),
    )
    expect(linesOf(metrics, "tool_duration_seconds").at(-1)).toBe(
      'conduit_mcp_tool_duration_seconds_count{tool="hello",outcome="complete"} 1',
    )
  })
})
