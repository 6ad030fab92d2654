/** The options of a server, and those that every way of serving it takes. */
import type { Freshness } from "../core/feature/freshness.js"
import type { Limits } from "../core/limits.js"
import type { ServerCapabilities } from "../core/model/capability.js"
import type { Implementation } from "../core/model/identity.js"
import type { JsonObject } from "../core/wire/message.js"
import type { Watcher } from "../observe/event.js"
import type { Logger } from "../observe/log.js"
import type { Bus, Clock, EventStore, Store } from "../store/port.js"
import type { PromptDefinition } from "./define/prompt.js"
import type { ResourceDefinition } from "./define/resource.js"
import type { ResourceTemplateDefinition } from "./define/resource-template.js"
import type { AnyTool } from "./define/tool.js"
import type { MethodMiddleware, Middleware } from "./middleware.js"
import type { ManualHandler } from "./profile.js"
import type { CanSee } from "./view.js"

/** What a server is made of. */
export interface ServerOptions<Tools extends readonly AnyTool[] = readonly AnyTool[]> extends Implementation {
  /** How a model should use the server. */
  readonly instructions?: string
  readonly tools?: Tools
  /** Resources and resource templates. */
  readonly resources?: readonly (ResourceDefinition | ResourceTemplateDefinition)[]
  readonly prompts?: readonly PromptDefinition[]
  /** How long lists and `server/discover` may be kept, and by whom. Default: `{ ttlMs: 0, cacheScope: "private" }`. */
  readonly freshness?: Partial<Freshness>
  /** Entries of a list's page. Default 1,000. */
  readonly pageSize?: number
  /** Whether `ctx.log` may reach clients. Default true. */
  readonly logging?: boolean
  /** Extensions to declare, by identifier. */
  readonly extensions?: JsonObject
  /** Methods written by hand, for proxies and gateways. With it no definitions are taken, and `capabilities` says what is declared. */
  readonly handlers?: Readonly<Record<string, ManualHandler>>
  /** What a server with `handlers` declares. */
  readonly capabilities?: ServerCapabilities
  /** Who sees what. Default: everybody sees everything. */
  readonly canSee?: CanSee
  /** What goes around requests, the outermost first; a pair with a method goes around those of that method only. */
  readonly middleware?: readonly (Middleware | MethodMiddleware)[]
  /** Who watches, such as `otel()` and `prometheus()`. */
  readonly watch?: readonly Watcher[]
  /** Where the server reports to. Default: warnings and errors, on stderr. */
  readonly logger?: Logger
}

/** The options that every way of serving takes for the endpoint behind it. */
export interface EndpointOptions {
  /** Whether legacy clients get sessions. Default true, false for `createFetchHandler`. */
  readonly sessions?: boolean
  /** Whether clients of the modern era may hold streams of changes open. Default true; never on Workers. */
  readonly listen?: boolean
  /**
   * Whether legacy clients that lost a connection may come back for the rest of an event stream, or where its events are kept.
   * Default true, in memory. For sessions of revision 2025-11-25.
   */
  readonly resumable?: boolean | EventStore
  readonly limits?: Partial<Limits>
  /** Where sessions live. Default: in memory. */
  readonly store?: Store
  /**
   * Keys for what passes through clients: the first seals, all open. Each at least 32 bytes; the same on every node. Default: a
   * key of this process, drawn when it is first needed.
   */
  readonly secrets?: readonly (string | Uint8Array)[]
  /**
   * Whether a key of this process may be drawn. Default true; false for `createFetchHandler` and for `serve()` on an address
   * that is not loopback, where another process may get the client's next request.
   */
  readonly ephemeralState?: boolean
  /** Carries changes between nodes. Default: within this process. */
  readonly bus?: Bus
  /** Time. Default: the system's. */
  readonly clock?: Clock
}
