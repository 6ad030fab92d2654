/** How long the server may take to answer. The clock stands still while the application answers a question. */
import { McpError } from "../../core/error/error.js"
import { type Deadlines, Due } from "../../store/deadlines.js"
import type { Clock } from "../../store/port.js"
import type { Call, Pausable } from "../call.js"
import type { Noise } from "../link.js"
import type { Stage } from "./stage.js"

/**
 * Ends calls whose server does not answer within `timeoutMs`: the server is told in the way of its era, and whatever it still
 * answers is dropped. `lastNoise` is the last odd thing that came; when it came since, it may be the answer that could not be read.
 */
export function createTimeout(clock: Clock, deadlines: Deadlines, lastNoise: () => Noise | undefined): Stage {
  return async (call, attempt, next) => {
    const timer = new AnswerTimer({ call, clock, deadlines, lastNoise, timeoutMs: attempt.timeoutMs })
    call.clock = timer
    try {
      return await next(call, attempt)
    } finally {
      deadlines.delete(timer)
      call.clock = undefined
    }
  }
}

interface TimerParts {
  readonly call: Call
  readonly clock: Clock
  readonly deadlines: Deadlines
  readonly lastNoise: () => Noise | undefined
  readonly timeoutMs: number
}

class AnswerTimer extends Due implements Pausable {
  readonly #parts: TimerParts
  #leftMs: number
  readonly #sinceMs: number
  readonly #noiseBefore: Noise | undefined

  constructor(parts: TimerParts) {
    super()
    this.#parts = parts
    this.#leftMs = parts.timeoutMs
    this.#sinceMs = parts.clock.now()
    this.#noiseBefore = parts.lastNoise()
    this.resume()
  }

  pause(): void {
    const { clock, deadlines } = this.#parts
    if (!deadlines.delete(this)) return
    this.#leftMs = Math.max(0, this.dueMs - clock.now())
  }

  resume(): void {
    const { clock, deadlines } = this.#parts
    this.dueMs = clock.now() + this.#leftMs
    deadlines.add(this)
  }

  restart(): void {
    this.#leftMs = this.#parts.timeoutMs
    if (this.#parts.deadlines.has(this)) this.resume()
  }

  expire(): void {
    const { call, timeoutMs, lastNoise, clock } = this.#parts
    const last = lastNoise()
    const noise = last === this.#noiseBefore ? undefined : last
    const heard = noise === undefined ? "" : `; the last thing that came was no message: ${noise.text}`
    const text = `${call.title} was not answered within ${timeoutMs} ms; timeoutMs of the call or the client says how long it may take${heard}`
    call.fail(
      new McpError(text, {
        kind: "timeout",
        reason: "request_timeout",
        retryable: true,
        data: { timeoutMs, elapsedMs: clock.now() - this.#sinceMs },
        ...(noise === undefined ? {} : { cause: new Error(noise.text) }),
      }),
    )
  }
}
