/** One HTTP request on `node:http` as an exchange, and how its answer is written. */
import { Buffer } from "node:buffer"
import type { ServerResponse } from "node:http"
import type { Answer, Exchange, Peer } from "../../core/exchange.js"
import type { HeaderFacts } from "../../core/http/header.js"
import { Accepts } from "../../core/http/media.js"
import { COMMENT, isEvent, type KeepAlive, type Quiet, toEvent, toPrimer } from "./event-stream.js"
import { type GateDocument, JSON_HEADERS, SECURITY_HEADERS, STREAM_HEADERS } from "./front.js"

/** The headers of a request by lower-case name, as Node has them. */
type RequestHeaders = Readonly<Record<string, string | readonly string[] | undefined>>

/** The headers of a request on `node:http`; one that was sent more than once is joined. */
export class NodeHeaders implements HeaderFacts {
  readonly #headers: RequestHeaders
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
  readonly session: string | undefined

  constructor(headers: RequestHeaders) {
    this.#headers = headers
    this.version = headers["mcp-protocol-version"] as string | undefined
    this.method = headers["mcp-method"] as string | undefined
    this.name = headers["mcp-name"] as string | undefined
    this.session = headers["mcp-session-id"] as string | undefined
  }

  get(name: string): string | undefined {
    const value = this.#headers[name]
    return typeof value === "string" || value === undefined ? value : value.join(", ")
  }
}

/** An {@link Exchange} over one `node:http` response. */
export class NodeExchange implements Exchange, Quiet {
  readonly peer: Peer
  readonly header: HeaderFacts
  readonly canStream: boolean
  readonly onlyStreams: boolean
  readonly #response: ServerResponse
  readonly #keepAlive: KeepAlive
  #streaming = false

  constructor(response: ServerResponse, peer: Peer, header: HeaderFacts, accepts: Accepts, keepAlive: KeepAlive) {
    this.#response = response
    this.peer = peer
    this.header = header
    this.canStream = (accepts & Accepts.stream) !== 0
    this.onlyStreams = (accepts & Accepts.json) === 0
    this.#keepAlive = keepAlive
  }

  send(frame: string, eventId?: string): void {
    if (!this.canStream || !this.#isOpen()) return
    if (!this.#streaming) this.#openStream(undefined)
    this.#response.write(toEvent(frame, eventId))
  }

  hold(): void {
    if (this.canStream && !this.#streaming && this.#isOpen()) this.#openStream(undefined)
  }

  prime(eventId: string, retryMs: number): void {
    if (!this.canStream || !this.#isOpen()) return
    const primer = toPrimer(eventId, retryMs)
    if (this.#streaming) this.#response.write(primer)
    else this.#openStream(undefined, primer)
  }

  close(): void {
    if (!this.#isOpen()) return
    if (!this.#streaming && this.canStream) this.#openStream(undefined)
    if (!this.#streaming) this.#response.writeHead(202, [...SECURITY_HEADERS])
    this.#response.end()
  }

  comment(): void {
    if (this.#isOpen() && !this.#response.writableNeedDrain) this.#response.write(COMMENT)
  }

  onAbort(run: () => void): void {
    const response = this.#response
    if (response.closed) run()
    else {
      response.once("close", () => {
        if (!response.writableFinished) run()
      })
    }
  }

  async flush(): Promise<void> {
    const response = this.#response
    if (!this.#isOpen() || !response.writableNeedDrain) return
    await new Promise<void>((resolve) => {
      const done = (): void => {
        response.off("drain", done)
        response.off("close", done)
        resolve()
      }
      response.on("drain", done)
      response.on("close", done)
    })
  }

  /** Writes the answer and ends the response. */
  finish(answer: Answer): void {
    if (!this.#isOpen()) return
    if (answer.text === undefined) return answer.status === 200 ? this.close() : this.#writeEmpty(answer)
    if (isEvent(answer, this.#streaming, this.onlyStreams)) {
      if (!this.#streaming) this.#openStream(answer.headers)
      this.#response.end(toEvent(answer.text))
      return
    }
    writeJson(this.#response, answer.status, answer.text, answer.headers)
  }

  #writeEmpty(answer: Answer): void {
    const head = withHeaders(SECURITY_HEADERS, answer.headers)
    head.push("Content-Length", "0")
    this.#response.writeHead(answer.status, head).end()
  }

  #openStream(headers: Answer["headers"], first = COMMENT): void {
    this.#streaming = true
    this.#response.writeHead(200, withHeaders(STREAM_HEADERS, headers))
    this.#response.write(first)
    this.#keepAlive.add(this)
    this.#response.once("close", () => this.#keepAlive.delete(this))
  }

  #isOpen(): boolean {
    return !this.#response.writableEnded && !this.#response.destroyed
  }
}

/** Writes a JSON answer: one head as a flat list, one body with its length. */
export function writeJson(response: ServerResponse, status: number, text: string, headers: Answer["headers"]): void {
  const head = withHeaders(JSON_HEADERS, headers)
  head.push("Content-Length", String(Buffer.byteLength(text)))
  response.writeHead(status, head)
  response.end(text)
}

/** Writes a document of the gate. */
export function writeText(response: ServerResponse, { body, contentType }: GateDocument): void {
  const length = String(Buffer.byteLength(body))
  response.writeHead(200, [...SECURITY_HEADERS, "Content-Type", contentType, "Content-Length", length]).end(body)
}

function withHeaders(base: readonly string[], headers: Answer["headers"]): string[] {
  const head = base.slice()
  if (headers !== undefined) for (const [name, value] of Object.entries(headers)) head.push(name, value)
  return head
}
