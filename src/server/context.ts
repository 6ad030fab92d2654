/** What a handler knows of its call: the public `Context`, and the `Call` that implements it for one request. */
import type { Answer, Exchange, InFlight } from "../core/exchange.js"
import { answer, silent } from "../core/exchange.js"
import { META } from "../core/feature/envelope.js"
import { atLeast, type LogLevel } from "../core/feature/log-level.js"
import { isProgress, isProgressToken } from "../core/feature/progress.js"
import type { Principal } from "../core/http/gate.js"
import { type ClientCapability, hasCapability } from "../core/model/capability.js"
import type { Elicited, ElicitedUrl } from "../core/model/elicitation.js"
import type { Implementation } from "../core/model/identity.js"
import type { Root, SamplingRequest, SamplingResult } from "../core/model/sampling.js"
import type { Era } from "../core/revision/revision.js"
import type { OutputOf, Schema } from "../core/schema/standard.js"
import { notificationText, resultText } from "../core/wire/build.js"
import { isJsonObject, type JsonObject, type JsonValue, type RequestId } from "../core/wire/message.js"
import type { Session } from "./era/session.js"
import type { Asking } from "./input/asking.js"
import type { AskOptions, CallInput, ElicitUrlOptions, Input, Jsonify, OnceContext } from "./input/input.js"
import { openInput } from "./input/open.js"
import type { RoundStart } from "./input/replay.js"
import type { Profile } from "./profile.js"
import type { Snapshot } from "./registry.js"
import type { ServedRevision } from "./served.js"

/** A typed key for values that one part of a server leaves for another in the {@link Context}. */
export interface ContextKey<T> {
  readonly name: string
  /** Never there at run time. */
  readonly type?: T
}

/**
 * Makes a {@link ContextKey}; two keys are never the same, whatever their names.
 *
 * @example
 * const userKey = contextKey<User>("user")
 */
export function contextKey<T>(name: string): ContextKey<T> {
  return { name }
}

/** What is known of the client of a call. Self-reported: never a basis for a decision about access. */
export interface ClientView {
  /** Name and version, when the client said them. */
  readonly info: Implementation | undefined
  /** Whether the client declared a capability, by leaf: `can("elicitation.url")`. */
  can(capability: ClientCapability | `extensions.${string}`): boolean
}

/** Sends log messages to the client: dropped, unformatted, when it did not ask for the level. */
export interface ContextLog {
  debug(message: string, data?: JsonObject): void
  info(message: string, data?: JsonObject): void
  notice(message: string, data?: JsonObject): void
  warning(message: string, data?: JsonObject): void
  error(message: string, data?: JsonObject): void
}

/** What a handler knows of its call, and what it can do beside returning. */
export interface Context extends Input {
  /** Aborted when the call is cancelled, by the client or because the server stops. */
  readonly signal: AbortSignal
  readonly era: Era
  /** The version of the revision that the call is served in. */
  readonly revision: string
  /** Who calls; undefined without authentication. */
  readonly principal: Principal | undefined
  readonly client: ClientView
  readonly log: ContextLog
  /**
   * Reports progress. Sent only when the client asked for it; a value that is not larger than the last is dropped.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
   */
  progress(done: number, total?: number, message?: string): void
  /** Resolves once what was sent has left, for handlers that send a lot to a slow reader. */
  flush(): Promise<void>
  /** An HTTP header of the request, by its lower-case name; undefined on other transports. */
  header(name: string): string | undefined
  /** The value that was left under `key` for this call. */
  get<T>(key: ContextKey<T>): T | undefined
  /** Leaves a value under `key` for this call. */
  set<T>(key: ContextKey<T>, value: T): void
}

/** The context of a completer: what the user has already filled in. */
export interface CompletionContext extends Context {
  /** The values of the other arguments, as far as they are known. */
  readonly arguments: Readonly<Record<string, string>>
}

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
  /** Where the call stands under its id while it is worked on. */
  readonly inFlight: Map<RequestId, InFlight> | undefined
  /** Writes what a call changed in its session. */
  readonly save: (session: Session) => void
  readonly profile: Profile
  /** Whether handlers of the method may ask the client. */
  readonly mayAsk: boolean
  readonly asking: Asking
  /** Where a call is kept while somebody listens to its signal, to hear that the server stops. */
  readonly watch: CallWatch
}

/** The calls whose handlers listen to their signals. */
export interface CallWatch {
  /** Keeps a call, or cancels it when the server has stopped already. */
  add(call: InFlight): void
  delete(call: InFlight): void
}

const NO_ARGUMENTS: Readonly<Record<string, string>> = Object.freeze({})

