/** Legacy sessions: how they begin, how long they last, how many there may be, and the store behind them. */
import { createServer, type Store, tool } from "conduit-mcp"
import { type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { createManualClock } from "../support/clock.js"
import { openSession, post, postModern, type Reply, send } from "../support/http.js"
import { createRecordingLogger } from "../support/logger.js"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"

const MINUTE_MS = 60_000

const gates: (() => void)[] = []
const running: Running[] = []
afterEach(async () => {
  gates.length = 0
  for (const one of running.splice(0)) await one.close()
})

/** A server that tells who it thinks is calling. */
function createSubject(logger = createRecordingLogger()) {
  const tools = [
    tool("who", {}, (_, ctx) => ({ revision: ctx.revision, client: ctx.client.info, roots: ctx.client.can("roots") })),
    tool("wait", {}, () => new Promise<string>((resolve) => gates.push(() => resolve("waited")))),
    tool("speak", {}, (_, ctx) => {
      ctx.log.debug("debug")
      return "spoken"
    }),
  ]
  return createServer({ name: "test", version: "1.0.0", tools, logger })
}

async function start(options: ServeOptions = {}, server = createSubject()): Promise<string> {
  const one = await serve(server, { port: 0, ...options })
  running.push(one)
  return one.url
}

const call = (url: string, name: string, session: Record<string, string>, id: string | number = 1): Promise<Reply> =>
  post(url, legacyRequest(id, "tools/call", { name }), session)

const ping = (url: string, session: Record<string, string>): Promise<Reply> =>
  post(url, legacyRequest(1, "ping"), session)

/** A store in a map of its own, in which every answer comes later. */
function createSlowStore(): Store & {
  readonly values: Map<string, string>
  readonly sets: { key: string; ttlMs: number | undefined }[]
} {
  const values = new Map<string, string>()
  const sets: { key: string; ttlMs: number | undefined }[] = []
  const later = async <T>(give: () => T): Promise<T> => {
    await new Promise((resolve) => setImmediate(resolve))
    return give()
  }
  return {
    values,
    sets,
    get: (key) =>
      later(() => {
        const value = values.get(key)
        return value === undefined ? undefined : { value, version: "1" }
      }),
    set: (key, value, options = {}) =>
      later(() => {
        if (options.if === "absent" && values.has(key)) return false
        sets.push({ key, ttlMs: options.ttlMs })
        values.set(key, value)
        return true
      }),
    delete: (key) => later(() => values.delete(key)),
  }
}

describe("a session", () => {
  it("begins with initialize, which names it in 128 random bits or more of visible ASCII", async () => {
    const url = await start()
    const ids = new Set<string>()
    for (let round = 0; round < 20; round++) {
      const reply = await post(url, initializeRequest(round))
      expect(reply.status).toBe(200)
      const id = String(reply.headers["mcp-session-id"])
      expect(id).toMatch(/^[\x21-\x7e]{22,}$/)
      ids.add(id)
    }
    expect(ids.size).toBe(20)
  })

  it("remembers what its initialize said, for every call in it", async () => {
    const url = await start()
    const opened = await post(url, initializeRequest(1, "2025-06-18", { roots: {} }))
    const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) }
    for (const headers of [
      session,
      { ...session, "mcp-protocol-version": "2025-06-18" },
      { ...session, "mcp-protocol-version": "2025-11-25" },
    ]) {
      const { json } = await call(url, "who", headers)
      const client = { name: "test", version: "1.0.0" }
      expect(json).toMatchObject({ result: { structuredContent: { revision: "2025-06-18", client, roots: true } } })
    }
  })

  it("is named by nothing but the answer to initialize", async () => {
    const url = await start()
    const session = await openSession(url)
    expect((await ping(url, session)).headers).not.toHaveProperty("mcp-session-id")
    const refused = await post(url, legacyRequest(1, "initialize", { protocolVersion: 5 }))
    expect(refused.json).toMatchObject({ error: { code: -32602 } })
    expect(refused.headers).not.toHaveProperty("mcp-session-id")
    const modern = await postModern(url, modernRequest(1, "tools/list"))
    expect(modern.headers).not.toHaveProperty("mcp-session-id")
  })

  it("is not looked at on a modern request", async () => {
    const url = await start()
    for (const id of ["dead", (await openSession(url))["mcp-session-id"] ?? ""]) {
      const reply = await postModern(url, modernRequest(1, "tools/list"), { "mcp-session-id": id })
      expect(reply.status).toBe(200)
    }
  })

  it("is initialized once", async () => {
    const url = await start()
    const session = await openSession(url)
    const again = await post(url, initializeRequest(9, "2025-06-18", { roots: {} }), session)
    expect(again.status).toBe(400)
    expect(again.json).toMatchObject({ id: 9, error: { code: -32600, data: { reason: "already_initialized" } } })
    expect((await call(url, "who", session)).json).toMatchObject({
      result: { structuredContent: { revision: "2025-11-25", roots: false } },
    })
  })

  it("ends with DELETE, and what runs in it is aborted", async () => {
    const url = await start()
    const session = await openSession(url)
    const waiting = call(url, "wait", session, 5)
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)
    const ended = await send(url, { method: "DELETE", headers: session })
    expect([ended.status, ended.text]).toEqual([204, ""])
    expect((await waiting).messages).toEqual([])
    for (const reply of [await ping(url, session), await send(url, { method: "DELETE", headers: session })]) {
      expect(reply.status).toBe(404)
      expect(reply.json).toMatchObject({ error: { code: -32001, data: { reason: "session_not_found" } } })
    }
  })
})

