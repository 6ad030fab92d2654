/** One web `Request` as an exchange, and the `Response` that it is answered with. */
import { type Answer, accepted, type Exchange, type Peer } from "../../core/exchange.js"
import { HEADER_METHOD, HEADER_NAME, HEADER_SESSION, HEADER_VERSION, type HeaderFacts } from "../../core/http/header.js"
import { Accepts } from "../../core/http/media.js"
import { COMMENT, isEvent, type KeepAlive, type Quiet, toEvent, toPrimer } from "./event-stream.js"
import type { Front, GateDocument } from "./front.js"
import { JSON_HEADERS, SECURITY_HEADERS, STREAM_HEADERS } from "./headers.js"

/** The headers of a web request. */
export class WebHeaders implements HeaderFacts {
  readonly #headers: Headers
  readonly version: string | undefined
  readonly method: string | undefined
  readonly name: string | undefined
  readonly session: string | undefined

  constructor(headers: Headers) {
    this.#headers = headers
    this.version = this.get(HEADER_VERSION)
    this.method = this.get(HEADER_METHOD)
    this.name = this.get(HEADER_NAME)
    this.session = this.get(HEADER_SESSION)
  }

  get(name: string): string | undefined {
    return this.#headers.get(name) ?? undefined
  }
}

/** The front door, and what its requests take from the platform. */
export interface Wire {
  readonly front: Front
  /** Makes what keeps one stream open; streams share nothing, since on Workers they must not. */
  readonly keepAlive: () => KeepAlive
}

type StreamController = ReadableStreamDefaultController<Uint8Array>

/** An {@link Exchange} over one web request. */
export class FetchExchange implements Exchange, Quiet {
  readonly peer: Peer
  readonly header: HeaderFacts
  readonly canStream: boolean
  readonly onlyStreams: boolean
  readonly #request: Request
  readonly #wire: Wire
  #reply: (response: Response) => void = ignore
  /** There as soon as the answer is an event stream. */
  #stream: StreamController | undefined
  #comments: KeepAlive | undefined
  /** Whether nothing more can be sent: the answer is complete, or its reader went away. */
  #closed = false
  /** Whether the peer went away before the answer was complete. */
  #left = false
  #onAbort: (() => void)[] | undefined
  #stopListening: (() => void) | undefined
  #onDrain: (() => void)[] | undefined
  #stopWatching: (() => void) | undefined

  constructor(request: Request, peer: Peer, header: HeaderFacts, accepts: Accepts, wire: Wire) {
    this.#request = request
    this.peer = peer
    this.header = header
    this.canStream = (accepts & Accepts.stream) !== 0
    this.onlyStreams = (accepts & Accepts.json) === 0
    this.#wire = wire
  }

  /** Runs `serve`. Resolves to the response: once the answer is there, or as soon as something is streamed before it. */
  respond(serve: () => Answer | Promise<Answer>): Promise<Response> {
    return new Promise((resolve) => {
      this.#reply = resolve
      const answered = serve()
      if (answered instanceof Promise) void answered.then((answer) => this.finish(answer))
      else this.finish(answered)
    })
  }

