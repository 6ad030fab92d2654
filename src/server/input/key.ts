/** The keys of questions: which one on the wire is which one in the handler, over all runs of a call. */
import { misuse } from "../../core/error/error.js"

/** Hands out wire keys in the order of asking. */
export interface KeySequence {
  /**
   * The wire key of the next question.
   *
   * @throws `McpError` of kind `misuse` for a question without a key of its own while one of an earlier turn is open: in the
   * next run it could come before it.
   */
  next(explicit: string | undefined): string
  /** Says that a question waits for its answer. */
  open(key: string): void
  /** Says that it waits no more. */
  close(key: string): void
}

/** Makes the sequence of one run. */
export function createKeySequence(): KeySequence {
  const taken = new Set<string>()
  const open = new Map<string, object>()
  let asked = 0
  let turn: object | undefined

  const thisTurn = (): object => {
    if (turn === undefined) {
      turn = {}
      queueMicrotask(() => {
        turn = undefined
      })
    }
    return turn
  }

  const take = (name: (count: number) => string, from: number): number => {
    let count = from
    while (taken.has(name(count))) count++
    taken.add(name(count))
    return count
  }

  return {
    next(explicit) {
      if (explicit !== undefined) {
        checkKey(explicit)
        const name = (count: number): string => (count === 1 ? explicit : `${explicit}#${count}`)
        return name(take(name, 1))
      }
      const now = thisTurn()
      if ([...open.values()].some((opened) => opened !== now)) {
        const example = 'ctx.elicit(message, schema, { key: "date" })'
        const text = `a second question was asked while one is open: give each a key, as in ${example}`
        throw misuse("ambiguous_question", text)
      }
      const name = (count: number): string => `q${count}`
      asked = take(name, asked + 1)
      return name(asked)
    },
    open: (key) => void open.set(key, thisTurn()),
    close: (key) => void open.delete(key),
  }
}

/** Checks a key that somebody chose. */
export function checkKey(key: unknown): void {
  if (typeof key !== "string" || key === "" || key === "__proto__") {
    throw misuse("invalid_option", "the key of a question is a text that is not empty, and not __proto__")
  }
}
