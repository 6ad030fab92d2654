/** Errors of the protocol that a handler throws: which HTTP status they ride on, in each era. */
import { codes, createServer, McpError, prompt, resource, resourceTemplate, tool, user } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const required = { requiredCapabilities: { sampling: {} } }

function refuse(): never {
  throw new McpError("needs sampling", {
    kind: "protocol",
    reason: "missing_client_capability",
    code: codes.missingClientCapability,
    data: required,
  })
}

const server = createServer({
  name: "test",
  version: "1.0.0",
  tools: [
    tool("refuses", {}, refuse),
    tool("reports_and_refuses", {}, (_, ctx) => {
      ctx.progress(1)
      refuse()
    }),
    tool("raises", {}, () => {
      throw new McpError("no", { kind: "protocol", reason: "invalid_params", code: codes.invalidParams })
    }),
  ],
  resources: [
    resource("test://refuses", { name: "refuses" }, refuse),
    resourceTemplate("test://refuses/{id}", { name: "refuses-id", complete: { id: refuse } }, refuse),
  ],
  prompts: [prompt("refuses", {}, refuse), prompt("works", {}, () => [user("yes")])],
})
const byHand = createServer({ name: "proxy", version: "1.0.0", handlers: { "tools/call": refuse } })

const meta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
}

function post(url: string, message: object, headers: Record<string, string>): Promise<Response> {
  return fetch(url, {
    method: "POST",
    headers: { "Content-Type": "application/json", Accept: "application/json, text/event-stream", ...headers },
    body: JSON.stringify({ jsonrpc: "2.0", ...message }),
  })
}

function callModern(url: string, method: string, params: Record<string, unknown>, more = {}): Promise<Response> {
  const name = params["name"] ?? params["uri"]
  return post(
    url,
    { id: 7, method, params: { ...params, _meta: { ...meta, ...more } } },
    {
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(typeof name === "string" ? { "Mcp-Name": name } : {}),
    },
  )
}

let running: Running
let proxy: Running
beforeAll(async () => {
  running = await serve(server, { port: 0 })
  proxy = await serve(byHand, { port: 0 })
})
afterAll(async () => {
  await running.close()
  await proxy.close()
})

describe("a missing client capability on a modern request", () => {
  it.each([
    ["a tool", "tools/call", { name: "refuses" }],
    ["a prompt", "prompts/get", { name: "refuses" }],
    ["a resource", "resources/read", { uri: "test://refuses" }],
    ["a resource template", "resources/read", { uri: "test://refuses/1" }],
    [
      "a completer",
      "completion/complete",
      { ref: { type: "ref/resource", uri: "test://refuses/{id}" }, argument: { name: "id", value: "" } },
    ],
  ])("thrown by %s is HTTP 400", async (_, method, params) => {
    const response = await callModern(running.url, method, params)
    expect(response.status).toBe(400)
    const data = { reason: "missing_client_capability", ...required }
    const error = { code: -32021, message: "needs sampling", data }
    expect(await response.json()).toEqual({ jsonrpc: "2.0", id: 7, error })
  })

  it("thrown by a handler written by hand is HTTP 400", async () => {
    const response = await callModern(proxy.url, "tools/call", { name: "any" })
    expect(response.status).toBe(400)
    expect(await response.json()).toMatchObject({ id: 7, error: { code: -32021, data: required } })
  })

  it("thrown after a progress notification is the last event of the stream", async () => {
    const response = await callModern(running.url, "tools/call", { name: "reports_and_refuses" }, { progressToken: 1 })
    expect(response.status).toBe(200)
    expect(response.headers.get("Content-Type")).toBe("text/event-stream")
    const events = (await response.text()).split("\n\n").filter((event) => event.startsWith("data:"))
    expect(events).toHaveLength(2)
    expect(JSON.parse(events[1]?.slice("data:".length) ?? "")).toMatchObject({ id: 7, error: { code: -32021 } })
  })
})

describe("another error of the protocol", () => {
  it("rides on HTTP 200 on a modern request", async () => {
    const response = await callModern(running.url, "tools/call", { name: "raises" })
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ id: 7, error: { code: -32602, message: "no" } })
  })
})

describe("in the legacy era", () => {
  it.each(["refuses", "raises"])("every error of the protocol rides on HTTP 200 (%s)", async (name) => {
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1.0.0" } }
    const opened = await post(running.url, { id: 1, method: "initialize", params }, {})
    const headers = {
      "MCP-Protocol-Version": "2025-11-25",
      "Mcp-Session-Id": opened.headers.get("Mcp-Session-Id") ?? "",
    }
    const response = await post(running.url, { id: 2, method: "tools/call", params: { name } }, headers)
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ id: 2, error: { message: expect.any(String) } })
  })
})
