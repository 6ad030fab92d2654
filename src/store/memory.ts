/** The ports in memory: what a server on one machine runs on. */
import type { Change } from "../core/feature/listen.js"
import type { Bus, Clock, SetOptions, Store, Stored } from "./port.js"

interface Entry extends Stored {
  readonly expiresAtMs: number
}

/** Options of {@link createMemoryStore}. */
export interface MemoryStoreOptions {
  readonly clock: Clock
  /** How many values at most. Default 100,000. */
  readonly maxEntries?: number
  /** How much keys and values may take at most, two bytes a character. Default 256 MiB. */
  readonly maxBytes?: number
  /** What becomes of a value for which there is no room: it is not written, or takes the place of the oldest. Default `refuse`. */
  readonly whenFull?: "refuse" | "drop_oldest"
}

/** How often all expired values are looked for at most, while others are written. */
const SWEEP_MS = 10_000

/** How many of the oldest values are looked at to make room for one more. */
const OLDEST = 100

/** A {@link Store} in this process. Answers synchronously; expired values are dropped when they are met, and soon after others are written. */
export function createMemoryStore(options: MemoryStoreOptions): Store {
  const { clock, maxEntries = 100_000, maxBytes = 256 << 20, whenFull = "refuse" } = options
  const entries = new Map<string, Entry>()
  let versions = 0
  let bytes = 0
  let sweptAtMs = Number.NEGATIVE_INFINITY

  const put = (key: string, entry: Entry): void => {
    bytes += sizeOf(key, entry.value)
    entries.set(key, entry)
  }

  const drop = (key: string, { value }: Entry): boolean => {
    bytes -= sizeOf(key, value)
    return entries.delete(key)
  }

  const live = (key: string): Entry | undefined => {
    const entry = entries.get(key)
    if (entry === undefined || entry.expiresAtMs > clock.now()) return entry
    drop(key, entry)
    return undefined
  }

  /** Drops what has expired: all of it now and then, and of the oldest whenever there is no room. */
  const makeRoom = (key: string, value: string): boolean => {
    const isDue = clock.now() - sweptAtMs >= SWEEP_MS
    if (isDue) sweptAtMs = clock.now()
    let looked = 0
    const hasRoom = (): boolean => entries.size < maxEntries && bytes + sizeOf(key, value) <= maxBytes
    for (const oldest of entries.keys()) {
      if (!isDue && (hasRoom() || ++looked > OLDEST)) break
      live(oldest)
    }
    if (whenFull === "drop_oldest" && sizeOf(key, value) <= maxBytes) {
      for (const [oldest, entry] of entries) {
        if (hasRoom()) break
        drop(oldest, entry)
      }
    }
    return hasRoom()
  }

  return {
    get: live,
    set(key: string, value: string, { ttlMs, if: condition }: SetOptions = {}) {
      const current = live(key)
      if (condition === "absent" && current !== undefined) return false
      if (typeof condition === "object" && current?.version !== condition.version) return false
      if (current !== undefined) drop(key, current)
      if (!makeRoom(key, value)) {
        if (current !== undefined) put(key, current)
        return false
      }
      const expiresAtMs = ttlMs === undefined ? Number.POSITIVE_INFINITY : clock.now() + ttlMs
      put(key, { value, version: String(++versions), expiresAtMs })
      return true
    },
    delete(key: string, { if: condition }: { readonly if?: { readonly version: string } } = {}) {
      const current = live(key)
      if (current === undefined || (condition !== undefined && current.version !== condition.version)) return false
      return drop(key, current)
    },
  }
}

function sizeOf(key: string, value: string): number {
  return 2 * (key.length + value.length)
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
