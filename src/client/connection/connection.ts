/**
 * One negotiated connection: what is sent over it, what the server says over it, and what is known of it. It owns the wire, and
 * changes it when a negotiation needs a fresh one.
 */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { createEnvelope, droppedMetaKeys, type Envelope } from "../../core/feature/envelope.js"
import type { LogLevel } from "../../core/feature/log-level.js"
import { isProgressToken } from "../../core/feature/progress.js"
import { clientCapabilities } from "../../core/negotiate/client-capabilities.js"
import { pickVersion } from "../../core/negotiate/version.js"
import type { Revision } from "../../core/revision/revision.js"
import { findRevision, modernVersions } from "../../core/revision/table.js"
import {
  isJsonObject,
  type JsonObject,
  type NotificationMessage,
  type RequestMessage,
} from "../../core/wire/message.js"
import type { ClientEvents } from "../../observe/client-event.js"
import type { Topics } from "../../observe/emitter.js"
import type { Clock } from "../../store/port.js"
import { Call, clientClosed, type Progress } from "../call.js"
import type { Answerer } from "../handler/answerer.js"
import type { Dialer, Link, Noise } from "../link.js"
import type { HeaderSource } from "../options.js"
import type { Attempt } from "../pipeline/stage.js"
import type { ClientSettings } from "../settings.js"
import { negotiate } from "./negotiate.js"
import { type Negotiated, toLinkFacts, toPrior } from "./negotiated.js"
import { noLongerSpoken } from "./negotiation-error.js"
import { resultOf, unknownType } from "./outcome.js"
import { Questions } from "./questions.js"
import type { ClientStatus, ConnectionState, Prior } from "./status.js"
import { Wire } from "./wire.js"

/** What a connection is made of. */
export interface ConnectionParts {
  readonly dialer: Dialer
  readonly settings: ClientSettings
  readonly answerer: Answerer
  readonly topics: Topics<ClientEvents>
  readonly clock: Clock
}

export class Connection {
  readonly #parts: ConnectionParts
  readonly #questions: Questions
  #state: ConnectionState = "connecting"
  #error: McpError | undefined
  #wire: Wire | undefined
  #negotiated: Negotiated | undefined
  #writeEnvelope: Envelope | undefined
  #logLevel: LogLevel | undefined
  #noise: Noise | undefined
  #attempt: Call | undefined
  #reprobing: Promise<void> | undefined
  /** Whether the server itself has shown that the negotiated revision is right. */
  #isConfirmed = false

  constructor(parts: ConnectionParts) {
    this.#parts = parts
    this.#questions = new Questions(parts.answerer)
  }

  /** Opens the link and finds out what the server speaks. */
  async open(): Promise<void> {
    const { settings } = this.#parts
    try {
      await this.#negotiate(settings.prior, settings.signal)
      this.#become("connected")
    } catch (error) {
      if (this.#state === "connecting") {
        this.#error = McpError.is(error) ? error : undefined
        this.#become("failed")
      }
      await this.#wire?.close()
      throw error
    }
  }

