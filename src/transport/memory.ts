/** A linked pair in memory: a server and its caller in one process, with everything that a pipe checks. */
import type { Endpoint } from "../core/exchange.js"
import { resolveLimits } from "../core/limits.js"
import { createDecodeUtf8 } from "../core/wire/parse.js"
import type { EndpointOptions } from "../server/options.js"
import { createPipe } from "./pipe.js"
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
