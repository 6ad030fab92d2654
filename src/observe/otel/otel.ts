/**
 * OpenTelemetry, fed by the events of servers and clients. Nothing outside of this folder imports its API.
 *
 * @see https://opentelemetry.io/docs/specs/semconv/gen-ai/mcp/
 */
import { context } from "@opentelemetry/api"
import type { ClientRequestFacts, ClientWatcher } from "../client-event.js"
import type { RequestFacts, Watcher } from "../event.js"
import { traceparentOf, watchClients } from "./client.js"
import { watchServers } from "./server.js"
import type { Running } from "./span.js"

/** Watches servers and clients, any number of them. */
export interface Otel extends Watcher, ClientWatcher {
  run<T>(request: RequestFacts | ClientRequestFacts, work: () => T): T
}

/**
 * Traces and measures with OpenTelemetry. Uses the providers that are registered with `@opentelemetry/api` when something happens,
 * so it may be made before they are.
 *
 * A server gets a span of kind SERVER for each request, under the trace that the caller names in `_meta` and with a link to the span
 * that is active, and the histograms `mcp.server.operation.duration` and `mcp.server.session.duration`. Handlers run inside of it.
 *
 * A client gets a span of kind CLIENT for each request, under the span that is active, and `mcp.client.operation.duration` and
 * `mcp.client.session.duration`. The span is what modern servers are told, so that theirs are under it; answers to their
 * questions run inside of it. Where an agent's span for the same tool is active, that one is used.
 *
 * @example
 * createServer({ name: "weather", version: "1.0.0", watch: [otel()] })
 * await connect("https://example.com/mcp", { trace: otel() })
 */
export function otel(): Otel {
  const running = new WeakMap<object, Running>()
  return {
    watch: watchServers(running),
    watchClient: watchClients(running),
    traceparent: (request) => traceparentOf(running.get(request)),
    run(request, work) {
      const inside = running.get(request)?.inside
      return inside === undefined ? work() : context.with(inside, work)
    },
  }
}
