/** What each caller can see of a server: a snapshot of its own, made once and kept while nothing changes. */
import type { Principal } from "../core/http/gate.js"
import type { Logger } from "../observe/log.js"
import type { Definition } from "./catalog.js"
import { createSnapshot, type Definitions, type ListOptions, type Snapshot } from "./registry.js"
import { notPlainJson } from "./result.js"

/**
 * Decides whether a caller can see a definition; whoever cannot is answered as if it were not there. Depends on the caller and
 * the definition alone: what it says is kept until something changes, or `server.changed` says so. One that throws sees nothing.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#listing-tools
 */
export type CanSee = (definition: Definition, caller: Principal | undefined) => boolean

/** How many callers' views are kept at once; the oldest makes room. */
const MAX_VIEWS = 1_000

/** The views of these definitions: what a caller can see of them. */
export function createViews(
  definitions: Definitions,
  options: ListOptions,
  canSee: CanSee,
  logger: Logger,
): (caller: Principal | undefined) => Snapshot {
  const views = new Map<string, Snapshot>()

  const make = (caller: Principal | undefined): Snapshot => {
    const sees = (definition: Definition): boolean => {
      try {
        return canSee(definition, caller) === true
      } catch (error) {
        logger.error("canSee failed, so the definition is not seen", { kind: definition.kind, error })
        return false
      }
    }
    const { tools, resources, templates, prompts } = definitions
    const seen = {
      tools: filterMap(tools, sees),
      resources: filterMap(resources, sees),
      templates: filterMap(templates, sees),
      prompts: filterMap(prompts, sees),
    }
    return createSnapshot(seen, { ...options, personal: true })
  }

  return (caller) => {
    const key = keyOf(caller)
    if (key === undefined) return make(caller)
    const known = views.get(key)
    if (known !== undefined) return known
    const [oldest] = views.size >= MAX_VIEWS ? views.keys() : []
    if (oldest !== undefined) views.delete(oldest)
    const view = make(caller)
    views.set(key, view)
    return view
  }
}

/** Everything that a decision may hang on, as text; undefined when it is no JSON and so may say less than there is. */
function keyOf(caller: Principal | undefined): string | undefined {
  if (caller === undefined) return ""
  return notPlainJson(caller, "the principal") === undefined ? JSON.stringify(caller) : undefined
}

function filterMap<Value>(
  map: ReadonlyMap<string, Value>,
  keep: (value: Value) => boolean,
): ReadonlyMap<string, Value> {
  return new Map([...map].filter(([, value]) => keep(value)))
}
