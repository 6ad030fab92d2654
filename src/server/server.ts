/** `createServer()`: definitions in, something that every transport can serve out. */
import { misuse } from "../core/error/error.js"
import type { Endpoint } from "../core/exchange.js"
import { checkFreshness, DEFAULT_FRESHNESS, type Freshness } from "../core/feature/freshness.js"
import { clampText } from "../core/feature/text.js"
import { checkToolName, providerNameProblems } from "../core/feature/tool-name.js"
import { type Limits, resolveLimits } from "../core/limits.js"
import type { ServerCapabilities } from "../core/model/capability.js"
import type { Icon, Implementation } from "../core/model/identity.js"
import { revisions } from "../core/revision/table.js"
import type { Schema } from "../core/schema/standard.js"
import type { JsonObject } from "../core/wire/message.js"
import { type Logger, stderrLogger } from "../observe/log.js"
import { createSystemClock } from "../store/clock.js"
import { createMemoryBus, createMemoryStore } from "../store/memory.js"
import type { Bus, Clock, Store } from "../store/port.js"
import { capabilitiesOf, withoutPush } from "./capabilities.js"
import { type PromptDefinition, type PromptOptions, prompt } from "./define/prompt.js"
import { type ResourceDefinition, type ResourceOptions, resource } from "./define/resource.js"
import {
  type ResourceTemplateDefinition,
  type ResourceTemplateOptions,
  resourceTemplate,
  type TemplateVariables,
} from "./define/resource-template.js"
import { type AnyTool, type ToolHandler, type ToolOptions, type ToolPatch, tool } from "./define/tool.js"
import { createEndpoint } from "./dispatch.js"
import { createSessions } from "./era/session.js"
import type { Asking } from "./input/open.js"
import { createClaims } from "./input/outcome.js"
import { createKeyRing } from "./input/seal.js"
import { createStateBox } from "./input/state.js"
import { type Completions, createCompletions } from "./input/url.js"
import type { ManualHandler, Profile } from "./profile.js"
import { createSnapshot, type DefinitionKind, type Definitions, type Snapshot, withDefinition } from "./registry.js"
import { createServed } from "./served.js"

/** What a server is made of. */
export interface ServerOptions<Tools extends readonly AnyTool[] = readonly AnyTool[]> {
  /** The server's name. */
  readonly name: string
  /** The server's own version. */
  readonly version: string
  readonly title?: string
  readonly description?: string
  readonly websiteUrl?: string
  readonly icons?: readonly Icon[]
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
  /** Where the server reports to. Default: warnings and errors, on stderr. */
  readonly logger?: Logger
}

