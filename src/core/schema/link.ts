/**
 * Turns a linted schema into the one form that the interpreter is given, whatever the dialect: only keywords with an effect,
 * every reference as `#/$defs/…`, and a cost on every subschema.
 */
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { setMember } from "./bounds.js"
import { type Dialect, isKeywordOf, isReferenceAlone, shapeOf } from "./keyword.js"
import type { LintedSchema } from "./lint.js"
import { judgePattern } from "./pattern-cost.js"
import { targetsOf } from "./subschema.js"

/** What applying a subschema once costs: a number of steps, and what each depends on in the data. */
export interface StepCost {
  readonly steps: number
  /** Whether it reads a text to its end. */
  readonly readsText: boolean
  /** How many patterns every property name is tried against. */
  readonly namePatterns: number
  /** Whether it compares the items of an array with each other. */
  readonly comparesItems: boolean
}

/** A schema in linked form, and what its subschemas cost. */
export interface LinkedSchema {
  readonly root: object
  readonly costs: ReadonlyMap<object, StepCost>
  /** The largest `maxItems` beside a `uniqueItems`; 0 when there is none. */
  readonly maxUniqueItems: number
}

/** Formats that are checked; each takes linear time. Every other format is an annotation. */
const formats: ReadonlySet<JsonValue> = new Set(["date", "date-time", "email", "ipv4", "ipv6", "time", "uri", "uuid"])

/** Keywords that are resolved by linking, and those that have no effect on validation. */
const dropped: ReadonlySet<string> = new Set([
  "$anchor",
  "$defs",
  "$dynamicAnchor",
  "$dynamicRef",
  "$id",
  "$recursiveAnchor",
  "$recursiveRef",
  "$ref",
  "contentSchema",
  "definitions",
  "description",
  "title",
])

/** Links a schema. Every object of the result that is a subschema has `prototype` as its prototype. */
export function linkSchema(linted: LintedSchema, prototype: object): LinkedSchema {
  return new Linker(linted, prototype).link()
}

type Members = Record<string, JsonValue>

class Linker {
  readonly #linted: LintedSchema
  readonly #dialect: Dialect
  readonly #prototype: object
  readonly #costs = new Map<object, StepCost>()
  /** The places that references point at, with their names in `$defs`. */
  readonly #places = new Map<JsonObject, string>()
  #maxUniqueItems = 0

  constructor(linted: LintedSchema, prototype: object) {
    this.#linted = linted
    this.#dialect = linted.dialect
    this.#prototype = prototype
  }

