/**
 * What clients can hear of between calls: which changes there are, which of them a client asks for, what of that is offered, and
 * the messages that say it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
 */
import { idText, notification, notificationText } from "../wire/build.js"
import { isJsonObject, isRequestId, type JsonObject, type JsonValue, type RequestId } from "../wire/message.js"
import { META } from "./envelope.js"

/** The lists whose changes clients can hear of. */
export type ListName = "tools" | "prompts" | "resources"

/** Something that changed on a server and that whoever listens wants to hear of. */
export type Change =
  | { readonly kind: "list"; readonly list: ListName }
  | { readonly kind: "resource"; readonly uri: string }

/** What a client asks to hear, and what a server agrees to tell. */
export interface ListenFilter {
  readonly toolsListChanged?: boolean
  readonly promptsListChanged?: boolean
  readonly resourcesListChanged?: boolean
  readonly resourceSubscriptions?: readonly string[]
}

/** What a server can tell one caller. */
export interface ListenOffer {
  /** The lists whose changes are told. */
  readonly lists: ReadonlySet<ListName>
  /** Whether changes of the resource are told. */
  hasResource(uri: string): boolean
}

const MEMBERS: Readonly<Record<ListName, "toolsListChanged" | "promptsListChanged" | "resourcesListChanged">> = {
  tools: "toolsListChanged",
  prompts: "promptsListChanged",
  resources: "resourcesListChanged",
}

/** Every list. */
export const LISTS: readonly ListName[] = ["tools", "prompts", "resources"]

/** Reads a filter. Members that are not known are left out. */
export function parseListenFilter(
  value: JsonValue | undefined,
): { readonly filter: ListenFilter } | { readonly problem: string } {
  if (!isJsonObject(value)) return { problem: '"notifications" must be an object' }
  for (const member of Object.values(MEMBERS)) {
    const wanted = value[member]
    if (wanted !== undefined && typeof wanted !== "boolean") return { problem: `"${member}" must be a boolean` }
  }
  const { resourceSubscriptions: uris } = value
  if (uris !== undefined && !(Array.isArray(uris) && uris.every((uri) => typeof uri === "string"))) {
    return { problem: '"resourceSubscriptions" must be a list of strings' }
  }
  return { filter: value as ListenFilter }
}

/** What of a filter is honoured: what is offered, each resource once. Nothing of it is there when it is not asked for. */
export function honourFilter(asked: ListenFilter, offer: ListenOffer): ListenFilter {
  const uris = [...new Set(asked.resourceSubscriptions)].filter((uri) => offer.hasResource(uri))
  return {
    ...Object.fromEntries(
      LISTS.filter((list) => asked[MEMBERS[list]] === true && offer.lists.has(list)).map((list) => [
        MEMBERS[list],
        true,
      ]),
    ),
    ...(uris.length === 0 ? {} : { resourceSubscriptions: uris }),
  }
}

/** What a change is filed under: one topic for each list and each resource. */
export function topicOf(change: Change): string {
  return change.kind === "list" ? change.list : `updated ${change.uri}`
}

/** Whether a topic is that of a resource. */
export function isResourceTopic(topic: string): boolean {
  return topic.startsWith("updated ")
}

/** The topics that a filter names. */
export function topicsOf(filter: ListenFilter): readonly string[] {
  const lists = LISTS.filter((list) => filter[MEMBERS[list]] === true)
  return [...lists, ...(filter.resourceSubscriptions ?? []).map((uri) => topicOf({ kind: "resource", uri }))]
}

/** What is said of one change, written once for everybody who hears of it. */
export interface Notice {
  readonly topic: string
  /** The notification for a legacy session. */
  readonly plain: string
  /** The notification for a listen stream, before and after the JSON text of the stream's id. */
  readonly tagged: readonly [head: string, tail: string]
}

/** Writes the notice of a change. */
export function toNotice(change: Change): Notice {
  const isList = change.kind === "list"
  const method = isList ? `notifications/${change.list}/list_changed` : "notifications/resources/updated"
  const params = isList ? undefined : { uri: change.uri }
  const members = params === undefined ? "" : `,${JSON.stringify(params).slice(1, -1)}`
  const head = `{"jsonrpc":"2.0","method":"${method}","params":{"_meta":{"${META.subscriptionId}":`
  return {
    topic: topicOf(change),
    plain: JSON.stringify(notification(method, params)),
    tagged: [head, `}${members}}}`],
  }
}

/** The first message of a listen stream: what of its filter is honoured. */
export function acknowledgement(id: RequestId, honoured: ListenFilter): string {
  return notificationText("notifications/subscriptions/acknowledged", {
    _meta: subscriptionMeta(id),
    notifications: honoured as JsonObject,
  })
}

/**
 * Says that a listen stream is over, where it shares its channel with other messages.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/cancellation
 */
export function listenCancelled(id: RequestId): string {
  return notificationText("notifications/cancelled", { _meta: subscriptionMeta(id), requestId: id })
}

/** The `_meta` that ties a message to its listen stream; the id keeps its type. */
export function subscriptionMeta(id: RequestId): JsonObject {
  return { [META.subscriptionId]: id }
}

/** A notice as one listen stream gets it. */
export function taggedWith(id: RequestId, { tagged: [head, tail] }: Notice): string {
  return head + idText(id) + tail
}

/** The change that a notification tells; undefined for any other notification. */
export function readChange(method: string, params: JsonObject | undefined): Change | undefined {
  if (method === "notifications/resources/updated") {
    const uri = params?.["uri"]
    return typeof uri === "string" ? { kind: "resource", uri } : undefined
  }
  const list = LISTS.find((name) => method === `notifications/${name}/list_changed`)
  return list === undefined ? undefined : { kind: "list", list }
}

/** The listen stream that a message belongs to; undefined when it belongs to none. */
export function readSubscriptionId(params: JsonObject | undefined): RequestId | undefined {
  const meta = params?.["_meta"]
  const id = isJsonObject(meta) ? meta[META.subscriptionId] : undefined
  return isRequestId(id) ? id : undefined
}

/** The changes that a filter names, one for each of its topics. */
export function changesOf(filter: ListenFilter): readonly Change[] {
  const lists = LISTS.filter((list) => filter[MEMBERS[list]] === true).map((list): Change => ({ kind: "list", list }))
  return [...lists, ...(filter.resourceSubscriptions ?? []).map((uri): Change => ({ kind: "resource", uri }))]
}
