/** HTTP on `node:http`: a handler for any Node server or framework. */
import type { IncomingMessage, ServerResponse } from "node:http"
import { codes } from "../../core/error/codes.js"
import { type Fault, fault } from "../../core/error/fault.js"
import type { Answer, Peer } from "../../core/exchange.js"
import { isLoopbackName } from "../../core/http/authority.js"
import type { HeaderFacts } from "../../core/http/header.js"
import { type Accepts, decideAccept } from "../../core/http/media.js"
import { createMemo } from "../../core/http/memo.js"
import type { Message } from "../../core/wire/message.js"
import { parseMessage } from "../../core/wire/parse.js"
import { createDeadlines } from "../../store/deadlines.js"
import { type Drainable, withSignal } from "../shutdown.js"
import { decodeUtf8 } from "../utf8.js"
import { bodyConsumed, checkPost, parseBody } from "./body.js"
import type { Departures } from "./departures.js"
import { createKeepAlive } from "./event-stream.js"
import {
  admit,
  answerWithoutBody,
  createFront,
  type Front,
  type HttpOptions,
  isRefused,
  meet,
  refuseAt,
  type Servable,
  serveMessage,
} from "./front.js"
import { readBody } from "./node-body.js"
import { type Door, NodeExchange, NodeHeaders, writeAnswer, writeDocument } from "./node-exchange.js"
import type { SseConnections } from "./sse.js"

/** A request as frameworks pass it on: perhaps with a body that they have parsed. */
export interface NodeRequest extends IncomingMessage {
  readonly body?: unknown
}

/** Handles one request. Never throws; the answer is written to the response. */
export interface NodeHandler extends Drainable {
  (request: NodeRequest, response: ServerResponse): void
}

/**
 * Makes a handler for `node:http` and the frameworks on it. A connection to a loopback address is guarded like a loopback
 * bind; elsewhere a web page's `Origin` must be in `allowedOrigins`. A body that was parsed before is taken from
 * `request.body`.
 *
 * @throws `McpError` of kind `misuse` for an option that cannot be.
 * @example
 * app.all("/mcp", createNodeHandler(server))
 */
export function createNodeHandler(server: Servable, options: HttpOptions = {}): NodeHandler {
  const front = createFront(server, options, { place: "unknown", decode: decodeUtf8 })
  // A machine has few addresses, and each request needs to know of one.
  const isLocal = createMemo(isLoopbackAddress)
  const listener = createListener(front, (request) => isLocal(request.socket.localAddress ?? ""))
  return Object.assign(listener, withSignal(front.shutdown, options.signal))
}

/** What handles the requests behind one front door. Answers wait in `departures`, where that is given. */
export function createListener(
  front: Front,
  isLocal: (request: NodeRequest) => boolean,
  departures?: Departures,
): (request: NodeRequest, response: ServerResponse) => void {
  const { clock, limits } = front
  const door: Door = {
    front,
    limits,
    clock,
    bodies: createDeadlines(clock),
    keepAlive: createKeepAlive(clock, limits.keepAliveMs),
    departures,
  }
  return (request, response) => {
    const threshold = isLocal(request) ? front.localThreshold : front.threshold
    const { method = "" } = request
    const path = pathOf(request.url)
    const header = new NodeHeaders(request.headers)
    if (threshold.cors !== undefined) setHeaders(response, threshold.cors.headersFor(header.get("origin")))
    const met = meet(front, threshold, method, path, header.get("host") ?? header.get(":authority"), header)
    if (met !== undefined)
      return "status" in met ? answerEarly(door, request, response, met) : writeDocument(response, met, door)
    const admission = admit(front, method, path, header)
    if (admission instanceof Promise) void admission.then((peer) => follow(door, request, response, header, peer))
    else follow(door, request, response, header, admission)
  }
}

/** Puts headers on whatever the response will be. */
function setHeaders(response: ServerResponse, list: readonly string[]): void {
  for (let at = 0; at < list.length; at += 2) response.appendHeader(list[at] ?? "", list[at + 1] ?? "")
}

