/**
 * The way out over HTTP on Node, Bun and Deno: `node:http` and `node:https`, with connections that are kept open. The hot path of
 * a client: head and body are written at once, and there is no timer and nothing of the web's streams.
 */
import { Buffer } from "node:buffer"
import { Agent, type ClientRequest, type IncomingMessage, type RequestOptions, request as requestHttp } from "node:http"
import { request as requestHttps, Agent as SecureAgent } from "node:https"
import type { Socket } from "node:net"
import type { Duplex } from "node:stream"
import type { McpError } from "../../core/error/error.js"
import { createMemo } from "../../core/http/memo.js"
import type { BodySink, HttpReply, HttpRequest, HttpSend } from "../../core/http/send.js"
import { abortedError, MAX_DISCARDED_BYTES, networkError } from "./network-error.js"
import { decodedBody } from "./node-decode.js"

/** Makes a way out with connections of its own, which are kept for later requests. Follows no redirect. */
export function createSend(): HttpSend {
  const plain = new Pool(new Agent(KEEP), requestHttp)
  const secure = new Pool(new SecureAgent(KEEP), requestHttps)
  const send = (request: HttpRequest): Promise<HttpReply> =>
    new Promise((resolve, reject) => {
      const target = targetOf(request.url)
      new Exchange(target.protocol === "https:" ? secure : plain, target, request, { resolve, reject }).start()
    })
  return Object.assign(send, {
    closeIdle() {
      plain.closeIdle()
      secure.closeIdle()
    },
  })
}

const KEEP = { keepAlive: true, scheduling: "lifo" } as const

/** Where a request goes. */
interface Target {
  readonly protocol: string
  readonly hostname: string
  readonly port: string
  readonly path: string
  readonly host: string
}

const targetOf = createMemo((text: string): Target => {
  const { protocol, hostname, port, pathname, search, host } = new URL(text)
  return { protocol, hostname: hostname.replace(/^\[|\]$/g, ""), port, path: pathname + search, host }
})

/** What a connection had carried when it was taken for its present request. */
interface Marked {
  bytesReadBefore?: number
  bytesWrittenBefore?: number
}

/** What came of a request: whether anything was written, and whether anything came back. */
interface Trace {
  readonly wrote: boolean
  readonly heard: boolean
}

/** The connections of one protocol. */
class Pool {
  readonly #agent: Agent
  readonly #request: (options: RequestOptions) => ClientRequest
  readonly #discarded = new Set<IncomingMessage>()

  constructor(agent: Agent, request: (options: RequestOptions) => ClientRequest) {
    this.#agent = agent
    this.#request = request
    agent.reuseSocket = (duplex: Duplex, outgoing) => {
      const socket = duplex as Socket & Marked
      socket.bytesReadBefore = socket.bytesRead
      socket.bytesWrittenBefore = socket.bytesWritten
      Agent.prototype.reuseSocket.call(agent, socket, outgoing)
    }
  }

  request(options: RequestOptions): ClientRequest {
    return this.#request({ ...options, agent: this.#agent })
  }

  /** What came of a request on a connection that had been kept; undefined for a new one. */
  traceOf({ socket, reusedSocket }: ClientRequest): Trace | undefined {
    if (socket === null || !reusedSocket) return undefined
    const { bytesRead, bytesWritten, bytesReadBefore = 0, bytesWrittenBefore = 0 }: Socket & Marked = socket
    return { wrote: bytesWritten > bytesWrittenBefore, heard: bytesRead > bytesReadBefore }
  }

