/** What surrounds the handler of a call that may ask: opening the state it comes back with, and what its end means. */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { fault } from "../../core/error/fault.js"
import type { Reason } from "../../core/error/reason.js"
import { type Answer, silent } from "../../core/exchange.js"
import { canonicalJson } from "../../core/feature/canonical.js"
import { type ErrorObject, isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import { outcomeOf } from "../method/manual.js"
import { internalError, invalidParams, raised } from "../method/refusal.js"
import { bindingOf, tellAnswered } from "./open.js"
import { digestText } from "./seal.js"
import type { RoundState } from "./state.js"
import { comesFromSuspension } from "./suspension.js"

/** Whether a call comes with a state or answers. Costs two look-ups where it does not. */
export function isLaterRound({ facts: { params, served } }: Call): boolean {
  if (params === undefined || (params["requestState"] === undefined && params["inputResponses"] === undefined))
    return false
  return served.revision.asks === "replay"
}

/** Runs the handler of a call once the state that came with it is opened. */
export async function enterRound(call: Call, singleUse: boolean, run: () => Answer | Promise<Answer>): Promise<Answer> {
  if (!isLaterRound(call)) return run()
  const { requestState, inputResponses } = call.facts.params ?? {}
  if (requestState !== undefined && typeof requestState !== "string") {
    return invalidParams(call, '"requestState" must be a string')
  }
  if (inputResponses !== undefined && !isJsonObject(inputResponses)) {
    return invalidParams(call, '"inputResponses" must be an object')
  }
  try {
    const states = call.facts.asking.states
    const state = requestState === undefined ? undefined : await states.open(requestState, bindingOf(call))
    call.round = { state, responses: inputResponses }
    if (state !== undefined && inputResponses !== undefined) tellAnswered(call, state.round)
    if (!singleUse || state === undefined || inputResponses === undefined) return await run()
    return await runOnce(call, state, inputResponses, run)
  } catch (error) {
    tellRefused(call, error)
    return raised(call, error) ?? internalError(call, call.facts.method, error)
  }
}

/** A round that counts once: the same answers get the same response again, other answers are refused. */
async function runOnce(
  call: Call,
  { flow, round, asked }: RoundState,
  responses: JsonObject,
  run: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const given = Object.fromEntries(Object.entries(responses).filter(([key]) => Object.hasOwn(asked, key)))
  const digest = await digestText(canonicalJson(given))
  let ran: Answer | undefined
  const outcome = await call.facts.asking.claims.run(`round:${flow}:${round}`, async () => {
    ran = await run()
    const { status, text = null } = (await call.delivery) ?? ran
    return call.cancelled || call.mayComeAgain ? undefined : { value: { digest, status, text } }
  })
  if (ran !== undefined) return ran
  const kept = outcome?.value
  if (isJsonObject(kept) && kept["digest"] === digest && typeof kept["text"] === "string") {
    return sayAgain(call, Number(kept["status"]), kept["text"])
  }
  throw new McpError("Invalid params: this round was answered before, with other answers", {
    kind: "protocol",
    reason: "request_state_consumed",
    code: codes.invalidParams,
  })
}

function tellRefused(call: Call, error: unknown): void {
  const topic = call.facts.profile.topics["server.state_refused"]
  if (!topic.watched || !McpError.is(error) || !error.reason.startsWith("request_state_")) return
  topic.publish({ request: call.described, reason: error.reason })
}

/** The answer that was given before, to the request that asks for it now. */
function sayAgain(call: Call, status: number, text: string): Answer {
  const said = JSON.parse(text) as { readonly result?: JsonObject; readonly error?: ErrorObject }
  const answer = { status, text: JSON.stringify({ ...said, id: call.id }), headers: undefined }
  if (said.error === undefined) {
    call.outcome = outcomeOf(said.result ?? {})
    return answer
  }
  const { code, message, data } = said.error
  const { reason, ...more } = isJsonObject(data) ? data : {}
  return { ...answer, fault: fault(status, code, reason as Reason, message, call.id, more) }
}

/**
 * What a handler that was suspended comes to: its answer is on its way already. One that ends in any other way than by letting
 * the suspension through is reported.
 */
export function afterSuspension(call: Call, what: string, end: { readonly error: unknown } | undefined): Answer {
  if (end === undefined || !comesFromSuspension(end.error)) {
    const topic = call.facts.profile.topics["server.suspension_swallowed"]
    if (topic.watched) topic.publish({ request: call.described, what })
    const text = `${what} swallowed the suspension of its call: catch must let it through (isSuspended)`
    call.facts.profile.logger.warn(text, { event: "server.suspension_swallowed", handler: what })
  }
  return silent
}
