/** What one field of a form that a server sent lets the user say. */
import { judgePattern } from "../schema/pattern-cost.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { TEXT_FORMATS } from "./form-format.js"

/** What is wrong with a value, or undefined. */
export type Rule = (value: JsonValue) => string | undefined

/** Reads the value of one keyword: its rule, or why no form can have it. */
type RuleReader = (value: JsonValue, field: JsonObject) => Rule | string

/** Keywords that would forbid values in ways that no form knows. All others that are not below only describe. */
const BEYOND = [
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "allOf",
  "contains",
  "if",
  "multipleOf",
  "not",
  "patternProperties",
  "prefixItems",
  "properties",
  "unevaluatedItems",
]

/** How long a text may be that is held against a pattern of quadratic cost, in UTF-16 units. */
const MAX_QUADRATIC = 1024

const TYPES = new Map<JsonValue, (value: JsonValue) => boolean>([
  ["string", (value) => typeof value === "string"],
  ["number", (value) => typeof value === "number"],
  ["integer", (value) => Number.isSafeInteger(value)],
  ["boolean", (value) => typeof value === "boolean"],
  ["null", (value) => value === null],
  ["array", (value) => Array.isArray(value)],
])

const READERS: Readonly<Record<string, RuleReader>> = {
  type: readType,
  enum: (values) =>
    Array.isArray(values) && values.every(isPlain) ? oneOfThese(values) : "has choices that are no plain values",
  const: (value) => (isPlain(value) ? oneOfThese([value]) : "has a choice that is no plain value"),
  oneOf: (members) => readUnion(members, (matches) => matches === 1),
  anyOf: (members) => readUnion(members, (matches) => matches > 0),
  items: readItems,
  format: readFormat,
  pattern: readPattern,
  minLength: bound(lengthOf, (length, limit) => length >= limit, "must have at least", " characters"),
  maxLength: bound(lengthOf, (length, limit) => length <= limit, "must have at most", " characters"),
  minimum: bound(numberOf, (number, limit) => number >= limit, "must be at least"),
  maximum: bound(numberOf, (number, limit) => number <= limit, "must be at most"),
  exclusiveMinimum: bound(numberOf, (number, limit) => number > limit, "must be more than"),
  exclusiveMaximum: bound(numberOf, (number, limit) => number < limit, "must be less than"),
  minItems: bound(countOf, (count, limit) => count >= limit, "must have at least", " choices"),
  maxItems: bound(countOf, (count, limit) => count <= limit, "must have at most", " choices"),
  uniqueItems: (isUnique) => (value) =>
    isUnique === true && Array.isArray(value) && new Set(value).size < value.length
      ? "must not have a choice twice"
      : undefined,
}

/**
 * The rule of a field: texts, numbers, booleans, choices between plain values, and lists of choices. A string says why it is none.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export function readRule(field: JsonValue | undefined): Rule | string {
  if (!isJsonObject(field)) return "is described by something else than an object"
  const has = (keyword: string): boolean => Object.hasOwn(field, keyword)
  if (!["type", "enum", "const", "oneOf", "anyOf"].some(has)) return "does not say its type"
  const beyond = BEYOND.find(has)
  if (beyond !== undefined) return `uses "${beyond}", which no form can show`
  const rules: Rule[] = []
  for (const [keyword, read] of Object.entries(READERS)) {
    const value = has(keyword) ? field[keyword] : undefined
    const rule = value === undefined ? undefined : read(value, field)
    if (typeof rule === "string") return rule
    if (rule !== undefined) rules.push(rule)
  }
  return (value) => {
    for (const rule of rules) {
      const problem = rule(value)
      if (problem !== undefined) return problem
    }
    return undefined
  }
}

function readType(type: JsonValue, { items }: JsonObject): Rule | string {
  const names: readonly JsonValue[] = Array.isArray(type) ? type : [type]
  if (names.includes("object")) return "is an object, and forms are flat"
  const tests = names.map((name) => TYPES.get(name))
  if (tests.length === 0 || tests.includes(undefined)) return "has no type that a form knows"
  if (names.includes("array") && items === undefined) return NO_CHOICES
  const problem = `must be of type ${names.join(" or ")}`
  return (value) => (tests.some((test) => test?.(value)) ? undefined : problem)
}

const NO_CHOICES = "is a list of something else than choices"

/** A list holds choices, and nothing that would have to be typed in. */
function readItems(items: JsonValue): Rule | string {
  const isChoice =
    isJsonObject(items) && ["enum", "const", "oneOf", "anyOf"].some((keyword) => Object.hasOwn(items, keyword))
  const rule = isChoice ? readRule(items) : NO_CHOICES
  if (typeof rule === "string") return NO_CHOICES
  return (value) => {
    if (!Array.isArray(value)) return undefined
    return value.every((item) => isPlain(item) && rule(item) === undefined)
      ? undefined
      : "must have only the choices that are offered"
  }
}

function readUnion(members: JsonValue, isEnough: (matches: number) => boolean): Rule | string {
  if (!Array.isArray(members) || members.length === 0) return "offers no choices"
  const rules = members.map(readRule)
  const problem = rules.find((rule) => typeof rule === "string")
  if (problem !== undefined) return `has a choice that ${problem}`
  const matching = (value: JsonValue): number =>
    rules.filter((rule) => typeof rule === "function" && rule(value) === undefined).length
  return (value) => (isEnough(matching(value)) ? undefined : "must be one of what is offered")
}

function oneOfThese(values: readonly JsonValue[]): Rule {
  const choices = new Set(values)
  return (value) => (choices.has(value) ? undefined : "must be one of the choices that are offered")
}

function isPlain(value: JsonValue): boolean {
  return typeof value !== "object" || value === null
}

function readFormat(name: JsonValue): Rule | string {
  const format = typeof name === "string" ? TEXT_FORMATS.get(name) : undefined
  return (value) =>
    typeof value !== "string" || format === undefined || format.test(value) ? undefined : `must be ${format.expected}`
}

/** Patterns are no part of forms, and the server's: what could take long to try is left to the server to check. */
function readPattern(pattern: JsonValue): Rule | string {
  if (typeof pattern !== "string") return "has a pattern that is no text"
  const cost = judgePattern(pattern)
  if (!cost.ok) return () => undefined
  const expression = new RegExp(pattern, "u")
  const longest = cost.degree === 1 ? Number.POSITIVE_INFINITY : MAX_QUADRATIC
  return (value) =>
    typeof value !== "string" || value.length > longest || expression.test(value)
      ? undefined
      : "must have the form that is asked for"
}

/** A bound on what is measured of a value; values that have no such measure are not bounded by it. */
function bound(
  measure: (value: JsonValue) => number | undefined,
  isWithin: (measured: number, limit: number) => boolean,
  text: string,
  unit = "",
): RuleReader {
  return (limit) => {
    if (typeof limit !== "number") return "has a bound that is no number"
    return (value) => {
      const measured = measure(value)
      return measured === undefined || isWithin(measured, limit) ? undefined : `${text} ${limit}${unit}`
    }
  }
}

/** In characters as people count them, not in halves of them. */
function lengthOf(value: JsonValue): number | undefined {
  return typeof value === "string" ? [...value].length : undefined
}

function numberOf(value: JsonValue): number | undefined {
  return typeof value === "number" ? value : undefined
}

function countOf(value: JsonValue): number | undefined {
  return Array.isArray(value) ? value.length : undefined
}
