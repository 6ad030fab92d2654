/**
 * Asking in the legacy era: a request on the call's own stream, and its response. The handler waits where it stands.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { ToolError } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"
import { request } from "../../core/wire/build.js"
import type { ErrorMessage, JsonObject, JsonValue, RequestId, ResultMessage } from "../../core/wire/message.js"
import type { Clock } from "../../store/port.js"
import { type Asker, callEnded, handled, MAX_ROUNDS, type MakeQuestion, rejected } from "./asker.js"
import { createKeySequence } from "./key.js"
import type { Outbox } from "./outbox.js"
import type { Outcome } from "./outcome.js"
import { invalidAnswer, type Question } from "./question.js"
import { digestText, randomText } from "./seal.js"

/** What the call does for its questions. */
export interface PushHost {
  /** Undefined where the client cannot be reached; `require` says so then. */
  readonly outbox: Outbox | undefined
  readonly clock: Clock
  /** How long a question waits for its answer. */
  readonly timeoutMs: number
  /** Stops the clock of the call; what comes back starts it again. */
  pause(): () => void
  /** Throws unless the client can be asked the question. */
  require(question: Question<unknown>): void
  send(frame: string): void
  /** Tells that a question is on its way. */
  asked(question: Question<unknown>): void
  /** Tells that a response came. */
  answered(): void
  /** Remembers a question that sends the user to a URL. Answers the function that says that the call ended. */
  track(id: string): () => void
  /** Resolves once what `id` names is finished, or it is time to look again. */
  untilCompleted(id: string): Promise<void>
}

/** A question that was answered. */
interface Answered {
  /** What was asked, as JSON text. */
  readonly asked: string
  readonly answer: JsonObject
}

/** A question that waits, and the function that lets it go. */
interface Open {
  over: boolean
  letGo(reason: unknown): void
}

/** The {@link Asker} of one call. */
export class Push implements Asker {
  readonly suspended = false
  readonly replaying = false
  readonly #host: PushHost
  readonly #flow = randomText(16)
  #keys = createKeySequence()
  readonly #steps = new Map<string, Promise<Outcome>>()
  readonly #open = new Set<Open>()
  readonly #tracked: (() => void)[] = []
  /** By wire key; a handler that is entered again is given them. */
  readonly #answers = new Map<string, Answered>()
  readonly #ids = new Map<string, string>()
  #kept: JsonValue | undefined
  #rounds = 0
  #ended = false

  constructor(host: PushHost) {
    this.#host = host
  }

  get responses(): Readonly<Record<string, JsonObject>> {
    return Object.fromEntries([...this.#answers].map(([key, { answer }]) => [key, answer]))
  }

  get kept(): JsonValue | undefined {
    return this.#kept
  }

  ask<T>(key: string | undefined, make: MakeQuestion<T>): Promise<T> {
    try {
      const wireKey = this.#keys.next(key)
      const question = make(() => this.#idOf(wireKey))
      const keys = this.#keys
      keys.open(wireKey)
      return handled(this.#ask(wireKey, question).finally(() => keys.close(wireKey)))
    } catch (error) {
      return rejected(error)
    }
  }

  async askByHand(makers: ReadonlyMap<string, MakeQuestion<unknown>>, kept: JsonValue | undefined): Promise<"again"> {
    if (++this.#rounds > MAX_ROUNDS) throw new ToolError("the call has had too many rounds")
    const questions = [...makers].map(([key, make]) => [key, make(() => this.#idOf(key))] as const)
    for (const [key, question] of questions) {
      this.#host.require(question)
      this.#answers.delete(key)
    }
    await Promise.all(questions.map(([key, question]) => this.#ask(key, question)))
    this.#kept = kept
    this.#keys = createKeySequence()
    return "again"
  }

  once(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome> {
    const known = this.#steps.get(key)
    if (known !== undefined) return known
    const running = digestText(`once:${this.#flow}:${key}`).then(step)
    this.#steps.set(key, running)
    return running
  }

  end(): void {
    this.#ended = true
    for (const { letGo } of [...this.#open]) letGo(callEnded())
    for (const callOver of this.#tracked.splice(0)) callOver()
  }

  /** Asks, and lets go of the question when the call ends or its time is over. */
  async #ask<T>(wireKey: string, question: Question<T>): Promise<T> {
    this.#host.require(question)
    if (this.#ended) throw callEnded()
    const known = this.#answers.get(wireKey)
    const accepted = known?.asked === textOf(question) ? await question.accept(known.answer) : undefined
    if (accepted !== undefined && "ok" in accepted && accepted.ok) return accepted.value
    return this.#wait(wireKey, question)
  }

  #wait<T>(wireKey: string, question: Question<T>): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      const open: Open = { over: false, letGo: (reason) => close(() => reject(reason)) }
      const id = this.#send(question, (response) => {
        this.#settle(wireKey, question, response, open).then(
          (value) => close(() => resolve(value)),
          (error: unknown) => close(() => reject(error)),
        )
      })
      const { clock, timeoutMs } = this.#host
      const cancel = clock.after(timeoutMs, () => open.letGo(unanswered(question, timeoutMs)))
      const resume = this.#host.pause()
      const close = (settle: () => void): void => {
        cancel()
        resume()
        this.#host.outbox?.forget(id)
        this.#open.delete(open)
        open.over = true
        settle()
      }
      this.#open.add(open)
    })
  }

  #idOf(wireKey: string): string {
    const id = this.#ids.get(wireKey) ?? randomText(16)
    this.#ids.set(wireKey, id)
    return id
  }

  #send(question: Question<unknown>, settle: (response: ResultMessage | ErrorMessage) => void): RequestId {
    const { method, params } = question
    const { outbox } = this.#host
    if (outbox === undefined) throw callEnded()
    const { elicitationId } = params
    if (typeof elicitationId === "string") this.#tracked.push(this.#host.track(elicitationId))
    const id = outbox.register(settle)
    this.#host.asked(question)
    this.#host.send(JSON.stringify(request(id, method, params)))
    return id
  }

  async #settle<T>(
    wireKey: string,
    question: Question<T>,
    response: ResultMessage | ErrorMessage,
    open: Open,
  ): Promise<T> {
    this.#host.answered()
    if (response.kind === "error") throw refusedByClient(question, response)
    for (;;) {
      const accepted = await question.accept(response.result)
      if ("ok" in accepted) {
        if (accepted.ok) {
          this.#answers.set(wireKey, { asked: textOf(question), answer: response.result })
          return accepted.value
        }
        throw invalidAnswer(wireKey, accepted.issues)
      }
      if (open.over) throw callEnded()
      await this.#host.untilCompleted(String(question.params["elicitationId"]))
      if (open.over) throw callEnded()
    }
  }
}

function textOf({ method, params }: Question<unknown>): string {
  return JSON.stringify([method, params])
}

function refusedByClient({ method }: Question<unknown>, { error }: ErrorMessage): ToolError {
  return new ToolError(`the client refused ${method}: ${clampText(error.message)} (${error.code})`)
}

function unanswered({ method }: Question<unknown>, timeoutMs: number): ToolError {
  return new ToolError(`the client did not answer ${method} within ${Math.round(timeoutMs / 1000)} s`)
}
