/** The options of a client, checked and with their defaults. */
import { misuse } from "../core/error/error.js"
import type { Implementation } from "../core/model/identity.js"
import { supportedVersions } from "../core/revision/table.js"
import type { JsonObject } from "../core/wire/message.js"
import type { ClientWatcher } from "../observe/client-event.js"
import { type Logger, stderrLogger } from "../observe/log.js"
import type { Store } from "../store/port.js"
import type { CallSettings } from "./call.js"
import type { Prior } from "./connection/status.js"
import type { Handlers } from "./handler/handlers.js"
import { type ClientLimits, resolveClientLimits } from "./limits.js"
import type { CacheMode, CallOptions, ClientOptions } from "./options.js"

/** What {@link ClientOptions} come to. */
export interface ClientSettings {
  readonly protocol: string
  readonly prior: Prior | undefined
  readonly clientInfo: Implementation
  readonly handlers: Handlers
  /** What decides about the declared capabilities beside the handlers. */
  readonly capabilityOptions: {
    readonly elicitation: readonly ("form" | "url")[]
    readonly samplingTools: boolean
    readonly samplingContext: boolean
    readonly rootsListChanged: boolean
    readonly extensions: JsonObject
  }
  readonly probeTimeoutMs: number
  readonly connectTimeoutMs: number
  readonly signal: AbortSignal | undefined
  readonly coerceArguments: boolean
  readonly reconnect: boolean
  readonly standby: boolean
  readonly deprecatedSse: boolean
  readonly store: Store | undefined
  readonly authorizationContext: string | (() => string) | undefined
  readonly limits: ClientLimits
  readonly logger: Logger
  readonly watchers: readonly ClientWatcher[]
  /** What calls take where they say nothing themselves. */
  readonly calls: CallSettings
}

/** What a client says of itself when it is not told. */
const CLIENT_INFO: Implementation = { name: "conduit-mcp", version: "0.1.0" }

const ELICITATION = ["form", "url"] as const

const CACHE_MODES: readonly CacheMode[] = ["default", "reload", "no-store"]

/** The longest time that timers of every platform can wait for. */
const LONGEST_MS = 2 ** 31 - 1

/**
 * Checks options and fills in their defaults.
 *
 * @throws `McpError` of kind `misuse`, reason `invalid_option`, that names the option.
 */
export function resolveSettings(options: ClientOptions): ClientSettings {
  const { protocol = "auto", elicitation = ELICITATION, handlers = {}, trace, watch = [] } = options
  const known = ["auto", "modern", "legacy", ...supportedVersions]
  if (!known.includes(protocol)) {
    throw misuse("invalid_option", `protocol must be one of ${known.join(", ")}, not ${String(protocol)}`)
  }
  return {
    protocol,
    prior: options.prior,
    clientInfo: options.clientInfo ?? CLIENT_INFO,
    handlers,
    capabilityOptions: {
      elicitation,
      samplingTools: options.samplingTools ?? false,
      samplingContext: options.samplingContext ?? false,
      rootsListChanged: options.rootsListChanged ?? false,
      extensions: options.extensions ?? {},
    },
    probeTimeoutMs: positive("probeTimeoutMs", options.probeTimeoutMs ?? 10_000),
    connectTimeoutMs: positive("connectTimeoutMs", options.connectTimeoutMs ?? 60_000),
    signal: options.signal,
    coerceArguments: options.coerceArguments ?? false,
    reconnect: options.reconnect ?? true,
    standby: options.standby ?? true,
    deprecatedSse: options.deprecatedSse ?? true,
    store: options.store,
    authorizationContext: options.authorizationContext,
    limits: resolveClientLimits(options.limits),
    logger: options.logger ?? stderrLogger,
    watchers: trace === undefined ? watch : [trace, ...watch],
    calls: {
      timeoutMs: positive("timeoutMs", options.timeoutMs ?? 60_000),
      maxTotalTimeoutMs: positive("maxTotalTimeoutMs", options.maxTotalTimeoutMs ?? 600_000),
      resetTimeoutOnProgress: options.resetTimeoutOnProgress ?? false,
      onProgress: undefined,
      assigns: options.assigns ?? {},
      extensions: undefined,
      headers: undefined,
      cache: cacheMode(options.cache ?? "default"),
      traceparent: options.traceparent,
    },
  }
}

/** The settings of one call over those of its client. The client's own are given back when the call says nothing. */
export function resolveCall(defaults: CallSettings, options: CallOptions | undefined): CallSettings {
  if (options === undefined) return defaults
  const { assigns, traceparent, timeoutMs, maxTotalTimeoutMs, cache } = options
  return {
    timeoutMs: timeoutMs === undefined ? defaults.timeoutMs : positive("timeoutMs", timeoutMs),
    maxTotalTimeoutMs:
      maxTotalTimeoutMs === undefined ? defaults.maxTotalTimeoutMs : positive("maxTotalTimeoutMs", maxTotalTimeoutMs),
    resetTimeoutOnProgress: options.resetTimeoutOnProgress ?? defaults.resetTimeoutOnProgress,
    onProgress: options.onProgress,
    assigns: assigns === undefined ? defaults.assigns : { ...defaults.assigns, ...assigns },
    extensions: options.extensions,
    headers: options.headers,
    cache: cache === undefined ? defaults.cache : cacheMode(cache),
    traceparent: traceparent ?? defaults.traceparent,
  }
}

function cacheMode(mode: CacheMode): CacheMode {
  if (CACHE_MODES.includes(mode)) return mode
  throw misuse("invalid_option", `cache must be one of ${CACHE_MODES.join(", ")}, not ${String(mode)}`)
}

function positive(name: string, value: number): number {
  if (value > 0 && value <= LONGEST_MS) return value
  const text = `${name} must be a number of milliseconds above 0 and at most ${LONGEST_MS}, not ${String(value)}`
  throw misuse("invalid_option", text)
}
