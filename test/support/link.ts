/** A server in memory, driven by raw messages. */

import type { EndpointOptions } from "conduit-mcp"
import { type Linkable, linkMemory } from "conduit-mcp/testing"
import { initializeRequest, type Json, modernRequest } from "./wire.js"

/** The caller's end: sends raw messages and waits for the ones that come back. */
export interface RawLink {
  /** Everything that came back so far, in order. */
  readonly received: Json[]
  send(message: unknown): void
  /** The first message, received already or later, that `matches`. */
  next(matches: (message: Json) => boolean): Promise<Json>
  /** Sends a request and waits for its response. */
  request(message: Json): Promise<Json>
  /** Sends a modern request and waits for its response. */
  modern(method: string, params?: Json): Promise<Json>
  /** Sends a legacy request and waits for its response; opens with `initialize` first. */
  legacy(method: string, params?: Json, version?: string): Promise<Json>
  close(): void
}

/** Links a server. */
export function link(server: Linkable, options?: EndpointOptions): RawLink {
  const memory = linkMemory(server, options)
  const received: Json[] = []
  let waiting: { matches: (message: Json) => boolean; resolve: (message: Json) => void }[] = []
  let ids = 100
  let opened = false
  memory.onMessage((text) => {
    const message = JSON.parse(text) as Json
    received.push(message)
    const heard = waiting.filter(({ matches }) => matches(message))
    waiting = waiting.filter((one) => !heard.includes(one))
    for (const { resolve } of heard) resolve(message)
  })
  const raw: RawLink = {
    received,
    send: (message) => memory.send(typeof message === "string" ? message : JSON.stringify(message)),
    next(matches) {
      const known = received.find(matches)
      if (known !== undefined) return Promise.resolve(known)
      return new Promise((resolve) => waiting.push({ matches, resolve }))
    },
    request(message) {
      raw.send(message)
      return raw.next((answer) => answer["id"] === message["id"] && answer["method"] === undefined)
    },
    modern: (method, params) => raw.request(modernRequest(++ids, method, params)),
    async legacy(method, params, version = "2025-11-25") {
      if (!opened) {
        opened = true
        await raw.request(initializeRequest(++ids, version))
        raw.send({ jsonrpc: "2.0", method: "notifications/initialized" })
      }
      return raw.request({ jsonrpc: "2.0", id: ++ids, method, ...(params === undefined ? {} : { params }) })
    },
    close: () => memory.close(),
  }
  return raw
}
