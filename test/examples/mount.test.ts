/** The story of mounting: one handler among others, behind a body parser. */
import type { Server } from "node:http"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { createApp } from "../../examples/mount/server.js"
import { openSession, post, postModern, send } from "../support/http.js"
import { legacyRequest, modernRequest } from "../support/wire.js"

describe("an MCP endpoint in a web server that has others", () => {
  let app: Server
  let origin = ""
  beforeAll(async () => {
    app = createApp()
    await new Promise<void>((resolve) => app.listen(0, "127.0.0.1", resolve))
    const address = app.address()
    origin = `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}`
  })
  afterAll(() => new Promise((resolve) => app.close(resolve)))

  it("takes the body that was parsed before, in both eras", async () => {
    const modern = await postModern(`${origin}/mcp`, modernRequest(1, "tools/call", { name: "hello" }))
    expect(modern.json).toMatchObject({ id: 1, result: { content: [{ text: "hello" }] } })
    const session = await openSession(`${origin}/mcp`)
    const legacy = await post(`${origin}/mcp`, legacyRequest(2, "tools/call", { name: "hello" }), session)
    expect(legacy.json).toMatchObject({ id: 2, result: { content: [{ text: "hello" }] } })
  })

  it("leaves the other routes alone", async () => {
    expect((await send(`${origin}/health`, { method: "GET" })).text).toBe("ok")
    expect((await send(`${origin}/other`, { method: "GET" })).status).toBe(404)
  })

  it("keeps the guard against pages of other sites", async () => {
    const message = modernRequest(1, "tools/list")
    const reply = await postModern(`${origin}/mcp`, message, { origin: "https://evil.example" })
    expect(reply.status).toBe(403)
  })
})
