/** Arguments that a model wrote as text, read by the tool's schema. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { coerceArguments } from "../../../src/core/feature/coerce.js"
import type { JsonObject, JsonValue } from "../../../src/core/wire/message.js"

const of = (property: JsonObject): JsonObject => ({ type: "object", properties: { a: property } })

describe("a text is read as", () => {
  it.each<[what: string, property: JsonObject, text: string, expected: JsonValue]>([
    ["an object", { type: "object" }, '{"b":1}', { b: 1 }],
    ["a list", { type: "array" }, "[1,2]", [1, 2]],
    ["a number", { type: "number" }, "1.5", 1.5],
    ["an integer", { type: "integer" }, "3", 3],
    ["a boolean", { type: "boolean" }, "true", true],
    ["null, where that is a type of its own", { type: ["object", "null"] }, "null", null],
    [
      "an object, inside of another text",
      { type: "object", properties: { b: { type: "array" } } },
      '{"b":"[1]"}',
      { b: [1] },
    ],
    ["items of a list", { type: "array", items: { type: "integer" } }, '["1",2]', [1, 2]],
  ])("%s", (_, property, text, expected) => {
    expect(coerceArguments(of(property), { a: text })).toEqual({ a: expected })
  })
})

describe("a text stays a text", () => {
  it.each<[why: string, property: JsonObject, text: string]>([
    ["where the schema wants one", { type: "string" }, '{"b":1}'],
    ["where it may be one", { type: ["string", "object"] }, '{"b":1}'],
    ["where the schema says nothing of types", {}, "1"],
    ["when it is no JSON", { type: "object" }, "{b:1}"],
    ["when it holds another type", { type: "object" }, "[1]"],
    ["when an integer is too large to be exact", { type: "integer" }, "9007199254740993"],
    ["when an integer has a fraction", { type: "integer" }, "1.5"],
  ])("%s", (_, property, text) => {
    const args = { a: text }
    expect(coerceArguments(of(property), args)).toBe(args)
  })
})

it("names that every object has are names like any other", () => {
  const args: JsonObject = JSON.parse('{"__proto__":"{\\"x\\":1}","constructor":"1"}')
  expect(coerceArguments({ type: "object", properties: {} }, args)).toBe(args)
  expect(({} as { x?: unknown }).x).toBeUndefined()
})

it("nothing that it is given changes, and what needs no change is given back", () => {
  fc.assert(
    fc.property(fc.object(), fc.object(), (schema, args) => {
      const before = JSON.stringify(args)
      const given: JsonObject = JSON.parse(before)
      const kept = JSON.stringify(given)
      coerceArguments(JSON.parse(JSON.stringify(schema)), given)
      expect(JSON.stringify(given)).toBe(kept)
    }),
  )
})
