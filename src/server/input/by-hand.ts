/** Questions that a handler returns instead of asking them: `inputRequired()`. */
import { type Answer, silent } from "../../core/exchange.js"
import type { FormRequest, InputRequest } from "../../core/model/input.js"
import type { Revision } from "../../core/revision/revision.js"
import { boundSchema, refused } from "../../core/schema/json-schema.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import type { InputRequired } from "../define/content.js"
import { notPlainJson } from "../result.js"
import type { MakeQuestion } from "./asker.js"
import { elicitQuestion, toForm, urlQuestion } from "./elicitation.js"
import { checkKey } from "./key.js"
import type { Question } from "./question.js"
import { rootsQuestion, samplingQuestion } from "./sampling.js"

/** Goes on with a call whose handler returned its questions: sends them, and enters the handler again where it waited here. */
export async function askByHand(
  call: Call,
  { requests, state }: InputRequired,
  enter: () => Answer | Promise<Answer>,
): Promise<Answer> {
  const problem = state === undefined ? undefined : notPlainJson(state, "the state")
  if (problem !== undefined) throw new TypeError(problem)
  const { revision } = call.facts.served
  const makers = new Map<string, MakeQuestion<unknown>>()
  for (const [key, request] of Object.entries(requests)) {
    checkKey(key)
    makers.set(key, (id) => toQuestion(revision, request, id))
  }
  const next = await call.input.askByHand(makers, state)
  return next === "over" ? silent : enter()
}

function toQuestion(revision: Revision, request: InputRequest, id: () => string): Question<JsonObject> {
  switch (request.method) {
    case "elicitation/create": {
      const { params } = request
      if (params.mode === "url") return asIs(urlQuestion(revision, params.message, params.url, id(), undefined))
      return asIs(formByHand(revision, params))
    }
    case "sampling/createMessage":
      return asIs(samplingQuestion(revision, request.params))
    case "roots/list":
      return asIs(rootsQuestion())
  }
}

function formByHand(revision: Revision, { message, requestedSchema }: FormRequest): Question<unknown> {
  const bounded = boundSchema(requestedSchema)
  if (!bounded.ok) throw refused("inputRequired", bounded)
  const { schema } = toForm(bounded.root, revision)
  return elicitQuestion(revision, message, schema, () => ({ ok: true, value: undefined }))
}

/** The same question, whose value is the answer as it came. */
function asIs(question: Question<unknown>): Question<JsonObject> {
  return {
    ...question,
    async accept(answer) {
      const accepted = await question.accept(answer)
      return "ok" in accepted && accepted.ok ? { ok: true, value: answer } : accepted
    },
  }
}
