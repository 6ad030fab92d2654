/** A question of a server that was understood: whom to ask, and what to make of the answer. Refusals are errors to be sent. */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"
import type { MaybePromise } from "../../store/port.js"
import type { HandlerContext } from "./handlers.js"

/** What a server asks, as it came. */
export interface Question {
  readonly method: string
  readonly params: JsonObject | undefined
}

/** A question that can be put to the application. */
export interface Task {
  /** The name of the handler that is asked. */
  readonly handler: "elicit" | "sample" | "roots"
  ask(context: HandlerContext): MaybePromise<unknown>
  /** What is sent for what the handler answered, once that is plain JSON; or why it is no answer. */
  accept(answer: JsonValue): Accepted
}

/** What an answer comes to. */
export type Accepted =
  | { readonly ok: true; readonly result: JsonObject }
  | { readonly ok: false; readonly problem: string }

/** An answer that can be sent. */
export function accepted(result: JsonObject): Accepted {
  return { ok: true, result }
}

/** An answer that cannot be sent; the problem goes on from "handlers.x". */
export function unusable(problem: string): Accepted {
  return { ok: false, problem }
}

/** The refusal of a question that the client did not declare it answers. */
export function undeclared(question: string, code: number = codes.methodNotFound): McpError {
  const name = code === codes.methodNotFound ? "Method not found" : "Invalid params"
  return new McpError(`${name}: the client did not declare that it answers ${question}`, {
    kind: "protocol",
    reason: "unexpected_question",
    code,
  })
}

/** The refusal of a question that is not well formed. */
export function malformed(problem: string): McpError {
  return new McpError(`Invalid params: ${problem}`, {
    kind: "protocol",
    reason: "invalid_params",
    code: codes.invalidParams,
  })
}
