/**
 * Spans and metrics of OpenTelemetry, made from a server's events. The one file that imports its API.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
 */
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  type Histogram,
  metrics,
  type Span,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api"
import type { RequestEnd, RequestFacts, SessionFacts, Watcher } from "./event.js"

const SCOPE = "conduit-mcp"

/** In seconds. */
const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** The longest `tracestate` that is passed on, in characters. */
const MAX_TRACESTATE_LENGTH = 512

interface Running {
  readonly span: Span
  /** The context in which the request's work runs. */
  readonly inside: Context
}

/**
 * Traces and measures servers with OpenTelemetry: a span of kind SERVER for each request, under the trace that the caller names
 * in `_meta` and with a link to the span that is active, and the histograms `mcp.server.operation.duration` and
 * `mcp.server.session.duration`. Handlers run inside of the span. Uses the providers that are registered with
 * `@opentelemetry/api` when something happens, so it may be made before they are.
 *
 * @example
 * createServer({ name: "weather", version: "1.0.0", watch: [otel()] })
 */
export function otel(): Watcher {
  const running = new WeakMap<RequestFacts, Running>()
  const instruments = createInstruments()
  const end = ({ request, outcome, error, durationMs }: RequestEnd, thrown: unknown): void => {
    const { span, inside } = running.get(request) ?? {}
    const failed = outcome === "tool_error" ? outcome : error && String(error.code)
    const ends: Attributes = {
      ...(failed === undefined ? {} : { "error.type": failed }),
      ...(error === undefined ? {} : { "rpc.response.status_code": String(error.code) }),
    }
    instruments().operation.record(durationMs / 1_000, { ...attributesOf(request), ...ends }, inside)
    if (span === undefined) return
    span.setAttributes(ends)
    if (failed !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, ...(error && { message: error.reason }) })
    if (thrown !== undefined) span.recordException(thrown instanceof Error ? thrown : String(thrown))
    span.end()
  }
  const note = (request: RequestFacts, name: string, attributes: Attributes): void => {
    running.get(request)?.span.addEvent(name, attributes)
  }
  return {
    watch(server) {
      server.on("server.request.start", ({ request }) => void running.set(request, start(request)))
      server.on("server.request.stop", (event) => end(event, undefined))
      server.on("server.request.exception", (event) => end(event, event.thrown))
      server.on("server.session.stop", ({ session, durationMs }) =>
        instruments().session.record(durationMs / 1_000, connectionOf(session)),
      )
      server.on("server.input_asked", ({ request, round, questions }) =>
        note(request, "mcp.input_asked", { "mcp.input.round": round, "mcp.input.questions": [...questions] }),
      )
      server.on("server.state_refused", ({ request, reason }) => note(request, "mcp.state_refused", { reason }))
      server.on("server.suspension_swallowed", ({ request }) => note(request, "mcp.suspension_swallowed", {}))
    },
    run(request, work) {
      const inside = running.get(request)?.inside
      return inside === undefined ? work() : context.with(inside, work)
    },
  }
}

function start(request: RequestFacts): Running {
  const ambient = context.active()
  const remote = readRemote(request)
  const active = trace.getSpanContext(ambient)
  const parent = remote === undefined ? ambient : trace.setSpanContext(ambient, remote)
  const links = remote === undefined || active === undefined ? [] : [{ context: active }]
  const attributes = { ...attributesOf(request), ...detailsOf(request) }
  const subject = request.tool ?? request.prompt
  const name = subject === undefined ? request.method : `${request.method} ${subject}`
  const span = trace.getTracer(SCOPE).startSpan(name, { kind: SpanKind.SERVER, attributes, links }, parent)
  return { span, inside: trace.setSpan(parent, span) }
}

/** What is true of many requests: attributes of spans and of metrics. */
function attributesOf(request: RequestFacts): Attributes {
  const { method, tool, prompt } = request
  return {
    "mcp.method.name": method,
    ...(method === "tools/call" ? { "gen_ai.operation.name": "execute_tool" } : {}),
    ...(tool === undefined ? {} : { "gen_ai.tool.name": tool }),
    ...(prompt === undefined ? {} : { "gen_ai.prompt.name": prompt }),
    ...connectionOf(request),
  }
}

function connectionOf({
  revision,
  transport,
}: Pick<RequestFacts | SessionFacts, "revision" | "transport">): Attributes {
  const network = transport === "http" ? { "network.transport": "tcp", "network.protocol.name": "http" } : PIPE
  return { "mcp.protocol.version": revision, ...network }
}

const PIPE = { "network.transport": "pipe" }

/** What is true of one request only: attributes of spans. */
function detailsOf({ id, uri, session }: RequestFacts): Attributes {
  return {
    "jsonrpc.request.id": String(id),
    ...(uri === undefined ? {} : { "mcp.resource.uri": uri }),
    ...(session === undefined || session === "" ? {} : { "mcp.session.id": session }),
  }
}

/** The trace that the caller is in. Baggage is not taken over: it would travel on to whatever the handler calls. */
function readRemote({ traceparent, tracestate }: RequestFacts): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparent?.split("-") ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const remote = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  if (tracestate === undefined || tracestate.length > MAX_TRACESTATE_LENGTH) return remote
  return { ...remote, traceState: createTraceState(tracestate) }
}

interface Instruments {
  readonly operation: Histogram
  readonly session: Histogram
}

/** Answers the instruments of the provider that is registered now: those that came before one was stay mute. */
function createInstruments(): () => Instruments {
  let provider: unknown
  let instruments: Instruments | undefined
  return () => {
    const current = metrics.getMeterProvider()
    if (current !== provider || instruments === undefined) {
      const meter = metrics.getMeter(SCOPE)
      const options = { unit: "s", advice: { explicitBucketBoundaries: BUCKETS } }
      provider = current
      instruments = {
        operation: meter.createHistogram("mcp.server.operation.duration", {
          description: "How long a request took",
          ...options,
        }),
        session: meter.createHistogram("mcp.server.session.duration", {
          description: "How long a session lasted",
          ...options,
        }),
      }
    }
    return instruments
  }
}
