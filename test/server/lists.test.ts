/** Pages of the four lists, and which lists a server answers for, in both eras. */
import { createServer, McpError, prompt, resource, resourceTemplate, tool } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { encodeCursor } from "../../src/core/feature/cursor.js"
import type { Tool } from "../../src/core/model/tool.js"
import { revisions } from "../../src/core/revision/table.js"
import { createSnapshot } from "../../src/server/registry.js"
import { openSession, post, postModern } from "../support/http.js"
import { link } from "../support/link.js"
import { type Json, modernRequest } from "../support/wire.js"

const eras = ["modern", "legacy"] as const

const lists = [
  { method: "tools/list", member: "tools", key: "name" },
  { method: "resources/list", member: "resources", key: "uri" },
  { method: "resources/templates/list", member: "resourceTemplates", key: "uriTemplate" },
  { method: "prompts/list", member: "prompts", key: "name" },
] as const

const numbered = (count: number, name: (index: number) => string): string[] =>
  Array.from({ length: count }, (_, i) => name(i))
const uriOf = (index: number): string => `test://${index}`
const templateOf = (index: number): string => `test://${index}/{id}`
const nameOf = (index: number): string => `entry_${index}`

/** A server with `count` entries of every kind. */
function serving(count: number, pageSize?: number, freshness?: { ttlMs: number; cacheScope: "public" | "private" }) {
  return createServer({
    name: "test",
    version: "1.0.0",
    tools: numbered(count, nameOf).map((name) => tool(name, {}, () => "")),
    resources: [
      ...numbered(count, uriOf).map((uri) => resource(uri, { name: uri }, () => "")),
      ...numbered(count, templateOf).map((uri) => resourceTemplate(uri, { name: uri }, () => "")),
    ],
    prompts: numbered(count, nameOf).map((name) => prompt(name, {}, () => "")),
    ...(pageSize === undefined ? {} : { pageSize }),
    ...(freshness === undefined ? {} : { freshness }),
  })
}

const expectedKeys = {
  "tools/list": nameOf,
  "resources/list": uriOf,
  "resources/templates/list": templateOf,
  "prompts/list": nameOf,
} as const

