/** Who may call, and whose session it is: the function that authenticates, and what becomes of its verdict. */
import { type Authenticate, createServer, type Gate, McpError, type Principal, tool } from "conduit-mcp"
import { type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { post, postModern, type Reply, send } from "../support/http.js"
import { createRecordingLogger } from "../support/logger.js"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"

const running: Running[] = []
const calls: (Principal | undefined)[] = []
const gates: (() => void)[] = []
afterEach(async () => {
  calls.length = 0
  gates.length = 0
  for (const one of running.splice(0)) await one.close()
})

async function start(
  auth: Authenticate | Gate | undefined,
  options: ServeOptions = {},
  logger = createRecordingLogger(),
): Promise<string> {
  const tools = [
    tool("who", {}, (_, ctx) => {
      calls.push(ctx.principal)
      return { id: ctx.principal?.id ?? null, scopes: ctx.principal?.scopes ?? [] }
    }),
    tool("wait", {}, () => new Promise<string>((resolve) => gates.push(() => resolve("waited")))),
  ]
  const server = createServer({ name: "test", version: "1.0.0", tools, logger })
  const one = await serve(server, { port: 0, ...(auth === undefined ? {} : { auth }), ...options })
  running.push(one)
  return one.url
}

/** Recognises `Bearer <name>`. */
const byName: Authenticate = ({ header }) => {
  const [scheme, id] = (header("authorization") ?? "").split(" ")
  return scheme === "Bearer" && id !== undefined && id !== "" ? { id } : undefined
}

const as = (name: string): Record<string, string> => ({ authorization: `Bearer ${name}` })

const whoModern = (url: string, headers: Record<string, string>): Promise<Reply> =>
  postModern(url, modernRequest(1, "tools/call", { name: "who" }), headers)

const whoLegacy = (url: string, headers: Record<string, string>): Promise<Reply> =>
  post(url, legacyRequest(1, "tools/call", { name: "who" }), headers)

/** Opens a session as somebody; the headers that name it, without the credentials. */
async function sessionOf(url: string, headers: Record<string, string>): Promise<Record<string, string>> {
  const reply = await post(url, initializeRequest(1), headers)
  return { "mcp-session-id": String(reply.headers["mcp-session-id"]), "mcp-protocol-version": "2025-11-25" }
}

describe("a caller who is recognised", () => {
  it.each<[what: string, auth: Authenticate]>([
    ["at once", byName],
    ["later", async (facts) => byName(facts)],
  ])("reaches handlers as the principal, in both eras (%s)", async (_, auth) => {
    const url = await start(auth)
    expect((await whoModern(url, as("ada"))).json).toMatchObject({ result: { structuredContent: { id: "ada" } } })
    const session = await sessionOf(url, as("ada"))
    expect((await whoLegacy(url, { ...session, ...as("ada") })).json).toMatchObject({
      result: { structuredContent: { id: "ada" } },
    })
  })

  it("is looked at anew with every request: nothing of one reaches another", async () => {
    const url = await start(byName)
    const names = Array.from({ length: 20 }, (_, index) => `user-${index}`)
    const replies = await Promise.all(names.map((name) => whoModern(url, as(name))))
    expect(replies.map(({ json }) => (json["result"] as { structuredContent: Json }).structuredContent["id"])).toEqual(
      names,
    )
  })

  it("sees the request's method and path, and headers by their lower-case name", async () => {
    const seen: unknown[] = []
    const url = await start(({ method, path, header }) => {
      seen.push([method, path, header("x-key"), header("x-absent")])
      return { id: "ada" }
    })
    await whoModern(url, { "X-Key": "value" })
    await send(`${url}?query=1`, { method: "GET" })
    expect(seen).toEqual([
      ["POST", "/mcp", "value", undefined],
      ["GET", "/mcp", undefined, undefined],
    ])
  })
})

describe("a caller who is not recognised", () => {
  it.each<[what: string, auth: Authenticate]>([
    ["at once", () => undefined],
    ["later", async () => undefined],
    ["as null", (() => null) as never],
  ])("is told so with 401 and a challenge, and runs nothing (%s)", async (_, auth) => {
    const url = await start(auth)
    const replies = [
      await whoModern(url, {}),
      await post(url, initializeRequest(1)),
      await send(url, { method: "GET", headers: { accept: "text/event-stream" } }),
      await send(url, { method: "DELETE", headers: { "mcp-session-id": "any" } }),
      await send(url, { method: "PUT" }),
      await send(url, { body: "this is no JSON", headers: { "content-type": "application/json" } }),
    ]
    for (const reply of replies) {
      expect(reply.status).toBe(401)
      expect(reply.headers["www-authenticate"]).toMatch(/^Bearer/)
      expect(reply.json).toMatchObject({ error: { code: -32600, data: { reason: "unauthenticated" } } })
      expect(reply.json).not.toHaveProperty("id")
    }
    expect(calls).toEqual([])
  })
})

describe("an authentication that fails itself", () => {
  it.each<[what: string, auth: unknown]>([
    [
      "throws",
      () => {
        throw new Error("secret detail")
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret detail"))],
    [
      "rejects with nothing at all",
      () => {
        return Promise.reject(undefined)
      },
    ],
    ["gives true", () => true],
    ["gives a text", () => "ada"],
    ["gives nobody's name", () => ({})],
    ["gives an empty name", () => ({ id: "" })],
    ["gives a number for a name", async () => ({ id: 7 })],
    [
      "is a gate that throws",
      {
        check: () => {
          throw new Error("secret detail")
        },
      },
    ],
    ["is a gate that rejects", { check: () => Promise.reject(new Error("secret detail")) }],
  ])("admits nobody: 500 when it %s", async (_, auth) => {
    const logger = createRecordingLogger()
    const url = await start(auth as Authenticate, {}, logger)
    const reply = await whoModern(url, as("ada"))
    expect(reply.status).toBe(500)
    expect(reply.json).toMatchObject({ error: { code: -32603, data: { reason: "internal_error" } } })
    expect(reply.text).not.toContain("secret detail")
    expect(calls).toEqual([])
  })

  it("tells the log why", async () => {
    const logger = createRecordingLogger()
    const cause = new Error("the key server is down")
    const url = await start(() => Promise.reject(cause), {}, logger)
    await whoModern(url, as("ada"))
    expect(logger.lines).toMatchObject([{ level: "error" }])
    expect(logger.lines[0]?.fields?.["error"]).toBe(cause)
  })
})

describe("a gate", () => {
  it.each<[status: 400 | 401 | 403, code: number]>([
    [400, -32600],
    [401, -32600],
    [403, -32600],
  ])("may refuse with %d and words of its own", async (status, code) => {
    const challenge = 'Bearer error="insufficient_scope", scope="tools"'
    const url = await start({
      check: () => ({ ok: false, status, challenge, reason: "forbidden", message: "needs the scope tools" }),
    })
    const reply = await whoModern(url, {})
    expect(reply.status).toBe(status)
    expect(reply.headers["www-authenticate"]).toBe(challenge)
    expect(reply.json).toMatchObject({
      error: { code, message: "needs the scope tools", data: { reason: "forbidden" } },
    })
    expect(calls).toEqual([])
  })

  it("may admit nobody in particular", async () => {
    const url = await start({ check: () => ({ ok: true, principal: undefined }) })
    expect((await whoModern(url, {})).json).toMatchObject({ result: { structuredContent: { id: null } } })
  })

  it("does not see a request that its guard refuses", async () => {
    let asked = 0
    const url = await start(() => {
      asked++
      return { id: "ada" }
    })
    expect((await whoModern(url, { origin: "https://evil.example" })).status).toBe(403)
    expect((await whoModern(url, { host: "evil.example" })).status).toBe(403)
    expect(asked).toBe(0)
  })
})

describe("a session of somebody else", () => {
  const parts: Authenticate = ({ header }) => JSON.parse(header("x-principal") ?? "null") as Principal | undefined
  const being = (principal: Json): Record<string, string> => ({ "x-principal": JSON.stringify(principal) })
  const owner = { id: "ada", issuer: "https://one.example", clientId: "app", strategy: "jwt" }

  it.each<[what: string, other: Json]>([
    ["another id", { ...owner, id: "eve" }],
    ["the same id of another issuer", { ...owner, issuer: "https://two.example" }],
    ["the same id of no issuer", { id: "ada", clientId: "app", strategy: "jwt" }],
    ["the same user in another client", { ...owner, clientId: "other" }],
    ["the same id by another strategy", { ...owner, strategy: "key" }],
  ])("is not there for %s, and is untouched", async (_, other) => {
    const url = await start(parts)
    const session = await sessionOf(url, being(owner))
    const mine = { ...session, ...being(owner) }
    const theirs = { ...session, ...being(other) }
    const waiting = post(url, legacyRequest(9, "tools/call", { name: "wait" }), mine)
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)

    const attempts = [
      await whoLegacy(url, theirs),
      await post(url, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 9 } }, theirs),
      await post(url, { jsonrpc: "2.0", id: 1, result: {} }, theirs),
      await post(url, legacyRequest(1, "logging/setLevel", { level: "debug" }), theirs),
      await post(url, initializeRequest(1), theirs),
      await send(url, { method: "GET", headers: { ...theirs, accept: "text/event-stream" } }),
      await send(url, { method: "DELETE", headers: theirs }),
    ]
    const unknown = await whoLegacy(url, { ...theirs, "mcp-session-id": "unknown" })
    for (const reply of attempts) {
      expect(reply.status).toBe(404)
      expect(reply.json["error"]).toEqual(unknown.json["error"])
    }
    expect(calls).toEqual([])
    gates[0]?.()
    expect((await waiting).json).toMatchObject({ id: 9, result: { content: [{ text: "waited" }] } })
    expect((await whoLegacy(url, mine)).json).toMatchObject({ result: { structuredContent: { id: "ada" } } })
  })

  it("is nobody's when nobody opened it, and then not for somebody", async () => {
    const gate: Gate = {
      check: ({ header }) => {
        const id = header("x-id")
        return { ok: true, principal: id === undefined ? undefined : { id } }
      },
    }
    const url = await start(gate)
    const nobodys = await sessionOf(url, {})
    expect((await whoLegacy(url, nobodys)).status).toBe(200)
    expect((await whoLegacy(url, { ...nobodys, "x-id": "eve" })).status).toBe(404)
    const adas = await sessionOf(url, { "x-id": "ada" })
    expect((await whoLegacy(url, { ...adas, "x-id": "ada" })).status).toBe(200)
    expect((await whoLegacy(url, adas)).status).toBe(404)
  })

  it("stays one's own when the scopes and claims of a new token differ", async () => {
    const url = await start(parts)
    const session = await sessionOf(url, being({ ...owner, scopes: ["read"], claims: { exp: 1 } }))
    const reply = await whoLegacy(url, { ...session, ...being({ ...owner, scopes: ["write"], claims: { exp: 2 } }) })
    expect(reply.json).toMatchObject({ result: { structuredContent: { id: "ada", scopes: ["write"] } } })
  })

  it("is found by no other node for somebody else either", async () => {
    const values = new Map<string, string>()
    const store = {
      get: (key: string) => (values.has(key) ? { value: values.get(key) ?? "", version: "1" } : undefined),
      set: (key: string, value: string) => values.set(key, value).has(key),
      delete: (key: string) => values.delete(key),
    }
    const [one, two] = [await start(parts, { store }), await start(parts, { store })]
    const session = await sessionOf(one, being({ ...owner, claims: { token: "secret detail" }, scopes: ["read"] }))
    expect((await whoLegacy(two, { ...session, ...being({ ...owner, id: "eve" }) })).status).toBe(404)
    expect((await whoLegacy(two, { ...session, ...being(owner) })).status).toBe(200)
    expect([...values.values()].join()).not.toContain("secret detail")
  })

  it("opens whatever the claims hold", async () => {
    const url = await start(() => ({ id: "ada", claims: { big: 1n } }))
    expect((await whoLegacy(url, await sessionOf(url, {}))).status).toBe(200)
  })
})

describe("an address that others can reach", () => {
  const bind = async (options: ServeOptions): Promise<unknown> => {
    const server = createServer({ name: "test", version: "1.0.0" })
    try {
      const one = await serve(server, { port: 0, ...options })
      running.push(one)
      return one.address.address
    } catch (error) {
      return McpError.is(error, "misuse") ? error.reason : error
    }
  }

  it.each(["0.0.0.0", "::", "::0"])("is not bound without authentication: %s", async (host) => {
    expect(await bind({ host })).toBe("unsafe_bind")
    expect(await bind({ host, allowUnauthenticated: false })).toBe("unsafe_bind")
  })

  it("is bound with authentication, or when that is asked for", async () => {
    expect(await bind({ host: "0.0.0.0", auth: byName })).toBe("0.0.0.0")
    expect(await bind({ host: "0.0.0.0", allowUnauthenticated: true, ephemeralState: true })).toBe("0.0.0.0")
  })

  it.each([undefined, "127.0.0.1", "localhost"])("is none of %s, which needs nothing", async (host) => {
    expect(await bind(host === undefined ? {} : { host })).toMatch(/^(127\.0\.0\.1|::1)$/)
  })
})
