import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  type CacheRequest,
  decideKeeping,
  Moments,
  Outdated,
  readKept,
  toCacheRequest,
  writeKept,
} from "../../../src/core/feature/caching.js"
import type { Change } from "../../../src/core/feature/listen.js"
import type { Operation } from "../../../src/core/revision/revision.js"
import type { JsonObject } from "../../../src/core/wire/message.js"

const facts = { version: "2026-07-28", params: undefined, extensions: undefined, context: "me" }
const keyOf = (method: string, params?: JsonObject, extensions?: JsonObject, version = "2026-07-28") =>
  toCacheRequest(method, { version, params, extensions, context: "me" })?.key

describe("the key of a request", () => {
  it("is that of its method and its params, in whatever order they stand", () => {
    expect(keyOf("tools/list", { cursor: "1", _meta: { a: 1, b: 2 } })).toBe(
      keyOf("tools/list", { _meta: { b: 2, a: 1 }, cursor: "1" }),
    )
    expect(keyOf("tools/list")).toBe(keyOf("tools/list", {}))
  })

  it("differs for whatever is answered in another way", () => {
    const keys = [
      keyOf("tools/list"),
      keyOf("prompts/list"),
      keyOf("tools/list", { cursor: "" }),
      keyOf("tools/list", { cursor: "1" }),
      keyOf("tools/list", { cursor: 1 }),
      keyOf("tools/list", { _meta: { tenant: "a" } }),
      keyOf("tools/list", {}, { "example.com/x": {} }),
      keyOf("tools/list", {}, undefined, "2027-01-01"),
      keyOf("resources/read", { uri: "a:b" }),
      keyOf("resources/read", { uri: "a:B" }),
    ]
    expect(new Set(keys).size).toBe(keys.length)
  })

  it("is the same for two requests only when they are equal", () => {
    const params = fc.record({ uri: fc.string(), cursor: fc.string() }, { requiredKeys: [] })
    fc.assert(
      fc.property(params, params, (one, other) => {
        const isEqual = one.uri === other.uri && one.cursor === other.cursor
        return (keyOf("resources/read", { ...one }) === keyOf("resources/read", { ...other })) === isEqual
      }),
    )
  })

  it.each<[what: string, params: JsonObject]>([
    ["answers", { uri: "a:b", inputResponses: {} }],
    ["a state", { uri: "a:b", requestState: "" }],
    ["a state that is none", { uri: "a:b", requestState: undefined }],
  ])("is not there for one that carries %s", (_what, params) => {
    expect(toCacheRequest("resources/read", { ...facts, params })).toBeUndefined()
  })

  it("names the resource of a read, and of nothing else", () => {
    expect(toCacheRequest("resources/read", { ...facts, params: { uri: "a:b" } })?.uri).toBe("a:b")
    expect(toCacheRequest("resources/read", { ...facts, params: { uri: 1 } })?.uri).toBeUndefined()
    expect(toCacheRequest("resources/list", { ...facts, params: { uri: "a:b" } })?.uri).toBeUndefined()
  })
})

describe("a result", () => {
  const MAX = 10_000
  const list = { resultType: "complete", tools: [], ttlMs: 500, cacheScope: "public" }

  it.each<[what: string, operation: Operation, result: JsonObject, kept: object | undefined]>([
    ["a list", "listTools", list, { ttlMs: 500, cacheScope: "public" }],
    ["one of an older kind of server", "listTools", { tools: [], ttlMs: 1 }, { ttlMs: 1, cacheScope: "private" }],
    ["discover", "discover", { supportedVersions: [], ttlMs: 1 }, { ttlMs: 1, cacheScope: "private" }],
    ["a read", "readResource", { contents: [], ttlMs: 1 }, { ttlMs: 1, cacheScope: "private" }],
    ["templates", "listResourceTemplates", { resourceTemplates: [], ttlMs: 1 }, { ttlMs: 1, cacheScope: "private" }],
    [
      "an unknown scope is private",
      "listTools",
      { ...list, cacheScope: "world" },
      { ttlMs: 500, cacheScope: "private" },
    ],
    ["more than the most", "listTools", { ...list, ttlMs: 1e12 }, { ttlMs: MAX, cacheScope: "public" }],
    ["no time", "listTools", { tools: [] }, undefined],
    ["0", "listTools", { ...list, ttlMs: 0 }, undefined],
    ["a negative time", "listTools", { ...list, ttlMs: -1 }, undefined],
    ["a time that is a text", "listTools", { ...list, ttlMs: "500" }, undefined],
    ["a time that is a fraction", "listTools", { ...list, ttlMs: 0.5 }, undefined],
    ["a time beyond all numbers", "listTools", { ...list, ttlMs: 1e300 }, undefined],
    ["a question", "readResource", { resultType: "input_required", contents: [], ttlMs: 500 }, undefined],
    ["a task", "readResource", { resultType: "task", contents: [], ttlMs: 500 }, undefined],
    ["a type that is none", "listTools", { ...list, resultType: null }, undefined],
    ["one without its list", "listTools", { ttlMs: 500 }, undefined],
    ["one with another list", "listTools", { prompts: [], ttlMs: 500 }, undefined],
    ["what no revision lets be kept", "callTool", { content: [], ttlMs: 500 }, undefined],
  ])("is kept as it says, or not at all: %s", (_what, operation, result, kept) => {
    expect(decideKeeping(operation, result, MAX)).toEqual(kept)
  })

  it("is fresh as text until its time is over", () => {
    const kept = { result: { tools: [{ name: "a" }] }, sentAtMs: 90, receivedAtMs: 100, ttlMs: 50 }
    expect(readKept(writeKept(kept), 100)).toEqual(kept)
    expect(readKept(writeKept(kept), 149)).toEqual(kept)
    expect(readKept(writeKept(kept), 150)).toBeUndefined()
  })

  it.each([
    "",
    "{",
    "null",
    "[]",
    "7",
    "{}",
    '{"result":{}}',
    '{"result":[],"sentAtMs":1,"receivedAtMs":1,"ttlMs":1000}',
    '{"result":{},"sentAtMs":"1","receivedAtMs":1,"ttlMs":1000}',
    '{"result":{},"sentAtMs":1,"receivedAtMs":null,"ttlMs":1000}',
    '{"result":{},"sentAtMs":1,"receivedAtMs":1,"ttlMs":"1000"}',
  ])("is nothing when the text is something else: %s", (text) => {
    expect(readKept(text, 1)).toBeUndefined()
  })
})

