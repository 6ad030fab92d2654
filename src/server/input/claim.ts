/** Claims on the store: what is done once, by one run on one node, and taken by all the others. */
import type { Clock, Store } from "../../store/port.js"
import type { Outcome } from "./outcome.js"
import { randomText } from "./seal.js"

/** Claims steps on a store, so that each runs once however often a round is sent. */
export interface Claims {
  /**
   * Runs `step` unless somebody has claimed the key; answers the outcome of whoever did. A step that answers undefined leaves
   * no outcome, and gives its claim back.
   */
  run(key: string, step: () => Promise<Outcome>): Promise<Outcome>
  run(key: string, step: () => Promise<Outcome | undefined>): Promise<Outcome | undefined>
}

/** The parts that {@link createClaims} is made of. */
export interface ClaimsOptions {
  readonly store: Store
  readonly clock: Clock
  /** How long an outcome is kept. */
  readonly ttlMs: number
}

/** How long a claim holds without being renewed: a node that dies in a step gives it up after that. */
const LEASE_MS = 60_000
const RENEW_MS = 20_000
const POLL_MS = 250
const PENDING = "pending:"

/** Makes the claims of one endpoint. */
export function createClaims({ store, clock, ttlMs }: ClaimsOptions): Claims {
  const here = new Map<string, Promise<Outcome | undefined>>()

  const pause = (): Promise<void> => new Promise((resolve) => void clock.after(POLL_MS, resolve))

  /** Keeps a claim alive. Answers the function that stops it. */
  const renew = (key: string, mine: string): (() => void) => {
    const again = async (): Promise<void> => {
      const stored = await store.get(key)
      if (stored?.value !== mine) return
      await store.set(key, mine, { ttlMs: LEASE_MS, if: { version: stored.version } })
    }
    const beat = (): void => {
      cancel = clock.after(RENEW_MS, beat)
      again().catch(() => {})
    }
    let cancel = clock.after(RENEW_MS, beat)
    return () => cancel()
  }

  const work = async (
    key: string,
    mine: string,
    step: () => Promise<Outcome | undefined>,
  ): Promise<Outcome | undefined> => {
    const stop = renew(key, mine)
    try {
      const outcome = await step()
      if (outcome === undefined) await store.delete(key)
      else await store.set(key, JSON.stringify(outcome), { ttlMs })
      return outcome
    } finally {
      stop()
    }
  }

  const settle = async (key: string, step: () => Promise<Outcome | undefined>): Promise<Outcome | undefined> => {
    const mine = `${PENDING}${randomText(12)}`
    for (let vain = 0; vain < 3; vain++) {
      if (await store.set(key, mine, { ttlMs: LEASE_MS, if: "absent" })) return work(key, mine, step)
      for (let stored = await store.get(key); stored !== undefined; stored = await store.get(key)) {
        if (!stored.value.startsWith(PENDING)) return JSON.parse(stored.value) as Outcome
        await pause()
        vain = 0
      }
    }
    throw new Error("the store takes no claim: is it full?")
  }

  /** Who comes second here waits for the first; where nothing outlives its request, the store tells. */
  const run = async (key: string, step: () => Promise<Outcome | undefined>): Promise<Outcome | undefined> => {
    if (clock.isBound) return settle(key, step)
    for (let known = here.get(key); known !== undefined; known = here.get(key)) {
      const outcome = await known
      if (outcome !== undefined) return outcome
    }
    const running = settle(key, step).finally(() => here.delete(key))
    here.set(key, running)
    return running
  }
  return { run: run as Claims["run"] }
}
