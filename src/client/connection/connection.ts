/**
 * One connection to one server, for as long as the client is open: what is sent over it, what is known of it, and how it comes back
 * when it is lost. The decisions are those of `step.ts`; this is the shell that runs them.
 */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { droppedMetaKeys } from "../../core/feature/envelope.js"
import type { LogLevel } from "../../core/feature/log-level.js"
import { clampText } from "../../core/feature/text.js"
import type { Revision } from "../../core/revision/revision.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { ClientEvents } from "../../observe/client-event.js"
import type { Topics } from "../../observe/emitter.js"
import type { Clock } from "../../store/port.js"
import { Call, callEnded, clientClosed } from "../call.js"
import type { Changes } from "../changes.js"
import type { Answerer } from "../handler/answerer.js"
import type { Dialer, Headers, Noise, StandbyState } from "../link.js"
import type { OpenStream, StreamHears } from "../listen/stream.js"
import type { Attempt } from "../pipeline/stage.js"
import type { ClientSettings } from "../settings.js"
import { delayOf } from "./backoff.js"
import { Inbox } from "./inbox.js"
import { Maker } from "./maker.js"
import type { Negotiated } from "./negotiated.js"
import { isSessionLost, resultOf, sessionLost, unknownType } from "./outcome.js"
import type { Speech } from "./speech.js"
import type { ClientStatus, ConnectionState, Prior } from "./status.js"
import { type Effect, type LifeEvent, type Phase, step } from "./step.js"
import { Waiters } from "./waiters.js"
import type { ConnectionWatch } from "./watch.js"
import type { Wire, WireEvents } from "./wire.js"

/** What a connection is made of. */
export interface ConnectionParts {
  readonly dialer: Dialer
  readonly settings: ClientSettings
  readonly answerer: Answerer
  readonly topics: Topics<ClientEvents>
  readonly watch: ConnectionWatch
  readonly clock: Clock
  readonly changes: Changes
}

/** Hears of what a server says outside of requests: whether all of it came. */
export interface Watcher {
  /** A new connection or session has taken the place of a lost one, and knows of nothing that was asked of the one before. */
  renewed(): void
  /** Something may not have come. */
  missed(): void
  /** Nothing comes any more. */
  over(error: McpError): void
}

/** How long a connection has to stand to show by that alone that the server works, in milliseconds. */
const STEADY_MS = 10_000

/** Where messages go, and how they are written. */
interface Outlet {
  readonly wire: Wire
  readonly speech: Speech
  readonly generation: number
}

const STATES: Readonly<Record<Phase["kind"], ConnectionState>> = {
  connecting: "connecting",
  up: "connected",
  waiting: "reconnecting",
  healing: "reconnecting",
  down: "failed",
  closed: "closed",
}

