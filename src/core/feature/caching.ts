/** What of a server may be kept, for which requests, and what a change makes of it: the rules of caching as values. */
import type { Operation } from "../revision/revision.js"
import { isJsonObject, type JsonObject } from "../wire/message.js"
import { canonicalJson } from "./canonical.js"
import { type Freshness, isFresh, readFreshness } from "./freshness.js"
import type { Change, ListName } from "./listen.js"

/** A request whose result may be kept. */
export interface CacheRequest {
  readonly method: string
  /** The resource that it reads; undefined of any other request. */
  readonly uri: string | undefined
  /** For whom it is asked: what is private is kept for each context apart. */
  readonly context: string
  /** Equal for requests of one context that are answered alike. */
  readonly key: string
}

/** What decides about the result of a request, beside its method. */
export interface CacheFacts {
  /** The version in which it is asked. */
  readonly version: string
  readonly params: JsonObject | undefined
  /** Extensions that are declared with this request only. */
  readonly extensions: JsonObject | undefined
  readonly context: string
}

/** A result that is kept. Times are of the clocks of those who share it. */
export interface KeptResult {
  readonly result: JsonObject
  readonly sentAtMs: number
  readonly receivedAtMs: number
  readonly ttlMs: number
}

/** The list that a result of each operation must have, or it is none that is worth keeping. */
const LISTED = {
  discover: "supportedVersions",
  listTools: "tools",
  listResources: "resources",
  listResourceTemplates: "resourceTemplates",
  listPrompts: "prompts",
  readResource: "contents",
} as const satisfies Partial<Record<Operation, string>>

/** The methods whose results a change of each list makes worthless. */
const OUTDATED: Readonly<Record<ListName, readonly string[]>> = {
  tools: ["tools/list"],
  prompts: ["prompts/list"],
  resources: ["resources/list", "resources/templates/list"],
}

const READ = "resources/read"

/**
 * The request as it is filed; undefined for one that depends on answers of the user, whose result must not be kept.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cache-key
 */
export function toCacheRequest(method: string, facts: CacheFacts): CacheRequest | undefined {
  const { version, params = {}, extensions, context } = facts
  if (Object.hasOwn(params, "inputResponses") || Object.hasOwn(params, "requestState")) return undefined
  const { uri } = params
  return {
    method,
    uri: method === READ && typeof uri === "string" ? uri : undefined,
    context,
    key: canonicalJson([version, method, params, extensions ?? {}]),
  }
}

/**
 * How long a result may be kept, and for whom; undefined when it may not. A result that is not complete, or not what its method
 * asks for, is not kept, whatever it says.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-results
 */
export function decideKeeping(operation: Operation, result: JsonObject, maxTtlMs: number): Freshness | undefined {
  const { ttlMs, cacheScope } = readFreshness(result)
  if (ttlMs === 0) return undefined
  const { resultType = "complete" } = result
  const listed: string | undefined = (LISTED as Partial<Record<Operation, string>>)[operation]
  if (resultType !== "complete" || listed === undefined || !Array.isArray(result[listed])) return undefined
  return { ttlMs: Math.min(ttlMs, maxTtlMs), cacheScope }
}

/** A kept result as text. */
export function writeKept(kept: KeptResult): string {
  return JSON.stringify(kept)
}

/** What {@link writeKept} wrote, while it is fresh; undefined for anything else. */
export function readKept(text: string, nowMs: number): KeptResult | undefined {
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return undefined
  }
  const kept = value as JsonObject
  if (!isJsonObject(kept)) return undefined
  const { result, sentAtMs, receivedAtMs, ttlMs } = kept
  if (!isJsonObject(result) || typeof sentAtMs !== "number") return undefined
  if (typeof receivedAtMs !== "number" || typeof ttlMs !== "number") return undefined
  return isFresh(receivedAtMs, ttlMs, nowMs) ? { result, sentAtMs, receivedAtMs, ttlMs } : undefined
}

/**
 * Since when what was asked for is outdated: requests that were sent at that moment or before it have results of a world that is
 * gone. Moments are {@link Moments.next}.
 */
export class Outdated {
  readonly #max: number
  readonly #since = new Map<string, number>()
  #all = Number.NEGATIVE_INFINITY

  /** `max`: how many changes are told apart; beyond them everything is outdated. */
  constructor(max: number) {
    this.#max = max
  }

  /** A change came, or, without one, nothing is as it was. */
  mark(atMs: number, change?: Change): void {
    if (change === undefined) this.#everything(atMs)
    else if (change.kind === "resource") for (const uri of withWholes(change.uri)) this.#put(`${READ} ${uri}`, atMs)
    else for (const method of OUTDATED[change.list]) this.#put(method, atMs)
  }

  /** Whatever a method has answered is outdated. */
  markMethod(atMs: number, method: string): void {
    this.#put(method, atMs)
  }

  has({ method, uri }: CacheRequest, sentAtMs: number): boolean {
    return (
      sentAtMs <= this.#all ||
      sentAtMs <= (this.#since.get(method) ?? Number.NEGATIVE_INFINITY) ||
      (uri !== undefined && sentAtMs <= (this.#since.get(`${READ} ${uri}`) ?? Number.NEGATIVE_INFINITY))
    )
  }

  #put(topic: string, atMs: number): void {
    if (this.#since.size >= this.#max && !this.#since.has(topic)) this.#everything(atMs)
    else this.#since.set(topic, atMs)
  }

  #everything(atMs: number): void {
    this.#all = atMs
    this.#since.clear()
  }
}

/**
 * A resource and all of which it is a part, by their paths: a change of it is one of them.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#subscriptions
 */
function* withWholes(uri: string): Generator<string> {
  yield uri
  for (const { 0: sign, index } of uri.matchAll(/[/?#]/g)) {
    yield uri.slice(0, index)
    if (sign === "/" && index < uri.length - 1) yield uri.slice(0, index + 1)
  }
}

/** The smallest step that milliseconds since 1970 can be told apart by, with room to spare. */
const STEP_MS = 2 ** -10

/** Moments in order: the time, and a little later whenever it has not moved, so that what happened first is known. */
export class Moments {
  #last = Number.NEGATIVE_INFINITY

  next(nowMs: number): number {
    this.#last = Math.max(nowMs, this.#last + STEP_MS)
    return this.#last
  }
}
