/** What changed at the server, told to everybody inside of the client who wants to know. */
import type { Change } from "../core/feature/listen.js"

/** Hears changes. */
export type ChangeListener = (change: Change) => void

export class Changes {
  readonly #listeners = new Set<ChangeListener>()

  publish(change: Change): void {
    for (const listener of [...this.#listeners]) listener(change)
  }

  /** Answers the function that ends it. */
  subscribe(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
