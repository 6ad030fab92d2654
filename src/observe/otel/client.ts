/** Spans and metrics of clients. */
import { type Attributes, context, isSpanContextValid, type Span, SpanKind, trace } from "@opentelemetry/api"
import type {
  ClientRequestEnd,
  ClientRequestFacts,
  ConnectionFacts,
  FailureFacts,
  WatchableClient,
} from "../client-event.js"
import { createInstruments } from "./instruments.js"
import { connectionOf, detailsOf, endOf, endSpan, type Failure, type Running, startSpan, subjectOf } from "./span.js"

/** Makes the function that traces and measures a client. What is under way is kept in `running`. */
export function watchClients(running: WeakMap<object, Running>): (client: WatchableClient) => void {
  const instruments = createInstruments("client")
  const end = (event: ClientRequestEnd, thrown: unknown): void => {
    const { request, durationMs, id } = event
    const started = running.get(request)
    const failure = failureOf(event, thrown)
    const ends = endOf(failure)
    instruments().operation.record(durationMs / 1_000, { ...attributesOf(request), ...ends }, started?.inside)
    const details = id === undefined ? ends : { ...ends, "jsonrpc.request.id": String(id) }
    if (started !== undefined) endSpan(started, failure, details, thrown)
  }
  const note = (request: ClientRequestFacts | undefined, name: string, attributes: Attributes): void => {
    if (request !== undefined) running.get(request)?.span.addEvent(name, attributes)
  }
  return (client) => {
    client.on("client.request.start", ({ request }) => void running.set(request, start(request)))
    client.on("client.request.stop", (event) => end(event, undefined))
    client.on("client.request.exception", (event) => end(event, event.thrown))
    client.on("client.connection.stop", ({ connection, durationMs, error }) => {
      if (connection.era !== "legacy") return
      instruments().session.record(durationMs / 1_000, { ...wayOf(connection), ...endOf(toFailure(error)) })
    })
    client.on("client.retried", ({ request, why, error }) =>
      note(request, "mcp.retried", { "mcp.retry.cause": why, "error.type": typeOf(error) }),
    )
    client.on("client.input_asked", ({ request, round, questions }) =>
      note(request, "mcp.input_asked", { "mcp.input.round": round, "mcp.input.questions": [...questions] }),
    )
    client.on("client.question.stop", ({ question, outcome }) =>
      note(question.request, "mcp.question", {
        "mcp.question.method": question.method,
        "mcp.question.outcome": outcome,
      }),
    )
  }
}

/** The trace that a server is told it is in: that of the request's span, as a `traceparent`. */
export function traceparentOf(running: Running | undefined): string | undefined {
  const named = running?.span.spanContext()
  if (named === undefined || !isSpanContextValid(named)) return undefined
  return `00-${named.traceId}-${named.spanId}-${(named.traceFlags & 1) === 1 ? "01" : "00"}`
}

function start(request: ClientRequestFacts): Running {
  const attributes = attributesOf(request)
  const outer = findToolSpan(request)
  if (outer === undefined) return startSpan(request, SpanKind.CLIENT, attributes)
  outer.setAttributes({ ...attributes, ...detailsOf(request) })
  return { span: outer, inside: context.active(), isBorrowed: true }
}

/**
 * The active span, when an instrumentation of agents has made it for this very call of a tool: a second one would say the same.
 * Known by what spans of the SDK show of themselves.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/gen-ai-spans/#execute-tool-span
 */
function findToolSpan({ tool, traceparent }: ClientRequestFacts): Span | undefined {
  const span = trace.getActiveSpan()
  if (tool === undefined || traceparent !== undefined || span?.isRecording() !== true) return undefined
  const { kind, attributes = {} } = span as { readonly kind?: SpanKind; readonly attributes?: Attributes }
  const { "gen_ai.operation.name": operation, "gen_ai.tool.name": name = tool, "mcp.method.name": method } = attributes
  const isItsSpan = kind === SpanKind.INTERNAL && operation === "execute_tool" && name === tool
  return isItsSpan && method === undefined ? span : undefined
}

function attributesOf(request: ClientRequestFacts): Attributes {
  return { ...subjectOf(request), ...wayOf(request) }
}

function wayOf({ version, transport, origin }: Pick<ConnectionFacts, "version" | "transport" | "origin">): Attributes {
  const way = connectionOf(version, transport)
  if (transport === "pipe" || !URL.canParse(origin)) return way
  const { hostname, port, protocol } = new URL(origin)
  const usual = protocol === "https:" ? 443 : 80
  const address = hostname.replace(/^\[(.*)\]$/, "$1")
  return { ...way, "server.address": address, "server.port": port === "" ? usual : Number(port) }
}

function failureOf({ outcome, error }: ClientRequestEnd, thrown: unknown): Failure {
  if (outcome === "tool_error") return { type: outcome, code: undefined, message: undefined }
  if (thrown === undefined) return toFailure(error)
  return { type: thrown instanceof Error ? thrown.name : "_OTHER", code: undefined, message: undefined }
}

function toFailure(error: FailureFacts | undefined): Failure {
  return { type: error && typeOf(error), code: error?.code, message: error?.reason }
}

/** The JSON-RPC code where there is one, as on servers, and the reason where there is none. */
function typeOf({ code, reason }: FailureFacts): string {
  return code === undefined ? reason : String(code)
}
