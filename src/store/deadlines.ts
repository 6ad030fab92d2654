/** Many deadlines on one task of a clock, so that nothing that has one owns a timer or a closure. */
import type { Clock } from "./port.js"

/**
 * Something that has to be over by a moment. It is a link of the chain that holds it, so that to be held costs a few writes and
 * nothing that is made.
 */
export abstract class Due {
  /** When that is, by the clock. It may move; infinite while there is no hurry. */
  dueMs = Number.POSITIVE_INFINITY
  /** What holds it. */
  holder: object | undefined
  before: this | undefined
  behind: this | undefined

  /** Called once the moment has come, by when it is forgotten. */
  abstract expire(): void
}

/** What has deadlines at the moment. */
export interface Deadlines<T extends Due = Due> {
  readonly size: number
  /** Takes one up; again when its moment came nearer. */
  add(due: T): void
  /** Lets one go; answers whether it was there. */
  delete(due: T): boolean
  has(due: T): boolean
  /** All of them, as they are now. */
  values(): readonly T[]
  /** Lets all go. */
  clear(): void
}

/** Makes {@link Deadlines} on a clock. */
export function createDeadlines<T extends Due>(clock: Clock): Deadlines<T> {
  return clock.isBound === true ? new ApartDeadlines(clock) : new SharedDeadlines(clock)
}

/** How far apart looks are at most, so that no task waits for long when there is nothing left to look at. */
const LOOK_MS = 1_000

/** One task for all of them, which looks at them when the first may be due. */
class SharedDeadlines<T extends Due> implements Deadlines<T> {
  readonly #clock: Clock
  #first: T | undefined
  #last: T | undefined
  #size = 0
  #wakesAtMs = Number.POSITIVE_INFINITY
  #stop: (() => void) | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#size
  }

  add(due: T): void {
    if (due.holder !== this) this.#append(due)
    if (due.dueMs < this.#wakesAtMs) this.#wakeAt(due.dueMs)
  }

  delete(due: T): boolean {
    if (due.holder !== this) return false
    const { before, behind } = due
    if (before === undefined) this.#first = behind
    else before.behind = behind
    if (behind === undefined) this.#last = before
    else behind.before = before
    due.holder = undefined
    due.before = undefined
    due.behind = undefined
    this.#size--
    return true
  }

  has(due: T): boolean {
    return due.holder === this
  }

  values(): readonly T[] {
    const all: T[] = []
    for (let due = this.#first; due !== undefined; due = due.behind) all.push(due)
    return all
  }

  clear(): void {
    for (const due of this.values()) this.delete(due)
    this.#stop?.()
    this.#wakesAtMs = Number.POSITIVE_INFINITY
  }

  #append(due: T): void {
    due.holder = this
    due.before = this.#last
    if (this.#last === undefined) this.#first = due
    else this.#last.behind = due
    this.#last = due
    this.#size++
  }

  #wakeAt(dueMs: number): void {
    const nowMs = this.#clock.now()
    this.#stop?.()
    this.#wakesAtMs = Math.min(dueMs, nowMs + LOOK_MS)
    this.#stop = this.#clock.after(this.#wakesAtMs - nowMs, () => this.#look())
  }

  #look(): void {
    const nowMs = this.#clock.now()
    let nextMs = Number.POSITIVE_INFINITY
    this.#wakesAtMs = Number.POSITIVE_INFINITY
    for (const due of this.values()) {
      if (due.holder !== this) continue
      if (due.dueMs > nowMs) nextMs = Math.min(nextMs, due.dueMs)
      else {
        this.delete(due)
        due.expire()
      }
    }
    if (nextMs < this.#wakesAtMs) this.#wakeAt(nextMs)
  }
}

/** A task for each, for clocks whose tasks are lost with the request that asked for them. */
class ApartDeadlines<T extends Due> implements Deadlines<T> {
  readonly #clock: Clock
  readonly #held = new Map<T, (() => void) | undefined>()

  constructor(clock: Clock) {
    this.#clock = clock
  }

  get size(): number {
    return this.#held.size
  }

  add(due: T): void {
    this.#held.get(due)?.()
    const delayMs = due.dueMs - this.#clock.now()
    const wake = (): void => {
      if (this.#held.delete(due)) due.expire()
    }
    this.#held.set(due, delayMs > LONGEST_MS ? undefined : this.#clock.after(delayMs, wake))
  }

  delete(due: T): boolean {
    this.#held.get(due)?.()
    return this.#held.delete(due)
  }

  has(due: T): boolean {
    return this.#held.has(due)
  }

  values(): readonly T[] {
    return [...this.#held.keys()]
  }

  clear(): void {
    for (const stop of this.#held.values()) stop?.()
    this.#held.clear()
  }
}

/** The longest time that a timer of the platform can wait for: a longer one would go off at once. */
const LONGEST_MS = 2 ** 31 - 1
