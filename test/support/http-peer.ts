/** A server over HTTP that answers by a script, remembers the wire, and knows how many of its connections are open. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http"
import type { AddressInfo, Socket } from "node:net"

/** What came in one request. */
export interface Heard {
  readonly verb: string
  readonly path: string
  readonly headers: IncomingMessage["headers"]
  /** The JSON of the body; undefined without one. */
  readonly message:
    | { readonly id?: unknown; readonly method?: string; readonly params?: Record<string, unknown> }
    | undefined
  readonly text: string
}

/** Answers one request. */
export type Answer = (heard: Heard, response: ServerResponse) => void | Promise<void>

/** The running peer. */
export interface HttpPeer {
  readonly url: string
  readonly origin: string
  readonly heard: readonly Heard[]
  /** One line for each request, in order: the verb, the JSON-RPC method, and the id. */
  readonly log: readonly string[]
  /** How many connections are open now. */
  connections(): number
  /** How many connections were ever opened. */
  readonly accepted: number
  /** Resolves once no connection is open. */
  idle(): Promise<void>
  /** Resolves once so many requests were heard. */
  until(count: number): Promise<void>
  /** Stops listening and cuts every connection. */
  down(): Promise<void>
  /** Listens again, at the same address. */
  up(): Promise<void>
  close(): Promise<void>
}

/** A JSON-RPC result, with the id of the request. */
export const result =
  (value: object, headers: Record<string, string> = {}): Answer =>
  ({ message }, response) => {
    response.writeHead(200, { "content-type": "application/json", ...headers })
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message?.id, result: value }))
  }

/** A JSON-RPC error, with the id of the request. */
export const error =
  (status: number, code: number, data?: unknown, headers: Record<string, string> = {}): Answer =>
  ({ message }, response) => {
    response.writeHead(status, { "content-type": "application/json", ...headers })
    response.end(JSON.stringify({ jsonrpc: "2.0", id: message?.id ?? null, error: { code, message: "refused", data } }))
  }

/** A bare HTTP answer. */
export const plain =
  (status: number, body = "", headers: Record<string, string> = {}): Answer =>
  (_, response) => {
    response.writeHead(status, headers)
    response.end(body)
  }

/** An event stream of raw text; ends when `end` says so. */
export const stream =
  (text: string | ((heard: Heard) => string), end = true): Answer =>
  (heard, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(typeof text === "string" ? text : text(heard))
    if (end) response.end()
  }

/** One event of a stream that holds a message. */
export const event = (message: object, id?: string): string =>
  `${id === undefined ? "" : `id: ${id}\n`}data: ${JSON.stringify(message)}\n\n`

/** An answer in raw bytes, after which the connection is closed. */
export const raw =
  (text: string): Answer =>
  (_, response) => {
    response.socket?.end(text)
  }

/** The connection is cut without an answer. */
export const cut: Answer = ({ text }, response) => {
  void text
  response.destroy()
}

/** No answer ever comes. */
export const silence: Answer = () => {}

/**
 * A script by method: each list is used up from its front, its last answer again and again. `GET` and `DELETE` stand for requests
 * without a message, `*` for whatever else comes.
 */
export type Script = Readonly<Record<string, Answer | readonly Answer[]>>

/** What a modern server says to the probe. */
export const discover = (more: object = {}): Answer =>
  result({
    resultType: "complete",
    supportedVersions: ["2026-07-28"],
    capabilities: { tools: {} },
    ttlMs: 0,
    cacheScope: "private",
    _meta: { "io.modelcontextprotocol/serverInfo": { name: "scripted", version: "1.0.0" } },
    ...more,
  })

/** What a legacy server says to the handshake. */
export const initialized = (version = "2025-11-25", session?: string): Answer =>
  result(
    { protocolVersion: version, capabilities: { tools: {} }, serverInfo: { name: "scripted", version: "1.0.0" } },
    session === undefined ? {} : { "mcp-session-id": session },
  )

/** Starts a peer that answers by a script. Whatever the script does not know gets 404. */
export async function startHttpPeer(script: Script): Promise<HttpPeer> {
  const heard: Heard[] = []
  let accepted = 0
  const sockets = new Set<Socket>()
  const left = new Map(Object.entries(script).map(([key, given]) => [key, [given].flat()]))
  let changed = (): void => {}
  const when = async (holds: () => boolean): Promise<void> => {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        changed = resolve
      })
    }
  }
  const server = createServer(async (incoming, response) => {
    const chunks: Buffer[] = []
    for await (const chunk of incoming) chunks.push(chunk)
    const text = Buffer.concat(chunks).toString()
    const message = text === "" ? undefined : JSON.parse(text)
    const request: Heard = {
      verb: incoming.method ?? "",
      path: incoming.url ?? "",
      headers: incoming.headers,
      message,
      text,
    }
    heard.push(request)
    const key = message?.method ?? (message === undefined ? request.verb : "response")
    const answers = left.get(key) ?? left.get("*") ?? []
    const answer = answers.length > 1 ? answers.shift() : answers[0]
    changed()
    if (answer !== undefined) return void (await answer(request, response))
    response.writeHead(key.startsWith("notifications/") || key === "response" ? 202 : 404).end()
  })
  server.on("connection", (socket) => {
    accepted += 1
    sockets.add(socket)
    socket.on("close", () => {
      sockets.delete(socket)
      changed()
    })
  })
  const listen = (port: number): Promise<void> =>
    new Promise((resolve) => server.listen(port, "127.0.0.1", () => resolve()))
  const down = async (): Promise<void> => {
    server.close()
    for (const socket of sockets) socket.destroy()
    await when(() => sockets.size === 0)
  }
  await listen(0)
  const { port } = server.address() as AddressInfo
  const origin = `http://127.0.0.1:${port}`
  return {
    url: `${origin}/mcp`,
    origin,
    heard,
    get log() {
      return heard.map(({ verb, message }) =>
        [verb, message?.method, message?.id].filter((part) => part !== undefined).join(" "),
      )
    },
    connections: () => sockets.size,
    get accepted() {
      return accepted
    },
    idle: () => when(() => sockets.size === 0),
    until: (count) => when(() => heard.length >= count),
    down,
    up: () => listen(port),
    close: down,
  }
}
