/** How a call of the modern era goes on when its client is asked: the same params, answers, and the state. */

import { type Tree, toTree } from "./json-text.js"
import type { Json } from "./judge.js"

/** What a client in order says to each kind of question. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  "sampling/createMessage": { role: "assistant", content: { type: "text", text: "said" }, model: "m" },
  "roots/list": { roots: [{ uri: "file:///a" }] },
}
const FORM: unknown = { action: "accept", content: { name: "Ada", size: 1, yes: true, which: "a", why: "b" } }

/** The next round, to be sent. */
export interface NextRound {
  readonly tree: Tree
  readonly isTampered: boolean
}

/**
 * The message that comes after an answer that asks; undefined when it does not. `odd` is said instead of a right answer, and
 * `tamper` is which character of the state is changed.
 */
export function nextRound(
  message: Json,
  answer: Json,
  odd: Tree | undefined,
  tamper: number | undefined,
): NextRound | undefined {
  const { inputRequests, requestState } = (answer["result"] ?? {}) as Json
  if (typeof requestState !== "string" || typeof inputRequests !== "object") return undefined
  const params = message["params"]
  // Another message may have had the same id: what was asked of it says nothing about this one.
  if (typeof params !== "object" || params === null) return undefined
  const answers = Object.entries(inputRequests as Record<string, Json>).map(
    ([key, { method }]) => [key, odd ?? toTree(ANSWERS[String(method)] ?? FORM)] as const,
  )
  const kept = Object.entries(params).filter(([key]) => key !== "requestState" && key !== "inputResponses")
  const next: Tree = [
    ...kept.map(([key, value]) => [JSON.stringify(key).slice(1, -1), toTree(value)] as const),
    ["requestState", JSON.stringify(tamper === undefined ? requestState : changedAt(requestState, tamper))],
    ["inputResponses", answers],
  ]
  const id = typeof message["id"] === "number" ? message["id"] + 1 : `${message["id"]}+`
  return {
    tree: [
      ["jsonrpc", '"2.0"'],
      ["id", toTree(id)],
      ["method", toTree(message["method"])],
      ["params", next],
    ],
    isTampered: tamper !== undefined,
  }
}

/** A text with another character in one place. */
function changedAt(text: string, index: number): string {
  const at = index % text.length
  return `${text.slice(0, at)}${text[at] === "A" ? "B" : "A"}${text.slice(at + 1)}`
}
