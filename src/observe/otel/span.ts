/** What spans of servers and of clients have in common: their names, their attributes, where they begin and how they end. */
import {
  type Attributes,
  type Context,
  context,
  createTraceState,
  type Span,
  type SpanContext,
  type SpanKind,
  SpanStatusCode,
  trace,
} from "@opentelemetry/api"

/** The scope of everything that is told. */
export const SCOPE = "conduit-mcp"

/** The longest `tracestate` that is passed on, in characters. */
const MAX_TRACESTATE_LENGTH = 512

/** A request that is under way. */
export interface Running {
  readonly span: Span
  /** The context in which the request's work runs. */
  readonly inside: Context
  /** Whether the span is one of somebody else's, who ends it. */
  readonly isBorrowed: boolean
}

/** What is told of a request on either side. */
export interface Told {
  readonly method: string
  readonly tool: string | undefined
  readonly prompt: string | undefined
  readonly uri: string | undefined
  readonly transport: "http" | "pipe"
  readonly session: string | undefined
  readonly traceparent: string | undefined
  readonly tracestate?: string | undefined
}

/** How a request ended: the class of its error if it failed, the JSON-RPC code if there is one, and words for it. */
export interface Failure {
  readonly type: string | undefined
  readonly code: number | undefined
  readonly message: string | undefined
}

/** Starts the span of a request: under the trace that it names, with a link to the span that is active, or under that one. */
export function startSpan(request: Told, kind: SpanKind, attributes: Attributes): Running {
  const ambient = context.active()
  const remote = readRemote(request)
  const active = trace.getSpanContext(ambient)
  const parent = remote === undefined ? ambient : trace.setSpanContext(ambient, remote)
  const links = remote === undefined || active === undefined ? [] : [{ context: active }]
  const subject = request.tool ?? request.prompt
  const name = subject === undefined ? request.method : `${request.method} ${subject}`
  const all = { ...attributes, ...detailsOf(request) }
  const span = trace.getTracer(SCOPE).startSpan(name, { kind, attributes: all, links }, parent)
  return { span, inside: trace.setSpan(parent, span), isBorrowed: false }
}

/** Ends the span of a request. */
export function endSpan({ span, isBorrowed }: Running, failure: Failure, ends: Attributes, thrown: unknown): void {
  span.setAttributes(ends)
  if (isBorrowed) return
  const { type, message } = failure
  if (type !== undefined) span.setStatus({ code: SpanStatusCode.ERROR, ...(message !== undefined && { message }) })
  if (thrown !== undefined) span.recordException(thrown instanceof Error ? thrown : String(thrown))
  span.end()
}

/** What is true of many requests: attributes of spans and of metrics. */
export function subjectOf({ method, tool, prompt }: Told): Attributes {
  return {
    "mcp.method.name": method,
    ...(method === "tools/call" ? { "gen_ai.operation.name": "execute_tool" } : {}),
    ...(tool === undefined ? {} : { "gen_ai.tool.name": tool }),
    ...(prompt === undefined ? {} : { "gen_ai.prompt.name": prompt }),
  }
}

/** What is true of everything that goes over one connection. */
export function connectionOf(version: string, transport: Told["transport"]): Attributes {
  const network = transport === "http" ? { "network.transport": "tcp", "network.protocol.name": "http" } : PIPE
  return { "mcp.protocol.version": version, ...network }
}

const PIPE = { "network.transport": "pipe" }

/** How a request ended, as attributes. */
export function endOf({ type, code }: Failure): Attributes {
  return {
    ...(type === undefined ? {} : { "error.type": type }),
    ...(code === undefined ? {} : { "rpc.response.status_code": String(code) }),
  }
}

/** What is true of one request only: attributes of spans. */
export function detailsOf({ uri, session }: Pick<Told, "uri" | "session">): Attributes {
  return {
    ...(uri === undefined ? {} : { "mcp.resource.uri": uri }),
    ...(session === undefined || session === "" ? {} : { "mcp.session.id": session }),
  }
}

/** The trace that a request names. Baggage is not taken over: it would travel on to whatever is called next. */
function readRemote({ traceparent, tracestate }: Told): SpanContext | undefined {
  const [, traceId, spanId, flags] = traceparent?.split("-") ?? []
  if (traceId === undefined || spanId === undefined || flags === undefined) return undefined
  const remote = { traceId, spanId, traceFlags: Number.parseInt(flags, 16) & 1, isRemote: true }
  if (tracestate === undefined || tracestate.length > MAX_TRACESTATE_LENGTH) return remote
  return { ...remote, traceState: createTraceState(tracestate) }
}
