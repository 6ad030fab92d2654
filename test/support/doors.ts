/** One server behind each kind of HTTP door, so that one table of tests runs over all of them. */
import { once } from "node:events"
import { createServer as createHttpServer, type IncomingHttpHeaders } from "node:http"
import type { AddressInfo } from "node:net"
import type { Server } from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { createNodeHandler, type Drained, type HttpOptions } from "conduit-mcp/node"
import { type Reply, send, toMessages } from "./http.js"
import { type Json, modernHeaders } from "./wire.js"

/** A request, as tests write one. */
export interface DoorRequest {
  readonly method?: string
  readonly path?: string
  readonly headers?: Record<string, string>
  readonly body?: string
}

/** A door that is open. */
export interface OpenDoor {
  send(request: DoorRequest): Promise<Reply>
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
      const response = await handler(
        new Request(`http://127.0.0.1${path}`, { method, headers, ...(body === undefined ? {} : { body }) }),
      )
      const text = await response.text()
      const found: IncomingHttpHeaders = Object.fromEntries(response.headers)
      const messages = toMessages(found["content-type"], text)
      return { status: response.status, headers: found, text, json: messages.at(-1) ?? {}, messages }
    },
    drain: handler.drain,
    stop: handler.close,
    close: async () => handler.close(),
  })
}
