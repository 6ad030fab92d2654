/** Which raw JSON Schemas are refused, where and why. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createCheck } from "../../src/core/schema/interpreter.js"
import { lintSchema } from "../../src/core/schema/lint.js"
import { json2020Tool } from "./json-2020-tool.js"

const dialects = [
  [undefined, "2020-12"],
  ["https://json-schema.org/draft/2020-12/schema", "2020-12"],
  ["https://json-schema.org/draft/2020-12/schema#", "2020-12"],
  ["https://json-schema.org/draft/2019-09/schema", "2019-09"],
  ["http://json-schema.org/draft-07/schema#", "draft-07"],
  ["http://json-schema.org/draft-07/schema", "draft-07"],
  ["https://json-schema.org/draft-07/schema#", "draft-07"],
  ["http://json-schema.org/draft-06/schema#", "draft-06"],
] as const

const draft7 = { $schema: "http://json-schema.org/draft-07/schema#" }
const draft2019 = { $schema: "https://json-schema.org/draft/2019-09/schema" }

/** A schema of 26 definitions, each of which asks for the next one twice. */
function bomb(keyword: "allOf" | "anyOf"): object {
  const names = Array.from({ length: 26 }, (_, index) => `d${index}`)
  const next = (index: number): object => ({ $ref: `#/$defs/d${index + 1}` })
  const defs = names.map((name, index) => [name, { [keyword]: [next(index), next(index)] }])
  return { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(defs), d26: { type: "string" } } }
}

describe("The dialect of a schema", () => {
  it.each(dialects)("%s is %s", ($schema, dialect) => {
    expect(lintSchema($schema === undefined ? {} : { $schema })).toMatchObject({ ok: true, dialect })
  })

  it.each([
    "http://json-schema.org/draft-04/schema#",
    "http://json-schema.org/schema#",
    "https://example.com/mine",
    "",
    7,
    null,
  ])("%j is refused, and the error names those that are supported", ($schema) => {
    const verdict = lintSchema({ $schema })
    expect(verdict).toMatchObject({ ok: false, path: "/$schema" })
    expect(verdict).toMatchObject({ problem: expect.stringContaining(`"${$schema}" is not supported`) })
    for (const name of ["2020-12 (the default)", "2019-09", "draft-07", "draft-06"]) {
      expect(verdict).toMatchObject({ problem: expect.stringContaining(name) })
    }
  })

  it("is one for the whole schema", () => {
    expect(lintSchema({ properties: { a: draft7 } })).toMatchObject({ ok: false, path: "/properties/a/$schema" })
    expect(lintSchema({ ...draft7, properties: { a: draft7 } })).toMatchObject({ ok: true })
  })
})

