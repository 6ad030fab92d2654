/** A linked pair in memory: a server and its caller in one process, with everything that a pipe checks. */
import type { ClientLimits } from "../client/limits.js"
import type { Dialer } from "../client/link.js"
import type { Endpoint } from "../core/exchange.js"
import { resolveLimits } from "../core/limits.js"
import { endsOf } from "../core/wire/lines.js"
import { createDecodeUtf8 } from "../core/wire/parse.js"
import type { EndpointOptions } from "../server/options.js"
import { createPipe } from "./pipe.js"
import { createPipeLink, type Duct } from "./pipe-link.js"
import type { Channel } from "./port.js"

/** What can be put on a link: a server made by `createServer()`. */
export interface Linkable {
  endpoint(options?: EndpointOptions): Endpoint
}

/** The caller's end of a link. */
export interface MemoryLink extends Channel {
  /** Hears every message of the server, in order, each in a microtask of its own. */
  onMessage(listener: (text: string) => void): void
}

/** Serves `server` in memory; the caller's end is returned. Messages are texts, so nothing is shared by reference. */
export function linkMemory(server: Linkable, options: EndpointOptions = {}): MemoryLink {
  const limits = resolveLimits(options.limits)
  const endpoint = server.endpoint({ ephemeralState: true, ...options })
  const listeners = new Set<(text: string) => void>()
  const encoder = new TextEncoder()
  let closed = false

  const deliver = (text: string): void => {
    queueMicrotask(() => {
      if (!closed) for (const listener of listeners) listener(text)
    })
  }
  const channel = { send: deliver, flush: () => Promise.resolve(), close() {} }
  const pipe = createPipe({ endpoint, channel, limits, decode: createDecodeUtf8() })
  return {
    send(text) {
      if (closed) return
      const bytes = encoder.encode(text)
      queueMicrotask(() => {
        if (closed) return
        if (bytes.length > limits.maxLineBytes) pipe.refuseLength(bytes.length)
        else pipe.receive(bytes)
      })
    },
    flush: () => Promise.resolve(),
    onMessage: (listener) => void listeners.add(listener),
    close() {
      if (closed) return
      closed = true
      pipe.close()
      endpoint.close()
    },
  }
}

/** Options of {@link createMemoryDialer}. */
export interface MemoryDialerOptions {
  readonly limits: ClientLimits
  /** What the server's end is told. */
  readonly endpoint?: EndpointOptions | undefined
}

/** Makes the client's way to a server of the same process: a link in memory for each, with everything that a pipe checks. */
export function createMemoryDialer(server: Linkable, { limits, endpoint }: MemoryDialerOptions): Dialer {
  const origin = "memory"
  return {
    kind: "pipe",
    origin,
    dial: () =>
      createPipeLink({ origin, duct: createMemoryDuct(server, limits, endpoint), limits, decode: createDecodeUtf8() }),
  }
}

function createMemoryDuct(server: Linkable, { maxMessageBytes }: ClientLimits, options?: EndpointOptions): Duct {
  const encoder = new TextEncoder()
  let link: MemoryLink | undefined
  return {
    async open(listener) {
      link = linkMemory(server, options)
      link.onMessage((text) => {
        const bytes = encoder.encode(text)
        if (bytes.length > maxMessageBytes) listener.tooLong(bytes.length, endsOf(bytes))
        else listener.line(bytes)
      })
    },
    send(text) {
      link?.send(text)
      return undefined
    },
    async close() {
      link?.close()
      link = undefined
    },
  }
}
