/** The subschemas of a JSON Schema, and what its `$ref`s point at. Nothing is ever fetched: a target is in the schema or it is not. */
import { clampText } from "../feature/text.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { pointer, type SchemaProblem, schemaLimits, schemaProblem } from "./bounds.js"
import { type Dialect, dialectOf, isKeywordOf, isReferenceAlone, shapeOf } from "./keyword.js"

/** The base of a schema without `$id`. */
const rootBase = "schema:/"

/** One subschema that is an object: where it stands and the base URI that its references are relative to. */
export interface Subschema {
  readonly schema: JsonObject
  readonly path: string
  readonly base: string
}

/** A subschema that stands directly below another one. */
export interface Child {
  readonly schema: JsonObject | boolean
  readonly keyword: string
  readonly path: string
}

/** The subschemas directly below `schema`. What is not a schema, where one should be, is left out. */
export function childrenOf(schema: JsonObject, path: string): readonly Child[] {
  const children: Child[] = []
  const add = (keyword: string, value: JsonValue | undefined, at: string): void => {
    if (typeof value === "boolean" || isJsonObject(value)) children.push({ schema: value, keyword, path: at })
  }
  for (const [keyword, value] of Object.entries(schema)) {
    const at = pointer(path, keyword)
    switch (shapeOf(keyword)) {
      case "schema":
        add(keyword, value, at)
        break
      case "schemas":
      case "items":
        if (Array.isArray(value)) for (const [index, item] of value.entries()) add(keyword, item, pointer(at, index))
        else add(keyword, value, at)
        break
      case "schemaMap":
      case "dependencies":
        if (isJsonObject(value)) for (const [name, item] of Object.entries(value)) add(keyword, item, pointer(at, name))
    }
  }
  return children
}

/** A schema whose subschemas are known. */
export interface SchemaIndex {
  readonly ok: true
  /** Every subschema that is an object, the root first. */
  readonly all: ReadonlyMap<JsonObject, Subschema>
  /** What a `$ref` of the subschema `from` points at. */
  readonly resolve: (ref: string, from: JsonObject) => JsonObject | boolean | undefined
}

/** Finds all subschemas of a copied schema (see `copySchema`). A problem: too many of them, or an `$id` that is no URI or stands twice. */
export function indexSchema(root: JsonObject): SchemaIndex | SchemaProblem {
  const dialect = typeof root["$schema"] === "string" ? dialectOf(root["$schema"]) : undefined
  const index = new Index(dialect !== undefined && isReferenceAlone(dialect))
  const problem = index.add(root, "", rootBase) ?? index.followReferences()
  return problem ?? { ok: true, all: index.all, resolve: (ref, from) => index.find(ref, from)?.schema }
}

/** The references of a subschema: what `$ref` and its dynamic relatives point at. */
export function targetsOf(schema: JsonObject, index: SchemaIndex, dialect: Dialect): readonly (JsonObject | boolean)[] {
  return ["$ref", "$dynamicRef", "$recursiveRef"].flatMap((keyword) => {
    const ref = isKeywordOf(keyword, dialect) ? schema[keyword] : undefined
    const target = typeof ref === "string" ? index.resolve(ref, schema) : undefined
    return target === undefined ? [] : [target]
  })
}

/** Checks that every `$ref` stays inside of the schema and has a target. */
export function checkReferences(index: SchemaIndex): SchemaProblem | undefined {
  for (const { schema, path } of index.all.values()) {
    const ref = schema["$ref"]
    if (ref === undefined) continue
    if (typeof ref !== "string") return schemaProblem(pointer(path, "$ref"), '"$ref" must be a string')
    if (index.resolve(ref, schema) === undefined) {
      return schemaProblem(
        pointer(path, "$ref"),
        `"${clampText(ref)}" is not in this schema, and references are never fetched; copy the target into "$defs" and point at "#/$defs/…"`,
      )
    }
  }
  return undefined
}

interface Target {
  readonly schema: JsonObject | boolean
  readonly path: string
  readonly base: string
}

