/** HTTP on `node:http`: a handler for any Node server or framework, and `serve()` with a server of its own. */
import { Buffer } from "node:buffer"
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import type { AddressInfo } from "node:net"
import { misuse } from "../../core/error/error.js"
import type { Fault } from "../../core/error/fault.js"
import { type Answer, type Peer, refuse } from "../../core/exchange.js"
import { isLoopbackName } from "../../core/http/authority.js"
import type { HeaderFacts } from "../../core/http/header.js"
import { decideAccept } from "../../core/http/media.js"
import type { Message } from "../../core/wire/message.js"
import { parseMessage } from "../../core/wire/parse.js"
import { createSystemClock } from "../../store/clock.js"
import { decodeUtf8 } from "../utf8.js"
import { createKeepAlive, type KeepAlive } from "./event-stream.js"
import {
  admit,
  answerWithoutBody,
  bodyConsumed,
  bodyTooLarge,
  checkGuard,
  checkPost,
  createFront,
  documentAt,
  type Front,
  type HttpOptions,
  isRefused,
  parseBody,
  SECURITY_HEADERS,
  type Servable,
  serveMessage,
} from "./front.js"
import { NodeExchange, NodeHeaders, writeJson, writeText } from "./node-exchange.js"

/** A request as frameworks pass it on: perhaps with a body that they have parsed. */
export interface NodeRequest extends IncomingMessage {
  readonly body?: unknown
}

/** Handles one request. Never throws; the answer is written to the response. */
export type NodeHandler = (request: NodeRequest, response: ServerResponse) => void

/** Options of {@link serve}. */
export interface ServeOptions extends HttpOptions {
  /** Default 3000; 0 takes a free one. */
  readonly port?: number
  /** The address to bind. Default `127.0.0.1`. */
  readonly host?: string
  /** Binds an address that is not loopback although there is no `auth`. Default false. */
  readonly allowUnauthenticated?: boolean
  /** Closes the server when it aborts. */
  readonly signal?: AbortSignal
}

/** A server that listens. */
export interface Running {
  /** The URL of the endpoint. */
  readonly url: string
  readonly address: AddressInfo
  /** Stops at once: aborts what runs and ends every connection. */
  close(): Promise<void>
}

/**
 * Makes a handler for `node:http` and the frameworks on it. A connection to a loopback address is guarded like a loopback
 * bind; elsewhere a web page's `Origin` must be in `allowedOrigins`. A body that was parsed before is taken from
 * `request.body`.
 *
 * @example
 * app.all("/mcp", createNodeHandler(server))
 */
export function createNodeHandler(server: Servable, options: HttpOptions = {}): NodeHandler {
  return createHandler(createFront(server, options, false, decodeUtf8), options, (request) =>
    isLoopbackAddress(request.socket.localAddress),
  )
}

function createHandler(front: Front, options: HttpOptions, isLocal: (request: NodeRequest) => boolean): NodeHandler {
  const clock = options.clock ?? createSystemClock()
  const door: Door = { front, keepAlive: createKeepAlive(clock, front.limits.keepAliveMs) }
  return (request, response) => {
    const path = pathOf(request.url)
    const { method = "" } = request
    const document = documentAt(front, method, path)
    if (document !== undefined) return writeText(response, document)
    const header = new NodeHeaders(request.headers)
    const guard = isLocal(request) ? front.localGuard : front.guard
    const refused = checkGuard(front, guard, path, header.get("host") ?? header.get(":authority"), header)
    if (refused !== undefined) return refuseRequest(request, response, refuse(refused))
    const admission = admit(front, method, path, header)
    if (admission instanceof Promise) void admission.then((peer) => follow(door, request, response, header, peer))
    else follow(door, request, response, header, admission)
  }
}

/** The front door and what its open streams share. */
interface Door {
  readonly front: Front
  readonly keepAlive: KeepAlive
}

/** Goes on with a request behind the gate. */
function follow(
  door: Door,
  request: NodeRequest,
  response: ServerResponse,
  header: HeaderFacts,
  admission: Peer | Answer,
): void {
  if (isRefused(admission)) return refuseRequest(request, response, admission)
  if (request.method === "POST") return receive(door, request, response, header, admission)
  if (request.method === "GET") {
    const accepts = decideAccept(header.get("accept"))
    const exchange = new NodeExchange(response, admission, header, accepts, door.keepAlive)
    return settle(door.front.endpoint.standby(exchange), (answer) => exchange.finish(answer))
  }
  const answered = answerWithoutBody(door.front, request.method ?? "", header, admission)
  settle(answered, (answer) => refuseRequest(request, response, answer))
}

function settle(answered: Answer | Promise<Answer>, write: (answer: Answer) => void): void {
  if (answered instanceof Promise) void answered.then(write)
  else write(answered)
}

