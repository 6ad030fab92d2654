/** Forms of servers: which schemas are forms, and what answers come to. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { fillForm, parseForm } from "../../../src/core/feature/form-answer.js"
import { createCheck } from "../../../src/core/schema/interpreter.js"
import { lintSchema } from "../../../src/core/schema/lint.js"
import type { JsonObject, JsonValue } from "../../../src/core/wire/message.js"

function fill(schema: JsonObject, given: JsonObject) {
  const parsed = parseForm(schema)
  if (!parsed.ok) throw new Error(parsed.problem)
  return fillForm(parsed.form, given)
}

/** Fills in a form of one required field. */
const fillField = (field: JsonObject, value: JsonValue) =>
  fill({ type: "object", properties: { field }, required: ["field"] }, { field: value })

/** Has a pattern that nobody should try on every text. */
const emailOfZod = { ...z.toJSONSchema(z.email()) } as JsonObject

const titled = (...values: readonly string[]) => values.map((value) => ({ const: value, title: value.toUpperCase() }))

describe("a value that a field", () => {
  it.each<[kind: string, field: JsonObject, allowed: readonly JsonValue[], forbidden: readonly JsonValue[]]>([
    ["of texts", { type: "string" }, ["", "a", "é"], [1, true, ["a"], { a: 1 }]],
    [
      "of texts with lengths",
      { type: "string", minLength: 2, maxLength: 3 },
      ["ab", "abc", "\u{1f600}\u{1f600}\u{1f600}"],
      ["a", "abcd", "\u{1f600}"],
    ],
    [
      "of email addresses",
      { type: "string", format: "email" },
      ["a@b.no", "first.last+tag@sub.example.com", "a@localhost"],
      ["", "a", "@b.no", "a@", "a b@c.no", ".a@b.no", "a..b@c.no", "a@b..no", "a@-b.no", "a@b.no\n"],
    ],
    [
      "of URIs",
      { type: "string", format: "uri" },
      [
        "https://example.com",
        "http://localhost:3000/a?b=c#d",
        "mailto:a@b.no",
        "urn:isbn:0451450523",
        "file:///tmp/a",
        "https://[::1]:8080/",
      ],
      ["", "example.com", "/path", "https://exa mple.com", "http://a b", "://a", "https://%zz", "http://[::g]/"],
    ],
    [
      "of dates",
      { type: "string", format: "date" },
      ["2026-07-28", "2024-02-29", "2000-02-29"],
      ["2026-02-29", "1900-02-29", "2026-13-01", "2026-00-10", "2026-07-00", "2026-7-28", "28.07.2026"],
    ],
    [
      "of moments",
      { type: "string", format: "date-time" },
      ["2026-07-28T12:00:00Z", "2026-07-28T12:00:00.5+02:00"],
      ["2026-07-28", "2026-07-28T12:00", "2026-07-28T12:00:00", "2026-07-28T24:00:00Z", "2026-02-30T12:00:00Z"],
    ],
    ["of texts of a format that forms do not have", { type: "string", format: "hostname" }, ["any text"], [1]],
    ["of texts with a pattern", { type: "string", pattern: "^[a-z]+$" }, ["abc"], ["", "ABC", "a1"]],
    [
      "of texts with a pattern that could take forever",
      { type: "string", pattern: "^(a+)+$" },
      [`${"a".repeat(40)}b`],
      [1],
    ],
    ["of email addresses as zod writes them", emailOfZod, ["a@b.no"], ["a"]],
    ["of numbers", { type: "number" }, [0, -1.5, 1e300], ["1", true]],
    ["of numbers with bounds", { type: "number", minimum: 0, maximum: 1 }, [0, 0.5, 1], [-0.1, 1.1]],
    ["of numbers with open bounds", { type: "number", exclusiveMinimum: 0, exclusiveMaximum: 1 }, [0.5], [0, 1]],
    ["of integers", { type: "integer", minimum: 1 }, [1, 2.0], [0, 1.5, "1", 2 ** 53]],
    ["of booleans", { type: "boolean" }, [true, false], ["true", 0, 1]],
    ["of plain choices", { type: "string", enum: ["a", "b"] }, ["a", "b"], ["c", "", "A"]],
    ["of named choices", { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] }, ["a"], ["A", "c"]],
    ["of titled choices", { type: "string", oneOf: titled("a", "b") }, ["a", "b"], ["A", "c"]],
    ["of one choice", { type: "string", const: "a" }, ["a"], ["b"]],
    ["of numbers to choose from", { type: "integer", enum: [1, 2] }, [1, 2], [3, "1"]],
    [
      "of lists of plain choices",
      { type: "array", items: { type: "string", enum: ["a", "b", "c"] }, minItems: 1, maxItems: 2 },
      [["a"], ["a", "b"]],
      [[], ["a", "b", "c"], ["d"], "a", [["a"]], [{ a: 1 }]],
    ],
    [
      "of lists of titled choices",
      { type: "array", items: { anyOf: titled("a", "b") }, uniqueItems: true },
      [[], ["a"], ["b", "a"]],
      [["A"], ["a", "a"], [1]],
    ],
    ["that may be null", { type: ["string", "null"] }, ["a", null], [1]],
    ["that is null or a choice", { anyOf: [{ enum: ["a", "b"] }, { type: "null" }] }, ["a", null], ["c", 1]],
    ["with keywords that only describe", { type: "string", title: "T", "x-mine": 1, $comment: "c" }, ["a"], [1]],
  ])("%s allows is sent as it is, and no other is sent", (_kind, field, allowed, forbidden) => {
    for (const value of allowed) expect(fillField(field, value)).toEqual({ ok: true, content: { field: value } })
    for (const value of forbidden) {
      expect([value, fillField(field, value).ok]).toEqual([value, false])
    }
  })
})

