/** Answers a server's questions by the application's handlers, and never with more than was declared. */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"
import { clientCapabilities } from "../../core/negotiate/client-capabilities.js"
import type { Revision } from "../../core/revision/revision.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"
import type { Logger } from "../../observe/log.js"
import type { Call } from "../call.js"
import { isOfPeer } from "../connection/outcome.js"
import type { ClientLimits } from "../limits.js"
import { attend, type QuestionFacts } from "./attention.js"
import { readElicitation } from "./elicit.js"
import type { HandlerContext, Handlers } from "./handlers.js"
import { hearNotice } from "./notices.js"
import { Pages } from "./pages.js"
import { readRoots } from "./roots.js"
import { readSampling } from "./sample.js"
import { type Question, type Task, undeclared } from "./task.js"
import type { QuestionWatch } from "./watch.js"

/** What an answerer is made of. */
export interface AnswererParts {
  readonly handlers: Handlers
  /** The kinds of question that `handlers.elicit` can show. */
  readonly elicitation: readonly ("form" | "url")[]
  readonly samplingTools: boolean
  readonly samplingContext: boolean
  /** Given to handlers of questions that belong to no one call. */
  readonly assigns: Readonly<Record<string, unknown>>
  readonly limits: Pick<ClientLimits, "maxQuestions">
  readonly logger: Logger
  /** Hears of questions. Default: nobody. */
  readonly watch?: QuestionWatch
}

/** Answers what a server asks, and hears what it says. */
export interface Answerer {
  /**
   * Answers a question. No clock of the calls that it may belong to runs meanwhile.
   *
   * @throws `McpError` of kind `protocol` with the code to be sent: -32601 or -32602, reason `unexpected_question`, for what was
   * not declared; -32602, reason `invalid_params`; -32603, reason `too_many_questions`; -32603, reason `internal_error`, for a
   * handler that failed, which is the error's `cause` and is not to be sent; or the error of kind `protocol` that a handler threw.
   */
  answer(question: Question, facts: QuestionFacts): Promise<JsonObject>
  /** The error with which a question would be refused without asking anybody; undefined when a handler would be asked. */
  refusal(question: Question, revision: Revision | undefined): McpError | undefined
  /** Hands a notification to the application; answers whether it is one that the application can hear. */
  notice(notification: Question): boolean
  /** Resolves once the page of a question is finished with, at once when it is not open, or when `signal` aborts. */
  untilComplete(elicitationId: string, signal: AbortSignal): Promise<void>
}

/** Makes the {@link Answerer} of one client. */
export function createAnswerer(parts: AnswererParts): Answerer {
  const { handlers, assigns, limits, logger, watch } = parts
  const pages = new Pages()
  const declaredTo = memoize((revision: Revision | undefined) => declare(parts, revision))
  let asked = 0

  const read = ({ method, params = {} }: Question, revision: Revision | undefined): Task | McpError => {
    const declared = declaredTo(revision)
    switch (method) {
      case "elicitation/create":
        return readElicitation(params, { handlers, declared, pages })
      case "sampling/createMessage":
        return readSampling(params, { handlers, declared, lists: revision?.samplingTools ?? true })
      case "roots/list":
        return readRoots(handlers, declared)
      default:
        return undeclared(clampText(method, 100))
    }
  }

  const admit = (task: Task | McpError): Task | McpError =>
    McpError.is(task) || asked < limits.maxQuestions ? task : tooMany(limits.maxQuestions)

  const ask = async (
    task: Task,
    method: string,
    context: HandlerContext,
    within: Call["within"],
  ): Promise<JsonObject> => {
    asked++
    try {
      const answer = within === undefined ? task.ask(context) : within(() => task.ask(context))
      const accepted = task.accept(toJson(await answer))
      if (accepted.ok) return accepted.result
      throw invalidAnswer(`handlers.${task.handler} ${accepted.problem}`)
    } catch (error) {
      const isOwn = isOwnRefusal(error)
      if (!isOwn && !context.signal.aborted) {
        const handler = `handlers.${task.handler}`
        logger.error("a question of the server was not answered", { method, handler, error })
      }
      throw isOwn ? error : toInternal(task, error)
    } finally {
      asked--
    }
  }

  return {
    async answer(question, facts) {
      const { method } = question
      if (method === "ping") return {}
      const task = admit(read(question, facts.revision))
      if (McpError.is(task)) {
        watch?.refused(question, facts.calls, task)
        throw task
      }
      const [call, ...others] = facts.calls
      const only = others.length === 0 ? call : undefined
      const known = { assigns: only?.settings.assigns ?? assigns, askedBy: only?.subject }
      const told = watch?.begin(question, facts.calls)
      const answer = attend(facts, (signal) => ask(task, method, { signal, ...known }, only?.within), withdrawn)
      return told === undefined ? answer : told(answer)
    },
    refusal(question, revision) {
      const task = read(question, revision)
      return McpError.is(task) ? task : undefined
    },
    notice: ({ method, params }) => hearNotice(method, params, { handlers, pages, logger }),
    untilComplete: (elicitationId, signal) => pages.until(elicitationId, signal),
  }
}

/** What is declared to a server; before the revision is known, as much as any revision of the legacy era lets be declared. */
function declare(parts: AnswererParts, revision: Revision | undefined): JsonObject {
  const { handlers, elicitation, samplingTools, samplingContext } = parts
  const elicitationModes = revision?.form.modes ?? true
  return clientCapabilities(handlers, { elicitation, samplingTools, samplingContext, elicitationModes })
}

function memoize<Key, Value>(make: (key: Key) => Value): (key: Key) => Value {
  const made = new Map<Key, Value>()
  return (key) => {
    const value = made.get(key) ?? make(key)
    made.set(key, value)
    return value
  }
}

/** The answer as it will be sent. Throws for one that is no JSON. */
function toJson(answer: unknown): JsonValue {
  const text: string | undefined = JSON.stringify(answer)
  return text === undefined ? null : (JSON.parse(text) as JsonValue)
}

/** Whether a handler said itself what is to be sent. What another server said to it is not for this one. */
function isOwnRefusal(error: unknown): error is McpError {
  return McpError.is(error, "protocol") && Number.isSafeInteger(error.code) && !isOfPeer(error) && isJson(error.data)
}

function isJson(value: unknown): boolean {
  try {
    toJson(value)
    return true
  } catch {
    return false
  }
}

function invalidAnswer(problem: string, cause?: unknown): McpError {
  return new McpError(problem, { kind: "validation", reason: "invalid_answer", cause })
}

/** What is sent says nothing of why; the cause does, and stays here. */
function toInternal({ handler }: Task, error: unknown): McpError {
  const cause = McpError.is(error) ? error : invalidAnswer(`handlers.${handler} failed: ${clampText(error)}`, error)
  return new McpError("Internal error: the question could not be answered", {
    kind: "protocol",
    reason: "internal_error",
    code: codes.internalError,
    cause,
  })
}

function withdrawn(reason: unknown): McpError {
  return new McpError("Internal error: the question is no longer open", {
    kind: "protocol",
    reason: "internal_error",
    code: codes.internalError,
    cause: new McpError("nobody waits for the answer any more", {
      kind: "cancelled",
      reason: "call_ended",
      cause: reason,
    }),
  })
}

function tooMany(maxQuestions: number): McpError {
  return new McpError(
    `Internal error: ${maxQuestions} questions are open already (limits.maxQuestions of the client)`,
    {
      kind: "protocol",
      reason: "too_many_questions",
      code: codes.internalError,
    },
  )
}
