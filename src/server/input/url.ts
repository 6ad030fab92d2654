/** Steps that happen at a URL: who waits for one, and who is told that it is done. */
import type { Clock } from "../../store/port.js"

/** The open URL questions of one endpoint. */
export interface Completions {
  /** Remembers how the client of a question is told; answers the function that forgets it. */
  track(id: string, tell: () => void): () => void
  /** Resolves once `complete(id)` was called, or when it is time to look again. */
  wait(id: string): Promise<void>
  /** Tells the client that asked, and wakes who waits. Unknown ids are ignored. */
  complete(id: string): void
}

/** How often somebody who waits looks again by himself. */
const POLL_MS = 1_000

/** Makes the {@link Completions} of one endpoint. */
export function createCompletions(clock: Clock): Completions {
  const tellers = new Map<string, () => void>()
  const waiting = new Map<string, Set<() => void>>()
  return {
    track(id, tell) {
      tellers.set(id, tell)
      return () => void tellers.delete(id)
    },
    wait(id) {
      return new Promise((resolve) => {
        const waiters = waiting.get(id) ?? new Set()
        waiting.set(id, waiters)
        const wake = (): void => {
          cancel()
          waiters.delete(wake)
          if (waiters.size === 0) waiting.delete(id)
          resolve()
        }
        const cancel = clock.after(POLL_MS, wake)
        waiters.add(wake)
      })
    },
    complete(id) {
      tellers.get(id)?.()
      for (const wake of [...(waiting.get(id) ?? [])]) wake()
    },
  }
}
