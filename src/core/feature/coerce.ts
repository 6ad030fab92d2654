/** Arguments that models write as text where a tool wants something else, read as what the tool's schema says they are. */
import { setMember } from "../schema/bounds.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"

const MAX_DEPTH = 32

/**
 * The arguments with texts that hold JSON read as objects, lists, numbers, booleans or null, where the schema's `type` names such
 * a type and not `string`. Whatever may be a text stays one, and so does a text that holds something else. Changes nothing that it is
 * given; the same object when there is nothing to change.
 */
export function coerceArguments(schema: JsonObject, args: JsonObject): JsonObject {
  const coerced = coerce(schema, args, MAX_DEPTH)
  return isJsonObject(coerced) ? coerced : args
}

function coerce(schema: JsonValue | undefined, value: JsonValue, depth: number): JsonValue {
  if (!isJsonObject(schema) || depth === 0) return value
  const types = [schema["type"] ?? []].flat()
  const read = typeof value === "string" && types.length > 0 && !types.includes("string") ? readAs(types, value) : value
  if (Array.isArray(read)) return mapItems(read, (item) => coerce(schema["items"], item, depth - 1))
  if (isJsonObject(read)) return coerceMembers(schema["properties"], read, depth - 1)
  return read
}

function coerceMembers(properties: JsonValue | undefined, object: JsonObject, depth: number): JsonObject {
  if (!isJsonObject(properties)) return object
  const changed: Record<string, JsonValue> = {}
  let isSame = true
  for (const [name, member] of Object.entries(object)) {
    if (member === undefined) continue
    const property = Object.hasOwn(properties, name) ? properties[name] : undefined
    const coerced = coerce(property, member, depth)
    isSame &&= coerced === member
    setMember(changed, name, coerced)
  }
  return isSame ? object : changed
}

function mapItems(items: readonly JsonValue[], change: (item: JsonValue) => JsonValue): readonly JsonValue[] {
  const changed = items.map(change)
  return changed.every((item, index) => item === items[index]) ? items : changed
}

/** The JSON that a text holds, when it is of one of the types; otherwise the text. */
function readAs(types: readonly JsonValue[], text: string): JsonValue {
  let value: JsonValue
  try {
    value = JSON.parse(text)
  } catch {
    return text
  }
  return types.some((type) => isOfType(type, value)) ? value : text
}

function isOfType(type: JsonValue, value: JsonValue): boolean {
  switch (type) {
    case "object":
      return isJsonObject(value)
    case "array":
      return Array.isArray(value)
    case "integer":
      return Number.isSafeInteger(value)
    case "number":
      return typeof value === "number" && Number.isFinite(value)
    case "boolean":
      return typeof value === "boolean"
    default:
      return type === "null" && value === null
  }
}
