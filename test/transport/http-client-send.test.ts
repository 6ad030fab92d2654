/** The ways out over HTTP: which connections they use, what they send again, and how they end. */
import { Agent } from "node:http"
import { type AddressInfo, createServer, type Server, type Socket } from "node:net"
import { afterEach, describe, expect, it, vi } from "vitest"
import { HttpAbort, type HttpReply, type HttpRequest, type HttpSend } from "../../src/core/http/send.js"
import { createSendFetch } from "../../src/transport/http/send-fetch.js"
import { createSend } from "../../src/transport/http/send-node.js"
import { cut, type HttpPeer, plain, type Script, startHttpPeer } from "../support/http-peer.js"
import { until, ways } from "./http-client/harness.js"

const open: (() => unknown)[] = []

afterEach(async () => {
  vi.restoreAllMocks()
  for (const close of open.splice(0)) await close()
})

async function start(script: Script): Promise<HttpPeer> {
  const peer = await startHttpPeer(script)
  open.push(() => peer.close())
  return peer
}

/** A way out whose idle connections are closed after the test. */
function make(): HttpSend {
  const send = createSend()
  open.push(() => send.closeIdle?.())
  return send
}

/** A server of raw bytes, called for each piece that comes. */
async function startRaw(hear: (socket: Socket, piece: number) => void): Promise<string> {
  const sockets = new Set<Socket>()
  const server: Server = createServer((socket) => {
    let piece = 0
    sockets.add(socket)
    socket.on("data", () => hear(socket, piece++))
    socket.on("error", () => {})
  })
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve))
  open.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`
}

const message = (method: string): string => JSON.stringify({ jsonrpc: "2.0", id: 1, method })

const post = (url: string, more: Partial<HttpRequest> = {}): HttpRequest => ({
  method: "POST",
  url,
  headers: { "content-type": "application/json" },
  body: message("x"),
  repeatable: false,
  abort: new HttpAbort(),
  ...more,
})

/** The whole body; rejects with what the sink is told. */
function bodyOf(reply: HttpReply): Promise<string> {
  const chunks: Uint8Array[] = []
  return new Promise((resolve, reject) => {
    reply.read({
      chunk: (bytes) => chunks.push(bytes),
      end: () => resolve(Buffer.concat(chunks).toString()),
      fail: reject,
    })
  })
}

const fetchText = async (send: HttpSend, request: HttpRequest): Promise<string> => bodyOf(await send(request))

describe("connections are kept", () => {
  it("requests after one another share one", async () => {
    const peer = await start({ "*": plain(200, "ok") })
    const send = make()
    for (let round = 0; round < 20; round++) expect(await fetchText(send, post(peer.url))).toBe("ok")
    expect(peer.connections()).toBe(1)
  })

  it("as many as were in flight at once, and none once the idle ones are closed", async () => {
    const peer = await start({ "*": plain(200, "ok") })
    const send = make()
    for (let round = 0; round < 3; round++) {
      await Promise.all(Array.from({ length: 16 }, () => fetchText(send, post(peer.url))))
    }
    expect(peer.connections()).toBe(16)
    send.closeIdle?.()
    await peer.idle()
    expect(await fetchText(send, post(peer.url))).toBe("ok")
  })

  it("no listener is left on one from request to request", async () => {
    const warnings: Error[] = []
    const warn = (warning: Error): number => warnings.push(warning)
    process.on("warning", warn)
    open.push(() => process.off("warning", warn))
    const peer = await start({ "*": plain(200, "ok") })
    const send = make()
    const abort = new HttpAbort()
    for (let round = 0; round < 50; round++) await fetchText(send, post(peer.url, { abort }))
    await new Promise((resolve) => setImmediate(resolve))
    expect(warnings).toEqual([])
    expect(peer.connections()).toBe(1)
  })

  it("after a short body that nobody reads, too; a long one takes its connection with it", async () => {
    const peer = await start({ short: plain(200, "x".repeat(65_536)), long: plain(200, "x".repeat(1_000_000)) })
    const send = make()
    const forget = async (method: string): Promise<void> =>
      (await send(post(peer.url, { body: message(method) }))).discard()
    for (let round = 0; round < 10; round++) await forget("short")
    expect(peer.connections()).toBeLessThan(10)
    await forget("long")
    send.closeIdle?.()
    await peer.idle()
  })

  it("a body that nobody reads and that never ends is closed with the idle connections", async () => {
    for (const [, makeSend] of ways) {
      let isClosed = false
      const peer = await start({
        "*": (_, reply) => {
          reply.writeHead(200)
          reply.write("x")
          reply.on("close", () => {
            isClosed = true
          })
        },
      })
      const send = makeSend()
      const answer = await send(post(peer.url))
      answer.discard()
      send.closeIdle?.()
      await until(() => isClosed)
    }
  })
})

describe("a request whose kept connection turns out to be dead", () => {
  const dying = (): Script => ({ first: plain(200, "ok"), second: [cut, plain(200, "again")] })
  const second = (url: string, more: Partial<HttpRequest>): HttpRequest =>
    post(url, { body: message("second"), ...more })

  it("is sent again on a new one when nothing happens twice", async () => {
    const peer = await start(dying())
    const send = make()
    await fetchText(send, post(peer.url, { body: message("first") }))
    expect(await fetchText(send, second(peer.url, { repeatable: true }))).toBe("again")
    expect(peer.log).toEqual(["POST first 1", "POST second 1", "POST second 1"])
  })

  it("is not sent again when something might happen twice", async () => {
    const peer = await start(dying())
    const send = make()
    await fetchText(send, post(peer.url, { body: message("first") }))
    await expect(send(second(peer.url, {}))).rejects.toMatchObject({ kind: "transport", reason: "network_error" })
    expect(peer.log).toEqual(["POST first 1", "POST second 1"])
  })

  it("is sent again whatever it is when nothing of it was written", async () => {
    const peer = await start({ "*": plain(200, "ok") })
    const send = make()
    await fetchText(send, post(peer.url, { body: message("first") }))
    const { reuseSocket } = Agent.prototype
    vi.spyOn(Agent.prototype, "reuseSocket").mockImplementationOnce(function (this: Agent, socket, request) {
      reuseSocket.call(this, socket, request)
      socket.destroy()
    })
    expect(await fetchText(send, second(peer.url, {}))).toBe("ok")
    expect(peer.log).toEqual(["POST first 1", "POST second 1"])
  })

  it("is not sent a third time", async () => {
    const peer = await start({ first: plain(200, "ok"), second: cut })
    const send = make()
    await fetchText(send, post(peer.url, { body: message("first") }))
    await expect(send(second(peer.url, { repeatable: true }))).rejects.toMatchObject({ reason: "network_error" })
    expect(peer.log).toEqual(["POST first 1", "POST second 1", "POST second 1"])
  })

  it("is not sent again on a connection that was new", async () => {
    const peer = await start({ second: cut })
    await expect(make()(second(peer.url, { repeatable: true }))).rejects.toMatchObject({ reason: "network_error" })
    expect(peer.log).toEqual(["POST second 1"])
  })

  it("is not sent again once any byte of an answer came", async () => {
    let pieces = 0
    const url = await startRaw((socket, piece) => {
      pieces += 1
      if (piece === 0) socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok")
      else socket.end("HTTP/1.1 2")
    })
    const send = make()
    expect(await fetchText(send, post(url))).toBe("ok")
    await expect(send(post(url, { repeatable: true }))).rejects.toMatchObject({ reason: "network_error" })
    expect(pieces).toBe(2)
  })
})

it("a chunked body without its end fails", async () => {
  const url = await startRaw((socket) => socket.end("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n2\r\nok\r\n"))
  await expect(fetchText(make(), post(url))).rejects.toThrow("aborted")
})

describe.each(ways)("over %s", (_name, makeSend) => {
  it("nobody there is told by the system's code and the origin, without user and password", async () => {
    const peer = await start({})
    await peer.close()
    const url = peer.url.replace("://", "://user:secret@")
    const error = await makeSend()(post(url)).catch((cause: unknown) => cause)
    expect(error).toMatchObject({ kind: "transport", reason: "network_error", retryable: true })
    expect(String(error)).toContain(`no answer from ${peer.origin}: `)
    expect(String(error)).not.toContain("secret")
    await expect(makeSend()(post(peer.url))).rejects.toThrow(`no answer from ${peer.origin}: ECONNREFUSED`)
  })

  it("informational answers are passed over", async () => {
    const early = "HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\n"
    const url = await startRaw((socket) => {
      socket.end(`${early.repeat(3)}HTTP/1.1 200 OK\r\ncontent-length: 2\r\nconnection: close\r\n\r\nok`)
    })
    expect(await fetchText(makeSend(), post(url))).toBe("ok")
  })

  it.each<[why: string, answer: string]>([
    ["a chunk with a length that is none", "transfer-encoding: chunked\r\n\r\nzz\r\nok\r\n"],
    ["fewer bytes than announced", "content-length: 5\r\n\r\nok"],
    ["a connection that is closed after the head", "content-length: 5\r\n\r\n"],
  ])("a body that is not what it says fails: %s", async (_why, answer) => {
    const url = await startRaw((socket) => socket.end(`HTTP/1.1 200 OK\r\nconnection: close\r\n${answer}`))
    await expect(fetchText(makeSend(), post(url))).rejects.toBeInstanceOf(Error)
  })

  it("more bytes than announced belong to no answer", async () => {
    const url = await startRaw((socket) =>
      socket.write("HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nokHTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nevil"),
    )
    const send = makeSend()
    open.push(() => send.closeIdle?.())
    expect(await fetchText(send, post(url))).toBe("ok")
    expect(await fetchText(send, post(url))).toBe("ok")
  })

  it("a body of unknown length ends with its connection", async () => {
    const url = await startRaw((socket) => socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\n\r\nok"))
    expect(await fetchText(makeSend(), post(url))).toBe("ok")
  })

  it("a head that never ends is refused", async () => {
    const url = await startRaw((socket) => socket.write(`HTTP/1.1 200 OK\r\nx-a: ${"x".repeat(100_000)}`))
    await expect(makeSend()(post(url))).rejects.toMatchObject({ kind: "transport", reason: "network_error" })
  })

  it("several headers of one name are joined", async () => {
    const url = await startRaw((socket) =>
      socket.end("HTTP/1.1 200 OK\r\nconnection: close\r\nx-a: 1\r\nx-a: 2\r\ncontent-length: 0\r\n\r\n"),
    )
    const reply = await makeSend()(post(url))
    expect(reply.header("x-a")).toBe("1, 2")
    expect(reply.header("x-b")).toBeUndefined()
    expect(reply.url).toBe(url)
    reply.discard()
  })
})

describe.each(ways)("an exchange that is aborted, over %s", (_name, makeSend) => {
  const aborted = { kind: "cancelled", reason: "aborted" }

  it("before it began sends nothing", async () => {
    const peer = await start({ "*": plain(200) })
    const abort = new HttpAbort()
    abort.abort()
    await expect(makeSend()(post(peer.url, { abort }))).rejects.toMatchObject(aborted)
    expect(peer.heard).toEqual([])
  })

  it("before its answer rejects at once and closes its connection", async () => {
    let isClosed = false
    const peer = await start({
      "*": (_, reply) => {
        reply.on("close", () => {
          isClosed = true
        })
      },
    })
    const abort = new HttpAbort()
    const sent = makeSend()(post(peer.url, { abort }))
    const rejected = expect(sent).rejects.toMatchObject({
      ...aborted,
      message: `the request to ${peer.origin} was aborted`,
    })
    await peer.until(1)
    abort.abort()
    await rejected
    await until(() => isClosed)
  })

  it.each(["unread", "read", "discarded"])(
    "with a body that is %s closes its connection, and tells nothing more",
    async (state) => {
      let isClosed = false
      const peer = await start({
        "*": (_, response) => {
          response.writeHead(200)
          response.write("x")
          response.on("close", () => {
            isClosed = true
          })
        },
      })
      const abort = new HttpAbort()
      const send = makeSend()
      const answer = await send(post(peer.url, { abort }))
      const told: string[] = []
      if (state === "read") {
        answer.read({ chunk: () => told.push("chunk"), end: () => told.push("end"), fail: () => told.push("fail") })
        await until(() => told.length === 1)
      } else if (state === "discarded") answer.discard()
      abort.abort()
      send.closeIdle?.()
      await until(() => isClosed)
      expect(told).toEqual(state === "read" ? ["chunk"] : [])
    },
  )

  it("after its end changes nothing", async () => {
    const peer = await start({ "*": plain(200, "ok") })
    const abort = new HttpAbort()
    const send = makeSend()
    expect(await fetchText(send, post(peer.url, { abort }))).toBe("ok")
    abort.abort()
    expect(await fetchText(send, post(peer.url))).toBe("ok")
    send.closeIdle?.()
  })
})

describe("a fetch of the caller's own", () => {
  const reply =
    (body: BodyInit | null, init?: ResponseInit): typeof fetch =>
    () =>
      Promise.resolve(new Response(body, init))

  it("is told what to send, and not to follow redirects", async () => {
    const calls: unknown[][] = []
    const own: typeof fetch = (...given) => {
      calls.push(given)
      return Promise.resolve(new Response("ok", { status: 201, headers: { "x-a": "1" } }))
    }
    const answer = await createSendFetch({ fetch: own })(post("https://example.com/mcp"))
    expect(calls).toEqual([
      [
        "https://example.com/mcp",
        {
          method: "POST",
          headers: { "content-type": "application/json" },
          body: message("x"),
          redirect: "manual",
          signal: expect.any(AbortSignal),
        },
      ],
    ])
    expect([answer.status, answer.url, answer.header("x-a")]).toEqual([201, "https://example.com/mcp", "1"])
    expect(await bodyOf(answer)).toBe("ok")
  })

  it("may throw, reject with anything, and answer without a body", async () => {
    const send = (own: typeof fetch): Promise<HttpReply> =>
      createSendFetch({ fetch: own })(post("https://example.com/mcp"))
    const throws = (): never => {
      throw new TypeError("no such thing")
    }
    await expect(send(throws)).rejects.toThrow("no answer from https://example.com: no such thing")
    await expect(send(() => Promise.reject("nothing"))).rejects.toThrow("no answer from https://example.com: nothing")
    expect(await bodyOf(await send(reply(null, { status: 204 })))).toBe("")
    ;(await send(reply(null, { status: 204 }))).discard()
  })

  it("need not heed its signal: an abort ends the exchange, and an answer that comes later is let go", async () => {
    let answer: (response: Response) => void = () => {}
    const stubborn: typeof fetch = () =>
      new Promise((resolve) => {
        answer = resolve
      })
    const abort = new HttpAbort()
    const sent = createSendFetch({ fetch: stubborn })(post("https://example.com/mcp", { abort }))
    const rejected = expect(sent).rejects.toMatchObject({ kind: "cancelled", reason: "aborted" })
    abort.abort()
    await rejected
    let isCancelled = false
    const body = new ReadableStream({
      cancel() {
        isCancelled = true
      },
    })
    answer(new Response(body))
    await until(() => isCancelled)
  })

  it("may have bodies that cannot be cancelled", async () => {
    const body = new ReadableStream({
      start: (controller) => controller.enqueue(new Uint8Array(100_000)),
      cancel: () => new Promise(() => {}),
    })
    const send = createSendFetch({ fetch: reply(body) })
    ;(await send(post("https://example.com/mcp"))).discard()
    await new Promise((resolve) => setImmediate(resolve))
    send.closeIdle?.()
  })

  it("may hide a redirect, which is one all the same", async () => {
    const hidden = Object.defineProperty(new Response(null), "type", { value: "opaqueredirect" })
    const answer = await createSendFetch({ fetch: () => Promise.resolve(hidden) })(post("https://example.com/mcp"))
    expect(answer.status).toBe(302)
  })
})
