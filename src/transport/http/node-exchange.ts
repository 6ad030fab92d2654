/** One HTTP request on `node:http` as an exchange, and how its answer is written. */
import { Buffer } from "node:buffer"
import type { ServerResponse } from "node:http"
import type { Answer, Exchange, Peer } from "../../core/exchange.js"
import type { HeaderFacts } from "../../core/http/header.js"
import { Accepts } from "../../core/http/media.js"
import type { Departing, Departures } from "./departures.js"
import { COMMENT, isEvent, type KeepAlive, type Quiet, toEvent, toPrimer } from "./event-stream.js"
import type { Front, GateDocument } from "./front.js"
import { JSON_HEADERS, SECURITY_HEADERS, STREAM_HEADERS } from "./headers.js"
import type { Arrivals } from "./node-body.js"

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

/** The front door, and what its requests share. */
export interface Door extends Arrivals {
  readonly front: Front
  readonly keepAlive: KeepAlive
  /** Where answers wait for those of the same turn; undefined where each is written at once. */
  readonly departures: Departures | undefined
}

/** An {@link Exchange} over one `node:http` response. */
export class NodeExchange implements Exchange, Quiet, Departing {
  readonly peer: Peer
  readonly header: HeaderFacts
  readonly canStream: boolean
  readonly onlyStreams: boolean
  readonly #response: ServerResponse
  readonly #door: Door
  #streaming = false
  /** Set once it is there, from when on nothing else is written. */
  #answer: Answer | undefined

  constructor(response: ServerResponse, peer: Peer, header: HeaderFacts, accepts: Accepts, door: Door) {
    this.#response = response
    this.peer = peer
    this.header = header
    this.canStream = (accepts & Accepts.stream) !== 0
    this.onlyStreams = (accepts & Accepts.json) === 0
    this.#door = door
  }

  send(frame: string, eventId?: string): void {
    if (!this.canStream || !this.#isOpen()) return
    if (!this.#streaming) this.#openStream(undefined)
    if (this.#response.writableLength > this.#door.limits.maxBufferedBytes) this.#drop()
    else this.#response.write(toEvent(frame, eventId))
  }

  /** Sends an event with a name, which carries no message. */
  sendNamed(event: string, data: string): void {
    this.hold()
    this.#response.write(`event: ${event}\ndata: ${data}\n\n`)
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
    if (!this.#streaming) this.#writeHead(202, SECURITY_HEADERS.slice())
    end(this.#response, "", this.#door)
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
    const release = closeWhenStuck(response, this.#door)
    await new Promise<void>((resolve) => {
      const done = (): void => {
        release()
        response.off("drain", done)
        response.off("close", done)
        resolve()
      }
      response.on("drain", done)
      response.on("close", done)
    })
  }

  /** Writes the answer and ends the response, at once or with the other answers of the turn. */
  finish(answer: Answer): void {
    if (!this.#isOpen()) return
    if (answer.text === undefined && answer.status === 200) return this.close()
    this.#answer = answer
    const { departures, front } = this.#door
    if (departures === undefined || front.shutdown.isDraining) this.depart()
    else departures.add(this)
  }

  depart(): void {
    const answer = this.#answer
    if (answer === undefined || this.#response.destroyed) return
    if (answer.text === undefined || !isEvent(answer, this.#streaming, this.onlyStreams)) {
      return writeAnswer(this.#response, answer, this.#door)
    }
    if (!this.#streaming) this.#openStream(answer.headers)
    end(this.#response, toEvent(answer.text), this.#door)
  }

  #openStream(headers: Answer["headers"], first = COMMENT): void {
    this.#streaming = true
    this.#writeHead(200, withHeaders(STREAM_HEADERS, headers))
    this.#response.write(first)
    this.#door.keepAlive.add(this)
    this.#response.once("close", () => this.#door.keepAlive.delete(this))
  }

  #writeHead(status: number, head: string[]): void {
    writeHead(this.#response, status, head, this.#door)
  }

  /** Gives up on a reader that does not read. */
  #drop(): void {
    this.#door.front.logger.warn("an event stream was dropped: too much waited for its reader", {
      limit: "limits.maxBufferedBytes",
    })
    this.#response.destroy()
  }

  #isOpen(): boolean {
    return this.#answer === undefined && !this.#response.writableEnded && !this.#response.destroyed
  }
}

/** Writes an answer that is no event stream: one head as a flat list, one body with its length. */
export function writeAnswer(response: ServerResponse, { status, text, headers }: Answer, door: Door): void {
  const head = withHeaders(text === undefined ? SECURITY_HEADERS : JSON_HEADERS, headers)
  if (text !== undefined) head.push("Content-Length", String(Buffer.byteLength(text)))
  else if (status !== 204) head.push("Content-Length", "0")
  writeHead(response, status, head, door)
  end(response, text ?? "", door)
}

/** Writes a document of the gate. */
export function writeDocument(response: ServerResponse, { body, contentType }: GateDocument, door: Door): void {
  const length = String(Buffer.byteLength(body))
  writeHead(response, 200, [...SECURITY_HEADERS, "Content-Type", contentType, "Content-Length", length], door)
  response.end(body)
}

/** Writes the head. While the server goes down, a connection serves no further request. */
function writeHead(response: ServerResponse, status: number, head: string[], { front }: Door): void {
  if (front.shutdown.isDraining) response.shouldKeepAlive = false
  response.writeHead(status, head)
}

/** What fits into the buffers of a connection, so that it leaves whether or not the client reads. */
const SMALL_BYTES = 65_536

function end(response: ServerResponse, text: string, door: Door): void {
  if (text.length > SMALL_BYTES || response.writableNeedDrain) closeWhenStuck(response, door)
  response.end(text)
}

/** Closes the connection when for too long nothing of what waits for the client is taken. Answers the function that forgets it. */
function closeWhenStuck(response: ServerResponse, { limits }: Door): () => void {
  const { socket } = response
  socket?.setTimeout(limits.writeTimeoutMs)
  return () => socket?.setTimeout(0)
}

function withHeaders(base: readonly string[], headers: Answer["headers"]): string[] {
  const head = base.slice()
  if (headers !== undefined) for (const [name, value] of Object.entries(headers)) head.push(name, value)
  return head
}
