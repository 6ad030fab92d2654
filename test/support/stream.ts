/** An HTTP answer that stays open, read event by event. */
import { type ClientRequest, type IncomingHttpHeaders, type OutgoingHttpHeaders, request } from "node:http"
import { type Json, modernHeaders } from "./wire.js"

/** One server-sent event, as it came. */
export interface Event {
  readonly id?: string
  readonly event?: string
  readonly retry?: number
  /** Undefined for a comment. */
  readonly data?: string
}

/** An open answer. */
export interface EventStream {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  /** Every event so far, comments too. */
  readonly events: readonly Event[]
  /** The messages among them; an answer in JSON is one. */
  readonly messages: readonly Json[]
  /** Resolves with the messages once there are so many. */
  received(count: number): Promise<readonly Json[]>
  /** Resolves once an event `matches`. */
  next(matches: (event: Event) => boolean): Promise<Event>
  /** Resolves once the server ended the answer, or the connection broke. */
  readonly ended: Promise<void>
  /** Breaks the connection. */
  close(): void
}

/** How a stream is opened. */
export interface StreamOptions {
  readonly method?: "GET" | "POST"
  readonly headers?: OutgoingHttpHeaders
  readonly message?: Json
}

/** Sends a request and resolves with its answer as soon as that has begun. */
export function openStream(url: string, options: StreamOptions = {}): Promise<EventStream> {
  const { message, method = message === undefined ? "GET" : "POST", headers = {} } = options
  const body = message === undefined ? undefined : JSON.stringify(message)
  const type = body === undefined ? {} : { "content-type": "application/json" }
  const accept = body === undefined ? "text/event-stream" : "application/json, text/event-stream"
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { method, agent: false, headers: { accept, ...type, ...headers } }, (incoming) => {
      const stream = new Reading(incoming.statusCode ?? 0, incoming.headers, outgoing)
      incoming.setEncoding("utf8")
      incoming.on("data", (text: string) => stream.push(text))
      incoming.on("error", () => {})
      incoming.on("close", () => stream.end())
      resolve(stream)
    })
    outgoing.on("error", reject)
    outgoing.end(body)
  })
}

/** Posts a modern request with the headers that belong to it, and reads the answer as it comes. */
export function openModern(url: string, message: Json, headers: OutgoingHttpHeaders = {}): Promise<EventStream> {
  return openStream(url, { message, headers: { ...modernHeaders(message), ...headers } })
}

class Reading implements EventStream {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly events: Event[] = []
  readonly ended: Promise<void>
  readonly #request: ClientRequest
  #rest = ""
  #isOver = false
  #resolveEnded: () => void = () => {}
  readonly #waiting = new Set<() => void>()

  constructor(status: number, headers: IncomingHttpHeaders, outgoing: ClientRequest) {
    this.status = status
    this.headers = headers
    this.#request = outgoing
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
  }

  get messages(): readonly Json[] {
    return this.events.flatMap(({ data }) => (data === undefined || data === "" ? [] : [JSON.parse(data) as Json]))
  }

  push(text: string): void {
    if (this.headers["content-type"]?.startsWith("application/json") === true) {
      this.#rest += text
      return
    }
    const blocks = (this.#rest + text).split("\n\n")
    this.#rest = blocks.pop() ?? ""
    for (const block of blocks) this.events.push(toEvent(block))
    for (const look of [...this.#waiting]) look()
  }

  end(): void {
    this.#isOver = true
    if (this.headers["content-type"]?.startsWith("application/json") === true) this.events.push({ data: this.#rest })
    this.#resolveEnded()
    for (const look of [...this.#waiting]) look()
  }

  async received(count: number): Promise<readonly Json[]> {
    await this.#until(() => this.messages.length >= count, `${count} messages`)
    return this.messages
  }

  async next(matches: (event: Event) => boolean): Promise<Event> {
    await this.#until(() => this.events.some(matches), "the event")
    return this.events.find(matches) ?? {}
  }

  close(): void {
    this.#request.destroy()
  }

  #until(isThere: () => boolean, what: string): Promise<void> {
    return new Promise((resolve, reject) => {
      const look = (): void => {
        if (!isThere() && !this.#isOver) return
        this.#waiting.delete(look)
        if (isThere()) resolve()
        else reject(new Error(`the stream ended before ${what} came: ${JSON.stringify(this.events)}`))
      }
      this.#waiting.add(look)
      look()
    })
  }
}

function toEvent(block: string): Event {
  const event: { id?: string; event?: string; retry?: number; data?: string } = {}
  for (const line of block.split("\n")) {
    const [, name, value = ""] = /^(\w+):? ?(.*)$/.exec(line) ?? []
    if (name === "id" || name === "event" || name === "data") event[name] = value
    if (name === "retry") event.retry = Number(value)
  }
  return event
}