/** The options that every way of serving takes for the endpoint behind it. */
export interface EndpointOptions {
  /** Whether legacy clients get sessions. Default true, false for `createFetchHandler`. */
  readonly sessions?: boolean
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

/** A tool, resource, template or prompt that was added to a running server. */
export interface Entry<Patch> {
  /**
   * Changes options; lists that are asked for from now on show it.
   *
   * @throws `McpError` of kind `misuse` once it was taken away.
   */
  update(patch: Patch): void
  /** Takes it away; nothing happens when it is gone already. */
  remove(): void
}

/** A server: a value that any number of transports may serve at once. */
export interface Server<Tools extends readonly AnyTool[] = readonly AnyTool[]> {
  readonly name: string
  readonly version: string
  readonly logger: Logger
  /** Adds a tool. Same arguments as `tool()`. */
  tool<Input extends Schema | undefined = undefined, Output extends Schema | undefined = undefined>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): Entry<ToolPatch>
  /** Adds a resource. Same arguments as `resource()`. */
  resource(uri: string, options: ResourceOptions, read: ResourceDefinition["read"]): Entry<Partial<ResourceOptions>>
  /** Adds a resource template. Same arguments as `resourceTemplate()`. */
  resourceTemplate<const Template extends string>(
    uriTemplate: Template,
    options: ResourceTemplateOptions<TemplateVariables<Template>>,
    read: Parameters<typeof resourceTemplate<Template>>[2],
  ): Entry<Parameters<ResourceTemplateDefinition["with"]>[0]>
  /** Adds a prompt. Same arguments as `prompt()`. */
  prompt<Args extends Schema | undefined = undefined>(
    name: string,
    options: PromptOptions<Args>,
    handler: Parameters<typeof prompt<Args>>[2],
  ): Entry<Parameters<PromptDefinition["with"]>[0]>
  /** Adds something that `tool()`, `resource()`, `resourceTemplate()` or `prompt()` made. */
  add(definition: AnyTool | ResourceDefinition | ResourceTemplateDefinition | PromptDefinition): void
  /** Says that a list changed for a reason that the server cannot see. */
  changed(list: "tools" | "prompts" | "resources"): void
  /** Says that a resource changed. */
  updated(uri: string): void
  /**
   * Says that what `ctx.elicitUrl` sent a user to is finished: the client that asked is told, and the handler goes on.
   *
   * @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation
   */
  elicitationComplete(id: string): void
  /** What transports serve: an endpoint with sessions and limits of its own. */
  endpoint(options?: EndpointOptions): Endpoint
  /** Never there at run time. */
  readonly types?: { readonly tools: Tools }
}

const NOTHING: Definitions = { tools: new Map(), resources: new Map(), templates: new Map(), prompts: new Map() }

/**
 * Makes a server. Nothing is opened, started or drawn at random: it may stand at module scope anywhere.
 *
 * @throws `McpError` of kind `misuse` for a definition that stands twice or an option that cannot be.
 * @example
 * const server = createServer({ name: "weather", version: "1.0.0", tools: [forecast] })
 */
export function createServer<const Tools extends readonly AnyTool[] = readonly AnyTool[]>(
  options: ServerOptions<Tools>,
): Server<Tools> {
  return new DefinedServer(options)
}

type AnyDefinition = AnyTool | ResourceDefinition | ResourceTemplateDefinition | PromptDefinition

class DefinedServer<Tools extends readonly AnyTool[]> implements Server<Tools> {
  readonly name: string
  readonly version: string
  readonly logger: Logger
  readonly #profile: Profile
  readonly #pageSize: number
  readonly #bus = createMemoryBus()
  readonly #waiting = new Set<Completions>()
  #definitions: Definitions = NOTHING
  #snapshot: Snapshot | undefined

  constructor(options: ServerOptions<Tools>) {
    this.name = options.name
    this.version = options.version
    this.logger = options.logger ?? stderrLogger
    this.#pageSize = options.pageSize ?? 1_000
    if (!Number.isSafeInteger(this.#pageSize) || this.#pageSize < 1) {
      throw misuse("invalid_option", `pageSize must be a positive integer, not ${String(options.pageSize)}`)
    }
    this.#profile = createProfile(options, this.logger)
    for (const definition of [...(options.tools ?? []), ...(options.resources ?? []), ...(options.prompts ?? [])]) {
      this.#put(definition)
    }
  }

  tool<Input extends Schema | undefined, Output extends Schema | undefined>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): Entry<ToolPatch> {
    return this.#entry("tools", name, tool(name, options, handler))
  }

  resource(uri: string, options: ResourceOptions, read: ResourceDefinition["read"]): Entry<Partial<ResourceOptions>> {
    return this.#entry("resources", uri, resource(uri, options, read))
  }

  resourceTemplate<const Template extends string>(
    uriTemplate: Template,
    options: ResourceTemplateOptions<TemplateVariables<Template>>,
    read: Parameters<typeof resourceTemplate<Template>>[2],
  ): Entry<Parameters<ResourceTemplateDefinition["with"]>[0]> {
    return this.#entry("templates", uriTemplate, resourceTemplate(uriTemplate, options, read))
  }

