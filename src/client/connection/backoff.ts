/** How long to wait before something is tried again. */

/** Waits in milliseconds: growing, each with some chance in it, `times` of them. */
export function* createBackoff(times = 3, firstMs = 200, factor = 2): Generator<number, void> {
  for (let step = 0; step < times; step++) {
    const fullMs = firstMs * factor ** step
    yield Math.round(fullMs / 2 + (Math.random() * fullMs) / 2)
  }
}
