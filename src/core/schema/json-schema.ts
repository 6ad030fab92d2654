/** From a library's schema to the JSON Schema that goes on the wire, once per definition. A wrong schema is a `misuse` error. */
import { type McpError, misuse } from "../error/error.js"
import { clampText } from "../feature/text.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { copySchema, type SchemaProblem } from "./bounds.js"
import type { Schema } from "./standard.js"
import { checkReferences, indexSchema, type SchemaIndex } from "./subschema.js"

const target = "draft-2020-12"

/** The schema of a tool that takes no arguments. */
const noArguments: JsonObject = { type: "object", additionalProperties: false }

/**
 * The JSON Schema of what goes into `schema`: before defaults, transforms and pipes. Its root is always an object; what the
 * library or the user wrote is otherwise left as it is, `$schema` included. `owner` names the definition in errors, such as
 * `tool "x"`. Without a schema nothing may be passed.
 *
 * @throws misuse `schema_without_json` when the library cannot convert the schema; `invalid_schema` when it did, and the
 * result takes no object, is too large or refers to something outside of itself.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
 */
export function inputJsonSchema(schema: Schema | undefined, owner: string): JsonObject {
  if (schema === undefined) return noArguments
  const { root, index } = convert(schema, "input", owner)
  if (root["type"] === "object") return root
  if (!mayBeObject(root, index, new Map())) {
    throw invalid(
      owner,
      `its input takes an object, but the schema only allows ${describeRoot(root)}`,
      "Wrap it in an object schema with one property",
    )
  }
  const { $schema, ...rest } = root
  return { ...($schema === undefined ? {} : { $schema }), ...rest, type: "object" }
}

/**
 * The JSON Schema of what comes out of `schema`: after defaults, transforms and pipes. Its root may be anything.
 *
 * @throws misuse as {@link inputJsonSchema}.
 */
export function outputJsonSchema(schema: Schema, owner: string): JsonObject {
  return convert(schema, "output", owner).root
}

/** An argument of a prompt as it is listed. Its value on the wire is a string. */
export interface PromptArgument {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly required?: boolean
}

/**
 * The arguments that a prompt lists: the properties of its input.
 *
 * @throws misuse as {@link inputJsonSchema}.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#prompt
 */
export function promptArguments(schema: Schema | undefined, owner: string): readonly PromptArgument[] {
  if (schema === undefined) return []
  const root = inputJsonSchema(schema, owner)
  const index = indexSchema(root)
  if (!index.ok) throw refused(owner, index)
  const { properties, required } = membersOf(root, index, new Map())
  return [...properties].map(([name, property]) => {
    const title = annotation(property, "title", index)
    const description = annotation(property, "description", index)
    return {
      name,
      ...(title === undefined ? {} : { title }),
      ...(description === undefined ? {} : { description }),
      ...(required.has(name) ? { required: true } : {}),
    }
  })
}

/** A schema within the bounds, as a copy, and its subschemas. */
export interface BoundedSchema {
  readonly ok: true
  readonly root: JsonObject
  readonly index: SchemaIndex
}

/** Checks what every JSON Schema keeps, whoever wrote it: depth, size, number of subschemas, no reference outside of itself. */
export function boundSchema(raw: unknown): BoundedSchema | SchemaProblem {
  const copy = copySchema(raw)
  if (!copy.ok) return copy
  const index = indexSchema(copy.schema)
  if (!index.ok) return index
  return checkReferences(index) ?? { ok: true, root: copy.schema, index }
}

/** The `misuse` error of a JSON Schema that has a problem. */
export function refused(owner: string, { path, problem }: SchemaProblem): McpError {
  return misuse("invalid_schema", `${owner}: the JSON Schema is refused at "#${path}": ${problem}.`)
}

function convert(schema: Schema, side: "input" | "output", owner: string): BoundedSchema {
  const bounded = boundSchema(runConverter(schema, side, owner))
  if (!bounded.ok) throw refused(owner, bounded)
  return bounded
}

function runConverter(schema: Schema, side: "input" | "output", owner: string): unknown {
  // The types say that both halves are there; callers without types, and casts, say otherwise.
  const standard: Partial<Schema["~standard"]> | undefined = schema?.["~standard"]
  if (typeof standard?.validate !== "function") {
    throw invalid(
      owner,
      `a schema has a "~standard" property with validate(), and this value has none`,
      "Pass a schema of zod 4, arktype or valibot, or jsonSchema(raw) of conduit-mcp/schema",
    )
  }
  const library = `its schema (${standard.vendor ?? "unknown vendor"})`
  if (typeof standard.jsonSchema?.[side] !== "function") {
    throw withoutJson(owner, `${library} validates, but does not convert itself to JSON Schema`)
  }
  try {
    return standard.jsonSchema[side]({ target })
  } catch (error) {
    const cause = clampText(error).replace(/\.$/, "")
    throw withoutJson(owner, `${library} cannot be converted to JSON Schema on the ${side} side: ${cause}`, error)
  }
}

