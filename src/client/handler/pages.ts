/** The pages that users were sent to, until their servers say that they are finished with. */

import { onAbort } from "../abort.js"

/** How many are remembered; the oldest are forgotten first. */
const MAX_OPEN = 1_000

/** See the file's comment. Nothing is ever known of a page but its id. */
export class Pages {
  readonly #open = new Map<string, Set<() => void>>()

  /** Remembers one. */
  open(id: string): void {
    if (this.#open.has(id)) return
    const [oldest] = this.#open.keys()
    if (oldest !== undefined && this.#open.size >= MAX_OPEN) this.forget(oldest)
    this.#open.set(id, new Set())
  }

  /** Forgets one; answers whether it was known. Whoever waits for it waits no longer. */
  forget(id: string): boolean {
    const waiting = this.#open.get(id)
    this.#open.delete(id)
    for (const wake of waiting ?? []) wake()
    return waiting !== undefined
  }

  /** Resolves once a page is finished with or forgotten, or `signal` aborts. */
  until(id: string, signal: AbortSignal): Promise<void> {
    const waiting = this.#open.get(id)
    if (waiting === undefined || signal.aborted) return Promise.resolve()
    return new Promise((resolve) => {
      const wake = (): void => {
        waiting.delete(wake)
        stop()
        resolve()
      }
      const stop = onAbort(signal, wake)
      waiting.add(wake)
    })
  }
}
