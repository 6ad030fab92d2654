/**
 * A client on one end of a pipe: messages in both directions, each answer to the request whose id it has, and whatever else
 * comes passed over without harm.
 */
import type { ClientLimits } from "../client/limits.js"
import type { Link, LinkEvents, LinkFacts, Noise, Outbound, Outcome, ReplyListener, Sent } from "../client/link.js"
import { McpError } from "../core/error/error.js"
import type { Fault } from "../core/error/fault.js"
import type { Reason } from "../core/error/reason.js"
import { clampText } from "../core/feature/text.js"
import { type Glimpse, glimpse } from "../core/wire/glimpse.js"
import { endsOf, KEPT_BYTES, type LineEnds } from "../core/wire/lines.js"
import type { ErrorMessage, JsonObject, Message, RequestId, ResultMessage } from "../core/wire/message.js"
import { type DecodeUtf8, parseMessage, parseMessages } from "../core/wire/parse.js"

/** Hears what comes out of a {@link Duct}. */
export interface DuctListener {
  /** One message, as bytes without a line break. */
  line(bytes: Uint8Array): void
  /** What is left when the output ends without a line break: a message, or the beginning of one. */
  rest(bytes: Uint8Array): void
  /** A message that was too long to be kept. */
  tooLong(length: number, ends: LineEnds): void
  /** What was said beside the messages. */
  noise(noise: Noise): void
  /** Nothing comes or goes any more. Called once; not after `close()`. */
  gone(error: McpError): void
}

/** What a pipe's link stands on: an ordered, reliable way for messages to one server. */
export interface Duct {
  /** The last lines that a process said on stderr, fit to be shown; absent where there is no process. */
  readonly stderr?: readonly string[]
  /** Opens it. Rejects with an `McpError` when it cannot be opened. */
  open(listener: DuctListener): Promise<void>
  /** Takes a message, or answers why it did not. */
  send(text: string): McpError | undefined
  /** Closes it and resolves once nothing of it is left. Never rejects; the second time is the first. */
  close(): Promise<void>
}

/** The parts that {@link createPipeLink} is made of. */
export interface PipeLinkParts {
  /** Where it leads, as errors name it. */
  readonly origin: string
  readonly duct: Duct
  readonly limits: ClientLimits
  readonly decode: DecodeUtf8
}

/** How many requests that were let go are remembered, so that an answer to one of them surprises nobody. */
const MAX_REMEMBERED = 1_000

/** Makes the client's {@link Link} on a duct. */
export function createPipeLink(parts: PipeLinkParts): Link {
  return new PipeLink(parts)
}

class PipeLink implements Link, DuctListener {
  readonly kind = "pipe"
  readonly origin: string
  readonly #duct: Duct
  readonly #limits: ClientLimits
  readonly #decode: DecodeUtf8
  readonly #inFlight = new Map<RequestId, Flight>()
  readonly #letGo = new Set<RequestId>()
  #events: LinkEvents = NO_EVENTS
  #batches = false
  /** Why nothing can be sent any more. */
  #end: McpError | undefined
  #closing: Promise<void> | undefined

  constructor({ origin, duct, limits, decode }: PipeLinkParts) {
    this.origin = origin
    this.#duct = duct
    this.#limits = limits
    this.#decode = decode
  }

  get stderr(): readonly string[] {
    return this.#duct.stderr ?? []
  }

  async open(events: LinkEvents): Promise<void> {
    this.#events = events
    try {
      await this.#duct.open(this)
    } catch (error) {
      if (McpError.is(error)) this.#finish(error)
      throw error
    }
  }