describe("A schema", () => {
  it.each<[string, object]>([
    ["the breadth of 2020-12", json2020Tool],
    ["nothing at all", {}],
    [
      "true and false below the root",
      { properties: { a: true, b: false }, additionalProperties: false, allOf: [true] },
    ],
    [
      "keywords of others",
      { enumNames: ["A"], "x-mcp-header": "Region", deprecated: true, discriminator: {}, $comment: "" },
    ],
    ["names of keywords as properties", { properties: { $ref: { type: "string" }, pattern: {}, title: {}, enum: {} } }],
    [
      "what only looks like a schema in data",
      { default: { $ref: "http://x/" }, enum: [{ type: 1 }], examples: [{ pattern: "(" }] },
    ],
    ["recursion that goes into the data", { properties: { next: { $ref: "#" } }, items: { $ref: "#" } }],
    [
      "mutual recursion that does",
      { $defs: { a: { items: { $ref: "#/$defs/b" } }, b: { allOf: [{ $ref: "#/$defs/a" }] } } },
    ],
    ["a list of items in draft-07", { ...draft7, items: [{ type: "string" }], additionalItems: false }],
    ["definitions of draft-07", { ...draft7, $ref: "#/definitions/A", definitions: { A: { type: "string" } } }],
    ["an anchor of draft-07", { ...draft7, $ref: "#a", definitions: { A: { $id: "#a" } } }],
    [
      "a reference below an unknown keyword",
      { $ref: "#/components/schemas/A", components: { schemas: { A: { type: "string" } } } },
    ],
    [
      "a dynamic reference that means one place",
      { $dynamicAnchor: "node", properties: { next: { $dynamicRef: "#node" } } },
    ],
    [
      "a recursive reference that means one place",
      { ...draft2019, $recursiveAnchor: true, items: { $recursiveRef: "#" } },
    ],
    ["an enum as large as allowed", { enum: Array.from({ length: 10_000 }, (_, index) => index) }],
    ["unique items with a limit", { uniqueItems: true, maxItems: 1024 }],
    ["unique items that need not be", { uniqueItems: false }],
    ["a quadratic pattern with a limit", { pattern: "\\s+$", maxLength: 1024 }],
    [
      "many references to one place",
      { prefixItems: Array.from({ length: 200 }, () => ({ $ref: "#/$defs/a" })), $defs: { a: {} } },
    ],
  ])("may hold %s", (_, schema) => {
    expect(lintSchema(schema)).toMatchObject({ ok: true })
  })

  it.each<[string, object, string, RegExp]>([
    ["a type that does not exist", { type: "strng" }, "/type", /must be one or several of array, boolean/],
    ["no type", { type: [] }, "/type", /must be one or several/],
    ["required as in draft-03", { required: true }, "/required", /must be a list of different strings/],
    [
      "exclusiveMinimum as in draft-04",
      { exclusiveMinimum: true },
      "/exclusiveMinimum",
      /must be a number in draft 2020-12/,
    ],
    ["properties that are no schemas", { properties: { a: 1 } }, "/properties", /must be an object of schemas/],
    ["null as a schema", { items: null }, "/items", /must be a schema/],
    ["an empty union", { anyOf: [] }, "/anyOf", /must be a list of schemas that is not empty/],
    ["a negative length", { minLength: -1 }, "/minLength", /must be an integer, 0 or more/],
    ["a length that is a fraction", { properties: { a: { maxLength: 1.5 } } }, "/properties/a/maxLength", /an integer/],
    ["a multiple of zero", { multipleOf: 0 }, "/multipleOf", /greater than 0/],
    ["an enum that is no list", { enum: "a" }, "/enum", /must be a list/],
    ["a title that is no text", { title: 1 }, "/title", /must be a string/],
    ["a list of items", { items: [{}] }, "/items", /"prefixItems" takes a list/],
    ["a reference that is no text", { $ref: {} }, "/$ref", /must be a string/],
    ["a name that is not well formed", { properties: { "\ud800": {} } }, "/properties", /not well-formed Unicode/],
    ["too many values", { enum: Array.from({ length: 10_001 }, () => 1) }, "/enum", /at most 10000 values/],
    ["unique items without a limit", { uniqueItems: true }, "/uniqueItems", /needs a "maxItems" of at most 1024/],
    ["unique items with a high limit", { uniqueItems: true, maxItems: 1025 }, "/uniqueItems", /at most 1024/],
    ["an exponential pattern", { pattern: "^(a+)+$" }, "/pattern", /the pattern \^\(a\+\)\+\$ can take too long/],
    [
      "an exponential name pattern",
      { patternProperties: { "(a|a)*$": {} } },
      "/patternProperties",
      /can take too long/,
    ],
    ["a quadratic pattern", { pattern: "\\s+$" }, "/pattern", /needs a "maxLength" of at most 1024 beside it/],
    ["a quadratic name pattern", { patternProperties: { "f.*o": {} } }, "/patternProperties", /quadratic time/],
    ["a pattern that is none", { pattern: "(" }, "/pattern", /is not a regular expression/],
    ["a pattern with a backreference", { pattern: "(a)\\1" }, "/pattern", /backreference/],
    ["a pattern with lookbehind", { pattern: "(?<!a)b" }, "/pattern", /lookbehind/],
    ["a reference to itself", { $ref: "#" }, "", /leads back to itself/],
    [
      "a circle of two",
      { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } },
      "/$defs/a",
      /leads back/,
    ],
    ["a circle through in-place keywords", { allOf: [{ if: true, then: { not: { $ref: "#" } } }] }, "", /leads back/],
    ["a circle of dynamic references", { $dynamicAnchor: "a", anyOf: [{ $dynamicRef: "#a" }] }, "", /leads back/],
    ["a circle of recursive references", { ...draft2019, anyOf: [{ $recursiveRef: "#" }] }, "", /leads back/],
    [
      "a dynamic reference that means two places",
      { $defs: { a: { $dynamicAnchor: "x" }, b: { $id: "b", $dynamicAnchor: "x" } }, items: { $dynamicRef: "#x" } },
      "/items/$dynamicRef",
      /more than one place/,
    ],
    ["a dynamic reference to nowhere", { $dynamicRef: "http://evil/x" }, "/$dynamicRef", /never fetched/],
    [
      "a remote reference",
      { properties: { a: { $ref: "http://169.254.169.254/" } } },
      "/properties/a/$ref",
      /never fetched/,
    ],
    ["a reference to a file", { $ref: "file:///etc/passwd" }, "/$ref", /never fetched/],
    ["a reference without a scheme", { $ref: "//evil/x" }, "/$ref", /never fetched/],
    ["a reference to data", { $ref: "data:application/json,{}" }, "/$ref", /never fetched/],
    [
      "a reference to a meta-schema",
      { $ref: "https://json-schema.org/draft/2020-12/schema" },
      "/$ref",
      /never fetched/,
    ],
    ["references that double", bomb("anyOf"), "/$defs/d14", /applies more than 10000 subschemas to one value/],
    ["references that double, all to be met", bomb("allOf"), "/$defs/d14", /applies more than 10000 subschemas/],
    ["too many subschemas", { anyOf: Array.from({ length: 10_001 }, () => ({})) }, "", /more than 10000 subschemas/],
    ["five megabytes", { description: "x".repeat(5_000_000) }, "", /larger than 262144 bytes/],
    ["an id twice", { $defs: { a: { $id: "x" }, b: { $id: "x" } } }, "/$defs/b/$id", /stands twice/],
    ["an id that is none", { $defs: { a: { $id: "http://[" } } }, "/$defs/a/$id", /must be a URI reference/],
  ])("must not hold %s", (_, schema, path, problem) => {
    expect(lintSchema(schema)).toEqual({ ok: false, path, problem: expect.stringMatching(problem) })
  })

  it("must not be nested or chained too deeply", () => {
    const nested = (levels: number): object => (levels === 0 ? {} : { properties: { a: nested(levels - 1) } })
    expect(lintSchema(nested(20_000 / 4))).toMatchObject({ ok: false, problem: expect.stringContaining("128 levels") })
    const defs = Array.from({ length: 200 }, (_, index) => [`d${index}`, { $ref: `#/$defs/d${index + 1}` }])
    const chain = { $ref: "#/$defs/d0", $defs: { ...Object.fromEntries(defs), d200: {} } }
    expect(lintSchema(chain)).toMatchObject({
      ok: false,
      problem: expect.stringContaining("more than 128 subschemas for one value"),
    })
  })

  it("may keep a name that another schema has too", () => {
    const one = { $id: "https://example.com/a", type: "string" }
    const other = { $id: "https://example.com/a", type: "number" }
    expect(lintSchema(one)).toMatchObject({ ok: true })
    expect(lintSchema(other)).toMatchObject({ ok: true })
  })
})

