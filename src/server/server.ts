/** `createServer()`: definitions in, something that every transport can serve out. */
import { misuse } from "../core/error/error.js"
import type { Endpoint } from "../core/exchange.js"
import type { Change, ListName } from "../core/feature/listen.js"
import { clampText } from "../core/feature/text.js"
import { type Limits, resolveLimits } from "../core/limits.js"
import type { Schema } from "../core/schema/standard.js"
import { createEmitter, type Emitter, type Listener } from "../observe/emitter.js"
import { type ServerEvent, type ServerEvents, serverEvents, type Watchable } from "../observe/event.js"
import { type Logger, stderrLogger } from "../observe/log.js"
import { createSystemClock } from "../store/clock.js"
import { createMemoryEventStore } from "../store/events.js"
import { createMemoryBus, createMemoryStore } from "../store/memory.js"
import type { Bus, Clock } from "../store/port.js"
import { type Catalog, createCatalog, type Definition, type Entry } from "./catalog.js"
import { type PromptOptions, type PromptPatch, prompt } from "./define/prompt.js"
import { type ResourceDefinition, type ResourceOptions, type ResourcePatch, resource } from "./define/resource.js"
import {
  type ResourceTemplateOptions,
  type ResourceTemplatePatch,
  resourceTemplate,
  type TemplateVariables,
} from "./define/resource-template.js"
import { type AnyTool, type ToolHandler, type ToolOptions, type ToolPatch, tool } from "./define/tool.js"
import { createEndpoint } from "./dispatch.js"
import { createSessions, type SessionHost } from "./era/session.js"
import { createAsking } from "./input/asking.js"
import type { Completions } from "./input/url.js"
import { createPipeline, type MethodMiddleware, type Middleware } from "./middleware.js"
import type { EndpointOptions, ServerOptions } from "./options.js"
import { createProfile, type Profile } from "./profile.js"
import { type Audience, createAudience } from "./stream/audience.js"
import { Listens } from "./stream/listens.js"
import { RequestWatch } from "./watch.js"

/** A server: a value that any number of transports may serve at once. */
export interface Server<Tools extends readonly AnyTool[] = readonly AnyTool[]> extends Watchable {
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
  resource(uri: string, options: ResourceOptions, read: ResourceDefinition["read"]): Entry<ResourcePatch>
  /** Adds a resource template. Same arguments as `resourceTemplate()`. */
  resourceTemplate<const Template extends string>(
    uriTemplate: Template,
    options: ResourceTemplateOptions<TemplateVariables<Template>>,
    read: Parameters<typeof resourceTemplate<Template>>[2],
  ): Entry<ResourceTemplatePatch>
  /** Adds a prompt. Same arguments as `prompt()`. */
  prompt<Args extends Schema | undefined = undefined>(
    name: string,
    options: PromptOptions<Args>,
    handler: Parameters<typeof prompt<Args>>[2],
  ): Entry<PromptPatch>
  /** Adds something that `tool()`, `resource()`, `resourceTemplate()` or `prompt()` made. */
  add<D extends Definition>(definition: D): Entry<Parameters<D["with"]>[0]>
  /**
   * Puts middleware around every request but `initialize`, or around those of one method: inside of what is there already.
   *
   * @throws `McpError` of kind `misuse` for a method that there is not.
   * @example
   * server.use(async (call, next) => {
   *   call.set(tenantKey, await findTenant(call.principal))
   *   return next()
   * })
   */
  use(middleware: Middleware): void
  use(method: string, middleware: Middleware): void
  /**
   * Calls `listener` with every such event, at once and in turn, so it is to be quick. One that throws harms nothing. Answers
   * the function that ends it.
   *
   * @throws `McpError` of kind `misuse` for an event that there is not.
   * @example
   * server.on("server.request.stop", ({ request, durationMs }) => console.error(request.method, durationMs))
   */
  on<Name extends ServerEvent>(event: Name, listener: Listener<ServerEvents[Name]>): () => void
  /** Ends what `on` began. */
  off<Name extends ServerEvent>(event: Name, listener: Listener<ServerEvents[Name]>): void
  /** Says that a list changed for a reason that the server cannot see. */
  changed(list: ListName): void
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

class DefinedServer<Tools extends readonly AnyTool[]> implements Server<Tools> {
  readonly name: string
  readonly version: string
  readonly logger: Logger
  readonly #emitter: Emitter<ServerEvents>
  readonly #profile: Profile
  readonly #catalog: Catalog
  readonly #middleware = createPipeline()
  readonly #requests: RequestWatch
  readonly #bus = createMemoryBus()
  /** Of every open endpoint: who waits for a step at a URL. */
  readonly #completions = new Set<Completions>()
  /** The buses that changes are passed on to, and by how many endpoints each is shared. */
  readonly #forwarding = new Map<Bus, { endpoints: number; readonly stop: () => void }>()