  /** Reads a short body to its end, so that its connection can be used again; a long one takes the connection with it. */
  discard(incoming: IncomingMessage): void {
    let length = 0
    this.#discarded.add(incoming)
    incoming.on("data", (chunk: Uint8Array) => {
      length += chunk.length
      if (length > MAX_DISCARDED_BYTES) incoming.destroy()
    })
    incoming.on("close", () => this.#discarded.delete(incoming))
  }

  /** Closes the connections that carry no request, and those whose answer nobody reads. */
  closeIdle(): void {
    for (const incoming of this.#discarded) incoming.destroy()
    this.closeFree()
    // A connection whose answer ends right now is free one tick later.
    process.nextTick(() => this.closeFree())
  }

  /** Closes the connections that carry no request. */
  closeFree(): void {
    for (const sockets of Object.values(this.#agent.freeSockets)) for (const socket of sockets ?? []) socket.destroy()
  }
}

/** Settles the promise of an exchange. */
interface Settlers {
  resolve(reply: HttpReply): void
  reject(error: McpError): void
}

/** One request and what comes back. */
class Exchange implements HttpReply {
  readonly #pool: Pool
  readonly #target: Target
  readonly #request: HttpRequest
  readonly #settlers: Settlers
  #outgoing: ClientRequest | undefined
  #incoming: IncomingMessage | undefined
  #isRepeated = false
  #isOver = false

  constructor(pool: Pool, target: Target, request: HttpRequest, settlers: Settlers) {
    this.#pool = pool
    this.#target = target
    this.#request = request
    this.#settlers = settlers
  }

  get status(): number {
    return this.#incoming?.statusCode ?? 0
  }

  get url(): string {
    return this.#request.url
  }

  header(name: string): string | undefined {
    const value = this.#incoming?.headers[name]
    return typeof value === "object" ? value.join(", ") : value
  }

  start(): void {
    const { method, headers, body, abort, isBackground } = this.#request
    const { protocol, hostname, port, path, host } = this.#target
    try {
      const fields = toFields(headers, host, body)
      const outgoing = this.#pool.request({ protocol, hostname, port, path, method, headers: fields })
      this.#outgoing = outgoing
      outgoing.on("response", (incoming) => this.#answer(incoming))
      outgoing.on("error", (cause) => this.#fail(cause))
      // Comes alone when the server switches protocols.
      outgoing.on("close", () => {
        if (outgoing === this.#outgoing) this.#fail(new Error("the connection was closed"))
      })
      if (isBackground === true) outgoing.on("socket", (socket) => socket.unref())
      abort.onAbort(() => this.#abort())
      // Text goes out in one piece with the head, as UTF-8: a head beyond ASCII has to be kept apart.
      outgoing.end(body !== undefined && fields.some(isBeyondAscii) ? Buffer.from(body) : body)
    } catch (cause) {
      this.#fail(cause)
    }
  }

  read(sink: BodySink): void {
    const incoming = this.#incoming
    if (incoming === undefined) return
    const fail = (cause: unknown): void => {
      if (this.#finish()) sink.fail(cause)
    }
    try {
      const body = decodedBody(incoming)
      body.on("data", (chunk: Uint8Array) => {
        if (!this.#isOver) sink.chunk(chunk)
      })
      body.on("end", () => {
        if (this.#finish()) sink.end()
      })
      body.on("close", () => fail(body.errored ?? new Error("the connection was closed")))
      // An error without a listener is only told by its close; what decodes a body insists on one.
      if (body !== incoming) body.on("error", () => {})
    } catch (error) {
      incoming.destroy()
      queueMicrotask(() => fail(error))
    }
  }

  discard(): void {
    if (this.#finish() && this.#incoming !== undefined) this.#pool.discard(this.#incoming)
  }

  #answer(incoming: IncomingMessage): void {
    this.#incoming = incoming
    this.#settlers.resolve(this)
  }

  #fail(cause: unknown): void {
    if (this.#isOver || this.#incoming !== undefined) return
    const isStale = this.#isStale
    // Others that were kept as long are probably as dead: the next request is not to find that out as well.
    if (isStale) this.#pool.closeFree()
    if (isStale && this.#mayRepeat) {
      this.#isRepeated = true
      this.start()
    } else if (this.#finish()) {
      this.#settlers.reject(networkError(this.#request.url, cause))
    }
  }

  /** Whether the connection had been kept, and nothing came over it for the request. */
  get #isStale(): boolean {
    return this.#trace?.heard === false
  }

  /** Whether the server has not seen the request, or may see it twice. */
  get #mayRepeat(): boolean {
    return !this.#isRepeated && (this.#request.repeatable || this.#trace?.wrote === false)
  }

  get #trace(): Trace | undefined {
    return this.#outgoing === undefined ? undefined : this.#pool.traceOf(this.#outgoing)
  }

  #abort(): void {
    if (!this.#finish()) return
    if (this.#incoming === undefined) this.#settlers.reject(abortedError(this.#request.url))
    this.#outgoing?.destroy()
  }

  /** Ends it; answers whether it had not ended before. */
  #finish(): boolean {
    if (this.#isOver) return false
    this.#isOver = true
    this.#request.abort.onAbort(undefined)
    return true
  }
}

/** The whole head of a request as a flat list of names and values. */
function toFields(headers: HttpRequest["headers"], host: string, body: string | undefined): string[] {
  const fields = ["host", host, "accept-encoding", "identity"]
  for (const [name, value] of Object.entries(headers)) fields.push(name, value)
  if (body !== undefined) fields.push("content-length", String(Buffer.byteLength(body)))
  return fields
}

const BEYOND_ASCII = /[\u0080-\uffff]/

function isBeyondAscii(value: string): boolean {
  return BEYOND_ASCII.test(value)
}
