/** Every bound that a client keeps, with its default, in one place. */
import { resolveBounds } from "../core/limits.js"

/** Bounds of a client. Times are in milliseconds, sizes in bytes. */
export interface ClientLimits {
  /** The longest message of a server: a line of a pipe, a JSON answer, an event of a stream. Default 32 MiB. Only the request that it belongs to fails. */
  readonly maxMessageBytes: number
  /** How many arrays and objects of a message may be open at once. Default 128. */
  readonly maxDepth: number
  /** How many keys and items a message may have. Default 1,000,000. */
  readonly maxKeys: number
  /** How much may wait for a process that does not read its input, two bytes a character; until it does, whatever is sent fails. Default 64 MiB. */
  readonly maxUnsentBytes: number
  /** How many requests may be on their way at once; further ones wait. Default 1,000. */
  readonly maxInFlight: number
  /** How many questions of a server may be with the application at once; further ones are refused. Default 100. */
  readonly maxQuestions: number
  /** How many rounds of questions one call may have. Default 32. */
  readonly maxRounds: number
  /** How many pages a list may have. Default 1,000. */
  readonly maxPages: number
  /** How many entries a list may have, over all its pages. Default 100,000. */
  readonly maxListEntries: number
  /** How long a result is kept at most, whatever the server says. Default 24 hours. */
  readonly maxTtlMs: number
  /** How many results are kept in memory; the oldest go first. Default 1,000. */
  readonly maxCachedResults: number
  /** How much they may take, two bytes a character. Default 64 MiB. */
  readonly maxCachedBytes: number
  /** How many of the last lines that a process wrote to stderr are kept, for errors. Default 20. */
  readonly stderrLines: number
  /** How long a process may take to end after its input is closed, and again after it is asked to. Default 2,000. */
  readonly exitMs: number
  /** How long a server may be asked to be let alone before a stream is opened again. Default 60,000; more is cut to it. */
  readonly maxRetryMs: number
  /** How many times in a row a stream, or the connection, is made again without any sign of life in between. Default 5. */
  readonly maxReconnects: number
}

/** The defaults of {@link ClientLimits}. */
export const DEFAULT_CLIENT_LIMITS: ClientLimits = {
  maxMessageBytes: 32 << 20,
  maxDepth: 128,
  maxKeys: 1_000_000,
  maxUnsentBytes: 64 << 20,
  maxInFlight: 1_000,
  maxQuestions: 100,
  maxRounds: 32,
  maxPages: 1_000,
  maxListEntries: 100_000,
  maxTtlMs: 24 * 60 * 60_000,
  maxCachedResults: 1_000,
  maxCachedBytes: 64 << 20,
  stderrLines: 20,
  exitMs: 2_000,
  maxRetryMs: 60_000,
  maxReconnects: 5,
}

/**
 * The limits that the options give, over the defaults.
 *
 * @throws `McpError` of kind `misuse`, reason `invalid_option`, for an unknown name or a value that is not a positive integer.
 */
export function resolveClientLimits(given: Partial<ClientLimits> = {}): ClientLimits {
  return resolveBounds(DEFAULT_CLIENT_LIMITS, given)
}
