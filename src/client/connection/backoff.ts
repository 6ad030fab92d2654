/** How long to wait before something is tried again. */

/** Waits in milliseconds: growing, each with some chance in it, `times` of them. */
export function* createBackoff(times = 3, firstMs = 200, factor = 2): Generator<number, void> {
  for (let step = 0; step < times; step++) {
    const fullMs = firstMs * factor ** step
    yield Math.round(fullMs / 2 + (Math.random() * fullMs) / 2)
  }
}

/**
 * How long to wait before an attempt, counted from 1: the first at once, the second about `firstMs`, then longer and longer, each with
 * some chance in it.
 */
export function delayOf(attempt: number, maxMs: number, firstMs = 250): number {
  if (attempt <= 1) return 0
  const fullMs = Math.min(firstMs * 2 ** (attempt - 2), maxMs)
  return Math.round(fullMs / 2 + (Math.random() * fullMs) / 2)
}
