/** How data is validated against a raw JSON Schema, and what hostile data and schemas can and cannot do. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createCheck } from "../../src/core/schema/interpreter.js"
import { lintSchema } from "../../src/core/schema/lint.js"
import type { SchemaIssue } from "../../src/core/schema/standard.js"

function check(schema: object, value: unknown): readonly SchemaIssue[] {
  const linted = lintSchema(schema)
  if (!linted.ok) throw new Error(`${linted.path}: ${linted.problem}`)
  return createCheck(linted)(value)
}

const valid: readonly SchemaIssue[] = []
const draft = (name: string): object => ({ $schema: `http://json-schema.org/${name}/schema#` })

describe("Issues", () => {
  it.each<[object, unknown, PropertyKey[], string]>([
    [{ type: "number" }, "a", [], "expected number, got string"],
    [{ type: ["number", "null"] }, "a", [], "expected number or null, got string"],
    [{ properties: { a: { items: { type: "number" } } } }, { a: [1, "b"] }, ["a", 1], "expected number, got string"],
    [{ properties: { "x/y~z %": { const: 1 } } }, { "x/y~z %": 2 }, ["x/y~z %"], "must be 1"],
    [{ required: ["city"] }, {}, [], 'the required property "city" is missing'],
    [{ additionalProperties: false }, { extra: 1 }, ["extra"], "is not allowed here"],
    [{ enum: ["a", "b"] }, "c", [], 'must be one of ["a","b"]'],
    [{ anyOf: [false] }, 1, [], "matches none of the allowed forms"],
    [{ oneOf: [{}, {}] }, 1, [], "must match exactly one form, but matches several"],
    [{ not: {} }, 1, [], "matches what it must not match"],
    [{ $ref: "#/$defs/a", $defs: { a: { pattern: "^a$" } } }, "b", [], "does not match the pattern ^a$"],
    [{ pattern: "^a+a$", maxLength: 9 }, "b", [], "does not match the pattern ^a+a$"],
    [{ maxProperties: 1 }, { a: 1, b: 2 }, [], "has more than 1 properties"],
    [{ minLength: 3 }, "ab", [], "string is too short (2 < 3)"],
    [{ maximum: 3 }, 4, [], "4 is greater than 3"],
    [{ format: "date" }, "tomorrow", [], 'string does not match format "date"'],
  ])("of %j for %j say where and what", (schema, value, path, message) => {
    expect(check(schema, value)).toContainEqual({ path, message })
  })

  it("are all there, not only the first one", () => {
    const schema = { properties: { a: { type: "number" }, b: { type: "string" } }, required: ["c"] }
    expect(check(schema, { a: "x", b: 1 })).toHaveLength(3)
  })
})

describe("Dialects", () => {
  it.each<[string, object, unknown, boolean]>([
    ["items of 2020-12 follow prefixItems", { prefixItems: [{}], items: { type: "number" } }, ["a", "b"], false],
    ["prefixItems mean nothing in draft-07", { ...draft("draft-07"), prefixItems: [false] }, [1], true],
    [
      "a list of items in draft-07",
      { ...draft("draft-07"), items: [{ type: "string" }], additionalItems: false },
      ["a", 1],
      false,
    ],
    [
      "a reference stands alone in draft-07",
      { ...draft("draft-07"), properties: { a: { $ref: "#/definitions/A", type: "number" } }, definitions: { A: {} } },
      { a: "x" },
      true,
    ],
    [
      "and does not in 2020-12",
      { properties: { a: { $ref: "#/$defs/A", type: "number" } }, $defs: { A: {} } },
      { a: "x" },
      false,
    ],
    ["if came with draft-07", { ...draft("draft-07"), if: {}, else: {}, then: false }, 1, false],
    ["and is unknown in draft-06", { ...draft("draft-06"), if: {}, then: false }, 1, true],
    ["dependentRequired came with 2019-09", { dependentRequired: { a: ["b"] } }, { a: 1 }, false],
    ["and is unknown in draft-07", { ...draft("draft-07"), dependentRequired: { a: ["b"] } }, { a: 1 }, true],
    ["dependencies work everywhere", { dependencies: { a: ["b"] } }, { a: 1 }, false],
    [
      "unevaluated properties see through references",
      { $ref: "#/$defs/a", unevaluatedProperties: false, $defs: { a: { properties: { a: {} } } } },
      { a: 1, b: 2 },
      false,
    ],
    [
      "a dynamic reference",
      { $dynamicAnchor: "n", properties: { next: { $dynamicRef: "#n" } }, required: ["v"] },
      { v: 1, next: {} },
      false,
    ],
  ])("%s", (_, schema, value, expected) => {
    expect(check(schema, value).length === 0).toBe(expected)
  })
})

describe("Hostile input", () => {
  it.each<[string, object, unknown, boolean]>([
    ["a required name of Object.prototype", { required: ["toString"] }, {}, false],
    ["a property name of Object.prototype", { properties: { constructor: { type: "string" } } }, {}, true],
    ["a required __proto__", { required: ["__proto__"] }, {}, false],
    ["a required __proto__ that is there", { required: ["__proto__"] }, JSON.parse('{"__proto__":1}'), true],
    [
      "a schema for __proto__",
      JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'),
      JSON.parse('{"__proto__":1}'),
      false,
    ],
    ["an own __proto__ that is not allowed", { additionalProperties: false }, JSON.parse('{"__proto__":1}'), false],
    ["an infinite integer", { type: "integer" }, JSON.parse("1e400"), false],
    ["an infinite number", { type: "number" }, JSON.parse("1e400"), false],
    ["an infinite number deep inside", {}, { a: [JSON.parse("-1e400")] }, false],
    ["an integer that lost digits", { type: "integer" }, JSON.parse("9007199254740993"), false],
    ["the same where null is allowed", { type: ["integer", "null"] }, JSON.parse("-9007199254740993"), false],
    ["the largest safe integer", { type: "integer" }, Number.MAX_SAFE_INTEGER, true],
    ["a large number that is no integer by type", { type: ["integer", "number"] }, 1e300, true],
    ["decimals that floating point cannot hold", { multipleOf: 0.01 }, 19.99, true],
    ["not a number", {}, Number.NaN, false],
    ["a date", { type: "object" }, new Date(0), false],
    ["a function", {}, () => 1, false],
    ["a big integer", {}, 1n, false],
    ["a name that is not well formed", { patternProperties: { a: {} } }, { "\ud800": 1 }, false],
    ["a format with the name of a property", { format: "toString" }, "x", true],
    ["a format that is not known", { format: "idn-hostname" }, "x".repeat(100_000), true],
  ])("%s", (_, schema, value, expected) => {
    expect(check(schema, value).length === 0).toBe(expected)
  })

  it("leaves out members that are undefined, as JSON does", () => {
    expect(check({ additionalProperties: { type: "string" }, maxProperties: 1 }, { a: "x", b: undefined })).toEqual(
      valid,
    )
    expect(check({ required: ["b"] }, { b: undefined })).not.toEqual(valid)
    expect(check({}, [undefined])).not.toEqual(valid)
  })

  it.each(["email", "uri", "date", "time", "date-time", "uuid", "ipv4", "ipv6", "regex", "uri-template", "hostname"])(
    "a text of 100 KB for the format %s takes no time",
    (format) => {
      for (const text of ["a", "1.", "a@", ":", "/a", "[", "{a}", "-a-"]) {
        const data = `${text.repeat(100_000 / text.length)}!`
        expect(cpuMsOf(() => check({ format }, data))).toBeLessThan(1000)
      }
    },
  )

  const deep = (levels: number): unknown => JSON.parse(`${"[".repeat(levels)}${"]".repeat(levels)}`)
  const circle: { self?: unknown } = {}
  circle.self = circle

  it.each<[string, object, unknown, RegExp]>([
    ["data that is nested too deeply", { items: { $ref: "#" } }, deep(20_000), /nested more than 128 levels/],
    ["data that contains itself", {}, circle, /nested more than 128 levels/],
    ["data that is too large", {}, Array.from({ length: 250_000 }, () => 0), /more than 250000 values/],
    ["references that double", doubling("anyOf"), chained(40, ""), /too much work/],
    ["references that double, all to be met", doubling("allOf"), chained(40, "x"), /too much work/],
    [
      "many items that must differ",
      { items: { uniqueItems: true, maxItems: 1024 } },
      [objects(1024, 10)],
      /too many items/,
    ],
    ["many texts for many patterns", { items: { allOf: patterns(1000) } }, texts(1000, 4000), /too much work/],
    [
      "many names for many patterns",
      { items: { patternProperties: namePatterns(500) } },
      [named(20_000), named(20_000)],
      /too much work/,
    ],
    ["long enums for many items", { items: { enum: texts(2000, 100) } }, texts(10_000, 10), /too much work/],
  ])("%s is an issue, at once", (_, schema, data, message) => {
    const run = (): void => expect(check(schema, data)).toMatchObject([{ message: expect.stringMatching(message) }])
    expect(cpuMsOf(run)).toBeLessThan(5000)
  })

  it("finds equal items in arrays within the limit, and does not compare what is beyond it", () => {
    const schema = { uniqueItems: true, maxItems: 300 }
    expect(check(schema, objects(300, 3))).toEqual(valid)
    expect(check(schema, [...objects(200, 3), ...objects(1, 3)])).toMatchObject([{ message: /duplicate items/ }])
    const many = objects(12_000, 1)
    const run = (): void => expect(check(schema, many)).toMatchObject([{ message: /too many items \(12000 > 300\)/ }])
    expect(cpuMsOf(run)).toBeLessThan(2000)
  })

  it("leaves room for large data and simple schemas", () => {
    const row = {
      type: "object",
      properties: { id: { type: "integer" }, tags: { items: { type: "string" } } },
      required: ["id"],
    }
    const rows = Array.from({ length: 20_000 }, (_, id) => ({ id, tags: ["a", "b"], note: null }))
    expect(check({ type: "array", items: row }, rows)).toEqual(valid)
    expect(check({ properties: { content: { maxLength: 5_000_000 } } }, { content: "x".repeat(4_000_000) })).toEqual(
      valid,
    )
    const mails = { items: { pattern: "^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$", maxLength: 254 } }
    expect(
      check(
        mails,
        Array.from({ length: 2000 }, (_, index) => `someone.${index}@example.com`),
      ),
    ).toEqual(valid)
    const tagged = { items: { properties: { tags: { uniqueItems: true, maxItems: 20 } } } }
    expect(
      check(
        tagged,
        Array.from({ length: 1000 }, () => ({ tags: texts(20, 8) })),
      ),
    ).toEqual(valid)
  })

  it("cannot change what the next check says", () => {
    const linted = lintSchema({ type: "object", properties: { a: { type: "integer" } } })
    if (!linted.ok) throw new Error(linted.problem)
    const once = createCheck(linted)
    expect(once({ a: JSON.parse("1e400") })).not.toEqual(valid)
    expect(once({ a: 1 })).toEqual(valid)
    expect(({} as Record<string, unknown>)["admin"]).toBeUndefined()
  })

  it("never makes it throw", () => {
    const schema = {
      type: ["object", "array"],
      properties: { a: { type: "integer", multipleOf: 0.1 }, b: { $ref: "#" } },
      patternProperties: { "^x": { pattern: "^[a-z]*$", format: "uri" } },
      propertyNames: { maxLength: 5 },
      unevaluatedProperties: { anyOf: [{ enum: [1, "a", null] }, { $ref: "#" }] },
      items: { oneOf: [{ uniqueItems: true, maxItems: 3 }, { contains: { const: 1 } }] },
    }
    const linted = lintSchema(schema)
    if (!linted.ok) throw new Error(linted.problem)
    const run = createCheck(linted)
    fc.assert(fc.property(fc.oneof(fc.anything(), fc.jsonValue()), (value) => Array.isArray(run(value))))
  })
})

/** A schema that asks twice for itself at each level of the data. */
function doubling(keyword: "allOf" | "anyOf"): object {
  return { [keyword]: [{ properties: { a: { $ref: "#" } } }, { properties: { a: { $ref: "#" } } }], not: { const: "" } }
}

function chained(levels: number, end: string): unknown {
  return levels === 0 ? end : { a: chained(levels - 1, end) }
}

function objects(count: number, size: number): unknown[] {
  return Array.from({ length: count }, (_, id) => ({
    ...Object.fromEntries(texts(size, 3).map((name) => [name, 0])),
    id,
  }))
}

function texts(count: number, length: number): string[] {
  return Array.from({ length: count }, (_, index) => String(index).padStart(length, "x"))
}

function patterns(count: number): object[] {
  return texts(count, 5).map((text) => ({ pattern: `^${text}?x*` }))
}

function namePatterns(count: number): object {
  return Object.fromEntries(texts(count, 5).map((text) => [`^${text}`, {}]))
}

function named(count: number): object {
  return Object.fromEntries(texts(count, 8).map((name) => [name, 0]))
}

/** The CPU time that `run` takes, which other processes do not change. */
function cpuMsOf(run: () => void): number {
  const before = process.cpuUsage()
  run()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
