/** `server/discover` and what a modern request must say of itself. */
import { createServer, prompt, resource, tool } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { openSession, post, postModern } from "../support/http.js"
import { link } from "../support/link.js"
import { type Json, legacyRequest, modernHeaders, modernMeta, modernRequest } from "../support/wire.js"

const VERSION = "io.modelcontextprotocol/protocolVersion"
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
const versions = ["2026-07-28", "2025-11-25", "2025-06-18"]

const complete = prompt("p", { args: z.object({ a: z.string() }), complete: { a: () => [] } }, () => "")
const full = createServer({
  name: "full",
  version: "2.1.0",
  title: "Full",
  description: "Has everything",
  websiteUrl: "https://example.com",
  icons: [{ src: "https://example.com/icon.png" }],
  instructions: "Ask away.",
  tools: [tool("t", {}, () => "")],
  resources: [resource("test://r", { name: "r" }, () => "")],
  prompts: [complete],
  freshness: { ttlMs: 60_000, cacheScope: "public" },
  extensions: { "example.com/extra": { level: 2 } },
})

describe("server/discover", () => {
  it("says everything that a client has to know, in one result", async () => {
    const { result } = await link(full).modern("server/discover")
    const { capabilities, ...rest } = result as { capabilities: Json }
    expect(rest).toEqual({
      resultType: "complete",
      _meta: {
        "io.modelcontextprotocol/serverInfo": {
          name: "full",
          version: "2.1.0",
          title: "Full",
          description: "Has everything",
          websiteUrl: "https://example.com",
          icons: [{ src: "https://example.com/icon.png" }],
        },
      },
      supportedVersions: versions,
      instructions: "Ask away.",
      ttlMs: 60_000,
      cacheScope: "public",
    })
    expect(capabilities).toMatchObject({ logging: {}, extensions: { "example.com/extra": { level: 2 } } })
    expect(Object.keys(capabilities).sort()).toEqual([
      "completions",
      "extensions",
      "logging",
      "prompts",
      "resources",
      "tools",
    ])
  })

  it("says only what there is", async () => {
    const { result } = await link(createServer({ name: "bare", version: "0" })).modern("server/discover")
    expect(result).toEqual({
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "bare", version: "0" } },
      supportedVersions: versions,
      capabilities: { logging: {} },
      ttlMs: 0,
      cacheScope: "private",
    })
  })

  it("is no method of the legacy era", async () => {
    expect(await link(full).legacy("server/discover")).toMatchObject({ error: { code: -32601 } })
  })

  it("opens nothing: every modern request stands alone, before it and after it", async () => {
    const wire = link(full)
    expect(await wire.modern("tools/list")).toMatchObject({ result: { tools: [{ name: "t" }] } })
    await wire.modern("server/discover")
    expect(await wire.request(legacyRequest(1, "tools/list"))).toMatchObject({ error: { code: -32602 } })
  })
})

describe("every modern result", () => {
  it.each<[method: string, params: Json]>([
    ["server/discover", {}],
    ["tools/list", {}],
    ["tools/call", { name: "t" }],
    ["resources/list", {}],
    ["resources/templates/list", {}],
    ["resources/read", { uri: "test://r" }],
    ["prompts/list", {}],
    ["prompts/get", { name: "p", arguments: { a: "" } }],
    ["completion/complete", { ref: { type: "ref/prompt", name: "p" }, argument: { name: "a", value: "" } }],
  ])("says its type and its server: %s", async (method, params) => {
    expect((await link(full).modern(method, params))["result"]).toMatchObject({
      resultType: "complete",
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "full", version: "2.1.0" } },
    })
  })
})

