/** Spans and metrics of servers. */
import { type Attributes, SpanKind } from "@opentelemetry/api"
import type { RequestEnd, RequestFacts, Watchable } from "../event.js"
import { createInstruments } from "./instruments.js"
import { connectionOf, endOf, endSpan, type Failure, type Running, startSpan, subjectOf } from "./span.js"

/** Makes the function that traces and measures a server. What is under way is kept in `running`. */
export function watchServers(running: WeakMap<object, Running>): (server: Watchable) => void {
  const instruments = createInstruments("server")
  const start = (request: RequestFacts): void => {
    const attributes = { ...attributesOf(request), "jsonrpc.request.id": String(request.id) }
    running.set(request, startSpan(request, SpanKind.SERVER, attributes))
  }
  const end = (event: RequestEnd, thrown: unknown): void => {
    const { request, durationMs } = event
    const started = running.get(request)
    const failure = failureOf(event)
    const ends = endOf(failure)
    instruments().operation.record(durationMs / 1_000, { ...attributesOf(request), ...ends }, started?.inside)
    if (started !== undefined) endSpan(started, failure, ends, thrown)
  }
  const note = (request: RequestFacts, name: string, attributes: Attributes): void => {
    running.get(request)?.span.addEvent(name, attributes)
  }
  return (server) => {
    server.on("server.request.start", ({ request }) => start(request))
    server.on("server.request.stop", (event) => end(event, undefined))
    server.on("server.request.exception", (event) => end(event, event.thrown))
    server.on("server.session.stop", ({ session, durationMs }) =>
      instruments().session.record(durationMs / 1_000, connectionOf(session.revision, session.transport)),
    )
    server.on("server.input_asked", ({ request, round, questions }) =>
      note(request, "mcp.input_asked", { "mcp.input.round": round, "mcp.input.questions": [...questions] }),
    )
    server.on("server.state_refused", ({ request, reason }) => note(request, "mcp.state_refused", { reason }))
    server.on("server.suspension_swallowed", ({ request }) => note(request, "mcp.suspension_swallowed", {}))
  }
}

function attributesOf(request: RequestFacts): Attributes {
  return { ...subjectOf(request), ...connectionOf(request.revision, request.transport) }
}

function failureOf({ outcome, error }: RequestEnd): Failure {
  const type = outcome === "tool_error" ? outcome : error && String(error.code)
  return { type, code: error?.code, message: error?.reason }
}
