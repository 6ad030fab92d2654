/**
 * What a client keeps of its server's answers: in memory of its own, or in a store that others share. A store that fails, or does
 * not answer soon, is as good as empty.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching
 */
import { type CacheRequest, decideKeeping, Moments, Outdated, readKept, writeKept } from "../../core/feature/caching.js"
import { canonicalJson } from "../../core/feature/canonical.js"
import type { Change } from "../../core/feature/listen.js"
import { encodeBase64Url } from "../../core/http/base64.js"
import type { Operation, Revision } from "../../core/revision/revision.js"
import type { JsonObject } from "../../core/wire/message.js"
import { createMemoryStore } from "../../store/memory.js"
import type { Clock, Store } from "../../store/port.js"
import { capabilitiesOf } from "../connection/speech.js"
import type { ClientSettings } from "../settings.js"

/** What a {@link Shelf} is made of. */
export interface ShelfParts {
  readonly settings: ClientSettings
  /** What tells the server from all others; undefined when nobody else reaches it, and so nothing can be shared. */
  readonly address: string | undefined
  readonly clock: Clock
  readonly revision: () => Revision
}

/** How long a store may take before the server is asked. */
const STORE_MS = 1_000

/** How many changes of single resources are told apart. */
const MAX_CHANGES = 1_000

export class Shelf {
  readonly #parts: ShelfParts
  readonly #outdated = new Outdated(MAX_CHANGES)
  readonly #moments = new Moments()
  readonly #waiting = new Set<() => void>()
  readonly #shared: Store | undefined
  /** The context of a client that is told of none: its own, which nobody else has where others are. */
  readonly #self: string
  #own: Store | undefined
  #isBroken = false
  #isClosed = false

  constructor(parts: ShelfParts) {
    this.#parts = parts
    this.#shared = parts.address === undefined ? undefined : parts.settings.store
    this.#self = this.#shared === undefined ? "" : encodeBase64Url(crypto.getRandomValues(new Uint8Array(16)))
  }

  /** This moment, behind every other that was asked for. */
  now(): number {
    return this.#moments.next(this.#parts.clock.now())
  }

  /** For whom the client asks; undefined when that cannot be known, so that nothing may be kept. */
  context(): string | undefined {
    if (this.#isClosed) return undefined
    const { authorizationContext = this.#self, logger } = this.#parts.settings
    if (typeof authorizationContext === "string") return authorizationContext
    try {
      return authorizationContext()
    } catch (error) {
      logger.error("authorizationContext failed, so nothing is kept", { error })
      return undefined
    }
  }

  /** Whether what a request that was sent at that moment would be answered is no longer so. */
  isOutdated(request: CacheRequest, sentAtMs: number): boolean {
    return this.#outdated.has(request, sentAtMs)
  }

  /** What is kept for a request and still fresh; undefined at once where nothing was ever kept. */
  find(request: CacheRequest): Promise<JsonObject | undefined> | undefined {
    const store = this.#shared ?? this.#own
    return store === undefined ? undefined : this.#guard(() => this.#find(store, request))
  }

  /** Keeps a result as long as it says. `sentAtMs`: the moment before it was asked for. */
  keep(request: CacheRequest, operation: Operation, result: JsonObject, sentAtMs: number): void {
    const { clock, settings } = this.#parts
    const freshness = decideKeeping(operation, result, settings.limits.maxTtlMs)
    if (freshness === undefined || this.#isClosed || this.isOutdated(request, sentAtMs)) return
    const { ttlMs, cacheScope } = freshness
    const store = this.#shared ?? this.#ownStore()
    const text = writeKept({ result, sentAtMs, receivedAtMs: clock.now(), ttlMs })
    void this.#guard(async () => store.set(await this.#place(request, cacheScope), text, { ttlMs }))
  }

  /** Nothing that was kept before counts any longer: of what changed, or at all. */
  invalidate(change?: Change): void {
    this.#outdated.mark(this.now(), change)
  }

  /** Nothing that a method has answered before counts any longer. */
  invalidateMethod(method: string): void {
    this.#outdated.markMethod(this.now(), method)
  }

  /** Waits for no store any longer, and keeps nothing. */
  close(): void {
    this.#isClosed = true
    for (const giveUp of [...this.#waiting]) giveUp()
  }

  async #find(store: Store, request: CacheRequest): Promise<JsonObject | undefined> {
    const places = await Promise.all([this.#place(request, "private"), this.#place(request, "public")])
    const found = await Promise.all(places.map((place) => store.get(place)))
    for (const stored of found) {
      const kept = stored === undefined ? undefined : readKept(stored.value, this.#parts.clock.now())
      if (kept !== undefined && !this.isOutdated(request, kept.sentAtMs)) return kept.result
    }
    return undefined
  }

  /**
   * Where a result lies. What is private lies apart for each context. In a shared store it lies apart for each server and for what is
   * declared to it, and the name of the place says nothing of either.
   */
  #place({ key, context }: CacheRequest, scope: "private" | "public"): string | Promise<string> {
    const { address = "", settings, revision } = this.#parts
    const owner = scope === "public" ? [] : [context]
    if (this.#shared === undefined) return JSON.stringify([key, ...owner])
    return digest(JSON.stringify([address, canonicalJson(capabilitiesOf(settings, revision())), key, ...owner]))
  }

  #ownStore(): Store {
    const { clock, settings } = this.#parts
    const { maxCachedResults: maxEntries, maxCachedBytes: maxBytes } = settings.limits
    this.#own ??= createMemoryStore({ clock, maxEntries, maxBytes, whenFull: "drop_oldest" })
    return this.#own
  }

  /** What `work` comes to; undefined when a shared store fails, or takes too long. Memory does neither. */
  #guard<T>(work: () => Promise<T>): Promise<T | undefined> {
    if (this.#shared === undefined) return work()
    return new Promise((resolve) => {
      const settle = (value: T | undefined): void => {
        stop()
        this.#waiting.delete(giveUp)
        resolve(value)
      }
      const giveUp = (): void => settle(undefined)
      const fail = (error: unknown): void => {
        this.#failed(error)
        giveUp()
      }
      const stop = this.#parts.clock.after(STORE_MS, () => fail(new Error(`no answer within ${STORE_MS} ms`)))
      this.#waiting.add(giveUp)
      work().then((value) => {
        this.#isBroken = false
        settle(value)
      }, fail)
    })
  }

  /** Tells of the first failure of each row. */
  #failed(error: unknown): void {
    if (!this.#isBroken && !this.#isClosed) this.#parts.settings.logger.warn("the store of results failed", { error })
    this.#isBroken = true
  }
}

async function digest(text: string): Promise<string> {
  const bytes = await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))
  return `conduit-mcp:result:${encodeBase64Url(new Uint8Array(bytes))}`
}
