/** What a legacy session hears of changes: every list that is told of, and the resources that it subscribed to. */
import type { Sink } from "../../core/exchange.js"
import { type ListName, type Notice, topicOf } from "../../core/feature/listen.js"
import type { Audience, Reader } from "./audience.js"
import { Outlet } from "./outlet.js"

/** The parts that {@link SessionReader} is made of. */
export interface SessionReaderParts {
  readonly audience: Audience
  /** The lists whose changes are told. */
  readonly lists: readonly ListName[]
  readonly maxSubscriptions: number
}

/** One session as a reader of changes. */
export class SessionReader implements Reader {
  readonly #parts: SessionReaderParts
  readonly #outlet: Outlet
  readonly #watched = new Set<string>()

  constructor(parts: SessionReaderParts, sink: Sink) {
    this.#parts = parts
    this.#outlet = new Outlet(sink)
    for (const list of parts.lists) parts.audience.join(list, this)
  }

  hear(notice: Notice): void {
    this.#outlet.send(notice.topic, notice.plain)
  }

  /** Whether a resource may be subscribed to. */
  hasRoom(uri: string): boolean {
    const { audience, maxSubscriptions } = this.#parts
    const topic = topicOf({ kind: "resource", uri })
    return this.#watched.has(topic) || (this.#watched.size < maxSubscriptions && audience.hasRoom([topic]))
  }

  /** Subscribes to a resource. */
  watch(uri: string): void {
    const topic = topicOf({ kind: "resource", uri })
    this.#watched.add(topic)
    this.#parts.audience.join(topic, this)
  }

  /** Ends a subscription, if there is one. */
  unwatch(uri: string): void {
    const topic = topicOf({ kind: "resource", uri })
    if (this.#watched.delete(topic)) this.#parts.audience.leave(topic, this)
  }

  /** Hears nothing more. */
  close(): void {
    this.#outlet.close()
    for (const topic of [...this.#parts.lists, ...this.#watched]) this.#parts.audience.leave(topic, this)
    this.#watched.clear()
  }
}
