/** The pieces that revisions share: how a method table is written, and the encoders that leave members out. */
import { codes } from "../error/codes.js"
import type { Implementation } from "../model/identity.js"
import { setMember } from "../schema/bounds.js"
import { shapeOf } from "../schema/keyword.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import type { Encoders, MethodFacts, NamedBy, Operation } from "./revision.js"

/** What is said of a method in a table's source; a missing member is undefined or false. */
export interface MethodRow {
  readonly operation: Operation
  readonly namedBy?: NamedBy
  readonly cacheable?: boolean
  readonly mayAsk?: boolean
  readonly stays?: boolean
}

/** The method table of a revision from its rows. */
export function methodTable(rows: Readonly<Record<string, MethodRow>>): ReadonlyMap<string, MethodFacts> {
  return new Map(
    Object.entries(rows).map(([method, row]) => [
      method,
      {
        method,
        operation: row.operation,
        namedBy: row.namedBy,
        cacheable: row.cacheable ?? false,
        mayAsk: row.mayAsk ?? false,
        stays: row.stays ?? false,
      },
    ]),
  )
}

/** Whether a code may be sent at all: some are names for what other peers send. */
export function isSendable(code: number): boolean {
  return Number.isSafeInteger(code) && code !== codes.requestCancelled && code !== codes.taskNotReady
}

/** A copy of a definition as JSON, without the named members and without those that are undefined. */
export function encodeWithout(definition: object, ...left: readonly string[]): JsonObject {
  const encoded: Record<string, JsonValue> = {}
  for (const [key, value] of Object.entries(definition)) {
    if (value !== undefined && !left.includes(key)) encoded[key] = value as JsonValue
  }
  return encoded
}

/** Encoders that send everything of the model. */
export const encodeAll: Encoders = {
  blocks: (blocks) => blocks,
  tool: (tool) => encodeWithout(tool),
  resource: (resource) => encodeWithout(resource),
  template: (template) => encodeWithout(template),
  prompt: (prompt) => encodeWithout(prompt),
  implementation: (implementation: Implementation) => encodeWithout(implementation),
}

/** Whether an output schema says of itself that every value is an object, which is all that older clients know. */
export function isObjectSchema(schema: JsonObject): boolean {
  return schema["type"] === "object"
}

/**
 * An output schema for a client that knows objects only: another root stands under `result`, and the references inside of it
 * are rewritten to where it now stands.
 */
export function wrapOutputSchema(schema: JsonObject): JsonObject {
  if (isObjectSchema(schema)) return schema
  const { $schema, ...root } = schema
  const wrapped: JsonObject = {
    type: "object",
    properties: { result: rebase(root) },
    required: ["result"],
    additionalProperties: false,
  }
  return $schema === undefined ? wrapped : { $schema, ...wrapped }
}

const BASE = "#/properties/result"

/** A schema, or a list of them, with its references moved. One with an `$id` is what its references are relative to, and stays. */
function rebase(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(rebase)
  if (!isJsonObject(value) || isResource(value)) return value
  return mapMembers(value, rebaseKeyword)
}

function isResource({ $id }: JsonObject): boolean {
  return typeof $id === "string" && !$id.startsWith("#")
}

function rebaseKeyword(value: JsonValue, keyword: string): JsonValue {
  if (keyword === "$ref" || keyword === "$dynamicRef") {
    return typeof value === "string" && /^#(?:\/|$)/.test(value) ? BASE + value.slice(1) : value
  }
  switch (shapeOf(keyword)) {
    case "schemaMap":
    case "dependencies":
      return isJsonObject(value) ? mapMembers(value, rebase) : value
    case "any":
    case "values":
      return value
    default:
      return keyword === "default" || keyword === "examples" ? value : rebase(value)
  }
}

function mapMembers(object: JsonObject, change: (value: JsonValue, key: string) => JsonValue): JsonObject {
  const changed: Record<string, JsonValue> = {}
  for (const [key, member] of Object.entries(object)) {
    if (member !== undefined) setMember(changed, key, change(member, key))
  }
  return changed
}
