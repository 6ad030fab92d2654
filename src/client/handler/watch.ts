/** What a client tells of a server's questions to whoever watches. */
import { McpError } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { ClientEvents, ClientRequestFacts, QuestionFacts } from "../../observe/client-event.js"
import type { Topics } from "../../observe/emitter.js"
import type { Call } from "../call.js"
import { toFailure } from "../watch.js"
import type { Question } from "./task.js"

/** What a {@link QuestionWatch} is made of. */
export interface QuestionWatchParts {
  readonly topics: Topics<ClientEvents>
  readonly origin: string
  readonly describe: (call: Call) => ClientRequestFacts
}

/** Tells of the questions to one client. */
export class QuestionWatch {
  readonly #parts: QuestionWatchParts

  constructor(parts: QuestionWatchParts) {
    this.#parts = parts
  }

  /** Tells of a round, and of what is asked in it. */
  asked(call: Call, round: number, asked: ReadonlyMap<string, Question> | undefined): void {
    const topic = this.#parts.topics["client.input_asked"]
    if (!topic.watched) return
    const questions = asked === undefined ? [] : [...asked.values()].map(({ method }) => method)
    topic.publish({ request: this.#parts.describe(call), round, questions })
  }

  /** Tells of a question that nobody is asked. */
  refused(question: Question, calls: readonly Call[], error: McpError): void {
    const topic = this.#parts.topics["client.question_refused"]
    if (topic.watched) topic.publish({ question: this.#describe(question, calls), error: toFailure(error) })
  }

  /** Tells of a question until it is answered; undefined when nobody wants to know. */
  begin(asked: Question, calls: readonly Call[]): ((answer: Promise<JsonObject>) => Promise<JsonObject>) | undefined {
    const { topics } = this.#parts
    const start = topics["client.question.start"]
    const stop = topics["client.question.stop"]
    if (!start.watched && !stop.watched) return undefined
    const question = this.#describe(asked, calls)
    const atMs = performance.now()
    const end = (ending: Pick<ClientEvents["client.question.stop"], "outcome" | "action" | "error">): void =>
      stop.publish({ question, durationMs: performance.now() - atMs, ...ending })
    start.publish({ question })
    return (answer) =>
      answer.then(
        (result) => {
          end({ outcome: "answered", action: actionOf(asked, result), error: undefined })
          return result
        },
        (error: unknown) => {
          end({ ...failureOf(error), action: undefined })
          throw error
        },
      )
  }

  #describe({ method }: Question, [call, ...others]: readonly Call[]): QuestionFacts {
    const only = others.length === 0 ? call : undefined
    return {
      method: clampText(method, 100),
      request: only === undefined ? undefined : this.#parts.describe(only),
      origin: this.#parts.origin,
    }
  }
}

function actionOf({ method }: Question, { action }: JsonObject): ClientEvents["client.question.stop"]["action"] {
  if (method !== "elicitation/create") return undefined
  return action === "accept" || action === "decline" || action === "cancel" ? action : undefined
}

/** What is told of a failure is its cause, where the error itself says nothing of why. */
function failureOf(error: unknown): Pick<ClientEvents["client.question.stop"], "outcome" | "error"> {
  if (!McpError.is(error)) return { outcome: "failed", error: undefined }
  const told = error.reason === "internal_error" && McpError.is(error.cause) ? error.cause : error
  return { outcome: told.reason === "call_ended" ? "withdrawn" : "failed", error: toFailure(told) }
}
