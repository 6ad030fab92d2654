/** Metrics of a server in the text format that Prometheus reads, made from its events. Labels are few: no uri, no session, no caller. */
import type { RequestEnd, Watcher } from "./event.js"

/** The metrics of the servers that were made with it. */
export interface Prometheus extends Watcher {
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

/** How many combinations of labels a metric has room for; further ones are counted under `other`. */
const MAX_SERIES = 2_000

/**
 * Counts and measures servers for Prometheus.
 *
 * @example
 * const metrics = prometheus()
 * createServer({ name: "weather", version: "1.0.0", watch: [metrics] })
 * app.get("/metrics", (_, response) => response.type(metrics.contentType).send(metrics.text()))
 * @see https://prometheus.io/docs/instrumenting/exposition_formats/
 */
export function prometheus(options: PrometheusOptions = {}): Prometheus {
  const { prefix = "conduit_mcp_", buckets = BUCKETS } = options
  const metric = (kind: Kind, name: string, help: string, ...labels: readonly string[]): Metric =>
    new Metric(kind, prefix + name, help, labels, buckets)
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
  const all = [requests, tools, prompts, running, exceptions, refusals, sessions, ended, streams, questions]

  const end = ({ request, outcome, durationMs }: RequestEnd): void => {
    const seconds = durationMs / 1_000
    running.add(-1)
    requests.observe(seconds, request.method, outcome)
    if (request.tool !== undefined) tools.observe(seconds, request.tool, outcome)
    if (request.prompt !== undefined) prompts.observe(seconds, request.prompt, outcome)
  }

  return {
    contentType: "text/plain; version=0.0.4; charset=utf-8",
    text: () => all.map((one) => one.text()).join(""),
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

type Kind = "counter" | "gauge" | "histogram"

/** One combination of labels: how much there is, and for a histogram how it is spread. */
interface Series {
  readonly labels: string
  readonly counts: number[]
  count: number
  sum: number
}

class Metric {
  readonly #kind: Kind
  readonly #name: string
  readonly #help: string
  readonly #labels: readonly string[]
  readonly #buckets: readonly number[]
  readonly #series = new Map<string, Series>()

  constructor(kind: Kind, name: string, help: string, labels: readonly string[], buckets: readonly number[]) {
    this.#kind = kind
    this.#name = name
    this.#help = help
    this.#labels = labels
    this.#buckets = buckets
    if (labels.length === 0) this.#of([])
  }

  add(amount: number, ...values: readonly string[]): void {
    this.#of(values).sum += amount
  }

  observe(value: number, ...values: readonly string[]): void {
    const series = this.#of(values)
    const index = this.#buckets.findIndex((bound) => value <= bound)
    if (index >= 0) series.counts[index] = (series.counts[index] ?? 0) + 1
    series.count++
    series.sum += value
  }

  text(): string {
    const lines = [`# HELP ${this.#name} ${this.#help}`, `# TYPE ${this.#name} ${this.#kind}`]
    for (const series of this.#series.values()) lines.push(...this.#lines(series))
    return `${lines.join("\n")}\n`
  }

  #lines({ labels, counts, count, sum }: Series): readonly string[] {
    const name = this.#name
    const all = labels === "" ? "" : `{${labels}}`
    if (this.#kind !== "histogram") return [`${name}${all} ${sum}`]
    const before = labels === "" ? "" : `${labels},`
    let below = 0
    const spread = this.#buckets.map((bound, index) => {
      below += counts[index] ?? 0
      return `${name}_bucket{${before}le="${bound}"} ${below}`
    })
    return [
      ...spread,
      `${name}_bucket{${before}le="+Inf"} ${count}`,
      `${name}_sum${all} ${sum}`,
      `${name}_count${all} ${count}`,
    ]
  }

  #of(values: readonly string[]): Series {
    const key = values.join("\n")
    const known = this.#series.get(key)
    if (known !== undefined) return known
    if (this.#series.size >= MAX_SERIES && values.some((value) => value !== OTHER))
      return this.#of(values.map(() => OTHER))
    const labels = this.#labels.map((label, index) => `${label}="${quoted(values[index] ?? "")}"`).join(",")
    const made = { labels, counts: [], count: 0, sum: 0 }
    this.#series.set(key, made)
    return made
  }
}

const OTHER = "other"

/** A label's value between its quotes. */
function quoted(value: string): string {
  return value.replaceAll("\\", "\\\\").replaceAll('"', '\\"').replaceAll("\n", "\\n")
}
