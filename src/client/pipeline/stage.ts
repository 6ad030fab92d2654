/**
 * What a stage of the pipeline is: one concern around the sending of a request. The order is that of `pipeline.ts`, and each
 * stage is a file beside this one.
 */
import type { JsonObject } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import type { Headers } from "../link.js"

/** What is to be sent this time: stages hand a changed copy on. */
export interface Attempt {
  /** The params of the caller, with what stages add; without what the era adds to every request. */
  readonly params: JsonObject | undefined
  /** Headers of this request, by lower-case name. */
  readonly headers: Headers | undefined
  /** Whether nothing is different when the request arrives twice. */
  readonly isRepeatable: boolean
  /** The trace that the server is told it is in. */
  readonly traceparent?: string
  /** How long the answer may take, in milliseconds; without what the application takes to answer questions. */
  readonly timeoutMs: number
  /** When what the request is a part of began, for what it may take in all. Default: now. */
  readonly sinceMs?: number | undefined
}

/** Sends, or hands to the next stage. Resolves to the result; rejects with an `McpError`. */
export type Next = (call: Call, attempt: Attempt) => Promise<JsonObject>

/** One stage. One that has nothing to do for a call returns what `next` returns, and costs nothing more. */
export type Stage = (call: Call, attempt: Attempt, next: Next) => Promise<JsonObject>