  request({ id, method, text }: Outbound, listener: ReplyListener): Sent {
    const flight = new Flight(this, id, method, listener)
    const refusal = this.#send(text)
    if (refusal === undefined) this.#inFlight.set(id, flight)
    else queueMicrotask(() => flight.settle({ kind: this.#end === undefined ? "refused" : "gone", error: refusal }))
    return flight
  }

  send(text: string): Promise<void> {
    const refusal = this.#send(text)
    return refusal === undefined ? TAKEN : Promise.reject(refusal)
  }

  adopt({ batches = false }: LinkFacts): void {
    this.#batches = batches
  }

  close(): Promise<void> {
    if (this.#closing === undefined) {
      const error = new McpError(`the connection to ${this.origin} was closed`, {
        kind: "connection_down",
        reason: "pipe_closed",
      })
      this.#closing = this.#duct.close()
      this.#finish(error)
    }
    return this.#closing
  }

  line(bytes: Uint8Array): void {
    if (this.#end !== undefined) return
    if (!this.#batches) return this.#take(parseMessage(bytes, this.#decode, this.#limits), bytes)
    for (const message of parseMessages(bytes, this.#decode, this.#limits)) {
      if (this.#end === undefined) this.#take(message, bytes)
    }
  }

  rest(bytes: Uint8Array): void {
    if (this.#end !== undefined) return
    // Half of an answer is none: the end that comes now says why.
    if (parseMessages(bytes, this.#decode, this.#limits).some(({ kind }) => kind === "fault")) this.#hum(bytes)
    else this.line(bytes)
  }

  tooLong(length: number, ends: LineEnds): void {
    if (this.#end !== undefined) return
    const flight = this.#longFlight(glimpse(ends))
    if (flight === undefined) return this.#hum(ends.head)
    const { maxMessageBytes } = this.#limits
    const why = `it has ${length} bytes, at most ${maxMessageBytes} are taken (limits.maxMessageBytes)`
    this.#refuse(flight, "message_too_large", why)
  }

  noise(noise: Noise): void {
    if (this.#end === undefined) this.#events.noise(noise)
  }

  gone(error: McpError): void {
    if (this.#end !== undefined) return
    this.#finish(error)
    this.#events.gone(error)
  }

  /** Forgets a request; its answer may still come. */
  letGo(id: RequestId): void {
    if (!this.#inFlight.delete(id)) return
    this.#letGo.add(id)
    if (this.#letGo.size <= MAX_REMEMBERED) return
    for (const oldest of this.#letGo) return void this.#letGo.delete(oldest)
  }

  #send(text: string): McpError | undefined {
    return this.#end ?? this.#duct.send(text)
  }

  #take(message: Message | Fault, bytes: Uint8Array): void {
    if (message.kind === "fault") return this.#passOver(bytes, message)
    if (!isAnswer(message)) return this.#events.message(message)
    const flight = this.#inFlight.get(message.id)
    if (flight !== undefined) {
      this.#inFlight.delete(message.id)
      flight.settle({ kind: "message", message, status: undefined, session: undefined })
    } else if (!this.#letGo.delete(message.id)) this.#hum(bytes)
  }

  /** Passes over what is no message. When it was meant as an answer, the request that waits for it fails at once. */
  #passOver(bytes: Uint8Array, { reason, message }: Fault): void {
    this.#hum(bytes)
    const { names, id } = glimpse(endsOf(bytes))
    const isMeant = names.has("jsonrpc") && (names.has("result") || names.has("error")) && !names.has("method")
    const flight = isMeant && id !== undefined ? this.#inFlight.get(id) : undefined
    if (flight === undefined) return
    const limit = LIMITS.get(reason)
    const why = message.replace(/^[^:]*: /, "")
    this.#refuse(flight, "unreadable_answer", `${why}${limit === undefined ? "" : ` (limits.${limit})`}`, { reason })
  }

  /** The request to which a message belongs of which only the ends are left; undefined when that cannot be told. */
  #longFlight({ isObject, names, id }: Glimpse): Flight | undefined {
    if (!isObject || names.has("method")) return undefined
    if (id !== undefined && names.has("jsonrpc")) return this.#inFlight.get(id)
    const [only, ...others] = this.#inFlight.values()
    return others.length === 0 ? only : undefined
  }

  #refuse(flight: Flight, reason: "message_too_large" | "unreadable_answer", why: string, data?: JsonObject): void {
    this.#inFlight.delete(flight.id)
    const text = `${flight.method}: the answer of ${this.origin} cannot be read: ${why}`
    const facts = data === undefined ? {} : { data }
    flight.settle({ kind: "refused", error: new McpError(text, { kind: "transport", reason, ...facts }) })
  }

  /** Tells of a line that is no message of the protocol, or none that anybody waits for. */
  #hum(bytes: Uint8Array): void {
    const text = clampText(new TextDecoder().decode(bytes.subarray(0, KEPT_BYTES)))
    this.#events.noise({ from: "output", text })
  }

  /** Ends it for good: every request hears so, once. */
  #finish(error: McpError): void {
    if (this.#end !== undefined) return
    this.#end = error
    const flights = [...this.#inFlight.values()]
    this.#inFlight.clear()
    this.#letGo.clear()
    for (const flight of flights) flight.settle({ kind: "gone", error })
  }
}

/** A request without its answer. */
class Flight implements Sent {
  readonly id: RequestId
  readonly method: string
  readonly #link: PipeLink
  #listener: ReplyListener | undefined

  constructor(link: PipeLink, id: RequestId, method: string, listener: ReplyListener) {
    this.id = id
    this.method = method
    this.#link = link
    this.#listener = listener
  }

  settle(outcome: Outcome): void {
    const listener = this.#listener
    this.#listener = undefined
    listener?.settle(outcome)
  }

  letGo(): void {
    this.#listener = undefined
    this.#link.letGo(this.id)
  }
}

/** The limits whose names belong into an error, by the reason of a refusal. */
const LIMITS: ReadonlyMap<Reason, keyof ClientLimits> = new Map([
  ["too_deep", "maxDepth"],
  ["too_many_keys", "maxKeys"],
])

/** What is sent is taken at once: one promise says so for all. */
const TAKEN = Promise.resolve()

const NO_EVENTS: LinkEvents = { message() {}, gone() {}, noise() {} }

function isAnswer(message: Message): message is ResultMessage | (ErrorMessage & { readonly id: RequestId }) {
  return (message.kind === "result" || message.kind === "error") && message.id !== undefined
}
