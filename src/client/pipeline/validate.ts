/** Holds results to what they have to be: their shape by the revision, and structured content by the tool's output schema. */
import { McpError } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"
import type { Check } from "../../core/schema/interpreter.js"
import { describeIssues } from "../../core/schema/issue.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { ToolBook, ToolFacts } from "../tool-book.js"
import type { Stage } from "./stage.js"

/** What the stage asks of the client. */
export interface ValidateHost {
  /** Whether results of tools may lack `content`, as those of some older servers do. */
  readonly isLenient: () => boolean
  readonly tools: ToolBook
}

/** Checks the results of tools. The validator is loaded when the first tool with an output schema is called. */
export function createValidate(host: ValidateHost): Stage {
  return (call, attempt, next) => {
    const sent = next(call, attempt)
    return call.method === "tools/call" ? sent.then((result) => checked(host, call.subject, result)) : sent
  }
}

function checked(host: ValidateHost, tool: string | undefined, result: JsonObject): JsonObject | Promise<JsonObject> {
  const { content, isError, resultType } = result
  if (resultType !== undefined && resultType !== "complete") return result
  if (!Array.isArray(content) && !(content === undefined && host.isLenient())) {
    const text = `tools/call "${clampText(tool)}": the result must have "content" as a list, not ${clampText(content)}`
    throw new McpError(text, { kind: "protocol", reason: "invalid_result" })
  }
  const facts = tool === undefined || isError === true ? undefined : host.tools.find(tool)
  return facts?.outputSchema === undefined ? result : withSchema(tool, facts, facts.outputSchema, result)
}

async function withSchema(
  tool: string | undefined,
  facts: ToolFacts,
  schema: JsonObject,
  result: JsonObject,
): Promise<JsonObject> {
  facts.check ??= loadCheck(schema)
  const check = await facts.check
  const name = clampText(tool)
  if (typeof check === "string")
    throw invalidOutput(`its output schema cannot be used to check the result: ${check}`, name)
  const { structuredContent } = result
  if (structuredContent === undefined)
    throw invalidOutput("it has an output schema, and the result no structuredContent", name)
  const issues = check(structuredContent)
  if (issues.length === 0) return result
  throw invalidOutput(`structuredContent does not fit its output schema: ${describeIssues(issues)}`, name)
}

function invalidOutput(problem: string, tool: string): McpError {
  return new McpError(`tools/call "${tool}": ${problem}`, { kind: "validation", reason: "invalid_output" })
}

/** The check of a schema, or why it cannot be checked with. */
async function loadCheck(schema: JsonObject): Promise<Check | string> {
  const [{ lintSchema }, { createCheck }] = await Promise.all([
    import("../../core/schema/lint.js"),
    import("../../core/schema/interpreter.js"),
  ])
  const linted = lintSchema(schema)
  return linted.ok ? createCheck(linted) : `${linted.path}: ${linted.problem}`
}
