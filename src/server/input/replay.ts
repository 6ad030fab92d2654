/**
 * Asking in the modern era: the call is answered with its questions, and the handler is entered again with the answers that the
 * sealed state holds.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { canonicalJson } from "../../core/feature/canonical.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import { type Asker, callEnded, handled, MAX_ROUNDS, type MakeQuestion, rejected } from "./asker.js"
import type { Claims } from "./claim.js"
import { createKeySequence } from "./key.js"
import type { Outcome } from "./outcome.js"
import { invalidAnswer, type Question } from "./question.js"
import { digestText, randomText } from "./seal.js"
import type { RecordedAnswer, RoundState } from "./state.js"
import { Suspension } from "./suspension.js"

/** What the call does for its replay. */
export interface ReplayHost {
  /** Throws unless the client can be asked the question. */
  require(question: Question<unknown>): void
  /** Runs `task` in a later macrotask. */
  defer(task: () => void): void
  /** Ends the run, with the signal as the reason: the call is answered with its questions, or refused. */
  suspend(reason: Suspension, answer: RoundAnswer | McpError): void
  /** Called with what an operator should know. */
  report(problem: string, facts: Readonly<Record<string, unknown>>): void
}

/** The answer of a call that waits for its client. */
export interface RoundAnswer {
  readonly requests: JsonObject
  readonly state: RoundState
}

/** What a round starts with. */
export interface RoundStart {
  readonly state: RoundState | undefined
  /** The answers that came with the request. */
  readonly responses: JsonObject | undefined
}

/** A question that waits. */
interface Open {
  readonly request: JsonObject
  readonly digest: string
  readonly reject: (reason: unknown) => void
}

/** The {@link Asker} of one run. */
export class Replay implements Asker {
  readonly #host: ReplayHost
  readonly #claims: Claims
  readonly #start: RoundStart
  readonly #keys = createKeySequence()
  readonly #answers: Map<string, RecordedAnswer>
  readonly #once: Map<string, Outcome>
  readonly #ids: Map<string, string>
  readonly #steps = new Map<string, Promise<Outcome>>()
  readonly #open = new Map<string, Open>()
  /** What earlier rounds came to and this run did not yet. */
  readonly #ahead: Set<string>
  readonly #suspension = new Suspension()
  #flow: string | undefined
  /** Questions that are being looked up, and steps that run. */
  #busy = 0
  #turn = 0
  /** Why the run is over, once it is. */
  #over: Error | undefined

