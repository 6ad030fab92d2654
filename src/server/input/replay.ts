/**
 * Asking in the modern era: the call is answered with its questions, and the handler is entered again with the answers that the
 * sealed state holds.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { canonicalJson } from "../../core/feature/canonical.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"
import { type Asker, callEnded, handled, MAX_ROUNDS, type MakeQuestion, rejected } from "./asker.js"
import type { Claims } from "./claim.js"
import { createKeySequence } from "./key.js"
import type { Outcome } from "./outcome.js"
import { invalidAnswer, type Question } from "./question.js"
import { CallRecord, type RoundStart } from "./record.js"
import { digestText } from "./seal.js"
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
  readonly #record: CallRecord
  readonly #keys = createKeySequence()
  readonly #steps = new Map<string, Promise<Outcome>>()
  readonly #open = new Map<string, Open>()
  readonly #suspension = new Suspension()
  /** Questions that are being looked up, and steps that run. */
  #busy = 0
  #turn = 0
  /** Why the run is over, once it is. */
  #over: Error | undefined

  constructor(host: ReplayHost, claims: Claims, start: RoundStart) {
    this.#host = host
    this.#claims = claims
    this.#record = new CallRecord(start)
  }

  get suspended(): boolean {
    return this.#over === this.#suspension
  }

  get replaying(): boolean {
    return this.#record.isBehind
  }

  get responses(): Readonly<Record<string, JsonObject>> {
    return this.#record.responses
  }

  get kept(): JsonValue | undefined {
    return this.#record.kept
  }

  ask<T>(key: string | undefined, make: MakeQuestion<T>): Promise<T> {
    if (this.#over !== undefined) return rejected(this.#over)
    const isChosen = key !== undefined
    try {
      const wireKey = this.#keys.next(key)
      const question = make(() => this.#record.idOf(wireKey))
      if (this.#record.answer(wireKey, isChosen, "") === undefined) this.#keys.open(wireKey)
      return handled(this.#ask(wireKey, isChosen, question))
    } catch (error) {
      return rejected(error)
    }
  }

  async askByHand(makers: ReadonlyMap<string, MakeQuestion<unknown>>, kept: JsonValue | undefined): Promise<"over"> {
    const asked: Record<string, string> = {}
    const requests: Record<string, JsonObject> = {}
    for (const [key, make] of makers) {
      const question = make(() => this.#record.idOf(key))
      this.#host.require(question)
      requests[key] = requestOf(question)
      asked[key] = await digestOf(question)
      this.#record.forget(key)
    }
    await Promise.allSettled(this.#steps.values())
    if (this.#over === undefined) this.#suspend(requests, asked, kept)
    return "over"
  }

  once(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome> {
    const known = this.#steps.get(key)
    if (known !== undefined) return known
    const recorded = this.#record.outcome(key)
    if (recorded === undefined && this.#over !== undefined) return rejected(this.#over)
    const outcome = handled(recorded === undefined ? this.#run(key, step) : this.#repeat(key, recorded))
    this.#steps.set(key, outcome)
    return outcome
  }

  end(): void {
    this.#over ??= callEnded()
    this.#letGo()
  }

  async #ask<T>(wireKey: string, isChosen: boolean, question: Question<T>): Promise<T> {
    this.#busy++
    try {
      const digest = await digestOf(question)
      const recorded = this.#record.answer(wireKey, isChosen, digest)
      const accepted = recorded === undefined ? undefined : await this.#accept(wireKey, question, recorded, digest)
      if (accepted !== undefined) return accepted.value
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
      this.#record.keep(wireKey, recorded)
      return accepted
    }
    this.#record.forget(wireKey)
    if ("ok" in accepted) throw invalidAnswer(wireKey, accepted.issues)
    this.#keys.open(wireKey)
    return undefined
  }

  #wait(wireKey: string, digest: string, question: Question<unknown>): Promise<never> {
    this.#record.opened(wireKey)
    return new Promise<never>((_resolve, reject) => {
      this.#open.set(wireKey, { request: requestOf(question), digest, reject })
    })
  }

  async #run(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome> {
    this.#busy++
    this.#record.started()
    try {
      const claim = `once:${this.#record.flow}:${key}`
      const outcome = await this.#claims.run(claim, async () => step(await digestText(claim)))
      this.#record.finished(key, outcome)
      return outcome
    } finally {
      this.#leave()
    }
  }

  async #repeat(key: string, outcome: Outcome): Promise<Outcome> {
    await undefined
    this.#record.repeated(key)
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
    this.#finish({ requests, state: this.#record.toState(asked, kept) })
  }

  /** Ends the run where it would go on with another question's answer. */
  #diverge(key: string, { method }: Question<unknown>): Suspension {
    const problem = "a handler asked another question on replay than before: take what changes from ctx.once"
    this.#host.report(problem, { key, asks: method })
    if (this.#over === undefined) this.#finish(diverged())
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
}

/** Whether a call may be answered with one more round. */
export function mayAskAgain(state: RoundState | undefined): boolean {
  return (state?.round ?? 0) < MAX_ROUNDS
}

function diverged(): McpError {
  return new McpError("Internal error: the call asks differently than before", {
    kind: "protocol",
    reason: "replay_diverged",
    code: codes.internalError,
  })
}

function requestOf({ method, params }: Question<unknown>): JsonObject {
  return { method, params }
}

function digestOf(question: Question<unknown>): Promise<string> {
  return digestText(canonicalJson(requestOf(question)))
}
