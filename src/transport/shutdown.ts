/** How what is served goes down: in its own time, or at once. */
import type { Endpoint } from "../core/exchange.js"
import type { Clock } from "../store/port.js"

/** What a drain has come to. */
export interface Drained {
  /** How many calls took too long, and were aborted and answered with an error. */
  readonly cut: number
}

/** Something that can go down. */
export interface Drainable {
  /**
   * Takes no more requests, which are answered 503 with `Retry-After`; ends streams of changes, so that clients open theirs
   * elsewhere; and lets calls go on for `ms` (default `limits.drainMs`, 10 seconds), then aborts those that are left. Resolves
   * once nothing runs. Called again, it answers the same.
   */
  drain(ms?: number): Promise<Drained>
  /** Stops at once: aborts what runs. */
  close(): void
}

/** The way down of one endpoint. */
export interface Shutdown extends Drainable {
  /** Whether it has begun. */
  readonly isDraining: boolean
}

/** Makes the {@link Shutdown} of an endpoint. `onClose` hears when nothing runs any more. */
export function createShutdown(endpoint: Endpoint, clock: Clock, drainMs: number, onClose = (): void => {}): Shutdown {
  let draining: Promise<Drained> | undefined
  let isDraining = false
  let cut = 0
  const close = (): void => {
    isDraining = true
    cut += endpoint.close()
    onClose()
  }
  const drain = async (ms: number): Promise<Drained> => {
    isDraining = true
    await within(clock, ms, endpoint.drain())
    close()
    return { cut }
  }
  return {
    get isDraining() {
      return isDraining
    },
    drain(ms = drainMs) {
      draining ??= drain(ms)
      return draining
    },
    close,
  }
}

/** The same way down, taken in its own time when a signal aborts, too. */
export function withSignal({ drain, close }: Drainable, signal: AbortSignal | undefined): Drainable {
  const forget = onAbort(signal, () => void drain())
  return {
    drain,
    close() {
      forget()
      close()
    },
  }
}

/** Runs `run` once a signal aborts, or at once if it has. Answers the function that forgets it. */
export function onAbort(signal: AbortSignal | undefined, run: () => void): () => void {
  if (signal?.aborted === true) run()
  else signal?.addEventListener("abort", run, { once: true })
  return () => signal?.removeEventListener("abort", run)
}

/** Resolves with `awaited`, or after a time. */
export function within(clock: Clock, ms: number, awaited: Promise<unknown>): Promise<void> {
  return new Promise((resolve) => {
    const cancel = clock.after(ms, resolve)
    void awaited.then(() => {
      cancel()
      resolve()
    })
  })
}
