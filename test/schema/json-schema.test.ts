/** What goes on the wire for schemas of zod, arktype and valibot, and which schemas are refused at definition time. */
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as v from "valibot"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { McpError } from "../../src/core/error/error.js"
import { inputJsonSchema, outputJsonSchema, promptArguments } from "../../src/core/schema/json-schema.js"
import type { Schema } from "../../src/core/schema/standard.js"
import { json2020Tool } from "./json-2020-tool.js"

const owner = 'tool "t"'

/** A schema whose JSON half says exactly `json`. */
function schemaOf(json: unknown): Schema {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: (value) => ({ value }),
      jsonSchema: { input: () => json as Record<string, unknown>, output: () => json as Record<string, unknown> },
    },
  }
}

function refusal(run: () => unknown): { reason: string; message: string } {
  try {
    run()
  } catch (error) {
    if (McpError.is(error, "misuse")) return error
    throw error
  }
  throw new Error("nothing was refused")
}

const libraries = [
  {
    name: "zod",
    object: z.object({ city: z.string(), days: z.number().optional(), unit: z.string().default("C") }),
    strict: z.strictObject({ city: z.string() }),
    nested: z.object({ at: z.object({ lat: z.number() }) }),
    record: z.record(z.string(), z.number()),
    union: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), x: z.number() }),
      z.object({ kind: z.literal("b") }),
    ]),
    pipe: z.object({ n: z.string().transform(Number).pipe(z.number()) }),
    text: z.string(),
    list: z.array(z.string()),
  },
  {
    name: "arktype",
    object: type({ city: "string", "days?": "number", unit: "string = 'C'" }),
    strict: type({ "+": "reject", city: "string" }),
    nested: type({ at: { lat: "number" } }),
    record: type("Record<string, number>"),
    union: type({ kind: "'a'", x: "number" }).or({ kind: "'b'" }),
    pipe: type({ n: type("string").pipe(Number, type("number")) }),
    text: type("string"),
    list: type("string[]"),
  },
  {
    name: "valibot through @valibot/to-json-schema",
    object: toStandardJsonSchema(
      v.object({ city: v.string(), days: v.optional(v.number()), unit: v.optional(v.string(), "C") }),
    ),
    strict: toStandardJsonSchema(v.strictObject({ city: v.string() })),
    nested: toStandardJsonSchema(v.object({ at: v.object({ lat: v.number() }) })),
    record: toStandardJsonSchema(v.record(v.string(), v.number())),
    union: toStandardJsonSchema(
      v.variant("kind", [v.object({ kind: v.literal("a"), x: v.number() }), v.object({ kind: v.literal("b") })]),
    ),
    pipe: toStandardJsonSchema(v.object({ n: v.pipe(v.string(), v.transform(Number), v.number()) })),
    text: toStandardJsonSchema(v.string()),
    list: toStandardJsonSchema(v.array(v.string())),
  },
] as const

describe.each(libraries)("A schema of $name", (library) => {
  it("requires on the input side what has neither an optional mark nor a default", () => {
    const json = inputJsonSchema(library.object, owner)
    expect(json).toMatchObject({
      type: "object",
      properties: { city: { type: "string" }, days: { type: "number" }, unit: { type: "string" } },
    })
    expect(json["required"]).toEqual(["city"])
    expect(json).not.toHaveProperty("additionalProperties")
  })

  it("is closed on the input side when it is strict", () => {
    expect(inputJsonSchema(library.strict, owner)).toMatchObject({ type: "object", additionalProperties: false })
  })

  it("keeps nested objects and records", () => {
    expect(inputJsonSchema(library.nested, owner)).toMatchObject({
      properties: { at: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] } },
    })
    expect(inputJsonSchema(library.record, owner)).toMatchObject({
      type: "object",
      additionalProperties: { type: "number" },
    })
  })

  it("keeps a union beside an object root", () => {
    const json = inputJsonSchema(library.union, owner)
    expect(json["type"]).toBe("object")
    expect(json["oneOf"] ?? json["anyOf"]).toMatchObject([
      { type: "object", properties: { kind: { const: "a" }, x: { type: "number" } } },
      { type: "object", properties: { kind: { const: "b" } } },
    ])
  })

  it("shows the input side of a pipe", () => {
    expect(inputJsonSchema(library.pipe, owner)).toMatchObject({ properties: { n: { type: "string" } } })
  })

  it("is refused as input when it takes no object, and may be any output", () => {
    for (const schema of [library.text, library.list]) {
      expect(refusal(() => inputJsonSchema(schema, owner))).toMatchObject({ reason: "invalid_schema" })
    }
    expect(outputJsonSchema(library.text, owner)).toMatchObject({ type: "string" })
    expect(outputJsonSchema(library.list, owner)).toMatchObject({ type: "array", items: { type: "string" } })
  })
})