describe("a modern request", () => {
  let running: Running
  beforeAll(async () => {
    running = await serve(full, { port: 0 })
  })
  afterAll(() => running.close())

  /** A request whose `_meta` has some members replaced; undefined takes one away. */
  const withMeta = (more: Json, method = "tools/list"): Json => ({
    jsonrpc: "2.0",
    id: "id",
    method,
    params: { _meta: { ...modernMeta, ...more } },
  })

  it.each<[what: string, message: Json, headers: Record<string, string>, status: number, code: number]>([
    ["without _meta", { jsonrpc: "2.0", id: "id", method: "tools/list", params: {} }, {}, 400, -32602],
    ["without params", { jsonrpc: "2.0", id: "id", method: "tools/list" }, {}, 400, -32602],
    [
      "whose _meta is a list",
      { jsonrpc: "2.0", id: "id", method: "tools/list", params: { _meta: [] } },
      {},
      400,
      -32602,
    ],
    ["without a version in _meta", withMeta({ [VERSION]: undefined }), {}, 400, -32602],
    ["without capabilities", withMeta({ [CAPABILITIES]: undefined }), {}, 400, -32602],
    ["whose capabilities are a list", withMeta({ [CAPABILITIES]: [] }), {}, 400, -32602],
    ["whose header says another version", withMeta({}), { "mcp-protocol-version": "2025-11-25" }, 400, -32020],
    [
      "of a version that is not served",
      withMeta({ [VERSION]: "2027-01-01" }),
      { "mcp-protocol-version": "2027-01-01" },
      400,
      -32022,
    ],
    ["of a version that is none", withMeta({ [VERSION]: "latest" }), { "mcp-protocol-version": "latest" }, 400, -32022],
    [
      "of a legacy version",
      withMeta({ [VERSION]: "2025-11-25" }),
      { "mcp-protocol-version": "2025-11-25" },
      400,
      -32022,
    ],
    ["of an unknown method", withMeta({}, "tools/drop"), {}, 404, -32601],
    ["whose Mcp-Method says another method", withMeta({}), { "mcp-method": "prompts/list" }, 400, -32020],
    [
      "with an unknown method that Mcp-Method hides",
      withMeta({}, "tools/drop"),
      { "mcp-method": "tools/list" },
      404,
      -32601,
    ],
  ])("%s is refused with its id", async (_, message, headers, status, code) => {
    const reply = await postModern(running.url, message, headers)
    expect(reply.status).toBe(status)
    expect(reply.json).toMatchObject({ jsonrpc: "2.0", id: "id", error: { code } })
    expect(reply.headers["content-type"]).toBe("application/json")
  })

  it.each([["mcp-protocol-version"], ["mcp-method"], ["mcp-name"]])("without %s is refused", async (name) => {
    const message = modernRequest(1, "tools/call", { name: "t" })
    const { [name]: _, ...headers } = modernHeaders(message)
    const reply = await post(running.url, message, headers)
    expect(reply.status).toBe(400)
    expect(reply.json).toMatchObject({ id: 1, error: { code: -32020, data: { reason: "header_mismatch" } } })
  })

  it("of no version at all, and of no session, is refused with -32020", async () => {
    const reply = await post(running.url, legacyRequest(1, "tools/list"))
    expect(reply.status).toBe(400)
    expect(reply.json).toMatchObject({ id: 1, error: { code: -32020 } })
  })

  it("of a version that is not served is told which are, and which came", async () => {
    const message = withMeta({ [VERSION]: "2027-01-01" })
    const { json } = await postModern(running.url, message, { "mcp-protocol-version": "2027-01-01" })
    expect(json["error"]).toMatchObject({ data: { supported: versions, requested: "2027-01-01" } })
  })

  it("is served without client info, which is for display only", async () => {
    const message = withMeta({ "io.modelcontextprotocol/clientInfo": undefined })
    expect((await postModern(running.url, message)).status).toBe(200)
  })

  it.each(["clientinfo", "2.0.0", "\u202e"])("is served whatever client info says (%j)", async (name) => {
    const message = withMeta({ "io.modelcontextprotocol/clientInfo": { name } })
    expect((await postModern(running.url, message)).status).toBe(200)
  })

  it("never brings a legacy code, whatever goes wrong", async () => {
    const session = await openSession(running.url)
    const replies = [
      await postModern(running.url, modernRequest(1, "resources/read", { uri: "test://none" })),
      await postModern(running.url, modernRequest(1, "tools/call", { name: "none" })),
      await postModern(running.url, modernRequest(1, "nothing")),
      await postModern(running.url, modernRequest(1, "tools/list"), { "content-type": "text/plain" }),
      await postModern(running.url, modernRequest(1, "tools/list"), { accept: "image/png" }),
      await postModern(running.url, modernRequest(1, "tools/list"), { host: "evil.example" }),
      await postModern(running.url, modernRequest(1, "tools/list", { cursor: "none" }), session),
    ]
    for (const { json } of replies) {
      const { code } = json["error"] as { code: number }
      expect(code <= -32000 && code >= -32019).toBe(false)
      expect([-32002, -32042]).not.toContain(code)
    }
  })
})

describe("a modern notification over HTTP", () => {
  let running: Running
  beforeAll(async () => {
    running = await serve(full, { port: 0 })
  })
  afterAll(() => running.close())

  it.each(["notifications/cancelled", "notifications/initialized", "notifications/unknown", "tools/call"])(
    "is accepted with 202, no body and no type: %s",
    async (method) => {
      const message = { jsonrpc: "2.0", method, params: { _meta: modernMeta } }
      const reply = await post(running.url, message, { "mcp-protocol-version": "2026-07-28" })
      expect(reply.status).toBe(202)
      expect(reply.text).toBe("")
      expect(reply.headers).not.toHaveProperty("content-type")
    },
  )
})