/** Whether some object could satisfy the schema, as far as the keywords that decide about types tell. */
function mayBeObject(schema: JsonValue | undefined, index: SchemaIndex, known: Map<JsonObject, boolean>): boolean {
  if (typeof schema === "boolean") return schema
  if (!isJsonObject(schema)) return true
  const before = known.get(schema)
  if (before !== undefined) return before
  known.set(schema, true)
  const { type, enum: values, not, $ref, oneOf, anyOf, allOf } = schema
  const may = (branch: JsonValue | undefined): boolean => mayBeObject(branch, index, known)
  const answer =
    (type === undefined || [type].flat().includes("object")) &&
    (schema["const"] === undefined || isJsonObject(schema["const"])) &&
    (!Array.isArray(values) || values.some(isJsonObject)) &&
    !(not === true || (isJsonObject(not) && Object.keys(not).length === 0)) &&
    (typeof $ref !== "string" || may(index.resolve($ref, schema))) &&
    (!Array.isArray(oneOf) || oneOf.some(may)) &&
    (!Array.isArray(anyOf) || anyOf.some(may)) &&
    (!Array.isArray(allOf) || allOf.every(may))
  known.set(schema, answer)
  return answer
}

function describeRoot(root: JsonObject): string {
  const { type } = root
  if (typeof type === "string") return `"${type}"`
  if (Array.isArray(type)) return type.map((name) => `"${String(name)}"`).join(" or ")
  return "other values"
}

interface Members {
  readonly properties: Map<string, JsonValue | undefined>
  readonly required: Set<string>
}

/** The properties of an object schema. In a union a property is required when every branch requires it. */
function membersOf(schema: JsonValue | undefined, index: SchemaIndex, known: Map<JsonObject, Members>): Members {
  const members: Members = { properties: new Map(), required: new Set() }
  if (!isJsonObject(schema)) return members
  const before = known.get(schema)
  if (before !== undefined) return before
  known.set(schema, members)
  const { properties, required, $ref, allOf, oneOf, anyOf } = schema
  addMembers(
    members,
    Object.entries(isJsonObject(properties) ? properties : {}),
    Array.isArray(required) ? required : [],
  )
  const of = (branch: JsonValue | undefined): Members => membersOf(branch, index, known)
  const parts = Array.isArray(allOf) ? [...allOf] : []
  if (typeof $ref === "string") parts.push(index.resolve($ref, schema) ?? true)
  for (const part of parts.map(of)) addMembers(members, part.properties, part.required)
  for (const union of [oneOf, anyOf]) {
    const branches = Array.isArray(union) ? union.map(of) : []
    const isInAll = (name: string): boolean => branches.every((branch) => branch.required.has(name))
    for (const branch of branches) addMembers(members, branch.properties, [...branch.required].filter(isInAll))
  }
  return members
}

function addMembers(
  members: Members,
  properties: Iterable<readonly [string, JsonValue | undefined]>,
  required: Iterable<JsonValue>,
): void {
  for (const [name, property] of properties) if (!members.properties.has(name)) members.properties.set(name, property)
  for (const name of required) if (typeof name === "string") members.required.add(name)
}

function annotation(
  schema: JsonValue | undefined,
  key: "title" | "description",
  index: SchemaIndex,
): string | undefined {
  if (!isJsonObject(schema)) return undefined
  const own = schema[key]
  if (typeof own === "string") return own
  const ref = schema["$ref"]
  const target = typeof ref === "string" ? index.resolve(ref, schema) : undefined
  const there = isJsonObject(target) ? target[key] : undefined
  return typeof there === "string" ? there : undefined
}

function invalid(owner: string, problem: string, fix: string): McpError {
  return misuse("invalid_schema", `${owner}: ${problem}. ${fix}.`)
}

function withoutJson(owner: string, problem: string, cause?: unknown): McpError {
  return misuse(
    "schema_without_json",
    `${owner}: ${problem}. Either give the JSON Schema yourself, withJsonSchema(schema, { … }) of conduit-mcp/schema, ` +
      "or use a schema that converts itself: zod 4, arktype, or valibot through toStandardJsonSchema() of @valibot/to-json-schema.",
    cause,
  )
}
