/** Forms from the other side: what a server asks for, and what a user's answer comes to. */
import type { SchemaIssue } from "../schema/standard.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { isSecret } from "./form.js"
import { type Rule, readRule } from "./form-rule.js"
import { clampText } from "./text.js"

/** A form that can be filled in: its fields by name. */
export type Form = ReadonlyMap<string, FormRule>

/** One field of a form. */
export interface FormRule {
  readonly isRequired: boolean
  /** What stands for it when it is left out; undefined when nothing does. */
  readonly initial: JsonValue | undefined
  readonly check: Rule
}

/** A form, or why a schema is none. */
export type ParsedForm = { readonly ok: true; readonly form: Form } | { readonly ok: false; readonly problem: string }

/** The content that is sent for an answer, or what is wrong with it. */
export type FormContent =
  | { readonly ok: true; readonly content: JsonObject }
  | { readonly ok: false; readonly issues: readonly SchemaIssue[] }

/** Keywords of the whole form that would forbid answers in ways that no form knows. */
const BEYOND = [
  "$ref",
  "$dynamicRef",
  "$recursiveRef",
  "allOf",
  "anyOf",
  "const",
  "dependencies",
  "dependentRequired",
  "dependentSchemas",
  "enum",
  "if",
  "maxProperties",
  "minProperties",
  "not",
  "oneOf",
  "patternProperties",
  "propertyNames",
]

/**
 * Reads the schema of a form: a flat object of texts, numbers, booleans and choices, which asks for no credentials.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export function parseForm(schema: JsonValue | undefined): ParsedForm {
  if (!isJsonObject(schema) || schema["type"] !== "object") return refuse('must be a schema of "type": "object"')
  const beyond = BEYOND.find((keyword) => Object.hasOwn(schema, keyword))
  if (beyond !== undefined) return refuse(`uses "${beyond}", which no form can show`)
  const { properties = {}, required = [] } = schema
  if (!isJsonObject(properties)) return refuse('has "properties" that are no object')
  if (!Array.isArray(required)) return refuse('has "required" that is no list')
  const missing = required.find((name) => typeof name !== "string" || !Object.hasOwn(properties, name))
  if (missing !== undefined) return refuse(`requires "${clampText(missing, 60)}", which it does not describe`)
  const form = new Map<string, FormRule>()
  for (const [name, field] of Object.entries(properties)) {
    const check = isJsonObject(field) && isSecret(name, field) ? "asks for a credential" : readRule(field)
    if (typeof check === "string") return refuse(`has a field "${clampText(name, 60)}" that ${check}`)
    form.set(name, { isRequired: required.includes(name), initial: initialOf(field, check), check })
  }
  return { ok: true, form }
}

function refuse(problem: string): ParsedForm {
  return { ok: false, problem }
}

/** The default of a field, unless it is nothing or no value that the field may have. */
function initialOf(field: JsonValue | undefined, check: Rule): JsonValue | undefined {
  const value = isJsonObject(field) && Object.hasOwn(field, "default") ? field["default"] : undefined
  return value === undefined || value === null || check(value) !== undefined ? undefined : value
}

/** What an answer comes to: fields that are left out take their defaults, unknown ones are dropped, and the rest is checked. */
export function fillForm(form: Form, given: JsonObject): FormContent {
  const content: [string, JsonValue][] = []
  const issues: SchemaIssue[] = []
  for (const [name, { isRequired, initial, check }] of form) {
    const said = saidOf(given, name, check)
    const value = said === undefined ? initial : said
    const problem = value === undefined ? missingOf(isRequired) : check(value)
    if (problem !== undefined) issues.push({ message: problem, path: [name] })
    else if (value !== undefined) content.push([name, value])
  }
  return issues.length === 0 ? { ok: true, content: Object.fromEntries(content) } : { ok: false, issues }
}

/** What an answer says of a field; a null says nothing, unless the field may be null. */
function saidOf(given: JsonObject, name: string, check: Rule): JsonValue | undefined {
  const value = Object.hasOwn(given, name) ? given[name] : undefined
  return value === null && check(null) !== undefined ? undefined : value
}

function missingOf(isRequired: boolean): string | undefined {
  return isRequired ? "is required" : undefined
}