describe.each(eras)("pages for a %s client", (era) => {
  describe.each(lists)("of $method", ({ method, member, key }) => {
    const walk = async (server: ReturnType<typeof serving>): Promise<{ keys: unknown[]; sizes: number[] }> => {
      const wire = link(server)
      const keys: unknown[] = []
      const sizes: number[] = []
      let cursor: unknown
      do {
        const { result } = await wire[era](method, cursor === undefined ? {} : { cursor })
        const page = result as Record<string, Json[]> & { nextCursor?: unknown }
        keys.push(...(page[member] ?? []).map((entry) => entry[key]))
        sizes.push(page[member]?.length ?? 0)
        cursor = page.nextCursor
        if (cursor !== undefined) expect(cursor).toEqual(expect.any(String))
      } while (cursor !== undefined)
      return { keys, sizes }
    }

    it.each([
      [1, 3, [1]],
      [3, 3, [3]],
      [4, 3, [3, 1]],
      [7, 3, [3, 3, 1]],
      [5, 1, [1, 1, 1, 1, 1]],
    ])("give all of %d entries, %d at a time, once and in order", async (count, pageSize, expected) => {
      const { keys, sizes } = await walk(serving(count, pageSize))
      expect(keys).toEqual(numbered(count, expectedKeys[method]))
      expect(sizes).toEqual(expected)
    })

    it.each([
      ["an empty one", ""],
      ["noise", "noise"],
      ["a number in a text", "1"],
      ["base64 of something else", "eyJwYWdlIjoyfQ=="],
      ["a very long one", "A".repeat(10_000)],
    ])("refuse a cursor that is not theirs: %s", async (_, cursor) => {
      const { error, result } = await link(serving(4, 3))[era](method, { cursor })
      expect(result).toBeUndefined()
      expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_cursor" } })
    })

    it.each([[null], [1], [true], [["x"]], [{}]])("refuse a cursor that is no text: %j", async (cursor) => {
      expect(await link(serving(4, 3))[era](method, { cursor })).toMatchObject({ error: { code: -32602 } })
    })

    it("refuse the cursor of another list", async () => {
      const wire = link(serving(4, 3))
      for (const other of lists.filter((one) => one.method !== method)) {
        const { nextCursor } = (await wire[era](other.method))["result"] as Json
        expect(await wire[era](method, { cursor: nextCursor })).toMatchObject({ error: { code: -32602 } })
      }
    })
  })

  it("go on behind the same entry when others come and go", async () => {
    const server = createServer({ name: "test", version: "1.0.0", pageSize: 2 })
    const entries = ["a", "b", "c", "d"].map((name) => server.tool(name, {}, () => ""))
    const wire = link(server)
    const list = async (params: Json = {}): Promise<{ names: unknown[]; nextCursor: unknown; error: unknown }> => {
      const { result, error } = await wire[era]("tools/list", params)
      const { tools = [], nextCursor } = (result ?? {}) as { tools?: Json[]; nextCursor?: unknown }
      return { names: tools.map(({ name }) => name), nextCursor, error }
    }
    const first = await list()
    expect(first.names).toEqual(["a", "b"])
    entries[0]?.remove()
    server.tool("e", {}, () => "")
    const second = await list({ cursor: first.nextCursor })
    expect(second.names).toEqual(["c", "d"])
    expect((await list({ cursor: second.nextCursor })).names).toEqual(["e"])
    entries[1]?.remove()
    expect((await list({ cursor: first.nextCursor })).error).toMatchObject({
      code: -32602,
      data: { reason: "invalid_cursor" },
    })
  })

  it("are the same for everybody who asks at the same time", async () => {
    const wire = link(serving(7, 3))
    const ask = (): Promise<Json> => wire[era]("tools/list").then((answer) => answer["result"] as Json)
    const [one, two] = await Promise.all([ask(), ask()])
    expect(one).toEqual(two)
  })

  it("hold a thousand entries unless the server says otherwise", async () => {
    const { tools, nextCursor } = (await link(serving(1_001))[era]("tools/list"))["result"] as {
      tools: Json[]
      nextCursor: unknown
    }
    expect(tools).toHaveLength(1_000)
    expect(nextCursor).toEqual(expect.any(String))
  })
})

describe("what a page costs", () => {
  it("is paid once for the pages that follow each other, and nothing is kept for a cursor that is made up", () => {
    let encoded = 0
    const [newest] = revisions
    if (newest === undefined) throw new Error("there is a revision")
    const counting = {
      ...newest,
      encode: {
        ...newest.encode,
        tool(one: Tool) {
          encoded++
          return newest.encode.tool(one)
        },
      },
    }
    const tools = new Map(numbered(10, nameOf).map((name) => [name, tool(name, {}, () => "")]))
    const none = { resources: new Map(), templates: new Map(), prompts: new Map() }
    const snapshot = createSnapshot({ tools, ...none }, { pageSize: 4, freshness: { ttlMs: 0, cacheScope: "private" } })
    const cost = (cursor: string | undefined): number => {
      const before = encoded
      expect(snapshot.page("tools", counting, cursor)).toEqual(expect.any(String))
      return encoded - before
    }
    const behind = (index: number): string => encodeCursor("tools", nameOf(index))
    expect([cost(undefined), cost(behind(3)), cost(behind(7))]).toEqual([4, 4, 2])
    expect([cost(undefined), cost(behind(3)), cost(behind(7))]).toEqual([0, 0, 0])
    expect([cost(behind(1)), cost(behind(1)), cost(behind(8)), cost(behind(8))]).toEqual([4, 4, 1, 1])
  })
})

describe("how long a list may be kept", () => {
  it.each(lists)("is said with $method in the modern era only", async ({ method }) => {
    const wire = link(serving(1, 3, { ttlMs: 60_000, cacheScope: "public" }))
    expect(await wire.modern(method)).toMatchObject({ result: { ttlMs: 60_000, cacheScope: "public" } })
    const legacy = (await wire.legacy(method))["result"]
    expect(legacy).not.toHaveProperty("ttlMs")
    expect(legacy).not.toHaveProperty("cacheScope")
  })

  it("is not at all, and by the caller only, when the server says nothing", async () => {
    const wire = link(serving(1))
    for (const { method } of lists)
      expect(await wire.modern(method)).toMatchObject({ result: { ttlMs: 0, cacheScope: "private" } })
    expect(await wire.modern("server/discover")).toMatchObject({ result: { ttlMs: 0, cacheScope: "private" } })
  })
})