/** One request while it is worked on. Nothing in it is made before something asks for it. */
export class Call implements CompletionContext, InFlight {
  readonly facts: CallFacts
  readonly exchange: Exchange
  arguments: Readonly<Record<string, string>> = NO_ARGUMENTS
  /** Once true, nothing more is written for the call. */
  #ended = false
  /** Why the call was cancelled, once it was. */
  #reason: DOMException | undefined
  #controller: AbortController | undefined
  #input: CallInput | undefined
  /** Why the run is over although the call is not, once it is. */
  #suspension: Error | undefined
  /** Resolves once the answer of a call that waits for its client is written. */
  #delivery: Promise<void> | undefined
  /** What a call in its second round or later, or with answers given beforehand, starts with. */
  round: RoundStart | undefined
  #progress: number | undefined
  #values: Map<ContextKey<unknown>, unknown> | undefined

  constructor(facts: CallFacts, exchange: Exchange) {
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
      this.facts.watch.add(this)
      if (this.facts.served.revision.closeCancels) this.exchange.onAbort(() => this.#abort("the connection closed"))
    }
    return controller.signal
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

  header(name: string): string | undefined {
    return this.exchange.header?.get(name.toLowerCase())
  }

  get suspended(): boolean {
    return this.#suspension !== undefined
  }

  elicit<S extends Schema>(message: string, schema: S, options?: AskOptions): Promise<Elicited<OutputOf<S>>> {
    return this.#openInput().elicit(message, schema, options)
  }

  elicitUrl(message: string, url: (id: string) => string, options?: ElicitUrlOptions): Promise<ElicitedUrl> {
    return this.#openInput().elicitUrl(message, url, options)
  }

  sample(request: SamplingRequest, options?: AskOptions): Promise<SamplingResult> {
    return this.#openInput().sample(request, options)
  }

  roots(options?: AskOptions): Promise<readonly Root[]> {
    return this.#openInput().roots(options)
  }

  once<T>(key: string, step: (once: OnceContext) => T | Promise<T>): Promise<Jsonify<T>> {
    return this.#openInput().once(key, step)
  }

  onEnd(free: () => unknown): void {
    this.#openInput().onEnd(free)
  }

  get<T>(key: ContextKey<T>): T | undefined {
    return this.#values?.get(key) as T | undefined
  }

  set<T>(key: ContextKey<T>, value: T): void {
    this.#values ??= new Map()
    this.#values.set(key, value)
  }

  cancel(reason: string | undefined): void {
    if (this.#ended) return
    this.#abort(reason)
    this.exchange.close()
  }

  /** Whether the call was cancelled, so that its answer must not be written. */
  get cancelled(): boolean {
    return this.#reason !== undefined
  }

  /** Says that this run is over because the client is asked: its signal aborts, and progress and log stop. */
  suspend(reason: Error): void {
    this.#suspension = reason
    this.end()
    this.#controller?.abort(reason)
  }

  /** Writes the answer of a call that waits for its client, ahead of the end of its handler. */
  deliver(answered: Promise<Answer>): Promise<void> {
    this.#delivery = answered.then((ready) => {
      if (!this.cancelled) this.exchange.finish(ready)
      this.release()
    })
    return this.#delivery
  }

  /** Whether anything is to be done between the end of the handler and the answer. */
  get unsettled(): boolean {
    return this.#input !== undefined
  }

  /** Settles the end of a call that asked or kept something: waits until its answer is written, or frees what it holds. */
  async settled(outcome: Answer): Promise<Answer> {
    if (this.#delivery !== undefined) {
      await this.#delivery
      return silent
    }
    this.#input?.end()
    for (const free of this.#input?.takeFrees() ?? []) {
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

  #openInput(): CallInput {
    this.#input ??= openInput(this)
    return this.#input
  }

  /** Says that the answer is about to be written: progress and log stop. */
  end(): void {
    this.#ended = true
    if (this.#controller !== undefined) this.facts.watch.delete(this)
  }

  /** The answer with this result, as JSON text. */
  result(text: string): Answer {
    return answer(200, resultText(this.facts.id, text))
  }

  #abort(reason: string | undefined): void {
    if (this.#ended) return
    this.end()
    this.#reason = new DOMException(reason ?? "the request was cancelled", "AbortError")
    this.#controller?.abort(this.#reason)
    this.#input?.end()
  }

  #progressToken(): RequestId | undefined {
    const meta = this.facts.params?.["_meta"]
    const token = isJsonObject(meta) ? meta[META.progressToken] : undefined
    return isProgressToken(token) ? token : undefined
  }

  #log(level: LogLevel, message: string, data: JsonObject | undefined): void {
    const { logLevel } = this.facts
    if (this.#ended || logLevel === undefined || !this.exchange.canStream || !atLeast(level, logLevel)) return
    if (this.#input?.replaying === true || (this.#input === undefined && this.round?.state !== undefined)) return
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
