/** Steps that happen at a URL: who waits for one, and who is told that it is done. */
import type { Clock } from "../../store/port.js"

/** The URL questions of one endpoint. */
export interface Completions {
  /**
   * Remembers how the client of a question is told while its call runs. Answers the function that says that the call ended: from
   * then on `later` tells it, once, for as long as a user may take.
   */
  track(id: string, tell: () => void, later: () => void): () => void
  /** Resolves once `complete(id)` was called, or when it is time to look again. */
  wait(id: string): Promise<void>
  /** Tells the client that asked, and wakes who waits. Unknown ids are ignored. */
  complete(id: string): void
}

/** How often somebody who waits looks again by himself. */
const POLL_MS = 1_000

/** How many questions whose calls ended are remembered; the oldest are forgotten first. */
const MAX_KEPT = 10_000

/** Makes the {@link Completions} of one endpoint. Questions are remembered for `ttlMs` after their calls. */
export function createCompletions(clock: Clock, ttlMs: number): Completions {
  const running = new Map<string, () => void>()
  const kept = createKept(clock, ttlMs)
  const waiting = new Map<string, Set<() => void>>()
  return {
    track(id, tell, later) {
      running.set(id, tell)
      return () => {
        running.delete(id)
        kept.add(id, later)
      }
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
      const tell = running.get(id) ?? kept.take(id)
      tell?.()
      for (const wake of [...(waiting.get(id) ?? [])]) wake()
    },
  }
}

/** The questions whose calls ended, oldest first. */
function createKept(clock: Clock, ttlMs: number) {
  const entries = new Map<string, { readonly tell: () => void; readonly untilMs: number }>()
  let isSweeping = false

  const sweep = (): void => {
    for (const [id, { untilMs }] of entries) {
      if (untilMs > clock.now()) break
      entries.delete(id)
    }
    isSweeping = entries.size > 0
    if (isSweeping) clock.after(ttlMs, sweep)
  }

  return {
    add(id: string, tell: () => void): void {
      const [oldest] = entries.keys()
      if (entries.size >= MAX_KEPT && oldest !== undefined) entries.delete(oldest)
      entries.set(id, { tell, untilMs: clock.now() + ttlMs })
      if (isSweeping) return
      isSweeping = true
      clock.after(ttlMs, sweep)
    },
    take(id: string): (() => void) | undefined {
      const entry = entries.get(id)
      entries.delete(id)
      return entry === undefined || entry.untilMs <= clock.now() ? undefined : entry.tell
    },
  }
}
