/**
 * Listening in the modern era: one request whose answer is a stream of changes, opened again when it is lost.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { McpError } from "../../core/error/error.js"
import { type Change, changesOf, type ListenFilter } from "../../core/feature/listen.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { Clock } from "../../store/port.js"
import { delayOf } from "../connection/backoff.js"
import { errorOf } from "../connection/outcome.js"
import type { ClientLimits } from "../limits.js"
import type { Outcome } from "../link.js"
import type { ChangeQueue } from "./queue.js"

/** A stream that is open, or being opened. */
export interface OpenStream {
  /** What became of it. */
  readonly ended: Promise<Outcome>
  /** Ends it from this side. */
  cancel(): void
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
  open(filter: ListenFilter, hears: StreamHears): Promise<OpenStream>
}

/** How long an acknowledged stream has to last to show that the server works, in milliseconds. */
const STEADY_MS = 10_000

/** How a stream ended. */
type End =
  /** The server tells nothing of what was asked for. */
  | { readonly kind: "nothing" }
  /** It cannot be had. */
  | { readonly kind: "refused"; readonly error: McpError }
  | { readonly kind: "lost"; readonly error: McpError; readonly wasSteady: boolean }

/** Feeds a queue from streams, one after the other. Answers the function that stops it. */
export function listenOnStream(host: StreamHost, filter: ListenFilter, queue: ChangeQueue): () => void {
  const listener = new StreamListener(host, filter, queue)
  void listener.run()
  return () => listener.stop()
}

class StreamListener {
  readonly #host: StreamHost
  readonly #filter: ListenFilter
  readonly #queue: ChangeQueue
  #stream: OpenStream | undefined
  #stopped = false
  #stopWaiting: (() => void) | undefined

  constructor(host: StreamHost, filter: ListenFilter, queue: ChangeQueue) {
    this.#host = host
    this.#filter = filter
    this.#queue = queue
  }

  async run(): Promise<void> {
    const { maxReconnects } = this.#host.limits
    for (let attempts = 0; !this.#stopped; ) {
      const end = await this.#once(attempts > 0)
      if (this.#stopped) return
      if (end.kind === "nothing") return this.#queue.end()
      if (end.kind === "refused") return this.#queue.end(end.error)
      attempts = end.wasSteady ? 1 : attempts + 1
      if (attempts > maxReconnects) return this.#queue.end(end.error)
      await this.#wait(attempts)
    }
  }

  stop(): void {
    this.#stopped = true
    this.#stopWaiting?.()
    this.#stream?.cancel()
  }

  async #once(isAgain: boolean): Promise<End> {
    const { clock } = this.#host
    let since: number | undefined
    let hasHeard = false
    let isEmpty = false
    let cancel = (): void => {}
    const cancelled = new Promise<"cancelled">((resolve) => {
      cancel = () => resolve("cancelled")
    })
    const hears: StreamHears = {
      acknowledged: (honoured) => {
        since = clock.now()
        const agreed = changesOf(isJsonObject(honoured) ? (honoured as ListenFilter) : {})
        isEmpty = agreed.length === 0
        // What changed while nobody listened is not known: whoever listens is to look again.
        if (isAgain) for (const change of agreed) this.#queue.push(change, true)
      },
      changed: (change) => {
        hasHeard = true
        this.#queue.push(change, false)
      },
      cancelled: cancel,
    }
    try {
      this.#stream = await this.#host.open(this.#filter, hears)
      if (this.#stopped) this.#stream.cancel()
    } catch (error) {
      if (!McpError.is(error)) throw error
      return isPassing(error) ? { kind: "lost", error, wasSteady: false } : { kind: "refused", error }
    }
    const outcome = await Promise.race([this.#stream.ended, cancelled])
    if (isEmpty) return { kind: "nothing" }
    const wasSteady = hasHeard || (since !== undefined && clock.now() - since >= STEADY_MS)
    return toEnd(outcome, wasSteady)
  }

  async #wait(attempt: number): Promise<void> {
    const { clock, limits } = this.#host
    await new Promise<void>((resolve) => {
      const stop = clock.after(delayOf(attempt, limits.maxRetryMs), resolve)
      this.#stopWaiting = () => {
        stop()
        resolve()
      }
    })
  }
}

function toEnd(outcome: Outcome | "cancelled", wasSteady: boolean): End {
  if (outcome === "cancelled" || (outcome.kind === "message" && outcome.message.kind === "result")) {
    return { kind: "lost", error: over(), wasSteady }
  }
  const error = errorOf(outcome, "subscriptions/listen")
  return isPassing(error) ? { kind: "lost", error, wasSteady } : { kind: "refused", error }
}

/** Whether another attempt may meet something else. */
function isPassing({ kind, retryable }: McpError): boolean {
  return kind === "connection_down" || (kind === "transport" && retryable)
}

function over(): McpError {
  return new McpError("subscriptions/listen: the server ends the stream each time it is opened", {
    kind: "transport",
    reason: "stream_broken",
    retryable: true,
  })
}
