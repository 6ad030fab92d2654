/** What `ctx.once` keeps: the outcome of a step, claimed by one run and taken by all the others. */
import { ToolError } from "../../core/error/error.js"
import type { JsonValue } from "../../core/wire/message.js"
import type { Clock, Store } from "../../store/port.js"

/** The outcome of a step as JSON. A value that was undefined has no member at all. */
export interface Outcome {
  readonly value?: JsonValue
  readonly error?: { readonly message: string; readonly name: string; readonly forModel: boolean }
}

/** The outcome of a step that gave `value`; what is kept is what JSON gives back. */
export function valueOutcome(value: unknown): Outcome {
  const text = JSON.stringify(value)
  return text === undefined ? {} : { value: JSON.parse(text) as JsonValue }
}

/** The outcome of a step that threw. */
export function errorOutcome(error: unknown): Outcome {
  const known = error instanceof Error ? error : new Error(String(error))
  return { error: { message: known.message, name: known.name, forModel: ToolError.is(error) } }
}

/** What an outcome gives whoever asks for it again: its value, or its error thrown. */
export function takeOutcome(outcome: Outcome): unknown {
  const { error } = outcome
  if (error === undefined) return outcome.value
  if (error.forModel) throw new ToolError(error.message)
  const again = new Error(error.message)
  again.name = error.name
  throw again
}

const PENDING = "pending"
const POLL_MS = 250

/** Claims steps on a store, so that each runs once however often a round is sent. */
export interface Claims {
  /** Runs `step` unless somebody has claimed the key; answers the outcome of whoever did. Never rejects for the step's own error. */
  run(key: string, step: () => Promise<Outcome>): Promise<Outcome>
}

/** Makes the claims of one endpoint. `ttlMs` is how long an outcome is kept. */
export function createClaims(store: Store, clock: Clock, ttlMs: number): Claims {
  const here = new Map<string, Promise<Outcome>>()

  const pause = (): Promise<void> => new Promise((resolve) => clock.after(POLL_MS, resolve))

  const settle = async (key: string, step: () => Promise<Outcome>): Promise<Outcome> => {
    for (;;) {
      if (await store.set(key, PENDING, { ttlMs, if: "absent" })) {
        const outcome = await step()
        await store.set(key, JSON.stringify(outcome), { ttlMs })
        return outcome
      }
      const stored = await store.get(key)
      if (stored !== undefined && stored.value !== PENDING) return JSON.parse(stored.value) as Outcome
      if (stored !== undefined) await pause()
    }
  }

  return {
    run(key, step) {
      const known = here.get(key)
      if (known !== undefined) return known
      const running = settle(key, step).finally(() => here.delete(key))
      here.set(key, running)
      return running
    },
  }
}
