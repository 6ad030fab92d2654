/** What a handler can ask and keep while it runs, the same on every wire: the public half of the call's context. */
import { misuse } from "../../core/error/error.js"
import type { Elicited, ElicitedUrl } from "../../core/model/elicitation.js"
import type { Root, SamplingRequest, SamplingResult } from "../../core/model/sampling.js"
import type { Revision } from "../../core/revision/revision.js"
import type { OutputOf, Schema } from "../../core/schema/standard.js"
import type { Asker } from "./asker.js"
import { errorOutcome, takeOutcome, valueOutcome } from "./outcome.js"
import { formQuestion, type Question, rootsQuestion, samplingQuestion, urlQuestion } from "./question.js"

/** What JSON gives back of a value. */
export type Jsonify<T> = T extends string | number | boolean | null | undefined
  ? T
  : T extends { toJSON(): infer Written }
    ? Jsonify<Written>
    : T extends (...args: never) => unknown
      ? never
      : T extends object
        ? { [Key in keyof T]: Jsonify<T[Key]> }
        : never

/** How a question is told apart from the others of its call. */
export interface AskOptions {
  /** Its key on the wire. Default `q1`, `q2`, … in order of asking; needed when questions are asked while others are open. */
  readonly key?: string
}

/** Options of `ctx.elicitUrl`. */
export interface ElicitUrlOptions extends AskOptions {
  /** Says whether what happens at the URL has happened. An accepted question that is not done is asked again, or waited for. */
  readonly done?: () => boolean | Promise<boolean>
}

/** What `ctx.once` gives its function. */
export interface OnceContext {
  /** The same in every run of this step: for the system that performs the effect, so that it can tell a repetition. */
  readonly idempotencyKey: string
}

/** Asking the client, and keeping what must not be done twice. */
export interface Input {
  /** Whether this run is over because the client was asked; the handler is entered again with the answers. */
  readonly suspended: boolean
  /**
   * Asks the user to fill in a form.
   *
   * @throws a suspension that has to be let through `catch`, `McpError` of kind `validation` for an answer that does not fit,
   * `misuse` for a schema that no form can show.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation
   */
  elicit<S extends Schema>(message: string, schema: S, options?: AskOptions): Promise<Elicited<OutputOf<S>>>
  /** Sends the user to a URL, which is made for an id that is the same in every round. */
  elicitUrl(message: string, url: (id: string) => string, options?: ElicitUrlOptions): Promise<ElicitedUrl>
  /** Asks the client's model for a completion. */
  sample(request: SamplingRequest, options?: AskOptions): Promise<SamplingResult>
  /** Asks for the client's roots. */
  roots(options?: AskOptions): Promise<readonly Root[]>
  /**
   * Runs `step` once over all rounds of the call and keeps what it gave, as JSON. What it threw is kept too. `step` must not
   * ask questions.
   */
  once<T>(key: string, step: (once: OnceContext) => T | Promise<T>): Promise<Jsonify<T>>
  /** Runs `free` when the call ends, and in no earlier round. A user may never answer, so what is held needs its own expiry. */
  onEnd(free: () => unknown): void
}

/** {@link Input} over one of the two ways of asking. */
export class CallInput implements Input {
  readonly #asker: Asker
  readonly #revision: Revision
  readonly #frees: (() => unknown)[] = []

  constructor(asker: Asker, revision: Revision) {
    this.#asker = asker
    this.#revision = revision
  }

  get suspended(): boolean {
    return this.#asker.suspended
  }

  get replaying(): boolean {
    return this.#asker.replaying
  }

  /** Takes what is to be freed now that the call ends, last made first. */
  takeFrees(): readonly (() => unknown)[] {
    return this.#frees.splice(0).reverse()
  }

  elicit<S extends Schema>(message: string, schema: S, options: AskOptions = {}): Promise<Elicited<OutputOf<S>>> {
    return this.#ask(options, () => formQuestion(this.#revision, message, schema))
  }

  elicitUrl(message: string, url: (id: string) => string, options: ElicitUrlOptions = {}): Promise<ElicitedUrl> {
    return this.#ask(options, () => {
      const id = this.#asker.mint()
      return urlQuestion(this.#revision, message, url(id), id, options.done)
    })
  }

  sample(request: SamplingRequest, options: AskOptions = {}): Promise<SamplingResult> {
    return this.#ask(options, () => samplingQuestion(this.#revision, request))
  }

  roots(options: AskOptions = {}): Promise<readonly Root[]> {
    return this.#ask(options, rootsQuestion)
  }

  once<T>(key: string, step: (once: OnceContext) => T | Promise<T>): Promise<Jsonify<T>> {
    return handled(this.#once(key, step))
  }

  onEnd(free: () => unknown): void {
    this.#frees.push(free)
  }

  /** Says that the call has its final answer. */
  end(): void {
    this.#asker.end()
  }

  /** Asks in this very turn, so that questions asked together are asked together. */
  #ask<T>(options: AskOptions, make: () => Question<T>): Promise<T> {
    try {
      return handled(this.#asker.ask(options.key, make()))
    } catch (error) {
      return handled(Promise.reject<T>(error))
    }
  }

  async #once<T>(key: string, step: (once: OnceContext) => T | Promise<T>): Promise<Jsonify<T>> {
    if (typeof key !== "string" || key === "") throw misuse("invalid_option", "ctx.once needs a key that is not empty")
    let thrown: { readonly error: unknown } | undefined
    const outcome = await this.#asker.once(key, async (idempotencyKey) => {
      try {
        return valueOutcome(await step({ idempotencyKey }))
      } catch (error) {
        thrown = { error }
        return errorOutcome(error)
      }
    })
    if (thrown !== undefined) throw thrown.error
    return takeOutcome(outcome) as Jsonify<T>
  }
}

/** Every promise that a context hands out has a handler already: a question that nobody awaits harms nobody. */
function handled<T>(promise: Promise<T>): Promise<T> {
  promise.catch(() => {})
  return promise
}
