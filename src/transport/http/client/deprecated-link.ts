/**
 * A client's link over the deprecated HTTP+SSE transport: one event stream that brings everything, and an address that takes
 * messages, which the server names first. An open one keeps the process alive, as a pipe does.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import type {
  Headers,
  Link,
  LinkEvents,
  LinkFacts,
  Outbound,
  Outcome,
  ReplyListener,
  Sent,
} from "../../../client/link.js"
import type { HeaderSource } from "../../../client/options.js"
import { McpError } from "../../../core/error/error.js"
import type { Fault } from "../../../core/error/fault.js"
import { clampText } from "../../../core/feature/text.js"
import { HttpAbort, type HttpReply } from "../../../core/http/send.js"
import type { Message, RequestId } from "../../../core/wire/message.js"
import { asMcpError } from "../network-error.js"
import { type Profile, toProfile } from "./facts.js"
import { brokenOff, linkClosed, type Source, tooLarge, unreadable, wrongStatus } from "./failure.js"
import { OneWay } from "./one-way.js"
import { MAX_BODY_BYTES, toFailedOutcome, toHttpOutcome } from "./outcome.js"
import { collect, readStream, responseId, type Sender, type StreamListener } from "./read.js"
import { Resumption } from "./resumption.js"
import { go, isOk, isStream, type Way } from "./way.js"

/** Makes a link of the deprecated transport on a way. */
export function createDeprecatedLink(way: Way): Link {
  return new DeprecatedLink(way)
}

class DeprecatedLink implements Link, StreamListener {
  readonly kind = "http"
  readonly origin: string
  readonly #way: Way
  readonly #stream = new HttpAbort()
  readonly #asking = new Set<HttpAbort>()
  readonly #oneWay: OneWay
  readonly #waiting = new Map<RequestId, Waiting>()
  #events: LinkEvents = NO_EVENTS
  #profile: Profile = toProfile(undefined)
  #endpoint: string | undefined
  #opening: { resolve(): void; reject(error: McpError): void } | undefined
  #end: McpError | undefined

  constructor(way: Way) {
    this.#way = way
    this.#oneWay = new OneWay(way)
    this.origin = way.origin
  }

  open(events: LinkEvents): Promise<void> {
    this.#events = events
    const { url } = this.#way
    return new Promise((resolve, reject) => {
      this.#opening = { resolve, reject }
      const own = { accept: "text/event-stream" }
      go(this.#way, { method: "GET", url, own, repeatable: true, abort: this.#stream }).then(
        (reply) => this.#answered(reply),
        (error: unknown) => this.#finish(asMcpError(url, error)),
      )
    })
  }

