/** Those who wait for a connection that is coming back: each is let go once, or told once that there will be none. */
import type { McpError } from "../../core/error/error.js"
import { type Call, clientClosed } from "../call.js"

interface Waiter {
  release(): void
  reject(error: McpError): void
}

export class Waiters {
  readonly #waiting = new Set<Waiter>()

  /** Resolves with the next {@link release}; rejects with the next {@link reject}, or when the call is over first. */
  wait(call: Pick<Call, "onEnd">): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter: Waiter = { release: resolve, reject }
      this.#waiting.add(waiter)
      call.onEnd(() => {
        if (this.#waiting.delete(waiter)) reject(clientClosed())
      })
    })
  }

  release(): void {
    for (const waiter of this.#takeAll()) waiter.release()
  }

  reject(error: McpError): void {
    for (const waiter of this.#takeAll()) waiter.reject(error)
  }

  #takeAll(): readonly Waiter[] {
    const all = [...this.#waiting]
    this.#waiting.clear()
    return all
  }
}
