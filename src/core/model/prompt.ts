/** Prompts as they are listed, and the messages that they give. */
import type { JsonObject } from "../wire/message.js"
import type { ContentBlock } from "./content.js"
import type { Icon } from "./identity.js"

/** An argument of a prompt. Values are strings on the wire. */
export interface PromptArgument {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly required?: boolean
}

/**
 * A prompt as it is listed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts#prompt
 */
export interface Prompt {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly icons?: readonly Icon[]
  readonly arguments?: readonly PromptArgument[]
  readonly _meta?: JsonObject
}

/** One message of a prompt. */
export interface PromptMessage {
  readonly role: "user" | "assistant"
  readonly content: ContentBlock
}
