/** Tools as they are listed, independent of the revision that lists them. */
import type { JsonObject } from "../wire/message.js"
import type { Icon } from "./identity.js"

/** Hints about what a tool does. Clients must not trust them unless they trust the server. */
export interface ToolAnnotations {
  readonly title?: string
  readonly readOnlyHint?: boolean
  readonly destructiveHint?: boolean
  readonly idempotentHint?: boolean
  readonly openWorldHint?: boolean
}

/**
 * A tool as it is listed.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#tool
 */
export interface Tool {
  readonly name: string
  readonly title?: string
  readonly description?: string
  readonly icons?: readonly Icon[]
  readonly inputSchema: JsonObject
  readonly outputSchema?: JsonObject
  readonly annotations?: ToolAnnotations
  readonly _meta?: JsonObject
}
