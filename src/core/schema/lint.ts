/** Judges a JSON Schema that somebody wrote by hand or sent: whether it is valid, bounded, and safe to validate with. */
import { clampText } from "../feature/text.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { copySchema, pointer, type SchemaProblem, schemaLimits, schemaProblem } from "./bounds.js"
import {
  type Dialect,
  defaultDialect,
  dialectOf,
  isKeywordOf,
  isReferenceAlone,
  type Shape,
  shapeOf,
} from "./keyword.js"
import { judgePattern } from "./pattern-cost.js"
import { checkReferences, childrenOf, indexSchema, type SchemaIndex, type Subschema } from "./subschema.js"

/** A schema that may be used: a private copy, its dialect and its subschemas. */
export interface LintedSchema {
  readonly ok: true
  readonly dialect: Dialect
  readonly schema: JsonObject
  readonly index: SchemaIndex
}

const maxEnum = 10_000
/** The longest array that is compared item by item, and the longest text for a pattern that takes quadratic time. */
const maxQuadratic = 1024
const types: ReadonlySet<unknown> = new Set(["array", "boolean", "integer", "null", "number", "object", "string"])

/** Keywords that apply a subschema to the same value: a circle of them would never end. */
const inPlace: ReadonlySet<string> = new Set([
  "allOf",
  "anyOf",
  "dependencies",
  "dependentSchemas",
  "else",
  "if",
  "not",
  "oneOf",
  "then",
])

/**
 * Checks a schema by the rules of its dialect (`$schema`; without it 2020-12) and by these limits: the bounds of every schema, no
 * reference outside of itself, no circle of references that no data ends, at most 10,000 values in an `enum`, patterns that
 * run in linear time (or, beside a `maxLength` of at most 1,024, quadratic time), `uniqueItems` only beside such a `maxItems`.
 * Never throws.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#json-schema-usage
 */
export function lintSchema(raw: unknown): LintedSchema | SchemaProblem {
  const copy = copySchema(raw)
  if (!copy.ok) return copy
  const dialect = readDialect(copy.schema)
  if (typeof dialect !== "string") return dialect
  const index = indexSchema(copy.schema)
  if (!index.ok) return index
  for (const subschema of index.all.values()) {
    const problem = checkSubschema(subschema, dialect)
    if (problem !== undefined) return problem
  }
  const problem = checkReferences(index) ?? checkDynamic(index, dialect) ?? checkCircles(index, dialect)
  return problem ?? { ok: true, dialect, schema: copy.schema, index }
}

/** The references of a subschema: what `$ref` and its dynamic relatives point at. */
export function targetsOf(schema: JsonObject, index: SchemaIndex, dialect: Dialect): readonly (JsonObject | boolean)[] {
  return ["$ref", "$dynamicRef", "$recursiveRef"].flatMap((keyword) => {
    const ref = isKeywordOf(keyword, dialect) ? schema[keyword] : undefined
    const target = typeof ref === "string" ? index.resolve(ref, schema) : undefined
    return target === undefined ? [] : [target]
  })
}

function readDialect(root: JsonObject): Dialect | SchemaProblem {
  const { $schema } = root
  const dialect = typeof $schema === "string" ? dialectOf($schema) : $schema === undefined ? defaultDialect : undefined
  return (
    dialect ??
    schemaProblem(
      "/$schema",
      `the dialect "${clampText($schema)}" is not supported; draft 2020-12 (the default), 2019-09, draft-07 and draft-06 are`,
    )
  )
}

function checkSubschema({ schema, path }: Subschema, dialect: Dialect): SchemaProblem | undefined {
  const { $schema } = schema
  if (path !== "" && typeof $schema === "string" && dialectOf($schema) !== dialect) {
    return schemaProblem(pointer(path, "$schema"), "a part of a schema cannot be of another dialect than its root")
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const shape = isKeywordOf(keyword, dialect) ? shapeOf(keyword) : undefined
    const problem = shape === undefined || value === undefined ? undefined : checkShape(shape, value, dialect)
    if (problem !== undefined)
      return schemaProblem(pointer(path, keyword), `"${keyword}" ${problem} in ${nameOf(dialect)}`)
  }
  return checkNames(schema, path) ?? checkCost(schema, path)
}

function nameOf(dialect: Dialect): string {
  return dialect.startsWith("draft") ? dialect : `draft ${dialect}`
}

