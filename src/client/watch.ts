/** What a client tells of its calls to whoever watches: facts that are made once a call, and only when somebody does. */
import { McpError } from "../core/error/error.js"
import { changesOf, type ListenFilter } from "../core/feature/listen.js"
import { clampText } from "../core/feature/text.js"
import { isTraceparent } from "../core/feature/traceparent.js"
import type { Revision } from "../core/revision/revision.js"
import { isJsonObject } from "../core/wire/message.js"
import type {
  ClientEvents,
  ClientOutcome,
  ClientRequestFacts,
  ClientWatcher,
  FailureFacts,
  RetryCause,
} from "../observe/client-event.js"
import type { Topics } from "../observe/emitter.js"
import { runInside } from "../observe/inside.js"
import type { Logger } from "../observe/log.js"
import type { Call } from "./call.js"

/** What calls go over. */
export interface CallWay {
  readonly revision: Revision
  readonly version: string
  readonly kind: "http" | "pipe"
  readonly origin: string
  /** The start of the legacy session's id. */
  readonly session: string | undefined
}

/** What a {@link CallWatch} is made of. */
export interface CallWatchParts {
  readonly topics: Topics<ClientEvents>
  readonly watchers: readonly ClientWatcher[]
  readonly logger: Logger
  /** The name under which the client is filed. */
  readonly client: string | undefined
  readonly way: () => CallWay
}

/** A call whose start was told. */
export interface Started {
  readonly request: ClientRequestFacts
  readonly atMs: number
}

/** Tells of the calls of one client. */
export class CallWatch {
  readonly #parts: CallWatchParts
  readonly #runs: readonly ClientWatcher[]
  readonly #traces: readonly ClientWatcher[]

  constructor(parts: CallWatchParts) {
    this.#parts = parts
    this.#runs = parts.watchers.filter(({ run }) => run !== undefined)
    this.#traces = parts.watchers.filter(({ traceparent }) => traceparent !== undefined)
  }

  /** Whether anybody wants to hear of calls, or to have a say in them. */
  get watched(): boolean {
    const { topics, watchers } = this.#parts
    return (
      watchers.length > 0 ||
      topics["client.request.start"].watched ||
      topics["client.request.stop"].watched ||
      topics["client.request.exception"].watched
    )
  }

  begin(call: Call): Started {
    const request = this.describe(call)
    this.#parts.topics["client.request.start"].publish({ request })
    return { request, atMs: performance.now() }
  }

  end({ request, atMs }: Started, call: Call, error: unknown, result: unknown): void {
    const { topics } = this.#parts
    const failure = McpError.is(error) ? toFailure(error) : undefined
    const { attempts, rounds, lastId } = call
    const outcome = error === undefined ? outcomeOf(request, result) : failureOutcome(failure)
    const end = { request, durationMs: performance.now() - atMs, outcome, error: failure, attempts, rounds, id: lastId }
    if (error === undefined || failure !== undefined) topics["client.request.stop"].publish(end)
    else topics["client.request.exception"].publish({ ...end, thrown: error })
  }

  /** The trace that watchers want a call to name. */
  traceparent(request: ClientRequestFacts): string | undefined {
    for (const watcher of this.#traces) {
      try {
        const named = watcher.traceparent?.(request)
        if (isTraceparent(named)) return named
      } catch (error) {
        this.#failed(request, error)
      }
    }
    return undefined
  }

  /** How work is run that belongs to a call; undefined when that is of no concern to anybody. */
  within(request: ClientRequestFacts): Call["within"] {
    if (this.#runs.length === 0) return undefined
    return (work) => runInside(this.#runs, request, work, (error) => this.#failed(request, error))
  }

  /** Tells that a call is sent again. */
  retried(call: Call, why: RetryCause, error: McpError): void {
    const topic = this.#parts.topics["client.retried"]
    if (topic.watched) topic.publish({ request: this.describe(call), why, error: toFailure(error) })
  }

  /** What is told of a call. */
  describe(call: Call): ClientRequestFacts {
    call.described ??= describe(call, this.#parts.way(), this.#parts.client)
    return call.described
  }

  #failed({ method }: ClientRequestFacts, error: unknown): void {
    this.#parts.logger.error("a watcher failed", { method, error })
  }
}

/** Tells that something is listened to. What comes back tells that it is over. */
export function beginListening(
  topics: Topics<ClientEvents>,
  { kind, origin }: { readonly kind: "stream" | "session"; readonly origin: string },
  filter: ListenFilter,
): ((error: unknown) => void) | undefined {
  const start = topics["client.listen.start"]
  const stop = topics["client.listen.stop"]
  if (!start.watched && !stop.watched) return undefined
  const lists = changesOf(filter).flatMap((change) => (change.kind === "list" ? [change.list] : []))
  const listening = { origin, kind, lists, resources: filter.resourceSubscriptions?.length ?? 0 }
  const atMs = performance.now()
  start.publish({ listening })
  return (error) => {
    const failure = McpError.is(error) ? toFailure(error) : undefined
    stop.publish({ listening, durationMs: performance.now() - atMs, error: failure })
  }
}

/** As much of an error as events tell. */
export function toFailure({ kind, reason, code }: McpError): FailureFacts {
  return { kind, reason, code }
}

/** As much of a session's id as tells sessions apart and opens none. */
export function shortSession(id: string | undefined): string | undefined {
  return id === undefined ? undefined : id.slice(0, 8)
}

function describe(call: Call, way: CallWay, client: string | undefined): ClientRequestFacts {
  const { method, params = {}, subject } = call
  const { revision, version, kind, origin, session } = way
  const operation = revision.methods.get(method)?.operation
  const shown = subject === undefined ? undefined : clampText(subject)
  return {
    method,
    tool: operation === "callTool" ? shown : undefined,
    prompt: operation === "getPrompt" ? shown : undefined,
    uri: typeof params["uri"] === "string" ? clampText(params["uri"]) : undefined,
    era: revision.era,
    version,
    transport: kind,
    origin,
    client,
    session,
    traceparent: namedTrace(call),
  }
}

/** The trace that the application names: what it writes itself goes before what it says in options. */
function namedTrace({ params, settings }: Call): string | undefined {
  const meta = params?.["_meta"]
  const written = isJsonObject(meta) ? meta["traceparent"] : undefined
  const named = written ?? settings.traceparent
  return isTraceparent(named) ? named : undefined
}

function outcomeOf({ tool }: ClientRequestFacts, result: unknown): ClientOutcome {
  const isFailedTool = tool !== undefined && typeof result === "object" && result !== null && "isError" in result
  return isFailedTool && result.isError === true ? "tool_error" : "complete"
}

function failureOutcome(failure: FailureFacts | undefined): ClientOutcome {
  return failure?.kind === "cancelled" ? "cancelled" : "error"
}
