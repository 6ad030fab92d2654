/** HTTP on the web's `Request` and `Response`: a handler for every runtime and framework that has them. */
import { codes } from "../../core/error/codes.js"
import { misuse } from "../../core/error/error.js"
import { type Fault, fault } from "../../core/error/fault.js"
import type { Cors } from "../../core/http/cors.js"
import { decideAccept } from "../../core/http/media.js"
import type { Limits } from "../../core/limits.js"
import { isObject, type Message } from "../../core/wire/message.js"
import { createDecodeUtf8, parseMessage } from "../../core/wire/parse.js"
import { createSystemClock } from "../../store/clock.js"
import { type Drainable, withSignal } from "../shutdown.js"
import { bodyConsumed, bodyTooLarge, bodyTooSlow, checkPost, parseBody } from "./body.js"
import { createKeepAlive } from "./event-stream.js"
import { FetchExchange, toDocumentResponse, toResponse, WebHeaders, type Wire } from "./fetch-exchange.js"
import { createRequestClock, isWorkers } from "./fetch-platform.js"
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

/** Options of {@link createFetchHandler}. */
export interface FetchOptions extends HttpOptions {
  /**
   * Whether legacy clients get sessions. Default false: a fetch handler usually runs as many instances that come and go, and
   * a session is known only to the one that opened it. Set it where one process serves every request. Not on Workers.
   */
  readonly sessions?: boolean
}

/** What a framework adds to a request. */
export interface FetchInfo {
  /** The body, where the framework has read it: parsed, as text, or as bytes. */
  readonly body?: unknown
}

/**
 * Answers one request. Runtimes and frameworks may call it as it stands: of a second argument of theirs only a member `body`
 * is looked at, and not even that where there is a third one, since then the second is the environment of Workers.
 */
export interface FetchHandler extends Drainable {
  (request: Request, info?: FetchInfo): Promise<Response>
  (request: Request, info: unknown, context?: unknown): Promise<Response>
}

/**
 * Makes a handler for runtimes and frameworks with the web's `Request` and `Response`. It may stand at module scope: nothing
 * is drawn at random and no timer runs before the first request. A web page's `Origin` must be in `allowedOrigins`, also on
 * a loopback address, which no handler of this kind can know; the `Host` is checked when `allowedHosts` is given.
 *
 * @throws `McpError` of kind `misuse`, reason `invalid_option`, for `sessions: true` or `listen: true` on Workers.
 * @example
 * Deno.serve(createFetchHandler(server))
 */
export function createFetchHandler(server: Servable, options: FetchOptions = {}): FetchHandler {
  const isolated = isWorkers()
  const { sessions = false, listen = !isolated } = options
  if (isolated && (sessions || listen)) {
    const option = sessions ? "sessions" : "listen"
    const text = `${option}: true needs a process that outlives its requests, which Workers do not have; leave it out`
    throw misuse("invalid_option", text)
  }
  const clock = options.clock ?? (isolated ? createRequestClock() : createSystemClock())
  const limits = isolated ? { ...UNCOUNTED, ...options.limits } : (options.limits ?? {})
  const front = createFront(
    server,
    { ephemeralState: false, ...options, clock, sessions, listen, limits },
    { place: "public", decode: createDecodeUtf8() },
  )
  const wire: Wire = { front, keepAlive: () => createKeepAlive(clock, front.limits.keepAliveMs) }
  const { cors } = front.threshold
  const serve = (request: Request, info?: unknown, context?: unknown): Promise<Response> => {
    const answered = handle(wire, request, context === undefined && isObject(info) ? info["body"] : undefined)
    return cors === undefined ? answered : answered.then((response) => withCors(response, cors, request))
  }
  return Object.assign(serve, withSignal(front.shutdown, options.signal))
}

/** Puts what CORS says on a response. */
function withCors(response: Response, cors: Cors, request: Request): Response {
  const list = cors.headersFor(request.headers.get("origin") ?? undefined)
  for (let at = 0; at < list.length; at += 2) response.headers.append(list[at] ?? "", list[at + 1] ?? "")
  return response
}

