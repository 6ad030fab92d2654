/** `serve()`: an HTTP server of its own, from listening to going down. */
import { createServer as createHttpServer, type Server } from "node:http"
import type { AddressInfo } from "node:net"
import { McpError, misuse } from "../../core/error/error.js"
import type { Answer } from "../../core/exchange.js"
import { type Drained, onAbort, within } from "../shutdown.js"
import { decodeUtf8 } from "../utf8.js"
import { Departures } from "./departures.js"
import { createFront, type Front, type HttpOptions, type Servable } from "./front.js"
import { createListener, isLoopbackAddress } from "./node.js"
import { MESSAGES_PATH, SSE_PATH } from "./sse.js"

/** Options of {@link serve}. */
export interface ServeOptions extends HttpOptions {
  /** Default 3000; 0 takes a free one. */
  readonly port?: number
  /** The address to bind. Default `127.0.0.1`. */
  readonly host?: string
  /** Binds an address that is not loopback although there is no `auth`. Default false. */
  readonly allowUnauthenticated?: boolean
  /** Where GET answers 200 for as long as the process lives; `false` for nowhere. Default `/health`. */
  readonly healthPath?: string | false
  /** Where GET answers 200 until the server goes down, and 503 from then on; `false` for nowhere. Default `/ready`. */
  readonly readyPath?: string | false
  /**
   * Whether the deprecated HTTP+SSE transport is offered too, at `/sse` and `/messages`, for clients that know nothing newer.
   * Default false.
   */
  readonly sse?: boolean
}

/** A server that listens. */
export interface Running {
  /** The URL of the endpoint. */
  readonly url: string
  readonly address: AddressInfo
  /**
   * Goes down without cutting a call: `/ready` fails, new requests are answered 503 with `Retry-After`, streams of changes end,
   * calls go on for `ms` (default `limits.drainMs`, 10 seconds), and those that are left then are aborted. Resolves once the port
   * is free. Called again, it answers the same.
   */
  drain(ms?: number): Promise<Drained>
  /** Stops at once: aborts what runs and ends every connection. */
  close(): Promise<void>
}

/**
 * Serves both eras on an HTTP server of its own. Resolves once it listens.
 *
 * @throws `McpError` of kind `misuse`, reason `unsafe_bind`, for an address that is not loopback without `auth`; of kind
 * `transport`, reason `cannot_listen`, when the port is taken or the address is not of this machine.
 * @example
 * const running = await serve(server, { port: 3000 })
 */
export async function serve(server: Servable, options: ServeOptions = {}): Promise<Running> {
  const { port = 3000, host = "127.0.0.1", signal, path = "/mcp", sse = false } = options
  const loopback = host === "localhost" || isLoopbackAddress(host)
  if (!loopback && options.auth === undefined && options.allowUnauthenticated !== true) {
    const text = `serve() would listen on ${host} without authentication: set "auth", or "allowUnauthenticated: true"`
    throw misuse("unsafe_bind", text)
  }
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw misuse("invalid_option", `port must be an integer from 0 to 65535, not ${String(port)}`)
  }
  const front: Front = createFront(
    server,
    { ...(loopback ? {} : { ephemeralState: false }), ...options, path },
    {
      place: loopback ? "loopback" : "public",
      decode: decodeUtf8,
      probes: createProbes(options, path, () => front),
      sse,
    },
  )
  const departures = new Departures()
  const http = createServerFor(front, loopback, departures)
  const address = await listen(http, port, host)
  const running = createRunning(front, departures, http, { url: urlOf(address, path), address })
  if (signal?.aborted) await running.close()
  else
    http.once(
      "close",
      onAbort(signal, () => void running.drain()),
    )
  return running
}

/** The paths that answer whether the process lives, and whether it takes requests; they say nothing more. */
function createProbes(options: ServeOptions, path: string, front: () => Front): Front["probes"] {
  const { healthPath = "/health", readyPath = "/ready" } = options
  const probes = new Map<string, () => Answer>()
  if (healthPath !== false) probes.set(healthPath, () => ALIVE)
  if (readyPath !== false) probes.set(readyPath, () => (front().shutdown.isDraining ? LEAVING : ALIVE))
  if (options.sse === true && [path, ...probes.keys()].some((taken) => [SSE_PATH, MESSAGES_PATH].includes(taken))) {
    throw misuse("invalid_option", `with sse, path, healthPath and readyPath cannot be ${SSE_PATH} or ${MESSAGES_PATH}`)
  }
  if (probes.has(path) || (healthPath !== false && healthPath === readyPath)) {
    throw misuse("invalid_option", "path, healthPath and readyPath must differ")
  }
  return probes
}

