/** What a call is answered that took longer than it may. */
import { codes } from "../../core/error/codes.js"
import { fault } from "../../core/error/fault.js"
import { type Answer, refuse } from "../../core/exchange.js"
import type { Call } from "../call.js"
import { toolError } from "./tools.js"

/** The answer: a result with `isError` from a tool, so that the model hears of it, and else an error. Both name the limit. */
export function overdue(call: Call, limitMs: number, option: string): Answer {
  const { tool, facts } = call
  const problem = `did not finish within ${limitMs} ms (${option})`
  const what = tool === undefined ? facts.method : `tool "${tool.name}"`
  facts.profile.logger.warn(`${what} ${problem}`)
  if (tool !== undefined) return toolError(call, `Tool ${tool.name} ${problem}`)
  return refuse(fault(200, codes.internalError, "handler_timeout", `${facts.method} ${problem}`, facts.id))
}
