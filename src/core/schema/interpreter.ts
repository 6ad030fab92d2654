/**
 * Validates data against a linted JSON Schema. The one file that imports the validator, an interpreter: nothing is compiled to
 * code, so it runs where `eval` is forbidden.
 */
import { type OutputUnit, Validator } from "@cfworker/json-schema"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { type DataSurvey, surveyData } from "./data.js"
import { type LinkedSchema, linkSchema, type StepCost } from "./link.js"
import type { LintedSchema } from "./lint.js"
import type { SchemaIssue } from "./standard.js"

/** Checks a value; no issues mean that it is valid. Never throws. */
export type Check = (value: unknown) => readonly SchemaIssue[]

/** Steps that one check may take: each subschema that is applied to a value is one or more. */
const maxSteps = 200_000

/** Comparisons that one array may take where items have to be different. */
const maxComparisons = 4_000_000

/**
 * Makes the check of a schema. A value that is not JSON, or that takes too much work, is an issue like any other. `format` is
 * checked for date, time, date-time, email, uri, uuid, ipv4 and ipv6; an integer must be within the safe range.
 */
export function createCheck(linted: LintedSchema): Check {
  const budget = new Budget()
  const linked = linkSchema(linted, budget.prototype)
  const validator = new Validator(linked.root, "2020-12", false)
  return (value) => {
    const survey = surveyData(value, linked.maxUniqueItems)
    if (survey.issue !== undefined) return [survey.issue]
    if (survey.mostComparisons > maxComparisons)
      return [{ message: "has too many items to tell whether they all differ" }]
    try {
      budget.open(linked, survey)
      const data: unknown = survey.hasUndefined ? JSON.parse(JSON.stringify(value)) : value
      const { valid, errors } = validator.validate(data)
      return valid ? [] : toIssues(errors, data, linked.root)
    } catch {
      // The budget is used up, or the stack is.
      return [{ message: "takes too much work to be checked" }]
    }
  }
}

const tooMuchWork = new Error("the budget of steps is used up")

/**
 * Counts the steps of one check. The validator has no hook for that, but it reads every keyword of a subschema when it applies
 * it; so each linked subschema inherits a getter for one keyword that linking has removed.
 */
class Budget {
  readonly prototype: object
  #costs: ReadonlyMap<object, StepCost> = new Map()
  #text = 0
  #names = 0
  #comparisons = 0
  #left = 0

  constructor() {
    const spend = (node: object): void => this.#spend(node)
    this.prototype = Object.defineProperty({}, "$recursiveAnchor", {
      get(this: object): undefined {
        spend(this)
      },
    })
  }

  open({ costs }: LinkedSchema, survey: DataSurvey): void {
    this.#costs = costs
    this.#text = survey.longestText / 1024
    this.#names = 1 + survey.longestNames / 64
    this.#comparisons = survey.mostComparisons / 64
    this.#left = maxSteps
  }

  #spend(node: object): void {
    const cost = this.#costs.get(node)
    if (cost === undefined) return
    this.#left -= cost.steps + cost.namePatterns * this.#names
    if (cost.readsText) this.#left -= this.#text
    if (cost.comparesItems) this.#left -= this.#comparisons
    if (this.#left < 0) throw tooMuchWork
  }
}

/** Keywords that only say that something below them is wrong; what is wrong there has an issue of its own. */
const wrappers: ReadonlySet<string> = new Set([
  "$ref",
  "additionalItems",
  "additionalProperties",
  "allOf",
  "dependentSchemas",
  "if",
  "items",
  "patternProperties",
  "prefixItems",
  "properties",
  "unevaluatedItems",
  "unevaluatedProperties",
])

function toIssues(errors: readonly OutputUnit[], data: unknown, root: object): readonly SchemaIssue[] {
  const issues = new Map<string, SchemaIssue>()
  for (const unit of errors) {
    if (wrappers.has(unit.keyword)) continue
    const message = toMessage(unit, root)
    issues.set(`${unit.instanceLocation} ${message}`, { message, path: toPath(unit.instanceLocation, data) })
  }
  return issues.size > 0 ? [...issues.values()] : [{ message: "does not match the schema" }]
}

function toMessage({ keyword, keywordLocation, error }: OutputUnit, root: object): string {
  switch (keyword) {
    case "type":
      return error.replace(
        /^Instance type "(.*)" is invalid\. Expected "(.*)"\.$/,
        (_, actual: string, expected: string) => {
          return `expected ${expected.replaceAll('", "', " or ")}, got ${actual}`
        },
      )
    case "required":
      return error.replace(/^Instance does not have required property (.*)\.$/s, "the required property $1 is missing")
    case "enum":
      return error === "Instance does not match any of []."
        ? "is not allowed here"
        : toSentence(error, "must be one of", /^.* any of/)
    case "const":
      return toSentence(error, "must be", /^Instance does not match/)
    case "not":
      return "matches what it must not match"
    case "anyOf":
      return "matches none of the allowed forms"
    case "oneOf":
      return error.includes("(0 matches)")
        ? "matches none of the allowed forms"
        : "must match exactly one form, but matches several"
    case "maxProperties":
      return error.replace(/^.* at least (.*) properties\.$/, "has more than $1 properties")
    case "pattern":
      return `does not match the pattern ${String(keywordAt(root, keywordLocation))}`
    default:
      return toSentence(error, "the value", /^Instance/)
  }
}

function toSentence(error: string, replacement: string, start: RegExp): string {
  const text = error.replace(start, replacement).replace(/\.$/, "")
  return text.slice(0, 1).toLowerCase() + text.slice(1)
}

/** The value of the keyword that an error comes from, in the linked schema. */
function keywordAt(root: object, location: string): JsonValue | undefined {
  const { $defs } = root as JsonObject
  let value: JsonValue | undefined = root as JsonObject
  for (const token of tokensOf(location)) {
    value = isJsonObject(value) || Array.isArray(value) ? (value as JsonObject)[token] : undefined
    if (token === "$ref" && typeof value === "string" && isJsonObject($defs))
      value = $defs[value.slice("#/$defs/".length)]
  }
  return value
}

function toPath(location: string, data: unknown): readonly PropertyKey[] {
  let value = data
  return tokensOf(location).map((token) => {
    const isIndex = Array.isArray(value)
    value = typeof value === "object" && value !== null ? (value as Record<string, unknown>)[token] : undefined
    return isIndex ? Number(token) : token
  })
}

function tokensOf(location: string): readonly string[] {
  const tokens = location.split("/").slice(1)
  return tokens.map((token) => decodeURIComponent(token).replaceAll("~1", "/").replaceAll("~0", "~"))
}
