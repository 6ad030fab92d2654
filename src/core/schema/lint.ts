/** Judges a JSON Schema that somebody wrote by hand or sent: whether it is valid, bounded, and safe to validate with. */
import { clampText } from "../feature/text.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { copySchema, pointer, type SchemaProblem, schemaProblem } from "./bounds.js"
import { checkExpansion } from "./expansion.js"
import { type Dialect, defaultDialect, dialectOf, isKeywordOf, shapeOf } from "./keyword.js"
import { judgePattern } from "./pattern-cost.js"
import { checkShape } from "./shape.js"
import { checkReferences, indexSchema, type SchemaIndex, type Subschema } from "./subschema.js"

/** A schema that may be used: a private copy, its dialect and its subschemas. */
export interface LintedSchema {
  readonly ok: true
  readonly dialect: Dialect
  readonly schema: JsonObject
  readonly index: SchemaIndex
}

/** The longest array that is compared item by item, and the longest text for a pattern that takes quadratic time. */
const maxQuadratic = 1024

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
  const problem = checkReferences(index) ?? checkDynamic(index, dialect) ?? checkExpansion(index, dialect)
  return problem ?? { ok: true, dialect, schema: copy.schema, index }
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
