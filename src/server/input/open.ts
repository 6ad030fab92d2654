/** How a call gets its way of asking: by its revision, with everything that asking needs of the call and of its endpoint. */
import { codes } from "../../core/error/codes.js"
import { McpError, misuse, ToolError } from "../../core/error/error.js"
import { type Answer, answer } from "../../core/exchange.js"
import { requiredCapabilities } from "../../core/model/capability.js"
import { notificationText, resultText } from "../../core/wire/build.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import { internalError, raised } from "../method/refusal.js"
import { inputRequiredResult } from "../served.js"
import type { Asker } from "./asker.js"
import { CallInput } from "./input.js"
import { Push } from "./push.js"
import type { Question } from "./question.js"
import { mayAskAgain, Replay, type ReplayHost, type RoundAnswer } from "./replay.js"
import type { StateBinding } from "./state.js"

/** Opens the input of a call. */
export function openInput(call: Call): CallInput {
  const { revision } = call.facts.served
  return new CallInput(revision.asks === "push" ? openPush(call) : openReplay(call), revision)
}

function openReplay(call: Call): Asker {
  const { asking, profile, method } = call.facts
  const host: ReplayHost = {
    require(question) {
      requireAskable(call)
      if (profile.manual !== undefined) {
        const text = "a handler that is written by hand asks with a result of type input_required"
        throw misuse("invalid_option", text)
      }
      requireCapability(call, question)
      if (!mayAskAgain(call.round?.state)) throw tooManyRounds()
    },
    defer: asking.defer,
    suspend: (reason, said) => call.suspend(reason, answerWith(call, said)),
    report: (problem, facts) => profile.logger.error(problem, { ...facts, method }),
  }
  return new Replay(host, asking.claims, call.round ?? { state: undefined, responses: undefined })
}

/** The answer of a call that waits for its client: the questions and the sealed state, or a refusal. */
async function answerWith(call: Call, said: RoundAnswer | McpError): Promise<Answer> {
  const { asking, served, id, profile } = call.facts
  const told = profile.topics["server.input_asked"]
  try {
    if (said instanceof McpError) throw said
    const requestState = await asking.states.seal(said.state, bindingOf(call))
    if (told.watched) {
      const questions = Object.values(said.requests).map((request) => String((request as JsonObject)["method"]))
      told.publish({ request: call.described, round: said.state.round, questions })
    }
    return answer(200, resultText(id, inputRequiredResult(served, said.requests, requestState)))
  } catch (error) {
    return raised(call, error) ?? internalError(call, "sealing the state of a call", error)
  }
}

/** Tells that answers came. */
export function tellAnswered(call: Call, round: number): void {
  const topic = call.facts.profile.topics["server.input_answered"]
  if (topic.watched) topic.publish({ request: call.described, round })
}

function tooManyRounds(): McpError {
  return new McpError("Internal error: the call has had too many rounds", {
    kind: "protocol",
    reason: "too_many_rounds",
    code: codes.internalError,
  })
}

/** What the state of a call is bound to: this server, the caller, the method and its arguments. */
export function bindingOf(call: Call): StateBinding {
  const { profile, method, params = {}, served } = call.facts
  const member = served.revision.methods.get(method)?.namedBy ?? "name"
  const subject = { [member]: params[member], arguments: params["arguments"] ?? {} }
  return { server: profile.name, method, principal: call.principal, subject }
}

function openPush(call: Call): Asker {
  const { asking, session, profile } = call.facts
  const { exchange } = call
  const told = profile.topics["server.input_asked"]
  return new Push({
    outbox: session?.outbox,
    clock: asking.clock,
    timeoutMs: asking.timeoutMs,
    pause: () => call.facts.calls.pause(call),
    require: (question) => {
      requireAskable(call)
      if (session === undefined) {
        throw new ToolError("the client cannot be asked: this server keeps no sessions (sessions: false)")
      }
      if (!exchange.canStream) {
        throw new ToolError("the client cannot be asked: its Accept header does not allow text/event-stream")
      }
      requireCapability(call, question)
    },
    send: (frame) => exchange.send(frame),
    asked({ method }) {
      if (told.watched) told.publish({ request: call.described, round: 1, questions: [method] })
    },
    answered: () => tellAnswered(call, 1),
    track(elicitationId) {
      const frame = notificationText("notifications/elicitation/complete", { elicitationId })
      const tell = (): void => exchange.send(frame)
      return asking.completions.track(elicitationId, tell, () => session?.sink.send(frame))
    },
    untilCompleted: (elicitationId) => asking.completions.wait(elicitationId),
  })
}

function requireAskable(call: Call): void {
  if (call.facts.mayAsk) return
  throw misuse(
    "invalid_option",
    `a handler of ${call.facts.method} cannot ask the client: tools, prompts and resources can`,
  )
}

/**
 * What a client did not declare is not asked for.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
function requireCapability(call: Call, { capability }: Pick<Question<unknown>, "capability">): void {
  if (call.client.can(capability)) return
  const text = `the client did not declare the capability ${capability}`
  if (call.facts.served.revision.asks === "push")
    throw new ToolError(`the client cannot be asked: ${text.replace("the client", "it")}`)
  throw new McpError(`Missing required client capability: ${text}`, {
    kind: "protocol",
    reason: "missing_client_capability",
    code: codes.missingClientCapability,
    data: { requiredCapabilities: requiredCapabilities(capability) },
  })
}
