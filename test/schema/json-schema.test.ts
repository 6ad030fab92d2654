/** What goes on the wire for schemas of zod, arktype and valibot, and which schemas are refused at definition time. */
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import * as v from "valibot"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { McpError } from "../../src/core/error/error.js"
import { inputJsonSchema, outputJsonSchema, promptArguments } from "../../src/core/schema/json-schema.js"
import type { Schema } from "../../src/core/schema/standard.js"

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

const two = { kind: { a: "a", b: "b" } } as const
const libraries = [
  {
    name: "zod",
    object: z.object({ city: z.string(), days: z.number().optional(), unit: z.string().default("C") }),
    strict: z.strictObject({ city: z.string() }),
    nested: z.object({ at: z.object({ lat: z.number() }) }),
    record: z.record(z.string(), z.number()),
    union: z.discriminatedUnion("kind", [
      z.object({ kind: z.literal(two.kind.a), x: z.number() }),
      z.object({ kind: z.literal(two.kind.b) }),
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
    object: toStandardJsonSchema(v.object({ city: v.string(), days: v.optional(v.number()), unit: v.optional(v.string(), "C") })),
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