describe("a session that is not there", () => {
  it.each([
    ["a request", legacyRequest(3, "tools/list"), 3],
    ["a request with the id zero", legacyRequest(0, "tools/list"), 0],
    ["an initialize", initializeRequest(4), 4],
    ["a notification", { jsonrpc: "2.0", method: "notifications/initialized" }, undefined],
    ["a response", { jsonrpc: "2.0", id: 5, result: {} }, undefined],
  ])("is 404 before any stream opens, for %s", async (_, message, id) => {
    const url = await start()
    const reply = await post(url, message, { "mcp-session-id": "dead", "mcp-protocol-version": "2025-11-25" })
    expect(reply.status).toBe(404)
    expect(reply.headers["content-type"]).toBe("application/json")
    expect(reply.json).toMatchObject({ error: { code: -32001, data: { reason: "session_not_found" } } })
    if (id !== undefined) expect(reply.json["id"]).toBe(id)
  })

  it.each(["__proto__", "constructor", "toString", " ", "a".repeat(8_000)])(
    "is not found by an odd name: %s",
    async (name) => {
      const url = await start()
      const reply = await post(url, legacyRequest(1, "ping"), {
        "mcp-session-id": name,
        "mcp-protocol-version": "2025-11-25",
      })
      expect([400, 404]).toContain(reply.status)
    },
  )

  it("is 400 when a request that needs one names none", async () => {
    const url = await start()
    const reply = await post(url, legacyRequest(3, "tools/list"), { "mcp-protocol-version": "2025-11-25" })
    expect(reply.status).toBe(400)
    expect(reply.json).toMatchObject({ id: 3, error: { code: -32600, data: { reason: "no_session" } } })
  })

  it("is 404 for GET and DELETE that name it, and 405 for those that name none", async () => {
    const url = await start()
    for (const method of ["GET", "DELETE"]) {
      const headers = { accept: "text/event-stream" }
      const dead = await send(url, { method, headers: { ...headers, "mcp-session-id": "dead" } })
      expect([method, dead.status]).toEqual([method, 404])
      const none = await send(url, { method, headers })
      expect([method, none.status]).toEqual([method, 405])
      expect(none.headers.allow).toContain("POST")
      const modern = await send(url, {
        method,
        headers: { ...headers, "mcp-protocol-version": "2026-07-28", "mcp-session-id": "dead" },
      })
      expect([method, modern.status, modern.headers.allow]).toEqual([method, 405, "POST"])
    }
  })

  it("takes no room", async () => {
    const url = await start({ limits: { maxSessions: 1 } })
    for (let round = 0; round < 50; round++) {
      await post(url, legacyRequest(1, "ping"), {
        "mcp-session-id": `dead-${round}`,
        "mcp-protocol-version": "2025-11-25",
      })
    }
    expect((await ping(url, await openSession(url))).json).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
  })
})

