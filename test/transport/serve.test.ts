/** `serve()` from listening to going down: its probes, a port that is taken, slow headers, and connections that are kept alive. */
import { getEventListeners, once } from "node:events"
import { Agent, createServer as createHttpServer, type IncomingMessage, request } from "node:http"
import { type AddressInfo, connect, type Socket } from "node:net"
import { createServer, McpError, tool } from "conduit-mcp"
import { type Running, type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, beforeEach, describe, expect, it } from "vitest"
import { createManualClock } from "../support/clock.js"
import { postModern, type Reply, readReply, send } from "../support/http.js"
import { modernHeaders, modernRequest } from "../support/wire.js"

let enter: (signal: AbortSignal) => void = () => {}
let entered = new Promise<AbortSignal>(() => {})
let end: () => void = () => {}
let ended = Promise.resolve()
beforeEach(() => {
  entered = new Promise((resolve) => {
    enter = resolve
  })
  ended = new Promise((resolve) => {
    end = resolve
  })
})

const server = createServer({
  name: "serve",
  version: "1.0.0",
  logger: { debug() {}, info() {}, warn() {}, error() {} },
  tools: [
    tool("hello", {}, () => "hello"),
    tool("wait", {}, async (_, ctx) => {
      enter(ctx.signal)
      await ended
      return "waited"
    }),
  ],
})

const hello = modernRequest(1, "tools/call", { name: "hello" })
const wait = modernRequest(2, "tools/call", { name: "wait" })

const open: { close(): unknown }[] = []
afterEach(async () => {
  end()
  for (const one of open.splice(0)) await one.close()
})

async function start(options: ServeOptions = {}): Promise<Running> {
  const running = await serve(server, { port: 0, ...options })
  open.push(running)
  return running
}

const at = ({ url }: Running, path: string): string => new URL(path, url).href

describe("its probes", () => {
  it("say that it lives and takes requests, and nothing more", async () => {
    const running = await start()
    for (const path of ["/health", "/ready"]) {
      for (const method of ["GET", "HEAD"]) {
        const reply = await send(at(running, path), { method })
        expect(reply).toMatchObject({ status: 200, text: "" })
        expect(reply.headers).toMatchObject({ "cache-control": "no-store", "x-content-type-options": "nosniff" })
      }
      expect((await send(at(running, path), { headers: { "content-type": "application/json" } })).status).toBe(404)
    }
  })

  it("need no credential", async () => {
    const running = await start({ auth: () => undefined })
    expect((await send(at(running, "/ready"), { method: "GET" })).status).toBe(200)
  })

  it.each([
    ["another host", { host: "evil.example.com" }],
    ["a page of another origin", { origin: "https://evil.example.com" }],
    ["a page, whose browser hides its origin", { origin: "null" }],
  ])("are behind the guard: %s is 403", async (_what, headers) => {
    const running = await start()
    expect((await send(at(running, "/ready"), { method: "GET", headers })).status).toBe(403)
  })

  it("stand where the options say, or nowhere", async () => {
    const moved = await start({ healthPath: "/livez", readyPath: "/readyz" })
    expect((await send(at(moved, "/livez"), { method: "GET" })).status).toBe(200)
    expect((await send(at(moved, "/readyz"), { method: "GET" })).status).toBe(200)
    expect((await send(at(moved, "/ready"), { method: "GET" })).status).toBe(404)
    const off = await start({ healthPath: false, readyPath: false })
    for (const path of ["/health", "/ready"]) expect((await send(at(off, path), { method: "GET" })).status).toBe(404)
  })

  it.each<ServeOptions>([{ path: "/ready" }, { healthPath: "/mcp" }, { healthPath: "/probe", readyPath: "/probe" }])(
    "cannot stand where something else does: %j",
    async (options) => {
      await expect(start(options)).rejects.toThrow(/path, healthPath and readyPath must differ/)
    },
  )

  it("/ready fails from the moment that it goes down, /health does not", async () => {
    const running = await start()
    const waiting = postModern(running.url, wait)
    await entered
    const drained = running.drain()
    const ready = await send(at(running, "/ready"), { method: "GET" })
    expect(ready).toMatchObject({ status: 503, text: "" })
    expect(ready.headers["retry-after"]).toBe("1")
    expect((await send(at(running, "/health"), { method: "GET" })).status).toBe(200)
    end()
    expect((await waiting).status).toBe(200)
    expect(await drained).toEqual({ cut: 0 })
  })
})

describe("what keeps it from listening", () => {
  it("a port that is taken is named, with the option and the error of Node", async () => {
    const { address } = await start()
    const error = await start({ port: address.port }).catch((thrown: unknown) => thrown)
    expect(McpError.is(error, "transport")).toBe(true)
    expect(error).toMatchObject({ reason: "cannot_listen", cause: { code: "EADDRINUSE" } })
    expect(String(error)).toContain(`127.0.0.1, port ${address.port}: the port is taken; set "port"`)
  })

  it("an address of another machine is named, with the option", async () => {
    const error = await start({ host: "192.0.2.1", allowUnauthenticated: true }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: "transport", reason: "cannot_listen", cause: { code: "EADDRNOTAVAIL" } })
    expect(String(error)).toContain('set "host"')
  })

  it.each([-1, 65_536, 1.5, Number.NaN, "http" as never])("%s is no port", async (port) => {
    const error = await start({ port }).catch((thrown: unknown) => thrown)
    expect(error).toMatchObject({ kind: "misuse", reason: "invalid_option", message: expect.stringContaining("port") })
  })
})