/** Goes on with a request behind the gate. */
function follow(
  door: Door,
  request: NodeRequest,
  response: ServerResponse,
  header: HeaderFacts,
  admission: Peer | Answer,
): void {
  const { front } = door
  if (isRefused(admission)) return answerEarly(door, request, response, admission)
  if (front.sse?.isAt(pathOf(request.url)) === true)
    return followSse(door, front.sse, request, response, header, admission)
  if (request.method === "POST") {
    return receive(door, request, response, header, (message, accepts) => {
      const exchange = new NodeExchange(response, admission, header, accepts, door)
      settle(serveMessage(front, message, exchange), (answer) => exchange.finish(answer))
    })
  }
  if (request.method === "GET") {
    const exchange = new NodeExchange(response, admission, header, decideAccept(header.get("accept")), door)
    return settle(front.endpoint.standby(exchange), (answer) => exchange.finish(answer))
  }
  const answered = answerWithoutBody(front, request.method ?? "", header, admission)
  settle(answered, (answer) => answerEarly(door, request, response, answer))
}

function settle(answered: Answer | Promise<Answer>, write: (answer: Answer) => void): void {
  if (answered instanceof Promise) void answered.then(write)
  else write(answered)
}

/** Goes on with a request of the deprecated transport. */
function followSse(
  door: Door,
  sse: SseConnections,
  request: NodeRequest,
  response: ServerResponse,
  header: HeaderFacts,
  peer: Peer,
): void {
  const { method, url = "" } = request
  const served = sse.methodAt(pathOf(url))
  if (method !== served) {
    const wrong = fault(405, codes.invalidRequest, "method_not_allowed", `Method not allowed: ${served} is served here`)
    return answerEarly(door, request, response, refuseAt(door.front, wrong, { Allow: served }))
  }
  if (served === "GET") {
    const exchange = new NodeExchange(response, peer, header, decideAccept(header.get("accept")), door)
    return settle(sse.open(exchange), (answer) => exchange.finish(answer))
  }
  const id = new URLSearchParams(url.slice(url.indexOf("?"))).get("sessionId") ?? undefined
  receive(door, request, response, header, (message) =>
    writeAnswer(response, sse.receive(id, peer.principal, message), door),
  )
}

/** Takes the message of a POST. */
function receive(
  door: Door,
  request: NodeRequest,
  response: ServerResponse,
  header: HeaderFacts,
  deliver: (message: Message | Fault, accepts: Accepts) => void,
): void {
  const { front } = door
  const accepts = checkPost(front.limits, header)
  if (typeof accepts !== "number") return answerEarly(door, request, response, refuseAt(front, accepts))
  if (request.body !== undefined) return deliver(parseBody(request.body, decodeUtf8, front.limits), accepts)
  if (request.readableEnded) return deliver(bodyConsumed("request.body"), accepts)
  readBody(request, door, (body) => {
    if (body instanceof Uint8Array) deliver(parseMessage(body, decodeUtf8, front.limits), accepts)
    else answerEarly(door, request, response, refuseAt(front, body), true)
  })
}

/** What is left of a body up to this size is read and forgotten, so that its connection can go on. */
const MAX_LEFTOVER_BYTES = 65_536

/** Answers a request whose body is not read to its end: the rest is let go, and the connection with it when that is long. */
function answerEarly(
  door: Door,
  request: NodeRequest,
  response: ServerResponse,
  answer: Answer,
  closes = isLong(request),
): void {
  if (response.writableEnded || response.destroyed) return
  if (!request.complete) {
    request.resume()
    if (closes) {
      response.shouldKeepAlive = false
      response.once("finish", () => request.destroy())
    }
  }
  writeAnswer(response, answer, door)
}

function isLong({ headers }: NodeRequest): boolean {
  return headers["transfer-encoding"] !== undefined || Number(headers["content-length"]) > MAX_LEFTOVER_BYTES
}

function pathOf(url = "/"): string {
  const end = url.indexOf("?")
  return end < 0 ? url : url.slice(0, end)
}

/** Whether an address is a loopback address. */
export function isLoopbackAddress(address: string): boolean {
  const plain = address.startsWith("::ffff:") ? address.slice(7) : address
  return isLoopbackName(plain.includes(":") ? `[${plain}]` : plain)
}
