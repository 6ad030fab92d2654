/** Content blocks: what tools return, prompts say and resources hold. */
import type { JsonObject } from "../wire/message.js"
import type { Icon } from "./identity.js"

/** Hints for whoever shows the content. */
export interface Annotations {
  readonly audience?: readonly ("user" | "assistant")[]
  /** From 0 (optional) to 1 (required). */
  readonly priority?: number
  /** ISO 8601. */
  readonly lastModified?: string
}

interface Block {
  readonly annotations?: Annotations
  readonly _meta?: JsonObject
}

export interface TextContent extends Block {
  readonly type: "text"
  readonly text: string
}

export interface ImageContent extends Block {
  readonly type: "image"
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

export interface AudioContent extends Block {
  readonly type: "audio"
  /** Base64. */
  readonly data: string
  readonly mimeType: string
}

export interface ResourceLink extends Block {
  readonly type: "resource_link"
  readonly uri: string
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly icons?: readonly Icon[]
  /** Bytes. */
  readonly size?: number
}

export interface EmbeddedResource extends Block {
  readonly type: "resource"
  readonly resource: ResourceContents
}

/** The contents of a resource, as text or as base64. */
export type ResourceContents = TextResourceContents | BlobResourceContents

export interface TextResourceContents {
  readonly uri: string
  readonly mimeType?: string
  readonly text: string
  readonly _meta?: JsonObject
}

export interface BlobResourceContents {
  readonly uri: string
  readonly mimeType?: string
  /** Base64. */
  readonly blob: string
  readonly _meta?: JsonObject
}

/**
 * One block of content.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool-result
 */
export type ContentBlock = TextContent | ImageContent | AudioContent | ResourceLink | EmbeddedResource
