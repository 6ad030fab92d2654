/**
 * Asking in the legacy era: a request on the call's own stream, and its response. The handler waits where it stands.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
import { McpError, ToolError } from "../../core/error/error.js"
import { request } from "../../core/wire/build.js"
import type { ErrorMessage, JsonObject, RequestId, ResultMessage } from "../../core/wire/message.js"
import type { Asker } from "./asker.js"
import type { Outcome } from "./outcome.js"
import { invalidAnswer, type Question } from "./question.js"
import { randomText } from "./seal.js"

/** The requests that a server has sent in one session and that wait for their responses. */
export interface Outbox {
  /** Registers a request; `settle` hears its response. Answers its id. */
  register(settle: (response: ResultMessage | ErrorMessage) => void): RequestId
  /** Forgets a request whose response nobody waits for any more. */
  forget(id: RequestId): void
  /** Hands a response to the request that it answers; an unknown one is dropped. */
  settle(response: ResultMessage | ErrorMessage): void
}

/** Makes an {@link Outbox}. Its ids never meet another's. */
export function createOutbox(): Outbox {
  const waiting = new Map<RequestId, (response: ResultMessage | ErrorMessage) => void>()
  let ids = 0
  return {
    register(settle) {
      const id = ++ids
      waiting.set(id, settle)
      return id
    },
    forget: (id) => void waiting.delete(id),
    settle(response) {
      if (response.id === undefined) return
      const settle = waiting.get(response.id)
      waiting.delete(response.id)
      settle?.(response)
    },
  }
}

/** What the call does for its questions. */
export interface PushHost {
  /** Undefined where the client cannot be reached; `require` says so then. */
  readonly outbox: Outbox | undefined
  /** Throws unless the client declared the question's capability and can be asked at all. */
  require(question: Question<unknown>): void
  send(frame: string): void
  /** Remembers a question that sends the user to a URL, for as long as the call runs. Answers what forgets it. */
  track(id: string): () => void
  /** Resolves once what `id` names is finished, or it is time to look again. */
  untilCompleted(id: string): Promise<void>
}

/** The {@link Asker} of one call. */
export class Push implements Asker {
  readonly suspended = false
  readonly replaying = false
  readonly #host: PushHost
  readonly #flow = randomText(16)
  readonly #steps = new Map<string, Promise<Outcome>>()
  readonly #open = new Map<RequestId, (reason: unknown) => void>()
  readonly #forget: (() => void)[] = []
  #ended = false

  constructor(host: PushHost) {
    this.#host = host
  }

  ask<T>(_key: string | undefined, question: Question<T>): Promise<T> {
    const asked = this.#ask(question)
    asked.catch(() => {})
    return asked
  }

  mint(): string {
    return randomText(16)
  }

  once(key: string, step: (idempotencyKey: string) => Promise<Outcome>): Promise<Outcome> {
    const known = this.#steps.get(key)
    if (known !== undefined) return known
    const running = step(`${this.#flow}:${key}`)
    this.#steps.set(key, running)
    return running
  }

  end(): void {
    this.#ended = true
    for (const [id, reject] of this.#open) {
      this.#host.outbox?.forget(id)
      reject(endedError())
    }
    this.#open.clear()
    for (const forget of this.#forget.splice(0)) forget()
  }

  async #ask<T>(question: Question<T>): Promise<T> {
    this.#host.require(question)
    const answer = await this.#exchange(question)
    for (;;) {
      const accepted = await question.accept(answer)
      if ("ok" in accepted) {
        if (accepted.ok) return accepted.value
        throw invalidAnswer(question.method, accepted.issues)
      }
      if (this.#ended) throw endedError()
      await this.#host.untilCompleted(String(question.params["elicitationId"]))
    }
  }

  #exchange(question: Question<unknown>): Promise<JsonObject> {
    const { outbox } = this.#host
    if (this.#ended || outbox === undefined) return Promise.reject(endedError())
    const { elicitationId } = question.params
    if (typeof elicitationId === "string") this.#forget.push(this.#host.track(elicitationId))
    return new Promise((resolve, reject) => {
      const id = outbox.register((response) => {
        this.#open.delete(id)
        if (response.kind === "result") resolve(response.result)
        else reject(refusedByClient(question, response))
      })
      this.#open.set(id, reject)
      this.#host.send(JSON.stringify(request(id, question.method, question.params)))
    })
  }
}

function refusedByClient(question: Question<unknown>, response: ErrorMessage): ToolError {
  const { code, message } = response.error
  return new ToolError(`the client refused ${question.method}: ${message} (${code})`)
}

function endedError(): McpError {
  return new McpError("the call ended before the client answered", { kind: "cancelled", reason: "call_ended" })
}
