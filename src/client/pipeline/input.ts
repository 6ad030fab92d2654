/**
 * Calls that need something of the user first: rounds of questions that come as results, and pages that an error names. The
 * server's clock does not run meanwhile, and nothing of one call is ever part of another.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr
 */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import type { Reason } from "../../core/error/reason.js"
import { clampText } from "../../core/feature/text.js"
import type { Revision } from "../../core/revision/revision.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import { type Call, callEnded } from "../call.js"
import type { Answerer } from "../handler/answerer.js"
import type { Question } from "../handler/task.js"
import type { QuestionWatch } from "../handler/watch.js"
import type { ClientLimits } from "../limits.js"
import type { Attempt, Next, Stage } from "./stage.js"

/** What the stage asks of the client. */
export interface InputHost {
  readonly answerer: Answerer
  readonly limits: Pick<ClientLimits, "maxRounds">
  readonly revision: () => Revision
  /** Hears of rounds. Default: nobody. */
  readonly watch?: QuestionWatch
}

/**
 * Answers the questions that stand between a call and its result, and sends it again. A handler that fails ends the call: with the
 * `McpError` that it threw, or one of kind `validation`, reason `invalid_answer`, whose `cause` is what it threw.
 */
export function createInput(host: InputHost): Stage {
  return (call, attempt, next) =>
    next(call, attempt).then(
      (result) => (needsInput(host, result) ? answerRounds(host, call, attempt, next, result) : result),
      (error: unknown) => visitPages(host, call, attempt, next, error),
    )
}

/** Whether a result is a question. Results of the legacy era say nothing of what they are. */
function needsInput({ revision }: InputHost, { resultType }: JsonObject): boolean {
  return resultType === "input_required" && revision().asks === "replay"
}

async function answerRounds(
  host: InputHost,
  call: Call,
  attempt: Attempt,
  next: Next,
  first: JsonObject,
): Promise<JsonObject> {
  const { maxRounds } = host.limits
  const original = withoutAnswers(attempt.params)
  let result = first
  for (let round = 1; needsInput(host, result); round++) {
    if (round > maxRounds) {
      throw failed(call, "too_many_rounds", `the server asked in ${maxRounds} rounds (limits.maxRounds) and asks again`)
    }
    const { questions, state } = readRound(host, call, result)
    call.rounds = round
    host.watch?.asked(call, round, questions)
    const responses = questions === undefined ? {} : { inputResponses: await answerAll(host, call, questions) }
    if (call.isOver) throw callEnded()
    result = await next(call, { ...attempt, params: { ...original, ...responses, ...state } })
  }
  return result
}

/** The params of the caller, without what belongs to rounds. */
function withoutAnswers(params: JsonObject | undefined): JsonObject {
  const entries = Object.entries(params ?? {})
  return Object.fromEntries(entries.filter(([key]) => key !== "inputResponses" && key !== "requestState"))
}

/** One round: the questions by their keys, undefined when there are none to be answered, and the state to be sent back as it is. */
interface Round {
  readonly questions: ReadonlyMap<string, Question> | undefined
  readonly state: { readonly requestState?: string }
}

/** Reads a round, and throws for one that must not be answered; nobody has been asked anything then. */
function readRound({ answerer, revision, watch }: InputHost, call: Call, result: JsonObject): Round {
  const spoken = revision()
  const { inputRequests, requestState } = result
  if (spoken.methods.get(call.method)?.mayAsk !== true) {
    throw failed(call, "invalid_result", "the server asks for input, which this method does not know")
  }
  if (requestState !== undefined && typeof requestState !== "string") {
    throw failed(call, "invalid_result", '"requestState" must be a string')
  }
  const state = requestState === undefined ? {} : { requestState }
  if (inputRequests === undefined) {
    if (requestState !== undefined) return { questions: undefined, state }
    throw failed(call, "invalid_result", '"inputRequests" and "requestState" are both missing')
  }
  if (!isJsonObject(inputRequests)) throw failed(call, "invalid_result", '"inputRequests" must be an object')
  const questions = new Map<string, Question>()
  for (const [key, request] of Object.entries(inputRequests)) {
    const question = readQuestion(request)
    if (question === undefined) throw failed(call, "invalid_result", `question "${clampText(key, 60)}" is no request`)
    const refusal = answerer.refusal(question, spoken)
    if (refusal !== undefined) {
      watch?.refused(question, [call], refusal)
      const reason = refusal.reason === "unexpected_question" ? refusal.reason : "invalid_result"
      throw failed(call, reason, `question "${clampText(key, 60)}" cannot be answered: ${refusal.message}`, refusal)
    }
    questions.set(key, question)
  }
  return { questions, state }
}