describe("The sides of a schema", () => {
  it("differ for defaults: optional on the way in, there on the way out", () => {
    const schema = z.object({ unit: z.string().default("C") })
    expect(inputJsonSchema(schema, owner)["required"]).toBeUndefined()
    expect(outputJsonSchema(schema, owner)["required"]).toEqual(["unit"])
  })

  it("differ for pipes", () => {
    for (const { name, pipe } of libraries) {
      if (name.startsWith("valibot")) continue
      expect(outputJsonSchema(pipe, owner)).toMatchObject({ properties: { n: { type: "number" } } })
    }
  })

  it("are independent: a transform has an input side and no output side", () => {
    const schema = z.object({ n: z.string().transform(Number) })
    expect(inputJsonSchema(schema, owner)).toMatchObject({ properties: { n: { type: "string" } } })
    expect(refusal(() => outputJsonSchema(schema, owner))).toMatchObject({ reason: "schema_without_json" })
  })
})

describe("The root of an input", () => {
  it("is a closed object without a schema", () => {
    expect(inputJsonSchema(undefined, owner)).toEqual({ type: "object", additionalProperties: false })
  })

  it.each([
    ["nothing that names a type", {}, { type: "object" }],
    ["a union", { oneOf: [{ type: "object" }, { type: "null" }] }, undefined],
    ["an intersection", { allOf: [{ type: "object" }, { required: ["a"] }] }, undefined],
    ["a reference", { $ref: "#/$defs/A", $defs: { A: { type: "object", title: "A" } } }, undefined],
    ["a reference to itself in a union", { anyOf: [{ $ref: "#" }, { type: "object" }] }, undefined],
    ["several types", { type: ["object", "null"], properties: {} }, { type: "object", properties: {} }],
    ["a condition", { if: { required: ["a"] }, then: { required: ["b"] } }, undefined],
    ["another dialect", { $schema: "http://json-schema.org/draft-07/schema#", anyOf: [{ type: "object" }] }, undefined],
  ])("becomes an object for %s, with everything else beside it", (_, json, expected) => {
    expect(inputJsonSchema(schemaOf(json), owner)).toEqual(expected ?? { ...json, type: "object" })
  })

  it.each([
    ["a string", { type: "string" }],
    ["several types", { type: ["string", "null"] }],
    ["a union without an object", { anyOf: [{ type: "string" }, { type: "array" }] }],
    ["an intersection with a string", { allOf: [{ type: "object" }, { type: "string" }] }],
    ["a reference to a list", { $ref: "#/$defs/A", $defs: { A: { type: "array" } } }],
    ["a constant", { const: "a" }],
    [
      "the same text twice",
      { anyOf: [{ $ref: "#/$defs/A" }, { $ref: "#/$defs/A" }], $defs: { A: { type: "string" } } },
    ],
    ["an enum of texts", { enum: ["a", "b"] }],
    ["nothing at all", { not: {} }],
  ])("is refused when it can only be %s, and the error says what to do", (_, json) => {
    const { reason, message } = refusal(() => inputJsonSchema(schemaOf(json), owner))
    expect(reason).toBe("invalid_schema")
    expect(message).toMatch(/^tool "t": its input takes an object, but .*Wrap it in an object schema/)
  })
})

