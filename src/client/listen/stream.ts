/**
 * Listening in the modern era: one request whose answer is a stream of changes, opened again when it is lost.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { McpError } from "../../core/error/error.js"
import { type Change, changesOf, type ListenFilter, parseListenFilter } from "../../core/feature/listen.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { Clock } from "../../store/port.js"
import { onAbort } from "../abort.js"
import { delayOf } from "../connection/backoff.js"
import { errorOf } from "../connection/outcome.js"
import type { ClientLimits } from "../limits.js"
import type { Outcome } from "../link.js"
import { subjectsOf } from "./listen.js"
import type { ChangeQueue } from "./queue.js"

/** A stream that is open, or being opened. */
export interface OpenStream {
  /** What became of it. */
  readonly ended: Promise<Outcome>
  /** Ends it from this side, if it has not ended: the server is told, unless it `knows`. */
  close(knows: boolean): void
}

/** Hears one stream. */
export interface StreamHears {
  /** What the server agrees to tell. */
  acknowledged(filter: JsonObject | undefined): void
  changed(change: Change): void
  /** The server ends it without a result. */
  cancelled(): void
}

/** What a stream needs of the client. */
export interface StreamHost {
  readonly clock: Clock
  readonly limits: Pick<ClientLimits, "maxReconnects" | "maxRetryMs">
  /** How long the server may take to acknowledge a stream, in milliseconds. */
  readonly timeoutMs: number
  /** Opens one. The signal ends the wait for a connection that is coming back. */
  open(filter: ListenFilter, hears: StreamHears, signal: AbortSignal): Promise<OpenStream>
  /** Hears of an attempt to open one again, counted from 1, and by what the one before was lost. */
  reopening(attempt: number, error: McpError): void
  /** Hears of a change that may have come while nobody listened. */
  missed(change: Change): void
}

/** How long an acknowledged stream has to last to show that the server works, in milliseconds. */
const STEADY_MS = 10_000
/** The pause before the second further attempt, in milliseconds; the next ones are twice as long each. */
const FIRST_PAUSE_MS = 1_000

/** How a stream ended. */
type End =
  /** The server tells nothing of what was asked for, or nobody listens any more. */
  | { readonly kind: "over" }
  /** It cannot be had. */
  | { readonly kind: "refused"; readonly error: McpError }
  /** `isKnown`: the server has ended it itself. */
  | { readonly kind: "lost"; readonly error: McpError; readonly wasSteady: boolean; readonly isKnown: boolean }

/** Feeds a queue from streams, one after the other. Answers the function that stops it. */
export function listenOnStream(host: StreamHost, filter: ListenFilter, queue: ChangeQueue): () => void {
  const stopping = new AbortController()
  void keepListening(host, { filter, queue, signal: stopping.signal })
  return () => stopping.abort()
}

/** What is listened to, by whom, and until when. */
interface Listening {
  readonly filter: ListenFilter
  readonly queue: ChangeQueue
  readonly signal: AbortSignal
}

async function keepListening(host: StreamHost, listening: Listening): Promise<void> {
  const { queue, signal } = listening
  for (let attempts = 0; ; ) {
    const end = await listenOnce(host, listening, attempts > 0)
    if (signal.aborted) return
    if (end.kind === "over") return queue.end()
    if (end.kind === "refused") return queue.end(end.error)
    attempts = end.wasSteady ? 1 : attempts + 1
    if (attempts > host.limits.maxReconnects) return queue.end(end.error)
    await pause(host, attempts, end.error, signal)
    if (signal.aborted) return
    host.reopening(attempts, end.error)
  }
}

/** One stream, from its request to its end. */
async function listenOnce(host: StreamHost, listening: Listening, isAgain: boolean): Promise<End> {
  const { clock, timeoutMs } = host
  const { filter, signal } = listening
  const turn = new Turn(host, listening, isAgain)
  const endings = [onAbort(signal, () => turn.end({ kind: "over" }))]
  try {
    const stream = await host.open(filter, turn, signal)
    void stream.ended.then((outcome) => turn.settled(outcome))
    endings.push(clock.after(timeoutMs, () => turn.isSilent(timeoutMs)))
    const end = await turn.over
    stream.close(end.kind === "lost" && end.isKnown)
    return end
  } catch (error) {
    if (!McpError.is(error)) throw error
    return toEnd(error, { wasSteady: false, isKnown: true })
  } finally {
    for (const stop of endings) stop()
  }
}