class Index {
  readonly all = new Map<JsonObject, Subschema>()
  readonly #resources = new Map<string, Subschema>()
  readonly #anchors = new Map<string, Subschema>()
  readonly #isReferenceAlone: boolean
  #count = 0

  constructor(isAlone: boolean) {
    this.#isReferenceAlone = isAlone
  }

  add(schema: JsonObject | boolean, path: string, base: string): SchemaProblem | undefined {
    this.#count += 1
    if (this.#count > schemaLimits.maxSubschemas) {
      return schemaProblem("", `the schema has more than ${schemaLimits.maxSubschemas} subschemas`)
    }
    if (typeof schema === "boolean" || this.all.has(schema)) return undefined
    const named = this.#name(schema, path, base)
    if ("ok" in named) return named
    this.all.set(schema, named)
    for (const child of childrenOf(schema, path)) {
      const problem = this.add(child.schema, child.path, named.base)
      if (problem !== undefined) return problem
    }
    return undefined
  }

  /** A reference may point below a keyword that is unknown here; what it points at is a subschema then. */
  followReferences(): SchemaProblem | undefined {
    for (const { schema } of this.all.values()) {
      for (const keyword of ["$ref", "$dynamicRef"]) {
        const ref = schema[keyword]
        const target = typeof ref === "string" ? this.find(ref, schema) : undefined
        if (target === undefined || typeof target.schema === "boolean" || this.all.has(target.schema)) continue
        const problem = this.add(target.schema, target.path, target.base)
        if (problem !== undefined) return problem
      }
    }
    return undefined
  }

  find(ref: string, from: JsonObject): Target | undefined {
    const uri = resolveUri(ref, this.all.get(from)?.base ?? rootBase)
    if (uri === undefined) return undefined
    const [address = "", fragment = ""] = uri.split("#", 2)
    const resource = this.#resources.get(address)
    if (resource === undefined || fragment === "") return resource
    return fragment.startsWith("/") ? follow(resource, fragment) : this.#anchors.get(uri)
  }

  #name(schema: JsonObject, path: string, outer: string): Subschema | SchemaProblem {
    const id = this.#isReferenceAlone && schema["$ref"] !== undefined ? undefined : schema["$id"]
    const uri = typeof id === "string" ? resolveUri(id, outer) : undefined
    if (id !== undefined && uri === undefined)
      return schemaProblem(pointer(path, "$id"), '"$id" must be a URI reference')
    const [address = outer, fragment = ""] = uri?.split("#", 2) ?? []
    const subschema = { schema, path, base: address }
    if (path === "") this.#resources.set(rootBase, subschema)
    if (fragment !== "") this.#anchors.set(`${address}#${fragment}`, subschema)
    else if (uri !== undefined || path === "") {
      if (path !== "" && this.#resources.has(address))
        return schemaProblem(pointer(path, "$id"), `the id "${clampText(id)}" stands twice`)
      this.#resources.set(address, subschema)
    }
    for (const keyword of ["$anchor", "$dynamicAnchor"]) {
      const anchor = schema[keyword]
      if (typeof anchor === "string") this.#anchors.set(`${address}#${anchor}`, subschema)
    }
    return subschema
  }
}

function follow(resource: Subschema, fragment: string): Target | undefined {
  let value: JsonValue | undefined = resource.schema
  let path = resource.path
  for (const part of fragment.slice(1).split("/")) {
    const token = decode(part)
    if (token === undefined || typeof value !== "object" || value === null || !Object.hasOwn(value, token))
      return undefined
    value = (value as JsonObject)[token]
    path = pointer(path, token)
  }
  return typeof value === "boolean" || isJsonObject(value) ? { schema: value, path, base: resource.base } : undefined
}

function decode(part: string): string | undefined {
  try {
    return decodeURIComponent(part).replaceAll("~1", "/").replaceAll("~0", "~")
  } catch {
    return undefined
  }
}

function resolveUri(reference: string, base: string): string | undefined {
  try {
    return new URL(reference, base).href
  } catch {
    return undefined
  }
}
