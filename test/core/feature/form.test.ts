/** Forms: what is sent of a schema, per revision. */
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { projectForm } from "../../../src/core/feature/form.js"
import { findRevision } from "../../../src/core/revision/table.js"
import { inputJsonSchema } from "../../../src/core/schema/json-schema.js"
import type { Schema } from "../../../src/core/schema/standard.js"
import type { JsonObject } from "../../../src/core/wire/message.js"

const versions = ["2025-06-18", "2025-11-25", "2026-07-28"] as const
type Version = (typeof versions)[number]

const factsOf = (version: Version) => {
  const revision = findRevision(version)
  if (revision === undefined) throw new Error(version)
  return revision.form
}

/** What is sent of one field. */
function fieldOf(field: JsonObject, version: Version): unknown {
  const projected = projectForm({ type: "object", properties: { field } }, factsOf(version))
  return projected.ok ? (projected.schema["properties"] as JsonObject)["field"] : projected
}

const fromZod = (schema: Schema): JsonObject => inputJsonSchema(schema, "test")

describe.each(versions)("a form of %s", (version) => {
  it.each<[what: string, field: JsonObject, sent: JsonObject]>([
    ["a text", { type: "string" }, { type: "string" }],
    [
      "the labels and lengths of a text",
      { type: "string", title: "Name", description: "Your name", minLength: 1, maxLength: 9 },
      { type: "string", title: "Name", description: "Your name", minLength: 1, maxLength: 9 },
    ],
    ["the format email", { type: "string", format: "email" }, { type: "string", format: "email" }],
    ["the format uri", { type: "string", format: "uri" }, { type: "string", format: "uri" }],
    ["the format date", { type: "string", format: "date" }, { type: "string", format: "date" }],
    ["the format date-time", { type: "string", format: "date-time" }, { type: "string", format: "date-time" }],
    ["a number and its bounds", { type: "number", minimum: 0, maximum: 1 }, { type: "number", minimum: 0, maximum: 1 }],
    ["an integer", { type: "integer", title: "Age" }, { type: "integer", title: "Age" }],
    ["a boolean", { type: "boolean", default: false }, { type: "boolean", default: false }],
    ["an enum", { type: "string", enum: ["a", "b"] }, { type: "string", enum: ["a", "b"] }],
    ["an enum without a type", { enum: ["a", "b"] }, { type: "string", enum: ["a", "b"] }],
    ["a constant text", { const: "a" }, { type: "string", enum: ["a"] }],
    ["constants without titles", { anyOf: [{ const: "a" }, { const: "b" }] }, { type: "string", enum: ["a", "b"] }],
  ])("sends %s as it is", (_, field, sent) => {
    expect(fieldOf(field, version)).toEqual(sent)
  })

  it.each<[what: string, field: JsonObject, sent: JsonObject]>([
    ["a pattern", { type: "string", pattern: "^a" }, { type: "string" }],
    ["a format that forms do not know", { type: "string", format: "uuid" }, { type: "string" }],
    ["exclusive bounds and steps", { type: "number", exclusiveMinimum: 0, multipleOf: 2 }, { type: "number" }],
    ["examples and unknown keywords", { type: "string", examples: ["a"], "x-hint": 1 }, { type: "string" }],
    [
      "bounds that only say that a number is held exactly",
      { type: "integer", minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER },
      { type: "integer" },
    ],
    ["a constant number", { type: "number", const: 5 }, { type: "number" }],
  ])("leaves out %s", (_, field, sent) => {
    expect(fieldOf(field, version)).toEqual(sent)
  })

  it("sends type, properties and required, and nothing else of the root", () => {
    const root = {
      $schema: "https://json-schema.org/draft/2020-12/schema",
      type: "object",
      title: "Form",
      properties: { a: { type: "string" }, b: { type: "number" } },
      required: ["a", "c"],
      additionalProperties: false,
      minProperties: 1,
    }
    expect(projectForm(root, factsOf(version))).toEqual({
      ok: true,
      schema: { type: "object", properties: { a: { type: "string" }, b: { type: "number" } }, required: ["a"] },
      nullable: [],
    })
  })

  it("has no `required` where nothing is", () => {
    expect(projectForm(fromZod(z.object({ a: z.string().optional() })), factsOf(version))).toMatchObject({
      schema: { type: "object", properties: { a: { type: "string" } } },
    })
    expect(projectForm(fromZod(z.object({})), factsOf(version))).toEqual({
      ok: true,
      schema: { type: "object", properties: {} },
      nullable: [],
    })
  })

  it.each<[what: string, field: JsonObject]>([
    ["a nested object", { type: "object", properties: { b: { type: "string" } } }],
    ["a list of texts", { type: "array", items: { type: "string" } }],
    ["a list of objects", { type: "array", items: { type: "object" } }],
    ["a list of anything", { type: "array" }],
    ["a union", { anyOf: [{ type: "string" }, { type: "number" }] }],
    ["several types", { type: ["string", "number"] }],
    ["no type", {}],
    ["an enum of texts and numbers", { enum: ["a", 1] }],
    ["null", { type: "null" }],
  ])("refuses %s, naming the property", (_, field) => {
    const refused = fieldOf(field, version)
    expect(refused).toMatchObject({ ok: false, property: "field", newer: false })
  })

  it("refuses a union of objects with fields of their own", () => {
    const union = z.discriminatedUnion("kind", [
      z.object({ kind: z.literal("a"), one: z.string() }),
      z.object({ kind: z.literal("b"), two: z.string() }),
    ])
    expect(projectForm(fromZod(union), factsOf(version))).toMatchObject({ ok: false, property: "" })
  })

  it("takes a union that only constrains the fields that are there", () => {
    const root: JsonObject = {
      type: "object",
      properties: { mail: { type: "string" }, phone: { type: "string" } },
      anyOf: [{ required: ["mail"] }, { required: ["phone"] }],
    }
    expect(projectForm(root, factsOf(version))).toMatchObject({
      ok: true,
      schema: { properties: { mail: { type: "string" }, phone: { type: "string" } } },
    })
  })

  it("collects the fields of an intersection", () => {
    const both = z.object({ a: z.string() }).and(z.object({ b: z.boolean() }))
    expect(projectForm(fromZod(both), factsOf(version))).toMatchObject({
      schema: { properties: { a: { type: "string" }, b: { type: "boolean" } }, required: ["a", "b"] },
    })
  })

  it("follows references, in lists too", () => {
    const root: JsonObject = {
      type: "object",
      $defs: { color: { type: "string", enum: ["red"] }, shade: { $ref: "#/$defs/color" } },
      properties: { color: { $ref: "#/$defs/shade", title: "Color" } },
    }
    expect(projectForm(root, factsOf(version))).toMatchObject({
      schema: { properties: { color: { type: "string", enum: ["red"], title: "Color" } } },
    })
  })

  it("refuses a schema that is nothing but a reference to itself", () => {
    const root: JsonObject = { type: "object", $ref: "#" }
    expect(projectForm(root, factsOf(version))).toMatchObject({ ok: false })
    expect(fieldOf({ $ref: "#/properties/field" }, version)).toMatchObject({ ok: false })
  })

  it.each<[what: string, field: JsonObject, sent: JsonObject]>([
    [
      "as a union",
      { anyOf: [{ type: "string", enum: ["a"] }, { type: "null" }], title: "T" },
      { type: "string", enum: ["a"], title: "T" },
    ],
    ["as a list of types", { type: ["integer", "null"], minimum: 1 }, { type: "integer", minimum: 1 }],
    ["among its choices", { enum: ["a", null] }, { type: "string", enum: ["a"] }],
    ["among choices with a type", { type: ["string", "null"], enum: ["a", null] }, { type: "string", enum: ["a"] }],
    ["with null as its default", { type: ["string", "null"], default: null }, { type: "string" }],
  ])("shows a field that may be null %s without it, and does not require it", (_, field, sent) => {
    const root = { type: "object", properties: { field }, required: ["field"] }
    expect(projectForm(root, factsOf(version))).toEqual({
      ok: true,
      schema: { type: "object", properties: { field: sent } },
      nullable: ["field"],
    })
  })

  it.each([["password"], ["newPassword"], ["api_key"], ["clientSecret"], ["ACCESS-TOKEN"], ["cardNumber"], ["cvv"]])(
    "never asks for a credential: %s",
    (name) => {
      const projected = projectForm({ type: "object", properties: { [name]: { type: "string" } } }, factsOf(version))
      expect(projected).toMatchObject({ ok: false, property: name, problem: expect.stringContaining("ctx.elicitUrl") })
    },
  )

  it("never asks for what has the format of a password", () => {
    expect(fieldOf({ type: "string", format: "password" }, version)).toMatchObject({ ok: false })
  })

  it.each([["passwordHint"], ["secretary"], ["token"], ["keyboard"], ["name"]])("asks for %s", (name) => {
    expect(projectForm({ type: "object", properties: { [name]: { type: "string" } } }, factsOf(version)).ok).toBe(true)
  })

  it("keeps a property that is named like a member of every object", () => {
    const projected = projectForm(
      { type: "object", properties: { constructor: { type: "string" } } as unknown as JsonObject },
      factsOf(version),
    )
    expect(projected).toMatchObject({ ok: true, schema: { properties: { constructor: { type: "string" } } } })
  })
})

