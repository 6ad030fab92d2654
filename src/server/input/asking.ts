/** What an endpoint has for asking its clients; one for all its calls. */
import { misuse } from "../../core/error/error.js"
import type { Limits } from "../../core/limits.js"
import type { Logger } from "../../observe/log.js"
import type { Clock, Store } from "../../store/port.js"
import { type Claims, createClaims } from "./claim.js"
import { createKeyRing } from "./seal.js"
import { createStateBox, type StateBox } from "./state.js"
import { type Completions, createCompletions } from "./url.js"

/** The parts that asking needs of an endpoint. */
export interface Asking {
  readonly claims: Claims
  readonly states: StateBox
  readonly completions: Completions
  readonly clock: Clock
  /** How long a question waits for its answer. */
  readonly timeoutMs: number
  /** Runs a task in a later macrotask. */
  readonly defer: (task: () => void) => void
}

/** What {@link createAsking} is made of. */
export interface AskingOptions {
  readonly store: Store
  readonly clock: Clock
  readonly limits: Limits
  readonly logger: Logger
  readonly secrets: readonly (string | Uint8Array)[] | undefined
  readonly ephemeralState: boolean | undefined
}

/** Makes the {@link Asking} of one endpoint. Nothing is drawn or derived before something is sealed. */
export function createAsking(options: AskingOptions): Asking {
  const { store, clock, limits, logger } = options
  const { stateTtlMs: ttlMs, maxStateBytes: maxBytes, maxKeptStateBytes: maxKeptBytes } = limits
  const ring = createKeyRing(options.secrets ?? [], () => drawSecret(options.ephemeralState, logger))
  const report = (problem: string): void => logger.warn(problem)
  return {
    claims: createClaims({ store, clock, ttlMs }),
    states: createStateBox({ ring, store, clock, ttlMs, maxBytes, maxKeptBytes, report }),
    completions: createCompletions(clock, ttlMs),
    clock,
    timeoutMs: ttlMs,
    defer: (task) => void setTimeout(task, 0),
  }
}

/** A key for this process alone, where that is good enough. */
function drawSecret(isAllowed: boolean | undefined, logger: Logger): Uint8Array {
  if (isAllowed === false) {
    const text = "a call that asks its client needs `secrets` here (at least 32 bytes), or `ephemeralState: true`"
    throw misuse("invalid_option", text)
  }
  if (isAllowed === undefined) {
    logger.warn("requestState is sealed with a key of this process alone: set `secrets` to keep calls over restarts")
  }
  return crypto.getRandomValues(new Uint8Array(32))
}