  prompt<Args extends Schema | undefined>(
    name: string,
    options: PromptOptions<Args>,
    handler: Parameters<typeof prompt<Args>>[2],
  ): Entry<Parameters<PromptDefinition["with"]>[0]> {
    return this.#entry("prompts", name, prompt(name, options, handler))
  }

  add(definition: AnyDefinition): void {
    this.changed(listOf(this.#put(definition)))
  }

  changed(list: "tools" | "prompts" | "resources"): void {
    this.#bus.publish({ kind: "list", list })
  }

  updated(uri: string): void {
    this.#bus.publish({ kind: "resource", uri })
  }

  elicitationComplete(id: string): void {
    for (const completions of this.#waiting) completions.complete(id)
  }

  endpoint(options: EndpointOptions = {}): Endpoint {
    const limits = resolveLimits(options.limits)
    const clock = options.clock ?? createSystemClock()
    const store = options.store ?? createMemoryStore({ clock })
    const report = (error: unknown): void => this.logger.error("the session store failed", { error })
    const { bus } = options
    const unsubscribe = bus === undefined ? undefined : this.#bus.subscribe((change) => bus.publish(change))
    return createEndpoint({
      profile: this.#profile,
      snapshot: () => this.#current(),
      sessions: options.sessions === false ? undefined : createSessions({ store, clock, limits, report }),
      asking: this.#asking(options, store, clock, limits),
      limits,
      clock,
      onClose: () => unsubscribe?.(),
    })
  }

  #asking(options: EndpointOptions, store: Store, clock: Clock, limits: Limits): Asking {
    const { logger } = this
    const { stateTtlMs: ttlMs, maxStateBytes: maxBytes } = limits
    const ring = createKeyRing(options.secrets ?? [], () => drawSecret(options.ephemeralState, logger))
    const report = (problem: string): void => logger.warn(problem)
    return {
      claims: createClaims(store, clock, ttlMs),
      states: createStateBox({ ring, store, clock, ttlMs, maxBytes, report }),
      completions: this.#completions(clock),
      clock,
      defer: (task) => void setTimeout(task, 0),
    }
  }

  #completions(clock: Clock): Completions {
    const completions = createCompletions(clock)
    this.#waiting.add(completions)
    return completions
  }

  #current(): Snapshot {
    this.#snapshot ??= createSnapshot(this.#definitions, {
      pageSize: this.#pageSize,
      freshness: this.#profile.freshness,
    })
    return this.#snapshot
  }

  #put(definition: AnyDefinition): DefinitionKind {
    if (this.#profile.manual !== undefined) {
      throw misuse("invalid_definition", "a server with handlers takes no definitions")
    }
    switch (definition.kind) {
      case "tool":
        this.#swap("tools", withDefinition(this.#definitions.tools, definition.name, definition, "tool"))
        warnAboutName(definition.name, this.logger)
        return "tools"
      case "resource":
        this.#swap("resources", withDefinition(this.#definitions.resources, definition.uri, definition, "resource"))
        return "resources"
      case "resource-template": {
        const { uriTemplate } = definition
        const templates = withDefinition(this.#definitions.templates, uriTemplate, definition, "resource template")
        this.#swap("templates", templates)
        return "templates"
      }
      case "prompt":
        this.#swap("prompts", withDefinition(this.#definitions.prompts, definition.name, definition, "prompt"))
        return "prompts"
    }
  }

  #swap<Kind extends DefinitionKind>(kind: Kind, definitions: Definitions[Kind]): void {
    this.#definitions = { ...this.#definitions, [kind]: definitions }
    this.#snapshot = undefined
  }

  #entry<Kind extends DefinitionKind, Patch>(
    kind: Kind,
    key: string,
    definition: AnyDefinition & { with(patch: Patch): AnyDefinition },
  ): Entry<Patch> {
    this.add(definition)
    const change = (next: AnyDefinition | undefined): void => {
      const map = new Map<string, unknown>(this.#definitions[kind])
      if (next === undefined) map.delete(key)
      else map.set(key, next)
      this.#swap(kind, map as unknown as Definitions[Kind])
      this.changed(listOf(kind))
    }
    let current: AnyDefinition & { with(patch: Patch): AnyDefinition } = definition
    const isCurrent = (): boolean => this.#definitions[kind].get(key) === current
    return {
      update: (patch) => {
        if (!isCurrent()) throw misuse("invalid_definition", `"${key}" was removed and cannot be updated; add it again`)
        current = current.with(patch) as typeof current
        change(current)
      },
      remove: () => {
        if (isCurrent()) change(undefined)
      },
    }
  }
}

