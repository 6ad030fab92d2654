/** Where a stream can be gone on with after its connection was lost, and how long to wait before that. */
import type { ClientLimits } from "../../../client/limits.js"

/** The pause when a server asks for none, in milliseconds. */
const DEFAULT_RETRY_MS = 1_000

/**
 * The place in one stream. Pauses double from attempt to attempt, and after too many of them it is over; only a message starts
 * the count again, not an event that has nothing but an id.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
export class Resumption {
  readonly #limits: ClientLimits
  #lastEventId: string | undefined
  #retryMs = DEFAULT_RETRY_MS
  #attempts = 0

  constructor(limits: ClientLimits) {
    this.#limits = limits
  }

  /** The id of the last event, as a header carries it: its UTF-8, byte by byte. Undefined when there is none to go on from. */
  get lastEventId(): string | undefined {
    return this.#lastEventId
  }

  /** An event with an id came. An empty one takes back those before it. */
  passed(id: string): void {
    const bytes = new TextEncoder().encode(id)
    const isSendable = bytes.length > 0 && bytes.length <= MAX_ID_BYTES && !CONTROL.test(id)
    this.#lastEventId = isSendable ? Array.from(bytes, (byte) => String.fromCharCode(byte)).join("") : undefined
  }

  /** There is nothing any more to go on from. */
  forget(): void {
    this.#lastEventId = undefined
  }

  /** The server asks for this pause. */
  retryAfter(ms: number): void {
    this.#retryMs = Math.min(ms, this.#limits.maxRetryMs)
  }

  /** A message came. */
  progressed(): void {
    this.#attempts = 0
  }

  /** The pause before the next attempt, in milliseconds; undefined when there were enough of them. */
  next(): number | undefined {
    if (this.#attempts >= this.#limits.maxReconnects) return undefined
    return Math.min(this.#retryMs * 2 ** this.#attempts++, this.#limits.maxRetryMs)
  }
}

const MAX_ID_BYTES = 8_192
const CONTROL = /\p{Cc}/u