describe("A JSON Schema", () => {
  it("comes through as it was written, with every keyword", () => {
    expect(inputJsonSchema(schemaOf(json2020Tool), owner)).toEqual(json2020Tool)
    expect(outputJsonSchema(schemaOf(json2020Tool), owner)).toEqual(json2020Tool)
  })

  it("keeps the $schema that the library gave", () => {
    expect(inputJsonSchema(z.object({}), owner)["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema")
  })

  it("keeps properties that are named like keywords", () => {
    const names = ["title", "description", "type", "$ref", "properties", "required", "default", "constructor"]
    const schema = z.object(Object.fromEntries(names.map((name) => [name, z.string()])))
    expect(Object.keys(inputJsonSchema(schema, owner)["properties"] ?? {})).toEqual(names)
    const own = JSON.parse('{"type":"object","properties":{"__proto__":{"type":"string"}}}')
    expect(JSON.stringify(inputJsonSchema(schemaOf(own), owner))).toBe(JSON.stringify(own))
  })

  it("is a copy: what happens to the original later does not reach it", () => {
    const original: Record<string, unknown> = { type: "object" }
    const json = inputJsonSchema(schemaOf(original), owner)
    original["type"] = "string"
    expect(json).toEqual({ type: "object" })
    expect(Object.isFrozen(json)).toBe(true)
  })

  it("leaves out members that are undefined", () => {
    expect(outputJsonSchema(schemaOf({ type: "string", title: undefined }), owner)).toStrictEqual({ type: "string" })
  })
})

describe("The bounds of a JSON Schema", () => {
  const circle: Record<string, unknown> = { type: "object" }
  circle["properties"] = { self: circle }
  const nested = (levels: number): Record<string, unknown> => (levels === 0 ? {} : { not: nested(levels - 1) })

  it.each<[string, unknown, RegExp]>([
    ["an object that contains itself", circle, /at "#\/properties\/self": the object contains itself; use "\$ref"/],
    ["nested too deeply", { type: "object", ...nested(128) }, /nested more than 128 levels/],
    ["nested absurdly deeply", nested(5000), /nested more than 128 levels/],
    ["too many subschemas", { anyOf: Array.from({ length: 10_001 }, () => ({})) }, /more than 10000 subschemas/],
    ["too large", { type: "object", description: "x".repeat(262_144) }, /larger than 262144 bytes/],
    ["too large in UTF-8 only", { type: "object", description: "é".repeat(140_000) }, /larger than 262144 bytes/],
    [
      "a remote reference",
      { $ref: "http://169.254.169.254/" },
      /"#\/\$ref": "http:\/\/169.254.169.254\/" is not in this schema/,
    ],
    ["a file reference", { $ref: "file:///etc/passwd" }, /references are never fetched/],
    ["a scheme-less reference", { $ref: "//evil/x" }, /references are never fetched/],
    ["a data reference", { $ref: "data:application/json,{}" }, /references are never fetched/],
    ["a dangling reference", { $ref: "#/$defs/nope" }, /"#\/\$defs\/nope" is not in this schema/],
    ["an id twice", { $defs: { a: { $id: "a" }, b: { $id: "a" } } }, /the id "a" stands twice/],
    ["a value that is not JSON", { const: 1n }, /cannot be written as JSON/],
    ["a class instance", { default: new Date(0) }, /cannot be written as JSON/],
    ["a number that is not JSON", { maximum: Number.POSITIVE_INFINITY }, /Infinity is not a JSON number/],
    ["no object", "string", /a schema is an object here/],
  ])("refuse %s", (_, json, message) => {
    for (const convert of [inputJsonSchema, outputJsonSchema]) {
      expect(refusal(() => convert(schemaOf(json), owner))).toMatchObject({
        reason: "invalid_schema",
        message: expect.stringMatching(message),
      })
    }
  })

  it("admit what is exactly as large as they say", () => {
    expect(outputJsonSchema(schemaOf(nested(127)), owner)).toEqual(nested(127))
    const wide = { anyOf: Array.from({ length: 9999 }, () => ({})) }
    expect(outputJsonSchema(schemaOf(wide), owner)).toEqual(wide)
    const long = { title: "x".repeat(262_144 - '{"title":""}'.length) }
    expect(outputJsonSchema(schemaOf(long), owner)).toEqual(long)
  })

  it("admit one object in several places, and references to ids, anchors and pointers inside", () => {
    const shared = { type: "string" }
    const json = {
      $id: "https://example.com/root.json",
      properties: {
        a: shared,
        b: shared,
        c: { $ref: "#/properties/a" },
        d: { $ref: "other.json" },
        e: { $ref: "#here" },
        f: { $ref: "https://example.com/other.json#/properties/x~1y" },
      },
      $defs: {
        other: { $id: "other.json", properties: { "x/y": { type: "number" } } },
        here: { $anchor: "here" },
      },
    }
    expect(outputJsonSchema(schemaOf(json), owner)).toEqual(json)
  })

  it("stop at a graph of shared objects that unfolds without end", () => {
    let bomb: Record<string, unknown> = { type: "string" }
    for (let level = 0; level < 60; level += 1) bomb = { anyOf: [bomb, bomb] }
    expect(refusal(() => outputJsonSchema(schemaOf(bomb), owner))).toMatchObject({ reason: "invalid_schema" })
  })
})

describe("A schema with half of the standard", () => {
  it.each([
    ["zod dates", () => inputJsonSchema(z.object({ d: z.date() }), owner), /\(zod\) cannot be converted/],
    [
      "plain valibot",
      () => inputJsonSchema(v.object({}) as unknown as Schema, owner),
      /\(valibot\) validates, but does not/,
    ],
  ])("is refused with both fixes: %s", (_, run, message) => {
    const error = refusal(run)
    expect(error).toMatchObject({ reason: "schema_without_json", message: expect.stringMatching(message) })
    expect(error.message).toContain('tool "t"')
    expect(error.message).toContain("withJsonSchema(")
    expect(error.message).toContain("toStandardJsonSchema()")
  })

  it.each([null, 1, "schema", {}, { type: "object" }, { "~standard": {} }])(
    "is refused when it is none at all: %j",
    (value) => {
      expect(refusal(() => inputJsonSchema(value as unknown as Schema, owner))).toMatchObject({
        reason: "invalid_schema",
      })
    },
  )
})

describe("The arguments of a prompt", () => {
  it("are none without a schema", () => {
    expect(promptArguments(undefined, owner)).toEqual([])
  })

  it("are the properties of its input, in order", () => {
    const schema = z.object({
      code: z.string().meta({ title: "Code", description: "What to review" }),
      style: z.string().describe("How").optional(),
      depth: z.coerce.number().default(1),
    })
    expect(promptArguments(schema, owner)).toEqual([
      { name: "code", title: "Code", description: "What to review", required: true },
      { name: "style", description: "How" },
      { name: "depth" },
    ])
  })

  it("come from references, intersections and unions too", () => {
    const json = {
      $ref: "#/$defs/Base",
      allOf: [{ properties: { b: { $ref: "#/$defs/Text" } }, required: ["b"] }],
      oneOf: [
        { properties: { c: {}, d: {} }, required: ["c", "d"] },
        { properties: { c: {} }, required: ["c"] },
      ],
      $defs: { Base: { type: "object", properties: { a: {} } }, Text: { type: "string", description: "a text" } },
    }
    expect(promptArguments(schemaOf(json), owner)).toEqual([
      { name: "b", description: "a text", required: true },
      { name: "a" },
      { name: "c", required: true },
      { name: "d" },
    ])
  })

  it("are required when every branch of a union requires them, also through the same reference", () => {
    const branch = { $ref: "#/$defs/A" }
    const json = { oneOf: [branch, branch], $defs: { A: { properties: { a: {} }, required: ["a"] } } }
    expect(promptArguments(schemaOf(json), owner)).toEqual([{ name: "a", required: true }])
  })

  it("end for references that double", () => {
    const next = (level: number): object => ({ $ref: `#/$defs/d${level + 1}` })
    const levels = Array.from({ length: 40 }, (_, level) => [`d${level}`, { anyOf: [next(level), next(level)] }])
    const json = { ...next(-1), $defs: { ...Object.fromEntries(levels), d40: { properties: { a: {} } } } }
    expect(promptArguments(schemaOf(json), owner)).toEqual([{ name: "a" }])
  })

  it("end for a schema that refers to itself", () => {
    const json = { type: "object", properties: { a: { $ref: "#" } }, allOf: [{ $ref: "#" }] }
    expect(promptArguments(schemaOf(json), owner)).toEqual([{ name: "a" }])
  })
})