function listOf(kind: DefinitionKind): "tools" | "prompts" | "resources" {
  return kind === "templates" ? "resources" : kind
}

/** A name that the specification advises against, or that some provider of models refuses, is served and said once. */
function warnAboutName(name: string, logger: Logger): void {
  const advice = checkToolName(name)
  const problems = [...(advice.ok ? [] : [advice.problem]), ...providerNameProblems(name).map(({ problem }) => problem)]
  if (problems.length > 0) logger.warn(`the name of tool "${clampText(name, 128)}": ${problems.join("; ")}`)
}

/** A key for this process alone, where that is good enough. */
function drawSecret(isAllowed: boolean | undefined, logger: Logger): Uint8Array {
  if (isAllowed === false) {
    const text = "a call that asks its client needs `secrets` here (at least 32 bytes), or `ephemeralState: true`"
    throw misuse("invalid_option", text)
  }
  if (isAllowed === undefined) {
    logger.warn("requestState is sealed with a key of this process alone: set `secrets` to keep calls over restarts")
  }
  return crypto.getRandomValues(new Uint8Array(32))
}

function createProfile(options: ServerOptions<readonly AnyTool[]>, logger: Logger): Profile {
  const { name, version, title, description, websiteUrl, icons } = options
  if (typeof name !== "string" || name === "") throw misuse("invalid_option", "a server needs a name")
  if (typeof version !== "string" || version === "") throw misuse("invalid_option", "a server needs a version")
  const freshness = checkFreshness({ ...DEFAULT_FRESHNESS, ...options.freshness })
  if (!freshness.ok) throw misuse("invalid_option", freshness.problem)
  const implementation: Implementation = {
    name,
    version,
    ...(title === undefined ? {} : { title }),
    ...(description === undefined ? {} : { description }),
    ...(websiteUrl === undefined ? {} : { websiteUrl }),
    ...(icons === undefined ? {} : { icons }),
  }
  const { extensions, handlers, capabilities: declared = {} } = options
  const manual = handlers === undefined ? undefined : checkHandlers(handlers)
  const logging = manual === undefined ? (options.logging ?? true) : declared.logging !== undefined
  return {
    name,
    instructions: options.instructions,
    logging,
    freshness: freshness.freshness,
    manual,
    served: new Map(revisions.map((revision) => [revision.version, createServed(revision, implementation)])),
    logger,
    capabilities(snapshot, reachable) {
      if (manual !== undefined) return reachable ? declared : withoutPush(declared)
      return capabilitiesOf(snapshot, { logging: logging && reachable, extensions })
    },
  }
}

/** Handlers by method; one that nothing would ever call is a misuse. */
function checkHandlers(handlers: Readonly<Record<string, ManualHandler>>): ReadonlyMap<string, ManualHandler> {
  const checked = new Map(Object.entries(handlers))
  for (const [method, handler] of checked) {
    if (typeof handler !== "function") {
      throw misuse("invalid_option", `handlers["${clampText(method)}"] must be a function`)
    }
    if (method === "initialize" || !revisions.some((revision) => revision.methods.has(method))) {
      throw misuse(
        "invalid_option",
        `handlers["${clampText(method)}"] is not a method that a server can handle by hand`,
      )
    }
  }
  return checked
}
