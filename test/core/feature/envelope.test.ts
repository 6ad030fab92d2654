import fc from "fast-check"
import { describe, expect, it } from "vitest"
import {
  createEnvelope,
  droppedMetaKeys,
  type EnvelopeFacts,
  envelope,
  META,
} from "../../../src/core/feature/envelope.js"
import { isDroppedMetaKey } from "../../../src/core/feature/meta-key.js"
import type { JsonObject } from "../../../src/core/wire/message.js"

const modern: EnvelopeFacts = {
  era: "modern",
  version: "2026-07-28",
  clientCapabilities: { roots: {} },
  clientInfo: { name: "host", version: "1" },
}
const legacy: EnvelopeFacts = { ...modern, era: "legacy", version: "2025-11-25" }
const reserved = {
  [META.protocolVersion]: "2026-07-28",
  [META.clientInfo]: { name: "host", version: "1" },
  [META.clientCapabilities]: { roots: {} },
}
const metaOf = (params: JsonObject | undefined): unknown => params?.["_meta"]

describe("nothing is copied", () => {
  it.each<[what: string, params: JsonObject | undefined]>([
    ["params without _meta", { name: "echo" }],
    ["params with a _meta that stays", { _meta: { trace: "t" } }],
    ["no params", undefined],
  ])("in the legacy era, with %s", (_what, params) => {
    expect(createEnvelope(legacy)(params)).toBe(params)
  })

  it("of the constant part, when a modern request says nothing of its own", () => {
    const wrap = createEnvelope(modern)
    const first = wrap({ name: "a" })
    expect(first).toEqual({ name: "a", _meta: reserved })
    expect(metaOf(wrap({ name: "b" }, {}))).toBe(metaOf(first))
    expect(metaOf(wrap(undefined))).toBe(metaOf(first))
    expect(metaOf(wrap({ _meta: { progressToken: 1 } }))).toBe(metaOf(first))
  })
})

describe("one request", () => {
  const wrap = createEnvelope(modern)

  it("may declare other capabilities", () => {
    const clientCapabilities = { roots: {}, extensions: { "io.modelcontextprotocol/tasks": {} } }
    expect(wrap({}, { clientCapabilities })).toEqual({
      _meta: { ...reserved, [META.clientCapabilities]: clientCapabilities },
    })
    expect(createEnvelope(legacy)({}, { clientCapabilities })).toEqual({})
  })

  it("says its level, its trace and its token without a trace in the next one", () => {
    const traceparent = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
    expect(wrap({}, { logLevel: "error", traceparent, progressToken: "p" })).toEqual({
      _meta: { ...reserved, [META.logLevel]: "error", traceparent, progressToken: "p" },
    })
    expect(wrap({})).toEqual({ _meta: reserved })
  })

  it("carries the keys of an extension, which the caller cannot set", () => {
    const key = "io.modelcontextprotocol/related-task"
    const extensionMeta = { [key]: { taskId: "t" } }
    const params = { _meta: { [key]: "mine", kept: 1 } }
    expect(wrap(params, { extensionMeta })).toEqual({ _meta: { kept: 1, ...extensionMeta, ...reserved } })
    expect(createEnvelope(legacy)(params, { extensionMeta })).toEqual({ _meta: { kept: 1, ...extensionMeta } })
  })

  it("lets no extension set what the era reserves", () => {
    const extensionMeta = { [META.protocolVersion]: "x", progressToken: "x" }
    expect(wrap({}, { extensionMeta, progressToken: 1 })).toEqual({ _meta: { ...reserved, progressToken: 1 } })
  })
})

describe("a _meta that is no object counts as none", () => {
  it.each([null, "text", 1, true, ["a"]])("%j", (_meta) => {
    expect(createEnvelope(legacy)({ name: "a", _meta })).toEqual({ name: "a" })
    expect(createEnvelope(modern)({ name: "a", _meta })).toEqual({ name: "a", _meta: reserved })
  })
})

it("what has no members makes no _meta", () => {
  for (const params of [{}, { _meta: undefined }, { _meta: {} }, { _meta: { trace: undefined } }]) {
    const wrapped = createEnvelope(legacy)(params, { extensionMeta: {} })
    expect(JSON.stringify(wrapped)).toBe("{}")
  }
  expect(createEnvelope(modern)({ name: "a", _meta: undefined })).toEqual({ name: "a", _meta: reserved })
})

it("an own key named __proto__ changes no prototype", () => {
  const _meta = JSON.parse('{"__proto__":{"polluted":true},"progressToken":1,"a":1}')
  const params = JSON.parse('{"__proto__":{"polluted":true},"name":"a"}')
  for (const facts of [legacy, modern]) {
    const wrapped = envelope({ ...params, _meta }, { ...facts, progressToken: 7 })
    for (const object of [wrapped, wrapped["_meta"]]) {
      expect(Object.getPrototypeOf(object)).toBe(Object.prototype)
      expect(object).not.toHaveProperty("polluted")
    }
  }
  expect({}).not.toHaveProperty("polluted")
})

it("the keys that are dropped can be told", () => {
  const _meta = { progressToken: 1, trace: "t", [META.logLevel]: "debug", "com.mcp/x": 1 }
  expect(droppedMetaKeys({ _meta })).toEqual(["progressToken", META.logLevel, "com.mcp/x"])
  for (const params of [
    undefined,
    {},
    { _meta: {} },
    { _meta: null },
    { _meta: ["progressToken"] },
    { _meta: { a: 1 } },
  ]) {
    expect(droppedMetaKeys(params)).toEqual([])
  }
})

describe("whatever the caller gives", () => {
  const key = fc.oneof(
    fc.string(),
    fc.constantFrom("progressToken", "traceparent", META.logLevel, META.protocolVersion, "com.mcp/x", "__proto__"),
  )
  const meta = fc.dictionary(key, fc.jsonValue())
  const params = fc.record({ name: fc.string(), _meta: fc.oneof(meta, fc.jsonValue()) }, { requiredKeys: [] })
  const call = fc.record({ progressToken: fc.oneof(fc.string(), fc.integer()) }, { requiredKeys: [] })

  it("is not changed, and comes out without keys of the protocol but ours", () => {
    fc.assert(
      fc.property(params, call, fc.constantFrom(legacy, modern), (given, facts, info) => {
        const before = JSON.stringify(given)
        const wrapped = envelope(given as JsonObject, { ...info, ...facts })
        expect(JSON.stringify(given)).toBe(before)
        const { _meta, ...rest } = wrapped
        const { _meta: theirs, ...others } = given
        expect(rest).toEqual(others)
        const ours: Record<string, unknown> = { ...(info === modern ? reserved : {}), ...facts }
        const kept = Object.entries((theirs ?? {}) as object).filter(
          ([name]) => typeof theirs === "object" && !Array.isArray(theirs) && !isDroppedMetaKey(name),
        )
        const expected = Object.fromEntries([...kept, ...Object.entries(ours)])
        expect(_meta).toEqual(Object.keys(expected).length === 0 ? undefined : expected)
      }),
    )
  })
})