describe("The linter", () => {
  const keyword = fc.constantFrom(
    ...["$id", "$ref", "$anchor", "$dynamicRef", "$dynamicAnchor", "$schema", "$defs", "type", "enum", "const"],
    ...["allOf", "anyOf", "not", "if", "then", "properties", "patternProperties", "required", "items", "prefixItems"],
    ...[
      "dependencies",
      "uniqueItems",
      "maxItems",
      "maxLength",
      "pattern",
      "format",
      "minimum",
      "multipleOf",
      "__proto__",
    ],
  )
  const word = fc.constantFrom(
    "#",
    "#a",
    "#/$defs/a",
    "a",
    "string",
    "object",
    "integer",
    "(a+)+",
    "^a*$",
    "date",
    "\ud800",
  )
  const { schema } = fc.letrec<{ schema: unknown; value: unknown }>((tie) => ({
    schema: fc.dictionary(fc.oneof(keyword, word), tie("value"), { maxKeys: 5 }),
    value: fc.oneof(
      { depthSize: "small" },
      word,
      fc.boolean(),
      fc.nat(20),
      tie("schema"),
      fc.array(tie("schema"), { maxLength: 3 }),
      fc.array(word, { maxLength: 2 }),
      fc.dictionary(fc.oneof(keyword, word), tie("schema"), { maxKeys: 3 }),
    ),
  }))

  it("never throws, whatever it is given", () => {
    fc.assert(
      fc.property(fc.oneof(schema, fc.anything(), fc.jsonValue()), (value) => lintSchema(value).ok !== undefined),
    )
  })

  it("lets nothing through that the interpreter cannot work with", () => {
    fc.assert(
      fc.property(schema, fc.oneof(fc.jsonValue(), fc.anything()), (raw, data) => {
        const linted = lintSchema(raw)
        if (!linted.ok) return
        for (const { message } of createCheck(linted)(data)) expect(message).not.toBe("")
      }),
      { numRuns: 1000 },
    )
  })
})
