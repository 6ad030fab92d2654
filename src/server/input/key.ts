/** The keys of questions: which one on the wire is which one in the handler, over all runs of a call. */
import { misuse } from "../../core/error/error.js"

/** Hands out wire keys in the order of asking. */
export interface KeySequence {
  /** The wire key of the next question. `isOpen` is whether a question without a key of its own waits for its answer. */
  next(explicit: string | undefined): string
  /** Says that a question without a key of its own waits, or waits no more. */
  waits(key: string, waiting: boolean): void
}

/** Makes the sequence of one run. */
export function createKeySequence(): KeySequence {
  const used = new Map<string, number>()
  const waiting = new Set<string>()
  let asked = 0
  let turn: object | undefined
  let turnOfWaiting: object | undefined

  const thisTurn = (): object => {
    if (turn === undefined) {
      turn = {}
      queueMicrotask(() => {
        turn = undefined
      })
    }
    return turn
  }

  return {
    next(explicit) {
      if (explicit !== undefined) {
        const count = (used.get(explicit) ?? 0) + 1
        used.set(explicit, count)
        return count === 1 ? explicit : `${explicit}#${count}`
      }
      const now = thisTurn()
      if (waiting.size > 0 && turnOfWaiting !== now) {
        const text =
          'a second question was asked while one is open: give each a key, as in ctx.elicit(message, schema, { key: "date" })'
        throw misuse("ambiguous_question", text)
      }
      turnOfWaiting = now
      return `q${++asked}`
    },
    waits(key, isWaiting) {
      if (isWaiting) waiting.add(key)
      else waiting.delete(key)
    },
  }
}
