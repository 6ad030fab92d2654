/** One request for several calls that ask the same at the same time. It ends when nobody waits for it any longer, and not before. */
import { McpError } from "../../core/error/error.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { Call, CallSettings } from "../call.js"

/** Asks for what a flight is about, in the name of a call of its own. */
export type Ask = (call: Call) => Promise<JsonObject>

interface Waiter {
  readonly resolve: (result: JsonObject | undefined) => void
  readonly reject: (error: unknown) => void
}

export class Flight {
  /** The moment before it was asked. */
  readonly sentAtMs: number
  readonly #call: Call
  readonly #waiting = new Set<Waiter>()
  /** The first that waits, whose questions are answered. */
  #first: Waiter | undefined
  readonly #onEnd: () => void

  /** `onEnd` is called once nobody can join any longer. */
  constructor(first: Call, sentAtMs: number, onEnd: () => void) {
    this.sentAtMs = sentAtMs
    this.#call = first.carrier()
    this.#onEnd = onEnd
  }

  /** Whether a call is one that this request can stand for: it waits as long, and has the same to say to handlers. */
  suits({ timeoutMs, maxTotalTimeoutMs, assigns }: CallSettings): boolean {
    const { settings } = this.#call
    return (
      settings.timeoutMs === timeoutMs &&
      settings.maxTotalTimeoutMs === maxTotalTimeoutMs &&
      settings.assigns === assigns
    )
  }

  /** Sends it for its first call. */
  start(first: Call, ask: Ask): Promise<JsonObject | undefined> {
    const waiting = this.join(first)
    this.#call.run(ask).then(
      (result) => this.#settle(result),
      (error: unknown) => {
        this.#onEnd()
        for (const { reject } of this.#take()) reject(error)
      },
    )
    return waiting
  }

  /** Waits for it; undefined when its result is for nobody but the first, whose questions it depends on. */
  join(call: Call): Promise<JsonObject | undefined> {
    return new Promise((resolve, reject) => {
      const waiter = { resolve, reject }
      this.#waiting.add(waiter)
      this.#first ??= waiter
      call.onEnd(() => {
        if (this.#waiting.delete(waiter) && this.#waiting.size === 0) this.#abandon()
      })
    })
  }

  /** Everybody gets a copy of their own, so that nobody can change what others have. */
  #settle(result: JsonObject): void {
    this.#onEnd()
    const { rounds } = this.#call
    for (const waiter of this.#take()) {
      if (waiter === this.#first) waiter.resolve(result)
      else waiter.resolve(rounds > 0 ? undefined : structuredClone(result))
    }
  }

  #take(): readonly Waiter[] {
    const waiting = [...this.#waiting]
    this.#waiting.clear()
    return waiting
  }

  #abandon(): void {
    this.#onEnd()
    this.#call.fail(new McpError("nobody waits for the answer any more", { kind: "cancelled", reason: "call_ended" }))
  }
}
