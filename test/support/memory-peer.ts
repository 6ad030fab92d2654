/** A server on a pipe in memory that answers by a script, and remembers every line that it got. */
import type { Dialer, Link } from "conduit-mcp/client"
import { resolveClientLimits } from "../../src/client/limits.js"
import { McpError } from "../../src/core/error/error.js"
import { createDecodeUtf8 } from "../../src/core/wire/parse.js"
import { createPipeLink, type DuctListener } from "../../src/transport/pipe-link.js"
import type { Json } from "./wire.js"

/** What a peer does with a message that came. */
export type Reply = (message: Json, peer: MemoryPeer) => void

/** Replies by method, each list used up from its front and its last one again and again; `*` is for all other requests. */
export type PeerScript = Readonly<Record<string, Reply | readonly Reply[]>>

/** A JSON-RPC result with the id of the request. */
export const result =
  (value: unknown): Reply =>
  ({ id }, peer) =>
    peer.say({ id, result: value })

/** A JSON-RPC error with the id of the request. */
export const error =
  (code: number, message = "refused", data?: unknown): Reply =>
  ({ id }, peer) =>
    peer.say({ id, error: { code, message, data } })

/** Several replies, one after the other. */
export const all =
  (...replies: readonly Reply[]): Reply =>
  (message, peer) => {
    for (const reply of replies) reply(message, peer)
  }

/** Says something of its own. */
export const says =
  (message: Json): Reply =>
  (_, peer) =>
    peer.say(message)

/** The pipe ends. */
export const dies: Reply = (_, peer) => peer.die()

/** No answer ever comes. */
export const silence: Reply = () => {}

/** What a modern server says of itself. */
export const MODERN: PeerScript = {
  "server/discover": result({
    resultType: "complete",
    supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18"],
    capabilities: { tools: {} },
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.0.0" } },
  }),
}

/** What an older server says of itself. */
export const LEGACY: PeerScript = {
  "server/discover": error(-32601),
  initialize: result({
    protocolVersion: "2025-11-25",
    capabilities: { tools: {}, logging: {} },
    serverInfo: { name: "scripted", version: "1.0.0" },
  }),
}

/** See the file's comment. Each link that is dialled starts the script anew. */
export class MemoryPeer implements Dialer {
  readonly kind = "pipe"
  readonly origin = "peer"
  readonly #script: PeerScript
  #listener: DuctListener | undefined
  #changed = (): void => {}
  /** Every line that came, over all links. */
  readonly lines: string[] = []
  /** How many links were dialled. */
  dials = 0

  constructor(script: PeerScript) {
    this.#script = script
  }

  /** The messages that came, from the given one on. */
  messages(from = 0): Json[] {
    return this.lines.slice(from).map((line) => JSON.parse(line) as Json)
  }

  /** What came, one line for each message: its method, and what tells it from others. */
  get log(): string[] {
    return this.messages().map(({ id, method, params, result: answer, error: refusal }) => {
      const of = method === "notifications/cancelled" ? (params as Json)["requestId"] : id
      return [method ?? (answer === undefined ? `error ${(refusal as Json)["code"]}` : "result"), of]
        .filter((part) => part !== undefined)
        .join(" ")
    })
  }

  /** Resolves once so many messages came. */
  async until(count: number): Promise<void> {
    while (this.lines.length < count) {
      await new Promise<void>((resolve) => {
        this.#changed = resolve
      })
    }
  }

  /** Says messages, all in one piece of output. */
  say(...messages: readonly Json[]): void {
    for (const message of messages) this.write(JSON.stringify({ jsonrpc: "2.0", ...message }))
  }

  /** Writes a line as it is. */
  write(line: string): void {
    this.#listener?.line(new TextEncoder().encode(line))
  }

  /** Ends the pipe. */
  die(text = "peer exited with code 1"): void {
    const listener = this.#listener
    this.#listener = undefined
    listener?.gone(new McpError(text, { kind: "connection_down", reason: "process_exited", retryable: true }))
  }

  dial(): Link {
    this.dials++
    const left = new Map(Object.entries(this.#script).map(([key, given]) => [key, [given].flat()]))
    const duct = {
      open: async (listener: DuctListener) => {
        this.#listener = listener
      },
      send: (text: string) => {
        const message = JSON.parse(text) as Json
        const isRequest = message["method"] !== undefined && message["id"] !== undefined
        const replies = left.get(String(message["method"] ?? "response")) ?? (isRequest ? left.get("*") : []) ?? []
        const reply = replies.length > 1 ? replies.shift() : replies[0]
        this.lines.push(text)
        this.#changed()
        if (reply !== undefined) queueMicrotask(() => reply(message, this))
        return undefined
      },
      close: async () => {
        this.#listener = undefined
      },
    }
    return createPipeLink({ origin: this.origin, duct, limits: resolveClientLimits(), decode: createDecodeUtf8() })
  }
}
