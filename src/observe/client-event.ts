/**
 * Everything of a client that can be watched: one typed map from names to events. What lasts has a `start` and a `stop`, what
 * happens has one name. No event holds a secret, a whole request or a whole result.
 */
import type { ErrorKind, Reason } from "../core/error/reason.js"
import type { ListName } from "../core/feature/listen.js"
import type { Era } from "../core/revision/revision.js"

/** One request of the application. The same object in every event about it. */
export interface ClientRequestFacts {
  readonly method: string
  /** The tool that is called, cut to 200 characters. */
  readonly tool: string | undefined
  /** The prompt that is got, cut to 200 characters. */
  readonly prompt: string | undefined
  /** The resource that is read or subscribed to, cut to 200 characters. */
  readonly uri: string | undefined
  readonly era: Era
  /** The version that is spoken as the request is made. */
  readonly version: string
  /** A pipe is stdio or memory. */
  readonly transport: "http" | "pipe"
  /** The server's origin, or the command that runs it. */
  readonly origin: string
  /** The name under which the client is filed. */
  readonly client: string | undefined
  /** The start of the legacy session's id: enough to tell sessions apart, not enough to enter one. */
  readonly session: string | undefined
  /** The trace that the application says it is in, for this request or all of the client's; undefined unless well formed. */
  readonly traceparent: string | undefined
}

/** An error, as events tell it. */
export interface FailureFacts {
  readonly kind: ErrorKind
  readonly reason: Reason
  /** The JSON-RPC code, if it has one. */
  readonly code: number | undefined
}

/** How a request ended: with a result, with a tool's result that says `isError`, with an error, or because it was given up. */
export type ClientOutcome = "complete" | "tool_error" | "error" | "cancelled"

/** The end of a request. */
export interface ClientRequestEnd {
  readonly request: ClientRequestFacts
  readonly durationMs: number
  readonly outcome: ClientOutcome
  /** With the outcomes `error` and `cancelled`. */
  readonly error: FailureFacts | undefined
  /** How often it was sent: once, again in each round, again when it was lost. 0 when it never was. */
  readonly attempts: number
  /** How many rounds of questions it had. Only the modern era has rounds. */
  readonly rounds: number
  /** The id of the last message in which it was sent. */
  readonly id: number | undefined
}

/**
 * Why a request was sent again: its session was gone and is opened anew, the verdict about the server was an old one, the server
 * wants another version, the connection was lost, or the server knows its tools better than the client.
 */
export type RetryCause = "session_lost" | "verdict_outdated" | "version_refused" | "connection_lost" | "tools_outdated"

/** A connection on which a revision was settled: a legacy session, or a modern connection. */
export interface ConnectionFacts {
  readonly origin: string
  readonly transport: "http" | "pipe"
  /** The name under which the client is filed. */
  readonly client: string | undefined
  readonly era: Era
  readonly version: string
  /** How the version came about: `discovered`, `fell_back`, `pinned` or `prior`. */
  readonly reason: string
  /** The start of the legacy session's id; undefined where there is none. */
  readonly session: string | undefined
  /** What the server says of itself; never a basis for a decision. */
  readonly server: { readonly name: string; readonly version: string } | undefined
}

/** What a probe with `server/discover` showed of a server. */
export interface ProbeFacts {
  readonly origin: string
  readonly transport: "http" | "pipe"
  /** See `conduit-mcp/protocol`: what is done next follows from it. */
  readonly verdict: "modern" | "modern_retry" | "legacy" | "reconnect" | "authorize" | "retry" | "error"
  /** With `modern` and `modern_retry`. */
  readonly version: string | undefined
  /** With `authorize`, `retry` and `error`: why. */
  readonly reason: string | undefined
}

/** A question of a server. */
export interface QuestionFacts {
  /** Such as `elicitation/create`. */
  readonly method: string
  /** The request that it belongs to; undefined when that is not known, as on a pipe with several in flight. */
  readonly request: ClientRequestFacts | undefined
  readonly origin: string
}

/** Something that is listened to. */
export interface ListenFacts {
  readonly origin: string
  /** A stream of its own, or what a legacy session tells. */
  readonly kind: "stream" | "session"
  readonly lists: readonly ListName[]
  /** How many resources. */
  readonly resources: number
}