  get negotiated(): Negotiated {
    if (this.#negotiated === undefined) throw this.#down()
    return this.#negotiated
  }

  get revision(): Revision {
    return this.negotiated.revision
  }

  get kind(): "http" | "pipe" {
    return this.#parts.dialer.kind
  }

  /** The last thing that came and was no message. */
  get lastNoise(): Noise | undefined {
    return this.#noise
  }

  get status(): ClientStatus {
    const negotiated = this.#negotiated
    return {
      state: this.#state,
      era: negotiated?.revision.era,
      version: negotiated?.version,
      reason: this.#error?.reason ?? negotiated?.reason,
      origin: this.#parts.dialer.origin,
      server: negotiated?.server,
    }
  }

  get prior(): Prior | undefined {
    return this.#negotiated === undefined ? undefined : toPrior(this.#negotiated, this.#parts.dialer.origin)
  }

  /** Sends one request of a call and resolves to its result. */
  async send(call: Call, attempt: Attempt): Promise<JsonObject> {
    const wire = this.#wire
    const write = this.#writeEnvelope
    if (this.#state !== "connected" || wire === undefined || write === undefined) throw this.#down()
    const { method, settings } = call
    const { extensions } = settings
    const id = wire.nextId()
    const wantsProgress = settings.onProgress !== undefined || settings.resetTimeoutOnProgress
    const params = write(attempt.params, {
      clientCapabilities: extensions === undefined ? undefined : this.#capabilities(this.revision, extensions),
      logLevel: this.#logLevel,
      progressToken: wantsProgress ? id : undefined,
      traceparent: attempt.traceparent,
    })
    const { headers, isRepeatable: repeatable } = attempt
    const pending = wire.send({
      id,
      method,
      params,
      call,
      headers,
      caller: settings.headers,
      repeatable,
      cancellable: true,
    })
    call.wire = pending
    const outcome = await pending.outcome
    call.wire = undefined
    const result = resultOf(outcome, method)
    this.#isConfirmed = true
    if (this.revision.selfDescribingResults && !this.#isKnown(result, extensions)) throw unknownType(method, result)
    return result
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
    if (this.#state !== "connected" || this.#wire === undefined) throw this.#down()
    await this.#wire.notify(method, params)
  }

  /** The level that modern requests ask for from now on. */
  set logLevel(level: LogLevel) {
    if (this.#state !== "connected") throw this.#down()
    this.#logLevel = level
  }

  /**
   * Speaks the best version that the error lists; throws when there is none. The era stays: nothing is ever downgraded, and what
   * was settled by a handshake is not settled anew. Answers whether it was.
   */
  renegotiate(error: McpError): boolean {
    if (this.revision.era !== "modern") return false
    const { data } = error
    const supported = isJsonObject(data) && Array.isArray(data["supported"]) ? data["supported"] : []
    const served = supported.filter((version) => typeof version === "string")
    const picked = pickVersion(served, modernVersions)
    const revision = picked.ok ? findRevision(picked.version) : undefined
    if (revision === undefined) throw noLongerSpoken(this.negotiated.version, served, error)
    this.#adopt({ ...this.negotiated, revision, version: revision.version })
    return true
  }

  /** Negotiates anew when the verdict came from outside and the server does not bear it out; answers whether it did. */
  async reprobe(error: McpError): Promise<boolean> {
    if (this.#isConfirmed || this.#negotiated?.reason !== "prior" || !isForeign(error)) return false
    this.#reprobing ??= this.#negotiate(undefined, undefined).finally(() => {
      this.#reprobing = undefined
    })
    await this.#reprobing
    return true
  }

  async close(): Promise<void> {
    if (this.#state === "connected" || this.#state === "connecting") this.#become("closed")
    const error = clientClosed()
    const wire = this.#wire
    this.#attempt?.fail(error)
    for (const call of wire?.calls() ?? []) call.fail(error)
    this.#questions.close(error)
    await wire?.close()
  }

  async #negotiate(prior: Prior | undefined, signal: AbortSignal | undefined): Promise<void> {
    const { dialer, settings, clock } = this.#parts
    const attempt = new Call("initialize", undefined, settings.calls, signal)
    const stop = clock.after(settings.connectTimeoutMs, () =>
      attempt.fail(tooSlow(dialer.origin, settings.connectTimeoutMs)),
    )
    attempt.onEnd(stop)
    this.#attempt = attempt
    const { negotiated } = await attempt.run(() =>
      negotiate({
        dialer,
        clock,
        protocol: settings.protocol,
        prior,
        probeTimeoutMs: settings.probeTimeoutMs,
        timeoutMs: settings.calls.timeoutMs,
        standby: settings.standby,
        deprecated: settings.deprecatedSse,
        maxRetryMs: settings.limits.maxRetryMs,
        envelope: (revision) => this.#envelopeOf(revision, revision.version)(undefined, {}) ?? {},
        initializeParams: (revision) => ({
          protocolVersion: revision.version,
          capabilities: this.#capabilities(revision),
          clientInfo: revision.encode.implementation(settings.clientInfo),
        }),
        rewire: (link) => this.#rewire(link, attempt),
        attempt,
      }),
    )
    this.#know(negotiated)
  }

  async #rewire(link: Link, attempt: Call): Promise<Wire> {
    const old = this.#wire
    const wire = new Wire(link, {
      asked: (message, calls, caller) => this.#asked(wire, message, calls, caller),
      told: (message) => this.#told(wire, message),
      gone: (error) => this.#gone(wire, error),
      noise: (noise) => this.#heardNoise(noise),
    })
    this.#wire = wire
    await old?.close()
    if (attempt.isOver) throw tooSlow(link.origin, this.#parts.settings.connectTimeoutMs)
    await wire.open()
    return wire
  }

  #adopt(negotiated: Negotiated): void {
    this.#wire?.adopt(toLinkFacts(negotiated, undefined, false), negotiated.revision.closeCancels)
    this.#know(negotiated)
  }

  #know(negotiated: Negotiated): void {
    this.#negotiated = negotiated
    this.#writeEnvelope = this.#envelopeOf(negotiated.revision, negotiated.version)
  }

  #envelopeOf(revision: Revision, version: string): Envelope {
    const { clientInfo } = this.#parts.settings
    return createEnvelope({
      era: revision.era,
      version,
      clientCapabilities: this.#capabilities(revision),
      clientInfo: revision.encode.implementation(clientInfo),
    })
  }

  #capabilities(revision: Revision, more?: JsonObject): JsonObject {
    const { handlers, capabilityOptions } = this.#parts.settings
    const { era, form } = revision
    const samplingTools = capabilityOptions.samplingTools && revision.samplingTools
    const extensions = more === undefined ? capabilityOptions.extensions : { ...capabilityOptions.extensions, ...more }
    return clientCapabilities(handlers, {
      ...capabilityOptions,
      era,
      extensions,
      samplingTools,
      elicitationModes: form.modes,
    })
  }

