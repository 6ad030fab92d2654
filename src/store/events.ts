/** The store of sent events in memory: bounded for each stream and in total, and forgotten after a while. */
import type { Clock, EventStore, StreamEvent } from "./port.js"

/** Options of {@link createMemoryEventStore}. Sizes are those of the frames in memory, two bytes a character. */
export interface MemoryEventStoreOptions {
  readonly clock: Clock
  /** The most that is kept of one stream; its oldest events go first. */
  readonly maxStreamBytes: number
  /** The most that is kept of all streams. Beyond it a stream loses its own events, never another's. */
  readonly maxBytes: number
  /** How long events are kept after the last one of their stream. */
  readonly ttlMs: number
}

/** What is kept of one stream: its events from `first` on, without a gap. */
interface Kept {
  first: number
  readonly events: StreamEvent[]
  bytes: number
  expiresAtMs: number
}

/** What an event takes beside its characters. */
const OVERHEAD_BYTES = 100

/** An {@link EventStore} in this process. Answers synchronously. */
export function createMemoryEventStore(options: MemoryEventStoreOptions): EventStore {
  const { clock, maxStreamBytes, maxBytes, ttlMs } = options
  const streams = new Map<string, Kept>()
  let total = 0
  let isSweeping = false

  const drop = (kept: Kept, count: number): void => {
    for (const { frame } of kept.events.splice(0, count)) {
      kept.first++
      kept.bytes -= sizeOf(frame)
      total -= sizeOf(frame)
    }
  }

  const dropExpired = (): void => {
    for (const [stream, kept] of streams) {
      if (kept.expiresAtMs > clock.now()) continue
      drop(kept, kept.events.length)
      streams.delete(stream)
    }
  }

  const sweep = (): void => {
    dropExpired()
    isSweeping = streams.size > 0
    if (isSweeping) clock.after(ttlMs, sweep)
  }

  /** Makes room for so many bytes in a stream; answers whether there is. */
  const makeRoom = (kept: Kept, bytes: number): boolean => {
    if (bytes > maxStreamBytes) return false
    while (kept.bytes + bytes > maxStreamBytes) drop(kept, 1)
    if (total + bytes > maxBytes) dropExpired()
    return total + bytes <= maxBytes
  }

  return {
    append(stream, event) {
      const kept = streams.get(stream) ?? { first: event.position, events: [], bytes: 0, expiresAtMs: 0 }
      const bytes = sizeOf(event.frame)
      if (!makeRoom(kept, bytes)) {
        drop(kept, kept.events.length)
        streams.delete(stream)
        return
      }
      kept.events.push(event)
      kept.bytes += bytes
      total += bytes
      kept.expiresAtMs = clock.now() + ttlMs
      streams.set(stream, kept)
      if (isSweeping) return
      isSweeping = true
      clock.after(ttlMs, sweep)
    },
    after(stream, position) {
      const kept = streams.get(stream)
      if (kept === undefined || kept.expiresAtMs <= clock.now()) return undefined
      const from = position + 1 - kept.first
      return from < 0 || from > kept.events.length ? undefined : kept.events.slice(from)
    },
  }
}

function sizeOf(frame: string): number {
  return 2 * frame.length + OVERHEAD_BYTES
}
