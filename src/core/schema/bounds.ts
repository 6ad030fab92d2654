/** The bounds of a schema as data: a private, plain copy of what a library or a user gave, or the reason why there is none. */
import { isObject, type JsonObject, type JsonValue } from "../wire/message.js"

/** The bounds that every schema keeps, whoever wrote it. */
export const schemaLimits = {
  /** Levels of JSON nesting. */
  maxDepth: 128,
  /** Subschemas, the root included. */
  maxSubschemas: 10_000,
  /** Bytes of the serialised schema. */
  maxBytes: 256 * 1024,
} as const

/** What is wrong with a schema: where (a JSON Pointer, empty for the root) and what. */
export interface SchemaProblem {
  readonly ok: false
  readonly path: string
  readonly problem: string
}

/** Makes a {@link SchemaProblem}. */
export function schemaProblem(path: string, problem: string): SchemaProblem {
  return { ok: false, path, problem }
}

/** A JSON Pointer that is one step longer. */
export function pointer(path: string, key: string | number): string {
  return `${path}/${String(key).replaceAll("~", "~0").replaceAll("/", "~1")}`
}

/** Sets a member, also one that is named `__proto__`. */
export function setMember(target: Record<string, JsonValue>, key: string, value: JsonValue): void {
  if (key === "__proto__") {
    Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true })
  } else {
    target[key] = value
  }
}

/**
 * Copies a schema within {@link schemaLimits}; the copy is frozen. Members that are `undefined` are left out, as JSON does; anything else that JSON
 * cannot hold, an object that contains itself, and whatever is too deep or too big is a problem.
 */
export function copySchema(raw: unknown): { readonly ok: true; readonly schema: JsonObject } | SchemaProblem {
  if (!isObject(raw)) return schemaProblem("", "a schema is an object here, true and false stand only below the root")
  const copier = new Copier()
  const schema = copier.copy(raw, "", 1)
  if (copier.problem !== undefined) return copier.problem
  const root = schema as JsonObject
  return new TextEncoder().encode(JSON.stringify(root)).length > schemaLimits.maxBytes
    ? tooBig
    : { ok: true, schema: root }
}

const tooBig = schemaProblem("", `the schema is larger than ${schemaLimits.maxBytes} bytes`)

class Copier {
  problem: SchemaProblem | undefined
  readonly #open = new Set<object>()
  #size = 0

  copy(value: unknown, path: string, depth: number): JsonValue {
    this.#size += typeof value === "string" ? value.length + 2 : 1
    if (this.#size > schemaLimits.maxBytes) return this.#fail(tooBig)
    if (value === null || typeof value === "string" || typeof value === "boolean") return value
    if (typeof value === "number") {
      return Number.isFinite(value) ? value : this.#fail(schemaProblem(path, `${value} is not a JSON number`))
    }
    if (typeof value !== "object" || !isPlain(value)) {
      return this.#fail(schemaProblem(path, "this value cannot be written as JSON"))
    }
    if (depth > schemaLimits.maxDepth) {
      return this.#fail(schemaProblem("", `the schema is nested more than ${schemaLimits.maxDepth} levels deep`))
    }
    if (this.#open.has(value))
      return this.#fail(schemaProblem(path, 'the object contains itself; use "$ref" for recursion'))
    this.#open.add(value)
    const copy = Array.isArray(value) ? this.#items(value, path, depth) : this.#members(value, path, depth)
    this.#open.delete(value)
    return copy
  }

  #items(value: readonly unknown[], path: string, depth: number): JsonValue {
    const copy: JsonValue[] = []
    for (const [index, item] of value.entries()) {
      copy.push(this.copy(item, pointer(path, index), depth + 1))
      if (this.problem !== undefined) break
    }
    return Object.freeze(copy)
  }

  #members(value: object, path: string, depth: number): JsonValue {
    const copy: Record<string, JsonValue> = {}
    for (const [key, member] of Object.entries(value)) {
      if (member === undefined) continue
      this.#size += key.length + 3
      setMember(copy, key, this.copy(member, pointer(path, key), depth + 1))
      if (this.problem !== undefined) break
    }
    return Object.freeze(copy)
  }

  #fail(problem: SchemaProblem): null {
    this.problem ??= problem
    return null
  }
}

/** Whether JSON shows an object as it is: an array, or an object without a class. Objects of other realms count too. */
export function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}
