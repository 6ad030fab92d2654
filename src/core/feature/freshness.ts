/** How long a result may be kept and by whom: the caching hints of lists, discover and reads. */
import { isObject, type JsonObject } from "../wire/message.js"

/** The caching hints of one result. */
export interface Freshness {
  /** For how many milliseconds the result is fresh once it has been received; 0 means not at all. */
  readonly ttlMs: number
  /** `public`: the same for everybody. `private`: for one authorization context only. */
  readonly cacheScope: "public" | "private"
}

/** What a result without hints says: stale at once, for its caller only. */
export const DEFAULT_FRESHNESS: Freshness = { ttlMs: 0, cacheScope: "private" }

/**
 * The hints of a received result. One that is missing, negative or malformed takes its default; a result is never refused
 * for its hints.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#cacheable-model
 */
export function readFreshness(result: JsonObject): Freshness {
  const ttlMs = result["ttlMs"]
  return {
    ttlMs: isTtl(ttlMs) ? ttlMs : DEFAULT_FRESHNESS.ttlMs,
    cacheScope: result["cacheScope"] === "public" ? "public" : DEFAULT_FRESHNESS.cacheScope,
  }
}

/** Checks the hints that a server is about to promise; a member that is left out takes its default. */
export function checkFreshness(
  value: unknown,
): { readonly ok: true; readonly freshness: Freshness } | { readonly ok: false; readonly problem: string } {
  if (!isObject(value)) return { ok: false, problem: "freshness must be an object with ttlMs and cacheScope" }
  const { ttlMs = DEFAULT_FRESHNESS.ttlMs, cacheScope = DEFAULT_FRESHNESS.cacheScope } = value
  if (!isTtl(ttlMs)) return { ok: false, problem: "freshness.ttlMs must be a whole number of milliseconds, 0 or more" }
  if (cacheScope !== "public" && cacheScope !== "private") {
    return { ok: false, problem: 'freshness.cacheScope must be "public" or "private"' }
  }
  return { ok: true, freshness: { ttlMs, cacheScope } }
}

/**
 * Whether what was received at `receivedAtMs` is still fresh at `nowMs`, both of one clock.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#freshness-calculation
 */
export function isFresh(receivedAtMs: number, ttlMs: number, nowMs: number): boolean {
  return nowMs < receivedAtMs + ttlMs
}

function isTtl(value: unknown): value is number {
  return Number.isSafeInteger(value) && Number(value) >= 0
}