/**
 * On Workers a request that the platform gives up never comes to an end, so counting them would count up for ever, and its
 * handler needs no deadline.
 */
const UNCOUNTED: Partial<Limits> = {
  maxInFlight: Number.MAX_SAFE_INTEGER,
  maxInFlightPerPeer: Number.MAX_SAFE_INTEGER,
  handlerTimeoutMs: Number.MAX_SAFE_INTEGER,
}

async function handle(wire: Wire, request: Request, body: unknown): Promise<Response> {
  const { front } = wire
  const { method, url } = request
  const path = pathOf(url)
  const header = new WebHeaders(request.headers)
  const met = meet(front, front.threshold, method, path, header.get("host") ?? hostOf(url), header)
  if (met !== undefined) return "status" in met ? toResponse(met) : toDocumentResponse(met)
  const admission = await admit(front, method, path, header)
  if (isRefused(admission)) return toResponse(admission)
  if (method === "GET") {
    const exchange = new FetchExchange(request, admission, header, decideAccept(header.get("accept")), wire)
    return exchange.respond(() => front.endpoint.standby(exchange))
  }
  if (method !== "POST") return toResponse(await answerWithoutBody(front, method, header, admission))
  const accepts = checkPost(front.limits, header)
  if (typeof accepts !== "number") return toResponse(refuseAt(front, accepts))
  const message = body === undefined ? await readMessage(front, request) : parseBody(body, front.decode, front.limits)
  const exchange = new FetchExchange(request, admission, header, accepts, wire)
  return exchange.respond(() => serveMessage(front, message, exchange))
}

/** Reads the body within its limits, whatever its announced length, and what it says. */
async function readMessage(front: Front, request: Request): Promise<Message | Fault> {
  const { limits, clock } = front
  if (request.bodyUsed || request.body?.locked) return bodyConsumed("handler(request, { body })")
  if (request.body === null) return parseMessage(EMPTY, front.decode, limits)
  const reader = request.body.getReader()
  let late = false
  const stopDeadline = clock.after(limits.bodyTimeoutMs, () => {
    late = true
    reader.cancel().catch(ignore)
  })
  const body = await readBytes(reader, limits).finally(stopDeadline)
  if (late) return bodyTooSlow(limits)
  return body instanceof Uint8Array ? parseMessage(body, front.decode, limits) : body
}

const EMPTY = new Uint8Array(0)

async function readBytes(reader: ReadableStreamDefaultReader<Uint8Array>, limits: Limits): Promise<Uint8Array | Fault> {
  const chunks: Uint8Array[] = []
  let size = 0
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read()) {
      size += read.value.byteLength
      if (size > limits.maxBodyBytes) {
        reader.cancel().catch(ignore)
        return bodyTooLarge(limits)
      }
      chunks.push(read.value)
    }
  } catch {
    return fault(400, codes.parseError, "parse_error", "Parse error: the body broke off")
  }
  return concat(chunks, size)
}

/** The chunks as one; a body that came in one piece is not copied. */
function concat(chunks: readonly Uint8Array[], size: number): Uint8Array {
  const [first = EMPTY] = chunks
  if (chunks.length < 2) return first
  const whole = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    whole.set(chunk, at)
    at += chunk.byteLength
  }
  return whole
}

function ignore(): void {
  // A body that cannot be cancelled is not read on either.
}

/** The path of an absolute URL as a `Request` has it: serialised, so that nothing has to be parsed again. */
function pathOf(url: string): string {
  const start = url.indexOf("/", authorityOf(url))
  const end = url.search(/[?#]/)
  return start < 0 ? "/" : url.slice(start, end < 0 ? undefined : end)
}

function hostOf(url: string): string {
  const start = authorityOf(url)
  const end = url.indexOf("/", start)
  return url.slice(start, end < 0 ? undefined : end)
}

function authorityOf(url: string): number {
  return url.indexOf("://") + 3
}
