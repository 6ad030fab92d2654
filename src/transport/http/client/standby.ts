/**
 * The stream on which a server of a legacy revision says what belongs to no request. Nobody waits for it: it does not keep the
 * process alive, and a server that has none is asked once.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
import type { LinkEvents } from "../../../client/link.js"
import { McpError } from "../../../core/error/error.js"
import type { Fault } from "../../../core/error/fault.js"
import { clampText } from "../../../core/feature/text.js"
import { HEADER_LAST_EVENT } from "../../../core/http/header.js"
import { HttpAbort, type HttpReply } from "../../../core/http/send.js"
import type { Message } from "../../../core/wire/message.js"
import type { Profile } from "./facts.js"
import { readStream, type Sender, type StreamListener } from "./read.js"
import { Resumption } from "./resumption.js"
import { go, isStream, mayComeBack, type Way } from "./way.js"

/** Statuses after which a stream that was there may be there again: the server is busy, or still has the connection before. */
const PASSING: ReadonlySet<number> = new Set([408, 409, 425, 429])

export class Standby implements StreamListener {
  readonly #way: Way
  readonly #profile: Profile
  readonly #events: LinkEvents
  readonly #place: Resumption
  readonly #abort = new HttpAbort()
  /** Whether the server has held such a stream open in this session. */
  #wasOpen = false
  #stopTimer: (() => void) | undefined
  /** When there were enough attempts; undefined while the stream is open, or is opened. */
  #restedAtMs: number | undefined

  constructor(way: Way, profile: Profile, events: LinkEvents) {
    this.#way = way
    this.#profile = profile
    this.#events = events
    this.#place = new Resumption(way.limits)
  }

  get isDone(): boolean {
    return this.#abort.aborted
  }

  start(): void {
    this.#stopTimer = undefined
    this.#restedAtMs = undefined
    const { lastEventId } = this.#place
    const own = lastEventId === undefined ? {} : { [HEADER_LAST_EVENT]: lastEventId }
    go(this.#way, {
      method: "GET",
      url: this.#way.url,
      own: { ...this.#profile.get, ...own },
      repeatable: true,
      abort: this.#abort,
      isBackground: true,
    }).then(
      (reply) => this.#answered(reply),
      (error: unknown) => this.ended(error),
    )
  }

  /** The server is in use. A stream that was given up is tried once more, if that is long enough ago. */
  stir(): void {
    const { clock, limits } = this.#way
    if (this.#restedAtMs !== undefined && clock.now() - this.#restedAtMs >= limits.maxRetryMs) this.start()
  }

  stop(): void {
    this.#stopTimer?.()
    this.#stopTimer = undefined
    this.#restedAtMs = undefined
    this.#abort.abort()
  }

  read(read: Message | Fault, bytes: Uint8Array): void {
    if (read.kind === "fault") this.other("message", new TextDecoder().decode(bytes.subarray(0, 1_024)))
    else this.#events.message(read)
  }

  other(event: string, data: string): void {
    this.#noise(`${event}: ${data}`)
  }

  tooLarge(): void {
    this.#noise(`a message of more than ${this.#way.limits.maxMessageBytes} bytes (limits.maxMessageBytes)`)
  }

  ended(cause: unknown): void {
    if (this.isDone) return
    const pauseMs = this.#place.next()
    if (pauseMs !== undefined) {
      this.#stopTimer = this.#way.clock.after(pauseMs, () => this.start())
      return
    }
    const { clock, limits } = this.#way
    this.#restedAtMs = clock.now()
    const why = cause === undefined ? "the server ends it each time" : clampText(cause)
    const text = `the stream of ${this.#way.origin} is given up after ${limits.maxReconnects} attempts: ${why}`
    this.#isOver(new McpError(text, { kind: "transport", reason: "stream_broken", retryable: true }))
  }

  #answered(reply: HttpReply): void {
    if (this.isDone) return
    if (isStream(reply)) return this.#opened(reply)
    reply.discard()
    this.#refused(reply.status)
  }

  #opened(reply: HttpReply): void {
    // From an id on the server repeats what was missed; without one nobody knows what that was.
    if (this.#wasOpen && this.#place.lastEventId === undefined) this.#events.standby?.("missed")
    this.#wasOpen = true
    readStream(reply, this.#sender, this.#place, this)
  }

  #refused(status: number): void {
    if (mayComeBack(status) || (this.#wasOpen && PASSING.has(status))) return this.ended(`HTTP ${status}`)
    if (this.#place.lastEventId !== undefined) {
      // The server may only have forgotten the event.
      this.#place.forget()
      return this.start()
    }
    if (this.#wasOpen && status === 404) return this.#events.standby?.("lost")
    const text = `${this.#way.origin} has no stream for what belongs to no request: HTTP ${status}`
    this.#isOver(new McpError(text, { kind: "transport", reason: "http_status", data: { status } }))
  }

  #isOver(error: McpError): void {
    this.#noise(error.message)
    this.#events.standby?.(error)
  }

  get #sender(): Sender {
    return { limits: this.#way.limits, batches: this.#profile.facts?.batches === true }
  }

  #noise(text: string): void {
    this.#events.noise({ from: "stream", text: clampText(text) })
  }
}
