/** The story of the fetch handler: both eras, without a socket. */
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { app } from "../../examples/fetch/server.js"
import { startScript } from "../support/child.js"
import { initializeRequest, type Json, legacyRequest, modernHeaders, modernRequest } from "../support/wire.js"

const call = { name: "add", arguments: { a: 2, b: 3 } }

const post = (message: Json, headers: Record<string, string>) =>
  app(
    new Request("http://localhost/mcp", {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
      body: JSON.stringify(message),
    }),
  )

describe("a server behind fetch", () => {
  it("answers the modern era with JSON", async () => {
    const message = modernRequest(1, "tools/call", call)
    const response = await post(message, modernHeaders(message))
    expect(response.status).toBe(200)
    expect(await response.json()).toMatchObject({ id: 1, result: { structuredContent: { sum: 5 } } })
  })

  it("turns the answer into an event stream when there is something to tell before it", async () => {
    const message = modernRequest(1, "tools/call", { ...call, _meta: { progressToken: "p" } })
    const response = await post(message, modernHeaders(message))
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    const text = await response.text()
    expect(text).toContain("notifications/progress")
    expect(text).toContain('"structuredContent":{"sum":5}')
  })

  it("answers the legacy era without a session", async () => {
    const opened = await post(initializeRequest(), {})
    expect(opened.headers.get("mcp-session-id")).toBeNull()
    const response = await post(legacyRequest(1, "tools/call", call), { "mcp-protocol-version": "2025-11-25" })
    expect(await response.json()).toMatchObject({ id: 1, result: { structuredContent: { sum: 5 } } })
  })

  it("stands beside other routes", async () => {
    expect(await (await app(new Request("http://localhost/health"))).text()).toBe("ok")
    expect((await app(new Request("http://localhost/"))).status).toBe(404)
  })

  it("runs by itself", async () => {
    const own = startScript(fileURLToPath(new URL("../../examples/dist/fetch/main.js", import.meta.url)))
    expect(await own.ended).toBe(0)
    expect(own.printed.stdout).toContain('200 {"jsonrpc":"2.0","id":1')
  })
})