  request(outbound: Outbound, listener: ReplyListener): Sent {
    const waiting = new Waiting(outbound, listener, this.#waiting)
    this.#waiting.set(outbound.id, waiting)
    const error = this.#end
    if (error !== undefined) queueMicrotask(() => waiting.settle({ kind: "gone", error }))
    else this.#ask(outbound, waiting)
    return waiting
  }

  async send(text: string, headers: Headers | undefined, caller?: HeaderSource): Promise<void> {
    if (this.#end !== undefined) throw this.#end
    await this.#oneWay.post({ url: this.#target, own: this.#own(headers), caller, body: text })
  }

  adopt(facts: LinkFacts): void {
    this.#profile = toProfile({ ...facts, session: undefined })
  }

  async close(): Promise<void> {
    this.#letGo(this.#end ?? linkClosed(this.origin))
  }

  get isDone(): boolean {
    return this.#end !== undefined
  }

  read(read: Message | Fault, bytes: Uint8Array): void {
    if (read.kind === "fault") return this.#passOver(read, bytes)
    if (read.kind === "request" || read.kind === "notification") return this.#events.message(read)
    const waiting = read.id === undefined ? undefined : this.#waiting.get(read.id)
    if (waiting === undefined) this.#events.message(read)
    else waiting.settle({ kind: "message", message: read, status: undefined, session: undefined })
  }

  other(event: string, data: string): void {
    if (event !== "endpoint" || this.#endpoint !== undefined) return this.#noise(`${event}: ${data}`)
    const { url, origin } = this.#way
    const named = URL.canParse(data, url) ? new URL(data, url) : undefined
    if (named === undefined || named.origin !== origin || named.username !== "" || named.password !== "") {
      return this.#finish(foreignEndpoint(origin, named?.origin))
    }
    this.#endpoint = named.href
    this.#opening?.resolve()
    this.#opening = undefined
  }

  tooLarge(): void {
    const [only, ...others] = this.#waiting.values()
    if (only !== undefined && others.length === 0) {
      only.settle({ kind: "refused", error: tooLarge(only.source(this.origin), this.#way.limits) })
    } else this.#noise(`a message of more than ${this.#way.limits.maxMessageBytes} bytes (limits.maxMessageBytes)`)
  }

  ended(cause: unknown): void {
    const why = cause === undefined ? "the server ended it" : clampText(cause)
    const isOpen = this.#endpoint !== undefined
    this.#finish(isOpen ? streamLost(this.origin, why, cause) : brokenOff(this.#source, cause))
  }

  #answered(reply: HttpReply): void {
    if (this.isDone) return
    if (isStream(reply)) return readStream(reply, this.#sender, new Resumption(this.#way.limits), this)
    reply.discard()
    this.#finish(wrongStatus(this.#source, reply.status))
  }

  /** Posts a request. What it is answered with is of interest only when it was not taken: the response comes on the stream. */
  #ask({ text, headers, caller, repeatable }: Outbound, waiting: Waiting): void {
    const { abort } = waiting
    const over = (outcome: Outcome): void => {
      this.#asking.delete(abort)
      abort.abort()
      waiting.settle(outcome)
    }
    this.#asking.add(abort)
    const leaves = (): void => {
      waiting.isUnsent = false
    }
    const errand = { method: "POST", url: this.#target, own: this.#own(headers), caller, body: text, leaves } as const
    go(this.#way, { ...errand, repeatable, abort }).then(
      (reply) => {
        if (!isOk(reply.status)) {
          return collect(reply, MAX_BODY_BYTES, (bytes) => over(toHttpOutcome(this.#way, reply, bytes)))
        }
        reply.discard()
        this.#asking.delete(abort)
      },
      (error: unknown) => over(toFailedOutcome(this.#way, error, false)),
    )
  }

  #passOver(fault: Fault, bytes: Uint8Array): void {
    const id = responseId(bytes)
    const waiting = id === undefined ? undefined : this.#waiting.get(id)
    if (waiting === undefined) this.#noise(new TextDecoder().decode(bytes.subarray(0, 1_024)))
    else waiting.settle({ kind: "refused", error: unreadable(waiting.source(this.origin), fault) })
  }

  /** Ends it from the server's side: whoever waits hears why. */
  #finish(error: McpError): void {
    if (this.#end !== undefined) return
    const wasOpen = this.#opening === undefined
    this.#letGo(error)
    if (wasOpen) this.#events.gone(error)
  }

  /** Ends everything that is under way. */
  #letGo(error: McpError): void {
    this.#end = error
    this.#stream.abort()
    this.#oneWay.stop()
    for (const abort of this.#asking) abort.abort()
    for (const waiting of this.#waiting.values()) waiting.settle({ kind: "gone", error })
    this.#opening?.reject(error)
    this.#opening = undefined
    this.#way.send.closeIdle?.()
  }

  get #target(): string {
    return this.#endpoint ?? this.#way.url
  }

  #own(headers: Headers | undefined): Headers {
    return headers === undefined ? this.#profile.post : { ...this.#profile.post, ...headers }
  }

  get #source(): Source {
    return { what: "the event stream of the HTTP+SSE transport", origin: this.origin }
  }

  get #sender(): Sender {
    return { limits: this.#way.limits, batches: this.#profile.facts?.batches === true }
  }

  #noise(text: string): void {
    this.#events.noise({ from: "stream", text: clampText(text) })
  }
}

/** A request without its answer. */
class Waiting implements Sent {
  /** Ends its POST. */
  readonly abort = new HttpAbort()
  isUnsent = true
  readonly #outbound: Outbound
  readonly #waiting: Map<RequestId, Waiting>
  #listener: ReplyListener | undefined

  constructor(outbound: Outbound, listener: ReplyListener, waiting: Map<RequestId, Waiting>) {
    this.#outbound = outbound
    this.#listener = listener
    this.#waiting = waiting
  }

  source(origin: string): Source {
    return { what: this.#outbound.method, origin }
  }

  settle(outcome: Outcome): void {
    const listener = this.#listener
    this.letGo()
    listener?.settle(outcome)
  }

  letGo(): void {
    if (this.isUnsent) this.abort.abort()
    this.#listener = undefined
    this.#waiting.delete(this.#outbound.id)
  }
}

const NO_EVENTS: LinkEvents = { message() {}, gone() {}, noise() {} }

function foreignEndpoint(origin: string, named: string | undefined): McpError {
  const what = named === undefined ? "no address" : `one at ${clampText(named)}`
  return new McpError(
    `expected an endpoint at ${origin}, the server named ${what}: messages are sent to no other origin`,
    {
      kind: "transport",
      reason: "unreadable_answer",
    },
  )
}

function streamLost(origin: string, why: string, cause: unknown): McpError {
  return new McpError(`the event stream of ${origin} is lost: ${why}`, {
    kind: "connection_down",
    reason: "pipe_closed",
    ...(cause === undefined ? {} : { cause }),
    retryable: true,
  })
}
