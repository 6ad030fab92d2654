/** One request while it is worked on: the `Call` that implements the public context. */
import { misuse } from "../core/error/error.js"
import type { Answer, Exchange, InFlight } from "../core/exchange.js"
import { answer, silent } from "../core/exchange.js"
import { META } from "../core/feature/envelope.js"
import { atLeast, type LogLevel } from "../core/feature/log-level.js"
import { isProgress, isProgressToken } from "../core/feature/progress.js"
import type { Principal } from "../core/http/gate.js"
import { hasCapability } from "../core/model/capability.js"
import type { Elicited, ElicitedUrl } from "../core/model/elicitation.js"
import type { Implementation } from "../core/model/identity.js"
import type { Root, SamplingRequest, SamplingResult } from "../core/model/sampling.js"
import type { Era } from "../core/revision/revision.js"
import type { OutputOf, Schema } from "../core/schema/standard.js"
import { notificationText, resultText } from "../core/wire/build.js"
import { isJsonObject, type JsonObject, type JsonValue, type RequestId } from "../core/wire/message.js"
import type { Outcome, RequestFacts } from "../observe/event.js"
import { Due } from "../store/deadlines.js"
import type { Calls } from "./calls.js"
import type { ClientView, CompletionContext, ContextKey, ContextLog } from "./context.js"
import type { AnyTool } from "./define/tool.js"
import type { Session } from "./era/session.js"
import type { Asking } from "./input/asking.js"
import type { AskOptions, CallInput, ElicitUrlOptions, Jsonify, OnceContext } from "./input/input.js"
import { openInput } from "./input/open.js"
import type { RoundStart } from "./input/record.js"
import type { ServerCall } from "./middleware.js"
import type { Profile } from "./profile.js"
import type { Snapshot } from "./registry.js"
import type { ServedRevision } from "./served.js"
import type { Listens } from "./stream/listens.js"
import type { ResumableExchange } from "./stream/resumable.js"
import { describeRequest, type Failure, type Started } from "./watch.js"
/** What a call is made of, whichever way it came. */
export interface CallFacts {
  readonly id: RequestId
  readonly method: string
  readonly params: JsonObject | undefined
  readonly served: ServedRevision
  readonly snapshot: Snapshot
  readonly clientCapabilities: JsonObject
  readonly clientInfo: Implementation | undefined
  /** The least level that the client wants to hear; undefined when it wants none. */
  readonly logLevel: LogLevel | undefined
  /** The legacy session that the call came in. */
  readonly session: Session | undefined
  /** The streams of changes that clients hold open; undefined where they may not. */
  readonly listens: Listens | undefined
  /** The answer's stream, where it can be resumed. */
  readonly stream: ResumableExchange | undefined
  /** Where the call stands under its id while it is worked on. */
  readonly inFlight: Map<RequestId, InFlight> | undefined
  /** Writes what a call changed in its session. */
  readonly save: (session: Session) => void
  readonly profile: Profile
  /** Whether handlers of the method may ask the client. */
  readonly mayAsk: boolean
  /** Whether the call stays open until one of the two sides ends it; then it takes no place among those that are worked on. */
  readonly stays: boolean
  readonly asking: Asking
  /** Those that are worked on beside it. */
  readonly calls: Calls
}

const NO_ARGUMENTS: Readonly<Record<string, string>> = Object.freeze({})

/** One request while it is worked on. Nothing in it is made before something asks for it. */
export class Call extends Due implements CompletionContext, ServerCall, InFlight {
  facts: CallFacts
  readonly exchange: Exchange
  arguments: Readonly<Record<string, string>> = NO_ARGUMENTS
  /** How it ended, unless that is plain to see: set by whoever knows. */
  outcome: Outcome | undefined
  /** What failed unexpectedly. */
  failure: Failure | undefined
  /** Set when its start was told, so that its end is told too. */
  started: Started | undefined
  #described: RequestFacts | undefined
  /** Once true, nothing more is sent before the answer. */
  #ended = false
  /** Once true, the answer is on its way. */
  #answered = false
  /** Why the call was cancelled, once it was. */
  #reason: DOMException | undefined
  #controller: AbortController | undefined
  /** Hears that a call that stays open was cancelled. */
  #leave: (() => void) | undefined
  #input: CallInput | undefined
  /** Why the run is over although the call is not, once it is. */
  #suspension: Error | undefined
  /** Resolves once the answer of a call that waits for its client is written, to that answer. */
  delivery: Promise<Answer> | undefined
  /** That answer, once it is there. */
  delivered: Answer | undefined
  /** Whether the round may come again, so that the call does not end with it. */
  mayComeAgain = false
  /** What a call in its second round or later, or with answers given beforehand, starts with. */
  round: RoundStart | undefined
  /** The tool that is called, once it is known. */
  tool: AnyTool | undefined
  /** Whether the call was answered ahead of its handler, and its place given away. */
  isDropped = false
  #progress: number | undefined
  #values: Map<ContextKey<unknown>, unknown> | undefined

