/** The keywords of JSON Schema that Conduit knows: the shape of each one's value and the dialects that have it. */

/** The dialects that are understood, oldest first. */
export const dialects = ["draft-06", "draft-07", "2019-09", "2020-12"] as const

/** A dialect of JSON Schema. */
export type Dialect = (typeof dialects)[number]

/** The dialect of a schema without `$schema`. @see https://modelcontextprotocol.io/specification/2026-07-28/basic#schema-dialect */
export const defaultDialect: Dialect = "2020-12"

const dialectUris: ReadonlyMap<string, Dialect> = new Map([
  ["json-schema.org/draft-06/schema", "draft-06"],
  ["json-schema.org/draft-07/schema", "draft-07"],
  ["json-schema.org/draft/2019-09/schema", "2019-09"],
  ["json-schema.org/draft/2020-12/schema", "2020-12"],
])

/** The dialect that a `$schema` names, with `http` or `https`, with or without an empty fragment. */
export function dialectOf(uri: string): Dialect | undefined {
  return dialectUris.get(uri.replace(/^https?:\/\//, "").replace(/#$/, ""))
}

/** What the value of a keyword must be. `items` and `dependencies` are named for the keyword that has this shape alone. */
export type Shape =
  | "schema"
  | "schemas"
  | "schemaMap"
  | "items"
  | "dependencies"
  | "string"
  | "pattern"
  | "number"
  | "positive"
  | "count"
  | "flag"
  | "names"
  | "nameMap"
  | "types"
  | "values"
  | "any"

interface Keyword {
  readonly shape: Shape
  readonly since?: Dialect
  readonly until?: Dialect
}

/** The keywords that mean something to a validator, and those that hold subschemas. Every other one is an annotation. */
const keywords: ReadonlyMap<string, Keyword> = new Map<string, Keyword>([
  ["$id", { shape: "string" }],
  ["$ref", { shape: "string" }],
  ["$anchor", { shape: "string", since: "2019-09" }],
  ["$dynamicAnchor", { shape: "string", since: "2020-12" }],
  ["$dynamicRef", { shape: "string", since: "2020-12" }],
  ["$recursiveAnchor", { shape: "flag", since: "2019-09", until: "2019-09" }],
  ["$recursiveRef", { shape: "string", since: "2019-09", until: "2019-09" }],
  ["$defs", { shape: "schemaMap" }],
  ["definitions", { shape: "schemaMap" }],
  ["type", { shape: "types" }],
  ["enum", { shape: "values" }],
  ["const", { shape: "any" }],
  ["allOf", { shape: "schemas" }],
  ["anyOf", { shape: "schemas" }],
  ["oneOf", { shape: "schemas" }],
  ["not", { shape: "schema" }],
  ["if", { shape: "schema", since: "draft-07" }],
  ["then", { shape: "schema", since: "draft-07" }],
  ["else", { shape: "schema", since: "draft-07" }],
  ["properties", { shape: "schemaMap" }],
  ["patternProperties", { shape: "schemaMap" }],
  ["additionalProperties", { shape: "schema" }],
  ["unevaluatedProperties", { shape: "schema", since: "2019-09" }],
  ["propertyNames", { shape: "schema" }],
  ["required", { shape: "names" }],
  ["minProperties", { shape: "count" }],
  ["maxProperties", { shape: "count" }],
  ["dependencies", { shape: "dependencies" }],
  ["dependentRequired", { shape: "nameMap", since: "2019-09" }],
  ["dependentSchemas", { shape: "schemaMap", since: "2019-09" }],
  ["prefixItems", { shape: "schemas", since: "2020-12" }],
  ["items", { shape: "items" }],
  ["additionalItems", { shape: "schema", until: "2019-09" }],
  ["unevaluatedItems", { shape: "schema", since: "2019-09" }],
  ["contains", { shape: "schema" }],
  ["minContains", { shape: "count", since: "2019-09" }],
  ["maxContains", { shape: "count", since: "2019-09" }],
  ["minItems", { shape: "count" }],
  ["maxItems", { shape: "count" }],
  ["uniqueItems", { shape: "flag" }],
  ["minLength", { shape: "count" }],
  ["maxLength", { shape: "count" }],
  ["pattern", { shape: "pattern" }],
  ["format", { shape: "string" }],
  ["minimum", { shape: "number" }],
  ["maximum", { shape: "number" }],
  ["exclusiveMinimum", { shape: "number" }],
  ["exclusiveMaximum", { shape: "number" }],
  ["multipleOf", { shape: "positive" }],
  ["contentSchema", { shape: "schema", since: "2019-09" }],
  ["title", { shape: "string" }],
  ["description", { shape: "string" }],
])

/** The shape of a keyword in any dialect. */
export function shapeOf(keyword: string): Shape | undefined {
  return keywords.get(keyword)?.shape
}

/** Whether a keyword is one of the dialect's. To the others it is an annotation without effect. */
export function isKeywordOf(keyword: string, dialect: Dialect): boolean {
  const entry = keywords.get(keyword)
  if (entry === undefined) return false
  const age = dialects.indexOf(dialect)
  return age >= dialects.indexOf(entry.since ?? "draft-06") && age <= dialects.indexOf(entry.until ?? "2020-12")
}

/** Whether a `$ref` switches off every keyword beside it, as it does up to draft-07. */
export function isReferenceAlone(dialect: Dialect): boolean {
  return dialect === "draft-06" || dialect === "draft-07"
}
