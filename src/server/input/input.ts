/** What a handler can ask and keep while it runs, the same on every wire: the public half of the call's context. */
import { misuse } from "../../core/error/error.js"
import type { Elicited, ElicitedUrl } from "../../core/model/elicitation.js"
import type { Root, SamplingRequest, SamplingResult } from "../../core/model/sampling.js"
import type { Revision } from "../../core/revision/revision.js"
import type { OutputOf, Schema } from "../../core/schema/standard.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"
import { type Asker, handled, type MakeQuestion, rejected } from "./asker.js"
import { formQuestion, urlQuestion } from "./elicitation.js"
import { errorOutcome, takeOutcome, valueOutcome } from "./outcome.js"
import { rootsQuestion, samplingQuestion } from "./sampling.js"

// biome-ignore lint/suspicious/noConfusingVoidType: a step may return nothing at all.
type Plain = JsonValue | undefined | void

/** What JSON gives back of a value. */
export type Jsonify<T> = unknown extends T
  ? T
  : T extends Plain
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
  /**
   * Says whether what happens at the URL that was made for `id` has happened. An accepted question that is not done is asked
   * again, or waited for.
   */
  readonly done?: (id: string) => boolean | Promise<boolean>
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
  /** The client's answers so far, by key, for handlers that return `inputRequired()`. Nothing in them is checked. */
  readonly responses: { readonly [key: string]: JsonObject | undefined }
  /** What the handler kept with its last `inputRequired()`; undefined in the first round. */
  readonly state: JsonValue | undefined
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
  #isStepping = false

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

  get responses(): Readonly<Record<string, JsonObject>> {
    return this.#asker.responses
  }

  get state(): JsonValue | undefined {
    return this.#asker.kept
  }

  /** Takes what is to be freed now that the call ends, last made first. */
  takeFrees(): readonly (() => unknown)[] {
    return this.#frees.splice(0).reverse()
  }

  elicit<S extends Schema>(message: string, schema: S, options: AskOptions = {}): Promise<Elicited<OutputOf<S>>> {
    return this.#ask(options, () => formQuestion(this.#revision, message, schema))
  }

  elicitUrl(message: string, url: (id: string) => string, options: ElicitUrlOptions = {}): Promise<ElicitedUrl> {
    return this.#ask(options, (mint) => {
      const id = mint()
      return urlQuestion(this.#revision, message, url(id), id, options.done)
    })
  }

  sample(request: SamplingRequest, options: AskOptions = {}): Promise<SamplingResult> {
    return this.#ask(options, () => samplingQuestion(this.#revision, request))
  }

  roots(options: AskOptions = {}): Promise<readonly Root[]> {
    return this.#ask(options, rootsQuestion)
  }

  /** Asks what a handler returned. It is entered again, here or in the next round, and says anew what is to be freed. */
  async askByHand(
    makers: ReadonlyMap<string, MakeQuestion<unknown>>,
    kept: JsonValue | undefined,
  ): Promise<"again" | "over"> {
    const next = await this.#asker.askByHand(makers, kept)
    this.#frees.length = 0
    return next
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
  #ask<T>({ key }: AskOptions, make: MakeQuestion<T>): Promise<T> {
    if (!this.#isStepping) return this.#asker.ask(key, make)
    const text = "a step of ctx.once cannot ask the client: ask before it, and use the answer in it"
    return rejected(misuse("invalid_option", text))
  }

  async #once<T>(key: string, step: (once: OnceContext) => T | Promise<T>): Promise<Jsonify<T>> {
    if (typeof key !== "string" || key === "") throw misuse("invalid_option", "ctx.once needs a key that is not empty")
    let thrown: unknown
    const outcome = await this.#asker.once(key, async (idempotencyKey) => {
      try {
        return valueOutcome(await this.#start(step, { idempotencyKey }))
      } catch (error) {
        thrown = error
        return errorOutcome(error)
      }
    })
    return takeOutcome(outcome, thrown) as Jsonify<T>
  }

  /** Starts a step. What it does before its first `await` is seen here: questions of it would wait for a round that waits for it. */
  #start<T>(step: (once: OnceContext) => T | Promise<T>, once: OnceContext): T | Promise<T> {
    this.#isStepping = true
    try {
      return step(once)
    } finally {
      this.#isStepping = false
    }
  }
}
