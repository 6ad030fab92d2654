import { once } from "node:events"
import { createServer as createHttpServer, type IncomingMessage, request, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { content, createServer, McpError, tool } from "conduit-mcp"
import { createNodeHandler, type NodeRequest, type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { createManualClock } from "../support/clock.js"
import { openSession, post, postModern, send } from "../support/http.js"
import { legacyRequest, modernHeaders, modernRequest } from "../support/wire.js"

const quiet = { debug() {}, info() {}, warn() {}, error() {} }

/** A promise together with what settles it. */
function deferred<T = void>(): { readonly promise: Promise<T>; readonly resolve: (value: T) => void } {
  let resolve: (value: T) => void = () => {}
  const promise = new Promise<T>((settle) => {
    resolve = settle
  })
  return { promise, resolve }
}

const entered = { current: deferred<AbortSignal>() }
const gate = { current: deferred() }

const server = createServer({
  name: "http",
  version: "1.0.0",
  logger: quiet,
  tools: [
    tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text),
    tool("steps", {}, async (_args, ctx) => {
      for (const step of [1, 2, 3]) ctx.progress(step, 3)
      return "done"
    }),
    tool("flood", {}, async (_args, ctx) => {
      for (let step = 1; step <= 200; step++) {
        ctx.progress(step, 200, "x".repeat(10_000))
        await ctx.flush()
      }
      return "done"
    }),
    tool("wait", {}, async (_args, ctx) => {
      ctx.progress(1)
      entered.current.resolve(ctx.signal)
      await gate.current.promise
      ctx.progress(2)
      return content.text("waited")
    }),
  ],
})

const open: { close(): Promise<unknown> }[] = []
afterEach(async () => {
  gate.current.resolve()
  for (const one of open.splice(0)) await one.close()
  entered.current = deferred()
  gate.current = deferred()
})

async function start(options: ServeOptions = {}): Promise<Running> {
  const running = await serve(server, { port: 0, ...options })
  open.push(running)
  return running
}

async function mount(listener: (request: IncomingMessage, response: never) => void): Promise<string> {
  const http: Server = createHttpServer(listener as never)
  http.listen(0, "127.0.0.1")
  await once(http, "listening")
  open.push({
    close: async () => {
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  })
  return `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`
}

const echo = modernRequest(1, "tools/call", { name: "echo", arguments: { text: "hi" } })
const steps = modernRequest(1, "tools/call", { name: "steps", _meta: { progressToken: "t" } })

describe("a body is limited while it is read", () => {
  const big = (bytes: number): string => JSON.stringify({ ...echo, padding: "x".repeat(bytes) })

  it("an announced length over the limit is refused before the body comes", async () => {
    const { url } = await start({ limits: { maxBodyBytes: 1_000 } })
    const reply = await post(url, big(2_000), modernHeaders(echo))
    expect(reply.status).toBe(413)
    expect(reply.headers["content-type"]).toBe("application/json")
    expect(reply.json).toMatchObject({ jsonrpc: "2.0", error: { code: -32600, data: { reason: "body_too_large" } } })
    expect(reply.json).not.toHaveProperty("id")
  })

  it("a body of unknown length is cut off at the limit", async () => {
    const { url } = await start({ limits: { maxBodyBytes: 1_000 } })
    const status = await new Promise<number | undefined>((resolve, reject) => {
      const outgoing = request(url, {
        method: "POST",
        headers: { "content-type": "application/json", "transfer-encoding": "chunked", ...modernHeaders(echo) },
      })
      outgoing.on("response", (incoming) => {
        resolve(incoming.statusCode)
        outgoing.destroy()
      })
      outgoing.on("error", reject)
      outgoing.write("x".repeat(600))
      outgoing.write("x".repeat(600))
    })
    expect(status).toBe(413)
  })

  it("a body of exactly the limit is served", async () => {
    const body = big(100)
    const { url } = await start({ limits: { maxBodyBytes: body.length } })
    expect((await post(url, body, modernHeaders(echo))).status).toBe(200)
  })

  it("the limits' own values are checked", async () => {
    await expect(serve(server, { port: 0, limits: { maxBodyBytes: 0 } })).rejects.toThrow(/limits.maxBodyBytes/)
    await expect(serve(server, { port: 0, limits: { maxBodies: 1 } as never })).rejects.toThrow(
      /maxBodies is not a limit/,
    )
  })
})

describe("a body that was parsed before", () => {
  it.each<[what: string, body: unknown]>([
    ["as an object", echo],
    ["as text", JSON.stringify(echo)],
    ["as bytes", Buffer.from(JSON.stringify(echo))],
  ])("%s is taken from the request", async (_what, body) => {
    const handler = createNodeHandler(server)
    const url = await mount((incoming, response) => {
      incoming.resume().on("end", () => handler(Object.assign(incoming, { body }) as NodeRequest, response))
    })
    const reply = await postModern(url, echo)
    expect(reply.json).toMatchObject({ id: 1, result: { content: [{ type: "text", text: "hi" }] } })
  })

  it("a body that was read and thrown away is a clear error", async () => {
    const handler = createNodeHandler(server)
    const url = await mount((incoming, response) => {
      incoming.resume().on("end", () => handler(incoming, response))
    })
    const reply = await postModern(url, echo)
    expect(reply.status).toBe(500)
    expect(reply.json).toMatchObject({ error: { code: -32603, data: { reason: "body_consumed" } } })
  })

  it("a parsed body that is no message is refused", async () => {
    const handler = createNodeHandler(server)
    const url = await mount((incoming, response) => {
      incoming.resume().on("end", () => handler(Object.assign(incoming, { body: [echo] }) as NodeRequest, response))
    })
    expect((await postModern(url, echo)).json).toMatchObject({ error: { data: { reason: "batch_unsupported" } } })
  })

  it.each([
    ["forbidden_key", JSON.parse('{"a":{"__proto__":{"admin":true}}}')],
    ["number_out_of_range", JSON.parse("[1e400]")],
    ["too_deep", JSON.parse(`${"[".repeat(70)}${"]".repeat(70)}`)],
    ["too_many_keys", Array.from({ length: 50_001 }, () => 0)],
  ])("a parsed body is held to the bounds of any other (%s)", async (reason, given) => {
    const handler = createNodeHandler(server)
    const body = modernRequest(1, "tools/call", { name: "echo", arguments: { given } })
    const url = await mount((incoming, response) => {
      incoming.resume().on("end", () => handler(Object.assign(incoming, { body }) as NodeRequest, response))
    })
    const reply = await postModern(url, echo)
    expect(reply.status).toBe(400)
    expect(reply.json).toMatchObject({ error: { code: -32600, data: { reason } } })
  })
})

describe("what is answered in which form", () => {
  it.each<[accept: string | undefined, type: string, messages: number]>([
    [undefined, "text/event-stream", 4],
    ["*/*", "text/event-stream", 4],
    ["application/json, text/event-stream", "text/event-stream", 4],
    ["application/json", "application/json", 1],
    ["text/event-stream", "text/event-stream", 4],
    ["Application/JSON;q=0.9, text/event-stream;q=0", "application/json", 1],
  ])("Accept: %s gives %s and %i messages when a handler reports progress", async (accept, type, messages) => {
    const { url } = await start()
    const headers = { "content-type": "application/json", ...modernHeaders(steps), ...(accept ? { accept } : {}) }
    const reply = await send(url, { headers, body: JSON.stringify(steps) })
    expect(reply.status).toBe(200)
    expect(reply.headers["content-type"]).toBe(type)
    expect(reply.messages).toHaveLength(messages)
    expect(reply.json).toMatchObject({ id: 1, result: { content: [{ text: "done" }] } })
  })

  it("without anything to stream, an event stream is answered to those alone who accept nothing else", async () => {
    const { url } = await start()
    const headers = { "content-type": "application/json", ...modernHeaders(echo) }
    const body = JSON.stringify(echo)
    const stream = await send(url, { headers: { ...headers, accept: "text/event-stream" }, body })
    expect(stream.headers["content-type"]).toBe("text/event-stream")
    const json = await send(url, { headers, body })
    expect(json.headers["content-type"]).toBe("application/json")
  })

  it("an event stream begins with a comment, and no proxy may hold it or change it", async () => {
    const { url } = await start()
    const reply = await postModern(url, steps)
    expect(reply.text.startsWith(":\n\n")).toBe(true)
    expect(reply.headers["x-accel-buffering"]).toBe("no")
    expect(reply.headers["cache-control"]).toContain("no-transform")
  })

  it.each<[what: string, headers: Record<string, string>, status: number, reason: string]>([
    ["another media type", { "content-type": "text/plain" }, 415, "unsupported_media_type"],
    [
      "a media type that only mentions JSON",
      { "content-type": "text/plain; a=application/json" },
      415,
      "unsupported_media_type",
    ],
    ["another charset", { "content-type": "application/json; charset=utf-16" }, 415, "unsupported_media_type"],
    ["an encoded body", { "content-encoding": "gzip" }, 415, "unsupported_encoding"],
    ["an Accept with neither form", { accept: "text/html" }, 406, "not_acceptable"],
    ["a foreign Host", { host: "evil.example.com" }, 403, "host_not_allowed"],
    ["a foreign Origin", { origin: "http://evil.example.com" }, 403, "origin_not_allowed"],
    ["the Origin null", { origin: "null" }, 403, "origin_not_allowed"],
    ["a cross-site request", { "sec-fetch-site": "cross-site" }, 403, "cross_site"],
  ])("%s is refused", async (_what, headers, status, reason) => {
    const { url } = await start()
    const reply = await postModern(url, echo, headers)
    expect(reply.status).toBe(status)
    expect(reply.json).toMatchObject({ error: { code: -32600, data: { reason } } })
  })

  it.each([["application/json; charset=utf-8"], ["APPLICATION/JSON"]])("content type %s is served", async (type) => {
    const { url } = await start()
    expect((await postModern(url, echo, { "content-type": type })).status).toBe(200)
  })

  it.each<[method: string, path: string, status: number, allow: string | undefined]>([
    ["GET", "/mcp", 405, "POST, DELETE"],
    ["DELETE", "/mcp", 405, "POST, DELETE"],
    ["PUT", "/mcp", 405, "POST"],
    ["OPTIONS", "/mcp", 405, "POST"],
    ["POST", "/", 404, undefined],
    ["POST", "/mcp/", 404, undefined],
  ])("%s %s is %i", async (method, path, status, allow) => {
    const { url } = await start()
    const reply = await send(url.replace("/mcp", path), { method, headers: { "content-type": "application/json" } })
    expect(reply.status).toBe(status)
    expect(reply.headers.allow).toBe(allow)
  })

  it("a query in the URL does not hide the path", async () => {
    const { url } = await start()
    expect((await postModern(`${url}?x=1`, echo)).status).toBe(200)
  })

  it("a notification is 202 without a body or a type", async () => {
    const { url } = await start()
    const notice = {
      jsonrpc: "2.0",
      method: "notifications/anything",
      params: { _meta: { "io.modelcontextprotocol/protocolVersion": "2026-07-28" } },
    }
    const reply = await post(url, notice, { "mcp-protocol-version": "2026-07-28" })
    expect(reply.status).toBe(202)
    expect(reply.text).toBe("")
    expect(reply.headers["content-type"]).toBeUndefined()
  })

  it("security headers stand on every answer", async () => {
    const { url } = await start()
    const replies = [
      await postModern(url, echo),
      await postModern(url, steps),
      await post(url, "{", modernHeaders(echo)),
      await postModern(url, echo, { origin: "http://evil.example.com" }),
      await send(url, { method: "GET" }),
      await send(url.replace("/mcp", "/x")),
      await post(url, { jsonrpc: "2.0", method: "notifications/x" }, { "mcp-protocol-version": "2026-07-28" }),
    ]
    for (const reply of replies) {
      expect(reply.headers["x-content-type-options"]).toBe("nosniff")
      expect(reply.headers["x-frame-options"]).toBe("DENY")
    }
  })
})

describe("who may reach it", () => {
  it("a bind that is not loopback needs authentication, or the word that it needs none", async () => {
    const unsafe = serve(server, { port: 0, host: "0.0.0.0" })
    await expect(unsafe).rejects.toSatisfy((error) => McpError.is(error, "misuse") && error.reason === "unsafe_bind")
    await start({ host: "0.0.0.0", allowUnauthenticated: true })
    await start({ host: "0.0.0.0", auth: () => ({ id: "a" }) })
  })

  it("behind a public bind an Origin must be listed, and the Host when hosts are", async () => {
    const { address } = await start({
      host: "0.0.0.0",
      allowUnauthenticated: true,
      allowedOrigins: ["https://app.example.com"],
      allowedHosts: ["api.example.com"],
    })
    const url = `http://127.0.0.1:${address.port}/mcp`
    const ask = async (headers: Record<string, string>): Promise<number> =>
      (await postModern(url, echo, headers)).status
    expect(await ask({ host: "api.example.com" })).toBe(200)
    expect(await ask({ host: "api.example.com", origin: "https://app.example.com" })).toBe(200)
    expect(await ask({ host: "api.example.com", origin: "http://127.0.0.1:3000" })).toBe(403)
    expect(await ask({ host: "127.0.0.1" })).toBe(403)
  })

  it("a mounted handler guards what comes in through a loopback address", async () => {
    const url = await mount(createNodeHandler(server))
    expect((await postModern(url, echo)).status).toBe(200)
    expect((await postModern(url, echo, { host: "evil.example.com" })).status).toBe(403)
    expect((await postModern(url, echo, { origin: "http://evil.example.com" })).status).toBe(403)
  })

  it("documents of the gate are answered without a check, everything else after it", async () => {
    const document = { body: '{"resource":"x"}', contentType: "application/json" }
    const { url } = await start({
      auth: {
        check: () => ({
          ok: false,
          status: 401,
          challenge: 'Bearer realm="x"',
          reason: "unauthenticated",
          message: "no",
        }),
        documents: { "/.well-known/oauth-protected-resource": () => document },
      },
    })
    const found = await send(url.replace("/mcp", "/.well-known/oauth-protected-resource"), { method: "GET" })
    expect(found).toMatchObject({ status: 200, text: document.body })
    const refused = await postModern(url, echo)
    expect(refused.status).toBe(401)
    expect(refused.headers["www-authenticate"]).toBe('Bearer realm="x"')
    expect(refused.json).toMatchObject({ error: { code: -32600, data: { reason: "unauthenticated" } } })
  })
})

describe("a connection that ends", () => {
  const wait = modernRequest(1, "tools/call", { name: "wait", _meta: { progressToken: 1 } })

  function callAndLeave(url: string, message: object, headers: Record<string, string>): { leave(): void } {
    const outgoing = request(url, {
      method: "POST",
      headers: { "content-type": "application/json", accept: "application/json, text/event-stream", ...headers },
    })
    outgoing.on("error", () => {})
    outgoing.end(JSON.stringify(message))
    return { leave: () => outgoing.destroy() }
  }

  it("cancels a modern request, and nothing more is written for it", async () => {
    const { url } = await start()
    const call = callAndLeave(url, wait, modernHeaders(wait))
    const signal = await entered.current.promise
    call.leave()
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    gate.current.resolve()
    expect((await postModern(url, echo)).status).toBe(200)
  })

  it("cancels nothing in the legacy era", async () => {
    const { url } = await start()
    const session = await openSession(url)
    const call = callAndLeave(url, legacyRequest(5, "tools/call", { name: "wait" }), session)
    const signal = await entered.current.promise
    call.leave()
    expect((await post(url, legacyRequest(6, "ping"), session)).status).toBe(200)
    expect(signal.aborted).toBe(false)
  })

  it("closing the server aborts what runs", async () => {
    const running = await start()
    callAndLeave(running.url, wait, modernHeaders(wait))
    const signal = await entered.current.promise
    const aborted = new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve()))
    await running.close()
    await aborted
  })

  it("closing the server aborts what runs in a session", async () => {
    const running = await start()
    const session = await openSession(running.url)
    callAndLeave(running.url, legacyRequest(5, "tools/call", { name: "wait" }), session)
    const signal = await entered.current.promise
    await running.close()
    expect(signal.aborted).toBe(true)
  })

  it("the option signal closes it", async () => {
    const stop = new AbortController()
    const { url } = await start({ signal: stop.signal })
    expect((await postModern(url, echo)).status).toBe(200)
    stop.abort()
    await expect(postModern(url, echo)).rejects.toThrow()
  })
})

