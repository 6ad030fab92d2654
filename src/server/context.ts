import type { Principal } from "../core/http/gate.js"
import type { ClientCapability } from "../core/model/capability.js"
import type { Implementation } from "../core/model/identity.js"
import type { Era } from "../core/revision/revision.js"
import type { JsonObject } from "../core/wire/message.js"
import type { Input } from "./input/input.js"

/** A typed key for values that one part of a server leaves for another in the {@link Context}. */
export interface ContextKey<T> {
  readonly name: string
  /** Never there at run time. */
  readonly type?: T
}

/**
 * Makes a {@link ContextKey}; two keys are never the same, whatever their names.
 *
 * @example
 * const userKey = contextKey<User>("user")
 */
export function contextKey<T>(name: string): ContextKey<T> {
  return { name }
}

/** What is known of the client of a call. Self-reported: never a basis for a decision about access. */
export interface ClientView {
  /** Name and version, when the client said them. */
  readonly info: Implementation | undefined
  /** Whether the client declared a capability, by leaf: `can("elicitation.url")`. */
  can(capability: ClientCapability | `extensions.${string}`): boolean
}

/** Sends log messages to the client: dropped, unformatted, when it did not ask for the level. */
export interface ContextLog {
  debug(message: string, data?: JsonObject): void
  info(message: string, data?: JsonObject): void
  notice(message: string, data?: JsonObject): void
  warning(message: string, data?: JsonObject): void
  error(message: string, data?: JsonObject): void
}

/** What is known of a request, and what can be said while it is worked on. */
export interface RequestContext {
  /** Aborted when the call is cancelled, by the client or because the server stops, or when its time is over (`TimeoutError`). */
  readonly signal: AbortSignal
  readonly era: Era
  /** The version of the revision that the call is served in. */
  readonly revision: string
  /** Who calls; undefined without authentication. */
  readonly principal: Principal | undefined
  readonly client: ClientView
  readonly log: ContextLog
  /**
   * Reports progress. Sent only when the client asked for it; a value that is not larger than the last is dropped.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/progress
   */
  progress(done: number, total?: number, message?: string): void
  /** Resolves once what was sent has left, for handlers that send a lot to a slow reader. */
  flush(): Promise<void>
  /**
   * Closes the connection that the answer is awaited on, without ending the call: the client comes back for the answer, after
   * `retryMs` (default `limits.retryMs`). Answers whether it did: only where the stream can be resumed, which takes a session
   * of a revision that knows of it.
   *
   * @throws `McpError` of kind `misuse` for a time that is not a non-negative integer.
   * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
   */
  disconnect(options?: { readonly retryMs?: number }): boolean
  /** An HTTP header of the request, by its lower-case name; undefined on other transports. */
  header(name: string): string | undefined
  /** The value that was left under `key` for this call. */
  get<T>(key: ContextKey<T>): T | undefined
  /** Leaves a value under `key` for this call. */
  set<T>(key: ContextKey<T>, value: T): void
}

/** What a handler knows of its call, and what it can do beside returning. */
export interface Context extends RequestContext, Input {}

/** The context of a completer: what the user has already filled in. */
export interface CompletionContext extends Context {
  /** The values of the other arguments, as far as they are known. */
  readonly arguments: Readonly<Record<string, string>>
}