  link(): LinkedSchema {
    const { index, schema } = this.#linted
    for (const from of index.all.keys()) {
      for (const target of targetsOf(from, index, this.#dialect)) {
        if (isJsonObject(target) && !this.#places.has(target)) this.#places.set(target, String(this.#places.size))
      }
    }
    const definitions: Members = {}
    for (const [place, name] of this.#places) definitions[name] = this.#body(place)
    const root = this.#node({ $defs: definitions, allOf: [this.#subschema(schema)] }, {})
    return { root, costs: this.#costs, maxUniqueItems: this.#maxUniqueItems }
  }

  /** A subschema where it stands: a place that references point at is written once, in `$defs`. */
  #subschema(schema: JsonObject | boolean): JsonObject {
    if (schema === true) return this.#node({}, {})
    if (schema === false) return this.#node({ enum: [] }, {})
    const name = this.#places.get(schema)
    return name === undefined ? this.#body(schema) : this.#node({ $ref: `#/$defs/${name}` }, {})
  }

  #body(schema: JsonObject): JsonObject {
    const members: Members = {}
    const guards: JsonObject[] = targetsOf(schema, this.#linted.index, this.#dialect).map((target) =>
      this.#subschema(target),
    )
    if (!(isReferenceAlone(this.#dialect) && schema["$ref"] !== undefined)) {
      for (const [keyword, value] of Object.entries(schema)) {
        if (value === undefined || dropped.has(keyword) || !isKeywordOf(keyword, this.#dialect)) continue
        if (keyword === "format" && !formats.has(value)) continue
        members[keyword] = this.#value(keyword, value)
      }
      this.#narrowIntegers(members)
      guards.push(...this.#guarded(members))
    }
    if (guards.length > 0) members["allOf"] = [...guards, ...(Array.isArray(members["allOf"]) ? members["allOf"] : [])]
    return this.#node(members, {})
  }

  #value(keyword: string, value: JsonValue): JsonValue {
    const item = (inner: JsonValue | undefined): JsonValue =>
      typeof inner === "boolean" || isJsonObject(inner) ? this.#subschema(inner) : (inner ?? null)
    switch (shapeOf(keyword)) {
      case "schema":
        return item(value)
      case "schemas":
      case "items":
        return Array.isArray(value) ? value.map(item) : item(value)
      case "schemaMap":
      case "dependencies": {
        const map: Members = {}
        for (const [name, inner] of Object.entries(isJsonObject(value) ? value : {})) setMember(map, name, item(inner))
        return map
      }
      default:
        return value
    }
  }

  /** An integer beyond 2^53 has lost digits on the way, so it is not the one that was sent. */
  #narrowIntegers(members: Members): void {
    const types = [members["type"]].flat()
    if (!types.includes("integer") || types.includes("number")) return
    const { minimum, maximum } = members
    const { MIN_SAFE_INTEGER: least, MAX_SAFE_INTEGER: most } = Number
    members["minimum"] = typeof minimum === "number" ? Math.max(minimum, least) : least
    members["maximum"] = typeof maximum === "number" ? Math.min(maximum, most) : most
  }

  /** Keywords that take quadratic time are moved behind the limit that stands beside them. */
  #guarded(members: Members): JsonObject[] {
    const { pattern, maxLength = null, uniqueItems, maxItems = null } = members
    const guards: JsonObject[] = []
    const guard = (limit: Members, then: Members, cost: Partial<StepCost>): void => {
      guards.push(this.#node({ if: this.#node(limit, {}), then: this.#node(then, cost) }, {}))
    }
    if (typeof pattern === "string") {
      const cost = judgePattern(pattern)
      if (cost.ok && cost.degree === 2) {
        delete members["pattern"]
        guard({ maxLength }, { pattern }, { steps: 1 + Number(maxLength) ** 2 / 1024 })
      }
    }
    if (uniqueItems === true) {
      delete members["uniqueItems"]
      this.#maxUniqueItems = Math.max(this.#maxUniqueItems, Number(maxItems))
      guard({ maxItems }, { uniqueItems }, { comparesItems: true })
    }
    return guards
  }

  #node(members: Members, cost: Partial<StepCost>): JsonObject {
    const node = Object.assign(Object.create(this.#prototype) as Members, members)
    const { patternProperties } = members
    this.#costs.set(node, {
      steps: 1 + sizeOf(members),
      readsText: ["format", "maxLength", "minLength", "pattern"].some((keyword) => keyword in members),
      namePatterns: isJsonObject(patternProperties) ? Object.keys(patternProperties).length : 0,
      comparesItems: false,
      ...cost,
    })
    return node
  }
}

/** The keywords whose own size makes a step long: the values that data is compared with, and names that are looked up. */
function sizeOf(members: Members): number {
  const values = ["const", "enum"].reduce((sum, keyword) => sum + (JSON.stringify(members[keyword])?.length ?? 0), 0)
  const names = ["dependencies", "dependentRequired", "dependentSchemas", "properties", "required"].reduce(
    (sum, keyword) => sum + (isJsonObject(members[keyword]) ? Object.values(members[keyword]).flat().length : 0),
    Array.isArray(members["required"]) ? members["required"].length : 0,
  )
  return Math.floor(values / 32 + names / 4)
}
