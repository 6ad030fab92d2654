/** Pages of other origins, at every HTTP door: what their browsers ask beforehand, and what stands on every answer. */
import { createServer, type Gate, McpError, tool } from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { createNodeHandler, type HttpOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { type DoorRequest, doors, type OpenDoor } from "../support/doors.js"
import { type Reply, send } from "../support/http.js"
import { initializeRequest, legacyRequest, modernHeaders, modernRequest } from "../support/wire.js"

const quiet = { debug() {}, info() {}, warn() {}, error() {} }
const APP = "https://app.example.com"
const EVIL = "https://evil.example.com"
const LOCAL = "http://localhost:5173"

const server = createServer({
  name: "cors",
  version: "1.0.0",
  logger: quiet,
  tools: [
    tool("hello", {}, () => "hello"),
    tool("steps", {}, (_, ctx) => {
      ctx.progress(1)
      return "done"
    }),
  ],
})

const gate: Gate = {
  documents: { "/.well-known/thing": () => ({ body: "{}", contentType: "application/json" }) },
  check({ header }) {
    const who = header("authorization")
    if (who === "broken") throw new Error("the gate is broken")
    if (who === "weak") return { ok: false, status: 403, challenge: "Thing", reason: "forbidden", message: "No" }
    if (who === undefined)
      return { ok: false, status: 401, challenge: "Thing", reason: "unauthenticated", message: "?" }
    return { ok: true, principal: { id: who } }
  },
}

const open: OpenDoor[] = []
afterEach(async () => {
  for (const door of open.splice(0)) await door.close()
})

const hello = modernRequest(1, "tools/call", { name: "hello" })
const steps = modernRequest(1, "tools/call", { name: "steps", _meta: { progressToken: 1 } })
const known = { authorization: "ada" }
const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" }

function posted(body: string, headers: Record<string, string> = {}): DoorRequest {
  return { headers: { ...JSON_HEADERS, ...known, ...modernHeaders(hello), ...headers }, body }
}

const text = JSON.stringify(hello)
const session = { "mcp-session-id": "none", "mcp-protocol-version": "2025-11-25" }

/** One request for every kind of answer that a front door has. */
const answers: readonly (readonly [what: string, status: number, request: DoorRequest])[] = [
  ["a result", 200, posted(text)],
  ["an event stream", 200, posted(JSON.stringify(steps), modernHeaders(steps))],
  ["nothing, to a notification", 202, posted('{"jsonrpc":"2.0","method":"notifications/x"}')],
  ["a refusal of the message", 400, posted("{")],
  ["a missing credential", 401, { ...posted(text), headers: { ...JSON_HEADERS, ...modernHeaders(hello) } }],
  ["a weak credential", 403, posted(text, { authorization: "weak" })],
  ["a gate that fails", 500, posted(text, { authorization: "broken" })],
  ["a foreign host", 403, posted(text, { host: "evil.example.com" })],
  ["another path", 404, { ...posted(text), path: "/elsewhere" }],
  ["another method", 405, { method: "PUT", headers: known }],
  ["an Accept with neither form", 406, posted(text, { accept: "text/html" })],
  ["a body that is too large", 413, posted(`${" ".repeat(2_000)}${text}`)],
  ["another media type", 415, posted(text, { "content-type": "text/plain" })],
  ["a session that is not known", 404, { method: "DELETE", headers: { ...known, ...session } }],
  ["a document of the gate", 200, { method: "GET", path: "/.well-known/thing", headers: {} }],
]

const options: HttpOptions = {
  auth: gate,
  path: "/mcp",
  sessions: true,
  allowedHosts: ["127.0.0.1"],
  limits: { maxBodyBytes: 1_000 },
}

describe.each(doors)("at the door of %s", (_name, openDoor) => {
  const start = async (more: HttpOptions): Promise<OpenDoor> => {
    const door = await openDoor(server, { ...options, ...more })
    open.push(door)
    return door
  }
  const ask = (door: OpenDoor, request: DoorRequest, origin: string | undefined): Promise<Reply> => {
    const headers = { ...request.headers, ...(origin === undefined ? {} : { origin }) }
    return door.send({ ...request, headers })
  }

  describe.each(answers)("%s (%i)", (_what, status, request) => {
    it("is read by a listed page", async () => {
      const reply = await ask(await start({ cors: { origins: [APP] } }), request, APP)
      expect(reply.status).toBe(status)
      expect(reply.headers["access-control-allow-origin"]).toBe(APP)
      expect(reply.headers["access-control-expose-headers"]).toContain("WWW-Authenticate")
      expect(reply.headers.vary).toBe("Origin")
    })

    it("varies by origin where no page asks", async () => {
      const reply = await ask(await start({ cors: { origins: [APP] } }), request, undefined)
      expect(reply.status).toBe(status)
      expect(reply.headers.vary).toBe("Origin")
      expect(reply.headers).not.toHaveProperty("access-control-allow-origin")
    })

    it("has no such header unless that is asked for", async () => {
      const reply = await ask(await start({ allowedOrigins: [APP] }), request, APP)
      expect(reply.status).toBe(status)
      expect(Object.keys(reply.headers).filter((name) => /^(vary|access-control)/.test(name))).toEqual([])
    })

    it("is 403 for every other page, which cannot read that either", async () => {
      const reply = await ask(await start({ cors: { origins: [APP] } }), request, EVIL)
      expect(reply.status).toBe(403)
      expect(reply.headers.vary).toBe("Origin")
      expect(reply.headers).not.toHaveProperty("access-control-allow-origin")
    })
  })

  it("a refusal because the server goes down is read by a listed page, with when to come again", async () => {
    const door = await start({ cors: { origins: [APP] } })
    await door.drain(0)
    const reply = await ask(door, posted(text), APP)
    expect(reply.status).toBe(503)
    expect(reply.headers["access-control-allow-origin"]).toBe(APP)
    expect(reply.headers["access-control-expose-headers"]).toContain("Retry-After")
    expect(reply.headers["retry-after"]).toBeDefined()
  })

  it("the id of a new session is read by a listed page", async () => {
    const door = await start({ cors: { origins: [APP] } })
    const request = { headers: { ...JSON_HEADERS, ...known }, body: JSON.stringify(initializeRequest()) }
    const reply = await ask(door, request, APP)
    expect(reply.headers["mcp-session-id"]).toBeDefined()
    expect(reply.headers["access-control-expose-headers"]).toContain("Mcp-Session-Id")
  })

  describe("a preflight", () => {
    const preflight = (origin: string, headers: string, path = "/mcp"): DoorRequest => ({
      method: "OPTIONS",
      path,
      headers: {
        origin,
        "sec-fetch-site": "cross-site",
        "access-control-request-method": "POST",
        "access-control-request-headers": headers,
      },
    })

    it("is answered before anybody has to say who he is", async () => {
      const door = await start({ cors: { origins: [APP] } })
      const reply = await door.send(preflight(APP, "authorization,content-type,mcp-method,mcp-name,mcp-param-region"))
      expect(reply.status).toBe(204)
      expect(reply.text).toBe("")
      expect(reply.headers).toMatchObject({ "access-control-allow-origin": APP, vary: "Origin" })
      const allowed = String(reply.headers["access-control-allow-headers"]).split(", ")
      for (const name of ["authorization", "content-type", "mcp-method", "mcp-name", "mcp-param-region"]) {
        expect(allowed).toContain(name)
      }
      expect(reply.headers["access-control-allow-methods"]).toBe("GET, POST, DELETE")
    })

    it("is answered for the documents of the gate as well", async () => {
      const door = await start({ cors: { origins: [APP] } })
      const reply = await door.send(preflight(APP, "mcp-protocol-version", "/.well-known/thing"))
      expect(reply.status).toBe(204)
    })

    it("is 403 for a page that is not listed", async () => {
      const door = await start({ cors: { origins: [APP] } })
      const reply = await door.send(preflight(EVIL, "content-type"))
      expect(reply.status).toBe(403)
      expect(reply.headers).not.toHaveProperty("access-control-allow-origin")
      expect(reply.headers).not.toHaveProperty("access-control-allow-headers")
    })

    it("is none without the method that it asks for", async () => {
      const door = await start({ cors: { origins: [APP] } })
      const reply = await door.send({ method: "OPTIONS", headers: { origin: APP, ...known } })
      expect(reply.status).toBe(405)
    })
  })

  it("every page may read where all are listed, and the origin null may not", async () => {
    const door = await start({ cors: { origins: ["*"] } })
    const reply = await ask(door, posted(text), "https://any.example.com")
    expect(reply.headers["access-control-allow-origin"]).toBe("*")
    expect(reply.headers).not.toHaveProperty("access-control-allow-credentials")
    expect((await ask(door, posted(text), "null")).status).toBe(403)
  })

  it("cors: true is for all pages that may call", async () => {
    const door = await start({ cors: true, allowedOrigins: [APP] })
    expect((await ask(door, posted(text), APP)).headers["access-control-allow-origin"]).toBe(APP)
    expect((await ask(door, posted(text), EVIL)).status).toBe(403)
  })

  it("cors: false is the same as nothing", async () => {
    const door = await start({ cors: false, allowedOrigins: [APP] })
    expect((await ask(door, posted(text), APP)).headers).not.toHaveProperty("vary")
  })

  it("a legacy client in a page has what it needs", async () => {
    const door = await start({ cors: { origins: [APP] } })
    const opened = await ask(
      door,
      { headers: { ...JSON_HEADERS, ...known }, body: JSON.stringify(initializeRequest()) },
      APP,
    )
    const headers = {
      ...JSON_HEADERS,
      ...known,
      "mcp-session-id": String(opened.headers["mcp-session-id"]),
      "mcp-protocol-version": "2025-11-25",
    }
    const reply = await ask(
      door,
      { headers, body: JSON.stringify(legacyRequest(2, "tools/call", { name: "hello" })) },
      APP,
    )
    expect(reply.json).toMatchObject({ id: 2, result: { content: [{ text: "hello" }] } })
    expect(reply.headers["access-control-allow-origin"]).toBe(APP)
  })
})

describe("pages of this machine", () => {
  it("may read on a loopback address with cors: true, also where browsers call that another site", async () => {
    const running = await serve(server, { port: 0, cors: true })
    try {
      const headers = { ...JSON_HEADERS, ...modernHeaders(hello), origin: LOCAL, "sec-fetch-site": "cross-site" }
      const reply = await send(running.url, { headers, body: text })
      expect(reply.status).toBe(200)
      expect(reply.headers["access-control-allow-origin"]).toBe(LOCAL)
      const other = await send(running.url, { headers: { ...headers, origin: APP }, body: text })
      expect(other.status).toBe(403)
    } finally {
      await running.close()
    }
  })

  it("may not where others are listed", async () => {
    const running = await serve(server, { port: 0, cors: { origins: [APP] } })
    try {
      const headers = { ...JSON_HEADERS, ...modernHeaders(hello), origin: LOCAL }
      const reply = await send(running.url, { headers, body: text })
      expect(reply.status).toBe(200)
      expect(reply.headers).not.toHaveProperty("access-control-allow-origin")
      const crossing = await send(running.url, { headers: { ...headers, "sec-fetch-site": "cross-site" }, body: text })
      expect(crossing.status).toBe(403)
    } finally {
      await running.close()
    }
  })
})

describe("an option that lets no page read is refused", () => {
  const refusal = expect.toSatisfy((error) => McpError.is(error, "misuse") && error.reason === "invalid_option")

  it("where the address is known, or never local", async () => {
    await expect(serve(server, { port: 0, host: "0.0.0.0", allowUnauthenticated: true, cors: true })).rejects.toEqual(
      refusal,
    )
    expect(() => createFetchHandler(server, { cors: true })).toThrow(refusal)
    expect(() => createFetchHandler(server, { cors: { origins: [] } })).toThrow(refusal)
  })

  it("and is none where connections may be local", () => {
    expect(() => createNodeHandler(server, { cors: true })).not.toThrow()
  })
})
