/** The story of authentication: over HTTP, in both eras. */
import { type Running, serve } from "conduit-mcp/node"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { auth, server } from "../../examples/auth/server.js"
import { post, postModern } from "../support/http.js"
import { initializeRequest, legacyRequest, modernRequest } from "../support/wire.js"

const ada = { authorization: "Bearer let-ada-in" }
const grace = { authorization: "Bearer let-grace-in" }

describe("authentication with one function", () => {
  let running: Running
  beforeAll(async () => {
    running = await serve(server, { port: 0, auth })
  })
  afterAll(() => running.close())

  const openAs = async (headers: Record<string, string>) => {
    const reply = await post(running.url, initializeRequest(), headers)
    return { "mcp-session-id": String(reply.headers["mcp-session-id"]), "mcp-protocol-version": "2025-11-25" }
  }

  it.each([
    ["a modern call", modernRequest(1, "tools/call", { name: "whoami" })],
    ["a legacy handshake", initializeRequest()],
  ])("refuses %s without a token, and with a wrong one", async (_, message) => {
    for (const headers of [{}, { authorization: "Bearer let-me-in" }]) {
      const reply = await postModern(running.url, message, headers)
      expect(reply.status).toBe(401)
      expect(reply.headers["www-authenticate"]).toBe("Bearer")
    }
  })

  it("tells handlers who calls, in the modern era", async () => {
    const whoami = await postModern(running.url, modernRequest(1, "tools/call", { name: "whoami" }), ada)
    expect(whoami.json).toMatchObject({ result: { content: [{ text: "You are ada." }] } })
    const erase = await postModern(running.url, modernRequest(2, "tools/call", { name: "erase" }), grace)
    expect(erase.json).toMatchObject({ result: { isError: true, content: [{ text: "You may not write." }] } })
  })

  it("tells handlers who calls, in a legacy session", async () => {
    const session = await openAs(ada)
    const reply = await post(running.url, legacyRequest(1, "tools/call", { name: "erase" }), { ...session, ...ada })
    expect(reply.json).toMatchObject({ result: { content: [{ text: "Erased." }] } })
  })

  it("gives a session to nobody but its owner", async () => {
    const session = await openAs(ada)
    const reply = await post(running.url, legacyRequest(1, "tools/list"), { ...session, ...grace })
    expect(reply.status).toBe(404)
  })
})
