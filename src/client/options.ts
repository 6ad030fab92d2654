/** What a client and each of its calls can be told. */
import type { Implementation } from "../core/model/identity.js"
import type { Era } from "../core/revision/revision.js"
import type { JsonObject } from "../core/wire/message.js"
import type { ClientWatcher } from "../observe/client-event.js"
import type { Logger } from "../observe/log.js"
import type { Clock, MaybePromise, Store } from "../store/port.js"
import type { Progress } from "./call.js"
import type { Prior } from "./connection/status.js"
import type { Handlers } from "./handler/handlers.js"
import type { ClientLimits } from "./limits.js"

/** Headers, in any of the forms in which people have them; a function is asked before each HTTP request. */
export type HeaderSource = HeaderValues | (() => MaybePromise<HeaderValues>)

/** Headers: an object, or whatever lists pairs of name and value, such as the web's `Headers`. */
export type HeaderValues = Readonly<Record<string, string>> | Iterable<readonly [string, string]>

/** Which revision to speak: found out, of an era, or exactly one. */
export type Protocol = "auto" | Era | (string & {})

/**
 * What a call makes of results that are kept. `default`: one that is fresh is taken, and what may be kept is. `reload`: the server is
 * asked, and what may be kept is. `no-store`: the server is asked, and nothing is kept.
 */
export type CacheMode = "default" | "reload" | "no-store"

/** Settings of one call. */
export interface CallOptions {
  /** How long each request of the call may take, in milliseconds. Default that of the client. */
  readonly timeoutMs?: number
  /** How long the whole call may take, with rounds, retries and answers of the application. Default that of the client. */
  readonly maxTotalTimeoutMs?: number
  /** Whether each progress notification starts `timeoutMs` again. Default false. */
  readonly resetTimeoutOnProgress?: boolean
  /** Hears how far the call is. The server is asked for progress because it is there. */
  readonly onProgress?: (progress: Progress) => void
  /** Ends the call; the error is of kind `cancelled`, and its `cause` the signal's reason. */
  readonly signal?: AbortSignal
  /** Given to the handlers of questions that belong to the call, over those of the client. */
  readonly assigns?: Readonly<Record<string, unknown>>
  /** Members of `_meta`. Keys that belong to the protocol are left out. */
  readonly meta?: JsonObject
  /**
   * HTTP headers of the call's requests, over those of the client. Nothing of a call that has its own is kept. `Mcp-Param-*` headers
   * may be named for a tool that was not listed; of one that was, the client's own stand.
   */
  readonly headers?: HeaderSource
  /** What it makes of results that are kept. Default that of the client. */
  readonly cache?: CacheMode
  /** Extensions to declare for this call beside those of the client. */
  readonly extensions?: JsonObject
  /** The W3C trace context to pass on, where `meta` has none. Default that of the client. */
  readonly traceparent?: string
}

/** Settings of a list that is read page by page: those of each call for a page, and where to begin. */
export interface PageOptions extends CallOptions {
  /** The `nextCursor` of an earlier page, byte by byte. Default: from the beginning. */
  readonly cursor?: string
}

/** What `connect()` can be told of the client, whatever it connects to. */
export interface ClientOptions {
  /** Which revision to speak. Default `auto`: the newest that both sides have. */
  readonly protocol?: Protocol
  /** A verdict of an earlier connection (`client.prior`), which saves the probe. It is made again when it turns out wrong. */
  readonly prior?: Prior
  /** Files the client under a name, for `lookup()`. */
  readonly name?: string
  /** What the client says of itself. Default: this package's name and version. */
  readonly clientInfo?: Implementation
  /** Where the application answers the server; capabilities follow from what is there. */
  readonly handlers?: Handlers
  /** The kinds of question that `handlers.elicit` can show. Default both. */
  readonly elicitation?: readonly ("form" | "url")[]
  /** Whether `handlers.sample` can give tools to its model. Default false. */
  readonly samplingTools?: boolean
  /** Whether `handlers.sample` can include the context of servers. Default false. */
  readonly samplingContext?: boolean
  /** Whether the application will call `rootsListChanged()`. Default false. */
  readonly rootsListChanged?: boolean
  /**
   * Whether arguments that are texts where a listed tool wants objects, lists, numbers or booleans are read as JSON, as models
   * sometimes write them. Default false.
   */
  readonly coerceArguments?: boolean
  /** Extensions to declare, by name. */
  readonly extensions?: JsonObject
  /** HTTP headers of every request. */
  readonly headers?: HeaderSource
  /** How long each request may take, in milliseconds. Default 60,000. */
  readonly timeoutMs?: number
  /** How long a whole call may take. Default 600,000. */
  readonly maxTotalTimeoutMs?: number
  /** Default of the calls' `resetTimeoutOnProgress`. Default false. */
  readonly resetTimeoutOnProgress?: boolean
  /** Default of the calls' `cache`. Default `default`. */
  readonly cache?: CacheMode
  /** Where results are that may be kept. Default: in the memory of this client. Several clients can share one. */
  readonly store?: Store
  /**
   * For whom the client asks: what is private is kept for each apart. A function is asked before each request whose result may be
   * kept. Default: for this client alone.
   */
  readonly authorizationContext?: string | (() => string)
  /** How long the probe may take, in milliseconds. Default 10,000: a command may have to install itself first. */
  readonly probeTimeoutMs?: number
  /** How long connecting may take in all, in milliseconds. Default 60,000. */
  readonly connectTimeoutMs?: number
  /** Ends the attempt to connect. */
  readonly signal?: AbortSignal
  /** Given to every handler. */
  readonly assigns?: Readonly<Record<string, unknown>>
  /**
   * Whether a connection that is lost is made again: a process started anew, a forgotten session opened again. Calls that are made
   * meanwhile wait. Default true.
   */
  readonly reconnect?: boolean
  /** Whether to hold a stream open for what a legacy server says outside of calls. Default true. */
  readonly standby?: boolean
  /** Whether to try the deprecated HTTP+SSE transport last. Default true. */
  readonly deprecatedSse?: boolean
  /** Bounds; see {@link ClientLimits}. */
  readonly limits?: Partial<ClientLimits>
  /** The W3C trace context that calls pass on. Default: that of `trace`. */
  readonly traceparent?: string
  /** Who traces calls, such as `otel()` of `conduit-mcp/otel`: names the trace that they pass on, and decides where they run. */
  readonly trace?: ClientWatcher
  /** Who else watches, such as `prometheus()` of `conduit-mcp/prometheus`. */
  readonly watch?: readonly ClientWatcher[]
  readonly logger?: Logger
  /** Time, as an argument. Default: the system's. */
  readonly clock?: Clock
}
