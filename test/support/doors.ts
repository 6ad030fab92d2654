/** One server behind each kind of HTTP door, so that one table of tests runs over all of them. */
import { once } from "node:events"
import { createServer as createHttpServer, type IncomingHttpHeaders, request } from "node:http"
import type { AddressInfo } from "node:net"
import type { Server } from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { createNodeHandler, type Drained, type HttpOptions } from "conduit-mcp/node"
import { type Reply, readReply, send, toMessages } from "./http.js"
import { type Json, modernHeaders } from "./wire.js"

/** A request, as tests write one. */
export interface DoorRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** A POST whose body is still to come. */
export interface Upload {
  write(text: string): void
  end(): void
  /** Breaks the connection. */
  abort(): void
  readonly reply: Promise<Reply>
}

/** A door that is open. */
export interface OpenDoor {
  send(request: DoorRequest): Promise<Reply>
  /** Begins a POST, the headers first. */
  upload(headers: Record<string, string>): Upload
  /** Posts one modern request. */
  post(message: Json, headers?: Record<string, string>): Promise<Reply>
  drain(ms?: number): Promise<Drained>
  /** Aborts what runs. */
  stop(): void
  close(): Promise<void>
}

/** The doors, by name. */
export const doors: readonly (readonly [
  name: string,
  open: (server: Server, options?: HttpOptions) => Promise<OpenDoor>,
])[] = [
  ["node", openNode],
  ["fetch", openFetch],
]

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" }

function withPost(door: Omit<OpenDoor, "post">): OpenDoor {
  return {
    ...door,
    post: (message, headers = {}) =>
      door.send({
        headers: { ...JSON_HEADERS, ...modernHeaders(message), ...headers },
        body: JSON.stringify(message),
      }),
  }
}

async function openNode(server: Server, options: HttpOptions = {}): Promise<OpenDoor> {
  const handler = createNodeHandler(server, options)
  const http = createHttpServer(handler).listen(0, "127.0.0.1")
  await once(http, "listening")
  const { port } = http.address() as AddressInfo
  return withPost({
    send: ({ method = "POST", path = "/mcp", headers = {}, body }) =>
      send(`http://127.0.0.1:${port}${path}`, { method, headers, ...(body === undefined ? {} : { body }) }),
    upload(headers) {
      const outgoing = request(`http://127.0.0.1:${port}/mcp`, { method: "POST", headers, agent: false })
      const reply = new Promise<Reply>((resolve, reject) => {
        outgoing.on("response", (incoming) => readReply(incoming).then(resolve, reject))
        outgoing.on("error", reject)
      })
      reply.catch(() => {})
      outgoing.flushHeaders()
      return {
        reply,
        write: (text) => void outgoing.write(text),
        end: () => void outgoing.end(),
        abort: () => void outgoing.destroy(),
      }
    },
    drain: handler.drain,
    stop: handler.close,
    async close() {
      handler.close()
      http.closeAllConnections()
      await new Promise((resolve) => http.close(resolve))
    },
  })
}

async function openFetch(server: Server, options: HttpOptions = {}): Promise<OpenDoor> {
  const handler = createFetchHandler(server, options)
  return withPost({
    async send({ method = "POST", path = "/mcp", headers = {}, body }) {
      const init = { method, headers, ...(body === undefined ? {} : { body }) }
      return toReply(await handler(new Request(`http://127.0.0.1${path}`, init)))
    },
    upload(headers) {
      let source: ReadableStreamDefaultController<Uint8Array> | undefined
      const body = new ReadableStream<Uint8Array>({
        start: (controller) => {
          source = controller
        },
      })
      const init: RequestInit & { readonly duplex: "half" } = { method: "POST", headers, body, duplex: "half" }
      const reply = handler(new Request("http://127.0.0.1/mcp", init)).then(toReply)
      return {
        reply,
        write: (text) => source?.enqueue(new TextEncoder().encode(text)),
        end: () => source?.close(),
        abort: () => source?.error(new Error("the connection broke")),
      }
    },
    drain: handler.drain,
    stop: handler.close,
    close: async () => handler.close(),
  })
}

async function toReply(response: Response): Promise<Reply> {
  const text = await response.text()
  const headers: IncomingHttpHeaders = Object.fromEntries(response.headers)
  const messages = toMessages(headers["content-type"], text)
  return { status: response.status, headers, text, json: messages.at(-1) ?? {}, messages }
}
