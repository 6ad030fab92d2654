/**
 * Event streams of legacy sessions that outlive their connections: every event has an id, and is kept for a client that comes
 * back with it.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#resumability-and-redelivery
 */
import { type Answer, type Exchange, type Peer, silent } from "../../core/exchange.js"
import type { HeaderFacts } from "../../core/http/header.js"
import type { Clock, EventStore, StreamEvent } from "../../store/port.js"
import { randomText } from "../input/seal.js"
import { onExpiry } from "./expiry.js"

/** What the resumable streams of one session share. */
export interface Keeping {
  readonly store: EventStore
  /** The id of the session: streams of another are out of reach. */
  readonly session: string
  readonly clock: Clock
  /** How long a client is asked to wait before it comes back. */
  readonly retryMs: number
  /** Hears of what could not be kept. */
  readonly report: (error: unknown) => void
}

/** The id of an event: its stream, which nobody can guess, and its position in it. */
interface EventId {
  readonly stream: string
  readonly position: number
}

/** Reads an event id; undefined for what is none. */
export function parseEventId(text: string): EventId | undefined {
  const [, stream, digits] = /^([\w-]{22}):(0|[1-9]\d{0,14})$/.exec(text) ?? []
  return stream === undefined ? undefined : { stream, position: Number(digits) }
}

function keyOf({ session }: Keeping, stream: string): string {
  return `${session} ${stream}`
}

/** Replays what is left of a stream that is over, or runs elsewhere; undefined when nothing is known of it. */
export async function replay(keeping: Keeping, id: EventId, exchange: Exchange): Promise<Answer | undefined> {
  const events = await keeping.store.after(keyOf(keeping, id.stream), id.position)
  if (events === undefined) return undefined
  write(exchange, id.stream, id.position, events, keeping.retryMs)
  return silent
}

function write(
  exchange: Exchange,
  stream: string,
  position: number,
  events: readonly StreamEvent[],
  retryMs: number,
): void {
  exchange.prime(`${stream}:${position}`, retryMs)
  for (const event of events) exchange.send(event.frame, `${stream}:${event.position}`)
}

/** One stream and the connection that it has at the moment, if any. */
export class ResumableStream {
  readonly id = randomText(16)
  readonly #keeping: Keeping
  readonly #key: string
  readonly #onOver: (stream: ResumableStream) => void
  #position = 0
  #isOver = false
  #wire: Exchange | undefined
  /** Lets go of a connection that was opened to wait for the stream. */
  #release: (() => void) | undefined

  constructor(keeping: Keeping, onOver: (stream: ResumableStream) => void) {
    this.#keeping = keeping
    this.#key = keyOf(keeping, this.id)
    this.#onOver = onOver
  }

  get isConnected(): boolean {
    return this.#wire !== undefined
  }

  /** Gives the stream its first connection. */
  start(wire: Exchange, retryMs = this.#keeping.retryMs): void {
    this.#wire = wire
    wire.prime(this.#idOf(0), retryMs)
  }

  send(frame: string): void {
    if (this.#isOver) return
    const position = ++this.#position
    this.#keep({ position, frame })
    this.#wire?.send(frame, this.#idOf(position))
  }

  flush(): Promise<void> {
    return this.#wire?.flush() ?? Promise.resolve()
  }

  /** Closes the connection and leaves the stream open: the client comes back for the rest, after a time if one is given. */
  disconnect(retryMs?: number): void {
    if (retryMs !== undefined) this.#wire?.prime(this.#idOf(this.#position), retryMs)
    this.#close()
  }

  /** Says that nothing more will be sent. */
  end(): void {
    this.#isOver = true
    this.#onOver(this)
    this.#close()
  }

  /** Holds an exchange as the connection of this stream, until either is over. */
  hold(wire: Exchange): Promise<Answer> {
    this.#wire = wire
    return new Promise((resolve) => {
      const callOff = onExpiry(this.#keeping.clock, wire.peer.principal, () => this.#close())
      const release = (): void => {
        callOff()
        if (this.#wire === wire) this.#wire = undefined
        resolve(silent)
      }
      this.#release = release
      wire.onAbort(release)
    })
  }

  /** Goes on behind `position` over another connection; undefined when not all of the rest is there any more. */
  async resume(wire: Exchange, position: number): Promise<Answer | undefined> {
    const missed: StreamEvent[] = []
    for (let last = position; last !== this.#position; last = missed.at(-1)?.position ?? last) {
      const events = await this.#keeping.store.after(this.#key, last)
      if (events === undefined || events.length === 0) return undefined
      missed.push(...events)
    }
    this.#close()
    write(wire, this.id, position, missed, this.#keeping.retryMs)
    return this.#isOver ? silent : this.hold(wire)
  }

  #close(): void {
    const wire = this.#wire
    this.#wire = undefined
    wire?.close()
    this.#release?.()
    this.#release = undefined
  }

  #keep(event: StreamEvent): void {
    const { store, report } = this.#keeping
    try {
      const kept = store.append(this.#key, event)
      if (kept instanceof Promise) kept.catch(report)
    } catch (error) {
      report(error)
    }
  }

  #idOf(position: number): string {
    return `${this.id}:${position}`
  }
}

/** The answer of a legacy call whose stream, should it become one, can be resumed. A JSON answer passes as it is. */
export class ResumableExchange implements Exchange {
  readonly peer: Peer
  readonly header: HeaderFacts | undefined
  readonly canStream = true
  readonly onlyStreams: boolean
  readonly #wire: Exchange
  readonly #begin: () => ResumableStream
  #stream: ResumableStream | undefined

  /** `begin` makes the stream once there is something to send. */
  constructor(wire: Exchange, begin: () => ResumableStream) {
    this.peer = wire.peer
    this.header = wire.header
    this.onlyStreams = wire.onlyStreams
    this.#wire = wire
    this.#begin = begin
  }

  send(frame: string): void {
    this.#started().send(frame)
  }

  flush(): Promise<void> {
    return (this.#stream ?? this.#wire).flush()
  }

  hold(): void {
    this.#started()
  }

  prime(eventId: string, retryMs: number): void {
    this.#wire.prime(eventId, retryMs)
  }

  /** Closes the connection; the client comes back for the rest, after a time if one is given. */
  disconnect(retryMs?: number): void {
    if (this.#stream === undefined) this.#started(retryMs).disconnect()
    else this.#stream.disconnect(retryMs)
  }

  finish(answer: Answer): void {
    this.#wire.finish(this.conclude(answer))
  }

  /** Writes an answer that belongs on the stream; what comes back is still to be written. */
  conclude(answer: Answer): Answer {
    const { text, status } = answer
    if (this.#stream === undefined && !(this.onlyStreams && status === 200)) return answer
    const stream = this.#started()
    if (text !== undefined) stream.send(text)
    stream.end()
    return silent
  }

  close(): void {
    if (this.#stream === undefined) this.#wire.close()
    else this.#stream.end()
  }

  onAbort(run: () => void): void {
    this.#wire.onAbort(run)
  }

  #started(retryMs?: number): ResumableStream {
    if (this.#stream !== undefined) return this.#stream
    const stream = this.#begin()
    this.#stream = stream
    stream.start(this.#wire, retryMs)
    return stream
  }
}
