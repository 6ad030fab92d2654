/** One call of the application, from when it is made until its promise settles: what it asked for, and how it can end. */
import { McpError } from "../core/error/error.js"
import { clampText } from "../core/feature/text.js"
import type { JsonObject } from "../core/wire/message.js"
import type { ClientRequestFacts } from "../observe/client-event.js"
import { onAbort } from "./abort.js"
import type { CacheMode, HeaderSource } from "./options.js"

/** A clock that stands still while the application answers a question. */
export interface Pausable {
  pause(): void
  resume(): void
  /** Starts it again from the beginning. */
  restart(): void
}

/** A request that is on its way, and can be called back. */
export interface Cancellable {
  readonly id: number
  cancel(error: McpError): void
}

/** Hears how a call ended: with an error, or with a result. */
export type Ending = (error?: unknown, result?: unknown) => void

/** What the call's settings are once the client's stand in for those that are not given. */
export interface CallSettings {
  readonly timeoutMs: number
  readonly maxTotalTimeoutMs: number
  readonly resetTimeoutOnProgress: boolean
  readonly onProgress: ((progress: Progress) => void) | undefined
  readonly assigns: Readonly<Record<string, unknown>>
  readonly extensions: JsonObject | undefined
  readonly headers: HeaderSource | undefined
  readonly cache: CacheMode
  readonly traceparent: string | undefined
}

/** What a server says of how far a call is. */
export interface Progress {
  readonly progress: number
  readonly total?: number
  readonly message?: string
}

/** What became of a call on its way. */
interface Tally {
  attempts: number
  rounds: number
  lastId: number | undefined
}

/** See the file's comment. The pipeline makes one for each call. */
export class Call {
  readonly method: string
  readonly settings: CallSettings
  readonly signal: AbortSignal | undefined
  /** What the caller sends. */
  readonly params: JsonObject | undefined
  /** What the call is about: the name of a tool or prompt, or the URI of a resource. */
  readonly subject: string | undefined
  /** What is told of the call; made when somebody first wants to know. */
  described: ClientRequestFacts | undefined
  /** Runs work where those who watch the call want it run; undefined when nobody does. */
  within: (<T>(work: () => T) => T) | undefined
  readonly #tally: Tally
  #settled = false
  #reject: ((error: unknown) => void) | undefined
  #wire: Cancellable | undefined
  #clock: Pausable | undefined
  #paused = 0
  #controller: AbortController | undefined
  #endings: readonly Ending[] = []

  constructor(
    method: string,
    params: JsonObject | undefined,
    settings: CallSettings,
    signal: AbortSignal | undefined,
    tally: Tally = { attempts: 0, rounds: 0, lastId: undefined },
  ) {
    this.method = method
    this.settings = settings
    this.signal = signal
    this.params = params
    this.subject = subjectOf(params)
    this.#tally = tally
  }

  /** What it is, as errors name it. */
  get title(): string {
    return this.subject === undefined ? this.method : `${this.method} "${clampText(this.subject)}"`
  }

  /** Whether the promise of the call has settled: nothing that still comes is for anybody. */
  get isOver(): boolean {
    return this.#settled
  }

  /** Aborts when the call ends. Made when it is first asked for, by a handler that answers a question. */
  get endSignal(): AbortSignal {
    this.#controller ??= new AbortController()
    if (this.#settled) this.#controller.abort()
    return this.#controller.signal
  }

  /** Runs the call: the promise settles as `work` does, or when {@link fail} is called first. */
  run<T>(work: (call: Call) => Promise<T>): Promise<T> {
    return new Promise((resolve, reject) => {
      this.#reject = reject
      const { signal } = this
      if (signal !== undefined) {
        if (signal.aborted) return this.fail(abortedBy(signal))
        this.onEnd(onAbort(signal, () => this.fail(abortedBy(signal))))
      }
      const fail = (error: unknown): void => {
        if (this.#end(error, undefined)) reject(error)
      }
      try {
        work(this).then((result) => {
          if (this.#end(undefined, result)) resolve(result)
        }, fail)
      } catch (error) {
        fail(error)
      }
    })
  }

  /** Ends the call with an error, now: what is on its way is cancelled, and whatever it would answer is dropped. */
  fail(error: McpError): void {
    const reject = this.#reject
    if (this.#end(error, undefined, error)) reject?.(error)
  }

  /** Calls `run` once the call is over, before its promise settles; at once, without a word of how, if it is. */
  onEnd(run: Ending): void {
    if (this.#settled) run()
    else this.#endings = [...this.#endings, run]
  }

  /** Says what is on its way for the call, or that nothing is any longer. */
  set wire(wire: Cancellable | undefined) {
    this.#wire = wire
    if (wire === undefined) return
    this.#tally.attempts++
    this.#tally.lastId = wire.id
  }

  /** How often it was sent. */
  get attempts(): number {
    return this.#tally.attempts
  }

  /** The id of the last message in which it was sent. */
  get lastId(): number | undefined {
    return this.#tally.lastId
  }

  /** How many rounds of questions it had. */
  get rounds(): number {
    return this.#tally.rounds
  }

  set rounds(rounds: number) {
    this.#tally.rounds = rounds
  }

  /** A call that is sent in the place of this one, and does not end with it. What is told of one is told of both. */
  carrier(): Call {
    const carrier = new Call(this.method, this.params, this.settings, undefined, this.#tally)
    carrier.described = this.described
    carrier.within = this.within
    return carrier
  }

  /** The clock that runs while the server has the call. */
  get clock(): Pausable | undefined {
    return this.#clock
  }

  set clock(clock: Pausable | undefined) {
    this.#clock = clock
    if (this.#paused > 0) clock?.pause()
  }

  /** Stops the clock of the call, while the application answers. Answers the function that lets it go on. */
  pause(): () => void {
    if (this.#paused++ === 0) this.#clock?.pause()
    let done = false
    return () => {
      if (done) return
      done = true
      if (--this.#paused === 0) this.#clock?.resume()
    }
  }

  /** `given`: the error with which it is given up, so that what is on its way is called back. */
  #end(error: unknown, result: unknown, given?: McpError): boolean {
    if (this.#settled) return false
    this.#settled = true
    const wire = this.#wire
    this.#wire = undefined
    if (given !== undefined) wire?.cancel(given)
    this.#controller?.abort(given)
    for (const run of this.#endings) run(error, result)
    this.#endings = []
    return true
  }
}

function subjectOf(params: JsonObject | undefined): string | undefined {
  const subject = params?.["name"] ?? params?.["uri"]
  return typeof subject === "string" ? subject : undefined
}

/** What is left of a call that ended before it was sent: an error for nobody. */
export function callEnded(): McpError {
  return new McpError("the call ended before it was sent", { kind: "cancelled", reason: "call_ended" })
}

/** What a call fails with when its client is closed. */
export function clientClosed(): McpError {
  return new McpError("the client was closed", { kind: "cancelled", reason: "closed" })
}

function abortedBy(signal: AbortSignal): McpError {
  return new McpError("the call was aborted by its caller", {
    kind: "cancelled",
    reason: "aborted",
    cause: signal.reason,
  })
}
