/** The event streams of one legacy session over HTTP: those that stand by for messages outside any call, and those of calls. */
import { type Answer, type Exchange, type Sink, silent } from "../../core/exchange.js"
import type { Clock } from "../../store/port.js"
import { onExpiry } from "./expiry.js"
import { type Keeping, parseEventId, ResumableExchange, ResumableStream, replay } from "./resumable.js"

/** How many streams of a session may stand by at once. */
const MAX_STANDBY = 4

/** A stream that stands by. */
interface Standby extends Sink {
  readonly isConnected: boolean
  /** Ends it from this side. */
  end(): void
}

/**
 * The streams of one session. What is sent to all of them goes to exactly one: the newest that is connected, or else the newest
 * whose client may come back for it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#listening-for-messages-from-the-server
 */
export class SessionStreams implements Sink {
  readonly #keeping: Keeping | undefined
  /** Oldest first. */
  #standby: readonly Standby[] = []
  /** The streams that can be resumed and are not over, by their ids. */
  readonly #live = new Map<string, ResumableStream>()

  readonly #clock: Clock

  /** Without `keeping` no stream can be resumed. */
  constructor(clock: Clock, keeping: Keeping | undefined) {
    this.#clock = clock
    this.#keeping = keeping
  }

  /** Whether a client is connected to hear of what happens outside its calls. */
  get isHeard(): boolean {
    return this.#standby.some(({ isConnected }) => isConnected)
  }

  send(frame: string): void {
    this.#nearest()?.send(frame)
  }

  flush(): Promise<void> {
    return this.#nearest()?.flush() ?? Promise.resolve()
  }

  /** The exchange of a call, such that its stream can be resumed; undefined when that cannot be. */
  carry(exchange: Exchange): ResumableExchange | undefined {
    const keeping = this.#keeping
    if (keeping === undefined || !exchange.canStream) return undefined
    return new ResumableExchange(exchange, () => this.#begin(keeping))
  }

  /**
   * Holds an exchange as one more stream that stands by, or as the connection of the stream that `lastEventId` names. Answers
   * once it is over, or undefined when that stream is unknown. Where streams have no event ids, `lastEventId` says nothing.
   */
  hold(exchange: Exchange, lastEventId: string | undefined): Promise<Answer | undefined> {
    const keeping = this.#keeping
    if (keeping === undefined) return this.#hold(exchange)
    if (lastEventId !== undefined) return this.#resume(keeping, exchange, lastEventId)
    const stream = this.#begin(keeping)
    this.#admit(stream)
    stream.start(exchange)
    return stream.hold(exchange)
  }

  /** Ends the streams that stand by. */
  endStandby(): void {
    for (const stream of this.#standby) stream.end()
  }

  /** Ends every stream. */
  close(): void {
    this.endStandby()
    for (const stream of [...this.#live.values()]) stream.end()
  }

  #nearest(): Standby | undefined {
    return this.#standby.findLast(({ isConnected }) => isConnected) ?? this.#standby.at(-1)
  }

  #begin(keeping: Keeping): ResumableStream {
    const stream = new ResumableStream(keeping, (over) => {
      this.#live.delete(over.id)
      this.#dismiss(over)
    })
    this.#live.set(stream.id, stream)
    return stream
  }

  #hold(exchange: Exchange): Promise<Answer> {
    exchange.hold()
    return new Promise((resolve) => {
      const callOff = onExpiry(this.#clock, exchange.peer.principal, () => over())
      const over = (): void => {
        callOff()
        this.#dismiss(stream)
        resolve(silent)
      }
      const stream: Standby = {
        isConnected: true,
        send: (frame) => exchange.send(frame),
        flush: () => exchange.flush(),
        end: over,
      }
      this.#admit(stream)
      exchange.onAbort(over)
    })
  }

  async #resume(keeping: Keeping, exchange: Exchange, lastEventId: string): Promise<Answer | undefined> {
    const id = parseEventId(lastEventId)
    if (id === undefined) return undefined
    const live = this.#live.get(id.stream)
    return live === undefined ? replay(keeping, id, exchange) : live.resume(exchange, id.position)
  }

  /** Takes one more stream; the oldest makes room, or one that nobody is connected to. */
  #admit(stream: Standby): void {
    if (this.#standby.length >= MAX_STANDBY) {
      const leaving = this.#standby.find(({ isConnected }) => !isConnected) ?? this.#standby[0]
      leaving?.end()
    }
    this.#standby = [...this.#standby, stream]
  }

  #dismiss(stream: Standby): void {
    this.#standby = this.#standby.filter((other) => other !== stream)
  }
}