describe("the ids of a session", () => {
  it("are taken while they are in flight: the newcomer is refused, the first completes", async () => {
    const url = await start()
    const session = await openSession(url)
    const first = call(url, "wait", session, 1)
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)
    const second = await call(url, "who", session, 1)
    expect(second.status).toBe(400)
    expect(second.json).toMatchObject({ id: 1, error: { code: -32600, data: { reason: "duplicate_request_id" } } })
    expect((await call(url, "who", session, "1")).status).toBe(200)
    gates[0]?.()
    expect((await first).json).toMatchObject({ id: 1, result: { content: [{ text: "waited" }] } })
    expect((await call(url, "who", session, 1)).status).toBe(200)
  })

  it("are nobody else's business", async () => {
    const url = await start()
    const [one, two] = [await openSession(url), await openSession(url)]
    const waiting = call(url, "wait", one, 1)
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)
    expect((await call(url, "who", two, 1)).status).toBe(200)
    gates[0]?.()
    expect((await waiting).json).toMatchObject({ id: 1, result: { content: [{ text: "waited" }] } })
  })
})

describe("an idle session", () => {
  const sessionIdleMs = 30 * MINUTE_MS

  it("is gone after thirty minutes, and not a moment before", async () => {
    const clock = createManualClock()
    const url = await start({ clock })
    const session = await openSession(url)
    clock.advance(sessionIdleMs - 1)
    expect((await ping(url, session)).status).toBe(200)
    clock.advance(sessionIdleMs - 1)
    expect((await ping(url, session)).status).toBe(200)
    clock.advance(sessionIdleMs)
    expect((await ping(url, session)).status).toBe(404)
  })

  it("is gone after the time that the server sets", async () => {
    const clock = createManualClock()
    const url = await start({ clock, limits: { sessionIdleMs: 1_000 } })
    const session = await openSession(url)
    clock.advance(1_000)
    expect((await ping(url, session)).status).toBe(404)
  })

  it("is none while a request runs in it, and not at once after it", async () => {
    const clock = createManualClock()
    const idleMs = MINUTE_MS
    const url = await start({ clock, limits: { sessionIdleMs: idleMs } })
    const session = await openSession(url)
    const waiting = call(url, "wait", session)
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)
    clock.advance(2 * idleMs)
    expect((await call(url, "who", session, 2)).status).toBe(200)
    clock.advance(2 * idleMs)
    gates[0]?.()
    expect((await waiting).json).toMatchObject({ result: { content: [{ text: "waited" }] } })
    clock.advance(idleMs - 1)
    expect((await ping(url, session)).status).toBe(200)
  })

  it("makes room, and leaves nothing behind that waits", async () => {
    const clock = createManualClock()
    const url = await start({ clock, limits: { maxSessions: 3 } })
    for (let round = 0; round < 3; round++) await openSession(url)
    expect((await post(url, initializeRequest(1))).status).toBe(503)
    clock.advance(sessionIdleMs)
    for (let round = 0; round < 3; round++) expect((await post(url, initializeRequest(1))).status).toBe(200)
    for (let round = 0; round < 10; round++) clock.advance(sessionIdleMs)
    expect(clock.waiting).toBe(0)
  })
})