describe("a field that is left out", () => {
  it.each<[kind: string, field: JsonObject, initial: JsonValue]>([
    ["a text", { type: "string" }, "a"],
    ["an empty text", { type: "string" }, ""],
    ["a number", { type: "number" }, 1.5],
    ["zero", { type: "integer" }, 0],
    ["false", { type: "boolean" }, false],
    ["a plain choice", { type: "string", enum: ["a", "b"] }, "b"],
    ["a named choice", { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] }, "a"],
    ["a titled choice", { type: "string", oneOf: titled("a", "b") }, "b"],
    ["a list of choices", { type: "array", items: { type: "string", enum: ["a", "b"] } }, ["a"]],
    ["an empty list", { type: "array", items: { anyOf: titled("a", "b") } }, []],
  ])("takes its default: %s", (_kind, field, initial) => {
    const schema = { type: "object", properties: { field: { ...field, default: initial } }, required: ["field"] }
    expect(fill(schema, {})).toEqual({ ok: true, content: { field: initial } })
  })

  it("stays out without a default, or with one that it may not have, or one that is null", () => {
    const properties = {
      plain: { type: "string" },
      wrong: { type: "string", default: 1 },
      nothing: { type: ["string", "null"], default: null },
    }
    expect(fill({ type: "object", properties }, {})).toEqual({ ok: true, content: {} })
  })

  it("is an issue when it is required and nothing stands for it", () => {
    const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] }
    expect(fill(schema, {})).toEqual({ ok: false, issues: [{ message: "is required", path: ["a"] }] })
  })

  it("is one that is null without being allowed to be", () => {
    const schema = { type: "object", properties: { a: { type: "integer", default: 7 } } }
    expect(fill(schema, { a: null })).toEqual({ ok: true, content: { a: 7 } })
  })
})

describe("an answer", () => {
  it("keeps what the user said over the default", () => {
    const schema = { type: "object", properties: { a: { type: "boolean", default: true } } }
    expect(fill(schema, { a: false })).toEqual({ ok: true, content: { a: false } })
  })

  it("loses what the form does not ask for, however it is named", () => {
    const given = JSON.parse('{ "a": "x", "b": 1, "__proto__": { "c": 1 }, "constructor": 2 }') as JsonObject
    expect(fill({ type: "object", properties: { a: { type: "string" } } }, given)).toEqual({
      ok: true,
      content: { a: "x" },
    })
  })

  it("names each field that is wrong", () => {
    const properties = { a: { type: "string", minLength: 3 }, b: { type: "number" }, c: { type: "boolean" } }
    expect(fill({ type: "object", properties, required: ["c"] }, { a: "x", b: "1" })).toEqual({
      ok: false,
      issues: [
        { message: "must have at least 3 characters", path: ["a"] },
        { message: "must be of type number", path: ["b"] },
        { message: "is required", path: ["c"] },
      ],
    })
  })
})

