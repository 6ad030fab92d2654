/** What the server tells of requests to whoever watches: facts that are made once a request, and only when somebody does. */
import type { Fault } from "../core/error/fault.js"
import type { Answer, Exchange } from "../core/exchange.js"
import { clampText } from "../core/feature/text.js"
import { isTraceparent } from "../core/feature/traceparent.js"
import { isJsonObject } from "../core/wire/message.js"
import type { Topics } from "../observe/emitter.js"
import type {
  ClientFacts,
  Outcome,
  RequestFacts,
  ServerEvents,
  SessionEnd,
  StreamFacts,
  Watcher,
} from "../observe/event.js"
import { runInside } from "../observe/inside.js"
import type { Logger } from "../observe/log.js"
import type { CallFacts } from "./call.js"
import type { SessionRecord } from "./era/session.js"

/** A request whose start was told. */
export interface Started {
  readonly request: RequestFacts
  readonly atMs: number
}

/** What went wrong where nobody expected it, and what the caller was told instead. */
export interface Failure {
  readonly thrown: unknown
  readonly reference: string
}

/** Tells of the requests of one server. */
export class RequestWatch {
  readonly #topics: Topics<ServerEvents>
  readonly #watchers: readonly Watcher[]
  readonly #logger: Logger

  constructor(topics: Topics<ServerEvents>, watchers: readonly Watcher[], logger: Logger) {
    this.#topics = topics
    this.#watchers = watchers.filter(({ run }) => run !== undefined)
    this.#logger = logger
  }

  /** Whether anybody wants to hear of requests. */
  get watched(): boolean {
    const topics = this.#topics
    return (
      topics["server.request.start"].watched ||
      topics["server.request.stop"].watched ||
      topics["server.request.exception"].watched
    )
  }

  begin(request: RequestFacts): Started {
    this.#topics["server.request.start"].publish({ request })
    return { request, atMs: performance.now() }
  }

  /** Does the work of a request where its watchers want it done. */
  run<T>(request: RequestFacts, work: () => T): T {
    return runInside(this.#watchers, request, work, (error) => {
      this.#logger.error("a watcher failed to run a request", { method: request.method, error })
    })
  }

  end({ request, atMs }: Started, outcome: Outcome, answer: Answer, failure: Failure | undefined): void {
    const { fault } = answer
    const error = outcome !== "error" || fault === undefined ? undefined : { code: fault.code, reason: fault.reason }
    const end = { request, durationMs: performance.now() - atMs, outcome, error }
    if (failure === undefined) this.#topics["server.request.stop"].publish(end)
    else this.#topics["server.request.exception"].publish({ ...end, ...failure })
  }

  /** Tells that something was refused before a method was asked for. */
  refused({ status, code, reason, message }: Fault, transport: RequestFacts["transport"]): void {
    const topic = this.#topics["server.request_refused"]
    if (topic.watched) topic.publish({ status, code, reason, message, transport })
  }
}

/** What is told of a request. */
export function describeRequest(
  facts: Pick<CallFacts, "id" | "method" | "params" | "served" | "snapshot" | "clientInfo" | "session" | "profile">,
  exchange: Exchange,
): RequestFacts {
  const { id, method, params = {}, served, snapshot, session } = facts
  const { revision } = served
  const operation = revision.methods.get(method)?.operation
  const meta = isJsonObject(params["_meta"]) ? params["_meta"] : {}
  const { traceparent, tracestate } = meta
  const { name, uri } = params
  const isKnown = (map: ReadonlyMap<string, unknown>): boolean =>
    typeof name === "string" && (facts.profile.manual !== undefined || map.has(name))
  return {
    id,
    method,
    era: revision.era,
    revision: revision.version,
    transport: transportOf(exchange),
    tool: operation === "callTool" && isKnown(snapshot.tools) ? clampText(name) : undefined,
    prompt: operation === "getPrompt" && isKnown(snapshot.prompts) ? clampText(name) : undefined,
    uri: typeof uri === "string" ? clampText(uri) : undefined,
    client: clientOf(facts.clientInfo),
    principal: exchange.peer.principal?.id,
    session: session === undefined ? undefined : shortSession(session.id),
    traceparent: isTraceparent(traceparent) ? traceparent : undefined,
    tracestate: typeof tracestate === "string" ? tracestate : undefined,
  }
}

/** Tells that a stream is open. What comes back tells that it is over. */
export function beginStream(
  topics: Topics<ServerEvents>,
  kind: StreamFacts["kind"],
  exchange: Exchange,
): (() => void) | undefined {
  const start = topics["server.stream.start"]
  const stop = topics["server.stream.stop"]
  if (!start.watched && !stop.watched) return undefined
  const stream = { kind, transport: transportOf(exchange), principal: exchange.peer.principal?.id }
  const atMs = performance.now()
  start.publish({ stream })
  return () => stop.publish({ stream, durationMs: performance.now() - atMs })
}

/** Tells that this process holds a session. What comes back tells that it does no longer. */
export function beginSession(
  topics: Topics<ServerEvents>,
  id: string,
  { version, clientInfo, principal }: SessionRecord,
  resumed: boolean,
): ((why: SessionEnd) => void) | undefined {
  const start = topics["server.session.start"]
  const stop = topics["server.session.stop"]
  if (!start.watched && !stop.watched) return undefined
  const session = {
    session: shortSession(id),
    revision: version,
    transport: id === "" ? ("pipe" as const) : ("http" as const),
    client: clientOf(clientInfo),
    principal: principal?.id,
  }
  const atMs = performance.now()
  start.publish({ session, resumed })
  return (why) => stop.publish({ session, durationMs: performance.now() - atMs, why })
}

/** Over what a message came. */
export function transportOf(exchange: Pick<Exchange, "header">): RequestFacts["transport"] {
  return exchange.header === undefined ? "pipe" : "http"
}

/** What is told of a client: no more than its name and version. */
export function clientOf(info: ClientFacts | undefined): ClientFacts | undefined {
  return info === undefined ? undefined : { name: clampText(info.name), version: clampText(info.version) }
}

/** As much of a session's id as tells sessions apart and opens none. */
export function shortSession(id: string): string {
  return id.slice(0, 8)
}
