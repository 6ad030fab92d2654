/** Schemas: the same tool with four ways to describe its arguments. */
import { toStandardJsonSchema } from "@valibot/to-json-schema"
import { type } from "arktype"
import { createServer, tool } from "conduit-mcp"
import { jsonSchema, withJsonSchema } from "conduit-mcp/schema"
import * as v from "valibot"
import { z } from "zod"

interface Order {
  readonly drink: "coffee" | "tea"
  readonly cups: number
}

const serve = ({ drink, cups }: Order): string => `${cups} x ${drink}`

/** zod and arktype describe themselves as JSON Schema. */
const zod = tool("zod", { input: z.object({ drink: z.enum(["coffee", "tea"]), cups: z.int().min(1).max(9) }) }, serve)
const arktype = tool("arktype", { input: type({ drink: "'coffee' | 'tea'", cups: "1 <= number.integer <= 9" }) }, serve)

/** valibot does so with its own converter. */
const order = v.object({
  drink: v.picklist(["coffee", "tea"]),
  cups: v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9)),
})
const valibot = tool("valibot", { input: toStandardJsonSchema(order) }, serve)

const raw = {
  type: "object",
  properties: {
    drink: { enum: ["coffee", "tea"] },
    cups: { type: "integer", minimum: 1, maximum: 9 },
  },
  required: ["drink", "cups"],
  additionalProperties: false,
}

/** A raw JSON Schema is listed as it is written and checked as it is listed; the type is yours to say. */
const json = tool("json", { input: jsonSchema<Order>(raw) }, serve)

/** The library checks, the JSON Schema is listed: for libraries that only validate, or to list something simpler. */
const both = tool("both", { input: withJsonSchema(order, raw) }, serve)

export const server = createServer({ name: "schemas", version: "1.0.0", tools: [zod, arktype, valibot, json, both] })
