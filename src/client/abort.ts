/** Listening to signals that many calls may share: one listener on each, however many wait, and none once nobody does. */

const waiting = new WeakMap<AbortSignal, Waiting>()

/** Calls `run` once a signal aborts. Answers the function that ends the wait. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  const there = waiting.get(signal) ?? new Waiting(signal)
  return there.add(run)
}

class Waiting {
  readonly #signal: AbortSignal
  readonly #runs = new Set<{ readonly run: () => void }>()

  constructor(signal: AbortSignal) {
    this.#signal = signal
    waiting.set(signal, this)
    signal.addEventListener("abort", this.#tell)
  }

  add(run: () => void): () => void {
    const one = { run }
    this.#runs.add(one)
    return () => {
      if (this.#runs.delete(one) && this.#runs.size === 0) this.#leave()
    }
  }

  readonly #tell = (): void => {
    this.#leave()
    for (const one of [...this.#runs]) if (this.#runs.delete(one)) one.run()
  }

  #leave(): void {
    waiting.delete(this.#signal)
    this.#signal.removeEventListener("abort", this.#tell)
  }
}
