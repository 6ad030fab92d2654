/** The story of the gateway: another server's tools, passed on to clients of both eras. */
import { createServer, tool } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { z } from "zod"
import { createGateway } from "../../examples/gateway/server.js"
import { ask, callTool, eras } from "../support/story.js"

const upstream = createServer({
  name: "upstream",
  version: "1.0.0",
  tools: [
    tool("read", { input: z.object({ what: z.string() }), annotations: { readOnlyHint: true } }, ({ what }) => what),
    tool("write", {}, () => "written"),
  ],
})

describe.each(eras)("the gateway, in the %s era", (era) => {
  let running: Running
  beforeAll(async () => {
    running = await serve(upstream, { port: 0 })
  })
  afterAll(() => running.close())

  it("lists what the other server has, without what changes things", async () => {
    const { result } = await ask(createGateway(running.url), era, "tools/list")
    expect(result).toMatchObject({ tools: [{ name: "read", inputSchema: { type: "object" } }] })
  })

  it("passes calls and results on", async () => {
    expect(await callTool(createGateway(running.url), era, "read", { what: "this" })).toMatchObject({
      content: [{ type: "text", text: "this" }],
    })
  })

  it("passes errors on", async () => {
    const { error } = await ask(createGateway(running.url), era, "tools/call", { name: "nothing" })
    expect(error).toMatchObject({ code: -32602, message: "Unknown tool: nothing" })
  })

  it("does not have what it does not declare", async () => {
    const { error } = await ask(createGateway(running.url), era, "prompts/list")
    expect(error).toMatchObject({ code: -32601 })
  })
})

describe("the gateway", () => {
  it("answers discovery by itself", async () => {
    const { result } = await ask(createGateway("http://127.0.0.1:9/mcp"), "modern", "server/discover")
    expect(result).toMatchObject({
      capabilities: { tools: {} },
      _meta: { "io.modelcontextprotocol/serverInfo": { name: "gateway" } },
    })
  })
})
