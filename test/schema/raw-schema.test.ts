/** `conduit-mcp/schema`: schemas from raw JSON Schema, and the JSON half for libraries that only validate. */
import { McpError } from "conduit-mcp"
import { jsonSchema, type SchemaResult, type StandardSchema, withJsonSchema } from "conduit-mcp/schema"
import * as v from "valibot"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { inputJsonSchema, outputJsonSchema } from "../../src/core/schema/json-schema.js"
import { json2020Tool } from "./json-2020-tool.js"

const options = { target: "draft-2020-12" }

function misuseOf(run: () => unknown): McpError {
  try {
    run()
  } catch (error) {
    if (McpError.is(error, "misuse")) return error
    throw error
  }
  throw new Error("nothing was refused")
}

describe("jsonSchema()", () => {
  const schema = jsonSchema<{ city: string }>({
    type: "object",
    properties: { city: { type: "string" } },
    required: ["city"],
  })

  it("validates", () => {
    expect(schema["~standard"].validate({ city: "Oslo" })).toEqual({ value: { city: "Oslo" } })
    expect(schema["~standard"].validate({ city: 1 })).toEqual({
      issues: [{ message: "expected string, got number", path: ["city"] }],
    })
  })

  it("gives the same value back, untouched", () => {
    const value = { city: "Oslo", extra: [1] }
    expect(schema["~standard"].validate(value)).toHaveProperty("value", value)
  })

  it("is listed exactly as it is written, for every target and on both sides", () => {
    const { input, output } = jsonSchema(json2020Tool)["~standard"].jsonSchema
    for (const target of ["draft-2020-12", "draft-07", "openapi-3.0", "anything"]) {
      expect(input({ target })).toEqual(json2020Tool)
      expect(output({ target })).toEqual(json2020Tool)
    }
    expect(inputJsonSchema(jsonSchema(json2020Tool), "tool")).toEqual(json2020Tool)
  })

  it("validates by what the schema was when it was made", () => {
    const raw = { type: "string" }
    const made = jsonSchema(raw)
    raw.type = "number"
    expect(made["~standard"].validate("a")).toEqual({ value: "a" })
  })

  it.each<[object, string]>([
    [{ properties: { a: { pattern: "(a+)+$" } } }, '"#/properties/a/pattern": the pattern (a+)+$ can take too long'],
    [{ $ref: "http://169.254.169.254/" }, '"#/$ref": "http://169.254.169.254/" is not in this schema'],
    [{ $schema: "http://json-schema.org/draft-04/schema#" }, '"#/$schema": the dialect'],
    [{ type: "strng" }, '"#/type": "type" must be one or several of'],
    [{ $ref: "#" }, '"#": this leads back to itself'],
  ])("refuses %j at once, naming the place and the problem", (raw, message) => {
    const error = misuseOf(() => jsonSchema(raw))
    expect(error.reason).toBe("invalid_schema")
    expect(error.message).toContain(`jsonSchema(): the JSON Schema is refused at ${message}`)
  })
})

describe("withJsonSchema()", () => {
  const length = v.object({
    text: v.pipe(
      v.string(),
      v.transform((text) => text.length),
    ),
  })
  const sides = {
    input: { type: "object", properties: { text: { type: "string" } } },
    output: { type: "object", properties: { text: { type: "number" } } },
  }

  it("leaves validation to the library", async () => {
    const schema = withJsonSchema(length, sides)
    expect(await schema["~standard"].validate({ text: "four" })).toMatchObject({ value: { text: 4 } })
    expect(await schema["~standard"].validate({ text: 4 })).toHaveProperty("issues")
    expect(schema["~standard"].vendor).toBe("valibot")
  })

  it("lists what it is given, on each side or on both", () => {
    const schema = withJsonSchema(length, sides)
    expect(inputJsonSchema(schema, "tool")).toEqual(sides.input)
    expect(outputJsonSchema(schema, "tool")).toEqual(sides.output)
    expect(outputJsonSchema(withJsonSchema(length, sides.input), "tool")).toEqual(sides.input)
  })

  it("mends what a library cannot convert", () => {
    const dated = withJsonSchema(z.object({ d: z.coerce.date() }), {
      type: "object",
      properties: { d: { type: "string", format: "date-time" } },
    })
    expect(inputJsonSchema(dated, "tool")).toMatchObject({ properties: { d: { format: "date-time" } } })
    expect(dated["~standard"].validate({ d: "2026-07-28" })).toEqual({ value: { d: new Date("2026-07-28") } })
  })

  it("works with schemas that are classes", () => {
    class Even implements StandardSchema<number> {
      readonly #step = 2
      get "~standard"(): StandardSchema<number>["~standard"] {
        return this
      }
      get version(): 1 {
        return 1
      }
      get vendor(): string {
        return "even"
      }
      validate(value: unknown): SchemaResult<number> {
        return typeof value === "number" && value % this.#step === 0 ? { value } : { issues: [{ message: "odd" }] }
      }
    }
    const schema = withJsonSchema(new Even(), { type: "integer", multipleOf: 2 })
    expect(schema["~standard"].validate(4)).toEqual({ value: 4 })
    expect(schema["~standard"].jsonSchema.output(options)).toEqual({ type: "integer", multipleOf: 2 })
  })

  it.each<[string, () => unknown, string]>([
    ["a remote reference", () => withJsonSchema(length, { $ref: "http://evil/x" }), "never fetched"],
    ["an output out of bounds", () => withJsonSchema(length, { ...sides, output: { $ref: "#/nope" } }), "#/nope"],
    ["a value that is no schema", () => withJsonSchema({} as unknown as StandardSchema, {}), '"~standard"'],
  ])("refuses %s", (_, run, message) => {
    const error = misuseOf(run)
    expect(error.reason).toBe("invalid_schema")
    expect(error.message).toContain(message)
  })
})