describe("a schema is no form when it", () => {
  const field = (schema: JsonValue): JsonObject => ({ type: "object", properties: { field: schema } })

  it.each<[what: string, schema: JsonValue | undefined, problem: string]>([
    ["is missing", undefined, 'must be a schema of "type": "object"'],
    ["is true", true, 'must be a schema of "type": "object"'],
    ["has no type", { properties: {} }, 'must be a schema of "type": "object"'],
    ["is of another type", { type: "string" }, 'must be a schema of "type": "object"'],
    ["has a list of properties", { type: "object", properties: [] }, 'has "properties" that are no object'],
    ["requires no list", { type: "object", properties: {}, required: "a" }, 'has "required" that is no list'],
    [
      "requires what it does not describe",
      { type: "object", required: ["a"] },
      'requires "a", which it does not describe',
    ],
    ["is a union", { type: "object", oneOf: [] }, 'uses "oneOf", which no form can show'],
    ["has a nested object", field({ type: "object" }), 'has a field "field" that is an object, and forms are flat'],
    [
      "may have one",
      field({ type: ["string", "object"] }),
      'has a field "field" that is an object, and forms are flat',
    ],
    [
      "hides one",
      field({ type: "string", properties: {} }),
      'has a field "field" that uses "properties", which no form can show',
    ],
    [
      "has one among the choices",
      field({ anyOf: [{ type: "string" }, { type: "object" }] }),
      'has a field "field" that has a choice that is an object, and forms are flat',
    ],
    ["has a field without a type", field({ title: "T" }), 'has a field "field" that does not say its type'],
    [
      "has a field that is no object",
      field(true),
      'has a field "field" that is described by something else than an object',
    ],
    [
      "has a field of an unknown type",
      field({ type: "text" }),
      'has a field "field" that has no type that a form knows',
    ],
    ["refers", field({ type: "string", $ref: "#/x" }), 'has a field "field" that uses "$ref", which no form can show'],
    [
      "has a list of texts",
      field({ type: "array", items: { type: "string" } }),
      'has a field "field" that is a list of something else than choices',
    ],
    [
      "has a list of anything",
      field({ type: "array" }),
      'has a field "field" that is a list of something else than choices',
    ],
    [
      "has a choice between objects",
      field({ enum: [{}] }),
      'has a field "field" that has choices that are no plain values',
    ],
    [
      "has a bound that is no number",
      field({ type: "string", minLength: "1" }),
      'has a field "field" that has a bound that is no number',
    ],
    [
      "has a pattern that is no text",
      field({ type: "string", pattern: 1 }),
      'has a field "field" that has a pattern that is no text',
    ],
    [
      "asks for a password",
      { type: "object", properties: { password: { type: "string" } } },
      'has a field "password" that asks for a credential',
    ],
    [
      "asks for one by its format",
      field({ type: "string", format: "password" }),
      'has a field "field" that asks for a credential',
    ],
  ])("%s", (_what, schema, problem) => {
    expect(parseForm(schema)).toEqual({ ok: false, problem })
  })

  it("is one without any fields", () => {
    expect(fill({ type: "object" }, { a: 1 })).toEqual({ ok: true, content: {} })
  })
})

