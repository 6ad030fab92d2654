/** Where the application answers the server: what it is asked, and with what it answers. */
import type { ListName } from "../../core/feature/listen.js"
import type { LogLevel } from "../../core/feature/log-level.js"
import type { ElicitAction } from "../../core/model/elicitation.js"
import type { Root, SamplingRequest, SamplingResult } from "../../core/model/sampling.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"
import type { MaybePromise } from "../../store/port.js"

/** What a handler knows beside the question. */
export interface HandlerContext {
  /** Aborts when nobody waits for the answer any more: the server withdrew its question, the call was given up, or the client closed. */
  readonly signal: AbortSignal
  /** The `assigns` of the call that the question belongs to, over those of the client. */
  readonly assigns: Readonly<Record<string, unknown>>
  /** The name of the tool or prompt, or the URI of the resource, whose call asks; undefined when that is not known. */
  readonly askedBy: string | undefined
}

/** A form that the user is to fill in. */
export interface FormQuestion {
  readonly mode: "form"
  readonly message: string
  /** A JSON Schema of an object with texts, numbers, booleans and choices. */
  readonly schema: JsonObject
  readonly meta: JsonObject | undefined
}

/** A page that the user is to visit. Show the whole URL, and open it only when the user says so: it is never fetched before. */
export interface UrlQuestion {
  readonly mode: "url"
  readonly message: string
  readonly url: string
  /** What `elicitationComplete` will name; undefined where the server does not tell. */
  readonly elicitationId: string | undefined
  readonly meta: JsonObject | undefined
}

/** What the user did. With `accept` of a form goes its content; a field that is left out takes the default that the form names. */
export interface ElicitAnswer {
  readonly action: ElicitAction
  readonly content?: JsonObject
}

/** One line of a server's log. */
export interface ServerLogLine {
  readonly level: LogLevel
  readonly logger: string | undefined
  readonly data: JsonValue | undefined
}

/**
 * The functions with which an application answers a server. What is there decides which capabilities the client declares. To a
 * server that waits for its answer, one that throws answers with an error that says nothing of why; a call that asks in rounds
 * fails with kind `validation` and what was thrown as its cause. An `McpError` of kind `protocol` with a code is sent as it is.
 */
export interface Handlers {
  /** A question to the user: a form, or a page to visit. Declares `elicitation` with the modes that the client's options name. */
  elicit?(question: FormQuestion | UrlQuestion, context: HandlerContext): MaybePromise<ElicitAnswer>
  /** A request for a completion by the application's model. Declares `sampling`. */
  sample?(request: SamplingRequest, context: HandlerContext): MaybePromise<SamplingResult>
  /** The directories and files that the server may know of. Declares `roots`. */
  roots?(context: HandlerContext): MaybePromise<readonly Root[]>
  /** A line of the server's log. */
  log?(line: ServerLogLine): void
  /** A page that the user was sent to is finished with. */
  elicitationComplete?(elicitationId: string): void
  /** A list changed, or a resource that was subscribed to. */
  changed?(change: { readonly list: ListName } | { readonly uri: string }): void
}
