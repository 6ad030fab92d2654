/** Which arguments `x-mcp-header` mirrors, which annotations are invalid, and how headers and arguments are compared. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { checkParamHeaders, type ParamHeader, scanParamHeaders, toParamHeaders } from "../../../src/core/http/param.js"
import type { JsonObject, JsonValue } from "../../../src/core/wire/message.js"

const region = { type: "string", "x-mcp-header": "Region" }

function paramsOf(schema: JsonObject): readonly ParamHeader[] {
  const scan = scanParamHeaders(schema)
  if (!scan.ok) throw new Error(`${scan.path}: ${scan.problem}`)
  return scan.params
}

describe("a scan for annotations", () => {
  it("finds the annotated property of the specification's example", () => {
    const properties = { region, query: { type: "string" } }
    expect(paramsOf({ type: "object", properties, required: ["region", "query"] })).toEqual([
      { header: "mcp-param-region", path: ["region"], type: "string" },
    ])
  })

  it("finds nested properties, each primitive type, and names that standard headers have too", () => {
    const schema = {
      type: "object",
      properties: {
        where: { type: "object", properties: { zone: { type: "object", properties: { id: region } } } },
        count: { type: "integer", "x-mcp-header": "Method" },
        dry: { type: "boolean", "x-mcp-header": "dry_RUN!" },
      },
    }
    expect(paramsOf(schema)).toEqual([
      { header: "mcp-param-method", path: ["count"], type: "integer" },
      { header: "mcp-param-dry_run!", path: ["dry"], type: "boolean" },
      { header: "mcp-param-region", path: ["where", "zone", "id"], type: "string" },
    ])
  })

  it.each<[string, JsonObject]>([
    ["a property of that name", { properties: { "x-mcp-header": { type: "string" } } }],
    ["a definition of that name", { $defs: { "x-mcp-header": { type: "string" } } }],
    ["a required property of that name", { required: ["x-mcp-header"] }],
    ["a default value", { properties: { a: { default: { "x-mcp-header": "A" } } } }],
    ["a constant", { properties: { a: { const: { "x-mcp-header": "A" } } } }],
    ["an enumeration", { properties: { a: { enum: [{ "x-mcp-header": "A" }] } } }],
    ["an example", { properties: { a: { examples: [{ properties: { b: region } }] } } }],
  ])("does not take %s for an annotation", (_, schema) => {
    expect(scanParamHeaders({ type: "object", ...schema })).toEqual({ ok: true, params: [] })
  })

  it("tells an annotated property named like the annotation from the annotation", () => {
    const named = { "x-mcp-header": { type: "string", "x-mcp-header": "X" } }
    expect(paramsOf({ properties: named })).toEqual([{ header: "mcp-param-x", path: ["x-mcp-header"], type: "string" }])
  })

  it.each<[string, JsonValue]>([
    ["empty", ""],
    ["with a space", "My Region"],
    ["with a colon", "Region:Primary"],
    ["beyond ASCII", "Région"],
    ["with a tab", "Region\t1"],
    ["with a line break", "X\r\nSet-Cookie: a"],
    ["with a line break at its end", "Region\n"],
    ["no text", 1],
    ["null", null],
  ])("refuses a name that is %s", (_, name) => {
    const scan = scanParamHeaders({ properties: { value: { type: "string", "x-mcp-header": name } } })
    expect(scan).toMatchObject({ ok: false, path: "/properties/value" })
  })

  it.each<[string, JsonValue]>([
    ["number", "number"],
    ["object", "object"],
    ["array", "array"],
    ["null", "null"],
    ["several types", ["string", "null"]],
    ["no type", null],
  ])("refuses an annotation on %s", (_, type) => {
    expect(scanParamHeaders({ properties: { value: { type, "x-mcp-header": "V" } } }).ok).toBe(false)
  })

  it.each([
    ["the same case", "Region"],
    ["another case", "REGION"],
  ])("refuses a second use of a name in %s", (_, name) => {
    const properties = { a: region, b: { type: "string", "x-mcp-header": name } }
    expect(scanParamHeaders({ properties })).toMatchObject({ ok: false, path: "/properties/b" })
  })

  it.each<[string, JsonObject]>([
    ["on the root", { type: "string", "x-mcp-header": "R" }],
    ["under items", { properties: { a: { type: "array", items: region } } }],
    ["under items of a list", { properties: { a: { items: [region] } } }],
    ["under prefixItems", { properties: { a: { prefixItems: [region] } } }],
    ["under contains", { properties: { a: { contains: region } } }],
    ["under additionalProperties", { additionalProperties: region }],
    ["under patternProperties", { patternProperties: { "^a": region } }],
    ["under propertyNames", { propertyNames: region }],
    ["under unevaluatedProperties", { unevaluatedProperties: region }],
    ["under dependentSchemas", { dependentSchemas: { a: { properties: { b: region } } } }],
    ["under oneOf", { oneOf: [{ properties: { a: region } }] }],
    ["under anyOf", { properties: { a: { anyOf: [region, { type: "null" }] } } }],
    ["under allOf", { allOf: [{ properties: { a: region } }] }],
    ["under not", { not: { properties: { a: region } } }],
    ["under if", { if: { properties: { a: region } } }],
    ["under then", { then: { properties: { a: region } } }],
    ["under else", { else: { properties: { a: region } } }],
    ["under $defs", { $defs: { a: region }, properties: { a: { $ref: "#/$defs/a" } } }],
    ["under definitions", { definitions: { a: region } }],
    ["under a keyword that nobody knows", { "x-parts": { a: { properties: { b: region } } } }],
    ["in properties again, once the chain is broken", { items: { properties: { a: region } } }],
  ])("refuses an annotation %s", (_, schema) => {
    expect(scanParamHeaders(schema).ok).toBe(false)
  })

  it("points at the place in the form of a JSON pointer", () => {
    const scan = scanParamHeaders({ properties: { "a/b~c": { items: region } } })
    expect(scan).toMatchObject({ ok: false, path: "/properties/a~1b~0c/items" })
  })

  it("survives any schema, of any depth and width", () => {
    fc.assert(fc.property(fc.jsonValue(), (value) => void scanParamHeaders({ properties: value, items: value })))
    let deep: JsonObject = region
    for (let level = 0; level < 50_000; level += 1) deep = { type: "object", properties: { a: deep } }
    expect(scanParamHeaders(deep)).toMatchObject({ ok: false })
    const wide = Object.fromEntries(Array.from({ length: 200_000 }, (_, index) => [`p${index}`, true]))
    expect(scanParamHeaders({ properties: wide }).ok).toBe(true)
  })
})

const params: readonly ParamHeader[] = [
  { header: "mcp-param-region", path: ["region"], type: "string" },
  { header: "mcp-param-count", path: ["page", "count"], type: "integer" },
  { header: "mcp-param-dry", path: ["dry"], type: "boolean" },
]

describe("the headers of a call", () => {
  const check = (args: JsonObject, headers: Record<string, string>) =>
    checkParamHeaders(params, args, (name) => headers[name])?.header

  it.each<[string, JsonObject, Record<string, string>]>([
    ["nothing on either side", {}, {}],
    ["null in the body", { region: null, page: null }, {}],
    ["an equal text", { region: "us-west1" }, { "mcp-param-region": "us-west1" }],
    ["an empty text", { region: "" }, { "mcp-param-region": "" }],
    ["a text in base64", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8=?=" }],
    ["a text that looks like base64", { region: "SGVsbG8=" }, { "mcp-param-region": "SGVsbG8=" }],
    ["half a marker", { region: "=?base64?SGVsbG8=" }, { "mcp-param-region": "=?base64?SGVsbG8=" }],
    ["spaces around the value", { region: "a" }, { "mcp-param-region": "  a\t" }],
    ["an integer", { page: { count: 42 } }, { "mcp-param-count": "42" }],
    ["an integer with a fraction of zero", { page: { count: 42 } }, { "mcp-param-count": "42.0" }],
    ["a negative integer", { page: { count: -7 } }, { "mcp-param-count": "-7" }],
    ["the largest safe integer", { page: { count: 2 ** 53 - 1 } }, { "mcp-param-count": "9007199254740991" }],
    ["true", { dry: true }, { "mcp-param-dry": "true" }],
    ["false", { dry: false }, { "mcp-param-dry": "false" }],
    ["a text where the schema wants an integer", { page: { count: "42" } }, { "mcp-param-count": "42" }],
    ["a fraction where the schema wants an integer", { page: { count: 1.5 } }, { "mcp-param-count": "1.5" }],
  ])("agree with the body: %s", (_, args, headers) => {
    expect(check(args, headers)).toBeUndefined()
  })

  it.each<[string, JsonObject, Record<string, string>, string]>([
    ["missing, with a value in the body", { region: "a" }, {}, "mcp-param-region"],
    ["missing, with false in the body", { dry: false }, {}, "mcp-param-dry"],
    ["missing, with 0 in the body", { page: { count: 0 } }, {}, "mcp-param-count"],
    ["there, with nothing in the body", {}, { "mcp-param-region": "a" }, "mcp-param-region"],
    ["there, with null in the body", { region: null }, { "mcp-param-region": "null" }, "mcp-param-region"],
    ["there, with no object on the way", { page: 1 }, { "mcp-param-count": "1" }, "mcp-param-count"],
    ["another text", { region: "a" }, { "mcp-param-region": "b" }, "mcp-param-region"],
    ["another case", { region: "a" }, { "mcp-param-region": "A" }, "mcp-param-region"],
    ["two headers joined", { region: "a" }, { "mcp-param-region": "a, b" }, "mcp-param-region"],
    ["invalid padding", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8?=" }, "mcp-param-region"],
    ["invalid base64", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVs!!!bG8=?=" }, "mcp-param-region"],
    ["raw Latin-1", { region: "é" }, { "mcp-param-region": "é" }, "mcp-param-region"],
    ["another number", { page: { count: 42 } }, { "mcp-param-count": "43" }, "mcp-param-count"],
    ["a number in hex", { page: { count: 42 } }, { "mcp-param-count": "0x2a" }, "mcp-param-count"],
    ["a number with an exponent", { page: { count: 100 } }, { "mcp-param-count": "1e2" }, "mcp-param-count"],
    ["nothing for zero", { page: { count: 0 } }, { "mcp-param-count": "" }, "mcp-param-count"],
    [
      "an integer beyond the safe range",
      { page: { count: 2 ** 53 } },
      { "mcp-param-count": "9007199254740992" },
      "mcp-param-count",
    ],
    ["true in another case", { dry: true }, { "mcp-param-dry": "True" }, "mcp-param-dry"],
    ["1 for true", { dry: true }, { "mcp-param-dry": "1" }, "mcp-param-dry"],
    ["missing, with an object in the body", { region: { $ne: 1 } }, {}, "mcp-param-region"],
  ])("are refused: %s", (_, args, headers, header) => {
    expect(check(args, headers)).toBe(header)
  })

  it("does not look for arguments on the prototype", () => {
    const inherited = [{ header: "mcp-param-a", path: ["constructor", "name"], type: "string" }] as const
    expect(checkParamHeaders(inherited, {}, () => undefined)).toBeUndefined()
    expect(toParamHeaders(inherited, {})).toEqual({})
  })

  it("shows what differs, short and without control characters", () => {
    const long = `\u202e${"x".repeat(5000)}`
    const problem = checkParamHeaders(params, { region: long }, () => "other")?.problem ?? ""
    expect(problem).toContain('"other"')
    expect(problem.length).toBeLessThan(600)
    expect(problem).not.toContain("\u202e")
  })

  it.each<[string, JsonObject, Record<string, string>]>([
    ["plain text", { region: "us-west1" }, { "mcp-param-region": "us-west1" }],
    ["other text in base64", { region: " padded " }, { "mcp-param-region": "=?base64?IHBhZGRlZCA=?=" }],
    ["numbers and truth", { page: { count: 42 }, dry: false }, { "mcp-param-count": "42", "mcp-param-dry": "false" }],
    ["nothing for null and absent", { region: null }, {}],
    ["nothing for what has no text", { region: ["a"], page: { count: 2 ** 53 } }, {}],
  ])("are made by a client: %s", (_, args, headers) => {
    expect(toParamHeaders(params, args)).toEqual(headers)
  })

  it("made from any arguments agree with these arguments", () => {
    const values = fc.record({
      region: fc.option(fc.string({ unit: "grapheme" })),
      page: fc.option(fc.record({ count: fc.option(fc.maxSafeInteger()) })),
      dry: fc.option(fc.boolean()),
    })
    fc.assert(
      fc.property(values, (args) => {
        const headers = toParamHeaders(params, args)
        expect(checkParamHeaders(params, args, (name) => headers[name])).toBeUndefined()
      }),
    )
  })
})
