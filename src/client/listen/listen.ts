/** What a client listens to, in the words of either era. */
import type { Change, ListenFilter, ListName } from "../../core/feature/listen.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"

/** What to listen to. */
export interface ListenTarget {
  /** Changes of the list of tools. */
  readonly tools?: boolean
  /** Changes of the list of prompts. */
  readonly prompts?: boolean
  /** Changes of the list of resources. */
  readonly resourceList?: boolean
  /** Changes of these resources. */
  readonly resources?: readonly string[]
}

/** The target as the modern era asks for it. */
export function toFilter({ tools, prompts, resourceList, resources = [] }: ListenTarget): ListenFilter {
  return {
    ...(tools === true ? { toolsListChanged: true } : {}),
    ...(prompts === true ? { promptsListChanged: true } : {}),
    ...(resourceList === true ? { resourcesListChanged: true } : {}),
    ...(resources.length === 0 ? {} : { resourceSubscriptions: [...new Set(resources)] }),
  }
}

const MEMBERS: Readonly<Record<ListName, "toolsListChanged" | "promptsListChanged" | "resourcesListChanged">> = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
}

/**
 * Finds what of a filter a change is about: the list, the resource, or the one of which it is a part; undefined when nothing of the
 * filter is.
 */
export function subjectsOf(filter: ListenFilter): (change: Change) => Change | undefined {
  const uris = new Set(filter.resourceSubscriptions)
  return (change) => {
    if (change.kind === "list") return filter[MEMBERS[change.list]] === true ? change : undefined
    if (uris.has(change.uri)) return change
    for (const uri of uris) if (isPartOf(change.uri, uri)) return { kind: "resource", uri }
    return undefined
  }
}

function isPartOf(part: string, whole: string): boolean {
  return part.startsWith(whole) && (whole.endsWith("/") || /^[/?#]/.test(part.slice(whole.length)))
}

/** What of a filter a legacy server says that it tells. */
export function offeredBy(capabilities: JsonObject, filter: ListenFilter): ListenFilter {
  const offers = (name: string, leaf: string): boolean => {
    const capability = capabilities[name]
    return isJsonObject(capability) && capability[leaf] === true
  }
  const lists = Object.entries(MEMBERS).filter(
    ([name, member]) => filter[member] === true && offers(name, "listChanged"),
  )
  const { resourceSubscriptions } = filter
  return {
    ...Object.fromEntries(lists.map(([, member]) => [member, true])),
    ...(resourceSubscriptions !== undefined && offers("resources", "subscribe") ? { resourceSubscriptions } : {}),
  }
}
