/** What the two ways of asking have in common: a question in, a value out, and steps that run once. */
import { McpError } from "../../core/error/error.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"
import type { Outcome } from "./outcome.js"
import type { Question } from "./question.js"

/** Makes a question. `id` gives an id that is the same in every round, for a question that sends the user to a page. */
export type MakeQuestion<T> = (id: () => string) => Question<T>

/** How a call asks its client. */
export interface Asker {
  /** Whether this run is over because the client was asked. */
  readonly suspended: boolean
  /** Whether the run still repeats what an earlier one did. */
  readonly replaying: boolean
  /** The answers of the earlier rounds, for handlers that ask by hand. */
  readonly responses: Readonly<Record<string, JsonObject>>
  /** What a handler that asks by hand kept for itself in the last round. */
  readonly kept: JsonValue | undefined
  /** Asks, or answers with what was answered before. */
  ask<T>(key: string | undefined, make: MakeQuestion<T>): Promise<T>
  /**
   * Asks what a handler returned as its questions. Resolves to `again` when the handler is to be entered again with the
   * answers, and to `over` when this run is over.
   */
  askByHand(make: ReadonlyMap<string, MakeQuestion<unknown>>, kept: JsonValue | undefined): Promise<"again" | "over">
  /** Runs a step once per call, whatever the number of rounds. */
  once(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome>
  /** Says that the call has its final answer: open questions are let go. */
  end(): void
}

/** How many rounds a call may have. */
export const MAX_ROUNDS = 32

/** A promise whose rejection harms nobody when it is not awaited. */
export function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

/** A rejected promise that harms nobody. */
export function rejected(reason: unknown): Promise<never> {
  return handled(Promise.reject<never>(reason))
}

/** Why a question is let go that nobody waits for any more. */
export function callEnded(): McpError {
  return new McpError("the call ended before the client answered", { kind: "cancelled", reason: "call_ended" })
}
