/**
 * Everything of a server that can be watched: one typed map from names to events. What lasts has a `start` and a `stop`, what
 * happens has one name. No event holds a secret, a whole request or a whole result.
 */
import type { Reason } from "../core/error/reason.js"
import type { ListName } from "../core/feature/listen.js"
import type { LogLevel } from "../core/feature/log-level.js"
import type { Era } from "../core/revision/revision.js"
import type { JsonObject, RequestId } from "../core/wire/message.js"

/** One request. The same object in every event about it. */
export interface RequestFacts {
  readonly id: RequestId
  readonly method: string
  readonly era: Era
  /** The version of the revision that it is served in. */
  readonly revision: string
  /** A pipe is stdio or memory. */
  readonly transport: "http" | "pipe"
  /** The tool that is called, when the caller can call one of that name. */
  readonly tool: string | undefined
  /** The prompt that is got, when the caller can get one of that name. */
  readonly prompt: string | undefined
  /** The resource that is read or subscribed to, cut to 200 characters. Whatever the caller sent. */
  readonly uri: string | undefined
  readonly client: ClientFacts | undefined
  /** The `id` of whoever calls; undefined without authentication. */
  readonly principal: string | undefined
  /** The start of the legacy session's id: enough to tell sessions apart, not enough to enter one. */
  readonly session: string | undefined
  /** The trace that the caller is in, from `_meta`; undefined unless well formed. */
  readonly traceparent: string | undefined
  readonly tracestate: string | undefined
}

/** What a client says of itself. Never a basis for a decision about access. */
export interface ClientFacts {
  readonly name: string
  readonly version: string
}

/**
 * How a request ended: with a result, with questions to the client, with a tool's result that says `isError`, with an error of
 * the protocol, or without an answer because it was cancelled.
 */
export type Outcome = "complete" | "input_required" | "tool_error" | "error" | "cancelled"

/** An error of the protocol, as events tell it. */
export interface ErrorFacts {
  readonly code: number
  readonly reason: Reason
}

/** The end of a request. */
export interface RequestEnd {
  readonly request: RequestFacts
  readonly durationMs: number
  readonly outcome: Outcome
  /** With the outcome `error`. */
  readonly error: ErrorFacts | undefined
}

/** A legacy session, over HTTP or on a pipe. */
export interface SessionFacts {
  /** The start of its id; empty on a pipe. */
  readonly session: string
  readonly revision: string
  readonly transport: "http" | "pipe"
  readonly client: ClientFacts | undefined
  readonly principal: string | undefined
}

/** Why a session ended here: its client said so, or was idle, or its pipe closed, or the server stopped. */
export type SessionEnd = "ended" | "expired" | "disconnected" | "stopped"

/**
 * A stream that is held open for one client: `listen` of the modern era, `standby` of a legacy session, `resumed` for the rest
 * of a legacy stream that was lost.
 */
export interface StreamFacts {
  readonly kind: "listen" | "standby" | "resumed"
  readonly transport: "http" | "pipe"
  readonly principal: string | undefined
}

/** Every event by its name. Durations are in milliseconds. */
export interface ServerEvents {
  "server.request.start": { readonly request: RequestFacts }
  "server.request.stop": RequestEnd
  /** In the place of `stop`: something failed that nobody expected. The caller got the reference, and nothing of the error. */
  "server.request.exception": RequestEnd & { readonly thrown: unknown; readonly reference: string }
  /** A message that no method was asked for: by the front door, or because of its form, era, version, session or number. */
  "server.request_refused": {
    readonly status: number
    readonly code: number
    readonly reason: Reason
    /** What the caller is told. */
    readonly message: string
    readonly transport: "http" | "pipe"
  }
  /** This process holds a session from now on: a new one, or one that another node opened. */
  "server.session.start": { readonly session: SessionFacts; readonly resumed: boolean }
  "server.session.stop": {
    readonly session: SessionFacts
    readonly durationMs: number
    readonly why: SessionEnd
  }
  /** A session that was not opened, since there are too many. */
  "server.session_refused": { readonly revision: string; readonly client: ClientFacts | undefined }
  "server.stream.start": { readonly stream: StreamFacts }
  "server.stream.stop": { readonly stream: StreamFacts; readonly durationMs: number }
  /** The client is asked: one event a round in the modern era, one a question in the legacy era. */
  "server.input_asked": {
    readonly request: RequestFacts
    /** Counted from 1; always 1 in the legacy era, where the handler waits where it stands. */
    readonly round: number
    /** The method of each question, such as `elicitation/create`. */
    readonly questions: readonly string[]
  }
  /** Answers came: the handler is entered again in the modern era, and goes on in the legacy era. */
  "server.input_answered": { readonly request: RequestFacts; readonly round: number }
  /** A `requestState` that is not believed, or no longer. */
  "server.state_refused": { readonly request: RequestFacts; readonly reason: Reason }
  /** A handler that caught the suspension of its call and did not throw it on: its `what` names it. */
  "server.suspension_swallowed": { readonly request: RequestFacts; readonly what: string }
  "server.list_changed": { readonly list: ListName }
  "server.resource_updated": { readonly uri: string }
  /** A line of `ctx.log`, whether or not the client asked for its level. */
  "server.log": {
    readonly request: RequestFacts
    readonly level: LogLevel
    readonly message: string
    readonly data: JsonObject | undefined
  }
}

/** The name of an event. */
export type ServerEvent = keyof ServerEvents

const NAMES: Readonly<Record<ServerEvent, true>> = {
  "server.request.start": true,
  "server.request.stop": true,
  "server.request.exception": true,
  "server.request_refused": true,
  "server.session.start": true,
  "server.session.stop": true,
  "server.session_refused": true,
  "server.stream.start": true,
  "server.stream.stop": true,
  "server.input_asked": true,
  "server.input_answered": true,
  "server.state_refused": true,
  "server.suspension_swallowed": true,
  "server.list_changed": true,
  "server.resource_updated": true,
  "server.log": true,
}

/** The names of all events. */
export const serverEvents: readonly ServerEvent[] = Object.keys(NAMES) as ServerEvent[]

/** What a {@link Watcher} hears from. */
export interface Watchable {
  /** Calls `listener` with every such event, at once and in turn. Answers the function that ends it. */
  on<Name extends ServerEvent>(event: Name, listener: (event: ServerEvents[Name]) => unknown): () => void
}

/** Something that watches servers, such as a tracer or a meter. */
export interface Watcher {
  /** Called once for each server that is made with it. */
  watch(server: Watchable): void
  /** Runs the work of a request whose start it heard of, so that whatever happens in there is known to belong to it. */
  run?<T>(request: RequestFacts, work: () => T): T
}
