/** The fetch handler in detail, called directly. What holds on every runtime is in `test/runtimes`. */
import { getEventListeners } from "node:events"
import { createServer, type Gate, type Server, tool } from "conduit-mcp"
import { createFetchHandler, type FetchHandler, type FetchOptions } from "conduit-mcp/fetch"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { z } from "zod"
import { createManualClock } from "../support/clock.js"
import { initializeRequest, type Json, legacyRequest, modernHeaders, modernRequest } from "../support/wire.js"

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** What the tool `wait` is told, and what it tells. */
let waiting: { readonly signal: AbortSignal; readonly progress: () => void; readonly finish: () => void }
let started = deferred()
/** How many events the tool `flood` has sent. */
let sent = 0

function deferred() {
  let resolve: () => void = () => undefined
  const promise = new Promise<void>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

const server = createServer({
  name: "fetch",
  version: "1.0.0",
  logger: quiet,
  tools: [
    tool("hello", {}, () => "hello"),
    tool("wait", { input: z.object({ progress: z.boolean() }) }, async ({ progress }, ctx) => {
      if (progress) ctx.progress(1)
      const end = deferred()
      const { signal } = ctx
      waiting = { signal, progress: () => ctx.progress(2), finish: end.resolve }
      started.resolve()
      await end.promise
      return "waited"
    }),
    tool("late", {}, async (_, ctx) => {
      const end = deferred()
      ctx.progress(1)
      waiting = {
        get signal() {
          return ctx.signal
        },
        progress: () => ctx.progress(2),
        finish: end.resolve,
      }
      started.resolve()
      await end.promise
      return "waited"
    }),
    tool("flood", {}, async (_, ctx) => {
      for (sent = 0; sent < 1_000; sent++) {
        ctx.progress(sent + 1, 1_000, "x".repeat(1_000))
        await ctx.flush()
      }
      return "flooded"
    }),
  ],
})

afterEach(() => {
  started = deferred()
  vi.unstubAllGlobals()
  vi.useRealTimers()
})

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" }

function post(body: RequestInit["body"], headers: Record<string, string> = {}, init: RequestInit = {}): Request {
  return new Request("http://mcp.example/mcp", {
    method: "POST",
    headers: { ...JSON_HEADERS, ...headers },
    body: body ?? null,
    ...init,
  })
}

function modern(message: Json, init?: RequestInit): Request {
  return post(JSON.stringify(message), modernHeaders(message), init)
}

function call(name: string, args: Json = {}, init?: RequestInit): Request {
  return modern(modernRequest("call", "tools/call", { name, arguments: args, _meta: { progressToken: "p" } }), init)
}

function legacy(message: Json, headers: Record<string, string> = {}): Request {
  return post(JSON.stringify(message), { "mcp-protocol-version": "2025-11-25", ...headers })
}

/** A request whose body is this stream. */
function streamed(body: ReadableStream<Uint8Array>): Request {
  return post(body, {}, { duplex: "half" } as RequestInit)
}

async function reasonOf(response: Response): Promise<unknown> {
  const { error } = (await response.json()) as { error: { data: Json } }
  return error.data["reason"]
}

/** Reads the next piece of an event stream as text. */
async function next(reader: ReadableStreamDefaultReader<Uint8Array>): Promise<string> {
  const { value, done } = await reader.read()
  return done ? "(end)" : new TextDecoder().decode(value)
}

function readerOf(response: Response): ReadableStreamDefaultReader<Uint8Array> {
  if (response.body === null) throw new Error("the response has no body")
  return response.body.getReader()
}

describe("a body that a framework has read", () => {
  const handler = createFetchHandler(server)
  const message = modernRequest(1, "tools/call", { name: "hello", arguments: {} })
  const text = JSON.stringify(message)

  async function consumed(): Promise<Request> {
    const request = modern(message)
    await request.text()
    return request
  }

  it.each([
    ["parsed", message],
    ["as text", text],
    ["as bytes", new TextEncoder().encode(text)],
  ])("is taken from the second argument: %s", async (_, body) => {
    const response = await handler(await consumed(), { body })
    expect(await response.json()).toMatchObject({ id: 1, result: { content: [{ text: "hello" }] } })
  })

  it("is checked as far as it still can be", async () => {
    expect(await reasonOf(await handler(await consumed(), { body: [message] }))).toBe("batch_unsupported")
    expect(await reasonOf(await handler(await consumed(), { body: "{" }))).toBe("parse_error")
    expect(await reasonOf(await handler(await consumed(), { body: `{"jsonrpc":"2.0",${text.slice(1)}` }))).toBe(
      "duplicate_key",
    )
  })

  it("is missed, with 500 and what to do, when it is not passed on", async () => {
    const response = await handler(await consumed())
    expect(response.status).toBe(500)
    const { error } = (await response.json()) as { error: Json }
    expect(error).toMatchObject({ data: { reason: "body_consumed" } })
    expect(error["message"]).toContain("handler(request, { body })")
  })

  it("is missed in the same way while somebody else reads it", async () => {
    const request = modern(message)
    request.body?.getReader()
    expect(await reasonOf(await handler(request))).toBe("body_consumed")
  })

  it("is not looked for in what runtimes and frameworks pass", async () => {
    const others: readonly Parameters<FetchHandler>[] = [
      [modern(message), { remoteAddr: { hostname: "127.0.0.1" }, completed: Promise.resolve() }],
      [modern(message), { params: Promise.resolve({}) }],
      [modern(message), { body: "a binding of this name" }, { waitUntil() {} }],
    ]
    for (const args of others) expect((await handler(...args)).status).toBe(200)
  })
})

describe("a body that is still to come", () => {
  it("is refused with 408 when it is not there in time, and no longer read", async () => {
    const clock = createManualClock()
    const cancelled = deferred()
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => controller.enqueue(new TextEncoder().encode("{")),
      cancel: () => cancelled.resolve(),
    })
    const answered = createFetchHandler(server, { clock, limits: { bodyTimeoutMs: 5_000 } })(streamed(body))
    while (clock.waiting === 0) await Promise.resolve()
    clock.advance(5_000)
    const response = await answered
    expect(response.status).toBe(408)
    expect(await reasonOf(response)).toBe("body_timeout")
    await cancelled.promise
    expect(clock.waiting).toBe(0)
  })

  it("is no longer read once it is too long", async () => {
    const cancelled = deferred()
    let pulled = 0
    const body = new ReadableStream<Uint8Array>({
      pull: (controller) => {
        pulled++
        controller.enqueue(new Uint8Array(1_024))
      },
      cancel: () => cancelled.resolve(),
    })
    const response = await createFetchHandler(server, { limits: { maxBodyBytes: 4_096 } })(streamed(body))
    expect(response.status).toBe(413)
    await cancelled.promise
    expect(pulled).toBeLessThan(10)
  })

  it("is refused when it breaks off", async () => {
    const body = new ReadableStream<Uint8Array>({ start: (controller) => controller.error(new Error("reset")) })
    const response = await createFetchHandler(server)(streamed(body))
    expect(response.status).toBe(400)
    expect(await reasonOf(response)).toBe("parse_error")
  })

  it("may be missing altogether", async () => {
    const response = await createFetchHandler(server)(post(null))
    expect(await reasonOf(response)).toBe("parse_error")
  })
})

