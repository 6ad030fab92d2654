/** `createServer()`: definitions in, something that every transport can serve out. */
import { misuse } from "../core/error/error.js"
import type { Endpoint } from "../core/exchange.js"
import { resolveLimits } from "../core/limits.js"
import type { Schema } from "../core/schema/standard.js"
import { type Logger, stderrLogger } from "../observe/log.js"
import { createSystemClock } from "../store/clock.js"
import { createMemoryBus, createMemoryStore } from "../store/memory.js"
import { type Catalog, createCatalog, type Definition, type Entry, type ListName } from "./catalog.js"
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
import { createSessions } from "./era/session.js"
import { createAsking } from "./input/asking.js"
import type { Completions } from "./input/url.js"
import type { EndpointOptions, ServerOptions } from "./options.js"
import { createProfile, type Profile } from "./profile.js"

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
  readonly #profile: Profile
  readonly #catalog: Catalog
  readonly #bus = createMemoryBus()
  /** Of every open endpoint: who waits for a step at a URL. */
  readonly #completions = new Set<Completions>()

  constructor(options: ServerOptions<Tools>) {
    const { name, version, logger = stderrLogger, pageSize = 1_000, tools = [], resources = [], prompts = [] } = options
    this.name = name
    this.version = version
    this.logger = logger
    this.#profile = createProfile(options, logger)
    if (!Number.isSafeInteger(pageSize) || pageSize < 1) {
      throw misuse("invalid_option", `pageSize must be a positive integer, not ${String(pageSize)}`)
    }
    const { freshness } = this.#profile
    this.#catalog = createCatalog({ pageSize, freshness }, logger, (list) => this.changed(list))
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

  changed(list: ListName): void {
    this.#bus.publish({ kind: "list", list })
  }

  updated(uri: string): void {
    this.#bus.publish({ kind: "resource", uri })
  }

  elicitationComplete(id: string): void {
    for (const completions of this.#completions) completions.complete(id)
  }

  endpoint(options: EndpointOptions = {}): Endpoint {
    const limits = resolveLimits(options.limits)
    const clock = options.clock ?? createSystemClock()
    const store = options.store ?? createMemoryStore({ clock })
    const report = (error: unknown): void => this.logger.error("the session store failed", { error })
    const { bus } = options
    const unsubscribe = bus === undefined ? undefined : this.#bus.subscribe((change) => bus.publish(change))
    const { secrets, ephemeralState } = options
    const asking = createAsking({ store, clock, limits, logger: this.logger, secrets, ephemeralState })
    this.#completions.add(asking.completions)
    return createEndpoint({
      profile: this.#profile,
      snapshot: () => this.#catalog.snapshot(),
      sessions: options.sessions === false ? undefined : createSessions({ store, clock, limits, report }),
      asking,
      limits,
      clock,
      onClose: () => {
        unsubscribe?.()
        this.#completions.delete(asking.completions)
      },
    })
  }

  #refuseByHand(): void {
    if (this.#profile.manual === undefined) return
    throw misuse("invalid_definition", "a server with handlers takes no definitions")
  }
}
