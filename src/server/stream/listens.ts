/**
 * The open `subscriptions/listen` streams of one endpoint: how many there may be, what they hear, and how they end.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { type Answer, type Peer, silent } from "../../core/exchange.js"
import {
  acknowledgement,
  type ListenFilter,
  listenCancelled,
  type Notice,
  subscriptionMeta,
  taggedWith,
  topicsOf,
} from "../../core/feature/listen.js"
import type { Limits } from "../../core/limits.js"
import type { Clock } from "../../store/port.js"
import type { Call } from "../call.js"
import { identityOf } from "../era/session.js"
import { overloaded } from "../method/refusal.js"
import { completeResult } from "../served.js"
import { beginStream } from "../watch.js"
import type { Audience, Reader } from "./audience.js"
import { onExpiry } from "./expiry.js"
import { Outlet } from "./outlet.js"

/** The parts that {@link Listens} is made of. */
export interface ListensParts {
  readonly audience: Audience
  readonly limits: Limits
  readonly clock: Clock
}

/** The listen streams of one endpoint. */
export class Listens {
  readonly limits: Limits
  readonly #parts: ListensParts
  readonly #streams = new Set<ListenStream>()
  /** How many streams each pipe and each principal has. */
  readonly #held = new Map<Peer | string, number>()

  constructor(parts: ListensParts) {
    this.#parts = parts
    this.limits = parts.limits
  }

  /**
   * Acknowledges a stream and keeps it until one of the two sides ends it; the answer is its last message. A stream that would
   * hear of nothing is over at once.
   */
  open(call: Call, honoured: ListenFilter): Answer | Promise<Answer> {
    const { exchange, facts } = call
    const topics = topicsOf(honoured)
    const full = topics.length === 0 ? undefined : this.#refusal(exchange.peer, topics)
    if (full !== undefined) return overloaded(facts.id, full)
    if (topics.length > 0) exchange.hold()
    exchange.send(acknowledgement(facts.id, honoured))
    return topics.length === 0 ? lastAnswer(call) : new Promise((resolve) => this.#keep(call, topics, resolve))
  }

  /** Ends every stream with its result. */
  end(): void {
    for (const stream of this.#streams) stream.end()
  }

  /** Why there is no room for one more stream, in words; undefined when there is. */
  #refusal(peer: Peer, topics: readonly string[]): string | undefined {
    const { limits, audience } = this.#parts
    const holder = holderOf(peer)
    if (this.#streams.size >= limits.maxListens) return "too many listen streams"
    if (holder !== undefined && (this.#held.get(holder) ?? 0) >= limits.maxListensPerPeer) {
      return "too many listen streams of one caller"
    }
    return audience.hasRoom(topics) ? undefined : "too many watched resources"
  }

  #keep(call: Call, topics: readonly string[], resolve: (answer: Answer) => void): void {
    const { audience, clock } = this.#parts
    const { peer } = call.exchange
    const holder = holderOf(peer)
    const over = beginStream(call.facts.profile.topics, "listen", call.exchange)
    const stream = new ListenStream(call, (answer) => {
      if (!this.#streams.delete(stream)) return
      this.#count(holder, -1)
      for (const topic of topics) audience.leave(topic, stream)
      callOff()
      over?.()
      resolve(answer)
    })
    const callOff = onExpiry(clock, peer.principal, () => stream.cut())
    this.#streams.add(stream)
    this.#count(holder, 1)
    for (const topic of topics) audience.join(topic, stream)
    call.stay(() => stream.leave())
  }

  #count(holder: Peer | string | undefined, change: 1 | -1): void {
    if (holder === undefined) return
    const held = (this.#held.get(holder) ?? 0) + change
    if (held === 0) this.#held.delete(holder)
    else this.#held.set(holder, held)
  }
}

/** Whose streams are counted together: those of a pipe, or of a principal. Anonymous requests have nothing in common. */
function holderOf(peer: Peer): Peer | string | undefined {
  if (peer.kind === "pipe") return peer
  return peer.principal === undefined ? undefined : JSON.stringify(identityOf(peer.principal))
}

/** The result of a stream that the server ends. */
function lastAnswer(call: Call): Answer {
  const { served, id } = call.facts
  return call.result(completeResult(served, "", subscriptionMeta(id)))
}

/** One open stream. Nothing is written for it once it is over. */
class ListenStream implements Reader {
  readonly #call: Call
  readonly #outlet: Outlet
  readonly #over: (answer: Answer) => void

  /** `over` hears that the stream ended, and what is still to be answered. */
  constructor(call: Call, over: (answer: Answer) => void) {
    this.#call = call
    this.#outlet = new Outlet(call.exchange)
    this.#over = over
  }

  hear(notice: Notice): void {
    this.#outlet.send(notice.topic, taggedWith(this.#call.facts.id, notice))
  }

  /** Ends the stream with its result: on HTTP the stream closes behind it, on a pipe a cancellation says so. */
  end(): void {
    const { exchange } = this.#call
    const last = lastAnswer(this.#call)
    if (exchange.peer.kind === "request") exchange.finish(last)
    else if (last.text !== undefined) exchange.send(last.text)
    this.cut()
  }

  /** Ends the stream without a result: on HTTP it closes, on a pipe a cancellation says so. */
  cut(): void {
    const { exchange, facts } = this.#call
    if (exchange.peer.kind === "pipe") exchange.send(listenCancelled(facts.id))
    this.leave()
  }

  /** Forgets a stream that the client left. */
  leave(): void {
    this.#outlet.close()
    this.#over(silent)
  }
}
