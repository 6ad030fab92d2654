/** The port between transports and the server: one inbound message in, JSON text out. */
import type { Fault } from "./error/fault.js"
import type { Principal } from "./http/gate.js"
import type { HeaderFacts } from "./http/header.js"
import { faultText } from "./wire/build.js"
import type { Message, RequestId } from "./wire/message.js"

/** Something that runs under an id and can be cancelled by it. */
export interface InFlight {
  /** Cancels the work: its signal aborts, and nothing more is written for it. */
  cancel(reason: string | undefined): void
}

/** A way for messages, which leave in the order in which they were sent. */
export interface Sink {
  send(frame: string): void
  /** Resolves once what was sent has left. */
  flush(): Promise<void>
}

/**
 * What request ids are unique under: a pipe with two ends, or nothing beyond the exchange itself (HTTP, where a session takes
 * over once the message is known to belong to one).
 */
export interface Peer {
  readonly kind: "pipe" | "request"
  readonly principal: Principal | undefined
  /** The requests of a pipe that are being worked on. Undefined where every request stands alone. */
  readonly inFlight: Map<RequestId, InFlight> | undefined
  /** The way of a pipe for messages outside any exchange. Undefined where every request stands alone. */
  readonly sink: Sink | undefined
  /** What the legacy handshake left on this pipe; written by the server only. */
  session: unknown
}

/** One inbound message and the way back for its answer; made by the transport. */
export interface Exchange extends Sink {
  readonly peer: Peer
  /** The protocol's headers, read once; undefined off HTTP. */
  readonly header: HeaderFacts | undefined
  /** Whether frames can be sent before the answer. */
  readonly canStream: boolean
  /** Whether the answer has to be an event stream, because the client takes nothing else. */
  readonly onlyStreams: boolean
  /** Sends one message before the answer; the first one turns an HTTP answer into an event stream. Pipes have no event ids. */
  send(frame: string, eventId?: string): void
  /**
   * Says that the answer will be long in coming: an HTTP answer becomes an event stream at once, and on a pipe nothing is being
   * worked on.
   */
  hold(): void
  /** Sends an event without a message, with an id to come back with, and after which time. Nothing on a pipe. */
  prime(eventId: string, retryMs: number): void
  /** Writes the answer ahead of what `serve` will resolve to, which is ignored then. */
  finish(answer: Answer): void
  /** Ends the answer without a response, because the request was cancelled by a message. */
  close(): void
  /** Calls `run` when the peer goes away before the answer; asked for only when a handler wants to know. */
  onAbort(run: () => void): void
}

/** What the server answers. Without `text` there is nothing to say: a notification, or a request that was cancelled. */
export interface Answer {
  /** The HTTP status; other transports ignore it. */
  readonly status: number
  readonly text: string | undefined
  /** Further HTTP headers. */
  readonly headers: Readonly<Record<string, string>> | undefined
  /** What the text was made of, where it refuses. */
  readonly fault?: Fault
}

/** The server, as transports see it. */
export interface Endpoint {
  /** Serves one message. Never throws and never rejects. */
  serve(message: Message, exchange: Exchange): Answer | Promise<Answer>
  /** Answers an HTTP GET of a legacy session: an event stream for what happens outside its calls. Never rejects. */
  standby(exchange: Exchange): Answer | Promise<Answer>
  /** Answers an HTTP DELETE, which ends a legacy session. Never rejects. */
  end(header: HeaderFacts, principal: Principal | undefined): Answer | Promise<Answer>
  /** Ends every stream of changes in the way of its era, so that clients open theirs elsewhere. */
  endStreams(): void
  /** Hears that the transport refused something before there was a message to serve. */
  refused(fault: Fault, transport: "http" | "pipe"): void
  /** Says that a pipe is gone: what runs for it is aborted. */
  leave(peer: Peer): void
  /** Takes no more requests, ends every stream of changes, and resolves once nothing is worked on. */
  drain(): Promise<void>
  /** Says that the transport is gone for good: everything that runs is aborted. Answers how many calls that were. */
  close(): number
}

/** An answer that has text. */
export function answer(status: number, text: string): Answer {
  return { status, text, headers: undefined }
}

/** The answer that refuses. */
export function refuse(fault: Fault, headers?: Readonly<Record<string, string>>): Answer {
  return { status: fault.status, text: faultText(fault), headers, fault }
}

/** The answer to what is not answered: 202 on HTTP, nothing elsewhere. */
export const accepted: Answer = { status: 202, text: undefined, headers: undefined }

/** The answer of a request that was cancelled: an event stream without a response on HTTP, nothing elsewhere. */
export const silent: Answer = { status: 200, text: undefined, headers: undefined }
