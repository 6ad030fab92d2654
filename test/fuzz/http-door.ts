/** Two doors for HTTP requests: raw bytes on a socket, and a call of a fetch handler. */
import { connect } from "node:net"
import type { FetchHandler } from "conduit-mcp/fetch"
import type { HttpRequest } from "./http-request.js"

/** What came back. */
export interface HttpReply {
  readonly status: number
  readonly headers: readonly (readonly [name: string, value: string])[]
  readonly body: Buffer
  /** Whether the server brought it to its end; otherwise the client left. */
  readonly ended: boolean
  /** What came behind the answer on the same connection. */
  readonly rest: Buffer
}

/** Hears a body as it comes, and may leave. */
export type OnBody = (reply: Pick<HttpReply, "status" | "headers">, body: Buffer, leave: () => void) => void

/** A way to send HTTP requests. */
export interface HttpDoor {
  /** Whether the length that a request says decides where its body ends. */
  readonly isFramed: boolean
  /** Sends a request. Undefined when the connection ended without an answer, `unsendable` when no client could send it. */
  send(request: HttpRequest, onBody: OnBody): Promise<HttpReply | undefined | "unsendable">
}

/** The value of a header in a reply. */
export function headerOf({ headers }: Pick<HttpReply, "headers">, name: string): string | undefined {
  return headers.find(([known]) => known.toLowerCase() === name)?.[1]
}

/** Raw bytes on a connection of their own. */
export function socketDoor(port: number): HttpDoor {
  return {
    isFramed: true,
    send: (request, onBody) =>
      new Promise((resolve, reject) => {
        const socket = connect({ port, host: "127.0.0.1", noDelay: true })
        const reader = new ReplyReader()
        let left = false
        const leave = (): void => {
          left = true
          socket.destroy()
        }
        socket.on("data", (chunk) => {
          reader.push(chunk)
          try {
            if (reader.reply !== undefined) onBody(reader.reply, reader.body, leave)
          } catch (error) {
            reject(error)
            leave()
          }
        })
        socket.on("error", () => {})
        socket.on("close", () => resolve(reader.finish(left)))
        socket.write(Buffer.from(headText(request), "latin1"))
        void writeChunks(request, (chunk) => socket.write(chunk)).then(() => {
          if (request.breaks) setImmediate(() => socket.destroy())
        })
      }),
  }
}

function headText({ method, path, headers }: HttpRequest): string {
  const names = new Set(headers.map(([name]) => name.toLowerCase()))
  const all = [
    ...(names.has("host") ? [] : [["host", "127.0.0.1"] as const]),
    ...headers,
    ["connection", "close"] as const,
  ]
  return `${method} ${path} HTTP/1.1\r\n${all.map(([name, value]) => `${name}: ${value}\r\n`).join("")}\r\n`
}

async function writeChunks({ chunks }: HttpRequest, write: (chunk: Uint8Array) => void): Promise<void> {
  for (const [index, chunk] of chunks.entries()) {
    if (index > 0) await new Promise((resolve) => setTimeout(resolve, 2))
    write(chunk)
  }
}

/** Reads one HTTP response from a connection. */
class ReplyReader {
  reply: Pick<HttpReply, "status" | "headers"> | undefined
  body: Buffer = Buffer.alloc(0)
  #raw: Buffer = Buffer.alloc(0)
  /** Bytes that are left of a body or of a chunk; undefined when the body ends with the connection. */
  #left: number | undefined
  #isChunked = false
  #isComplete = false

  push(chunk: Buffer): void {
    this.#raw = Buffer.concat([this.#raw, chunk])
    if (this.reply === undefined) this.#readHead()
    if (this.reply === undefined || this.#isComplete) return
    if (this.#isChunked) this.#readChunks()
    else this.#take(this.#left ?? this.#raw.length)
    if (!this.#isChunked && this.#left === 0) this.#isComplete = true
  }

  finish(left: boolean): HttpReply | undefined {
    if (this.reply === undefined) return undefined
    const ended = !left && (this.#isComplete || (!this.#isChunked && this.#left === undefined))
    return { ...this.reply, body: this.body, ended, rest: this.#isComplete ? this.#raw : Buffer.alloc(0) }
  }

  #readHead(): void {
    const end = this.#raw.indexOf("\r\n\r\n")
    if (end < 0) return
    const [first = "", ...lines] = this.#raw.subarray(0, end).toString("latin1").split("\r\n")
    this.#raw = this.#raw.subarray(end + 4)
    const headers = lines.map(
      (line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()] as const,
    )
    this.reply = { status: Number(first.split(" ")[1]), headers }
    const length = headerOf(this.reply, "content-length")
    this.#isChunked = headerOf(this.reply, "transfer-encoding") === "chunked"
    const isBare = this.reply.status === 204 || this.reply.status === 304
    this.#left = isBare ? 0 : length === undefined ? undefined : Number(length)
  }

  #readChunks(): void {
    for (;;) {
      const end = this.#raw.indexOf("\r\n")
      if (end < 0) return
      const size = Number.parseInt(this.#raw.subarray(0, end).toString("latin1"), 16)
      if (this.#raw.length < end + 2 + size + 2) return
      this.#raw = this.#raw.subarray(end + 2)
      this.#take(size)
      this.#raw = this.#raw.subarray(2)
      if (size > 0) continue
      this.#isComplete = true
      return
    }
  }

  #take(count: number): void {
    const taken = this.#raw.subarray(0, count)
    this.body = Buffer.concat([this.body, taken])
    this.#raw = this.#raw.subarray(taken.length)
    if (this.#left !== undefined) this.#left -= taken.length
  }
}

/** Calls of a fetch handler, with bodies that come in pieces. */
export function fetchDoor(handler: FetchHandler): HttpDoor {
  return {
    isFramed: false,
    async send(request, onBody) {
      const outgoing = toRequest(request)
      if (outgoing === undefined) return "unsendable"
      const response = await handler(outgoing)
      const reply = { status: response.status, headers: [...response.headers] }
      const pieces: Buffer[] = []
      let left = false
      const reader = response.body?.getReader()
      const leave = (): void => {
        left = true
        void reader?.cancel()
      }
      for (let read = await reader?.read(); read !== undefined && !read.done; read = await reader?.read()) {
        pieces.push(Buffer.from(read.value))
        onBody(reply, Buffer.concat(pieces), leave)
      }
      return { ...reply, body: Buffer.concat(pieces), ended: !left, rest: Buffer.alloc(0) }
    },
  }
}

/** The request as a runtime would hand it over; undefined for one that none lets through. */
function toRequest(request: HttpRequest): Request | undefined {
  const { method, path, headers, breaks } = request
  const hasBody = method !== "GET" && method !== "HEAD"
  const body = new ReadableStream<Uint8Array>({
    async start(controller) {
      await writeChunks(request, (chunk) => controller.enqueue(chunk))
      if (breaks) controller.error(new Error("the connection broke"))
      else controller.close()
    },
  })
  try {
    const rest = hasBody ? { body, duplex: "half" } : {}
    return new Request(`http://127.0.0.1${path}`, { method, headers: headers.map(([n, v]) => [n, v]), ...rest })
  } catch {
    return undefined
  }
}