describe("what a change makes worthless", () => {
  const of = (method: string, uri?: string): CacheRequest => ({ method, uri, context: "", key: "" })
  const ALL = [
    of("server/discover"),
    of("tools/list"),
    of("prompts/list"),
    of("resources/list"),
    of("resources/templates/list"),
    of("resources/read", "a:b"),
    of("resources/read", "a:c"),
  ]

  it.each<[change: Change | undefined, gone: readonly string[]]>([
    [{ kind: "list", list: "tools" }, ["tools/list"]],
    [{ kind: "list", list: "prompts" }, ["prompts/list"]],
    [{ kind: "list", list: "resources" }, ["resources/list", "resources/templates/list"]],
    [{ kind: "resource", uri: "a:b" }, ["resources/read a:b"]],
    [undefined, ALL.map(({ method, uri }) => [method, uri].filter((part) => part !== undefined).join(" "))],
  ])("%j", (change, gone) => {
    const outdated = new Outdated(10)
    outdated.mark(5, change)
    const left = ALL.filter((request) => outdated.has(request, 5))
    expect(left.map(({ method, uri }) => (uri === undefined ? method : `${method} ${uri}`))).toEqual(gone)
    expect(ALL.filter((request) => outdated.has(request, 5.001))).toEqual([])
  })

  it("is what holds the resource that changed, and nothing beside or below it", () => {
    const uris = ["f:///", "f:///a", "f:///a/", "f:///a/b", "f:///a/b?c", "f:///a/b?c#d", "f:///a/b?c#d/e"]
    const others = ["f:///ab", "f:///a/bc", "f:///a/b?cd", "f:///a/b/", "g:///a"]
    const outdated = new Outdated(100)
    outdated.mark(1, { kind: "resource", uri: "f:///a/b?c#d" })
    const isGone = (uri: string): boolean => outdated.has(of("resources/read", uri), 1)
    expect(uris.filter(isGone)).toEqual(uris.slice(0, -1))
    expect(others.filter(isGone)).toEqual([])
  })

  it("is everything, once there are more changes than can be told apart", () => {
    const outdated = new Outdated(2)
    outdated.mark(1, { kind: "resource", uri: "a:1" })
    outdated.mark(2, { kind: "resource", uri: "a:2" })
    outdated.mark(3, { kind: "resource", uri: "a:1" })
    expect(outdated.has(of("tools/list"), 0)).toBe(false)
    outdated.mark(4, { kind: "resource", uri: "a:3" })
    expect(outdated.has(of("tools/list"), 4)).toBe(true)
    expect(outdated.has(of("tools/list"), 5)).toBe(false)
  })

  it("is what a method has answered", () => {
    const outdated = new Outdated(2)
    outdated.markMethod(1, "tools/list")
    expect([outdated.has(of("tools/list"), 1), outdated.has(of("prompts/list"), 1)]).toEqual([true, false])
  })
})

it("moments are in order though the clock stands still, or goes back, and never far from it", () => {
  const moments = new Moments()
  const now = Date.UTC(2026, 6, 28)
  const seen = [now, now, now, now - 50, now, now + 1].map((at) => moments.next(at))
  expect(seen).toEqual([...new Set(seen)].sort((a, b) => a - b))
  expect(seen[0]).toBe(now)
  expect(seen.at(-1)).toBe(now + 1)
})