  constructor(facts: CallFacts, exchange: Exchange) {
    super()
    this.facts = facts
    this.exchange = exchange
  }

  get signal(): AbortSignal {
    if (this.#controller !== undefined) return this.#controller.signal
    const controller = new AbortController()
    this.#controller = controller
    const over = this.#reason ?? this.#suspension
    if (over !== undefined) controller.abort(over)
    else if (!this.#ended) {
      if (this.facts.served.revision.closeCancels) {
        this.exchange.onAbort(() => {
          this.keepOpen()
          this.#abort(aborted("the connection closed"))
        })
      }
    }
    return controller.signal
  }

  get id(): RequestId {
    return this.facts.id
  }

  get method(): string {
    return this.facts.method
  }

  get params(): JsonObject | undefined {
    return this.facts.params
  }

  /** What is told of the call: made when something is. */
  get described(): RequestFacts {
    this.#described ??= describeRequest(this.facts, this.exchange)
    return this.#described
  }

  get era(): Era {
    return this.facts.served.revision.era
  }

  get revision(): string {
    return this.facts.served.revision.version
  }

  get principal(): Principal | undefined {
    return this.exchange.peer.principal
  }

  get client(): ClientView {
    const { clientInfo, clientCapabilities } = this.facts
    return { info: clientInfo, can: (capability) => hasCapability(clientCapabilities, capability) }
  }

  get log(): ContextLog {
    return {
      debug: (message, data) => this.#log("debug", message, data),
      info: (message, data) => this.#log("info", message, data),
      notice: (message, data) => this.#log("notice", message, data),
      warning: (message, data) => this.#log("warning", message, data),
      error: (message, data) => this.#log("error", message, data),
    }
  }

  progress(done: number, total?: number, message?: string): void {
    if (this.#ended || !this.exchange.canStream) return
    const progressToken = this.#progressToken()
    if (progressToken === undefined || !isProgress(this.#progress, done)) return
    this.#progress = done
    const params = { progressToken, progress: done, ...(Number.isFinite(total) ? { total } : {}) }
    this.#send("notifications/progress", message === undefined ? params : { ...params, message })
  }

  flush(): Promise<void> {
    return this.exchange.flush()
  }

  disconnect({ retryMs }: { readonly retryMs?: number } = {}): boolean {
    if (retryMs !== undefined && !(Number.isSafeInteger(retryMs) && retryMs >= 0)) {
      throw misuse("invalid_option", `ctx.disconnect: retryMs must be a non-negative integer, not ${String(retryMs)}`)
    }
    const { stream } = this.facts
    if (stream === undefined || this.#ended) return false
    stream.disconnect(retryMs)
    return true
  }

  header(name: string): string | undefined {
    return this.exchange.header?.get(name.toLowerCase())
  }

  get suspended(): boolean {
    return this.#suspension !== undefined
  }

  get responses(): Readonly<Record<string, JsonObject>> {
    return this.input.responses
  }

  get state(): JsonValue | undefined {
    return this.input.state
  }

  elicit<S extends Schema>(message: string, schema: S, options?: AskOptions): Promise<Elicited<OutputOf<S>>> {
    return this.input.elicit(message, schema, options)
  }

  elicitUrl(message: string, url: (id: string) => string, options?: ElicitUrlOptions): Promise<ElicitedUrl> {
    return this.input.elicitUrl(message, url, options)
  }

  sample(request: SamplingRequest, options?: AskOptions): Promise<SamplingResult> {
    return this.input.sample(request, options)
  }

  roots(options?: AskOptions): Promise<readonly Root[]> {
    return this.input.roots(options)
  }

  once<T>(key: string, step: (once: OnceContext) => T | Promise<T>): Promise<Jsonify<T>> {
    return this.input.once(key, step)
  }

  onEnd(free: () => unknown): void {
    this.input.onEnd(free)
  }

  get<T>(key: ContextKey<T>): T | undefined {
    return this.#values?.get(key) as T | undefined
  }

  set<T>(key: ContextKey<T>, value: T): void {
    this.#values ??= new Map()
    this.#values.set(key, value)
  }

  cancel(reason: string | undefined): void {
    if (this.#answered) return
    this.#abort(aborted(reason))
    this.exchange.close()
  }

  override expire(): void {
    this.facts.calls.expire(this)
  }

  /** Whether nothing that the handler comes to is still to be written. */
  get isOver(): boolean {
    return this.#answered || this.cancelled || this.delivery !== undefined
  }

  /** Ends the call from this side: its signal aborts, and `said` is written ahead of whatever its handler comes to. */
  giveUp(reason: DOMException, said: Answer): void {
    this.#abort(reason)
    this.exchange.finish(said)
    this.release()
  }

  /** Whether the call was cancelled, so that its answer must not be written. */
  get cancelled(): boolean {
    return this.#reason !== undefined
  }

  /** Says that this run is over, though not the call: its signal aborts, progress and log stop, and `said` is written. */
  suspend(reason: Error, said: Promise<Answer>): void {
    this.#suspension = reason
    this.#mute()
    this.#controller?.abort(reason)
    this.delivery = said.then((ready) => {
      if (!this.cancelled) {
        this.#answered = true
        this.exchange.finish(ready)
      }
      this.delivered = ready
      this.release()
      return ready
    })
  }

  /** Says that a client that came with a state may come with the same one again: the call does not end with this answer. */
  keepOpen(): void {
    this.mayComeAgain = this.round?.state !== undefined
  }

  /** Keeps nothing but what a call that stays open needs, and says when its client leaves it. */
  stay(leave: () => void): void {
    this.facts = { ...this.facts, params: undefined }
    this.#leave = leave
    if (this.facts.served.revision.closeCancels)
      this.exchange.onAbort(() => this.#abort(aborted("the connection closed")))
  }

  /** Whether anything is to be done between the end of the handler and the answer. */
  get unsettled(): boolean {
    return this.#input !== undefined
  }

  /** Settles the end of a call that asked or kept something: waits until its answer is written, or frees what it holds. */
  async settled(outcome: Answer): Promise<Answer> {
    if (this.delivery !== undefined) {
      await this.delivery
      return silent
    }
    this.#input?.end()
    for (const free of this.mayComeAgain ? [] : (this.#input?.takeFrees() ?? [])) {
      try {
        await free()
      } catch (error) {
        this.facts.profile.logger.error("a function given to ctx.onEnd failed", { method: this.facts.method, error })
      }
    }
    return outcome
  }

  /** Gives the call's id back. */
  release(): void {
    const { inFlight, id } = this.facts
    if (inFlight?.get(id) === this) inFlight.delete(id)
  }

  get input(): CallInput {
    this.#input ??= openInput(this)
    return this.#input
  }

  /** Says that the answer is about to be written: nothing comes before it any more. */
  end(): void {
    this.#answered = true
    this.#mute()
  }

  #mute(): void {
    this.#ended = true
  }

  /** The answer with this result, as JSON text. */
  result(text: string): Answer {
    return answer(200, resultText(this.facts.id, text))
  }

  #abort(reason: DOMException): void {
    if (this.#answered || this.#reason !== undefined) return
    this.#mute()
    this.#reason = reason
    this.#controller?.abort(reason)
    this.#leave?.()
    this.#input?.end()
  }

  #progressToken(): RequestId | undefined {
    const meta = this.facts.params?.["_meta"]
    const token = isJsonObject(meta) ? meta[META.progressToken] : undefined
    return isProgressToken(token) ? token : undefined
  }

  #log(level: LogLevel, message: string, data: JsonObject | undefined): void {
    const { logLevel, profile } = this.facts
    const told = profile.topics["server.log"]
    const isAsked = logLevel !== undefined && this.exchange.canStream && atLeast(level, logLevel)
    if (this.#ended || !(isAsked || told.watched)) return
    if (this.#input?.replaying === true || (this.#input === undefined && this.round?.state !== undefined)) return
    if (told.watched) told.publish({ request: this.described, level, message, data })
    if (!isAsked) return
    const said: JsonValue = data === undefined ? message : { ...data, message }
    try {
      this.#send("notifications/message", { level, data: said })
    } catch (error) {
      this.facts.profile.logger.warn("a log message for the client is not JSON", { level, message, error })
    }
  }

  #send(method: string, params: JsonObject): void {
    this.exchange.send(notificationText(method, params))
  }
}

function aborted(reason = "the request was cancelled"): DOMException {
  return new DOMException(reason, "AbortError")
}
