/** Whether the value of a keyword has the shape that the meta-schema of its dialect asks for. */
import { isJsonObject, type JsonValue } from "../wire/message.js"
import type { Dialect, Shape } from "./keyword.js"

const maxEnum = 10_000
const types: ReadonlySet<unknown> = new Set(["array", "boolean", "integer", "null", "number", "object", "string"])

/** What is wrong with the value of a keyword, by the meta-schema of its dialect. */
export function checkShape(shape: Shape, value: JsonValue, dialect: Dialect): string | undefined {
  switch (shape) {
    case "schema":
      return isSchema(value) ? undefined : "must be a schema"
    case "schemas":
      return isSchemas(value) ? undefined : "must be a list of schemas that is not empty"
    case "schemaMap":
      return isMapOf(value, isSchema) ? undefined : "must be an object of schemas"
    case "items":
      if (isSchema(value) || (dialect !== "2020-12" && isSchemas(value))) return undefined
      return dialect === "2020-12"
        ? 'must be a schema ("prefixItems" takes a list)'
        : "must be a schema or a list of schemas"
    case "dependencies":
      return isMapOf(value, (item) => isSchema(item) || isNames(item))
        ? undefined
        : "must be an object of schemas or names"
    case "string":
    case "pattern":
      return typeof value === "string" ? undefined : "must be a string"
    case "number":
      return typeof value === "number" ? undefined : "must be a number"
    case "positive":
      return typeof value === "number" && value > 0 ? undefined : "must be a number greater than 0"
    case "count":
      return typeof value === "number" && Number.isInteger(value) && value >= 0
        ? undefined
        : "must be an integer, 0 or more"
    case "flag":
      return typeof value === "boolean" ? undefined : "must be true or false"
    case "names":
      return isNames(value) ? undefined : "must be a list of different strings"
    case "nameMap":
      return isMapOf(value, isNames) ? undefined : "must be an object of lists of different strings"
    case "types":
      return isTypes(value) ? undefined : `must be one or several of ${[...types].join(", ")}`
    case "values":
      return Array.isArray(value) && value.length <= maxEnum ? undefined : `must be a list of at most ${maxEnum} values`
    case "any":
      return undefined
  }
}

function isSchema(value: JsonValue | undefined): boolean {
  return typeof value === "boolean" || isJsonObject(value)
}

function isSchemas(value: JsonValue): boolean {
  return Array.isArray(value) && value.length > 0 && value.every(isSchema)
}

function isMapOf(value: JsonValue, isItem: (item: JsonValue | undefined) => boolean): boolean {
  return isJsonObject(value) && Object.values(value).every(isItem)
}

function isNames(value: JsonValue | undefined): boolean {
  return Array.isArray(value) && value.every((name) => typeof name === "string") && new Set(value).size === value.length
}

function isTypes(value: JsonValue): boolean {
  return (
    types.has(value) ||
    (isNames(value) && Array.isArray(value) && value.length > 0 && value.every((type) => types.has(type)))
  )
}
