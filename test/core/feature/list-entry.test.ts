import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { type EntryKind, readEntry } from "../../../src/core/feature/list-entry.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../../src/core/wire/message.js"

const SCHEMA = { type: "object" }

/** The least that an entry of each list must have. */
const LEAST: Readonly<Record<EntryKind, JsonObject>> = {
  tools: { name: "a", inputSchema: SCHEMA },
  resources: { uri: "file:///a", name: "a" },
  resourceTemplates: { uriTemplate: "file:///{a}", name: "a" },
  prompts: { name: "a" },
}
const KEYS: Readonly<Record<EntryKind, string>> = {
  tools: "a",
  resources: "file:///a",
  resourceTemplates: "file:///{a}",
  prompts: "a",
}
const KINDS = Object.keys(LEAST) as EntryKind[]

describe("an entry that is served", () => {
  it.each(KINDS)("%s: has no more than it must have, and stays the object that came", (kind) => {
    const read = readEntry(kind, LEAST[kind])
    expect(read).toEqual({ ok: true, key: KEYS[kind], entry: LEAST[kind] })
    expect(read.ok && read.entry).toBe(LEAST[kind])
  })

  it.each<[what: string, kind: EntryKind, entry: JsonObject]>([
    [
      "a tool with everything",
      "tools",
      {
        name: "a",
        title: "A",
        description: "",
        icons: [{ src: "https://example.com/a.png" }],
        inputSchema: SCHEMA,
        outputSchema: { type: "array" },
        annotations: { readOnlyHint: true },
        _meta: { a: 1 },
      },
    ],
    [
      "a resource with everything",
      "resources",
      {
        uri: "",
        name: "",
        title: "A",
        description: "d",
        mimeType: "text/plain",
        icons: [],
        annotations: {},
        size: 0,
        _meta: {},
      },
    ],
    [
      "a prompt with arguments",
      "prompts",
      { name: "a", arguments: [{ name: "x" }, { name: "", title: "t", description: "d", required: false }] },
    ],
    ["members that nobody knows", "tools", { ...LEAST.tools, execution: { taskSupport: "optional" }, x: null }],
    ["a schema that says nothing", "tools", { name: "a", inputSchema: {} }],
  ])("%s", (_what, kind, entry) => {
    expect(readEntry(kind, entry)).toMatchObject({ ok: true, entry })
  })

  it("loses optional members that are null", () => {
    const tool = { ...LEAST.tools, title: null, description: null, icons: null, outputSchema: null, annotations: null }
    expect(readEntry("tools", tool)).toEqual({ ok: true, key: "a", entry: LEAST.tools })
    const prompt = { name: "a", arguments: [{ name: "x", description: null, required: null }], _meta: null }
    expect(readEntry("prompts", prompt)).toEqual({
      ok: true,
      key: "a",
      entry: { name: "a", arguments: [{ name: "x" }] },
    })
    expect(readEntry("prompts", { name: "a", arguments: null })).toMatchObject({ entry: { name: "a" } })
    expect(readEntry("resources", { ...LEAST.resources, size: null })).toMatchObject({ entry: LEAST.resources })
  })

  it("keeps a key named __proto__ what it is", () => {
    const tool = JSON.parse('{ "name": "a", "inputSchema": {}, "title": null, "__proto__": { "name": "b" } }')
    const read = readEntry("tools", tool)
    expect(read.ok && Object.keys(read.entry).sort()).toEqual(["__proto__", "inputSchema", "name"])
  })
})

describe("an entry that is set aside", () => {
  it.each<[kind: EntryKind, value: JsonValue | undefined, name: string | undefined, reason: string]>([
    ["tools", null, undefined, "must be an object, not null"],
    ["tools", "a", undefined, 'must be an object, not "a"'],
    ["tools", [LEAST.tools], undefined, "must be an object, not [array]"],
    ["tools", {}, undefined, "name must be a string, not undefined"],
    ["tools", { name: 7, inputSchema: SCHEMA }, undefined, "name must be a string, not 7"],
    ["tools", { name: null, inputSchema: SCHEMA }, undefined, "name must be a string, not null"],
    ["tools", { name: "a" }, "a", "inputSchema must be an object, not undefined"],
    ["tools", { name: "a", inputSchema: null }, "a", "inputSchema must be an object, not null"],
    ["tools", { name: "a", inputSchema: true }, "a", "inputSchema must be an object, not true"],
    ["tools", { name: "a", inputSchema: [] }, "a", "inputSchema must be an object, not [array]"],
    ["tools", { ...LEAST.tools, outputSchema: "object" }, "a", 'outputSchema must be an object, not "object"'],
    ["tools", { ...LEAST.tools, description: 1 }, "a", "description must be a string, not 1"],
    ["tools", { ...LEAST.tools, icons: {} }, "a", "icons must be a list, not [object]"],
    ["tools", { ...LEAST.tools, annotations: [] }, "a", "annotations must be an object, not [array]"],
    ["tools", { name: "a\u202e\nb" }, "a b", "inputSchema must be an object, not undefined"],
    ["resources", { name: "a" }, "a", "uri must be a string, not undefined"],
    ["resources", { uri: "file:///a" }, "file:///a", "name must be a string, not undefined"],
    ["resources", { uri: 1, name: 2 }, undefined, "uri must be a string, not 1"],
    ["resources", { ...LEAST.resources, size: "12" }, "a", 'size must be a number, not "12"'],
    ["resources", { ...LEAST.resources, mimeType: [] }, "a", "mimeType must be a string, not [array]"],
    ["resourceTemplates", { uri: "file:///a", name: "a" }, "a", "uriTemplate must be a string, not undefined"],
    ["prompts", { title: "a" }, undefined, "name must be a string, not undefined"],
    ["prompts", { name: "a", arguments: {} }, "a", "arguments must be a list, not [object]"],
    ["prompts", { name: "a", arguments: [{ name: "x" }, "y"] }, "a", 'arguments[1] must be an object, not "y"'],
    ["prompts", { name: "a", arguments: [{}] }, "a", "arguments[0].name must be a string, not undefined"],
    [
      "prompts",
      { name: "a", arguments: [{ name: "x", required: "yes" }] },
      "a",
      'arguments[0].required must be a boolean, not "yes"',
    ],
  ])("%s: %j", (kind, value, name, reason) => {
    expect(readEntry(kind, value)).toEqual({ ok: false, name, reason })
  })
})

it("reads whatever JSON there is, and serves only what has a key and is an object", () => {
  fc.assert(
    fc.property(fc.constantFrom(...KINDS), fc.jsonValue(), (kind, value) => {
      const read = readEntry(kind, value as JsonValue)
      return read.ok ? isJsonObject(read.entry) && typeof read.key === "string" : read.reason !== ""
    }),
  )
})
