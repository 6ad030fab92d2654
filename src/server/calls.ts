/** The calls that one endpoint works on: how many there may be, by when each has to be done, and who waits for the last. */

import { codes } from "../core/error/codes.js"
import { fault } from "../core/error/fault.js"
import { type Answer, refuse } from "../core/exchange.js"
import type { Principal } from "../core/http/gate.js"
import type { Limits } from "../core/limits.js"
import type { RequestId } from "../core/wire/message.js"
import { createDeadlines, type Deadlines } from "../store/deadlines.js"
import type { Clock } from "../store/port.js"
import type { Call } from "./call.js"
import { overdue } from "./method/overdue.js"
import { overloaded } from "./method/refusal.js"

/** A call whose client is asked: how many questions are open, and how much time it has left. */
interface Pause {
  questions: number
  leftMs: number
}

/** The calls of one endpoint. What is answered at once passes through without a trace. */
export class Calls {
  readonly #limits: Limits
  readonly #clock: Clock
  readonly #onGivenUp: (call: Call, said: Answer) => void
  /** Those whose handlers are not done. */
  readonly #pending: Deadlines<Call>
  readonly #paused = new Map<Call, Pause>()
  /** How many pending calls each principal has. */
  readonly #held = new Map<string, number>()
  #running = 0
  /** Whether no more calls are taken. */
  isClosing = false
  readonly #onIdle: (() => void)[] = []

  /** `onGivenUp` hears of each call that was answered ahead of its handler. */
  constructor(limits: Limits, clock: Clock, onGivenUp: (call: Call, said: Answer) => void) {
    this.#limits = limits
    this.#clock = clock
    this.#onGivenUp = onGivenUp
    this.#pending = createDeadlines(clock)
  }

  /** Why one more call may not begin; undefined when it may. One that takes no place is refused only while the server goes down. */
  refusal(id: RequestId, principal: Principal | undefined, takesNoPlace: boolean): Answer | undefined {
    if (this.isClosing) return draining(id)
    if (takesNoPlace) return undefined
    if (this.#running >= this.#limits.maxInFlight) return overloaded(id, "too many requests at once")
    if (principal === undefined || this.#running < this.#limits.maxInFlightPerPeer) return undefined
    if ((this.#held.get(keyOf(principal)) ?? 0) < this.#limits.maxInFlightPerPeer) return undefined
    return overloaded(id, "too many requests of one caller at once")
  }

  /** Takes in one more call. */
  enter(): void {
    this.#running++
  }

  /** Keeps a call whose handler is not done: from now on its time runs. */
  hold(call: Call): void {
    const timeoutMs = call.tool?.timeoutMs ?? this.#limits.handlerTimeoutMs
    const pause = this.#paused.size === 0 ? undefined : this.#paused.get(call)
    if (pause === undefined) call.dueMs = this.#clock.now() + timeoutMs
    else pause.leftMs = timeoutMs
    this.#pending.add(call)
    this.#count(call, 1)
  }

  /** Stops the clock of a call while its client is asked; what comes back starts it again. */
  pause(call: Call): () => void {
    const pause = this.#paused.get(call) ?? { questions: 0, leftMs: call.dueMs - this.#clock.now() }
    this.#paused.set(call, pause)
    pause.questions++
    call.dueMs = Number.POSITIVE_INFINITY
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      if (--pause.questions > 0) return
      this.#paused.delete(call)
      call.dueMs = this.#clock.now() + pause.leftMs
      if (this.#pending.has(call)) this.#pending.add(call)
    }
  }

  /** Lets a call go that is done. */
  leave(call: Call): void {
    if (call.isDropped) return
    if (this.#pending.delete(call)) this.#count(call, -1)
    this.#free()
  }

  /** Answers a call whose time is over, whatever its handler still does. */
  expire(call: Call): void {
    if (call.isOver) return this.#drop(call)
    const option = call.tool?.timeoutMs === undefined ? "limits.handlerTimeoutMs" : "timeoutMs of the tool"
    const limitMs = call.tool?.timeoutMs ?? this.#limits.handlerTimeoutMs
    const reason = new DOMException(`the call took longer than ${limitMs} ms (${option})`, "TimeoutError")
    this.#giveUp(call, reason, overdue(call, limitMs, option))
  }

  /** Takes no more calls. Resolves once none is left. */
  drain(): Promise<void> {
    this.isClosing = true
    return this.#running === 0 ? Promise.resolve() : new Promise((resolve) => this.#onIdle.push(resolve))
  }

  /** Takes no more calls and gives up those that are left. Answers how many those were. */
  stop(reason: string): number {
    this.isClosing = true
    let given = 0
    for (const call of this.#pending.values()) {
      this.#pending.delete(call)
      if (call.isOver) this.#drop(call)
      else {
        this.#giveUp(call, new DOMException(reason, "AbortError"), cutOff(call.facts.id))
        given++
      }
    }
    this.#pending.clear()
    return given
  }

  #giveUp(call: Call, reason: DOMException, said: Answer): void {
    this.#drop(call)
    call.giveUp(reason, said)
    this.#onGivenUp(call, said)
  }

  /** Gives the place of a call away. */
  #drop(call: Call): void {
    call.isDropped = true
    this.#count(call, -1)
    this.#free()
  }

  #free(): void {
    if (--this.#running === 0) for (const resolve of this.#onIdle.splice(0)) resolve()
  }

  #count(call: Call, change: 1 | -1): void {
    const { principal } = call
    if (principal === undefined) return
    const key = keyOf(principal)
    const held = (this.#held.get(key) ?? 0) + change
    if (held === 0) this.#held.delete(key)
    else this.#held.set(key, held)
  }
}

function keyOf({ issuer, id }: Principal): string {
  return issuer === undefined ? id : `${issuer} ${id}`
}

/** The answer of a call that was aborted because the server went down: it may have done its work, so it says nothing of a retry. */
function cutOff(id: RequestId): Answer {
  const text = "The call was aborted: the server is shutting down"
  return refuse(fault(200, codes.internalError, "draining", text, id))
}

/** The refusal of what comes while the server goes down. */
export function draining(id?: RequestId): Answer {
  const text = "Server is shutting down: send the request again, to another instance or later"
  return refuse(fault(503, codes.internalError, "draining", text, id), { "Retry-After": "1" })
}
