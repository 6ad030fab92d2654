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
import type { Asker } from "./asker.js"
import { createKeySequence } from "./key.js"
import type { Claims, Outcome } from "./outcome.js"
import { invalidAnswer, type Question } from "./question.js"
import { digestText, randomText } from "./seal.js"
import type { RecordedAnswer, RoundState } from "./state.js"
import { Suspension } from "./suspension.js"

/** How many rounds a call may have. */
const MAX_ROUNDS = 32

/** What the call does for its replay. */
export interface ReplayHost {
  /** Throws unless the client declared the question's capability. */
  require(question: Question<unknown>): void
  /** Runs `task` in a later macrotask. */
  defer(task: () => void): void
  /** Says that the run is over, with the signal as the reason. */
  onSuspend(reason: Suspension): void
  /** Answers the call with its open questions. */
  answer(requests: JsonObject, state: RoundState): Promise<void>
  /** Called with what an operator should know. */
  report(problem: string, facts: Readonly<Record<string, unknown>>): void
}

/** What a round starts with. */
export interface RoundStart {
  readonly state: RoundState | undefined
  /** The answers that came with the request. */
  readonly responses: JsonObject | undefined
}

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
  readonly #steps = new Map<string, Promise<Outcome>>()
  readonly #open = new Map<string, Open>()
  /** What earlier rounds recorded and this run has not come to yet. */
  readonly #unread: Set<string>
  readonly #suspension = new Suspension()
  #flow: string | undefined
  #minted = 0
  #running = 0
  #turn = 0
  #dead = false

  constructor(host: ReplayHost, claims: Claims, start: RoundStart) {
    this.#host = host
    this.#claims = claims
    this.#start = start
    const { state } = start
    this.#flow = state?.flow
    this.#answers = new Map(Object.entries(state?.answers ?? {}))
    this.#once = new Map(Object.entries(state?.once ?? {}))
    this.#unread = new Set([...this.#answers.keys(), ...this.#once.keys()])
    this.#recordResponses()
  }

  get suspended(): boolean {
    return this.#dead
  }

  get replaying(): boolean {
    return this.#unread.size > 0
  }

  ask<T>(key: string | undefined, question: Question<T>): Promise<T> {
    if (this.#dead) return rejected(this.#suspension)
    let wireKey: string
    try {
      wireKey = this.#keys.next(key)
    } catch (error) {
      return rejected(error)
    }
    return handled(this.#ask(wireKey, key !== undefined, question))
  }

  mint(): string {
    const name = `id#${++this.#minted}`
    const known = this.#once.get(name)
    this.#unread.delete(name)
    if (typeof known?.value === "string") return known.value
    const id = randomText(16)
    this.#once.set(name, { value: id })
    return id
  }

  once(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome> {
    const known = this.#steps.get(key)
    if (known !== undefined) return known
    const recorded = this.#once.get(key)
    this.#unread.delete(key)
    if (recorded !== undefined) return Promise.resolve(recorded)
    if (this.#dead) return rejected(this.#suspension)
    const running = handled(this.#runOnce(key, step))
    this.#steps.set(key, running)
    return running
  }

  end(): void {
    this.#dead = true
    this.#letGo()
  }

  async #ask<T>(wireKey: string, explicit: boolean, question: Question<T>): Promise<T> {
    const digest = await digestText(canonicalJson({ method: question.method, params: question.params }))
    this.#unread.delete(wireKey)
    const recorded = this.#answers.get(wireKey) ?? (explicit ? this.#unsolicited(wireKey, digest) : undefined)
    if (recorded !== undefined) {
      if (recorded.digest !== digest) throw this.#diverged(wireKey, question)
      const accepted = await question.accept(recorded.answer)
      if ("ok" in accepted) {
        if (!accepted.ok) throw toWire(invalidAnswer(wireKey, accepted.issues))
        this.#answers.set(wireKey, recorded)
        return accepted.value
      }
      this.#answers.delete(wireKey)
    }
    if (this.#dead) throw this.#suspension
    this.#host.require(question)
    return this.#wait(wireKey, explicit, digest, { method: question.method, params: question.params })
  }

  #wait(wireKey: string, explicit: boolean, digest: string, request: JsonObject): Promise<never> {
    if (!explicit) this.#keys.waits(wireKey, true)
    return new Promise<never>((_resolve, reject) => {
      this.#open.set(wireKey, { request, digest, reject })
      this.#schedule()
    })
  }

  /** A round is sent one macrotask after its last question, and not while a step runs. */
  #schedule(): void {
    const turn = ++this.#turn
    this.#host.defer(() => {
      if (turn === this.#turn && this.#running === 0 && !this.#dead && this.#open.size > 0) this.#suspend()
    })
  }

  #suspend(): void {
    this.#dead = true
    const round = (this.#start.state?.round ?? 0) + 1
    const requests = Object.fromEntries([...this.#open].map(([key, { request }]) => [key, request]))
    const asked = Object.fromEntries([...this.#open].map(([key, { digest }]) => [key, digest]))
    const state: RoundState = {
      flow: this.#flowId(),
      round,
      asked,
      answers: Object.fromEntries(this.#answers),
      once: Object.fromEntries(this.#once),
      user: undefined,
    }
    this.#host.onSuspend(this.#suspension)
    void this.#host.answer(requests, state)
    this.#letGo()
  }

  #letGo(): void {
    for (const { reject } of this.#open.values()) reject(this.#suspension)
    this.#open.clear()
  }

  async #runOnce(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome> {
    this.#running++
    try {
      const flow = this.#flowId()
      const claim = `once:${flow}:${key}`
      const outcome = await this.#claims.run(claim, async () => step(await digestText(claim)))
      this.#once.set(key, outcome)
      return outcome
    } finally {
      this.#running--
      if (this.#open.size > 0) this.#schedule()
    }
  }

  #flowId(): string {
    this.#flow ??= randomText(16)
    return this.#flow
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

  /** An answer that came with the first request, for a question whose key is known beforehand. */
  #unsolicited(wireKey: string, digest: string): RecordedAnswer | undefined {
    const { state, responses } = this.#start
    if (state !== undefined || responses === undefined || !Object.hasOwn(responses, wireKey)) return undefined
    const answer = responses[wireKey]
    return answer === undefined ? undefined : { digest, answer: toAnswer(answer) }
  }

  #diverged(wireKey: string, question: Question<unknown>): McpError {
    this.#host.report("a handler asked another question on replay than before; what changes belongs into ctx.once", {
      key: wireKey,
      method: question.method,
    })
    return new McpError("Internal error: the call asks differently than before", {
      kind: "protocol",
      reason: "replay_diverged",
      code: codes.internalError,
    })
  }
}

/** Whether a call may be answered with one more round. */
export function mayAskAgain(state: RoundState | undefined): boolean {
  return (state?.round ?? 0) < MAX_ROUNDS
}

/** An answer that is no object fits no question: it is kept as one without members, and refused by the question. */
function toAnswer(answer: JsonValue): JsonObject {
  return isJsonObject(answer) ? answer : {}
}

/** An invalid answer as an error of the protocol: nothing was recorded, and the same state may be sent again. */
function toWire(error: McpError): McpError {
  return new McpError(`Invalid params: ${error.message}`, {
    kind: "protocol",
    reason: error.reason,
    code: codes.invalidParams,
    ...(error.data === undefined ? {} : { data: error.data }),
  })
}

function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}

function rejected(reason: unknown): Promise<never> {
  return handled(Promise.reject<never>(reason))
}
