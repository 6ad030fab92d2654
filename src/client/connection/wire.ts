/**
 * A link in use: numbers requests, finds who waits for what comes back, and hands what the server says of its own to the
 * connection. It knows ids and calls, and nothing of eras.
 */
import { type McpError, misuse } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"
import { notificationText, request } from "../../core/wire/build.js"
import type { JsonObject, Message, NotificationMessage, RequestId, RequestMessage } from "../../core/wire/message.js"
import type { Call, Cancellable } from "../call.js"
import type { Headers, Link, LinkFacts, Noise, Outcome, ReplyListener, Sent, StandbyState } from "../link.js"
import type { HeaderSource } from "../options.js"

/** What a wire tells the connection. */
export interface WireEvents {
  /** A request of the server; `calls` are those that it is tied to, `caller` the headers of the one whose answer brought it. */
  asked(wire: Wire, message: RequestMessage, calls: readonly Call[], caller: HeaderSource | undefined): void
  told(wire: Wire, message: NotificationMessage): void
  gone(error: McpError): void
  standby(state: StandbyState): void
  noise(noise: Noise): void
}

/** What goes with one request. */
export interface SendOptions {
  /** The id, from {@link Wire.nextId}. */
  readonly id: number
  readonly method: string
  /** All of it, as it goes out. */
  readonly params: JsonObject | undefined
  readonly call: Call | undefined
  readonly headers: Headers | undefined
  /** The caller's headers, beside those of the client. */
  readonly caller: HeaderSource | undefined
  readonly repeatable: boolean
  /** Whether the server hears that the answer is no longer wanted. Never of a handshake. */
  readonly cancellable: boolean
}

/** Why a request is called back, as the server is told. */
const NO_LONGER_WANTED = "the client no longer waits for the answer"

export class Wire {
  readonly link: Link
  readonly #events: WireEvents
  readonly #open = new Map<RequestId, Pending>()
  #lastId = 0
  /** Whether a request was called back, so that what still comes may be about it. */
  #hasCalledBack = false
  /** Whether closing the stream of an answer is how a request is cancelled, so that no message says it. */
  #closeCancels = false
  #isClosed = false
  #session: string | undefined

  constructor(link: Link, events: WireEvents) {
    this.link = link
    this.#events = events
  }

  open(): Promise<void> {
    return this.link.open({
      message: (message) => this.#hear(message),
      gone: (error) => this.#events.gone(error),
      standby: (state) => this.#events.standby(state),
      noise: (noise) => this.#events.noise(noise),
    })
  }

  /** Whether nothing can be sent any more. */
  get isClosed(): boolean {
    return this.#isClosed
  }

  /** The id of the next request; also the token of its progress. Never used twice on a wire. */
  nextId(): number {
    return ++this.#lastId
  }

  send(options: SendOptions): Pending {
    const { id, method, params, headers, caller, repeatable } = options
    const text = textOf(id, method, params)
    const pending = new Pending(this, options)
    this.#open.set(id, pending)
    pending.sent = this.link.request({ id, method, text, headers, caller, repeatable }, pending)
    return pending
  }

  /** Sends a notification; one that is lost is lost. */
  notify(method: string, params: JsonObject, caller?: HeaderSource): Promise<void> {
    return this.link.send(notificationText(method, params), undefined, caller)
  }

  /** Whether messages belong to a session of the server's. */
  get hasSession(): boolean {
    return this.#session !== undefined
  }

  /** The id of that session. Whoever has it can enter the session. */
  get session(): string | undefined {
    return this.#session
  }

  adopt(facts: LinkFacts, closeCancels: boolean): void {
    this.#session = facts.session
    this.#closeCancels = closeCancels && this.link.kind === "http"
    this.link.adopt(facts)
  }

  /** The call of an open request, by its progress token. */
  callOf(token: RequestId): Call | undefined {
    return this.#open.get(token)?.call
  }

  /** Whether a token was given to some request, which may be over by now. */
  wasIssued(token: unknown): boolean {
    return Number.isSafeInteger(token) && Number(token) >= 1 && Number(token) <= this.#lastId
  }

  /** Every call that waits for an answer. */
  calls(): readonly Call[] {
    return [...this.#open.values()].flatMap(({ call }) => call ?? [])
  }

  close(): Promise<void> {
    this.#isClosed = true
    return this.link.close()
  }

  /** Forgets a request; answers whether it was open. */
  release(pending: Pending): boolean {
    return this.#open.delete(pending.id)
  }

  /** Calls a request back in the way of its revision and transport. */
  callBack(pending: Pending, knows: boolean): void {
    if (!this.release(pending)) return
    this.#hasCalledBack = true
    const isKnown = pending.sent?.isUnsent !== true
    pending.sent?.letGo()
    if (knows || !isKnown || !pending.isCancellable || this.#closeCancels || this.#isClosed) return
    const params = { requestId: pending.id, reason: NO_LONGER_WANTED }
    this.notify("notifications/cancelled", params, pending.caller).catch(() => {})
  }

  hear(message: RequestMessage | NotificationMessage, calls: readonly Call[], caller?: HeaderSource): void {
    if (message.kind === "request") this.#events.asked(this, message, calls, caller)
    else this.#events.told(this, message)
  }

  #hear(message: Message): void {
    if (message.kind === "request" || message.kind === "notification") return this.hear(message, this.calls())
    const meant = message.kind === "error" && message.id === undefined ? this.#opening() : undefined
    if (meant === undefined) {
      return this.#events.noise({ from: "output", text: `an answer to no request (id ${clampText(message.id, 60)})` })
    }
    meant.sent?.letGo()
    meant.settle({ kind: "message", message, status: undefined, session: undefined })
  }

  /**
   * The request that an error without an id is about: that with which a connection is opened, which servers that cannot read it
   * answer in this way. Later it could be about anything.
   *
   * @see https://www.jsonrpc.org/specification#response_object
   */
  #opening(): Pending | undefined {
    const [first, ...others] = this.#open.values()
    return others.length > 0 || first?.isCancellable !== false || this.#hasCalledBack ? undefined : first
  }
}

/** A request as text; throws when the params of a caller are no JSON. */
function textOf(id: number, method: string, params: JsonObject | undefined): string {
  try {
    return JSON.stringify(request(id, method, params))
  } catch (error) {
    throw misuse(
      "invalid_option",
      `${clampText(method, 100)}: the params cannot be sent as JSON: ${clampText(error)}`,
      error,
    )
  }
}

/** One request on its way. */
export class Pending implements ReplyListener, Cancellable {
  readonly id: number
  readonly call: Call | undefined
  readonly caller: HeaderSource | undefined
  readonly isCancellable: boolean
  readonly outcome: Promise<Outcome>
  sent: Sent | undefined
  readonly #wire: Wire
  #resolve: (outcome: Outcome) => void = () => {}

  constructor(wire: Wire, { id, call, caller, cancellable }: SendOptions) {
    this.#wire = wire
    this.id = id
    this.call = call
    this.caller = caller
    this.isCancellable = cancellable
    this.outcome = new Promise((resolve) => {
      this.#resolve = resolve
    })
  }

  message(message: RequestMessage | NotificationMessage): void {
    this.#wire.hear(message, this.call === undefined ? [] : [this.call], this.caller)
  }

  settle(outcome: Outcome): void {
    if (this.#wire.release(this)) this.#resolve(outcome)
  }

  /** Ends it before its answer: the server is told, unless it `knows`, and what it still says is dropped. */
  cancel(error: McpError, knows = false): void {
    this.#wire.callBack(this, knows)
    this.#resolve({ kind: "refused", error })
  }
}
