/** The ports in memory: what a server on one machine runs on. */
import type { Change } from "../core/feature/listen.js"
import type { Bus, Clock, SetOptions, Store, Stored } from "./port.js"

interface Entry extends Stored {
  readonly expiresAtMs: number
}

/** Options of {@link createMemoryStore}. */
export interface MemoryStoreOptions {
  readonly clock: Clock
  /** How many values at most; a further one is not written. Default 100,000. */
  readonly maxEntries?: number
}

/** A {@link Store} in this process. Answers synchronously; expired values are dropped when they are met, or when it is full. */
export function createMemoryStore(options: MemoryStoreOptions): Store {
  const { clock, maxEntries = 100_000 } = options
  const entries = new Map<string, Entry>()
  let versions = 0

  const live = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry === undefined || entry.expiresAtMs > clock.now()) return entry
    entries.delete(key)
    return undefined
  }

  const hasRoom = (): boolean => {
    if (entries.size < maxEntries) return true
    for (const key of entries.keys()) live(key)
    return entries.size < maxEntries
  }

  return {
    get: live,
    set(key: string, value: string, { ttlMs, if: condition }: SetOptions = {}) {
      const current = live(key)
      if (condition === "absent" && current !== undefined) return false
      if (typeof condition === "object" && current?.version !== condition.version) return false
      if (current === undefined && !hasRoom()) return false
      const expiresAtMs = ttlMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + ttlMs
      entries.set(key, { value, version: String(++versions), expiresAtMs })
      return true
    },
    delete(key: string, { if: condition }: { readonly if?: { readonly version: string } } = {}) {
      const current = live(key)
      if (current === undefined || (condition !== undefined && current.version !== condition.version)) return false
      return entries.delete(key)
    },
  }
}

/** A {@link Bus} in this process. A listener that throws does not keep the others from hearing. */
export function createMemoryBus(): Bus {
  const listeners = new Set<(change: Change) => void>()
  return {
    publish(change) {
      for (const listener of listeners) {
        try {
          listener(change)
        } catch {
          // The listener's own fault; the next one still hears of the change.
        }
      }
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}
