/** A server on one end of a pipe: both eras may interleave on it, and its ids are unique across both. */
import { codes } from "../core/error/codes.js"
import { type Fault, fault } from "../core/error/fault.js"
import type { Answer, Endpoint, Exchange, InFlight, Peer, Sink } from "../core/exchange.js"
import type { Principal } from "../core/http/gate.js"
import type { Limits } from "../core/limits.js"
import { faultText } from "../core/wire/build.js"
import type { Message, RequestId } from "../core/wire/message.js"
import { type DecodeUtf8, parseMessage } from "../core/wire/parse.js"
import type { Channel } from "./port.js"

/** The server's end of a pipe. */
export interface Pipe {
  /** Serves one message, as bytes without a line break. */
  receive(bytes: Uint8Array): void
  /** Serves one message that was read already. */
  serve(message: Message): void
  /** Refuses a message that was too long to be read. */
  refuseLength(length: number): void
  /** Calls `run` once nothing is being worked on, or at once. */
  whenIdle(run: () => void): void
  /** Says that the other end is gone: what runs is aborted, and nothing more is written. */
  close(): void
}

/** The parts that {@link createPipe} is made of. */
export interface PipeParts {
  readonly endpoint: Endpoint
  readonly channel: Channel
  readonly limits: Limits
  readonly decode: DecodeUtf8
  /** Who is at the other end; undefined where that is not known. */
  readonly principal?: Principal | undefined
  /**
   * Resolves once what was sent has left and is likely to be read by itself. The answer of a call that sent something before
   * waits for it: clients exist that hear a response before the notifications that they read in one piece with it, and drop
   * those. Default: once it has left.
   */
  readonly settle?: () => Promise<void>
}

/** Puts an endpoint on a channel. */
export function createPipe(parts: PipeParts): Pipe {
  const { endpoint, channel, limits, decode, principal, settle = () => channel.flush() } = parts
  const inFlight = new Map<RequestId, InFlight>()
  let busy = 0
  let closed = false
  let idle: (() => void) | undefined

  const send = (text: string): void => {
    if (!closed) channel.send(text)
  }
  const sink: Sink = { send, flush: () => channel.flush() }
  const peer: Peer = { kind: "pipe", principal, inFlight, sink, session: undefined }
  const end: ServerEnd = {
    peer,
    sink,
    settle,
    enter: () => void busy++,
    leave() {
      busy--
      if (busy === 0) idle?.()
    },
  }
  const refuse = (refused: Fault): void => {
    endpoint.refused(refused, "pipe")
    send(faultText(refused))
  }
  const answered = (exchange: PipeExchange, answer: Answer): void => {
    exchange.finish(answer)
    exchange.leave()
  }

  const serve = (message: Message): void => {
    const exchange = new PipeExchange(end)
    if (message.kind !== "request") return void endpoint.serve(message, exchange)
    exchange.enter()
    const answer = endpoint.serve(message, exchange)
    if (answer instanceof Promise) void answer.then((settled) => answered(exchange, settled))
    else answered(exchange, answer)
  }

  return {
    receive(bytes) {
      const message = parseMessage(bytes, decode, limits)
      if (message.kind !== "fault") serve(message)
      else if (!message.isStray) refuse(message)
    },
    serve,
    refuseLength(length) {
      const text = `Invalid request: the message has ${length} bytes, at most ${limits.maxLineBytes} are read (limits.maxLineBytes)`
      refuse(fault(400, codes.invalidRequest, "line_too_long", text))
    },
    whenIdle(run) {
      if (busy === 0) run()
      else idle = run
    },
    close() {
      if (closed) return
      endpoint.leave(peer)
      closed = true
    },
  }
}

/** What the exchanges of one pipe share. */
interface ServerEnd {
  readonly peer: Peer
  readonly sink: Sink
  settle(): Promise<void>
  /** Says that something is being worked on. */
  enter(): void
  /** Says that it is done. */
  leave(): void
}

/** One message that came over a pipe, and the way back for what it brings about. */
class PipeExchange implements Exchange {
  readonly peer: Peer
  readonly header = undefined
  readonly canStream = true
  readonly onlyStreams = false
  readonly #end: ServerEnd
  #hasSent = false
  #isBusy = false

  constructor(end: ServerEnd) {
    this.#end = end
    this.peer = end.peer
  }

  /** Says that the message is being worked on. */
  enter(): void {
    this.#isBusy = true
    this.#end.enter()
  }

  /** Says that it is no longer worked on. */
  leave(): void {
    if (this.#isBusy) this.#end.leave()
    this.#isBusy = false
  }

  send(frame: string): void {
    this.#hasSent = true
    this.#end.sink.send(frame)
  }

  hold(): void {
    this.leave()
  }

  prime(): void {}

  finish({ text }: Answer): void {
    if (text === undefined) return
    if (this.#hasSent) void this.#finishApart(text)
    else this.#end.sink.send(text)
  }

  close(): void {}

  onAbort(): void {}

  flush(): Promise<void> {
    return this.#end.sink.flush()
  }

  async #finishApart(text: string): Promise<void> {
    this.#end.enter()
    await this.#end.settle()
    this.#end.sink.send(text)
    this.#end.leave()
  }
}