describe("a server that is full of sessions", () => {
  it("refuses one more with 503 and a word when to come back, and serves those that it has", async () => {
    const url = await start({ limits: { maxSessions: 2 } })
    const sessions = [await openSession(url), await openSession(url)]
    const refused = await post(url, initializeRequest(7))
    expect(refused.status).toBe(503)
    expect(refused.headers["retry-after"]).toMatch(/^\d+$/)
    expect(refused.headers).not.toHaveProperty("mcp-session-id")
    expect(refused.json).toMatchObject({ id: 7, error: { code: -32603, data: { reason: "overloaded" } } })
    for (const session of sessions) expect((await ping(url, session)).status).toBe(200)
    expect((await postModern(url, modernRequest(1, "tools/list"))).status).toBe(200)
    await send(url, { method: "DELETE", headers: sessions[0] ?? {} })
    expect((await post(url, initializeRequest(8))).status).toBe(200)
  })

  it("gives one caller no more than its share, and idle ones back", async () => {
    const clock = createManualClock()
    const auth: ServeOptions["auth"] = ({ header }) => ({ id: header("authorization") ?? "nobody" })
    const url = await start({ clock, auth, limits: { maxSessionsPerPrincipal: 2 } })
    const opened = (authorization: string): Promise<Reply> => post(url, initializeRequest(1), { authorization })
    for (let round = 0; round < 2; round++) expect((await opened("ada")).status).toBe(200)
    expect((await opened("ada")).status).toBe(503)
    expect((await opened("bob")).status).toBe(200)
    clock.advance(30 * MINUTE_MS)
    expect((await opened("ada")).status).toBe(200)
  })

  it("counts no share where nobody says who calls", async () => {
    const url = await start({ limits: { maxSessionsPerPrincipal: 1 } })
    for (let round = 0; round < 3; round++) expect((await post(url, initializeRequest(1))).status).toBe(200)
  })

  it("keeps no more of a client than the limit, and no icons", async () => {
    const url = await start({ limits: { maxSessionBytes: 1_000 } })
    const initialize = (clientInfo: Json, capabilities: Json = {}): Json => {
      const message = initializeRequest(1, "2025-11-25", capabilities)
      return { ...message, params: { ...(message["params"] as Json), clientInfo } }
    }
    const plain = { name: "test", version: "1" }
    const large = await post(url, initialize(plain, { experimental: { x: "x".repeat(2_000) } }))
    expect(large.json).toMatchObject({
      error: { code: -32602, message: expect.stringContaining("limits.maxSessionBytes") },
    })
    expect(large.headers).not.toHaveProperty("mcp-session-id")
    const icons = [{ src: `data:image/png;base64,${"x".repeat(10_000)}` }]
    const opened = await post(url, initialize({ ...plain, icons }))
    expect(opened.json).toHaveProperty("result")
    const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]), "mcp-protocol-version": "2025-11-25" }
    expect((await call(url, "who", session)).json).toMatchObject({ result: { structuredContent: { client: plain } } })
  })

  it("starts no timer for each refusal", async () => {
    const clock = createManualClock()
    const url = await start({ clock, limits: { maxSessions: 1 } })
    await openSession(url)
    const before = clock.waiting
    for (let round = 0; round < 20; round++) expect((await post(url, initializeRequest(round))).status).toBe(503)
    expect(clock.waiting).toBe(before)
  })

  it("counts those that are just being opened", async () => {
    const url = await start({ store: createSlowStore(), limits: { maxSessions: 2 } })
    const replies = await Promise.all(Array.from({ length: 8 }, (_, id) => post(url, initializeRequest(id))))
    expect(replies.map(({ status }) => status).sort()).toEqual([200, 200, 503, 503, 503, 503, 503, 503])
  })
})

describe("too many requests at once", () => {
  it("are refused with 503, the others complete", async () => {
    const url = await start({ limits: { maxInFlight: 2 } })
    const session = await openSession(url)
    const waiting = [1, 2].map((id) => call(url, "wait", session, id))
    await expect.poll(() => gates.length, { interval: 1 }).toBe(2)
    for (const reply of [await call(url, "who", session, 3), await postModern(url, modernRequest(3, "tools/list"))]) {
      expect(reply.status).toBe(503)
      expect(reply.headers["retry-after"]).toMatch(/^\d+$/)
      expect(reply.json).toMatchObject({ id: 3, error: { code: -32603, data: { reason: "overloaded" } } })
    }
    for (const open of gates) open()
    for (const reply of await Promise.all(waiting)) expect(reply.status).toBe(200)
    expect((await call(url, "who", session, 3)).status).toBe(200)
  })

  it("of one session leave the others alone", async () => {
    const url = await start({ limits: { maxInFlightPerPeer: 1 } })
    const [busy, other] = [await openSession(url), await openSession(url)]
    const waiting = call(url, "wait", busy, 1)
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)
    expect((await call(url, "who", busy, 2)).status).toBe(503)
    expect((await call(url, "who", other, 2)).status).toBe(200)
    gates[0]?.()
    await waiting
  })
})