it("a quiet stream is kept open by comments", async () => {
  const clock = createManualClock()
  const { url } = await start({ clock, limits: { keepAliveMs: 1_000 } })
  const message = modernRequest(1, "tools/call", { name: "wait", _meta: { progressToken: 1 } })
  const reply = postModern(url, message)
  await entered.current.promise
  clock.advance(1_000)
  clock.advance(1_000)
  gate.current.resolve()
  const { text } = await reply
  expect(text.split(":\n\n").length - 1).toBe(3)
  clock.advance(1_000)
  expect(clock.waiting).toBe(0)
})

it("a handler can wait until a slow reader has read", async () => {
  const { url } = await start()
  const flood = modernRequest(1, "tools/call", { name: "flood", _meta: { progressToken: 1 } })
  const reply = await postModern(url, flood)
  expect(reply.messages).toHaveLength(201)
})

it("more requests than may run at once are told to come again", async () => {
  const { url } = await start({ limits: { maxInFlight: 1 } })
  const wait = modernRequest(1, "tools/call", { name: "wait" })
  const first = postModern(url, wait)
  await entered.current.promise
  const second = await postModern(url, echo)
  expect(second.status).toBe(503)
  expect(second.headers["retry-after"]).toBe("1")
  expect(second.json).toMatchObject({ id: 1, error: { code: -32603, data: { reason: "overloaded" } } })
  gate.current.resolve()
  expect((await first).status).toBe(200)
  expect((await postModern(url, echo)).status).toBe(200)
})
