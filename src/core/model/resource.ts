/** Resources and resource templates as they are listed, independent of the revision that lists them. */
import type { JsonObject } from "../wire/message.js"
import type { Annotations } from "./content.js"
import type { Icon } from "./identity.js"

interface Described {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly mimeType?: string
  readonly icons?: readonly Icon[]
  readonly annotations?: Annotations
  readonly _meta?: JsonObject
}

/**
 * A resource as it is listed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource
 */
export interface Resource extends Described {
  readonly uri: string
  /** Bytes. */
  readonly size?: number
}

/** A resource template as it is listed. */
export interface ResourceTemplate extends Described {
  readonly uriTemplate: string
}
