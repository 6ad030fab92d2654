/** The signal that ends a run which waits for the client: thrown by every open question, and to be let through by `catch`. */

const BRAND = Symbol.for("conduit-mcp.suspended")

/** The run is over because the client was asked; the handler is entered again with the answers. */
export class Suspension extends Error {
  constructor() {
    super("the call waits for the client's answer; let this pass through catch (see isSuspended)")
    this.name = "Suspension"
    Object.defineProperty(this, BRAND, { value: true })
  }
}

/**
 * Whether `error` says that the run is over because the client was asked. A handler that catches everything must throw such
 * an error on.
 *
 * @example
 * try { … } catch (error) { if (isSuspended(error)) throw error; … }
 */
export function isSuspended(error: unknown): boolean {
  return typeof error === "object" && error !== null && Object.hasOwn(error, BRAND)
}

/** How deep the causes of an error are looked into. */
const MAX_CAUSES = 8

/** Whether an error is, holds, or was caused by a suspension. */
export function comesFromSuspension(error: unknown, depth = 0): boolean {
  if (isSuspended(error)) return true
  if (depth >= MAX_CAUSES || !(error instanceof Error)) return false
  const parts: readonly unknown[] = error instanceof AggregateError ? error.errors : []
  return [...parts, error.cause].some((part) => comesFromSuspension(part, depth + 1))
}