describe("an event stream", () => {
  it("starts at once with a comment, and then only what the handler sends is on it", async () => {
    const reader = readerOf(await createFetchHandler(server)(call("wait", { progress: true })))
    expect(await next(reader)).toBe(":\n\n")
    expect(await next(reader)).toMatch(/^data: \{.*"progress":1.*\}\n\n$/)
    await started.promise
    waiting.finish()
    expect(await next(reader)).toMatch(/^data: \{.*"id":"call".*\}\n\n$/)
    expect(await next(reader)).toBe("(end)")
  })

  it("says that it is there when nothing else is said, but only to a reader that keeps up", async () => {
    const clock = createManualClock()
    const handler = createFetchHandler(server, { clock, limits: { keepAliveMs: 1_000 } })
    expect(clock.waiting).toBe(0)
    const reader = readerOf(await handler(call("wait", { progress: true })))
    await next(reader)
    await next(reader)
    clock.advance(1_000)
    expect(await next(reader)).toBe(":\n\n")
    for (let turn = 0; turn < 20_000; turn++) clock.advance(1_000)
    waiting.finish()
    let kept = 0
    for (let piece = await next(reader); piece === ":\n\n"; piece = await next(reader)) kept += piece.length
    expect(kept).toBeLessThan(20_000)
    expect(clock.waiting).toBe(0)
  })

  it("holds its handler back while nobody reads", async () => {
    const reader = readerOf(await createFetchHandler(server)(call("flood")))
    await new Promise(setImmediate)
    expect(sent).toBeLessThan(32)
    let pieces = 0
    while ((await next(reader)) !== "(end)") pieces++
    expect(pieces).toBe(1_002)
  })

  it("lets its handler go on when the reader leaves while it is held back", async () => {
    const reader = readerOf(await createFetchHandler(server)(call("flood")))
    await new Promise(setImmediate)
    await reader.cancel()
    while (sent < 1_000) await new Promise(setImmediate)
  })
})

