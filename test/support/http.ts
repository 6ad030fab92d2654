/** Raw HTTP on real sockets, with every header in the test's hands. */
import { type IncomingHttpHeaders, type IncomingMessage, type OutgoingHttpHeaders, request } from "node:http"
import { initializeRequest, type Json, modernHeaders } from "./wire.js"

/** What came back. */
export interface Reply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
  /** The JSON body, or the last message of an event stream. */
  readonly json: Json
  /** The messages of an event stream, in order; a JSON body is one message. */
  readonly messages: readonly Json[]
}

/** How to send. */
export interface SendOptions {
  readonly method?: string
  readonly headers?: OutgoingHttpHeaders
  readonly body?: string | Uint8Array
}

/** Sends one HTTP request and reads the whole answer. */
export function send(url: string, options: SendOptions = {}): Promise<Reply> {
  const { method = "POST", headers = {}, body } = options
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, headers, agent: false })
    outgoing.on("response", (incoming) => readReply(incoming).then(resolve, reject))
    outgoing.on("error", reject)
    outgoing.end(body)
  })
}

/** Reads the whole of an answer. */
export function readReply(incoming: IncomingMessage): Promise<Reply> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    incoming.on("data", (chunk: Buffer) => chunks.push(chunk))
    incoming.on("end", () => {
      const text = Buffer.concat(chunks).toString("utf8")
      const messages = toMessages(incoming.headers["content-type"], text)
      const json = messages.at(-1) ?? {}
      resolve({ status: incoming.statusCode ?? 0, headers: incoming.headers, text, json, messages })
    })
    incoming.on("error", reject)
  })
}

/** Posts one message as JSON, with the headers that every client sends and those given. */
export function post(url: string, message: unknown, headers: OutgoingHttpHeaders = {}): Promise<Reply> {
  const body = typeof message === "string" ? message : JSON.stringify(message)
  return send(url, { body, headers: { ...JSON_HEADERS, ...headers } })
}

/** Posts one modern request with the headers that belong to it, and those given over them. */
export function postModern(url: string, message: Json, headers: OutgoingHttpHeaders = {}): Promise<Reply> {
  return post(url, message, { ...modernHeaders(message), ...headers })
}

/** Opens a legacy session; the headers that name it. */
export async function openSession(url: string, protocolVersion = "2025-11-25"): Promise<Record<string, string>> {
  const reply = await post(url, initializeRequest(0, protocolVersion))
  const session = String(reply.headers["mcp-session-id"])
  const headers = { "mcp-session-id": session, "mcp-protocol-version": protocolVersion }
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, headers)
  return headers
}

const JSON_HEADERS = { "content-type": "application/json", accept: "application/json, text/event-stream" }

/** The messages of a body: the events of a stream, or the one of a JSON body. */
export function toMessages(type: string | undefined, text: string): readonly Json[] {
  if (type?.startsWith("text/event-stream")) {
    return text
      .split("\n\n")
      .flatMap((event) => event.split("\n").filter((line) => line.startsWith("data: ")))
      .map((line) => JSON.parse(line.slice(6)) as Json)
  }
  return type?.startsWith("application/json") && text !== "" ? [JSON.parse(text) as Json] : []
}
