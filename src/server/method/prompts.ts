/** `prompts/get`. */

import { codes } from "../../core/error/codes.js"
import { fault } from "../../core/error/fault.js"
import { type Answer, refuse } from "../../core/exchange.js"
import { clampText } from "../../core/feature/text.js"
import type { ContentBlock } from "../../core/model/content.js"
import type { PromptMessage } from "../../core/model/prompt.js"
import { describeIssues } from "../../core/schema/issue.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import { type InputRequired, isInputRequired, user } from "../define/content.js"
import type { PromptDefinition, PromptReturn } from "../define/prompt.js"
import { askByHand } from "../input/by-hand.js"
import { afterSuspension, enterRound } from "../input/round.js"
import { completeResult } from "../served.js"
import { failed, invalidParams, notServed } from "./refusal.js"

/**
 * Serves `prompts/get`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#getting-a-prompt
 */
export async function getPrompt(call: Call): Promise<Answer> {
  const { params = {}, snapshot, id } = call.facts
  if (snapshot.prompts.size === 0) return notServed(call)
  const name = params["name"]
  if (typeof name !== "string") return invalidParams(call, '"name" must be a string')
  const prompt = snapshot.prompts.get(name)
  if (prompt === undefined) {
    return refuse(fault(200, codes.invalidParams, "unknown_prompt", `Unknown prompt: ${clampText(name)}`, id))
  }
  const { arguments: given = {} } = params
  if (!isJsonObject(given)) return invalidParams(call, '"arguments" must be an object')
  return enterRound(call, prompt.singleUse, () => run(call, prompt, given))
}

async function run(call: Call, prompt: PromptDefinition, given: JsonObject): Promise<Answer> {
  const what = `prompt "${prompt.name}"`
  try {
    const checked = await check(prompt, given)
    if ("problem" in checked) return invalidParams(call, `${what}: ${checked.problem}`)
    const returned = await prompt.run(checked.args as never, call)
    if (call.suspended) return afterSuspension(call, what, undefined)
    if (isInputRequired(returned)) return await askByHand(call, returned, () => run(call, prompt, given))
    return toAnswer(call, prompt, returned)
  } catch (error) {
    return call.suspended ? afterSuspension(call, what, { error }) : failed(call, what, error)
  }
}

async function check(
  prompt: PromptDefinition,
  given: JsonObject,
): Promise<{ readonly args: unknown } | { readonly problem: string }> {
  for (const [key, value] of Object.entries(given)) {
    if (typeof value !== "string") return { problem: `argument "${clampText(key, 40)}" must be a string` }
  }
  if (prompt.validate === undefined) return { args: {} }
  const checked = await prompt.validate(given)
  return checked.issues === undefined ? { args: checked.value } : { problem: describeIssues(checked.issues) }
}

function toAnswer(call: Call, prompt: PromptDefinition, returned: Said): Answer {
  const { served } = call.facts
  const { description } = prompt.listed
  const messages = toMessages(returned).map(({ role, content }) => ({
    role,
    content: served.revision.encode.blocks([content])[0],
  }))
  const result = description === undefined ? { messages } : { description, messages }
  return call.result(completeResult(served, JSON.stringify(result).slice(1, -1)))
}

type Said = Exclude<PromptReturn, InputRequired>

function toMessages(returned: Said): readonly PromptMessage[] {
  if (typeof returned === "string") return [user(returned)]
  return [returned].flat().map(toMessage)
}

function toMessage(said: ContentBlock | PromptMessage): PromptMessage {
  if ("type" in said) return user(said)
  if (typeof said.content?.type === "string") return said
  throw new TypeError("a prompt returns a text, content blocks or messages made by user() and assistant()")
}
