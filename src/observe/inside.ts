/** Work that is done where those who watch it want it done, such as inside of a span. */

/** Something that decides where work is done. */
export interface Surrounding<Facts> {
  run?<T>(facts: Facts, work: () => T): T
}

/** Does work inside of all surroundings, the first one innermost: once, whatever they do. `report` hears of one that failed. */
export function runInside<Facts, T>(
  surroundings: readonly Surrounding<Facts>[],
  facts: Facts,
  work: () => T,
  report: (error: unknown) => void,
): T {
  let done: { readonly value: T } | { readonly thrown: unknown } | undefined
  const once = (): T => {
    done ??= attempt(work)
    if ("thrown" in done) throw done.thrown
    return done.value
  }
  try {
    surroundings.reduce<() => T>((inner, one) => () => one.run?.(facts, inner) ?? inner(), once)()
  } catch (error) {
    if (done === undefined || !("thrown" in done) || done.thrown !== error) report(error)
  }
  return once()
}

function attempt<T>(work: () => T): { readonly value: T } | { readonly thrown: unknown } {
  try {
    return { value: work() }
  } catch (thrown) {
    return { thrown }
  }
}