/** What is wrong with the value of a keyword, by the meta-schema of its dialect. */
function checkShape(shape: Shape, value: JsonValue, dialect: Dialect): string | undefined {
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
      if (!Array.isArray(value)) return "must be a list"
      return value.length > maxEnum ? `must not have more than ${maxEnum} values` : undefined
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

/** Property names are well-formed text, so that a pointer can name them. */
function checkNames(schema: JsonObject, path: string): SchemaProblem | undefined {
  for (const keyword of [
    "properties",
    "patternProperties",
    "dependentSchemas",
    "dependencies",
    "$defs",
    "definitions",
  ]) {
    const names = isJsonObject(schema[keyword]) ? Object.keys(schema[keyword]) : []
    if (names.some((name) => /\p{Surrogate}/u.test(name))) {
      return schemaProblem(pointer(path, keyword), "a property name is not well-formed Unicode")
    }
  }
  return undefined
}

/** What could take too long: patterns, and items that are compared with each other. */
function checkCost(schema: JsonObject, path: string): SchemaProblem | undefined {
  const { pattern, maxLength, patternProperties, uniqueItems, maxItems } = schema
  if (typeof pattern === "string") {
    const cost = judgePattern(pattern)
    if (!cost.ok) return patternProblem(pointer(path, "pattern"), pattern, cost.problem)
    if (cost.degree === 2 && !isAtMost(maxLength, maxQuadratic)) {
      const fix = `takes quadratic time on long texts, so it needs a "maxLength" of at most ${maxQuadratic} beside it`
      return patternProblem(pointer(path, "pattern"), pattern, fix)
    }
  }
  for (const name of isJsonObject(patternProperties) ? Object.keys(patternProperties) : []) {
    const cost = judgePattern(name)
    const problem = cost.ok ? (cost.degree === 2 ? "takes quadratic time on long names" : undefined) : cost.problem
    if (problem !== undefined) return patternProblem(pointer(path, "patternProperties"), name, problem)
  }
  if (uniqueItems === true && !isAtMost(maxItems, maxQuadratic)) {
    return schemaProblem(
      pointer(path, "uniqueItems"),
      `"uniqueItems" needs a "maxItems" of at most ${maxQuadratic} beside it`,
    )
  }
  return undefined
}

function isAtMost(value: JsonValue | undefined, limit: number): boolean {
  return typeof value === "number" && value <= limit
}

function patternProblem(path: string, pattern: string, problem: string): SchemaProblem {
  return schemaProblem(path, `the pattern ${clampText(pattern, 100)} ${problem}`)
}

/** A dynamic reference is understood as long as it can only mean one place. */
function checkDynamic(index: SchemaIndex, dialect: Dialect): SchemaProblem | undefined {
  const anchors = new Map<string, number>()
  for (const { schema } of index.all.values()) {
    const { $dynamicAnchor, $recursiveAnchor } = schema
    if (typeof $dynamicAnchor === "string") anchors.set($dynamicAnchor, (anchors.get($dynamicAnchor) ?? 0) + 1)
    if ($recursiveAnchor === true) anchors.set("", (anchors.get("") ?? 0) + 1)
  }
  for (const { schema, path } of index.all.values()) {
    for (const keyword of ["$dynamicRef", "$recursiveRef"]) {
      const ref = isKeywordOf(keyword, dialect) ? schema[keyword] : undefined
      if (typeof ref !== "string") continue
      if (index.resolve(ref, schema) === undefined) {
        return schemaProblem(
          pointer(path, keyword),
          `"${clampText(ref)}" is not in this schema, and references are never fetched`,
        )
      }
      if ((anchors.get(ref.slice(ref.indexOf("#") + 1)) ?? 0) > 1) {
        return schemaProblem(
          pointer(path, keyword),
          `"${clampText(ref)}" can mean more than one place, which is not supported; use "$ref"`,
        )
      }
    }
  }
  return undefined
}

/**
 * Finds a subschema that applies itself to the same value again, through references and in-place keywords alone, or a chain of
 * those that is too long.
 */
function checkCircles(index: SchemaIndex, dialect: Dialect): SchemaProblem | undefined {
  const heights = new Map<JsonObject, number>()
  for (const { schema: start } of index.all.values()) {
    const stack: Visit[] = heights.has(start)
      ? []
      : [{ schema: start, next: appliedBy(start, index, dialect), height: 1 }]
    const open = new Set([start])
    for (let top = stack.at(-1); top !== undefined; top = stack.at(-1)) {
      const next = top.next.at(-1)
      const height = next === undefined ? undefined : heights.get(next)
      if (next === undefined) {
        stack.pop()
        open.delete(top.schema)
        heights.set(top.schema, top.height)
      } else if (height !== undefined) {
        top.next.pop()
        top.height = Math.max(top.height, height + 1)
        if (top.height > schemaLimits.maxDepth)
          return problemAt(top.schema, index, "a chain of references is too long here")
      } else if (open.has(next)) {
        return problemAt(
          top.schema,
          index,
          "this leads back to itself without going into the data, so it would never end",
        )
      } else {
        open.add(next)
        stack.push({ schema: next, next: appliedBy(next, index, dialect), height: 1 })
      }
    }
  }
  return undefined
}

interface Visit {
  readonly schema: JsonObject
  readonly next: JsonObject[]
  height: number
}

function problemAt(schema: JsonObject, index: SchemaIndex, problem: string): SchemaProblem {
  return schemaProblem(index.all.get(schema)?.path ?? "", problem)
}

function appliedBy(schema: JsonObject, index: SchemaIndex, dialect: Dialect): JsonObject[] {
  const targets = targetsOf(schema, index, dialect)
  const alone = isReferenceAlone(dialect) && schema["$ref"] !== undefined
  const children = alone
    ? []
    : childrenOf(schema, "").filter((child) => inPlace.has(child.keyword) && isKeywordOf(child.keyword, dialect))
  return [...targets, ...children.map((child) => child.schema)].filter(isJsonObject)
}
