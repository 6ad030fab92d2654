/** The text of what is wrong with a value, for a model or a person that is to correct it. */
import { clampText } from "../feature/text.js"
import type { SchemaIssue } from "./standard.js"

const maxIssues = 20
const maxLineLength = 300

/**
 * One line per issue, with the path of the value: `forecast.days[2]: expected a number`. At most 20 lines of 300 characters; what
 * is left out is counted in the last line.
 */
export function describeIssues(issues: readonly SchemaIssue[]): string {
  const lines = issues.slice(0, maxIssues).map(describeIssue)
  const more = issues.length - lines.length
  return more > 0 ? [...lines, `and ${more} more`].join("\n") : lines.join("\n")
}

function describeIssue({ message, path = [] }: SchemaIssue): string {
  const where = path
    .map((step) => toText(typeof step === "object" ? step.key : step))
    .join("")
    .replace(/^\./, "")
  return clampText(where === "" ? message : `${where}: ${message}`, maxLineLength)
}

function toText(key: PropertyKey): string {
  if (typeof key === "number") return `[${key}]`
  const text = String(key)
  return /^[\w$-]+$/.test(text) ? `.${text}` : `[${JSON.stringify(text)}]`
}
