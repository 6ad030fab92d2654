import { describe, expect, it } from "vitest"
import {
  acknowledgement,
  type Change,
  honourFilter,
  type ListenFilter,
  listenCancelled,
  parseListenFilter,
  taggedWith,
  toNotice,
  topicOf,
  topicsOf,
} from "../../../src/core/feature/listen.js"
import type { JsonValue } from "../../../src/core/wire/message.js"

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"

describe("a filter", () => {
  const readable: readonly JsonValue[] = [
    {},
    { toolsListChanged: true, promptsListChanged: false, resourcesListChanged: true },
    { resourceSubscriptions: [] },
    { resourceSubscriptions: ["file:///a"] },
    { somethingNewer: 1 },
  ]
  it.each(readable.map((value) => [value]))("%j is read", (value) => {
    expect(parseListenFilter(value)).toEqual({ filter: value })
  })

  const unreadable: readonly (readonly [JsonValue | undefined, string])[] = [
    [undefined, "notifications"],
    [null, "notifications"],
    [[], "notifications"],
    ["tools", "notifications"],
    [{ toolsListChanged: 1 }, "toolsListChanged"],
    [{ promptsListChanged: "true" }, "promptsListChanged"],
    [{ resourcesListChanged: null }, "resourcesListChanged"],
    [{ resourceSubscriptions: "file:///a" }, "resourceSubscriptions"],
    [{ resourceSubscriptions: ["file:///a", 1] }, "resourceSubscriptions"],
    [{ resourceSubscriptions: {} }, "resourceSubscriptions"],
  ]
  it.each(unreadable)("%j is not, and the problem names the member", (value, member) => {
    expect(parseListenFilter(value)).toEqual({ problem: expect.stringContaining(`"${member}"`) })
  })
})

describe("what is honoured", () => {
  const all: ListenFilter = {
    toolsListChanged: true,
    promptsListChanged: true,
    resourcesListChanged: true,
    resourceSubscriptions: ["file:///a", "file:///b", "file:///a"],
  }

  it.each<[string, ListenFilter, readonly ("tools" | "prompts" | "resources")[], readonly string[], ListenFilter]>([
    ["nothing of nothing", {}, ["tools", "prompts", "resources"], ["file:///a"], {}],
    ["nothing that is not offered", all, [], [], {}],
    ["the lists that are offered", all, ["prompts"], [], { promptsListChanged: true }],
    [
      "each resource once, of those that are there",
      all,
      ["tools", "resources"],
      ["file:///a"],
      { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ["file:///a"] },
    ],
    ["nothing that was declined", { toolsListChanged: false }, ["tools"], [], {}],
  ])("is %s", (_, asked, lists, uris, honoured) => {
    const offer = { lists: new Set(lists), hasResource: (uri: string) => uris.includes(uri) }
    expect(honourFilter(asked, offer)).toEqual(honoured)
  })
})

describe("topics", () => {
  it("are those of the changes that a filter names", () => {
    const changes: readonly Change[] = [
      { kind: "list", list: "tools" },
      { kind: "list", list: "resources" },
      { kind: "resource", uri: "file:///a" },
    ]
    const filter = { toolsListChanged: true, resourcesListChanged: true, resourceSubscriptions: ["file:///a"] }
    expect(topicsOf(filter)).toEqual(changes.map(topicOf))
  })

  it("of a list and of a resource with the same name differ", () => {
    expect(topicOf({ kind: "list", list: "tools" })).not.toBe(topicOf({ kind: "resource", uri: "tools" }))
  })
})

describe("a notice", () => {
  it.each<[Change, string, object]>([
    [{ kind: "list", list: "tools" }, "notifications/tools/list_changed", {}],
    [{ kind: "list", list: "prompts" }, "notifications/prompts/list_changed", {}],
    [{ kind: "list", list: "resources" }, "notifications/resources/list_changed", {}],
    [{ kind: "resource", uri: 'a:"b\\' }, "notifications/resources/updated", { uri: 'a:"b\\' }],
  ])("of %j says it in both eras", (change, method, params) => {
    const notice = toNotice(change)
    const plain: unknown = JSON.parse(notice.plain)
    expect(plain).toEqual({ jsonrpc: "2.0", method, ...(Object.keys(params).length === 0 ? {} : { params }) })
    for (const id of [7, "7", "", 0, 'a"b']) {
      const tagged: unknown = JSON.parse(taggedWith(id, notice))
      expect(tagged).toEqual({ jsonrpc: "2.0", method, params: { _meta: { [SUBSCRIPTION]: id }, ...params } })
    }
  })
})

describe.each([7, "7"])("a stream with the id %j", (id) => {
  it("is acknowledged with what is honoured", () => {
    expect(JSON.parse(acknowledgement(id, { toolsListChanged: true }))).toEqual({
      jsonrpc: "2.0",
      method: "notifications/subscriptions/acknowledged",
      params: { _meta: { [SUBSCRIPTION]: id }, notifications: { toolsListChanged: true } },
    })
  })

  it("is cancelled by its id", () => {
    expect(JSON.parse(listenCancelled(id))).toEqual({
      jsonrpc: "2.0",
      method: "notifications/cancelled",
      params: { _meta: { [SUBSCRIPTION]: id }, requestId: id },
    })
  })
})
