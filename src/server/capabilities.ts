/** The capabilities that a server declares, derived from what is there. */
import type { ServerCapabilities } from "../core/model/capability.js"
import type { JsonObject } from "../core/wire/message.js"
import type { Snapshot } from "./registry.js"

/** What of a client can be reached: beside the answers of its requests, and before them. */
export interface Reach {
  /** Whether it can be told of changes. */
  readonly changes: boolean
  /** Whether log messages reach it. */
  readonly logs: boolean
}

/**
 * The capabilities of a server with these definitions.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover#discoverresult
 */
export function capabilitiesOf(
  snapshot: Snapshot,
  reach: Reach,
  extensions: JsonObject | undefined,
): ServerCapabilities {
  const hasResources = snapshot.resources.size > 0 || snapshot.templates.size > 0
  const listChanged = reach.changes ? { listChanged: true } : {}
  const subscribe = reach.changes ? { subscribe: true } : {}
  return {
    ...(snapshot.tools.size > 0 ? { tools: listChanged } : {}),
    ...(hasResources ? { resources: { ...subscribe, ...listChanged } } : {}),
    ...(snapshot.prompts.size > 0 ? { prompts: listChanged } : {}),
    ...(snapshot.completes ? { completions: {} } : {}),
    ...(reach.logs ? { logging: {} } : {}),
    ...(extensions === undefined ? {} : { extensions }),
  }
}

/** What remains of declared capabilities for a client that cannot be reached in every way. */
export function within(reach: Reach, declared: ServerCapabilities): ServerCapabilities {
  const { logging, tools, prompts, resources, ...rest } = declared
  return {
    ...rest,
    ...(logging === undefined || !reach.logs ? {} : { logging }),
    ...(tools === undefined ? {} : { tools: reach.changes ? tools : {} }),
    ...(prompts === undefined ? {} : { prompts: reach.changes ? prompts : {} }),
    ...(resources === undefined ? {} : { resources: reach.changes ? resources : {} }),
  }
}