  send(frame: string, eventId?: string): void {
    if (!this.canStream || this.#closed) return
    const stream = this.#stream ?? this.#openStream(undefined)
    if (waiting(stream) > this.#wire.front.limits.maxBufferedBytes) this.#drop(stream)
    else stream.enqueue(encoder.encode(toEvent(frame, eventId)))
  }

  hold(): void {
    if (this.canStream && !this.#closed && this.#stream === undefined) this.#openStream(undefined)
  }

  prime(eventId: string, retryMs: number): void {
    if (!this.canStream || this.#closed) return
    const primer = toPrimer(eventId, retryMs)
    if (this.#stream === undefined) this.#openStream(undefined, primer)
    else this.#stream.enqueue(encoder.encode(primer))
  }

  close(): void {
    if (this.#closed) return
    if (this.canStream) return this.#closeStream(this.#stream ?? this.#openStream(undefined))
    this.#end()
    this.#reply(toResponse(accepted))
  }

  comment(): void {
    if (!this.#closed && this.#stream !== undefined && hasRoom(this.#stream))
      this.#stream.enqueue(encoder.encode(COMMENT))
  }

  onAbort(run: () => void): void {
    const { signal } = this.#request
    if (this.#left || (signal.aborted && !this.#closed)) return run()
    if (this.#closed) return
    if (this.#onAbort === undefined) {
      this.#onAbort = []
      const leave = (): void => this.#leave()
      signal.addEventListener("abort", leave)
      this.#stopListening = () => signal.removeEventListener("abort", leave)
    }
    this.#onAbort.push(run)
  }

  flush(): Promise<void> {
    const stream = this.#stream
    if (this.#closed || stream === undefined || hasRoom(stream)) return Promise.resolve()
    return new Promise((resolve) => {
      if (this.#onDrain === undefined || this.#onDrain.length === 0) this.#watch(stream)
      this.#onDrain ??= []
      this.#onDrain.push(resolve)
    })
  }

  /** Gives a reader up that takes nothing of what waits for it. */
  #watch(stream: StreamController): void {
    const { clock, limits } = this.#wire.front
    const before = waiting(stream)
    this.#stopWatching = clock.after(limits.writeTimeoutMs, () => {
      if (waiting(stream) < before) this.#watch(stream)
      else this.#drop(stream)
    })
  }

  /** Gives up on a reader that does not read. */
  #drop(stream: StreamController): void {
    this.#wire.front.logger.warn(DROPPED)
    stream.error(new Error(DROPPED))
    this.#leave()
  }

  finish(answer: Answer): void {
    if (this.#closed) return
    if (answer.text === undefined && answer.status === 200) return this.close()
    if (answer.text !== undefined && isEvent(answer, this.#stream !== undefined, this.onlyStreams)) {
      const stream = this.#stream ?? this.#openStream(answer.headers)
      stream.enqueue(encoder.encode(toEvent(answer.text)))
      return this.#closeStream(stream)
    }
    this.#end()
    this.#reply(toResponse(answer))
  }

  #openStream(headers: Answer["headers"], first = COMMENT): StreamController {
    let stream: StreamController | undefined
    const body = new ReadableStream<Uint8Array>(
      {
        start: (controller) => {
          stream = controller
        },
        pull: () => this.#drain(),
        cancel: () => this.#leave(),
      },
      QUEUE,
    )
    if (stream === undefined) throw new Error("a ReadableStream starts when it is made")
    this.#stream = stream
    stream.enqueue(encoder.encode(first))
    this.#comments = this.#wire.keepAlive()
    this.#comments.add(this)
    this.#reply(new Response(body, { status: 200, headers: withHeaders(STREAM_PAIRS, headers) }))
    return stream
  }

  #closeStream(stream: StreamController): void {
    this.#end()
    stream.close()
  }

  /** The peer went away: its connection broke, or it cancelled the body of the response. */
  #leave(): void {
    if (this.#closed) return
    this.#left = true
    for (const run of this.#onAbort?.splice(0) ?? []) run()
    if (this.#stream !== undefined) this.#end()
  }

  /** Nothing more is sent: lets go of whatever waits and listens. */
  #end(): void {
    this.#closed = true
    this.#stopListening?.()
    this.#comments?.delete(this)
    this.#drain()
  }

  #drain(): void {
    this.#stopWatching?.()
    for (const resolve of this.#onDrain?.splice(0) ?? []) resolve()
  }
}

const encoder = new TextEncoder()

/** How much of an event stream may wait for its reader before `flush()` does. */
const HIGH_WATER_BYTES = 16_384

const QUEUE: QueuingStrategy<Uint8Array> = { highWaterMark: HIGH_WATER_BYTES, size: (chunk) => chunk.byteLength }

const DROPPED = "an event stream was dropped: its reader does not read"

/** How much waits for the reader, in bytes. */
function waiting({ desiredSize }: StreamController): number {
  return HIGH_WATER_BYTES - (desiredSize ?? 0)
}

function hasRoom(stream: StreamController): boolean {
  return stream.desiredSize === null || stream.desiredSize > 0
}

function ignore(): void {
  // Nobody waits for the response yet.
}

/** An answer as a response with one body, or none. */
export function toResponse({ status, text, headers }: Answer): Response {
  const base = text === undefined ? SECURITY_PAIRS : JSON_PAIRS
  return new Response(text ?? null, { status, headers: withHeaders(base, headers) })
}

/** A document as a response. */
export function toDocumentResponse({ body, contentType }: GateDocument): Response {
  return new Response(body, { headers: withHeaders(SECURITY_PAIRS, { "Content-Type": contentType }) })
}

type HeaderPairs = [name: string, value: string][]

const SECURITY_PAIRS = toPairs(SECURITY_HEADERS)
const JSON_PAIRS = toPairs(JSON_HEADERS)
const STREAM_PAIRS = toPairs(STREAM_HEADERS)

function toPairs(list: readonly string[]): HeaderPairs {
  return list.flatMap((name, at): HeaderPairs => (at % 2 === 0 ? [[name, list[at + 1] ?? ""]] : []))
}

function withHeaders(base: HeaderPairs, headers: Answer["headers"]): HeaderPairs {
  return headers === undefined ? base : [...base, ...Object.entries(headers)]
}