/** Every event by its name. Durations are in milliseconds. */
export interface ClientEvents {
  "client.request.start": { readonly request: ClientRequestFacts }
  "client.request.stop": ClientRequestEnd
  /** In the place of `stop`: something failed that nobody expected, with what is no `McpError`. */
  "client.request.exception": ClientRequestEnd & { readonly thrown: unknown }
  /** A request is about to be sent again, because of an error that its caller does not get. */
  "client.retried": {
    readonly request: ClientRequestFacts
    readonly why: RetryCause
    readonly error: FailureFacts
  }
  /** A result asks for input: a round of the modern era. */
  "client.input_asked": {
    readonly request: ClientRequestFacts
    /** Counted from 1. */
    readonly round: number
    /** The method of each question; empty when the server only wants to be called again. */
    readonly questions: readonly string[]
  }
  /** A question is put to the application. */
  "client.question.start": { readonly question: QuestionFacts }
  "client.question.stop": {
    readonly question: QuestionFacts
    readonly durationMs: number
    /** `withdrawn`: nobody waits for the answer any more. */
    readonly outcome: "answered" | "failed" | "withdrawn"
    /** What the user did, where a user was asked. */
    readonly action: "accept" | "decline" | "cancel" | undefined
    /** With the outcomes `failed` and `withdrawn`. */
    readonly error: FailureFacts | undefined
  }
  /** A question that was not put to the application: not declared, not well formed. */
  "client.question_refused": { readonly question: QuestionFacts; readonly error: FailureFacts }
  /** The state of the connection changed. `reason` says why: how the era came about, or the reason of the error. */
  "client.status": { readonly state: string; readonly origin: string; readonly reason: string | undefined }
  /** `server/discover` was answered, or not. */
  "client.probed": ProbeFacts
  /** It is settled what is spoken. */
  "client.connection.start": { readonly connection: ConnectionFacts }
  /** The connection is gone, or another is settled in its place. `error`: what it was lost by. */
  "client.connection.stop": {
    readonly connection: ConnectionFacts
    readonly durationMs: number
    readonly error: FailureFacts | undefined
  }
  /** An attempt to bring back what was lost begins: the connection, the legacy session, or a stream that is listened to. */
  "client.reconnecting": {
    readonly what: "connection" | "session" | "stream"
    readonly origin: string
    /** How many in a row there were without a sign that the server works, with this one. */
    readonly attempt: number
    readonly error: FailureFacts
  }
  "client.listen.start": { readonly listening: ListenFacts }
  "client.listen.stop": {
    readonly listening: ListenFacts
    readonly durationMs: number
    /** Why the iteration throws; undefined when it ends by itself or is left. */
    readonly error: FailureFacts | undefined
  }
  /** What the server tells of its lists and resources, listened to or not. */
  "client.list_changed": { readonly origin: string; readonly list: ListName }
  "client.resource_updated": { readonly origin: string; readonly uri: string }
  /** Something came that is no message, and was passed over: text on standard output, a line of stderr, an odd event. */
  "client.noise": { readonly from: string; readonly text: string }
  /** Keys of a caller's `_meta` that belong to the protocol and were left out. */
  "client.meta_dropped": { readonly method: string; readonly keys: readonly string[] }
  /** An entry of a list that was set aside, at its place over all pages. `name` is undefined when it does not say one. */
  "client.entry_refused": {
    readonly method: string
    readonly name: string | undefined
    readonly index: number
    readonly reason: string
  }
}

/** The name of an event. */
export type ClientEvent = keyof ClientEvents

const NAMES: Readonly<Record<ClientEvent, true>> = {
  "client.request.start": true,
  "client.request.stop": true,
  "client.request.exception": true,
  "client.retried": true,
  "client.input_asked": true,
  "client.question.start": true,
  "client.question.stop": true,
  "client.question_refused": true,
  "client.status": true,
  "client.probed": true,
  "client.connection.start": true,
  "client.connection.stop": true,
  "client.reconnecting": true,
  "client.listen.start": true,
  "client.listen.stop": true,
  "client.list_changed": true,
  "client.resource_updated": true,
  "client.noise": true,
  "client.meta_dropped": true,
  "client.entry_refused": true,
}

/** The names of all events. */
export const clientEvents: readonly ClientEvent[] = Object.keys(NAMES) as ClientEvent[]

/** What a {@link ClientWatcher} hears from. */
export interface WatchableClient {
  /** Calls `listener` with every such event, at once and in turn. Answers the function that ends it. */
  on<Name extends ClientEvent>(event: Name, listener: (event: ClientEvents[Name]) => unknown): () => void
}

/** Something that watches clients, such as a tracer or a meter. */
export interface ClientWatcher {
  /** Called once for each client that is made with it, before the client connects. */
  watchClient(client: WatchableClient): void
  /**
   * The W3C `traceparent` that a request is to name, when the application names none itself; asked after its start was told. In
   * the modern era the server gets it.
   */
  traceparent?(request: ClientRequestFacts): string | undefined
  /** Runs the work of a request, and what the application does for the server's questions about it. */
  run?<T>(request: ClientRequestFacts, work: () => T): T
}
