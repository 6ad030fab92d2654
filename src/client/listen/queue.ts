/**
 * Changes on their way to whoever iterates over them. What changes again before it is read is told once, and of the many parts of a
 * resource only so many by name, so that a queue is bounded.
 */
import { type Change, topicOf } from "../../core/feature/listen.js"

/** A change, and whether the server told it or a gap in listening lets it be supposed. */
export type HeardChange = Change & { readonly synthetic: boolean }

/** How many changes are held by what exactly changed; beyond that, by what was asked for. */
const MAX_HELD = 1_000

/** An iterator that waits for what comes. Its end, from either side, runs `onEnd` once, with the error that it ends by. */
export class ChangeQueue implements AsyncIterableIterator<HeardChange> {
  readonly #onEnd: (error: unknown) => void
  readonly #held = new Map<string, HeardChange>()
  #waiting: { resolve(result: IteratorResult<HeardChange, undefined>): void; reject(error: unknown): void }[] = []
  #end: { readonly error: unknown } | undefined

  constructor(onEnd: (error: unknown) => void) {
    this.#onEnd = onEnd
  }

  /** `subject` is what was asked for that the change is about. */
  push(change: Change, synthetic: boolean, subject = change): void {
    if (this.#end !== undefined) return
    const isFull = this.#held.size >= MAX_HELD && !this.#held.has(topicOf(change))
    const told = isFull ? subject : change
    const heard = { ...told, synthetic }
    const reader = this.#waiting.shift()
    if (reader !== undefined) return reader.resolve({ done: false, value: heard })
    const topic = topicOf(told)
    const held = this.#held.get(topic)
    // A change that the server told stays one, whatever is supposed beside it.
    this.#held.set(topic, held?.synthetic === false ? held : heard)
  }

  /** Ends it behind what is held, with an error if there is one. */
  end(error?: unknown): void {
    if (this.#end !== undefined) return
    this.#end = { error }
    this.#onEnd(error)
    const waiting = this.#waiting
    this.#waiting = []
    for (const { resolve, reject } of waiting) {
      if (error === undefined) resolve({ done: true, value: undefined })
      else reject(error)
    }
  }

  next(): Promise<IteratorResult<HeardChange, undefined>> {
    for (const [topic, value] of this.#held) {
      this.#held.delete(topic)
      return Promise.resolve({ done: false, value })
    }
    if (this.#end !== undefined) {
      const { error } = this.#end
      this.#end = { error: undefined }
      return error === undefined ? Promise.resolve({ done: true, value: undefined }) : Promise.reject(error)
    }
    return new Promise((resolve, reject) => this.#waiting.push({ resolve, reject }))
  }

  return(): Promise<IteratorResult<HeardChange, undefined>> {
    this.#held.clear()
    this.end()
    return Promise.resolve({ done: true, value: undefined })
  }

  [Symbol.asyncIterator](): this {
    return this
  }
}
