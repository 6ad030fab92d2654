/**
 * Metrics of servers and clients in the text format that Prometheus reads, made from their events. Labels are few: no uri, no
 * session, no caller.
 */
import type { ClientRequestEnd, ClientWatcher, WatchableClient } from "./client-event.js"
import type { RequestEnd, Watchable, Watcher } from "./event.js"
import { type Kind, Metric, OTHER } from "./metric.js"

/** The metrics of the servers and clients that were made with it. */
export interface Prometheus extends Watcher, Pick<ClientWatcher, "watchClient"> {
  /** The `Content-Type` of {@link text}. */
  readonly contentType: string
  /** All metrics as they are now. */
  text(): string
}

/** Options of {@link prometheus}. */
export interface PrometheusOptions {
  /** What every name starts with. Default `conduit_mcp_`. */
  readonly prefix?: string
  /** Upper bounds of the histograms' buckets, in seconds, rising. Default: 0.01 to 300. */
  readonly buckets?: readonly number[]
}

const BUCKETS = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1, 2, 5, 10, 30, 60, 120, 300]

/** What servers may ask. A label is nothing that they choose. */
const QUESTIONS: ReadonlySet<string> = new Set(["elicitation/create", "sampling/createMessage", "roots/list"])

/** Makes a metric with its name, what it says, and the names of its labels. */
type MakeMetric = (kind: Kind, name: string, help: string, ...labels: readonly string[]) => Metric

/** The metrics of one side. */
interface Side<Watched> {
  readonly metrics: readonly Metric[]
  watch(watched: Watched): void
}

/**
 * Counts and measures servers and clients for Prometheus.
 *
 * @example
 * const metrics = prometheus()
 * createServer({ name: "weather", version: "1.0.0", watch: [metrics] })
 * await connect("https://example.com/mcp", { watch: [metrics] })
 * app.get("/metrics", (_, response) => response.type(metrics.contentType).send(metrics.text()))
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function prometheus(options: PrometheusOptions = {}): Prometheus {
  const { prefix = "conduit_mcp_", buckets = BUCKETS } = options
  const make: MakeMetric = (kind, name, help, ...labels) => new Metric(kind, prefix + name, help, labels, buckets)
  const server = measureServers(make)
  const client = measureClients(make)
  const all = [...server.metrics, ...client.metrics]
  return {
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    text: () => all.map((one) => one.text()).join(""),
    watch: server.watch,
    watchClient: client.watch,
  }
}

function measureServers(metric: MakeMetric): Side<Watchable> {
  const requests = metric("histogram", "request_duration_seconds", "How long requests took.", "method", "outcome")
  const tools = metric("histogram", "tool_duration_seconds", "How long calls of tools took.", "tool", "outcome")
  const prompts = metric("histogram", "prompt_duration_seconds", "How long prompts took.", "prompt", "outcome")
  const running = metric("gauge", "requests_running", "Requests that are being worked on.")
  const exceptions = metric("counter", "exceptions_total", "Requests that failed unexpectedly.", "method")
  const refusals = metric("counter", "refusals_total", "Messages that were refused.", "reason")
  const sessions = metric("gauge", "sessions", "Legacy sessions that are held.")
  const ended = metric("histogram", "session_duration_seconds", "How long sessions were held.", "why")
  const streams = metric("gauge", "streams", "Streams of changes that are open.", "kind")
  const questions = metric("counter", "questions_total", "Questions to clients.", "question")

  const end = ({ request, outcome, durationMs }: RequestEnd): void => {
    const seconds = durationMs / 1_000
    running.add(-1)
    requests.observe(seconds, request.method, outcome)
    if (request.tool !== undefined) tools.observe(seconds, request.tool, outcome)
    if (request.prompt !== undefined) prompts.observe(seconds, request.prompt, outcome)
  }

  return {
    metrics: [requests, tools, prompts, running, exceptions, refusals, sessions, ended, streams, questions],
    watch(server) {
      server.on("server.request.start", () => running.add(1))
      server.on("server.request.stop", end)
      server.on("server.request.exception", (event) => {
        exceptions.add(1, event.request.method)
        end(event)
      })
      server.on("server.request_refused", ({ reason }) => refusals.add(1, reason))
      server.on("server.session_refused", () => refusals.add(1, "overloaded"))
      server.on("server.state_refused", ({ reason }) => refusals.add(1, reason))
      server.on("server.session.start", () => sessions.add(1))
      server.on("server.session.stop", ({ why, durationMs }) => {
        sessions.add(-1)
        ended.observe(durationMs / 1_000, why)
      })
      server.on("server.stream.start", ({ stream }) => streams.add(1, stream.kind))
      server.on("server.stream.stop", ({ stream }) => streams.add(-1, stream.kind))
      server.on("server.input_asked", (event) => {
        for (const question of event.questions) questions.add(1, question)
      })
    },
  }
}

/** `server` is the origin that a client is connected to. */
function measureClients(metric: MakeMetric): Side<WatchableClient> {
  const ends = ["server", "method", "outcome"] as const
  const requests = metric("histogram", "client_request_duration_seconds", "How long requests of clients took.", ...ends)
  const calls = ["server", "tool", "outcome"] as const
  const tools = metric("histogram", "client_tool_duration_seconds", "How long clients' calls of tools took.", ...calls)
  const running = metric("gauge", "client_requests_running", "Requests of clients that are under way.", "server")
  const errors = metric("counter", "client_errors_total", "Requests of clients that failed.", "server", "reason")
  const retries = metric(
    "counter",
    "client_retries_total",
    "Requests of clients that were sent again.",
    "server",
    "why",
  )
  const connections = metric("gauge", "client_connections", "Connections of clients that stand.", "server", "version")
  const reconnects = metric(
    "counter",
    "client_reconnects_total",
    "Attempts to bring back what was lost.",
    "server",
    "what",
  )
  const asked = ["server", "question", "outcome"] as const
  const questions = metric("counter", "client_questions_total", "Questions to clients' applications.", ...asked)

  const end = ({ request, outcome, error, durationMs }: ClientRequestEnd): void => {
    const { origin, method, tool } = request
    const seconds = durationMs / 1_000
    running.add(-1, origin)
    requests.observe(seconds, origin, method, outcome)
    if (tool !== undefined) tools.observe(seconds, origin, tool, outcome)
    if (outcome === "error") errors.add(1, origin, error?.reason ?? "unexpected")
  }

  return {
    metrics: [requests, tools, running, errors, retries, connections, reconnects, questions],
    watch(client) {
      client.on("client.request.start", ({ request }) => running.add(1, request.origin))
      client.on("client.request.stop", end)
      client.on("client.request.exception", end)
      client.on("client.retried", ({ request, why }) => retries.add(1, request.origin, why))
      client.on("client.connection.start", ({ connection }) =>
        connections.add(1, connection.origin, connection.version),
      )
      client.on("client.connection.stop", ({ connection }) =>
        connections.add(-1, connection.origin, connection.version),
      )
      client.on("client.reconnecting", ({ origin, what }) => reconnects.add(1, origin, what))
      client.on("client.question.stop", ({ question, outcome }) =>
        questions.add(1, question.origin, question.method, outcome),
      )
      client.on("client.question_refused", ({ question: { origin, method } }) =>
        questions.add(1, origin, QUESTIONS.has(method) ? method : OTHER, "refused"),
      )
    },
  }
}
