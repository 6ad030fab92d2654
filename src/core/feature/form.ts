/** Forms: the JSON Schema of an object projected onto what the negotiated revision's clients can show. */
import type { FormFacts, FormField } from "../model/elicitation.js"
import { indexSchema, type SchemaIndex } from "../schema/subschema.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { LISTS_ARE_NEWER, projectField } from "./form-field.js"

/** A form as it is sent, or the property that no client can show. */
export type Projection =
  | {
      readonly ok: true
      readonly schema: JsonObject
      /** The properties that may be null: a form leaves them empty, and an answer leaves them out. */
      readonly nullable: readonly string[]
    }
  | FormProblem

/** Why a schema is no form. */
export interface FormProblem {
  readonly ok: false
  /** Empty for the root. */
  readonly property: string
  readonly problem: string
  /** Whether clients of a newer revision can show it. */
  readonly newer: boolean
}

/** How many references are followed one after the other. */
const MAX_STEPS = 32

/** Ends of names that say that a field holds a credential; letters only, in lower case. */
const SECRETS =
  /(?:password|passwd|passphrase|passcode|secret|apikey|accesstoken|refreshtoken|authtoken|privatekey|cardnumber|cvv|cvc)$/

/**
 * Projects the JSON Schema of an object. Constraints that a form cannot say are left out of what is sent; they are still
 * enforced on the answer, with the original schema. Credentials are never asked for in a form.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#requested-schema
 */
export function projectForm(root: JsonObject, facts: FormFacts): Projection {
  const index = indexSchema(root)
  if (!index.ok) return refuse("", index.problem)
  const members: Members = { fields: new Map(), required: new Set() }
  const problem = collect(root, index, members, 0)
  if (problem !== undefined) return refuse("", problem)
  const fields = new Map<string, FormField>()
  const nullable: string[] = []
  for (const [name, given] of members.fields) {
    const { field, isNullable } = withoutNull(follow(given, index), index)
    if (isSecret(name, field)) return refuse(name, "asks for a credential: send the user to a page, with ctx.elicitUrl")
    const { items } = field
    const projected = projectField(isJsonObject(items) ? { ...field, items: follow(items, index) } : field, facts)
    if (typeof projected === "string") return refuse(name, projected, projected === LISTS_ARE_NEWER)
    fields.set(name, projected)
    if (isNullable) nullable.push(name)
  }
  const required = [...members.required].filter((name) => fields.has(name) && !nullable.includes(name))
  return {
    ok: true,
    schema: { type: "object", properties: Object.fromEntries(fields), ...(required.length === 0 ? {} : { required }) },
    nullable,
  }
}

function refuse(property: string, problem: string, newer = false): FormProblem {
  return { ok: false, property, problem, newer }
}

interface Members {
  readonly fields: Map<string, JsonValue>
  readonly required: Set<string>
}

/** Collects the properties of an object, also those of what it is put together from. Answers why there is no such list. */
function collect(schema: JsonObject, index: SchemaIndex, members: Members, depth: number): string | undefined {
  if (depth > MAX_STEPS) return "refers to itself"
  const { properties, required, anyOf, oneOf, allOf, $ref } = schema
  for (const [name, field] of Object.entries(isJsonObject(properties) ? properties : {})) {
    if (field !== undefined && !members.fields.has(name)) members.fields.set(name, field)
  }
  if ([anyOf ?? [], oneOf ?? []].flat().some((branch) => addsFields(branch, members))) {
    return "is a union, which no form can show"
  }
  for (const name of Array.isArray(required) ? required : []) if (typeof name === "string") members.required.add(name)
  const parts: readonly (JsonValue | undefined)[] = Array.isArray(allOf) ? allOf : []
  for (const part of [...parts, typeof $ref === "string" ? index.resolve($ref, schema) : undefined]) {
    const problem = isJsonObject(part) ? collect(part, index, members, depth + 1) : undefined
    if (problem !== undefined) return problem
  }
  return undefined
}

/** Whether a branch of a union has fields of its own, and not only constraints. */
function addsFields(branch: JsonValue, { fields }: Members): boolean {
  if (!isJsonObject(branch)) return false
  const { properties, $ref } = branch
  return $ref !== undefined || (isJsonObject(properties) && Object.keys(properties).some((name) => !fields.has(name)))
}

/** A field with what it refers to put in its place. */
function follow(given: JsonValue, index: SchemaIndex): JsonObject {
  let field: JsonObject = isJsonObject(given) ? given : {}
  let from = field
  for (let step = 0; step < MAX_STEPS; step++) {
    const { $ref, allOf, ...rest } = field
    const target = typeof $ref === "string" ? index.resolve($ref, from) : soleMember(allOf)
    if (!isJsonObject(target)) return field
    field = { ...target, ...rest }
    from = target
  }
  return {}
}

function soleMember(list: JsonValue | undefined): JsonValue | undefined {
  return Array.isArray(list) && list.length === 1 ? list[0] : undefined
}

/** A field without the null that it may be, in any of the ways in which libraries write it. */
function withoutNull(
  field: JsonObject,
  index: SchemaIndex,
): { readonly field: JsonObject; readonly isNullable: boolean } {
  const { anyOf, oneOf, type, enum: values, default: initial, ...labels } = field
  const start = initial === undefined || initial === null ? {} : { default: initial }
  const union = Array.isArray(anyOf) ? anyOf : oneOf
  const others = Array.isArray(union) ? union.filter((member) => !isNull(member)) : []
  if (Array.isArray(union) && others.length < union.length) {
    const sole = soleMember(others)
    const rest = isJsonObject(sole) ? follow(sole, index) : { anyOf: others }
    return { field: { ...rest, ...labels, ...start }, isNullable: true }
  }
  const types = [type ?? []].flat()
  const choices = Array.isArray(values) ? values : []
  if (!types.includes("null") && !(types.length === 0 && choices.includes(null))) return { field, isNullable: false }
  const named = types.filter((name) => name !== "null")
  const chosen = choices.length === 0 ? {} : { enum: choices.filter((value) => value !== null) }
  return { field: { ...labels, ...start, ...chosen, type: soleMember(named) ?? named }, isNullable: true }
}

function isNull(member: JsonValue): boolean {
  return isJsonObject(member) && (member["type"] === "null" || member["const"] === null)
}

/** Whether a field asks for what must not pass through a client. */
export function isSecret(name: string, field: JsonObject): boolean {
  return field["format"] === "password" || SECRETS.test(name.toLowerCase().replaceAll(/[^a-z]/g, ""))
}
