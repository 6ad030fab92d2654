import { describe, expect, it } from "vitest"
import { encodeWithout, wrapOutputSchema } from "../../../src/core/revision/common.js"
import type { Revision } from "../../../src/core/revision/revision.js"
import { era, findRevision, revisions } from "../../../src/core/revision/table.js"

const revision = (version: string): Revision => {
  const found = findRevision(version)
  if (found === undefined) throw new Error(`${version} is not in the table`)
  return found
}

it.each([
  ["2026-07-28", "modern"],
  ["2026-07-29", "modern"],
  ["2030-01-01", "modern"],
  ["2026-07-27", "legacy"],
  ["2025-11-25", "legacy"],
  ["2024-11-05", "legacy"],
  ["v999.0.0", "unknown"],
  ["2026-7-28", "unknown"],
  ["2026-13-01", "unknown"],
  ["2026-07-28 ", "unknown"],
  ["", "unknown"],
])("the era of %j is %s", (version, expected) => {
  expect(era(version)).toBe(expected)
})

describe.each(revisions.map((each) => [each.version, each] as const))("revision %s", (version, each) => {
  it("says of itself what its version says", () => {
    expect(each.era).toBe(era(version))
    expect(each.methods.has("initialize")).toBe(each.era === "legacy")
    expect(each.methods.has("server/discover")).toBe(each.era === "modern")
  })
})

describe("what a revision leaves out", () => {
  const icons = [{ src: "https://example.com/a.png" }]
  const implementation = {
    name: "s",
    version: "1",
    title: "S",
    description: "d",
    websiteUrl: "https://example.com",
    icons,
  }

  it.each([
    ["2026-07-28", implementation],
    ["2025-11-25", implementation],
    ["2025-06-18", { name: "s", version: "1", title: "S" }],
  ])("%s: of an implementation", (version, expected) => {
    expect(revision(version).encode.implementation(implementation)).toEqual(expected)
  })

  it.each([
    ["2026-07-28", true],
    ["2025-11-25", true],
    ["2025-06-18", false],
  ])("%s: icons of what is listed", (version, sent) => {
    const { encode } = revision(version)
    expect("icons" in encode.tool({ name: "t", inputSchema: { type: "object" }, icons })).toBe(sent)
    expect("icons" in encode.resource({ uri: "a:b", name: "r", icons })).toBe(sent)
    expect("icons" in encode.template({ uriTemplate: "a:{b}", name: "r", icons })).toBe(sent)
    expect("icons" in encode.prompt({ name: "p", icons })).toBe(sent)
  })

  it("members that are undefined are left out", () => {
    expect(encodeWithout({ a: undefined, b: 1, c: null }, "d")).toEqual({ b: 1, c: null })
  })
})

describe("output schemas for clients that know objects only", () => {
  it("an object stays as it is", () => {
    const schema = { type: "object", properties: { a: { $ref: "#/$defs/a" } } }
    expect(wrapOutputSchema(schema)).toBe(schema)
  })

  it("another root stands under result, and its references follow it", () => {
    const wrapped = wrapOutputSchema({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "array",
      items: { $ref: "#/$defs/node" },
      $defs: {
        node: {
          type: "object",
          properties: { next: { $ref: "#/$defs/node" }, all: { $ref: "#" }, there: { $ref: "#anchor" } },
        },
      },
    })
    expect(wrapped).toEqual({
      $schema: "http://json-schema.org/draft-07/schema#",
      type: "object",
      properties: {
        result: {
          type: "array",
          items: { $ref: "#/properties/result/$defs/node" },
          $defs: {
            node: {
              type: "object",
              properties: {
                next: { $ref: "#/properties/result/$defs/node" },
                all: { $ref: "#/properties/result" },
                there: { $ref: "#anchor" },
              },
            },
          },
        },
      },
      required: ["result"],
      additionalProperties: false,
    })
  })
})