  #asked(wire: Wire, message: RequestMessage, calls: readonly Call[], caller: HeaderSource | undefined): void {
    if (wire !== this.#wire) return
    if (this.#negotiated !== undefined && this.#negotiated.revision.asks !== "push") {
      return this.#heardNoise({ from: "output", text: `a request that the revision does not have: ${message.method}` })
    }
    void this.#questions.ask(message, { calls, revision: this.#negotiated?.revision }, (text) => {
      wire.link.send(text, undefined, caller).catch((error: unknown) => {
        this.#parts.settings.logger.debug("an answer to the server was lost", { method: message.method, error })
      })
    })
  }

  #told(wire: Wire, message: NotificationMessage): void {
    if (wire !== this.#wire) return
    const { method, params = {} } = message
    if (method === "notifications/progress") return this.#progressed(wire, params)
    if (method === "notifications/cancelled") return this.#questions.cancel(params["requestId"], params["reason"])
    this.#parts.answerer.notice(message)
  }

  #progressed(wire: Wire, params: JsonObject): void {
    const { progressToken, progress, total, message } = params
    if (!isProgressToken(progressToken) || typeof progress !== "number" || !Number.isFinite(progress)) {
      return this.#heardNoise({ from: "output", text: "progress without a token or a number" })
    }
    const call = wire.callOf(progressToken)
    if (call === undefined) {
      if (!wire.wasIssued(progressToken))
        this.#heardNoise({ from: "output", text: "progress of nothing that was asked" })
      return
    }
    const { onProgress, resetTimeoutOnProgress } = call.settings
    if (resetTimeoutOnProgress) call.clock?.restart()
    const told: Progress = {
      progress,
      ...(typeof total === "number" ? { total } : {}),
      ...(typeof message === "string" ? { message } : {}),
    }
    const failed = (error: unknown): void => {
      this.#parts.settings.logger.error("onProgress failed", { method: call.method, error })
    }
    try {
      // It is said to answer nothing; a function that does something later answers a promise all the same.
      const heard: unknown = onProgress?.(told)
      if (heard instanceof Promise) heard.catch(failed)
    } catch (error) {
      failed(error)
    }
  }

  #gone(wire: Wire, error: McpError): void {
    if (wire !== this.#wire || this.#state !== "connected") return
    this.#error = error
    this.#questions.close(error)
    this.#become("failed")
  }

  #heardNoise(noise: Noise): void {
    if (noise.from !== "stderr") this.#noise = noise
    const topic = this.#parts.topics["client.noise"]
    if (topic.watched) topic.publish(noise)
  }

  #become(state: ConnectionState): void {
    this.#state = state
    const topic = this.#parts.topics["client.status"]
    if (topic.watched) topic.publish({ state, origin: this.#parts.dialer.origin, reason: this.status.reason })
  }

  #down(): McpError {
    if (this.#state === "closed") return clientClosed()
    const text = `not connected to ${this.#parts.dialer.origin}${this.#error === undefined ? "" : `: ${this.#error.message}`}`
    return new McpError(text, { kind: "connection_down", reason: "not_connected", cause: this.#error })
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

function tooSlow(origin: string, ms: number): McpError {
  return new McpError(`connecting to ${origin} took longer than ${ms} ms (connectTimeoutMs)`, {
    kind: "timeout",
    reason: "connect_timeout",
    retryable: true,
  })
}
