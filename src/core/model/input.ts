/** Requests to the client as a handler writes them by hand, in the form of the newest revision. */
import type { JsonObject } from "../wire/message.js"
import type { SamplingRequest } from "./sampling.js"

/**
 * One request to the client. It is sent as the client's revision knows it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/mrtr#inputrequests
 */
export type InputRequest =
  | { readonly method: "elicitation/create"; readonly params: FormRequest | PageRequest }
  | { readonly method: "sampling/createMessage"; readonly params: SamplingRequest }
  | { readonly method: "roots/list"; readonly params?: JsonObject }

/** A form that the user fills in. */
export interface FormRequest {
  readonly mode?: "form"
  readonly message: string
  /** A JSON Schema of an object with texts, numbers, booleans and choices. */
  readonly requestedSchema: JsonObject
}

/** A page that the user is sent to. */
export interface PageRequest {
  readonly mode: "url"
  readonly message: string
  readonly url: string
}