  constructor(options: ServerOptions<Tools>) {
    const { name, version, logger = stderrLogger, pageSize = 1_000, tools = [], resources = [], prompts = [] } = options
    this.name = name
    this.version = version
    this.logger = logger
    this.#emitter = createEmitter(serverEvents, (event, error) => {
      logger.error("a listener of an event failed", { event, error })
    })
    const { topics } = this.#emitter
    const { canSee, middleware = [], watch = [] } = options
    this.#profile = createProfile(options, logger, topics)
    this.#requests = new RequestWatch(topics, watch, logger)
    for (const watcher of watch) watcher.watch(this)
    for (const one of middleware) this.#middleware.add(one)
    if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
      throw misuse("invalid_option", `pageSize must be a positive integer, not ${String(pageSize)}`)
    }
    const { freshness } = this.#profile
    this.#catalog = createCatalog({ pageSize, freshness, logger, canSee, changed: (list) => this.changed(list) })
    for (const definition of [...tools, ...resources, ...prompts]) {
      this.#refuseByHand()
      this.#catalog.put(definition)
    }
  }

  tool<Input extends Schema | undefined, Output extends Schema | undefined>(
    name: string,
    options: ToolOptions<Input, Output>,
    handler: ToolHandler<Input, Output>,
  ): Entry<ToolPatch> {
    return this.add<AnyTool>(tool(name, options, handler))
  }

  resource(uri: string, options: ResourceOptions, read: ResourceDefinition["read"]): Entry<ResourcePatch> {
    return this.add(resource(uri, options, read))
  }

  resourceTemplate<const Template extends string>(
    uriTemplate: Template,
    options: ResourceTemplateOptions<TemplateVariables<Template>>,
    read: Parameters<typeof resourceTemplate<Template>>[2],
  ): Entry<ResourceTemplatePatch> {
    return this.add(resourceTemplate(uriTemplate, options, read))
  }

  prompt<Args extends Schema | undefined>(
    name: string,
    options: PromptOptions<Args>,
    handler: Parameters<typeof prompt<Args>>[2],
  ): Entry<PromptPatch> {
    return this.add(prompt(name, options, handler))
  }

  add<D extends Definition>(definition: D): Entry<Parameters<D["with"]>[0]> {
    this.#refuseByHand()
    return this.#catalog.add(definition)
  }

  use(...given: readonly [middleware: Middleware] | MethodMiddleware): void {
    this.#middleware.add(given.length === 1 ? given[0] : given)
  }

  on<Name extends ServerEvent>(event: Name, listener: Listener<ServerEvents[Name]>): () => void {
    return this.#emitter.on(checkEvent(event), listener)
  }

  off<Name extends ServerEvent>(event: Name, listener: Listener<ServerEvents[Name]>): void {
    this.#emitter.off(checkEvent(event), listener)
  }

  changed(list: ListName): void {
    const topic = this.#emitter.topics["server.list_changed"]
    if (topic.watched) topic.publish({ list })
    this.#catalog.forgetViews()
    void this.#bus.publish({ kind: "list", list })
  }

  updated(uri: string): void {
    const topic = this.#emitter.topics["server.resource_updated"]
    if (topic.watched) topic.publish({ uri })
    void this.#bus.publish({ kind: "resource", uri })
  }

  elicitationComplete(id: string): void {
    for (const completions of this.#completions) completions.complete(id)
  }

  endpoint(options: EndpointOptions = {}): Endpoint {
    const { logger } = this
    const limits = resolveLimits(options.limits)
    const clock = options.clock ?? createSystemClock()
    const store = options.store ?? createMemoryStore({ clock })
    const { secrets, ephemeralState, bus } = options
    const asking = createAsking({ store, clock, limits, logger, secrets, ephemeralState })
    const stopForwarding = bus === undefined ? undefined : this.#forward(bus)
    const audience = createAudience({ bus: bus ?? this.#bus, clock, limits })
    const host = this.#sessionHost(options, clock, limits, audience)
    const report = (error: unknown): void => logger.error("the session store failed", { error })
    // In memory, sessions and calls have a store each, so that neither takes the other's room.
    const sessionStore = options.store ?? createMemoryStore({ clock })
    this.#completions.add(asking.completions)
    return createEndpoint({
      profile: this.#profile,
      snapshot: (caller) => this.#catalog.snapshot(caller),
      sessions: options.sessions === false ? undefined : createSessions({ store: sessionStore, limits, host, report }),
      host,
      listens: options.listen === false ? undefined : new Listens({ audience, limits, clock }),
      asking,
      middleware: this.#middleware,
      requests: this.#requests,
      limits,
      clock,
      onClose: () => {
        audience.close()
        stopForwarding?.()
        this.#completions.delete(asking.completions)
      },
    })
  }

  #sessionHost({ resumable = true }: EndpointOptions, clock: Clock, limits: Limits, audience: Audience): SessionHost {
    const { maxStreamBytes, maxEventBytes: maxBytes, eventTtlMs: ttlMs, retryMs } = limits
    const report = (error: unknown): void => this.logger.error("the event store failed", { error })
    const kept = resumable === true ? createMemoryEventStore({ clock, maxStreamBytes, maxBytes, ttlMs }) : resumable
    return {
      clock,
      readers: { audience, lists: this.#profile.lists, maxSubscriptions: limits.maxSubscriptionsPerPeer },
      topics: this.#profile.topics,
      keeping: kept === false ? undefined : { store: kept, retryMs, report },
    }
  }

  /** Passes the changes of this server on to a bus, once for all endpoints that share it. */
  #forward(bus: Bus): () => void {
    const known = this.#forwarding.get(bus) ?? { endpoints: 0, stop: this.#join(bus) }
    known.endpoints++
    this.#forwarding.set(bus, known)
    return () => {
      if (--known.endpoints > 0) return
      this.#forwarding.delete(bus)
      known.stop()
    }
  }

  /** What changes elsewhere may change what callers see here. */
  #join(bus: Bus): () => void {
    const stopSending = this.#bus.subscribe((change) => this.#send(bus, change))
    const stopHearing = bus.subscribe(({ kind }) => {
      if (kind === "list") this.#catalog.forgetViews()
    })
    return () => {
      stopSending()
      stopHearing()
    }
  }

  #send(bus: Bus, change: Change): void {
    const report = (error: unknown): void => this.logger.error("the bus failed", { error })
    try {
      const sent = bus.publish(change)
      if (sent instanceof Promise) sent.catch(report)
    } catch (error) {
      report(error)
    }
  }

  #refuseByHand(): void {
    if (this.#profile.manual === undefined) return
    throw misuse("invalid_definition", "a server with handlers takes no definitions")
  }
}

function checkEvent<Name extends ServerEvent>(event: Name): Name {
  if (serverEvents.includes(event)) return event
  throw misuse("invalid_option", `"${clampText(event)}" is not an event (there are: ${serverEvents.join(", ")})`)
}
