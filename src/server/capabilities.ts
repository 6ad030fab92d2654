/** The capabilities that a server declares, derived from what is there. */
import type { ServerCapabilities } from "../core/model/capability.js"
import type { JsonObject } from "../core/wire/message.js"
import type { Snapshot } from "./registry.js"

/** What the definitions alone do not tell. */
export interface CapabilityOptions {
  /** Whether log messages reach the client. */
  readonly logging: boolean
  readonly extensions: JsonObject | undefined
}

/**
 * The capabilities of a server with these definitions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover#discoverresult
 */
export function capabilitiesOf(snapshot: Snapshot, options: CapabilityOptions): ServerCapabilities {
  const hasResources = snapshot.resources.size > 0 || snapshot.templates.size > 0
  return {
    ...(snapshot.tools.size > 0 ? { tools: {} } : {}),
    ...(hasResources ? { resources: {} } : {}),
    ...(snapshot.prompts.size > 0 ? { prompts: {} } : {}),
    ...(snapshot.completes ? { completions: {} } : {}),
    ...(options.logging ? { logging: {} } : {}),
    ...(options.extensions === undefined ? {} : { extensions: options.extensions }),
  }
}

/** What remains of declared capabilities towards a client that can be sent nothing outside an answer. */
export function withoutPush(declared: ServerCapabilities): ServerCapabilities {
  const { logging: _, tools, prompts, resources, ...rest } = declared
  return {
    ...rest,
    ...(tools === undefined ? {} : { tools: {} }),
    ...(prompts === undefined ? {} : { prompts: {} }),
    ...(resources === undefined ? {} : { resources: {} }),
  }
}
