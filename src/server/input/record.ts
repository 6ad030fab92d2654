/** What a call has come to over its rounds: answers, outcomes of steps, ids; what a run starts with, and what it leaves behind. */
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import type { Outcome } from "./outcome.js"
import { randomText } from "./seal.js"
import type { RecordedAnswer, RoundState } from "./state.js"

/** What a round starts with. */
export interface RoundStart {
  readonly state: RoundState | undefined
  /** The answers that came with the request. */
  readonly responses: JsonObject | undefined
}

/** The record of one call, in one run. */
export class CallRecord {
  readonly #start: RoundStart
  readonly #answers: Map<string, RecordedAnswer>
  readonly #outcomes: Map<string, Outcome>
  readonly #ids: Map<string, string>
  /** What earlier rounds came to and this run did not yet. */
  readonly #ahead: Set<string>
  #flow: string | undefined

  constructor(start: RoundStart) {
    const { state } = start
    this.#start = start
    this.#flow = state?.flow
    this.#answers = new Map(Object.entries(state?.answers ?? {}))
    this.#outcomes = new Map(Object.entries(state?.once ?? {}))
    this.#ids = new Map(Object.entries(state?.ids ?? {}))
    const asked = Object.keys(state?.asked ?? {})
    this.#ahead = new Set([
      ...[...this.#answers.keys(), ...asked].map(asQuestion),
      ...[...this.#outcomes.keys()].map(asStep),
    ])
    this.#takeResponses()
  }

  /** Names the call over all its rounds. Drawn when it is first needed. */
  get flow(): string {
    this.#flow ??= randomText(16)
    return this.#flow
  }

  /** What a handler that asks by hand kept for itself in the last round. */
  get kept(): JsonValue | undefined {
    return this.#start.state?.kept
  }

  /** Whether the run still repeats what earlier ones did. */
  get isBehind(): boolean {
    return this.#ahead.size > 0
  }

  /** The answers that have anything in them, by key, for who asks by hand. */
  get responses(): Readonly<Record<string, JsonObject>> {
    const { state, responses = {} } = this.#start
    const given = state === undefined ? Object.entries(responses) : [...this.#answers].map(toPair)
    const kept = new Map<string, JsonObject>()
    for (const [key, answer] of given) if (isJsonObject(answer) && Object.keys(answer).length > 0) kept.set(key, answer)
    return Object.fromEntries(kept)
  }

  /**
   * The recorded answer to a question. One whose key was chosen may also have come with the very first request; that one is
   * to the question of this `digest`, whatever it is.
   */
  answer(key: string, isChosen: boolean, digest: string): RecordedAnswer | undefined {
    const recorded = this.#answers.get(key)
    const { state, responses = {} } = this.#start
    if (recorded !== undefined || !isChosen || state !== undefined || !Object.hasOwn(responses, key)) return recorded
    const answer = responses[key]
    return answer === undefined ? undefined : { digest, answer: toAnswer(answer) }
  }

  /** Keeps an answer that fits its question. */
  keep(key: string, answer: RecordedAnswer): void {
    this.#answers.set(key, answer)
    this.#ahead.delete(asQuestion(key))
  }

  /** Forgets an answer: it does not fit, or the question is asked again. */
  forget(key: string): void {
    this.#answers.delete(key)
  }

  /** The outcome of a step that ran before. */
  outcome(key: string): Outcome | undefined {
    return this.#outcomes.get(key)
  }

  /** Says that the run took a recorded outcome. */
  repeated(key: string): void {
    this.#ahead.delete(asStep(key))
  }

  /** Says that a question is open. One that no round asked before is news. */
  opened(key: string): void {
    if (!Object.hasOwn(this.#start.state?.asked ?? {}, key)) this.#ahead.clear()
  }

  /** Says that a step runs that never ran before. */
  started(): void {
    this.#ahead.clear()
  }

  /** Keeps the outcome of a step. */
  finished(key: string, outcome: Outcome): void {
    this.#outcomes.set(key, outcome)
  }

  /** The id of a question that sends the user to a page: the same in every round. */
  idOf(key: string): string {
    const id = this.#ids.get(key) ?? randomText(16)
    this.#ids.set(key, id)
    return id
  }

  /** What the next round starts with. */
  toState(asked: Readonly<Record<string, string>>, kept: JsonValue | undefined): RoundState {
    return {
      flow: this.flow,
      round: (this.#start.state?.round ?? 0) + 1,
      asked,
      answers: Object.fromEntries(this.#answers),
      once: Object.fromEntries(this.#outcomes),
      ids: Object.fromEntries(this.#ids),
      kept,
    }
  }

  /** Records the answers to what the last round asked: a sealed answer wins, and keys that were not asked are ignored. */
  #takeResponses(): void {
    const { state, responses = {} } = this.#start
    for (const [key, digest] of Object.entries(state?.asked ?? {})) {
      const answer = Object.hasOwn(responses, key) ? responses[key] : undefined
      if (answer !== undefined && !this.#answers.has(key)) this.#answers.set(key, { digest, answer: toAnswer(answer) })
    }
  }
}

const asQuestion = (key: string): string => `? ${key}`
const asStep = (key: string): string => `! ${key}`
const toPair = ([key, { answer }]: [string, RecordedAnswer]): [string, JsonObject] => [key, answer]

/** An answer that is no object fits no question: it is kept as one without members, and refused by the question. */
function toAnswer(answer: JsonValue): JsonObject {
  return isJsonObject(answer) ? answer : {}
}