describe("a client that is slow", () => {
  function write(running: Running, text: string): { readonly socket: Socket; readonly received: Promise<string> } {
    const socket = connect(running.address.port, "127.0.0.1", () => socket.write(text))
    open.push({ close: () => socket.destroy() })
    let received = ""
    socket.setEncoding("utf8").on("data", (chunk: string) => {
      received += chunk
    })
    return { socket, received: once(socket, "close").then(() => received) }
  }

  it("with its headers loses its connection", async () => {
    const running = await start({ limits: { bodyTimeoutMs: 100 } })
    expect(await write(running, "POST /mcp HTTP/1.1\r\nHost: localhost\r\nX-Slow: ").received).toMatch(
      /^HTTP\/1\.1 408 /,
    )
  })

  it("with its body is answered by the front door, and loses its connection", async () => {
    const clock = createManualClock()
    const running = await start({ clock, limits: { bodyTimeoutMs: 5_000 } })
    const headers = Object.entries({
      ...modernHeaders(hello),
      "content-type": "application/json",
      "content-length": 500,
    })
    const head = headers.map(([name, value]) => `${name}: ${value}\r\n`).join("")
    const { received } = write(running, `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${head}\r\n{"jsonrpc":`)
    while (clock.waiting === 0) await new Promise(setImmediate)
    clock.advance(5_000)
    const text = await received
    expect(text).toMatch(/^HTTP\/1\.1 408 /)
    expect(text).toContain('"reason":"body_timeout"')
  })
})

describe("connections that are kept alive", () => {
  function createClient() {
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    open.push({ close: () => agent.destroy() })
    return (url: string, message = hello): Promise<Reply> =>
      new Promise((resolve, reject) => {
        const accept = "application/json, text/event-stream"
        const headers = { "content-type": "application/json", accept, ...modernHeaders(message) }
        const outgoing = request(url, { method: "POST", agent, headers })
        outgoing.on("response", (incoming: IncomingMessage) => readReply(incoming).then(resolve, reject))
        outgoing.on("error", reject)
        outgoing.end(JSON.stringify(message))
      })
  }

  it("are told to end by the answers that they wait for, and by the refusals behind those", async () => {
    const running = await start()
    const client = createClient()
    const waiting = client(running.url, wait)
    await entered
    const drained = running.drain()
    const refused = await postModern(running.url, hello)
    expect(refused).toMatchObject({ status: 503 })
    expect(refused.headers.connection).toBe("close")
    end()
    const answered = await waiting
    expect(answered.status).toBe(200)
    expect(answered.headers.connection).toBe("close")
    expect(await drained).toEqual({ cut: 0 })
  })

  it("do not hold it up when nothing comes over them", async () => {
    const running = await start()
    expect((await createClient()(running.url)).headers.connection).toBe("keep-alive")
    expect(await running.drain()).toEqual({ cut: 0 })
    await expect(postModern(running.url, hello)).rejects.toThrow()
  })

  it("go on after a refusal, unless a long body is left", async () => {
    const running = await start({ auth: () => undefined })
    const client = createClient()
    const refused = await client(running.url)
    expect(refused.status).toBe(401)
    expect(refused.headers.connection).toBe("keep-alive")
    const long = modernRequest(1, "tools/call", { name: "hello", arguments: { text: "x".repeat(100_000) } })
    expect((await client(running.url, long)).headers.connection).toBe("close")
  })
})

describe("going down", () => {
  it("frees the port", async () => {
    const running = await start()
    await running.drain()
    await start({ port: running.address.port })
  })

  it("cuts what takes too long, and says how many calls that were", async () => {
    const running = await start()
    const waiting = postModern(running.url, wait)
    const signal = await entered
    expect(await running.drain(1)).toEqual({ cut: 1 })
    expect(signal.aborted).toBe(true)
    expect((await waiting).json).toMatchObject({ error: { data: { reason: "draining" } } })
  })

  it("is not held up by a client that sends no whole request", async () => {
    const running = await start()
    const socket = connect(running.address.port, "127.0.0.1", () => socket.write("POST /mcp HTTP/1.1\r\nHost: "))
    await once(socket, "connect")
    socket.on("error", () => {})
    await running.drain(1)
  })

  it("begins when the signal aborts, and lets calls go on", async () => {
    const stop = new AbortController()
    const { url } = await start({ signal: stop.signal })
    const waiting = postModern(url, wait)
    const signal = await entered
    stop.abort()
    expect((await postModern(url, hello)).status).toBe(503)
    expect(signal.aborted).toBe(false)
    end()
    expect((await waiting).status).toBe(200)
  })

  it("has happened when the signal had aborted before", async () => {
    const { url } = await start({ signal: AbortSignal.abort() })
    await expect(postModern(url, hello)).rejects.toThrow()
  })

  it("leaves no listener on the signal", async () => {
    const { signal } = new AbortController()
    const running = await start({ signal })
    expect(getEventListeners(signal, "abort")).toHaveLength(1)
    await running.close()
    expect(getEventListeners(signal, "abort")).toHaveLength(0)
  })

  it("can be cut short by closing", async () => {
    const running = await start()
    const waiting = postModern(running.url, wait).catch((error: unknown) => error)
    await entered
    const drained = running.drain(60_000)
    await running.close()
    expect(await drained).toEqual({ cut: 1 })
    await waiting
  })
})

it("a taken port of somebody else is the same", async () => {
  const other = createHttpServer().listen(0, "127.0.0.1")
  await once(other, "listening")
  open.push({ close: () => other.close() })
  const { port } = other.address() as AddressInfo
  await expect(start({ port })).rejects.toMatchObject({ reason: "cannot_listen" })
})
