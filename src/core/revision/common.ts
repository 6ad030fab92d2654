/** The pieces that revisions share: how a method table is written, and the encoders that leave members out. */
import type { Implementation } from "../model/identity.js"
import type { JsonObject, JsonValue } from "../wire/message.js"
import type { Encoders, MethodFacts, NamedBy, Operation } from "./revision.js"

/** What is said of a method in a table's source; a missing member is undefined or false. */
export interface MethodRow {
  readonly operation: Operation
  readonly namedBy?: NamedBy
  readonly cacheable?: boolean
}

/** The method table of a revision from its rows. */
export function methodTable(rows: Readonly<Record<string, MethodRow>>): ReadonlyMap<string, MethodFacts> {
  return new Map(
    Object.entries(rows).map(([method, row]) => [
      method,
      { method, operation: row.operation, namedBy: row.namedBy, cacheable: row.cacheable ?? false },
    ]),
  )
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
  tool: (tool) => encodeWithout(tool),
  resource: (resource) => encodeWithout(resource),
  template: (template) => encodeWithout(template),
  prompt: (prompt) => encodeWithout(prompt),
  implementation: (implementation: Implementation) => encodeWithout(implementation),
}

/**
 * A tool whose output schema is sent to a client that knows objects only: another root stands under `result`, and its local
 * references are rewritten to where it now stands.
 */
export function wrapOutputSchema(schema: JsonObject): JsonObject {
  if (schema["type"] === "object") return schema
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

function rebase(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(rebase)
  if (typeof value !== "object" || value === null) return value
  const moved: Record<string, JsonValue> = {}
  for (const [key, member] of Object.entries(value)) {
    if (member === undefined) continue
    const isPointer = key === "$ref" && typeof member === "string" && (member === "#" || member.startsWith("#/"))
    moved[key] = isPointer ? BASE + member.slice(1) : rebase(member)
  }
  return moved
}