describe("a client that goes away", () => {
  it("aborts the signal when the reader cancels the stream, also when nobody had looked at the signal", async () => {
    for (const name of ["wait", "late"]) {
      started = deferred()
      const reader = readerOf(await createFetchHandler(server)(call(name, name === "wait" ? { progress: true } : {})))
      await started.promise
      await reader.cancel()
      expect(waiting.signal.aborted, name).toBe(true)
      waiting.progress()
      waiting.finish()
    }
  })

  it("aborts the signal when the request is aborted before anything was answered", async () => {
    const controller = new AbortController()
    void createFetchHandler(server)(call("wait", { progress: false }, { signal: controller.signal }))
    await started.promise
    expect(waiting.signal.aborted).toBe(false)
    controller.abort()
    expect(waiting.signal.aborted).toBe(true)
    waiting.finish()
  })

  it("aborts the signal at once when it was gone before the handler looked", async () => {
    const controller = new AbortController()
    const handler = createFetchHandler(server, {
      auth: () => {
        controller.abort()
        return { id: "gone" }
      },
    })
    const request = modern(modernRequest(1, "tools/call", { name: "wait", arguments: { progress: false } }), {
      signal: controller.signal,
    })
    const body = await request.clone().json()
    void handler(request, { body })
    await started.promise
    expect(waiting.signal.aborted).toBe(true)
    waiting.finish()
  })

  it("does not keep a listener on the request's signal once the answer is there", async () => {
    for (const progress of [true, false]) {
      started = deferred()
      const request = call("wait", { progress })
      const answered = createFetchHandler(server)(request)
      await started.promise
      expect(getEventListeners(request.signal, "abort")).toHaveLength(1)
      waiting.finish()
      await (await answered).text()
      expect(getEventListeners(request.signal, "abort")).toHaveLength(0)
    }
  })

  it("leaves a legacy call alone", async () => {
    const controller = new AbortController()
    const message = legacyRequest(1, "tools/call", { name: "wait", arguments: { progress: false } })
    const request = new Request(legacy(message), { signal: controller.signal })
    const answered = createFetchHandler(server)(request)
    await started.promise
    controller.abort()
    expect(waiting.signal.aborted).toBe(false)
    waiting.finish()
    expect(await (await answered).json()).toMatchObject({ id: 1, result: { content: [{ text: "waited" }] } })
  })
})

describe("sessions", () => {
  async function open(handler: FetchHandler): Promise<Record<string, string>> {
    const response = await handler(post(JSON.stringify(initializeRequest())))
    const id = response.headers.get("mcp-session-id")
    expect(id).toMatch(/^[\x21-\x7e]+$/)
    return { "mcp-session-id": id ?? "" }
  }

  it("are off by default, and opened, used and ended when they are on", async () => {
    const off = await createFetchHandler(server)(post(JSON.stringify(initializeRequest())))
    expect(off.headers.get("mcp-session-id")).toBeNull()

    const handler = createFetchHandler(server, { sessions: true })
    const session = await open(handler)
    const message = legacyRequest(2, "tools/call", { name: "hello", arguments: {} })
    expect(await (await handler(legacy(message, session))).json()).toMatchObject({ id: 2 })
    const headers = { "mcp-protocol-version": "2025-11-25", ...session }
    const ended = await handler(new Request("http://mcp.example/mcp", { method: "DELETE", headers }))
    expect(ended.status).toBe(204)
    expect((await handler(legacy(message, session))).status).toBe(404)
  })

  it("end a cancelled call as an event stream without a response", async () => {
    const handler = createFetchHandler(server, { sessions: true })
    const session = await open(handler)
    const message = legacyRequest(7, "tools/call", { name: "wait", arguments: { progress: false } })
    const answered = handler(legacy(message, session))
    await started.promise
    const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } }
    expect((await handler(legacy(cancel, session))).status).toBe(202)
    const response = await answered
    expect(response.status).toBe(200)
    expect(response.headers.get("content-type")).toBe("text/event-stream")
    expect(await response.text()).toBe(":\n\n")
    expect(waiting.signal.aborted).toBe(true)
    waiting.finish()
  })
})