function readQuestion(request: JsonValue | undefined): Question | undefined {
  if (!isJsonObject(request)) return undefined
  const { method, params } = request
  if (typeof method !== "string" || !(params === undefined || isJsonObject(params))) return undefined
  return { method, params }
}

/** Asks all questions of a round at once. The first that fails lets go of the others. */
async function answerAll(
  { answerer, revision }: InputHost,
  call: Call,
  questions: ReadonlyMap<string, Question>,
): Promise<JsonObject> {
  const others = new AbortController()
  const facts = { calls: [call], signal: others.signal, revision: revision() }
  try {
    const answers = [...questions].map(
      async ([key, question]) => [key, await answerer.answer(question, facts)] as const,
    )
    return Object.fromEntries(await Promise.all(answers))
  } catch (error) {
    others.abort(error)
    throw toCallerError(error)
  }
}

/** What the caller gets for a question that was not answered: the cause, where the error is what a server would be told. */
function toCallerError(error: unknown): unknown {
  return McpError.is(error, "protocol") && error.reason === "internal_error" && McpError.is(error.cause)
    ? error.cause
    : error
}

/**
 * Sends the user to the pages that an error names, and the call once more when all of them are finished with. When one is not
 * visited, or there is nobody to ask, the error is the caller's.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#url-elicitation-required-error
 */
async function visitPages(
  host: InputHost,
  call: Call,
  attempt: Attempt,
  next: Next,
  error: unknown,
): Promise<JsonObject> {
  const pages = readPages(host, error)
  if (pages === undefined || call.isOver) throw error
  for (const page of pages) if (!(await isVisited(host, call, page))) throw error
  for (const { params } of pages) await untilComplete(host, call, params)
  if (call.isOver) throw error
  return next(call, attempt)
}

/** The pages that an error names, as questions that can be asked. */
function readPages({ answerer, revision }: InputHost, error: unknown): readonly Question[] | undefined {
  if (!McpError.is(error, "protocol") || error.code !== codes.urlElicitationRequired) return undefined
  const spoken = revision()
  const listed = isJsonObject(error.data) ? error.data["elicitations"] : undefined
  if (!spoken.form.elicitationId || !Array.isArray(listed) || listed.length === 0) return undefined
  const pages = listed.filter(isJsonObject).map((params) => ({ method: "elicitation/create", params }))
  const canBeAsked = (page: Question): boolean =>
    page.params?.["mode"] === "url" && answerer.refusal(page, spoken) === undefined
  return pages.length === listed.length && pages.every(canBeAsked) ? pages : undefined
}

async function isVisited({ answerer, revision }: InputHost, call: Call, page: Question): Promise<boolean> {
  const facts = { calls: [call], signal: call.endSignal, revision: revision() }
  const answer = await answerer.answer(page, facts).catch(() => undefined)
  return answer?.["action"] === "accept"
}

async function untilComplete({ answerer }: InputHost, call: Call, params: JsonObject | undefined): Promise<void> {
  const id = params?.["elicitationId"]
  if (typeof id === "string") await answerer.untilComplete(id, call.endSignal)
}

function failed(call: Call, reason: Reason, problem: string, cause?: unknown): McpError {
  return new McpError(`${call.title}: ${problem}`, { kind: "protocol", reason, cause })
}
