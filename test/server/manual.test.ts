/** A server whose methods are written by hand: raw results, with what the revision asks of each filled in. */
import { createServer, type JsonObject, McpError, type ServerOptions, tool } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { openSession, post, postModern } from "../support/http.js"
import { link } from "../support/link.js"
import { createRecordingLogger } from "../support/logger.js"
import { initializeRequest, type Json, modernRequest } from "../support/wire.js"

const eras = ["modern", "legacy"] as const

function byHand(handlers: NonNullable<ServerOptions["handlers"]>, more: Partial<ServerOptions> = {}) {
  return createServer({ name: "proxy", version: "1.0.0", handlers, logger: createRecordingLogger(), ...more })
}

const serverInfo = { "io.modelcontextprotocol/serverInfo": { name: "proxy", version: "1.0.0" } }

describe("the result of a handler written by hand", () => {
  it.each<[what: string, method: string, params: Json, returned: Json, modern: Json]>([
    [
      "a list, which may be kept for no time",
      "tools/list",
      {},
      { tools: [{ name: "far", inputSchema: { type: "object" } }], nextCursor: "theirs" },
      { resultType: "complete", ttlMs: 0, cacheScope: "private", _meta: serverInfo },
    ],
    [
      "a list with hints of its own",
      "prompts/list",
      {},
      { prompts: [], ttlMs: 5, cacheScope: "public" },
      { resultType: "complete", _meta: serverInfo },
    ],
    [
      "a call, which is never kept",
      "tools/call",
      { name: "far" },
      { content: [] },
      { resultType: "complete", _meta: serverInfo },
    ],
    [
      "a result of another type, which is not kept either",
      "resources/read",
      { uri: "far://a" },
      { resultType: "input_required", inputRequests: {}, requestState: "sealed far away" },
      { _meta: serverInfo },
    ],
    [
      "a result that says where it came from",
      "prompts/get",
      { name: "far" },
      {
        messages: [],
        _meta: { "io.modelcontextprotocol/serverInfo": { name: "far", version: "9" }, "example.com/a": 1 },
      },
      { resultType: "complete" },
    ],
  ])("is sent as it is: %s", async (_, method, params, returned, modern) => {
    const server = byHand({ [method]: () => returned as JsonObject })
    expect((await link(server).modern(method, params))["result"]).toEqual({
      ...returned,
      ...modern,
      ...(returned["_meta"] ? { _meta: returned["_meta"] } : {}),
    })
    expect((await link(server).legacy(method, params))["result"]).toEqual(returned)
  })

  it.each<[what: string, returned: unknown]>([
    ["no object", "text"],
    ["a list", []],
    ["null", null],
    ["undefined", undefined],
    ["an object with a function", { a: () => 1 }],
    ["an object with a date", { a: new Date(0) }],
    ["an object with a big integer", { a: 1n }],
  ])("is an internal error when it is %s", async (_, returned) => {
    const logger = createRecordingLogger()
    const server = byHand({ "tools/call": () => returned as Json as never }, { logger })
    for (const era of eras) {
      const { error } = await link(server)[era]("tools/call", { name: "far" })
      expect(error).toMatchObject({ code: -32603, data: { reason: "internal_error" } })
    }
    expect(logger.lines).toMatchObject([{ message: expect.stringContaining("tools/call") }, {}])
  })
})

describe.each(eras)("a handler written by hand, for a %s client,", (era) => {
  it("gets the params as they came, and the context", async () => {
    const seen: unknown[] = []
    const server = byHand({
      "tools/call": (params, ctx) => {
        seen.push(params["name"], params["arguments"], ctx.era, ctx.client.info)
        return { content: [] }
      },
    })
    await link(server)[era]("tools/call", { name: "constructor", arguments: ["not", "checked"] })
    expect(seen).toEqual(["constructor", ["not", "checked"], era, { name: "test", version: "1.0.0" }])
  })

  it("gets an empty object when there are no params", async () => {
    const seen: unknown[] = []
    const server = byHand({
      "prompts/list": ({ _meta, ...params }) => {
        seen.push(params)
        return { prompts: [] }
      },
    })
    await link(server)[era]("prompts/list")
    expect(seen).toEqual([{}])
  })

  it("says nothing of why it failed, unless on purpose", async () => {
    const server = byHand({
      "tools/list": () => Promise.reject(new Error("secret detail")),
      "tools/call": () => {
        throw new McpError("upstream says no", {
          kind: "protocol",
          reason: "jsonrpc",
          code: -32602,
          data: { tool: "far" },
        })
      },
    })
    const wire = link(server)
    const failed = await wire[era]("tools/list")
    expect(failed).toMatchObject({ error: { code: -32603 } })
    expect(JSON.stringify(failed)).not.toContain("secret detail")
    expect((await wire[era]("tools/call", { name: "far" }))["error"]).toEqual({
      code: -32602,
      message: "upstream says no",
      data: { reason: "jsonrpc", tool: "far" },
    })
  })

  it("leaves every method without one unserved", async () => {
    const wire = link(byHand({ "tools/list": () => ({ tools: [] }) }))
    for (const method of ["tools/call", "resources/list", "resources/read", "prompts/get", "completion/complete"]) {
      expect(await wire[era](method, { name: "a", uri: "a:b" })).toMatchObject({ error: { code: -32601 } })
    }
  })
})

