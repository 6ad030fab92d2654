/** Questions to the user: the form that a client shows, and what the user did with it. */
import type { JsonValue } from "../wire/message.js"

/** What the user did. `content` is there only after `accept`. */
export type ElicitAction = "accept" | "decline" | "cancel"

/** The answer to a question: accepted with content of the schema's type, declined, or dismissed. */
export type Elicited<Content> =
  | { readonly action: "accept"; readonly content: Content }
  | { readonly action: "decline" | "cancel"; readonly content?: undefined }

/** The answer to a question that sends the user to a URL. */
export interface ElicitedUrl {
  readonly action: ElicitAction
}

/** One field of a form, as a revision sends it. */
export type FormField = { readonly [key: string]: JsonValue | undefined }

/** What a revision's forms can say. */
export interface FormFacts {
  /** Whether requests say their `mode`, and may be of mode `url`. */
  readonly modes: boolean
  /** Whether a `url` request carries an `elicitationId`. */
  readonly elicitationId: boolean
  /** Which types of field may have a `default`. */
  readonly defaults: "all" | "boolean"
  /** How an enum with titles is written: `oneOf` of constants, or `enum` beside `enumNames`. */
  readonly titledEnums: "oneOf" | "enumNames"
  /** Whether a field may be a list of choices. */
  readonly lists: boolean
}
