/**
 * The port between the client and its transports: one live way to one server. A link knows how messages travel, and which
 * answer belongs to which request; it knows nothing of what they mean.
 */
import type { McpError } from "../core/error/error.js"
import type {
  ErrorMessage,
  Message,
  NotificationMessage,
  RequestId,
  RequestMessage,
  ResultMessage,
} from "../core/wire/message.js"
import type { HeaderSource } from "./options.js"

/** Headers by lower-case name. Only HTTP sends them. */
export type Headers = Readonly<Record<string, string>>

/** One request on its way out. */
export interface Outbound {
  readonly id: RequestId
  readonly method: string
  /** The whole message. */
  readonly text: string
  /** Headers of this request that the protocol asks for: they win over all others. */
  readonly headers: Headers | undefined
  /** The caller's headers, over those that every request of the link carries. */
  readonly caller: HeaderSource | undefined
  /** Whether nothing happens when it arrives twice. */
  readonly repeatable: boolean
}

/** What became of a request. */
export type Outcome =
  /** A JSON-RPC response with the request's id. `status` is the HTTP status; undefined off HTTP. */
  | {
      readonly kind: "message"
      readonly message: ResultMessage | ErrorMessage
      readonly status: number | undefined
      /** The session that an answer over HTTP opens; undefined when it names none. */
      readonly session: string | undefined
    }
  /** An HTTP answer that is no JSON-RPC response to the request. */
  | {
      readonly kind: "http"
      readonly status: number
      readonly contentType: string | undefined
      /** The body as far as it was read: at most 64 KiB. */
      readonly body: string
      /** From `Retry-After`; undefined when it is absent or not understood. */
      readonly retryAfterMs: number | undefined
      /** The `WWW-Authenticate` header. */
      readonly challenge: string | undefined
    }
  /**
   * There will be no answer: the network failed, or the stream of the answer ended without it. `answered` is whether any part of
   * an answer came, so that the server is known to have read the request.
   */
  | { readonly kind: "broken"; readonly error: McpError; readonly answered: boolean }
  /** The pipe is gone, and every request on it. */
  | { readonly kind: "gone"; readonly error: McpError }
  /** One answer that cannot be taken, such as one that is too large; the link goes on. */
  | { readonly kind: "refused"; readonly error: McpError }

/** Hears what comes of one request. */
export interface ReplyListener {
  /** A message of the server's own on the stream of the request's answer. Only over HTTP, where that stream ties it to the request. */
  message(message: RequestMessage | NotificationMessage): void
  /** The end, once. */
  settle(outcome: Outcome): void
}

/** A request that is on its way. */
export interface Sent {
  /** Whether nothing of it has left yet, so that the server knows of nothing that could be called back. Default false. */
  readonly isUnsent?: boolean
  /** Lets go of it: its stream is closed, and its listener hears nothing more. */
  letGo(): void
}

/** Something odd that came and was passed over. */
export interface Noise {
  /** `output`: no JSON-RPC message where only those may be. `stderr`: what a process said there. `stream`: of an event stream. */
  readonly from: "output" | "stderr" | "stream"
  /** Its beginning, free of control characters. */
  readonly text: string
}

/**
 * What became of a stream on which a server says what belongs to no request, where that is a stream of its own: it is open again,
 * and what was said meanwhile did not come; it was there, and the server answers as if it did not know the session; or there is
 * none, and why.
 */
export type StandbyState = "missed" | "lost" | McpError

/** Hears what a link has to tell outside of any request. */
export interface LinkEvents {
  /** A message that belongs to no request of ours. */
  message(message: Message): void
  /** The link is dead for good; nothing more comes. Not called after `close()`. */
  gone(error: McpError): void
  /** Where links have such streams. */
  standby?(state: StandbyState): void
  noise(noise: Noise): void
}

/** What a handshake or a probe has settled about everything that goes over the link from now on. */
export interface LinkFacts {
  /** The version that each message names in its header. */
  readonly version: string
  /** The legacy session that each message belongs to. */
  readonly session: string | undefined
  /** Whether streams can be gone on with after their connection was lost. */
  readonly resumes: boolean
  /** Whether to hold a stream open for what the server says outside of any request. */
  readonly standby: boolean
  /** Whether a server of that version may send several messages as one array. Default false. */
  readonly batches?: boolean
}

/** One live way to one server. */
export interface Link {
  readonly kind: "http" | "pipe"
  /** Where it leads: an origin, or a command. Never holds a secret. */
  readonly origin: string
  /** The last lines that the server's process said on stderr, fit to be shown; absent where there is no process. */
  readonly stderr?: readonly string[]
  /** Opens it. Rejects when it cannot be opened. */
  open(events: LinkEvents): Promise<void>
  request(outbound: Outbound, listener: ReplyListener): Sent
  /**
   * Sends a notification or a response. `caller` are the headers of the call that it belongs to. Rejects with kind `transport` when
   * it was not taken.
   */
  send(text: string, headers: Headers | undefined, caller?: HeaderSource): Promise<void>
  adopt(facts: LinkFacts): void
  /** Closes it in an orderly way and resolves once nothing of it is left. Never rejects; the second time is the first. */
  close(): Promise<void>
}

/** How links to one server are made: a new one for each attempt, because a process that died has to be started anew. */
export interface Dialer {
  readonly kind: "http" | "pipe"
  readonly origin: string
  /**
   * What tells the server from every other that anybody can reach, such as its whole URL: what may be shared of its answers is shared
   * by those who name the same. Never shown. Undefined: nobody else reaches it.
   */
  readonly address?: string
  /** Makes a link that is not open yet. */
  dial(): Link
  /** Makes a link by the deprecated HTTP+SSE transport; undefined where there is none. */
  dialDeprecated?(): Link
}
