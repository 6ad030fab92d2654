/** A clock that tests move by hand. */
import type { Clock } from "conduit-mcp"

/** A {@link Clock} together with the hand that moves it. */
export interface ManualClock extends Clock {
  /** Moves time forward and runs what is due, in order. */
  advance(ms: number): void
  /** How many tasks wait. */
  readonly waiting: number
  /** In how many milliseconds each of them is due, the next one first. */
  readonly dueInMs: readonly number[]
}

/** A clock that stands at `startMs` until it is moved. */
export function createManualClock(startMs = 1_000_000): ManualClock {
  const tasks = new Set<{ readonly dueMs: number; readonly run: () => void }>()
  let nowMs = startMs
  return {
    now: () => nowMs,
    after(delayMs, run) {
      const task = { dueMs: nowMs + delayMs, run }
      tasks.add(task)
      return () => void tasks.delete(task)
    },
    advance(ms) {
      nowMs += ms
      for (const task of [...tasks].sort((a, b) => a.dueMs - b.dueMs)) {
        if (task.dueMs > nowMs || !tasks.delete(task)) continue
        task.run()
      }
    },
    get waiting() {
      return tasks.size
    },
    get dueInMs() {
      return [...tasks].map(({ dueMs }) => dueMs - nowMs).sort((a, b) => a - b)
    },
  }
}
