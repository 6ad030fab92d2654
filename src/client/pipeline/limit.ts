/** Keeps the number of calls that are on their way bounded; further ones wait in line. */
import { callEnded } from "../call.js"
import type { Stage } from "./stage.js"

/** Lets `maxInFlight` calls through at once. One that ends while it waits leaves the line. */
export function createLimit(maxInFlight: number): Stage {
  const line = new Set<() => void>()
  let inside = 0

  const leave = (): void => {
    inside--
    const [first] = line
    if (first === undefined) return
    line.delete(first)
    first()
  }

  return (call, attempt, next) => {
    const enter = (): ReturnType<typeof next> => {
      inside++
      call.onEnd(leave)
      return next(call, attempt)
    }
    if (inside < maxInFlight) return enter()
    return new Promise((resolve, reject) => {
      // The turn comes as another call ends, which is not where this one is to be run.
      const turn = (): void => void (call.within?.(enter) ?? enter()).then(resolve, reject)
      line.add(turn)
      call.onEnd(() => {
        if (line.delete(turn)) reject(callEnded())
      })
    })
  }
}