describe("a form, as revisions differ", () => {
  const newer = ["2025-11-25", "2026-07-28"] as const

  it.each<[what: string, field: JsonObject]>([
    ["text", { type: "string", default: "a" }],
    ["number", { type: "number", default: 1.5 }],
    ["integer", { type: "integer", default: 1 }],
    ["choice", { type: "string", enum: ["a"], default: "a" }],
  ])("has the default of a %s from 2025-11-25 on", (_, field) => {
    for (const version of newer) expect(fieldOf(field, version)).toEqual(field)
    const { default: _left, ...rest } = field
    expect(fieldOf(field, "2025-06-18")).toEqual(rest)
  })

  it("leaves out a default that is not of the field's type", () => {
    for (const version of newer) {
      expect(fieldOf({ type: "string", default: 5 }, version)).toEqual({ type: "string" })
      expect(fieldOf({ type: "boolean", default: "yes" }, version)).toEqual({ type: "boolean" })
    }
  })

  const titled = { oneOf: [{ const: "a", title: "A" }, { const: "b" }], title: "Pick" }

  it("writes choices with titles as constants, and before 2025-11-25 as names beside the values", () => {
    for (const version of newer) {
      expect(fieldOf(titled, version)).toEqual({
        type: "string",
        title: "Pick",
        oneOf: [
          { const: "a", title: "A" },
          { const: "b", title: "b" },
        ],
      })
    }
    expect(fieldOf(titled, "2025-06-18")).toEqual({
      type: "string",
      title: "Pick",
      enum: ["a", "b"],
      enumNames: ["A", "b"],
    })
  })

  it("leaves names beside the values where the schema has them", () => {
    const field = { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] }
    for (const version of versions) expect(fieldOf(field, version)).toEqual(field)
  })

  const multiple = {
    type: "array",
    items: { type: "string", enum: ["a", "b"] },
    minItems: 1,
    maxItems: 2,
    default: ["a"],
  }

  it("has lists of choices from 2025-11-25 on", () => {
    for (const version of newer) {
      expect(fieldOf({ ...multiple, uniqueItems: true }, version)).toEqual(multiple)
      expect(fieldOf({ type: "array", items: { anyOf: titled.oneOf } }, version)).toEqual({
        type: "array",
        items: {
          anyOf: [
            { const: "a", title: "A" },
            { const: "b", title: "b" },
          ],
        },
      })
    }
    expect(fieldOf(multiple, "2025-06-18")).toMatchObject({ ok: false, property: "field", newer: true })
  })

  it("follows the reference of what a list holds", () => {
    const root: JsonObject = {
      type: "object",
      $defs: { color: { type: "string", enum: ["red"] } },
      properties: { colors: { type: "array", items: { $ref: "#/$defs/color" } } },
    }
    expect(projectForm(root, factsOf("2026-07-28"))).toMatchObject({
      schema: { properties: { colors: { type: "array", items: { type: "string", enum: ["red"] } } } },
    })
  })
})

describe("what zod writes", () => {
  it("is shown whole", () => {
    const schema = z.object({
      mail: z.email(),
      site: z.url().optional(),
      day: z.iso.date(),
      at: z.iso.datetime(),
      party: z.int().min(1).max(8).default(2),
      color: z.enum(["red", "green"]),
      toppings: z.array(z.enum(["a", "b"])),
      sure: z.literal("yes"),
      maybe: z.enum(["x"]).nullable(),
    })
    const projected = projectForm(fromZod(schema), factsOf("2026-07-28"))
    expect(projected).toEqual({
      ok: true,
      schema: {
        type: "object",
        properties: {
          mail: { type: "string", format: "email" },
          site: { type: "string", format: "uri" },
          day: { type: "string", format: "date" },
          at: { type: "string", format: "date-time" },
          party: { type: "integer", minimum: 1, maximum: 8, default: 2 },
          color: { type: "string", enum: ["red", "green"] },
          toppings: { type: "array", items: { type: "string", enum: ["a", "b"] } },
          sure: { type: "string", enum: ["yes"] },
          maybe: { type: "string", enum: ["x"] },
        },
        required: ["mail", "day", "at", "color", "toppings", "sure"],
      },
      nullable: ["maybe"],
    })
  })
})
