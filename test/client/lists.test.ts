/** Lists as an application gets them: all pages or one by one, whatever a server makes of its pages. */
import type { ClientEvents, ListPage } from "conduit-mcp/client"
import { describe, expect, it } from "vitest"
import { failure, failureOf, pass } from "../support/failure.js"
import { type Answer, discover, error, type HttpPeer, initialized, result, silence } from "../support/http-peer.js"
import { createRecordingLogger } from "../support/logger.js"
import { expectNothingLeft, open, start } from "./scripted-http/harness.js"

const SCHEMA = { type: "object" }
const tool = (name: string) => ({ name, inputSchema: SCHEMA })

/** Answers with the page that a cursor names; the first has none. */
const paged =
  (first: object, pages: Readonly<Record<string, object>> = {}): Answer =>
  (heard, response) => {
    const cursor = heard.message?.params?.["cursor"]
    const page = cursor === undefined ? first : pages[String(cursor)]
    const answer = page === undefined ? error(200, -32602) : result({ resultType: "complete", ...page })
    return answer(heard, response)
  }

/** The cursors that were asked with, in order; undefined for none. */
const cursors = ({ heard }: HttpPeer, method = "tools/list") =>
  heard.filter(({ message }) => message?.method === method).map(({ message }) => message?.params?.["cursor"])

async function items<Item>(pages: AsyncIterable<ListPage<Item>>): Promise<ListPage<Item>[]> {
  const all: ListPage<Item>[] = []
  for await (const page of pages) all.push(page)
  return all
}

