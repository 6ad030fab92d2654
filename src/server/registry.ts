/** What a server has, as an immutable snapshot: looked up by name, listed in pages that are serialised once. */
import { decodeCursor, encodeCursor } from "../core/feature/cursor.js"
import type { Freshness } from "../core/feature/freshness.js"
import type { Revision } from "../core/revision/revision.js"
import type { JsonObject } from "../core/wire/message.js"
import type { PromptDefinition } from "./define/prompt.js"
import type { ResourceDefinition } from "./define/resource.js"
import type { ResourceTemplateDefinition } from "./define/resource-template.js"
import type { AnyTool } from "./define/tool.js"

/** Everything that is defined, in the order in which it was. */
export interface Definitions {
  readonly tools: ReadonlyMap<string, AnyTool>
  readonly resources: ReadonlyMap<string, ResourceDefinition>
  readonly templates: ReadonlyMap<string, ResourceTemplateDefinition>
  readonly prompts: ReadonlyMap<string, PromptDefinition>
}

/** The kinds of definitions. */
export type DefinitionKind = keyof Definitions

/** The definitions at one moment. A request keeps the snapshot that it started with. */
export interface Snapshot extends Definitions {
  /** Whether any prompt or template completes what a user types. */
  readonly completes: boolean
  /** How long what is read from here may be kept, given what its definition says: nobody shares what a caller may not see. */
  hints(freshness: Freshness): Freshness
  /** One page of a list as the members of its result, or undefined when the cursor is not one of this list's. */
  page(kind: DefinitionKind, revision: Revision, cursor: string | undefined): string | undefined
}

/** How lists are served. */
export interface ListOptions {
  /** Entries of a page. Default 1,000. */
  readonly pageSize: number
  readonly freshness: Freshness
  /** Whether what is listed depends on who asks. Default false. */
  readonly personal?: boolean
}

const MEMBERS = {
  tools: "tools",
  resources: "resources",
  templates: "resourceTemplates",
  prompts: "prompts",
} as const satisfies Record<DefinitionKind, string>

/** The snapshot of the given definitions. */
export function createSnapshot(definitions: Definitions, options: ListOptions): Snapshot {
  /** Only the pages that follow each other from the start: a cursor may be made up, and there is one for every entry. */
  const pages = new Map<string, string>()
  const keysOf = new Map<DefinitionKind, readonly string[]>()

  const hints = (freshness: Freshness): Freshness =>
    options.personal === true ? { ...freshness, cacheScope: "private" } : freshness

  const keys = (kind: DefinitionKind): readonly string[] => {
    const known = keysOf.get(kind) ?? [...definitions[kind].keys()]
    keysOf.set(kind, known)
    return known
  }

  const start = (kind: DefinitionKind, cursor: string | undefined): number | undefined => {
    if (cursor === undefined) return 0
    const last = decodeCursor(cursor, kind)
    const index = last === undefined ? -1 : keys(kind).indexOf(last)
    return index < 0 ? undefined : index + 1
  }

  const write = (kind: DefinitionKind, revision: Revision, from: number): string => {
    const all = keys(kind)
    const chosen = all.slice(from, from + options.pageSize)
    const entries = chosen.map((key) => encodeEntry(definitions, kind, key, revision))
    const last = chosen.at(-1)
    const more = last !== undefined && from + chosen.length < all.length
    return JSON.stringify({
      [MEMBERS[kind]]: entries,
      ...(more ? { nextCursor: encodeCursor(kind, last) } : {}),
      ...(revision.selfDescribingResults ? hints(options.freshness) : {}),
    }).slice(1, -1)
  }

  return {
    ...definitions,
    completes: hasCompleter(definitions),
    hints,
    page(kind, revision, cursor) {
      const from = start(kind, cursor)
      if (from === undefined) return undefined
      const key = `${revision.version} ${kind} ${from}`
      const text = pages.get(key) ?? write(kind, revision, from)
      if (from % options.pageSize === 0) pages.set(key, text)
      return text
    },
  }
}

function encodeEntry(definitions: Definitions, kind: DefinitionKind, key: string, revision: Revision): JsonObject {
  switch (kind) {
    case "tools":
      return revision.encode.tool(found(definitions.tools.get(key)).listed)
    case "resources":
      return revision.encode.resource(found(definitions.resources.get(key)).listed)
    case "templates":
      return revision.encode.template(found(definitions.templates.get(key)).listed)
    case "prompts":
      return revision.encode.prompt(found(definitions.prompts.get(key)).listed)
  }
}

function found<T>(value: T | undefined): T {
  if (value === undefined) throw new Error("a listed key has a definition")
  return value
}

function hasCompleter(definitions: Definitions): boolean {
  const completes = (definition: { readonly completers: ReadonlyMap<string, unknown> }): boolean =>
    definition.completers.size > 0
  return [...definitions.prompts.values()].some(completes) || [...definitions.templates.values()].some(completes)
}
