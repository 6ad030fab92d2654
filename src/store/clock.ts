/** The one wheel on which every deadline turns, so that no request owns a timer. */
import type { Clock } from "./port.js"

/** How a system clock turns. */
export interface SystemClockOptions {
  /** How far apart two steps of the wheel are, in milliseconds. Default 250. */
  readonly stepMs?: number
  /** Whether the process stays alive for deadlines. Default false. */
  readonly holdsProcess?: boolean
}

interface Task {
  readonly dueMs: number
  readonly run: () => void
}

/**
 * The system's clock. One timer, started by the first deadline and stopped after the last. While it runs, `now()` costs no
 * system call.
 */
export function createSystemClock({ stepMs = 250, holdsProcess = false }: SystemClockOptions = {}): Clock {
  const tasks = new Set<Task>()
  let timer: ReturnType<typeof setInterval> | undefined
  let nowMs = 0

  const turn = (): void => {
    nowMs = Date.now()
    for (const task of tasks) {
      if (task.dueMs > nowMs) continue
      tasks.delete(task)
      task.run()
    }
    if (tasks.size === 0) {
      clearInterval(timer)
      timer = undefined
    }
  }

  return {
    now: () => (timer === undefined ? Date.now() : nowMs),
    after(delayMs, run) {
      const task = { dueMs: Date.now() + delayMs, run }
      tasks.add(task)
      if (timer === undefined) {
        nowMs = Date.now()
        timer = setInterval(turn, stepMs)
        if (!holdsProcess) unref(timer)
      }
      return () => void tasks.delete(task)
    },
  }
}

/** Lets the process end while the timer runs, where the platform has processes that end. */
function unref(timer: unknown): void {
  if (typeof timer === "object" && timer !== null && "unref" in timer && typeof timer.unref === "function")
    timer.unref()
}

/** Keeps the process alive until the function that is answered is called: for waits that have no deadline. */
export function holdProcess(): () => void {
  const timer = setInterval(() => {}, LONGEST_MS)
  return () => clearInterval(timer)
}

/** The longest interval that a timer of the platform can have. */
const LONGEST_MS = 2 ** 31 - 1
