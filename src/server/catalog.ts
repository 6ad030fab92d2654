/** The definitions of a running server: added, changed and taken away, with a snapshot for every moment. */
import { misuse } from "../core/error/error.js"
import type { ListName } from "../core/feature/listen.js"
import { clampText } from "../core/feature/text.js"
import { checkToolName, providerNameProblems } from "../core/feature/tool-name.js"
import type { Principal } from "../core/http/gate.js"
import type { Logger } from "../observe/log.js"
import type { PromptDefinition } from "./define/prompt.js"
import type { ResourceDefinition } from "./define/resource.js"
import type { ResourceTemplateDefinition } from "./define/resource-template.js"
import type { AnyTool } from "./define/tool.js"
import { createSnapshot, type DefinitionKind, type Definitions, type ListOptions, type Snapshot } from "./registry.js"
import { type CanSee, createViews } from "./view.js"

/** Anything that a server can have. */
export type Definition = AnyTool | ResourceDefinition | ResourceTemplateDefinition | PromptDefinition

/** A tool, resource, template or prompt that was added to a running server. */
export interface Entry<Patch> {
  /**
   * Changes options; lists that are asked for from now on show it.
   *
   * @throws `McpError` of kind `misuse` once it was taken away.
   */
  update(patch: Patch): void
  /** Takes it away; nothing happens when it is gone already. */
  remove(): void
}

/** The definitions of one server. */
export interface Catalog {
  /** The definitions of this moment, as far as the caller can see them. */
  snapshot(caller: Principal | undefined): Snapshot
  /** Forgets what callers can see, for a reason that the definitions do not show. */
  forgetViews(): void
  /** Adds a definition without telling anybody: one that the server is made with. */
  put(definition: Definition): void
  /** Adds a definition and says that its list changed. */
  add<D extends Definition>(definition: D): Entry<Parameters<D["with"]>[0]>
}

const NOTHING: Definitions = { tools: new Map(), resources: new Map(), templates: new Map(), prompts: new Map() }

/** What the definitions of each kind are called, and which list they are in. */
const KINDS = {
  tool: { kind: "tools", list: "tools", title: "tool" },
  resource: { kind: "resources", list: "resources", title: "resource" },
  "resource-template": { kind: "templates", list: "resources", title: "resource template" },
  prompt: { kind: "prompts", list: "prompts", title: "prompt" },
} as const satisfies Record<
  Definition["kind"],
  { readonly kind: DefinitionKind; readonly list: ListName; readonly title: string }
>

/** What {@link createCatalog} is made of. */
export interface CatalogParts extends ListOptions {
  readonly logger: Logger
  /** Undefined when everybody sees everything. */
  readonly canSee: CanSee | undefined
  /** Hears which list changed. */
  readonly changed: (list: ListName) => void
}

/** Makes an empty {@link Catalog}. */
export function createCatalog(parts: CatalogParts): Catalog {
  const { logger, changed } = parts
  let definitions = NOTHING
  let view: ((caller: Principal | undefined) => Snapshot) | undefined

  const mapOf = (definition: Definition): ReadonlyMap<string, Definition> => definitions[KINDS[definition.kind].kind]

  const swap = (definition: Definition, change: (map: Map<string, Definition>) => void): void => {
    const map = new Map(mapOf(definition))
    change(map)
    definitions = { ...definitions, [KINDS[definition.kind].kind]: map }
    view = undefined
  }

  const makeView = (): ((caller: Principal | undefined) => Snapshot) => {
    if (parts.canSee !== undefined) return createViews(definitions, parts, parts.canSee, logger)
    const snapshot = createSnapshot(definitions, parts)
    return () => snapshot
  }

  const put = (definition: Definition): void => {
    const key = keyOf(definition)
    if (mapOf(definition).has(key)) {
      throw misuse("duplicate_definition", `${KINDS[definition.kind].title} "${key}" is defined twice`)
    }
    swap(definition, (map) => map.set(key, definition))
    if (definition.kind === "tool") warnAboutName(definition.name, logger)
  }

  return {
    snapshot(caller) {
      view ??= makeView()
      return view(caller)
    },
    forgetViews: () => {
      if (parts.canSee !== undefined) view = undefined
    },
    put,
    add<D extends Definition>(definition: D): Entry<Parameters<D["with"]>[0]> {
      put(definition)
      const { list } = KINDS[definition.kind]
      changed(list)
      const key = keyOf(definition)
      let current: Definition = definition
      const isCurrent = (): boolean => mapOf(definition).get(key) === current
      return {
        update(patch) {
          if (!isCurrent())
            throw misuse("invalid_definition", `"${key}" was removed and cannot be updated; add it again`)
          const next = current.with(patch)
          current = next
          swap(definition, (map) => map.set(key, next))
          changed(list)
        },
        remove() {
          if (!isCurrent()) return
          swap(definition, (map) => map.delete(key))
          changed(list)
        },
      }
    },
  }
}

function keyOf(definition: Definition): string {
  switch (definition.kind) {
    case "tool":
    case "prompt":
      return definition.name
    case "resource":
      return definition.uri
    case "resource-template":
      return definition.uriTemplate
  }
}

/** A name that the specification advises against, or that some provider of models refuses, is served and said once. */
function warnAboutName(name: string, logger: Logger): void {
  const advice = checkToolName(name)
  const problems = [...(advice.ok ? [] : [advice.problem]), ...providerNameProblems(name).map(({ problem }) => problem)]
  if (problems.length > 0) logger.warn(`the name of tool "${clampText(name, 128)}": ${problems.join("; ")}`)
}