describe("what a server written by hand declares", () => {
  const capabilities = {
    tools: { listChanged: true },
    resources: { subscribe: true, listChanged: true },
    logging: {},
    extensions: { "example.com/far": {} },
  }
  const handlers = { "tools/list": () => ({ tools: [] }) }
  let running: Running | undefined
  afterEach(() => running?.close())

  it("is what it says, and nothing when it says nothing", async () => {
    for (const [given, expected] of [
      [{ capabilities }, capabilities],
      [{}, {}],
    ] as const) {
      const wire = link(byHand(handlers, given))
      expect(((await wire.modern("server/discover"))["result"] as Json)["capabilities"]).toEqual(expected)
      expect(((await wire.request(initializeRequest(1)))["result"] as Json)["capabilities"]).toEqual(expected)
    }
  })

  it("leaves out what nobody can be told of without sessions", async () => {
    running = await serve(byHand(handlers, { capabilities }), { port: 0, sessions: false })
    const { json } = await post(running.url, initializeRequest(1))
    expect((json["result"] as Json)["capabilities"]).toEqual({
      tools: {},
      resources: {},
      extensions: { "example.com/far": {} },
    })
  })

  it("decides whether its log reaches clients", async () => {
    const talking: NonNullable<ServerOptions["handlers"]> = {
      "tools/list": (_, ctx) => {
        ctx.log.error("heard")
        return { tools: [] }
      },
    }
    const silent = link(byHand(talking))
    await silent.legacy("tools/list")
    await silent.modern("tools/list", { _meta: { "io.modelcontextprotocol/logLevel": "debug" } })
    expect(silent.received.filter(({ method }) => method === "notifications/message")).toEqual([])
    const loud = link(byHand(talking, { capabilities: { logging: {} } }))
    await loud.legacy("tools/list")
    await loud.modern("tools/list", { _meta: { "io.modelcontextprotocol/logLevel": "debug" } })
    expect(loud.received.filter(({ method }) => method === "notifications/message")).toHaveLength(2)
  })
})

describe("the opening of a server written by hand", () => {
  it("is still the library's: discover, initialize and ping are answered", async () => {
    const wire = link(byHand({}))
    expect(await wire.modern("server/discover")).toMatchObject({
      result: { supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18"], _meta: serverInfo },
    })
    expect(await wire.legacy("ping")).toMatchObject({ result: {} })
  })

  it("may be written by hand as far as discover goes", async () => {
    const far = { supportedVersions: ["2026-07-28"], capabilities: { tools: {} }, instructions: "far" }
    const { result } = await link(byHand({ "server/discover": () => far })).modern("server/discover")
    expect(result).toMatchObject(far)
  })

  it("is refused over HTTP like any other", async () => {
    const running = await serve(byHand({ "tools/list": () => ({ tools: [] }) }), { port: 0 })
    try {
      const session = await openSession(running.url)
      expect((await post(running.url, { jsonrpc: "2.0", id: 1, method: "tools/list" }, session)).json).toEqual({
        jsonrpc: "2.0",
        id: 1,
        result: { tools: [] },
      })
      const modern = await postModern(running.url, modernRequest(1, "tools/call", { name: "x" }), { "mcp-name": "y" })
      expect(modern.json).toMatchObject({ error: { code: -32020 } })
    } finally {
      await running.close()
    }
  })
})

describe("handlers that cannot be", () => {
  const thrown = (act: () => unknown): unknown => {
    try {
      act()
      return undefined
    } catch (error) {
      return McpError.is(error, "misuse") && error.message
    }
  }

  it("are those that nothing would ever call", () => {
    for (const method of ["initialize", "notifications/cancelled", "tools/cal", "constructor", ""]) {
      expect(thrown(() => byHand({ [method]: () => ({}) }))).toContain(`handlers["${method}"]`)
    }
    expect(thrown(() => byHand({ "tools/list": "no function" as never }))).toContain("must be a function")
  })

  it("stand beside no definitions", () => {
    const definition = tool("t", {}, () => "")
    expect(thrown(() => byHand({}, { tools: [definition] }))).toMatch(/takes no definitions/)
    expect(thrown(() => byHand({}).tool("t", {}, () => ""))).toMatch(/takes no definitions/)
    expect(thrown(() => byHand({}).add(definition))).toMatch(/takes no definitions/)
  })
})