  constructor(host: ReplayHost, claims: Claims, start: RoundStart) {
    this.#host = host
    this.#claims = claims
    this.#start = start
    const { state } = start
    this.#flow = state?.flow
    this.#answers = new Map(Object.entries(state?.answers ?? {}))
    this.#once = new Map(Object.entries(state?.once ?? {}))
    this.#ids = new Map(Object.entries(state?.ids ?? {}))
    const asked = Object.keys(state?.asked ?? {})
    this.#ahead = new Set([...this.#answers.keys(), ...asked].map(asQuestion))
    for (const key of this.#once.keys()) this.#ahead.add(asStep(key))
    this.#recordResponses()
  }

  get suspended(): boolean {
    return this.#over === this.#suspension
  }

  get replaying(): boolean {
    return this.#ahead.size > 0
  }

  get responses(): Readonly<Record<string, JsonObject>> {
    const { state, responses = {} } = this.#start
    if (state === undefined) return withContent(Object.entries(responses))
    return withContent([...this.#answers].map(([key, { answer }]) => [key, answer]))
  }

  get kept(): JsonValue | undefined {
    return this.#start.state?.kept
  }

  ask<T>(key: string | undefined, make: MakeQuestion<T>): Promise<T> {
    if (this.#over !== undefined) return rejected(this.#over)
    try {
      const wireKey = this.#keys.next(key)
      const question = make(() => this.#idOf(wireKey))
      if (!this.#isAnswered(wireKey, key !== undefined)) this.#keys.open(wireKey)
      return handled(this.#ask(wireKey, key !== undefined, question))
    } catch (error) {
      return rejected(error)
    }
  }

  async askByHand(makers: ReadonlyMap<string, MakeQuestion<unknown>>, kept: JsonValue | undefined): Promise<"over"> {
    const asked: Record<string, string> = {}
    const requests: Record<string, JsonObject> = {}
    for (const [key, make] of makers) {
      const question = make(() => this.#idOf(key))
      this.#host.require(question)
      requests[key] = requestOf(question)
      asked[key] = await digestOf(question)
      this.#answers.delete(key)
    }
    if (this.#over === undefined) this.#suspend(requests, asked, kept)
    return "over"
  }

  once(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome> {
    const known = this.#steps.get(key)
    if (known !== undefined) return known
    const recorded = this.#once.get(key)
    if (recorded === undefined && this.#over !== undefined) return rejected(this.#over)
    const outcome = handled(recorded === undefined ? this.#run(key, step) : this.#repeat(key, recorded))
    this.#steps.set(key, outcome)
    return outcome
  }

  end(): void {
    this.#over ??= callEnded()
    this.#letGo()
  }

  async #ask<T>(wireKey: string, explicit: boolean, question: Question<T>): Promise<T> {
    this.#busy++
    try {
      const digest = await digestOf(question)
      const recorded = this.#answers.get(wireKey) ?? (explicit ? this.#unsolicited(wireKey, digest) : undefined)
      if (recorded !== undefined) {
        const accepted = await this.#accept(wireKey, question, recorded, digest)
        if (accepted !== undefined) return accepted.value
      }
      if (this.#over !== undefined) throw this.#over
      this.#host.require(question)
      return this.#wait(wireKey, digest, question)
    } finally {
      if (!this.#open.has(wireKey)) this.#keys.close(wireKey)
      this.#leave()
    }
  }

  /** The value of a recorded answer; undefined when the question is to be asked again. */
  async #accept<T>(
    wireKey: string,
    question: Question<T>,
    recorded: RecordedAnswer,
    digest: string,
  ): Promise<{ readonly value: T } | undefined> {
    if (recorded.digest !== digest) throw this.#diverge(wireKey, question)
    const accepted = await question.accept(recorded.answer)
    if ("ok" in accepted && accepted.ok) {
      this.#answers.set(wireKey, recorded)
      this.#ahead.delete(asQuestion(wireKey))
      return accepted
    }
    this.#answers.delete(wireKey)
    if ("ok" in accepted) throw invalidAnswer(wireKey, accepted.issues)
    this.#keys.open(wireKey)
    return undefined
  }

  #wait(wireKey: string, digest: string, question: Question<unknown>): Promise<never> {
    if (!Object.hasOwn(this.#start.state?.asked ?? {}, wireKey)) this.#ahead.clear()
    return new Promise<never>((_resolve, reject) => {
      this.#open.set(wireKey, { request: requestOf(question), digest, reject })
    })
  }

  async #run(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome> {
    this.#busy++
    this.#ahead.clear()
    try {
      const claim = `once:${this.#flowId()}:${key}`
      const outcome = await this.#claims.run(claim, async () => step(await digestText(claim)))
      this.#once.set(key, outcome)
      return outcome
    } finally {
      this.#leave()
    }
  }

  async #repeat(key: string, outcome: Outcome): Promise<Outcome> {
    await undefined
    this.#ahead.delete(asStep(key))
    return outcome
  }

  /** A round is sent one macrotask after its last question, and not while anything runs that it has to hold. */
  #leave(): void {
    this.#busy--
    if (this.#open.size === 0) return
    const turn = ++this.#turn
    this.#host.defer(() => {
      if (turn !== this.#turn || this.#busy > 0 || this.#over !== undefined || this.#open.size === 0) return
      const open = [...this.#open]
      const requests = Object.fromEntries(open.map(([key, { request }]) => [key, request]))
      this.#suspend(requests, Object.fromEntries(open.map(([key, { digest }]) => [key, digest])), this.kept)
    })
  }

  #suspend(requests: JsonObject, asked: Readonly<Record<string, string>>, kept: JsonValue | undefined): void {
    const state: RoundState = {
      flow: this.#flowId(),
      round: (this.#start.state?.round ?? 0) + 1,
      asked,
      answers: Object.fromEntries(this.#answers),
      once: Object.fromEntries(this.#once),
      ids: Object.fromEntries(this.#ids),
      kept,
    }
    this.#finish({ requests, state })
  }

  #diverge(key: string, { method }: Question<unknown>): Suspension {
    const problem = "a handler asked another question on replay than before: take what changes from ctx.once"
    this.#host.report(problem, { key, asks: method })
    const refusal = new McpError("Internal error: the call asks differently than before", {
      kind: "protocol",
      reason: "replay_diverged",
      code: codes.internalError,
    })
    if (this.#over === undefined) this.#finish(refusal)
    return this.#suspension
  }

  #finish(answer: RoundAnswer | McpError): void {
    this.#over = this.#suspension
    this.#host.suspend(this.#suspension, answer)
    this.#letGo()
  }

  #letGo(): void {
    for (const { reject } of this.#open.values()) reject(this.#over)
    this.#open.clear()
  }

  #flowId(): string {
    this.#flow ??= randomText(16)
    return this.#flow
  }

  #idOf(wireKey: string): string {
    const id = this.#ids.get(wireKey) ?? randomText(16)
    this.#ids.set(wireKey, id)
    return id
  }

  /** Answers to what the last round asked are recorded; a sealed answer wins, and keys that were not asked are ignored. */
  #recordResponses(): void {
    const { state, responses } = this.#start
    if (state === undefined || responses === undefined) return
    for (const [key, digest] of Object.entries(state.asked)) {
      const answer = Object.hasOwn(responses, key) ? responses[key] : undefined
      if (answer === undefined || this.#answers.has(key)) continue
      this.#answers.set(key, { digest, answer: toAnswer(answer) })
    }
  }

  /** Whether there is an answer, of whatever worth. */
  #isAnswered(wireKey: string, explicit: boolean): boolean {
    return this.#answers.has(wireKey) || (explicit && this.#unsolicited(wireKey, "") !== undefined)
  }

  /** An answer that came with the first request, for a question whose key is known beforehand. */
  #unsolicited(wireKey: string, digest: string): RecordedAnswer | undefined {
    const { state, responses } = this.#start
    if (state !== undefined || responses === undefined || !Object.hasOwn(responses, wireKey)) return undefined
    const answer = responses[wireKey]
    return answer === undefined ? undefined : { digest, answer: toAnswer(answer) }
  }
}

/** Whether a call may be answered with one more round. */
export function mayAskAgain(state: RoundState | undefined): boolean {
  return (state?.round ?? 0) < MAX_ROUNDS
}

const asQuestion = (key: string): string => `? ${key}`
const asStep = (key: string): string => `! ${key}`

function requestOf({ method, params }: Question<unknown>): JsonObject {
  return { method, params }
}

function digestOf(question: Question<unknown>): Promise<string> {
  return digestText(canonicalJson(requestOf(question)))
}

/** The answers that have anything in them: others count as missing to who asks by hand. */
function withContent(
  answers: readonly (readonly [string, JsonValue | undefined])[],
): Readonly<Record<string, JsonObject>> {
  const kept = new Map<string, JsonObject>()
  for (const [key, answer] of answers) if (isJsonObject(answer) && Object.keys(answer).length > 0) kept.set(key, answer)
  return Object.fromEntries(kept)
}

/** An answer that is no object fits no question: it is kept as one without members, and refused by the question. */
function toAnswer(answer: JsonValue): JsonObject {
  return isJsonObject(answer) ? answer : {}
}
