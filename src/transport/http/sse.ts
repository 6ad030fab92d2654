/**
 * The deprecated HTTP+SSE transport: one event stream that carries everything to the client, and a path that takes its messages.
 * Each stream is a pipe with a caller. Spoken with the legacy revisions alone.
 *
 * @see https://modelcontextprotocol.io/specification/2024-11-05/basic/transports#http-with-sse
 */
import { codes } from "../../core/error/codes.js"
import { type Fault, fault } from "../../core/error/fault.js"
import { type Answer, accepted, type Endpoint, type Exchange, refuse, silent } from "../../core/exchange.js"
import { namedVersion } from "../../core/feature/envelope.js"
import { clampText } from "../../core/feature/text.js"
import type { Principal } from "../../core/http/gate.js"
import type { Limits } from "../../core/limits.js"
import { sessionNotFound } from "../../core/negotiate/inbound.js"
import { legacyVersions } from "../../core/revision/table.js"
import type { Message } from "../../core/wire/message.js"
import type { DecodeUtf8 } from "../../core/wire/parse.js"
import { isSamePrincipal } from "../../server/era/session.js"
import { randomText } from "../../server/input/seal.js"
import { overloaded } from "../../server/method/refusal.js"
import { onExpiry } from "../../server/stream/expiry.js"
import type { Clock } from "../../store/port.js"
import { createPipe, type Pipe } from "../pipe.js"

/** Where a client opens its stream. */
export const SSE_PATH = "/sse"

/** Where it posts its messages. */
export const MESSAGES_PATH = "/messages"

/** An answer on HTTP that can carry events with a name. */
export interface NamedEvents extends Exchange {
  sendNamed(event: string, data: string): void
}

/** The parts that {@link SseConnections} is made of. */
export interface SseParts {
  readonly endpoint: Endpoint
  readonly decode: DecodeUtf8
  readonly limits: Limits
  readonly clock: Clock
}

interface Connection {
  readonly pipe: Pipe
  readonly principal: Principal | undefined
  end(): void
}

/** The open connections of one front door. */
export class SseConnections {
  readonly #parts: SseParts
  readonly #connections = new Map<string, Connection>()

  constructor(parts: SseParts) {
    this.#parts = parts
  }

  /** Whether a path is one of the two. */
  isAt(path: string): boolean {
    return path === SSE_PATH || path === MESSAGES_PATH
  }

  /** The one method that a path of the two takes. */
  methodAt(path: string): "GET" | "POST" {
    return path === SSE_PATH ? "GET" : "POST"
  }

  /** Opens a connection over an exchange, and answers once it is over. */
  open(exchange: NamedEvents): Answer | Promise<Answer> {
    const { limits } = this.#parts
    if (!exchange.canStream) return refuse(fault(406, codes.invalidRequest, "not_acceptable", NO_STREAM))
    if (this.#connections.size >= limits.maxSseConnections) return overloaded(undefined, "too many SSE connections")
    const id = randomText(16)
    exchange.sendNamed("endpoint", `${MESSAGES_PATH}?sessionId=${id}`)
    return new Promise((resolve) => this.#keep(id, exchange, () => resolve(silent)))
  }

  /** Takes one message for the connection that is named; its answer goes out on that connection. */
  receive(id: string | undefined, principal: Principal | undefined, message: Message | Fault): Answer {
    const connection = id === undefined ? undefined : this.#connections.get(id)
    if (connection === undefined || !isSamePrincipal(connection.principal, principal))
      return this.#refuse(sessionNotFound())
    if (message.kind === "fault") return this.#refuse(message)
    const refused = modernRefusal(message)
    if (refused !== undefined) return this.#refuse(refused)
    connection.pipe.serve(message)
    return accepted
  }

  /** Ends every connection. */
  close(): void {
    for (const connection of [...this.#connections.values()]) connection.end()
  }

  #keep(id: string, exchange: NamedEvents, over: () => void): void {
    const { endpoint, decode, limits, clock } = this.#parts
    const { principal } = exchange.peer
    const channel = {
      send: (text: string) => exchange.send(text),
      flush: () => exchange.flush(),
      close: () => exchange.close(),
    }
    const pipe = createPipe({ endpoint, channel, limits, decode, principal })
    const end = (): void => {
      if (!this.#connections.delete(id)) return
      for (const cancel of cancels) cancel()
      pipe.close()
      exchange.close()
      over()
    }
    const cancels = [clock.after(limits.sseLifetimeMs, end), onExpiry(clock, principal, end)]
    this.#connections.set(id, { pipe, principal, end })
    exchange.onAbort(end)
  }

  #refuse(refused: Fault): Answer {
    this.#parts.endpoint.refused(refused, "http")
    return refuse(refused)
  }
}

const NO_STREAM = "Not acceptable: Accept must allow text/event-stream"

/** The refusal of a message of the modern era, which this transport does not carry. */
function modernRefusal(message: Message): Fault | undefined {
  if (message.kind !== "request" && message.kind !== "notification") return undefined
  const version = namedVersion(message.params)
  if (version === undefined || legacyVersions.includes(version)) return undefined
  const text = `Unsupported protocol version: ${clampText(version)} is not spoken over HTTP+SSE`
  const data = { supported: legacyVersions, requested: clampText(version) }
  return fault(400, codes.unsupportedProtocolVersion, "unsupported_protocol_version", text, message.id, data)
}