describe("the store behind sessions", () => {
  it("carries a session from one node to another", async () => {
    const store = createSlowStore()
    const [one, two] = [await start({ store }), await start({ store })]
    const opened = await post(one, initializeRequest(1, "2025-06-18", { roots: {} }))
    const session = { "mcp-session-id": String(opened.headers["mcp-session-id"]) }
    expect((await call(two, "who", session)).json).toMatchObject({
      result: {
        structuredContent: { revision: "2025-06-18", client: { name: "test", version: "1.0.0" }, roots: true },
      },
    })
    await post(one, legacyRequest(2, "logging/setLevel", { level: "debug" }), session)
    const three = await start({ store })
    expect((await call(three, "speak", session)).messages).toHaveLength(2)
    expect((await send(two, { method: "DELETE", headers: session })).status).toBe(204)
    expect((await ping(await start({ store }), session)).status).toBe(404)
  })

  it("makes one session of several messages that ask for it at once", async () => {
    const store = createSlowStore()
    const session = await openSession(await start({ store }))
    const url = await start({ store })
    const waiting = [call(url, "wait", session, 1), call(url, "wait", session, 1), call(url, "wait", session, 1)]
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)
    await ping(url, session)
    expect(gates).toHaveLength(1)
    gates[0]?.()
    const statuses = (await Promise.all(waiting)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([200, 400, 400])
  })

  it("is told how long to keep a session, and again as long as it is used", async () => {
    const clock = createManualClock()
    const store = createSlowStore()
    const url = await start({ store, clock })
    const session = await openSession(url)
    expect(store.sets).toEqual([
      { key: expect.stringContaining(session["mcp-session-id"] ?? "?"), ttlMs: 30 * MINUTE_MS },
    ])
    for (let minute = 0; minute < 30; minute++) {
      clock.advance(MINUTE_MS)
      await ping(url, session)
    }
    expect(store.sets.length).toBeGreaterThanOrEqual(4)
    expect(store.sets.length).toBeLessThan(10)
    expect(new Set(store.sets.map(({ ttlMs }) => ttlMs))).toEqual(new Set([30 * MINUTE_MS]))
  })

  it("finds a session that this node let go while another one used it", async () => {
    const clock = createManualClock()
    const store = createSlowStore()
    const url = await start({ store, clock })
    const session = await openSession(url)
    clock.advance(30 * MINUTE_MS)
    expect((await ping(url, session)).status).toBe(200)
  })

  it.each<[what: string, value: string]>([
    ["no JSON", "{"],
    ["no object", "null"],
    ["no version", "{}"],
    ["a version of another release", '{"version":"2031-01-01","capabilities":{}}'],
    ["a modern version", '{"version":"2026-07-28","capabilities":{}}'],
    ["no capabilities", '{"version":"2025-11-25"}'],
  ])("is not believed when it holds %s", async (_, value) => {
    const store = createSlowStore()
    const url = await start({ store })
    store.values.set("session:forged", value)
    expect((await ping(url, { "mcp-session-id": "forged", "mcp-protocol-version": "2025-11-25" })).status).toBe(404)
  })

  it.each<[what: string, fail: () => never | Promise<never>]>([
    [
      "throws",
      () => {
        throw new Error("secret detail")
      },
    ],
    ["rejects", () => Promise.reject(new Error("secret detail"))],
  ])("is an internal error when it %s, and modern clients do not notice", async (_, fail) => {
    const logger = createRecordingLogger()
    const url = await start({ store: { get: fail, set: fail, delete: fail } }, createSubject(logger))
    const headers = { "mcp-session-id": "any", "mcp-protocol-version": "2025-11-25" }
    const replies = [
      await post(url, initializeRequest(1)),
      await post(url, legacyRequest(1, "ping"), headers),
      await post(url, { jsonrpc: "2.0", id: 7, result: {} }, headers),
      await send(url, { method: "DELETE", headers }),
      await send(url, { method: "GET", headers: { ...headers, accept: "text/event-stream" } }),
    ]
    for (const reply of replies) {
      expect(reply.status).toBe(500)
      expect(reply.json).toMatchObject({ error: { code: -32603, data: { reason: "internal_error" } } })
      expect(reply.text).not.toContain("secret detail")
      const { reference } = (reply.json["error"] as { data: { reference: string } }).data
      expect(logger.lines.map(({ fields }) => fields?.["reference"])).toContain(reference)
    }
    expect(replies.map(({ json }) => json["id"])).toEqual([1, 1, undefined, undefined, undefined])
    expect((await postModern(url, modernRequest(1, "tools/list"))).status).toBe(200)
  })

  it.each<[what: string, set: () => Promise<boolean> | boolean]>([
    [
      "throws",
      () => {
        throw new Error("full")
      },
    ],
    ["rejects", () => Promise.reject(new Error("full"))],
  ])("keeps nobody from working when a later write %s", async (_, set) => {
    const logger = createRecordingLogger()
    const memory = createSlowStore()
    let failing = false
    const store: Store = { ...memory, set: (...write) => (failing ? set() : memory.set(...write)) }
    const url = await start({ store }, createSubject(logger))
    const session = await openSession(url)
    failing = true
    expect((await post(url, legacyRequest(1, "logging/setLevel", { level: "debug" }), session)).json).toMatchObject({
      result: {},
    })
    expect((await call(url, "speak", session)).messages).toHaveLength(2)
    expect(logger.lines).toMatchObject([{ level: "error" }])
  })

  it("opens no session that it did not write", async () => {
    const memory = createSlowStore()
    const url = await start({ store: { ...memory, set: () => false } })
    expect((await post(url, initializeRequest(1))).status).toBe(503)
  })
})