describe("a server answers for what it declares and for nothing else", () => {
  const definitions = {
    tools: [tool("a", {}, () => "")],
    resources: [resource("test://a", { name: "a" }, () => "")],
    templates: [resourceTemplate("test://{a}", { name: "a" }, () => "")],
    prompts: [prompt("a", {}, () => "")],
  }
  const completing = prompt("b", { args: z.object({ c: z.string() }), complete: { c: () => [] } }, () => "")
  const servers = [
    ["nothing", createServer({ name: "t", version: "1" }), []],
    ["tools", createServer({ name: "t", version: "1", tools: definitions.tools }), ["tools"]],
    ["resources", createServer({ name: "t", version: "1", resources: definitions.resources }), ["resources"]],
    ["templates", createServer({ name: "t", version: "1", resources: definitions.templates }), ["resources"]],
    ["prompts", createServer({ name: "t", version: "1", prompts: definitions.prompts }), ["prompts"]],
    [
      "completing prompts",
      createServer({ name: "t", version: "1", prompts: [completing] }),
      ["prompts", "completions"],
    ],
  ] as const
  const features: readonly [capability: string, method: string, params: Json][] = [
    ["tools", "tools/list", {}],
    ["tools", "tools/call", { name: "none" }],
    ["resources", "resources/list", {}],
    ["resources", "resources/templates/list", {}],
    ["resources", "resources/read", { uri: "none://none/none" }],
    ["prompts", "prompts/list", {}],
    ["prompts", "prompts/get", { name: "none" }],
    [
      "completions",
      "completion/complete",
      { ref: { type: "ref/prompt", name: "none" }, argument: { name: "c", value: "" } },
    ],
  ]

  describe.each(eras)("in the %s era", (era) => {
    it.each(servers)("with %s", async (_, server, declared) => {
      const wire = link(server)
      const opening =
        era === "modern"
          ? await wire.modern("server/discover")
          : await wire.request({
              jsonrpc: "2.0",
              id: 1,
              method: "initialize",
              params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
            })
      const { capabilities } = opening["result"] as { capabilities: Json }
      const known = ["tools", "resources", "prompts", "completions"]
      expect(Object.keys(capabilities).filter((name) => known.includes(name))).toEqual(declared)
      for (const [capability, method, params] of features) {
        const answer = await wire.request(
          era === "modern" ? modernRequest(method, method, params) : { jsonrpc: "2.0", id: method, method, params },
        )
        const { code } = (answer["error"] ?? {}) as { code?: number }
        expect([method, code === -32601]).toEqual([method, !declared.some((name) => name === capability)])
      }
    })
  })
})

describe("a method that is not served over HTTP", () => {
  let running: Running
  beforeAll(async () => {
    running = await serve(createServer({ name: "t", version: "1" }), { port: 0 })
  })
  afterAll(() => running.close())

  it.each(["tools/list", "resources/list", "prompts/list", "unknown/method", "ping", "constructor", "__proto__"])(
    "is 404 in the modern era and an error on 200 in the legacy era: %s",
    async (method) => {
      const modern = await postModern(running.url, modernRequest("id", method))
      expect(modern.status).toBe(404)
      expect(modern.json).toMatchObject({ id: "id", error: { code: -32601 } })
      if (method === "ping") return
      const session = await openSession(running.url)
      const legacy = await post(running.url, { jsonrpc: "2.0", id: "id", method }, session)
      expect(legacy.status).toBe(200)
      expect(legacy.json).toMatchObject({ id: "id", error: { code: -32601 } })
    },
  )
})

describe("the size of a page", () => {
  it.each([0, -1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, "10"])("is a positive integer, not %s", (pageSize) => {
    let thrown: unknown
    try {
      createServer({ name: "t", version: "1", pageSize: pageSize as number })
    } catch (error) {
      thrown = error
    }
    expect(McpError.is(thrown, "misuse") && thrown.reason).toBe("invalid_option")
  })
})