const ALIVE: Answer = { status: 200, text: undefined, headers: { "Cache-Control": "no-store" } }
const LEAVING: Answer = { status: 503, text: undefined, headers: { "Cache-Control": "no-store", "Retry-After": "1" } }

/** Longer than the idle time of common load balancers, so that they close first and no request meets a closing socket. */
const KEEP_ALIVE_TIMEOUT_MS = 65_000

/** A server whose own deadlines for slow headers and slow bodies stand behind those of the front door. */
function createServerFor(front: Front, loopback: boolean, departures: Departures): Server {
  const { bodyTimeoutMs } = front.limits
  const headersTimeout = Math.min(bodyTimeoutMs, 60_000)
  return createHttpServer(
    {
      headersTimeout,
      requestTimeout: headersTimeout + 2 * bodyTimeoutMs,
      keepAliveTimeout: KEEP_ALIVE_TIMEOUT_MS,
      connectionsCheckingInterval: Math.min(headersTimeout, 10_000),
    },
    createListener(front, () => loopback, departures),
  )
}

/** How long connections that are kept alive are still answered once nothing runs, since a request may be on its way. */
const LINGER_MS = 500

/** How long answers that are written may take to leave when there is no other time left. */
const FLUSH_MS = 1_000

function createRunning(
  front: Front,
  departures: Departures,
  http: Server,
  where: Pick<Running, "url" | "address">,
): Running {
  const { shutdown, clock, limits } = front
  let draining: Promise<Drained> | undefined
  const closed = new Promise<void>((resolve) => void http.once("close", resolve))
  const drain = async (ms: number): Promise<Drained> => {
    const endsAtMs = clock.now() + ms
    const drained = await shutdown.drain(ms)
    if (await hasConnections(http)) await within(clock, LINGER_MS, closed)
    http.close()
    await within(clock, Math.max(endsAtMs - clock.now(), FLUSH_MS), closed)
    http.closeAllConnections()
    await closed
    return drained
  }
  return {
    ...where,
    drain(ms = limits.drainMs) {
      draining ??= drain(ms)
      return draining
    },
    close() {
      shutdown.close()
      departures.leave()
      http.close()
      http.closeAllConnections()
      return closed
    },
  }
}

function hasConnections(http: Server): Promise<boolean> {
  return new Promise((resolve) => http.getConnections((_error, count) => resolve(count > 0)))
}

function urlOf({ family, address, port }: AddressInfo, path: string): string {
  return `http://${family === "IPv6" ? `[${address}]` : address}:${port}${path}`
}

function listen(http: Server, port: number, host: string): Promise<AddressInfo> {
  return new Promise((resolve, reject) => {
    const refuse = (error: Error): void => reject(cannotListen(error, port, host))
    http.once("error", refuse)
    http.listen(port, host, () => {
      http.off("error", refuse)
      const address = http.address()
      if (address === null || typeof address === "string") refuse(new Error("the server has no network address"))
      else resolve(address)
    })
  })
}

/** Why a server does not listen, with what to do about it for the usual causes. */
function cannotListen(cause: Error, port: number, host: string): McpError {
  const code = "code" in cause ? String(cause.code) : ""
  const hint = HINTS[code] ?? cause.message
  return new McpError(`serve() cannot listen on ${host}, port ${port}: ${hint}`, {
    kind: "transport",
    reason: "cannot_listen",
    cause,
  })
}

const HINTS: Readonly<Record<string, string>> = {
  EADDRINUSE: 'the port is taken; set "port" to another one, 0 takes a free one',
  EACCES: 'the port is reserved for the system; set "port" to one above 1023, 0 takes a free one',
  EADDRNOTAVAIL: 'the address is none of this machine; set "host" to one that is',
  ENOTFOUND: 'the host has no address; set "host" to an address of this machine',
}
