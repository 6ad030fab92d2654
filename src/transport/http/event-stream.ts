/** How messages are written as server-sent events, and what keeps a quiet stream open. */
import type { Answer } from "../../core/exchange.js"
import type { Clock } from "../../store/port.js"

/** A comment: opens a stream at once, and keeps it open. */
export const COMMENT = ":\n\n"

/** One message as an event. JSON text has no raw line breaks, so one `data` line holds it. */
export function toEvent(frame: string, id?: string): string {
  return id === undefined ? `data: ${frame}\n\n` : `id: ${id}\ndata: ${frame}\n\n`
}

/**
 * An event without a message: an id to come back with, and after which time.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#sending-messages-to-the-server
 */
export function toPrimer(id: string, retryMs: number): string {
  return `id: ${id}\nretry: ${retryMs}\ndata:\n\n`
}

/**
 * Whether an answer with text is written as an event: because the stream is open, or because the client takes nothing else. A
 * refusal with an HTTP status of its own is JSON whatever the client takes.
 */
export function isEvent(answer: Answer, streaming: boolean, onlyStreams: boolean): boolean {
  return streaming || (onlyStreams && answer.status === 200)
}

/** Something that can be sent a comment. */
export interface Quiet {
  comment(): void
}

/** Sends a comment to every open stream at an interval; turns only while there are streams. */
export interface KeepAlive {
  add(stream: Quiet): void
  delete(stream: Quiet): void
}

/** A {@link KeepAlive} on the given clock. */
export function createKeepAlive(clock: Clock, intervalMs: number): KeepAlive {
  const streams = new Set<Quiet>()
  let cancel: (() => void) | undefined
  const turn = (): void => {
    for (const stream of streams) stream.comment()
    cancel = streams.size === 0 ? undefined : clock.after(intervalMs, turn)
  }
  return {
    add(stream) {
      streams.add(stream)
      cancel ??= clock.after(intervalMs, turn)
    },
    delete(stream) {
      streams.delete(stream)
      if (streams.size > 0) return
      cancel?.()
      cancel = undefined
    },
  }
}
