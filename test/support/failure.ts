/** How a call fails, as far as an application is told, and conditions to wait for. */
import { McpError } from "conduit-mcp/client"
import type { ManualClock } from "./clock.js"

/** The members of an error that are for applications. */
export interface Failure {
  readonly kind: string
  readonly reason: string
  readonly code: number | undefined
  readonly retryable: boolean
  readonly message: string
  readonly data: unknown
  readonly cause: unknown
}

/** The error that a promise rejects with; throws when it is none of the library's, or there is none. */
export async function failureOf(work: Promise<unknown>): Promise<Failure> {
  const error: unknown = await work.then(
    (value) => new Error(`it did not fail, but came to ${JSON.stringify(value)}`),
    (reason: unknown) => reason,
  )
  if (!McpError.is(error)) throw error
  const { kind, reason, code, retryable, message, data, cause } = error
  return { kind, reason, code, retryable, message, data, cause }
}

/** What {@link failureOf} gives, with what an error has where nothing is said of it. */
export function failure(given: { readonly [Member in keyof Failure]?: unknown }): object {
  return { code: undefined, retryable: false, data: undefined, cause: undefined, ...given }
}

/** Resolves once `holds` does; looked at again whenever the event loop comes round. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}

/** Resolves once all that can happen without time or anybody outside has happened. */
export async function settled(): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** Waits until something is due in so many milliseconds, and lets that time pass. */
export async function pass(clock: ManualClock, ms: number): Promise<void> {
  await until(() => clock.dueInMs.includes(ms))
  clock.advance(ms)
}
