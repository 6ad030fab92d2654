/**
 * One request over Streamable HTTP, from its POST to its response: a JSON body, or an event stream that is gone on with when its
 * connection was lost.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#sending-messages
 */
import type { Noise, Outbound, Outcome, ReplyListener, Sent } from "../../../client/link.js"
import { McpError } from "../../../core/error/error.js"
import type { Fault } from "../../../core/error/fault.js"
import type { Reason } from "../../../core/error/reason.js"
import { clampText } from "../../../core/feature/text.js"
import { HEADER_LAST_EVENT, HEADER_SESSION } from "../../../core/http/header.js"
import { isJsonMedia } from "../../../core/http/media.js"
import { HttpAbort, type HttpReply } from "../../../core/http/send.js"
import type { Message } from "../../../core/wire/message.js"
import { type Profile, readSession } from "./facts.js"
import { brokenOff, type Source, tooLarge, unreadable, wrongStatus } from "./failure.js"
import { isNetworkError, MAX_BODY_BYTES, toFailedOutcome, toHttpOutcome } from "./outcome.js"
import { type BodyEnd, collect, parseBytes, readStream, responseId, type Sender, type StreamListener } from "./read.js"
import { Resumption } from "./resumption.js"
import { go, isOk, isStream, mayComeBack, type Way } from "./way.js"

/** Who keeps the requests of a link. */
export interface Keeper {
  /** Nothing of the request is left. */
  over(request: InFlight): void
  noise(noise: Noise): void
}

/** How much is shown of what is passed over. */
const MAX_NOISE_BYTES = 1_024
/** How long a stream may stay open after the response, in milliseconds, before its connection is given up. */
const DRAIN_MS = 2_000
/** Statuses of whoever stands before the protocol; their headers count, and their body is no response to the request. */
const BEFORE_PROTOCOL: ReadonlySet<number> = new Set([401, 403, 408, 429, 503])
/** Why a message is refused that is a JSON text, and breaks a rule of the wire. */
const REFUSED: ReadonlySet<Reason> = new Set<Reason>([
  "too_deep",
  "too_many_keys",
  "duplicate_key",
  "forbidden_key",
  "number_out_of_range",
  "invalid_utf8",
])

export class InFlight implements Sent, StreamListener {
  readonly #way: Way
  readonly #profile: Profile
  readonly #outbound: Outbound
  readonly #keeper: Keeper
  readonly #abort = new HttpAbort()
  #listener: ReplyListener | undefined
  #place: Resumption | undefined
  #session: string | undefined
  #status = 0
  #stopTimer: (() => void) | undefined
  #isUnsent = true

  constructor(way: Way, profile: Profile, outbound: Outbound, listener: ReplyListener, keeper: Keeper) {
    this.#way = way
    this.#profile = profile
    this.#outbound = outbound
    this.#listener = listener
    this.#keeper = keeper
  }

