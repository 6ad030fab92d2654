/** How changes reach one reader: as fast as it reads, and no faster. */
import type { Sink } from "../../core/exchange.js"

/** Writes notifications to one sink. While the sink is behind, what comes is kept once for each topic. */
export class Outlet {
  readonly #sink: Sink
  #isBehind = false
  #isClosed = false
  /** What waits, by topic. */
  #waiting: Map<string, string> | undefined

  constructor(sink: Sink) {
    this.#sink = sink
  }

  send(topic: string, frame: string): void {
    if (this.#isClosed) return
    if (this.#isBehind) {
      this.#waiting ??= new Map()
      this.#waiting.set(topic, frame)
      return
    }
    this.#isBehind = true
    this.#sink.send(frame)
    void this.#sink.flush().then(() => this.#catchUp())
  }

  /** Sends nothing more. */
  close(): void {
    this.#isClosed = true
    this.#waiting = undefined
  }

  #catchUp(): void {
    if (this.#isClosed) return
    const waiting = this.#waiting
    this.#isBehind = false
    this.#waiting = undefined
    if (waiting !== undefined) for (const [topic, frame] of waiting) this.send(topic, frame)
  }
}