describe("a server without sessions", () => {
  const headers = { "mcp-protocol-version": "2025-06-18" }

  it("names none, and serves each request by itself in the version of its header", async () => {
    const url = await start({ sessions: false })
    const opened = await post(url, initializeRequest(1, "2025-06-18"))
    expect(opened.status).toBe(200)
    expect(opened.headers).not.toHaveProperty("mcp-session-id")
    const { json } = await call(url, "who", headers)
    expect(json).toMatchObject({ result: { structuredContent: { revision: "2025-06-18", roots: false } } })
    const initialized = await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, headers)
    expect([initialized.status, initialized.text]).toEqual([202, ""])
    expect((await ping(url, headers)).json).toEqual({ jsonrpc: "2.0", id: 1, result: {} })
  })

  it("compares no ids", async () => {
    const url = await start({ sessions: false })
    const waiting = [call(url, "wait", headers, 1), call(url, "wait", headers, 1)]
    await expect.poll(() => gates.length, { interval: 1 }).toBe(2)
    for (const open of gates) open()
    for (const reply of await Promise.all(waiting)) expect(reply.json).toMatchObject({ id: 1, result: {} })
  })

  it("declares nothing that needs one", async () => {
    const url = await start({ sessions: false })
    const { json } = await post(url, initializeRequest(1))
    expect((json["result"] as { capabilities: Json }).capabilities).toEqual({ tools: {} })
    const refused = await post(url, legacyRequest(1, "logging/setLevel", { level: "debug" }), headers)
    expect(refused.status).toBe(200)
    expect(refused.json).toMatchObject({ error: { code: -32601 } })
    expect((await post(url, legacyRequest(1, "resources/subscribe", { uri: "a:b" }), headers)).json).toMatchObject({
      error: { code: -32601 },
    })
  })

  it.each(["GET", "DELETE"])("has nothing for %s", async (method) => {
    const url = await start({ sessions: false })
    for (const more of [{}, { "mcp-session-id": "any" }]) {
      const reply = await send(url, { method, headers: { ...headers, ...more, accept: "text/event-stream" } })
      expect([reply.status, reply.headers.allow]).toEqual([405, "POST"])
    }
  })
})
