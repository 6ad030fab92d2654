/** Who hears of which change: readers by topic, fed by the bus, with bursts of the same change said once. */
import { type Change, isResourceTopic, type Notice, toNotice, topicOf } from "../../core/feature/listen.js"
import type { Limits } from "../../core/limits.js"
import type { Bus, Clock } from "../../store/port.js"

/** Somebody who hears of changes. */
export interface Reader {
  hear(notice: Notice): void
}

/** The readers of one endpoint. */
export interface Audience {
  join(topic: string, reader: Reader): void
  leave(topic: string, reader: Reader): void
  /** Whether so many more resources may be watched. */
  hasRoom(topics: readonly string[]): boolean
  /** Forgets everybody. */
  close(): void
}

/** The parts that {@link createAudience} is made of. */
export interface AudienceParts {
  readonly bus: Bus
  readonly clock: Clock
  readonly limits: Pick<Limits, "coalesceMs" | "maxSubscriptions">
}

/** A topic after its first change: nothing said yet, said and still true, or said and changed again. */
interface Window {
  state: "unsaid" | "said" | "stale"
  cancel: () => void
}

/**
 * Makes an {@link Audience}. The bus is heard only while there are readers. A change is said at the end of the running job, so
 * that several at once are one; what follows within `coalesceMs` is said once, at the end of that time.
 */
export function createAudience({ bus, clock, limits }: AudienceParts): Audience {
  const readers = new Map<string, Set<Reader>>()
  const windows = new Map<string, Window>()
  let watched = 0
  let stopHearing: (() => void) | undefined

  const say = (change: Change, window: Window): void => {
    window.state = "said"
    const notice = toNotice(change)
    for (const reader of readers.get(notice.topic) ?? []) reader.hear(notice)
  }

  const open = (change: Change, window: Window): void => {
    window.cancel = clock.after(limits.coalesceMs, () => {
      if (window.state !== "stale") return void windows.delete(topicOf(change))
      open(change, window)
      say(change, window)
    })
  }

  const hear = (change: Change): void => {
    const topic = topicOf(change)
    if (!readers.has(topic)) return
    const known = windows.get(topic)
    if (known !== undefined) {
      if (known.state === "said") known.state = "stale"
      return
    }
    const window: Window = { state: "unsaid", cancel: () => {} }
    windows.set(topic, window)
    open(change, window)
    queueMicrotask(() => say(change, window))
  }

  const close = (): void => {
    stopHearing?.()
    stopHearing = undefined
    for (const { cancel } of windows.values()) cancel()
    windows.clear()
    readers.clear()
    watched = 0
  }

  return {
    join(topic, reader) {
      const joined = readers.get(topic) ?? new Set()
      if (joined.has(reader)) return
      readers.set(topic, joined.add(reader))
      watched += isResourceTopic(topic) ? 1 : 0
      stopHearing ??= bus.subscribe(hear)
    },
    leave(topic, reader) {
      const joined = readers.get(topic)
      if (joined?.delete(reader) !== true) return
      watched -= isResourceTopic(topic) ? 1 : 0
      if (joined.size === 0) readers.delete(topic)
      if (readers.size === 0) close()
    },
    hasRoom: (topics) => watched + topics.filter(isResourceTopic).length <= limits.maxSubscriptions,
    close,
  }
}
