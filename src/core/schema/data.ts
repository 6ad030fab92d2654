/** Looks over a value before it is validated: that it is JSON, not too large, and what validating it may cost. */
import { isObject } from "../wire/message.js"
import { isPlain } from "./bounds.js"
import type { SchemaIssue } from "./standard.js"

const maxDepth = 128
const maxValues = 250_000

/** What was seen in a value. */
export interface DataSurvey {
  readonly issue: SchemaIssue | undefined
  /** Whether some object has a member that is `undefined`, which JSON leaves out. */
  readonly hasUndefined: boolean
  /** The length of the longest text. */
  readonly longestText: number
  /** The length of all names of the object that has most of it. */
  readonly longestNames: number
  /** The comparisons that the most expensive array of at most `maxUniqueItems` items takes. */
  readonly mostComparisons: number
}

/** Surveys a value. `maxUniqueItems` is the length of the longest array whose items may have to be compared. */
export function surveyData(value: unknown, maxUniqueItems: number): DataSurvey {
  const surveyor = new Surveyor(maxUniqueItems)
  surveyor.visit(value, 1)
  return surveyor
}

class Surveyor implements DataSurvey {
  issue: SchemaIssue | undefined
  hasUndefined = false
  longestText = 0
  longestNames = 0
  mostComparisons = 0
  readonly #maxUniqueItems: number
  readonly #path: PropertyKey[] = []
  #values = 0

  constructor(maxUniqueItems: number) {
    this.#maxUniqueItems = maxUniqueItems
  }

  visit(value: unknown, depth: number): void {
    this.#values += 1
    if (this.#values > maxValues) return this.#refuse(`holds more than ${maxValues} values`)
    if (depth > maxDepth) return this.#refuse(`is nested more than ${maxDepth} levels deep`)
    if (typeof value === "string") this.longestText = Math.max(this.longestText, value.length)
    else if (typeof value === "number" && !Number.isFinite(value)) this.#refuse(`${value} is not a JSON number`)
    else if (Array.isArray(value)) this.#items(value, depth)
    else if (isObject(value) && isPlain(value)) this.#members(value, depth)
    else if (value !== null && typeof value !== "boolean" && typeof value !== "number")
      this.#refuse("is not a JSON value")
  }

  #items(items: readonly unknown[], depth: number): void {
    const before = this.#values
    for (let index = 0; index < items.length && this.issue === undefined; index += 1)
      this.#step(index, items[index], depth)
    if (items.length <= this.#maxUniqueItems) {
      this.mostComparisons = Math.max(this.mostComparisons, items.length * (this.#values - before))
    }
  }

  #members(object: Record<string, unknown>, depth: number): void {
    let names = 0
    for (const key of Object.keys(object)) {
      if (/\p{Surrogate}/u.test(key)) return this.#refuse("has a property name that is not well-formed Unicode")
      names += key.length + 16
      if (object[key] === undefined) this.hasUndefined = true
      else this.#step(key, object[key], depth)
      if (this.issue !== undefined) return
    }
    this.longestNames = Math.max(this.longestNames, names)
  }

  #step(key: PropertyKey, value: unknown, depth: number): void {
    this.#path.push(key)
    this.visit(value, depth + 1)
    this.#path.pop()
  }

  #refuse(message: string): void {
    this.issue ??= { message, path: [...this.#path] }
  }
}