/** What happens on one stream. */
class Turn implements StreamHears {
  readonly over: Promise<End>
  readonly #host: StreamHost
  readonly #listening: Listening
  readonly #isAgain: boolean
  readonly #subjectOf: (change: Change) => Change | undefined
  #resolve: (end: End) => void = () => {}
  #sinceMs: number | undefined
  #hasHeard = false

  constructor(host: StreamHost, listening: Listening, isAgain: boolean) {
    this.#host = host
    this.#listening = listening
    this.#isAgain = isAgain
    this.#subjectOf = subjectsOf(listening.filter)
    this.over = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  end(end: End): void {
    this.#resolve(end)
  }

  acknowledged(honoured: JsonObject | undefined): void {
    this.#sinceMs ??= this.#host.clock.now()
    const read = parseListenFilter(honoured)
    const agreed = changesOf("filter" in read ? read.filter : this.#listening.filter).filter(this.#subjectOf)
    if (agreed.length === 0) return this.end({ kind: "over" })
    // What changed while nobody listened is not known: whoever listens is to look again.
    if (this.#isAgain) for (const change of agreed) this.#missed(change)
  }

  changed(change: Change): void {
    const subject = this.#subjectOf(change)
    if (subject === undefined) return
    this.#hasHeard = true
    this.#listening.queue.push(change, false, subject)
  }

  #missed(change: Change): void {
    this.#host.missed(change)
    this.#listening.queue.push(change, true)
  }

  cancelled(): void {
    this.#lose(ended())
  }

  settled(outcome: Outcome): void {
    const isResult = outcome.kind === "message" && outcome.message.kind === "result"
    this.#lose(isResult ? ended() : errorOf(outcome, METHOD))
  }

  /** The time is over in which it had to be acknowledged. */
  isSilent(timeoutMs: number): void {
    if (this.#sinceMs === undefined) this.#lose(silent(timeoutMs), false)
  }

  #lose(error: McpError, isKnown = true): void {
    const lastedMs = this.#sinceMs === undefined ? 0 : this.#host.clock.now() - this.#sinceMs
    this.end(toEnd(error, { wasSteady: this.#hasHeard || lastedMs >= STEADY_MS, isKnown }))
  }
}

function pause({ clock, limits }: StreamHost, attempt: number, { data }: McpError, signal: AbortSignal): Promise<void> {
  const asked = isJsonObject(data) ? data["retryAfterMs"] : undefined
  const delayMs = delayOf(attempt, limits.maxRetryMs, FIRST_PAUSE_MS)
  const pauseMs = typeof asked === "number" ? Math.min(Math.max(asked, delayMs), limits.maxRetryMs) : delayMs
  return new Promise((resolve) => {
    const stop = clock.after(pauseMs, () => {
      stopHearing()
      resolve()
    })
    const stopHearing = onAbort(signal, () => {
      stop()
      resolve()
    })
  })
}

function toEnd(error: McpError, facts: { readonly wasSteady: boolean; readonly isKnown: boolean }): End {
  return isPassing(error) ? { kind: "lost", error, ...facts } : { kind: "refused", error }
}

/** Whether another attempt may meet something else. */
function isPassing({ kind, retryable }: McpError): boolean {
  return kind === "connection_down" || kind === "timeout" || (kind === "transport" && retryable)
}

const METHOD = "subscriptions/listen"

function ended(): McpError {
  return new McpError(`${METHOD}: the server ends the stream each time it is opened`, {
    kind: "transport",
    reason: "stream_broken",
    retryable: true,
  })
}

function silent(timeoutMs: number): McpError {
  return new McpError(`${METHOD} was not acknowledged within ${timeoutMs} ms (timeoutMs of the client)`, {
    kind: "timeout",
    reason: "request_timeout",
    retryable: true,
    data: { timeoutMs },
  })
}