export class Connection {
  readonly #parts: ConnectionParts
  readonly #inbox: Inbox
  readonly #waiters = new Waiters()
  readonly #watchers = new Set<Watcher>()
  readonly #maker: Maker
  #phase: Phase = { kind: "connecting" }
  #logLevel: LogLevel | undefined
  #stopWaiting: (() => void) | undefined
  /** The verdict about the server, as long as it is an earlier one that the server has not borne out. */
  #given: Negotiated | undefined
  /** Why the wire that is in use is gone. */
  #goneWith: McpError | undefined
  #upSinceMs = 0
  #deafness: McpError | undefined

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    const { dialer, settings, clock, answerer, topics, changes, watch } = parts
    const revision = (): Revision | undefined => this.#maker.negotiated?.revision
    this.#inbox = new Inbox({ answerer, topics, changes, logger: settings.logger, revision })
    this.#maker = new Maker({ dialer, settings, clock, watch, hears: (isIn) => this.#hears(isIn) })
  }

  /** Opens the link and finds out what the server speaks. */
  async open(): Promise<void> {
    const { prior, signal } = this.#parts.settings
    await this.#maker.negotiate(prior, signal)
    if (this.negotiated.reason === "prior") this.#given = this.negotiated
    this.#stand()
  }

  get negotiated(): Negotiated {
    const { negotiated } = this.#maker
    if (negotiated === undefined) throw this.#down()
    return negotiated
  }

  get revision(): Revision {
    return this.negotiated.revision
  }

  /** The id of the legacy session that is open. */
  get session(): string | undefined {
    return this.#maker.wire?.session
  }

  get kind(): "http" | "pipe" {
    return this.#parts.dialer.kind
  }

  /** The last thing that came and was no message. */
  get lastNoise(): Noise | undefined {
    return this.#inbox.lastNoise
  }

  get status(): ClientStatus {
    const { negotiated } = this.#maker
    return {
      state: STATES[this.#phase.kind],
      era: negotiated?.revision.era,
      version: negotiated?.version,
      reason: "cause" in this.#phase ? this.#phase.cause.reason : negotiated?.reason,
      origin: this.#parts.dialer.origin,
      server: negotiated?.server,
    }
  }

  get prior(): Prior | undefined {
    return this.#maker.prior
  }

  /** Why nothing is heard of what a server says outside of requests; undefined when it is, as far as is known. */
  get deafness(): McpError | undefined {
    return this.#deafness
  }

  /** Sends one request of a call and resolves to its result. Waits for a connection that is coming back. */
  async send(call: Call, attempt: Attempt): Promise<JsonObject> {
    const { wire, speech, generation } = this.#outlet() ?? (await this.#nextOutlet(call))
    // Whoever heard of the call until now may have ended it.
    if (call.isOver) throw callEnded()
    const { hasSession } = wire
    const { method, settings } = call
    const { headers, isRepeatable: repeatable, traceparent } = attempt
    const id = wire.nextId()
    const progressToken = settings.onProgress !== undefined || settings.resetTimeoutOnProgress ? id : undefined
    const params = speech.write(attempt.params, { settings, progressToken, traceparent, logLevel: this.#logLevel })
    const caller = settings.headers
    const pending = wire.send({ id, method, params, call, headers, caller, repeatable, cancellable: true })
    call.wire = pending
    const outcome = await pending.outcome
    call.wire = undefined
    if (hasSession && isSessionLost(outcome)) throw this.#loseSession(method, generation)
    if (outcome.kind === "message") this.#happen({ kind: "proved" })
    const result = resultOf(outcome, method)
    this.#given = undefined
    if (this.revision.selfDescribingResults && !this.#isKnown(result, settings.extensions))
      throw unknownType(method, result)
    return result
  }

  /** Opens a stream of changes. `call` ends the wait for a connection that is coming back. */
  async openStream(
    call: Call,
    params: JsonObject,
    headers: Headers | undefined,
    hears: StreamHears,
  ): Promise<OpenStream> {
    const { wire, speech } = this.#outlet() ?? (await this.#nextOutlet(call))
    const { method, settings } = call
    const id = wire.nextId()
    const facts = { settings, progressToken: undefined, traceparent: undefined, logLevel: this.#logLevel }
    const unfollow = this.#inbox.follow(id, hears)
    const pending = wire.send({
      id,
      method,
      params: speech.write(params, facts),
      call: undefined,
      headers,
      caller: settings.headers,
      repeatable: true,
      cancellable: true,
    })
    return {
      ended: pending.outcome.finally(unfollow),
      close: (knows) => {
        unfollow()
        pending.cancel(clientClosed(), knows)
      },
    }
  }

  /** Tells a watcher from now on. Answers the function that ends it. */
  watch(watcher: Watcher): () => void {
    this.#watchers.add(watcher)
    return () => void this.#watchers.delete(watcher)
  }

  /**
   * Whether a result is of a type that the core protocol has, or that an extension may have which was declared.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#resulttype
   */
  #isKnown({ resultType = "complete" }: JsonObject, declared: JsonObject | undefined): boolean {
    if (resultType === "complete" || resultType === "input_required") return true
    const { extensions } = this.#parts.settings.capabilityOptions
    return typeof resultType === "string" && Object.keys({ ...extensions, ...declared }).length > 0
  }

  /** Tells of the keys of a caller's `_meta` that are left out, when somebody wants to know. */
  reportMeta(method: string, params: JsonObject | undefined): void {
    const topic = this.#parts.topics["client.meta_dropped"]
    if (!topic.watched || params?.["_meta"] === undefined) return
    const keys = droppedMetaKeys(params)
    if (keys.length > 0) topic.publish({ method, keys })
  }

  /** Sends a notification. */
  async notify(method: string, params: JsonObject): Promise<void> {
    const outlet = this.#outlet()
    if (outlet === undefined) throw this.#down()
    await outlet.wire.notify(method, params)
  }

  /** The level of what the server is to log: said with every modern request, and again in every legacy session. */
  set logLevel(level: LogLevel) {
    if (this.#phase.kind === "closed" || this.#phase.kind === "down") throw this.#down()
    this.#logLevel = level
  }

  /** Speaks another version, as {@link Maker.renegotiate} says. */
  renegotiate(error: McpError): boolean {
    return this.#maker.renegotiate(error)
  }

  /**
   * Negotiates anew when the verdict came from outside and the server does not bear it out, once for all calls. Answers whether the
   * server speaks something else than the call was sent in, so that it was not run.
   */
  async reprobe(error: McpError, call: Call): Promise<boolean> {
    const given = this.#given
    if (given === undefined || !isForeign(error)) return false
    if (this.#phase.kind === "up") this.#happen({ kind: "doubted", generation: this.#phase.generation, error })
    try {
      await this.#nextOutlet(call)
    } catch (failure) {
      throw this.#phase.kind === "down" ? this.#phase.cause : failure
    }
    return this.negotiated.version !== given.version
  }

  /** Ends it for good. Never rejects; the second time is the first. */
  async close(): Promise<void> {
    this.#happen({ kind: "close" })
    const error = clientClosed()
    this.#maker.stop(error)
    this.#stopWaiting?.()
    this.#waiters.reject(error)
    for (const call of this.#maker.wire?.calls() ?? []) call.fail(error)
    this.#inbox.close(error)
    await this.#maker.close()
  }

  #happen(event: LifeEvent): void {
    const { reconnect, limits } = this.#parts.settings
    const { phase, effects } = step(this.#phase, event, { heals: reconnect, maxAttempts: limits.maxReconnects })
    this.#phase = phase
    for (const effect of effects) this.#run(effect)
  }

  #run(effect: Effect): void {
    switch (effect.kind) {
      case "tell":
        return this.#tell()
      case "release":
        return this.#waiters.release()
      case "reject":
        return this.#giveUp(this.#down(effect.error))
      case "wait": {
        const { clock, settings } = this.#parts
        const delayMs = delayOf(effect.attempt, settings.limits.maxRetryMs)
        this.#stopWaiting = clock.after(delayMs, () => this.#happen({ kind: "due" }))
        return
      }
      case "negotiate":
        this.#tellAttempt("connection")
        return void this.#heal(() => this.#maker.negotiate(effect.anew ? undefined : this.prior, undefined))
      case "reinitialize":
        this.#tellAttempt("session")
        return void this.#heal(() => this.#maker.reinitialize())
    }
  }

  async #heal(make: () => Promise<void>): Promise<void> {
    try {
      await make()
    } catch (error) {
      return this.#happen({ kind: "failed", error: asDown(error) })
    }
    this.#given = undefined
    this.#stand()
    this.#restoreLogLevel()
    if (this.#phase.kind === "up") for (const watcher of [...this.#watchers]) watcher.renewed()
  }

  /** The connection is made; unless it is gone by now. */
  #stand(): void {
    this.#upSinceMs = this.#parts.clock.now()
    this.#deafness = undefined
    this.#happen({ kind: "made" })
    if (this.#goneWith !== undefined) this.#lose(this.#goneWith)
  }

  /** Hears a wire from its beginning. */
  #hears(isIn: () => boolean): WireEvents {
    this.#goneWith = undefined
    const inbox = this.#inbox
    return {
      asked: (wire, message, calls, caller) => {
        if (isIn()) inbox.asked(wire, message, calls, caller)
      },
      told: (wire, message) => {
        if (isIn()) inbox.told(wire, message)
      },
      gone: (error) => {
        if (isIn()) this.#lose(error)
      },
      standby: (state) => {
        if (isIn()) this.#stoodBy(state)
      },
      noise: (noise) => inbox.noise(noise),
    }
  }

  /** The link is gone. */
  #lose(error: McpError): void {
    this.#goneWith = error
    this.#inbox.close(error)
    const phase = this.#phase
    if (phase.kind !== "up") return
    if (this.#parts.clock.now() - this.#upSinceMs >= STEADY_MS) this.#happen({ kind: "proved" })
    if (this.#given === undefined) this.#happen({ kind: "gone", error })
    else this.#happen({ kind: "doubted", generation: phase.generation, error })
  }

  /** The server does not know the session any more. Nothing is sent in it from now on, not even its end. */
  #loseSession(method: string, generation: number): McpError {
    const error = sessionLost(method)
    if (this.#phase.kind === "up" && this.#phase.generation === generation) {
      this.#inbox.close(error)
      this.#maker.leaveSession()
    }
    this.#happen({ kind: "session_lost", generation, error })
    return error
  }

  /** There will be no connection until somebody wants one again: nothing is left of it, and whoever waits is told. */
  #giveUp(error: McpError): void {
    void this.#maker.close()
    this.#waiters.reject(error)
    for (const watcher of [...this.#watchers]) watcher.over(error)
  }

  /** What a link tells of the stream on which a server speaks by itself. */
  #stoodBy(state: StandbyState): void {
    if (state === "lost") return void this.#knock()
    this.#deafness = state === "missed" ? undefined : state
    for (const watcher of [...this.#watchers]) {
      if (state === "missed") watcher.missed()
      else watcher.over(state)
    }
  }

  /** Asks whether the session is still there, when its stream is not: when it is lost, the asking brings it back. */
  async #knock(): Promise<void> {
    try {
      await this.#sendOwn("ping", undefined)
    } catch (error) {
      if (McpError.is(error) && error.reason === "session_not_found") return
    }
    this.#stoodBy(noStream(this.#parts.dialer.origin))
  }

  /** Sends a request that no caller asked for. */
  #sendOwn(method: string, params: JsonObject | undefined): Promise<JsonObject> {
    const { calls } = this.#parts.settings
    const call = new Call(method, params, calls, undefined)
    const attempt = { params, headers: undefined, timeoutMs: calls.timeoutMs, isRepeatable: true }
    return call.run(() => this.send(call, attempt))
  }

  /** A new legacy session knows nothing of the level that the one before was told. */
  #restoreLogLevel(): void {
    const level = this.#logLevel
    const method = "logging/setLevel"
    if (level === undefined || this.#phase.kind !== "up" || !this.revision.methods.has(method)) return
    this.#sendOwn(method, { level }).catch((error: unknown) => {
      this.#parts.settings.logger.debug("the log level was not restored", { error })
    })
  }

  /** Where messages go; undefined while they cannot. */
  #outlet(): Outlet | undefined {
    const phase = this.#phase
    const { wire, speech } = this.#maker
    if (phase.kind !== "up" || wire === undefined || speech === undefined) return undefined
    return { wire, speech, generation: phase.generation }
  }

  /** Resolves once messages can be sent again, or rejects when that will not be, or when the call is over first. */
  async #nextOutlet(call: Call): Promise<Outlet> {
    for (;;) {
      this.#happen({ kind: "wanted" })
      const outlet = this.#outlet()
      if (outlet !== undefined) return outlet
      if (STATES[this.#phase.kind] !== "reconnecting") throw this.#down()
      await this.#waiters.wait(call)
    }
  }

  #tell(): void {
    this.#parts.watch.status(this.status, "cause" in this.#phase ? this.#phase.cause : undefined)
  }

  #tellAttempt(what: "connection" | "session"): void {
    const phase = this.#phase
    if (phase.kind === "healing") this.#parts.watch.reconnecting(what, phase.attempts, phase.cause)
  }

  #down(given?: McpError): McpError {
    if (this.#phase.kind === "closed") return clientClosed()
    const cause = given ?? ("cause" in this.#phase ? this.#phase.cause : undefined)
    const text = `not connected to ${this.#parts.dialer.origin}${cause === undefined ? "" : `: ${cause.message}`}`
    return new McpError(text, { kind: "connection_down", reason: "not_connected", cause, retryable: true })
  }
}

/** Whether an error is one with which a server shows that it speaks something else than was thought. */
function isForeign({ kind, code, reason, data }: McpError): boolean {
  if (kind === "connection_down") return true
  if (reason === "http_status") {
    const status = isJsonObject(data) ? data["status"] : undefined
    return status === 400 || status === 404 || status === 405
  }
  return (
    code !== undefined &&
    [codes.methodNotFound, codes.invalidRequest, codes.invalidParams, codes.serverError].some((known) => known === code)
  )
}

function asDown(error: unknown): McpError {
  if (McpError.is(error)) return error
  return new McpError(`the connection was not made: ${clampText(error)}`, {
    kind: "connection_down",
    reason: "not_connected",
    cause: error,
  })
}

function noStream(origin: string): McpError {
  return new McpError(`${origin} has no stream any more for what belongs to no request`, {
    kind: "transport",
    reason: "http_status",
    data: { status: 404 },
  })
}