describe("the check of answers", () => {
  const text = fc.oneof(
    fc.string({ maxLength: 6 }),
    fc.emailAddress(),
    fc.webUrl(),
    fc
      .date({ noInvalidDate: true, min: new Date("0001-01-01"), max: new Date("9999-12-31") })
      .map((date) => date.toISOString()),
    fc
      .date({ noInvalidDate: true, min: new Date("0001-01-01"), max: new Date("9999-12-31") })
      .map((date) => date.toISOString().slice(0, 10)),
    fc.constantFrom(
      "a",
      "b",
      "c",
      "mailto:a@b",
      "a:b",
      "http://a@b@c",
      "//a",
      "a://b:1:2",
      "2026-02-30",
      "a@b.c",
      "x@[::1]",
    ),
  )
  const value: fc.Arbitrary<JsonValue> = fc.oneof(
    text,
    fc.integer({ min: -3, max: 3 }),
    fc.double({ noNaN: true, noDefaultInfinity: true }),
    fc.boolean(),
    fc.constant(null),
    fc.array(fc.constantFrom("a", "b", "c", 1, "z"), { maxLength: 4 }),
  )
  const some = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined })
  const record = (members: Readonly<Record<string, fc.Arbitrary<unknown>>>): fc.Arbitrary<JsonObject> =>
    fc.record(members).map((made) => JSON.parse(JSON.stringify(made)) as JsonObject)
  const count = some(fc.nat({ max: 4 }))
  const choices = fc.uniqueArray(fc.constantFrom("a", "b", "c"), { minLength: 1 })
  const field = fc
    .oneof(
      record({
        type: fc.constant("string"),
        minLength: count,
        maxLength: count,
        format: some(fc.constantFrom("email", "uri", "date", "date-time")),
        pattern: some(fc.constantFrom("^[a-c]", "@")),
      }).map((made) => ("pattern" in made ? { maxLength: 900, ...made } : made)),
      record({
        type: fc.constantFrom("number", "integer"),
        minimum: some(fc.integer({ min: -2, max: 2 })),
        maximum: some(fc.integer({ min: -2, max: 2 })),
        exclusiveMinimum: some(fc.integer({ min: -2, max: 2 })),
      }),
      record({ type: fc.constant("boolean") }),
      record({ type: fc.constant("string"), enum: choices, enumNames: some(choices) }),
      record({ type: fc.constant("string"), oneOf: choices.map((values) => titled(...values)) }),
      record({
        type: fc.constant("array"),
        items: record({ type: fc.constant("string"), enum: choices }),
        minItems: count,
        maxItems: count,
      }),
      record({
        type: fc.constant("array"),
        items: record({ anyOf: choices.map((values) => titled(...values)) }),
        maxItems: fc.nat({ max: 4 }),
        uniqueItems: some(fc.boolean()),
      }),
      record({ type: fc.constant(["string", "null"]), minLength: count }),
      record({ anyOf: fc.constant([{ type: "integer" }, { type: "null" }]) }),
    )
    .chain((made) => fc.tuple(fc.constant(made), some(value)))
    .map(([made, initial]) => (initial === undefined ? made : { ...made, default: initial }))
  const names = ["a", "b", "c"]
  const schema = fc
    .tuple(fc.dictionary(fc.constantFrom(...names), field), fc.subarray(names))
    .map(([properties, required]) => ({
      type: "object",
      properties,
      required: required.filter((name) => name in properties),
    }))

  it("lets nothing through that a JSON Schema validator refuses", () => {
    let passed = 0
    fc.assert(
      fc.property(schema, fc.dictionary(fc.constantFrom(...names), value), (asked, given) => {
        const linted = lintSchema(asked)
        if (!linted.ok) throw new Error(linted.problem)
        const filled = fill(asked, given)
        if (!filled.ok) return
        passed++
        expect(createCheck(linted)(filled.content)).toEqual([])
      }),
      { numRuns: 2_000 },
    )
    expect(passed).toBeGreaterThan(200)
  })

  it("refuses nothing that fits, apart from formats, which validators read in different ways", () => {
    fc.assert(
      fc.property(schema, fc.dictionary(fc.constantFrom(...names), value), (asked, given) => {
        const linted = lintSchema(asked)
        const filled = fill(asked, given)
        if (!linted.ok || filled.ok || JSON.stringify(asked).includes('"format"')) return
        expect(createCheck(linted)(given)).not.toEqual([])
      }),
      { numRuns: 2_000 },
    )
  })

  it("never throws, whatever the schema and the answer are", () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.dictionary(fc.string(), field), fc.jsonValue(), (any, properties, given) => {
        parseForm(any as JsonValue)
        const parsed = parseForm({ type: "object", properties: { ...properties, any: any as JsonValue } })
        if (parsed.ok && typeof given === "object" && given !== null && !Array.isArray(given)) {
          fillForm(parsed.form, given as JsonObject)
        }
      }),
    )
  })
})