  start(): void {
    const { text, headers, caller, repeatable } = this.#outbound
    const { post } = this.#profile
    const own = headers === undefined ? post : { ...post, ...headers }
    const leaves = (): void => {
      this.#isUnsent = false
    }
    const errand = { method: "POST", url: this.#way.url, own, caller, body: text, repeatable } as const
    go(this.#way, { ...errand, abort: this.#abort, leaves }).then(
      (reply) => this.#answered(reply),
      (error: unknown) => this.close(toFailedOutcome(this.#way, error, this.#status !== 0)),
    )
  }

  get isUnsent(): boolean {
    return this.#isUnsent
  }

  letGo(): void {
    this.#listener = undefined
    this.#leave()
  }

  /** Settles it, unless it is settled, and lets go of its connection. */
  close(outcome: Outcome): void {
    this.#settle(outcome)
    this.#leave()
  }

  get isDone(): boolean {
    return this.#listener === undefined
  }

  read(read: Message | Fault, bytes: Uint8Array): void {
    if (read.kind === "fault") return this.#passOver(read, bytes)
    if (read.kind === "request" || read.kind === "notification") return this.#listener?.message(read)
    const isOurs = read.id === this.#outbound.id || (read.kind === "error" && read.id === undefined)
    if (!isOurs) return this.#noise(`an answer to another request (id ${JSON.stringify(read.id)})`)
    // Before the response is told, because whoever hears it may end everything.
    if (this.#place !== undefined) this.#stopTimer = this.#way.clock.after(DRAIN_MS, () => this.#leave())
    this.#settle({ kind: "message", message: read, status: this.#status, session: this.#session })
  }

  other(event: string): void {
    this.#noise(`an event of type ${event}`)
  }

  tooLarge(): void {
    this.close({ kind: "refused", error: tooLarge(this.#source, this.#way.limits) })
  }

  ended(cause: unknown): void {
    if (this.isDone) this.#leave()
    else this.#broke(cause)
  }

  #answered(reply: HttpReply): void {
    if (this.#abort.aborted) return
    this.#status = reply.status
    this.#session = readSession(reply.header(HEADER_SESSION))
    if (isStream(reply)) return this.#stream(reply)
    const isJson = isJsonMedia(reply.header("content-type")) && !BEFORE_PROTOCOL.has(reply.status)
    collect(reply, isJson ? this.#way.limits.maxMessageBytes : MAX_BODY_BYTES, (bytes, end, cause) => {
      if (isJson) this.#json(reply, bytes, end, cause)
      else this.close(toHttpOutcome(this.#way, reply, bytes))
    })
  }

  #json(reply: HttpReply, bytes: Uint8Array, end: BodyEnd, cause: unknown): void {
    if (end === "cut") return this.tooLarge()
    if (end === "lost" && isOk(reply.status)) return this.#broke(cause)
    for (const read of parseBytes(bytes, this.#sender)) this.read(read, bytes)
    if (!this.isDone) this.#settle(toHttpOutcome(this.#way, reply, bytes))
    this.#leave()
  }

  #stream(reply: HttpReply): void {
    this.#place ??= new Resumption(this.#way.limits)
    readStream(reply, this.#sender, this.#place, this)
  }

  #broke(cause: unknown): void {
    if (McpError.is(cause)) this.close({ kind: "refused", error: cause })
    else this.#goOn(cause)
  }

  /** Goes on from the last event, where the server can do that; otherwise there will be no answer. */
  #goOn(cause: unknown): void {
    const resumes = this.#profile.facts?.resumes === true && this.#place?.lastEventId !== undefined
    const pauseMs = resumes ? this.#place?.next() : undefined
    if (pauseMs === undefined) this.#breakOff(cause)
    else this.#stopTimer = this.#way.clock.after(pauseMs, () => this.#resume())
  }

  #resume(): void {
    const own = { ...this.#profile.get, [HEADER_LAST_EVENT]: this.#place?.lastEventId ?? "" }
    const { caller } = this.#outbound
    go(this.#way, { method: "GET", url: this.#way.url, own, caller, repeatable: true, abort: this.#abort }).then(
      (reply) => {
        if (isStream(reply)) return this.#stream(reply)
        reply.discard()
        const cause = wrongStatus(this.#source, reply.status)
        if (mayComeBack(reply.status)) this.#goOn(cause)
        else this.#breakOff(cause)
      },
      (error: unknown) => {
        if (isNetworkError(error)) this.#goOn(error)
        else this.close(toFailedOutcome(this.#way, error, this.#status !== 0))
      },
    )
  }

  #breakOff(cause: unknown): void {
    this.close({ kind: "broken", error: brokenOff(this.#source, cause), answered: true })
  }

  /** Passes over what is no message. When it was meant as the response, the request fails at once. */
  #passOver(fault: Fault, bytes: Uint8Array): void {
    if (this.#place === undefined ? REFUSED.has(fault.reason) : responseId(bytes) === this.#outbound.id) {
      this.close({ kind: "refused", error: unreadable(this.#source, fault) })
    } else if (this.#place !== undefined) {
      this.#noise(new TextDecoder().decode(bytes.subarray(0, MAX_NOISE_BYTES)))
    }
  }

  #settle(outcome: Outcome): void {
    const listener = this.#listener
    this.#listener = undefined
    listener?.settle(outcome)
  }

  /** Ends whatever is still under way. */
  #leave(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#abort.abort()
    this.#keeper.over(this)
  }

  #noise(text: string): void {
    this.#keeper.noise({ from: "stream", text: clampText(text) })
  }

  get #source(): Source {
    return { what: this.#outbound.method, origin: this.#way.origin }
  }

  get #sender(): Sender {
    return { limits: this.#way.limits, batches: this.#profile.facts?.batches === true }
  }
}