describe("a list", () => {
  it.each([
    ["modern", { "server/discover": discover() }],
    ["legacy", { "server/discover": error(404, -32601), initialize: initialized() }],
  ])("comes with all its pages, each cursor as it was given: %s", async (_era, opening) => {
    const odd = ["", " ", "0", "null", "é\u2028😀", '{"a":"\\u0000"}', "a".repeat(5_000)]
    const pages = Object.fromEntries(odd.map((at, index) => [at, { tools: [tool(at)], nextCursor: odd[index + 1] }]))
    const first = { tools: [tool("first")], nextCursor: "", _meta: { of: "the first" } }
    const peer = await start({ ...opening, "tools/list": paged(first, pages) })
    const { client } = await open(peer)
    const { tools, refused, meta } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(["first", ...odd])
    expect(refused).toEqual([])
    expect(meta).toEqual({ of: "the first" })
    expect(cursors(peer)).toEqual([undefined, ...odd])
  })

  it("is empty when it is", async () => {
    const peer = await start({ "server/discover": discover(), "prompts/list": paged({ prompts: [] }) })
    const { client } = await open(peer)
    expect(await client.listPrompts()).toEqual({ prompts: [], refused: [], meta: undefined })
  })

  it.each<[what: string, first: object, pages: Record<string, object>, names: string[], asked: unknown[]]>([
    ["without a cursor", { tools: [tool("a")] }, {}, ["a"], [undefined]],
    ["at a cursor that is null", { tools: [tool("a")], nextCursor: null }, {}, ["a"], [undefined]],
    [
      "at a cursor that names its own page",
      { tools: [tool("a")], nextCursor: "1" },
      { 1: { tools: [tool("b")], nextCursor: "1" } },
      ["a", "b"],
      [undefined, "1"],
    ],
    [
      "at a cursor that came before",
      { tools: [tool("a")], nextCursor: "1" },
      { 1: { tools: [tool("b")], nextCursor: "2" }, 2: { tools: [tool("c")], nextCursor: "1" } },
      ["a", "b", "c"],
      [undefined, "1", "2"],
    ],
    [
      "without duplicates when the server looks at no cursor",
      { tools: [tool("a"), tool("b")], nextCursor: "1" },
      { 1: { tools: [tool("a"), tool("b")], nextCursor: "1" } },
      ["a", "b"],
      [undefined, "1"],
    ],
    [
      "without duplicates when it moves while it is read",
      { tools: [tool("a"), tool("b")], nextCursor: "1" },
      { 1: { tools: [tool("b"), tool("c")] } },
      ["a", "b", "c"],
      [undefined, "1"],
    ],
    [
      "through pages that have nothing",
      { tools: [], nextCursor: "" },
      { "": { tools: [], nextCursor: "1" }, 1: { tools: [tool("a")] } },
      ["a"],
      [undefined, "", "1"],
    ],
  ])("ends %s", async (_what, first, pages, names, asked) => {
    const peer = await start({ "server/discover": discover(), "tools/list": paged(first, pages) })
    const { client } = await open(peer)
    const { tools, refused } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(names)
    expect(refused).toEqual([])
    expect(cursors(peer)).toEqual(asked)
  })

  it("ends at a cursor that is no text, and says so", async () => {
    const peer = await start({
      "server/discover": discover(),
      "tools/list": paged({ tools: [tool("a")], nextCursor: 2 }),
    })
    const { client } = await open(peer)
    const { tools, refused } = await client.listTools()
    expect(tools).toEqual([tool("a")])
    const reason = "nextCursor must be a string, not 2: the list cannot be read on"
    expect(refused).toEqual([{ name: undefined, index: 1, reason }])
  })

  it("never goes on for ever: its pages are counted", async () => {
    let page = 0
    const endless: Answer = (heard, response) =>
      result({ resultType: "complete", tools: [tool(`t${page}`)], nextCursor: `${++page}` })(heard, response)
    const peer = await start({ "server/discover": discover(), "tools/list": endless })
    const { client } = await open(peer, { limits: { maxPages: 3 } })
    const message = "tools/list: the list has more than 3 pages (limits.maxPages)"
    expect(await failureOf(client.listTools())).toEqual(
      failure({ kind: "protocol", reason: "invalid_result", message }),
    )
    expect(cursors(peer)).toEqual([undefined, "1", "2"])
    expect(await failureOf(items(client.pages("tools")))).toMatchObject({ reason: "invalid_result", message })
  })

  it("never grows without end: its entries are counted over all pages, good or bad", async () => {
    const first = { tools: [tool("a"), null], nextCursor: "1" }
    const peer = await start({
      "server/discover": discover(),
      "tools/list": paged(first, { 1: { tools: [tool("a"), 7], nextCursor: "2" }, 2: { tools: [] } }),
    })
    const { client } = await open(peer, { limits: { maxListEntries: 4 } })
    expect((await client.listTools()).tools).toEqual([tool("a")])
    const { client: smaller } = await open(peer, { limits: { maxListEntries: 3 } })
    const message = "tools/list: the list has more than 3 entries (limits.maxListEntries)"
    expect(await failureOf(smaller.listTools())).toMatchObject({ kind: "protocol", reason: "invalid_result", message })
  })

  it.each<[what: string, page: object, shown: string]>([
    ["is not there", {}, "undefined"],
    ["is an object", { tools: { a: tool("a") } }, "[object]"],
    ["is null", { tools: null }, "null"],
  ])("is refused where it %s", async (_what, page, shown) => {
    const peer = await start({ "server/discover": discover(), "tools/list": paged(page) })
    const { client } = await open(peer)
    const message = `tools/list: the result must have "tools" as a list, not ${shown}`
    expect(await failureOf(client.listTools())).toMatchObject({ kind: "protocol", reason: "invalid_result", message })
  })

  it("is read once more from its beginning when its cursor has expired, and no more than once", async () => {
    let asked = 0
    const moving: Answer = (heard, response) => {
      const { cursor } = heard.message?.params ?? {}
      if (cursor === "old") return error(200, -32602)(heard, response)
      const nextCursor = { 0: "old", 1: "new" }[asked++]
      return result({ resultType: "complete", tools: [tool(`t${asked}`)], nextCursor })(heard, response)
    }
    const peer = await start({ "server/discover": discover(), "tools/list": moving })
    const { client } = await open(peer)
    expect((await client.listTools()).tools.map(({ name }) => name)).toEqual(["t2", "t3"])
    expect(cursors(peer)).toEqual([undefined, "old", undefined, "new"])

    const never = await start({ "server/discover": discover(), "tools/list": paged({ tools: [], nextCursor: "gone" }) })
    const { client: other } = await open(never)
    expect(await failureOf(other.listTools())).toMatchObject({ kind: "protocol", code: -32602 })
    expect(cursors(never)).toEqual([undefined, "gone", undefined, "gone"])
  })

  it("has one deadline for all of its pages", async () => {
    const slow: Answer = (heard, response) => {
      if (heard.message?.params?.["cursor"] === undefined) clock.advance(700)
      return heard.message?.params?.["cursor"] === undefined
        ? result({ resultType: "complete", tools: [], nextCursor: "1" })(heard, response)
        : silence(heard, response)
    }
    const peer = await start({ "server/discover": discover(), "tools/list": slow })
    const { client, clock } = await open(peer)
    const failed = failureOf(client.listTools({ maxTotalTimeoutMs: 1_000 }))
    await peer.until(3)
    await pass(clock, 300)
    const message =
      "tools/list took longer than 1000 ms in all; maxTotalTimeoutMs of the call or the client says how long it may"
    expect(await failed).toMatchObject({ kind: "timeout", reason: "total_timeout", message })
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("carries the options of the call with each page", async () => {
    const first = { tools: [], nextCursor: "1" }
    const peer = await start({ "server/discover": discover(), "tools/list": paged(first, { 1: { tools: [] } }) })
    const { client } = await open(peer)
    await client.listTools({ meta: { "example.com/a": 1 }, headers: { "x-a": "1" } })
    const [, ...asked] = peer.heard
    expect(asked.map(({ headers }) => headers["x-a"])).toEqual(["1", "1"])
    expect(asked.map(({ message }) => message?.params?.["_meta"])).toEqual([
      expect.objectContaining({ "example.com/a": 1 }),
      expect.objectContaining({ "example.com/a": 1 }),
    ])
  })
})

describe("a malformed entry", () => {
  const template = { uriTemplate: "a:///{b}", name: "a" }
  const script = {
    "server/discover": discover(),
    "tools/list": paged(
      { tools: ["no object", tool("a"), { inputSchema: SCHEMA }], nextCursor: "1" },
      { 1: { tools: [{ name: "b" }, { ...tool("c"), title: null }, { name: "d\u202e", inputSchema: 1 }] } },
    ),
    "resources/list": paged({ resources: [{ uri: 1, name: "a" }, { uri: "a:///b", name: "b" }, { uri: "a:///c" }] }),
    "resources/templates/list": paged({ resourceTemplates: [template, { name: "a" }] }),
    "prompts/list": paged({ prompts: [{}, { name: "a", arguments: [7] }, { name: "b" }] }),
  }

  it("is set aside with its name, place and reason, and the others are served", async () => {
    const { client } = await open(await start(script))
    expect(await client.listTools()).toEqual({
      tools: [tool("a"), tool("c")],
      refused: [
        { name: undefined, index: 0, reason: 'must be an object, not "no object"' },
        { name: undefined, index: 2, reason: "name must be a string, not undefined" },
        { name: "b", index: 3, reason: "inputSchema must be an object, not undefined" },
        { name: "d", index: 5, reason: "inputSchema must be an object, not 1" },
      ],
      meta: undefined,
    })
    expect(await client.listResources()).toMatchObject({
      resources: [{ uri: "a:///b", name: "b" }],
      refused: [
        { name: "a", index: 0, reason: "uri must be a string, not 1" },
        { name: "a:///c", index: 2, reason: "name must be a string, not undefined" },
      ],
    })
    expect(await client.listResourceTemplates()).toMatchObject({
      resourceTemplates: [template],
      refused: [{ name: "a", index: 1, reason: "uriTemplate must be a string, not undefined" }],
    })
    expect(await client.listPrompts()).toMatchObject({
      prompts: [{ name: "b" }],
      refused: [
        { name: undefined, index: 0, reason: "name must be a string, not undefined" },
        { name: "a", index: 1, reason: "arguments[0] must be an object, not 7" },
      ],
    })
  })

  it("is told of by an event each time, and in the log once", async () => {
    const logger = createRecordingLogger()
    const { client } = await open(await start(script), { logger })
    const told: ClientEvents["client.entry_refused"][] = []
    client.on("client.entry_refused", (event) => told.push(event))
    await client.listPrompts()
    await client.listPrompts()
    const first = { method: "prompts/list", name: undefined, index: 0, reason: "name must be a string, not undefined" }
    const second = { method: "prompts/list", name: "a", index: 1, reason: "arguments[0] must be an object, not 7" }
    expect(told).toEqual([first, second, first, second])
    expect(logger.lines.map(({ level, message }) => `${level} ${message}`)).toEqual([
      "warn prompts/list: entry 0 is set aside: name must be a string, not undefined",
      'warn prompts/list: entry 1 ("a") is set aside: arguments[0] must be an object, not 7',
    ])
  })

  it("is a tool whose marked headers are invalid, too", async () => {
    const marked = (header: unknown) => ({ type: "string", "x-mcp-header": header })
    const of = (name: string, properties: object) => ({ name, inputSchema: { type: "object", properties } })
    const tools = [of("a", { q: marked("Ok") }), of("b", { q: marked("no good") }), of("c", { q: marked("") })]
    const nested = of("d", { q: { type: "array", items: marked("In-Items") } })
    const peer = await start({ "server/discover": discover(), "tools/list": paged({ tools: [...tools, nested] }) })
    const { client } = await open(peer)
    const listed = await client.listTools()
    expect(listed.tools.map(({ name }) => name)).toEqual(["a"])
    expect(listed.refused).toEqual([
      {
        name: "b",
        index: 1,
        reason: 'inputSchema/properties/q: x-mcp-header must be a header name token, not "no good"',
      },
      { name: "c", index: 2, reason: 'inputSchema/properties/q: x-mcp-header must be a header name token, not ""' },
      {
        name: "d",
        index: 3,
        reason:
          'inputSchema/properties/q/items: x-mcp-header "In-Items" may only be on a property that properties alone lead to',
      },
    ])
  })
})

describe("a list page by page", () => {
  const script = {
    "server/discover": discover(),
    "tools/list": paged(
      { tools: [tool("a"), null], nextCursor: "", _meta: { page: 1 } },
      {
        "": { tools: [tool("a"), tool("b")], nextCursor: "2", _meta: { page: 2 } },
        2: { tools: [tool("c"), 7], nextCursor: "" },
      },
    ),
  }
  const aside = (index: number, shown: string) => ({
    name: undefined,
    index,
    reason: `must be an object, not ${shown}`,
  })

  it("asks for a page when the one before it was taken", async () => {
    const peer = await start(script)
    const { client } = await open(peer)
    const pages = client.pages("tools")
    expect(cursors(peer)).toEqual([])
    const first = { items: [tool("a")], refused: [aside(1, "null")], nextCursor: "", meta: { page: 1 } }
    expect(await pages.next()).toEqual({ done: false, value: first })
    expect(cursors(peer)).toEqual([undefined])
    const second = { items: [tool("b")], refused: [], nextCursor: "2", meta: { page: 2 } }
    expect(await pages.next()).toEqual({ done: false, value: second })
    const last = { items: [tool("c")], refused: [aside(5, "7")], nextCursor: undefined, meta: undefined }
    expect(await pages.next()).toEqual({ done: false, value: last })
    expect(await pages.next()).toEqual({ done: true, value: undefined })
    expect(cursors(peer)).toEqual([undefined, "", "2"])
  })

  it("asks for no more once it is left", async () => {
    const peer = await start(script)
    const { client } = await open(peer)
    for await (const { items } of client.pages("tools")) {
      expect(items).toEqual([tool("a")])
      break
    }
    expect(cursors(peer)).toEqual([undefined])
  })

  it.each([
    ["", ["", "2"]],
    ["2", ["2", ""]],
  ])("begins at the cursor %j, and ends where it began", async (cursor, asked) => {
    const peer = await start(script)
    const { client } = await open(peer)
    await items(client.pages("tools", { cursor }))
    expect(cursors(peer)).toEqual(asked)
  })

  it("ends with the error of the page that fails, which names the cursor's fate", async () => {
    const peer = await start(script)
    const { client } = await open(peer)
    expect(await failureOf(items(client.pages("tools", { cursor: "made up" })))).toMatchObject({ code: -32602 })
    expect(cursors(peer)).toEqual(["made up"])
  })

  it("learns of tools as the whole list does", async () => {
    const peer = await start({
      "server/discover": discover(),
      "tools/list": paged({ tools: [{ ...tool("a"), outputSchema: { type: "object", required: ["x"] } }] }),
      "tools/call": result({ resultType: "complete", content: [], structuredContent: {} }),
    })
    const { client } = await open(peer)
    expect((await client.callTool("a")).structured).toEqual({})
    await items(client.pages("tools"))
    expect(await failureOf(client.callTool("a"))).toMatchObject({ kind: "validation", reason: "invalid_output" })
  })

  it("is there of four lists only", async () => {
    const { client } = await open(await start(script))
    // @ts-expect-error There is no such list.
    expect(() => client.pages("roots")).toThrow(
      "there are pages of tools, resources, resourceTemplates, prompts, not of roots",
    )
  })
})
