/** How far the subschemas of a schema unfold on one and the same value, without going into the data. */
import { isJsonObject, type JsonObject } from "../wire/message.js"
import { type SchemaProblem, schemaLimits, schemaProblem } from "./bounds.js"
import { type Dialect, isKeywordOf, isReferenceAlone } from "./keyword.js"
import { childrenOf, type SchemaIndex, targetsOf } from "./subschema.js"

/** Keywords that apply a subschema to the same value, as references do. */
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

const tooLong = `this leads through more than ${schemaLimits.maxDepth} subschemas for one value`

/** What a subschema applies to one value: how many subschemas in all, and how many one inside of the other. */
interface Expansion {
  readonly count: number
  readonly height: number
}

/** Finds a subschema that would apply itself without end, or too many others, to one value. */
export function checkExpansion(index: SchemaIndex, dialect: Dialect): SchemaProblem | undefined {
  const done = new Map<JsonObject, Expansion>()
  const open = new Set<JsonObject>()
  const expand = (schema: JsonObject): Expansion | SchemaProblem => {
    const known = done.get(schema)
    if (known !== undefined) return known
    const problemHere = (problem: string): SchemaProblem => schemaProblem(index.all.get(schema)?.path ?? "", problem)
    if (open.has(schema))
      return problemHere("this leads back to itself without going into the data, so it would never end")
    open.add(schema)
    let [count, height] = [1, 1]
    for (const next of appliedBy(schema, index, dialect)) {
      if (open.size >= schemaLimits.maxDepth) return problemHere(tooLong)
      const inner = expand(next)
      if ("ok" in inner) return inner
      count += inner.count
      height = Math.max(height, inner.height + 1)
    }
    if (height > schemaLimits.maxDepth) return problemHere(tooLong)
    if (count > schemaLimits.maxSubschemas) {
      return problemHere(`this applies more than ${schemaLimits.maxSubschemas} subschemas to one value`)
    }
    open.delete(schema)
    done.set(schema, { count, height })
    return { count, height }
  }
  for (const schema of index.all.keys()) {
    const expansion = expand(schema)
    if ("ok" in expansion) return expansion
  }
  return undefined
}

function appliedBy(schema: JsonObject, index: SchemaIndex, dialect: Dialect): readonly JsonObject[] {
  const targets = targetsOf(schema, index, dialect)
  if (isReferenceAlone(dialect) && schema["$ref"] !== undefined) return targets.filter(isJsonObject)
  const children = childrenOf(schema, "").filter(({ keyword }) => inPlace.has(keyword) && isKeywordOf(keyword, dialect))
  return [...targets, ...children.map((child) => child.schema)].filter(isJsonObject)
}