describe("the front door", () => {
  const hello = modernRequest(1, "server/discover")

  it("is at every path unless one is given", async () => {
    const handler = createFetchHandler(server)
    for (const path of ["/", "/mcp", "/a/b?c=/d#e"]) {
      const request = new Request(new URL(path, "http://mcp.example"), modern(hello))
      expect((await handler(request)).status, path).toBe(200)
    }
  })

  it.each([
    ["the URL when there is no Host header", {}, 200],
    ["the Host header", { host: "mcp.example:8080" }, 200],
    ["the Host header, whatever the URL", { host: "evil.example" }, 403],
  ])("takes the host from %s", async (_, headers, status) => {
    const handler = createFetchHandler(server, { allowedHosts: ["mcp.example"] })
    const request = post(JSON.stringify(hello), { ...modernHeaders(hello), ...headers })
    expect((await handler(request)).status).toBe(status)
  })

  it("knows no loopback address: a page on this machine needs its origin listed", async () => {
    const headers = { ...modernHeaders(hello), origin: "http://localhost:5173" }
    const request = () => new Request("http://localhost:3000/mcp", post(JSON.stringify(hello), headers))
    expect((await createFetchHandler(server)(request())).status).toBe(403)
    const listed = createFetchHandler(server, { allowedOrigins: ["http://localhost:5173"] })
    expect((await listed(request())).status).toBe(200)
  })

  it("serves a gate's documents, and asks the gate for everything else", async () => {
    const gate: Gate = {
      documents: { "/.well-known/thing": () => ({ body: "<thing/>", contentType: "text/xml" }) },
      check: async ({ method, path, header }) => ({
        ok: false,
        status: 401,
        challenge: `Thing method="${method}", path="${path}", agent="${header("user-agent")}"`,
        reason: "unauthenticated",
        message: "Who?",
      }),
    }
    const handler = createFetchHandler(server, { auth: gate })
    const document = await handler(new Request("http://mcp.example/.well-known/thing?x=1"))
    expect(document.headers.get("content-type")).toBe("text/xml")
    expect(document.headers.get("x-content-type-options")).toBe("nosniff")
    expect(await document.text()).toBe("<thing/>")
    const refused = await handler(post("not read", { "user-agent": "test" }))
    expect(refused.status).toBe(401)
    expect(refused.headers.get("www-authenticate")).toBe('Thing method="POST", path="/mcp", agent="test"')
  })

  it("admits nobody when the gate fails", async () => {
    for (const auth of [
      () => Promise.reject(new Error("secret")),
      { check: () => Promise.reject(new Error("secret")) },
    ]) {
      const response = await createFetchHandler(server, { auth })(modern(hello))
      expect(response.status).toBe(500)
      expect(await response.text()).not.toContain("secret")
    }
  })
})

describe("on Workers", () => {
  beforeEach(() => vi.stubGlobal("navigator", { userAgent: "Cloudflare-Workers" }))

  it("sessions are refused, since no process lives as long as they do", () => {
    expect(() => createFetchHandler(server, { sessions: true })).toThrow(/sessions: true needs a process/)
  })

  it("no timer outlives its request, and none runs before the first", async () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "setInterval", "clearTimeout", "clearInterval"] })
    const handler = createFetchHandler(server, { limits: { keepAliveMs: 1_000 } })
    expect(vi.getTimerCount()).toBe(0)
    const open = async () => {
      const reader = readerOf(await handler(call("wait", { progress: true })))
      await next(reader)
      await next(reader)
      return { reader, call: waiting }
    }
    const first = await open()
    const ofOne = vi.getTimerCount()
    expect(ofOne).toBeGreaterThan(0)
    const readers = [first, await open()]
    expect(vi.getTimerCount()).toBe(2 * ofOne)
    vi.advanceTimersByTime(1_000)
    for (const { reader } of readers) expect(await next(reader)).toBe(":\n\n")
    for (const one of readers) one.call.finish()
    for (const { reader } of readers) expect(await next(reader)).toContain('"id":"call"')
    expect(vi.getTimerCount()).toBe(0)
  })

  it("calls are not counted, since one that the platform gives up never ends", () => {
    let limits: FetchOptions["limits"]
    const watched: Pick<Server, "logger" | "endpoint"> = {
      logger: quiet,
      endpoint: (options) => {
        limits = options?.limits
        return server.endpoint(options)
      },
    }
    createFetchHandler(watched)
    expect(limits?.maxInFlight).toBe(Number.MAX_SAFE_INTEGER)
    createFetchHandler(watched, { limits: { maxInFlight: 5 } })
    expect(limits?.maxInFlight).toBe(5)
  })
})