/** Reads the body of a POST within its limits, and serves it. */
function receive(door: Door, request: NodeRequest, response: ServerResponse, header: HeaderFacts, peer: Peer): void {
  const { front } = door
  const accepts = checkPost(front, header)
  if (typeof accepts !== "number") return refuseRequest(request, response, refuse(accepts))
  const exchange = new NodeExchange(response, peer, header, accepts, door.keepAlive)
  if (request.body !== undefined) return answer(front, parseBody(front, request.body), exchange)
  if (request.readableEnded) return exchange.finish(refuse(bodyConsumed("request.body")))
  let size = 0
  let first: Buffer | undefined
  let rest: Buffer[] | undefined
  request.on("data", (chunk: Buffer) => {
    size += chunk.length
    if (size > front.limits.maxBodyBytes) {
      request.removeAllListeners("data").removeAllListeners("end")
      return refuseRequest(request, response, refuse(bodyTooLarge(front.limits)))
    }
    if (first === undefined) first = chunk
    else if (rest === undefined) rest = [first, chunk]
    else rest.push(chunk)
  })
  request.on("end", () => {
    const body = rest === undefined ? (first ?? EMPTY) : Buffer.concat(rest, size)
    first = undefined
    rest = undefined
    answer(front, parseMessage(body, decodeUtf8, front.limits), exchange)
  })
  request.on("error", ignore)
}

const EMPTY = Buffer.alloc(0)

function ignore(): void {
  // A request that breaks off has nobody left to answer; the response is closed by then.
}

function answer(front: Front, message: Message | Fault, exchange: NodeExchange): void {
  settle(serveMessage(front, message, exchange), (answer) => exchange.finish(answer))
}

/** Answers a request whose body is not read: the rest of it is let go, and the connection with it when it is long. */
function refuseRequest(request: NodeRequest, response: ServerResponse, answer: Answer): void {
  if (response.writableEnded || response.destroyed) return
  if (!request.complete) {
    response.setHeader("Connection", "close")
    request.resume()
    response.once("finish", () => request.destroy())
  }
  if (answer.text === undefined) response.writeHead(answer.status, [...SECURITY_HEADERS]).end()
  else writeJson(response, answer.status, answer.text, answer.headers)
}

function pathOf(url = "/"): string {
  const end = url.indexOf("?")
  return end < 0 ? url : url.slice(0, end)
}

function isLoopbackAddress(address: string | undefined): boolean {
  if (address === undefined) return false
  const plain = address.startsWith("::ffff:") ? address.slice(7) : address
  return isLoopbackName(plain.includes(":") ? `[${plain}]` : plain)
}

/**
 * Serves both eras on an HTTP server of its own. Resolves once it listens.
 *
 * @throws `McpError` of kind `misuse`, reason `unsafe_bind`, for an address that is not loopback without `auth`.
 * @example
 * const running = await serve(server, { port: 3000 })
 */
export async function serve(server: Servable, options: ServeOptions = {}): Promise<Running> {
  const { port = 3000, host = "127.0.0.1", signal, path = "/mcp" } = options
  const loopback = host === "localhost" || isLoopbackAddress(host)
  if (!loopback && options.auth === undefined && options.allowUnauthenticated !== true) {
    const text = `serve() would listen on ${host} without authentication: set "auth", or "allowUnauthenticated: true"`
    throw misuse("unsafe_bind", text)
  }
  const front = createFront(
    server,
    { ...(loopback ? {} : { ephemeralState: false }), ...options, path },
    loopback,
    decodeUtf8,
  )
  const http = createHttpServer(createHandler(front, options, () => loopback))
  http.requestTimeout = front.limits.bodyTimeoutMs
  http.headersTimeout = Math.min(front.limits.bodyTimeoutMs, 60_000)
  http.keepAliveTimeout = KEEP_ALIVE_TIMEOUT_MS
  const address = await listen(http, port, host)
  const close = (): Promise<void> => {
    front.endpoint.close()
    const closed = new Promise<void>((resolve) => http.close(() => resolve()))
    http.closeAllConnections()
    return closed
  }
  if (signal?.aborted) await close()
  else signal?.addEventListener("abort", () => void close(), { once: true })
  const name = address.family === "IPv6" ? `[${address.address}]` : address.address
  return { url: `http://${name}:${address.port}${path}`, address, close }
}

/** Longer than the idle time of common load balancers, so that they close first and no request meets a closing socket. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000

function listen(http: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    http.once("error", reject)
    http.listen(port, host, () => {
      http.off("error", reject)
      const address = http.address()
      if (address === null || typeof address === "string") reject(new Error("the server has no network address"))
      else resolve(address)
    })
  })
}
