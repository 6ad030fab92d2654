/** Every bound that a server keeps, with its default, in one place. */
import { misuse } from "./error/error.js"

/** Bounds of a server. Times are in milliseconds, sizes in bytes. */
export interface Limits {
  /** The largest HTTP body. Default 4 MiB. Enforced while it is read; 413 beyond it. */
  readonly maxBodyBytes: number
  /** How long a body may take to arrive. Default 30,000. */
  readonly bodyTimeoutMs: number
  /** The longest line on a pipe, either way. Default 10 MiB. A longer one is refused alone; four times as much without an end closes the pipe. */
  readonly maxLineBytes: number
  /** How many arrays and objects of a message may be open at once. Default 64. */
  readonly maxDepth: number
  /** How many keys and items a message may have. Default 50,000. */
  readonly maxKeys: number
  /** How long a handler may take, unless its tool says `timeoutMs`; time in which the client is asked does not count. Default 1 hour. */
  readonly handlerTimeoutMs: number
  /** How long calls may go on when the server goes down. Default 10,000. */
  readonly drainMs: number
  /** How much of one event stream may wait for its reader before the stream is dropped. Default 4 MiB. */
  readonly maxBufferedBytes: number
  /** How long a reader may take nothing of what waits for it before its connection is closed. Default 30,000. */
  readonly writeTimeoutMs: number
  /** How many requests may be worked on at once. Default 10,000; 503 beyond it. */
  readonly maxInFlight: number
  /** How many requests of one session, pipe or principal may be worked on at once. Default 1,000; 503 beyond it. */
  readonly maxInFlightPerPeer: number
  /** How many legacy sessions may live at once. Default 10,000; 503 beyond it. */
  readonly maxSessions: number
  /** How many of them one principal may have. Default 1,000; 503 beyond it. */
  readonly maxSessionsPerPrincipal: number
  /** How large what a client says of itself in `initialize` may be, in characters. Default 16 KiB; -32602 beyond it. */
  readonly maxSessionBytes: number
  /** How long a legacy session may be idle. Default 30 minutes. */
  readonly sessionIdleMs: number
  /** How long a call may wait for its client between two rounds. Default 15 minutes. */
  readonly stateTtlMs: number
  /** The largest `requestState`; one that would grow past it is kept in the store. Default 64 KiB. */
  readonly maxStateBytes: number
  /** How much of such states may be kept at once. Default 64 MiB; a question beyond it fails. */
  readonly maxKeptStateBytes: number
  /** How often a quiet event stream sends a comment. Default 15,000. */
  readonly keepAliveMs: number
  /** How many `subscriptions/listen` streams may be open at once. Default 10,000; 503 beyond it. */
  readonly maxListens: number
  /** How many of them one pipe or one principal may have. Default 100; 503 beyond it. */
  readonly maxListensPerPeer: number
  /** How many resources may be watched at once, by all listen streams and legacy sessions. Default 100,000; 503 beyond it. */
  readonly maxSubscriptions: number
  /** How many resources one listen stream or legacy session may watch. Default 1,000. */
  readonly maxSubscriptionsPerPeer: number
  /** How far apart two notifications of the same change are. Default 100. What changes in between is said once. */
  readonly coalesceMs: number
  /** How long a client is asked to wait before it comes back for the rest of an event stream. Default 1,000. */
  readonly retryMs: number
  /** How long the events of a stream are kept for a client that comes back. Default 5 minutes from the last. */
  readonly eventTtlMs: number
  /** The most that is kept of one stream, two bytes a character; its oldest events go first. Default 4 MiB. */
  readonly maxStreamBytes: number
  /** The most that is kept of all streams together; beyond it a stream loses its own. Default 64 MiB. */
  readonly maxEventBytes: number
  /** How many connections of the deprecated HTTP+SSE transport may be open at once. Default 1,000; 503 beyond it. */
  readonly maxSseConnections: number
  /** How long such a connection may stay open. Default 1 hour. */
  readonly sseLifetimeMs: number
}

/** The defaults of {@link Limits}. */
export const DEFAULT_LIMITS: Limits = {
  maxBodyBytes: 4 << 20,
  bodyTimeoutMs: 30_000,
  handlerTimeoutMs: 60 * 60_000,
  drainMs: 10_000,
  maxBufferedBytes: 4 << 20,
  writeTimeoutMs: 30_000,
  maxLineBytes: 10 << 20,
  maxDepth: 64,
  maxKeys: 50_000,
  maxInFlight: 10_000,
  maxInFlightPerPeer: 1_000,
  maxSessions: 10_000,
  maxSessionsPerPrincipal: 1_000,
  maxSessionBytes: 16 << 10,
  sessionIdleMs: 30 * 60_000,
  stateTtlMs: 15 * 60_000,
  maxStateBytes: 64 << 10,
  maxKeptStateBytes: 64 << 20,
  keepAliveMs: 15_000,
  maxListens: 10_000,
  maxListensPerPeer: 100,
  maxSubscriptions: 100_000,
  maxSubscriptionsPerPeer: 1_000,
  coalesceMs: 100,
  retryMs: 1_000,
  eventTtlMs: 5 * 60_000,
  maxStreamBytes: 4 << 20,
  maxEventBytes: 64 << 20,
  maxSseConnections: 1_000,
  sseLifetimeMs: 60 * 60_000,
}

/**
 * The limits that the options give, over the defaults.
 *
 * @throws `McpError` of kind `misuse`, reason `invalid_option`, for an unknown name or a value that is not a positive integer.
 */
export function resolveLimits(given: Partial<Limits> = {}): Limits {
  return resolveBounds(DEFAULT_LIMITS, given)
}

/**
 * The bounds that are given, over their defaults.
 *
 * @throws `McpError` of kind `misuse`, reason `invalid_option`, for an unknown name or a value that is not a positive integer.
 */
export function resolveBounds<Bounds extends object>(defaults: Bounds, given: Partial<Bounds>): Bounds {
  for (const [name, value] of Object.entries(given)) {
    if (!Object.hasOwn(defaults, name)) {
      throw misuse("invalid_option", `limits.${name} is not a limit (known: ${Object.keys(defaults).join(", ")})`)
    }
    if (!Number.isSafeInteger(value) || Number(value) <= 0) {
      throw misuse("invalid_option", `limits.${name} must be a positive integer, not ${String(value)}`)
    }
  }
  return { ...defaults, ...given }
}
