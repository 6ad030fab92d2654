/** What the two ways of asking have in common: a question in, a value out, and steps that run once. */
import type { Outcome } from "./outcome.js"
import type { Question } from "./question.js"

/** How a call asks its client. */
export interface Asker {
  /** Whether this run is over because the client was asked. */
  readonly suspended: boolean
  /** Whether the run still repeats what an earlier one did. */
  readonly replaying: boolean
  /** Asks, or answers with what was answered before. */
  ask<T>(key: string | undefined, question: Question<T>): Promise<T>
  /** The id of a question that sends the user to a URL: the same in every round. */
  mint(): string
  /** Runs a step once per call, whatever the number of rounds. */
  once(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome>
  /** Says that the call has its final answer: open questions are let go. */
  end(): void
}
