/** `tools/list` and `tools/call`. */

import { codes } from "../../core/error/codes.js"
import { McpError, ToolError } from "../../core/error/error.js"
import { fault } from "../../core/error/fault.js"
import type { Answer } from "../../core/exchange.js"
import { refuse } from "../../core/exchange.js"
import { clampText } from "../../core/feature/text.js"
import { checkParamHeaders } from "../../core/http/param.js"
import { describeIssues } from "../../core/schema/issue.js"
import type { SchemaResult } from "../../core/schema/standard.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import { isInputRequired } from "../define/content.js"
import type { AnyTool } from "../define/tool.js"
import { askByHand } from "../input/by-hand.js"
import { afterSuspension, enterRound, isLaterRound } from "../input/round.js"
import { encodeReturn, errorOutcome, type ToolOutcome, type UnusableReturn } from "../result.js"
import { completeResult } from "../served.js"
import { invalidParams, notServed, raised, referenceOf } from "./refusal.js"

/**
 * Serves `tools/call`. Arguments that do not fit are a result with `isError`, so that the model can correct itself; an unknown
 * tool is an error.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
 */
export function callTool(call: Call): Answer | Promise<Answer> {
  const { params = {}, snapshot, id } = call.facts
  if (snapshot.tools.size === 0) return notServed(call)
  const name = params["name"]
  if (typeof name !== "string") return invalidParams(call, '"name" must be a string')
  const tool = snapshot.tools.get(name)
  if (tool === undefined) {
    return refuse(fault(200, codes.invalidParams, "unknown_tool", `Unknown tool: ${clampText(name)}`, id))
  }
  call.tool = tool
  const { arguments: args = {} } = params
  if (!isJsonObject(args)) return invalidParams(call, '"arguments" must be an object')
  const header = call.exchange.header
  if (tool.paramHeaders.length > 0 && header !== undefined && call.facts.served.revision.mirrors) {
    const wrong = checkParamHeaders(tool.paramHeaders, args, (key) => header.get(key))
    if (wrong !== undefined) {
      const text = `Header mismatch: ${wrong.header} ${wrong.problem}`
      return refuse(fault(400, codes.headerMismatch, "header_mismatch", text, id))
    }
  }
  if (!isLaterRound(call)) return checkTool(call, tool, args)
  return enterRound(call, tool.singleUse, () => checkTool(call, tool, args))
}

function checkTool(call: Call, tool: AnyTool, args: JsonObject): Answer | Promise<Answer> {
  try {
    const checked = tool.validate === undefined ? checkNoArguments(args) : tool.validate(args)
    if (!(checked instanceof Promise)) return runTool(call, tool, checked)
    return checked.then((done) => runTool(call, tool, done)).catch((error: unknown) => failed(call, tool, error))
  } catch (error) {
    return failed(call, tool, error)
  }
}

function checkNoArguments(args: JsonObject): SchemaResult<unknown> {
  const keys = Object.keys(args)
  if (keys.length === 0) return { value: args }
  return { issues: [{ message: `takes no arguments, but got ${keys.map((key) => clampText(key, 40)).join(", ")}` }] }
}

function runTool(call: Call, tool: AnyTool, checked: SchemaResult<unknown>): Answer | Promise<Answer> {
  if (checked.issues !== undefined) {
    return toolError(call, `Invalid arguments for tool ${tool.name}: ${describeIssues(checked.issues)}`)
  }
  const returned = tool.run(checked.value, call)
  if (!isThenable(returned)) return finish(call, tool, checked, returned)
  return Promise.resolve(returned).then(
    (value) => finish(call, tool, checked, value),
    (error: unknown) => failed(call, tool, error),
  )
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function"
}

/** The answer with what the handler returned. Whatever goes wrong with it, also in the user's output schema, is the tool's failure. */
function finish(
  call: Call,
  tool: AnyTool,
  checked: SchemaResult<unknown>,
  returned: unknown,
): Answer | Promise<Answer> {
  if (call.suspended) return afterSuspension(call, `tool "${tool.name}"`, undefined)
  if (isInputRequired(returned)) {
    const asked = askByHand(call, returned, () => runTool(call, tool, checked))
    return asked.catch((error: unknown) => failed(call, tool, error))
  }
  try {
    const outcome = encodeReturn(tool, returned, call.facts.served.revision)
    if (!(outcome instanceof Promise)) return settle(call, tool, outcome)
    return outcome.then((settled) => settle(call, tool, settled)).catch((error: unknown) => failed(call, tool, error))
  } catch (error) {
    return failed(call, tool, error)
  }
}

function settle(call: Call, tool: AnyTool, outcome: ToolOutcome | UnusableReturn): Answer {
  if (!("problem" in outcome)) return toAnswer(call, outcome)
  const { problem } = outcome
  const reference = referenceOf(call)
  call.failure = { thrown: new TypeError(problem), reference }
  call.facts.profile.logger.error(`tool "${tool.name}" returned what cannot be sent`, { reference, problem })
  return toolError(call, `Tool ${tool.name} returned an unusable result (reference ${reference})`)
}

/** What a handler threw: a message for the model, an error of the protocol, or a fault whose detail only the log gets. */
function failed(call: Call, tool: AnyTool, error: unknown): Answer {
  if (call.suspended) return afterSuspension(call, `tool "${tool.name}"`, { error })
  if (ToolError.is(error) || isInvalidAnswer(call, error)) return toolError(call, error.message)
  const protocol = raised(call, error)
  if (protocol !== undefined) return protocol
  if (call.cancelled) return toolError(call, "cancelled")
  const reference = referenceOf(call)
  call.failure = { thrown: error, reference }
  call.facts.profile.logger.error(`tool "${tool.name}" failed`, { reference, error })
  return toolError(call, `Tool ${tool.name} failed (reference ${reference})`)
}

/** Whether the client answered a question wrongly where the answer is no part of the call. */
function isInvalidAnswer(call: Call, error: unknown): error is McpError {
  return call.facts.served.revision.asks === "push" && McpError.is(error, "validation")
}

/** The answer that tells the model what went wrong. */
export function toolError(call: Call, text: string): Answer {
  return toAnswer(call, errorOutcome(text))
}

function toAnswer(call: Call, outcome: ToolOutcome): Answer {
  if (outcome.isError === true) call.outcome = "tool_error"
  return call.result(completeResult(call.facts.served, outcome.members, outcome.meta))
}
