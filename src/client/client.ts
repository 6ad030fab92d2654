/// <reference lib="esnext.disposable" preserve="true" />
/** The client: the methods of a server as functions, over one negotiated connection and one pipeline. */
import { misuse } from "../core/error/error.js"
import { coerceArguments } from "../core/feature/coerce.js"
import type { EntryKind } from "../core/feature/list-entry.js"
import { type Change, changesOf, type ListenFilter } from "../core/feature/listen.js"
import type { LogLevel } from "../core/feature/log-level.js"
import type { Operation } from "../core/revision/revision.js"
import type { JsonObject } from "../core/wire/message.js"
import { type ClientEvent, type ClientEvents, clientEvents } from "../observe/client-event.js"
import { createEmitter, type Emitter, type Listener } from "../observe/emitter.js"
import { createSystemClock, holdProcess } from "../store/clock.js"
import { createDeadlines, type Deadlines } from "../store/deadlines.js"
import type { Clock } from "../store/port.js"
import { Shelf } from "./cache/shelf.js"
import { Call, clientClosed } from "./call.js"
import { Changes } from "./changes.js"
import { Connection } from "./connection/connection.js"
import type { ClientStatus, Prior } from "./connection/status.js"
import { ConnectionWatch } from "./connection/watch.js"
import { createAnswerer } from "./handler/answerer.js"
import { QuestionWatch } from "./handler/watch.js"
import type { Dialer } from "./link.js"
import { ListReader } from "./list-reader.js"
import { type ListenTarget, offeredBy, toFilter } from "./listen/listen.js"
import { ChangeQueue, type HeardChange } from "./listen/queue.js"
import { Subscriptions } from "./listen/session.js"
import { listenOnStream, type OpenStream, type StreamHears, type StreamHost } from "./listen/stream.js"
import { LIST_METHODS, type WholeList } from "./method/lists.js"
import { readCompletion, readContents, readPrompt, readToolCall } from "./method/read.js"
import type {
  CompletionRef,
  CompletionResult,
  ListItems,
  ListPage,
  PromptList,
  PromptResult,
  ReadResult,
  ResourceList,
  ResourceTemplateList,
  ToolCallResult,
  ToolList,
} from "./method/results.js"
import type { CallOptions, ClientOptions, PageOptions } from "./options.js"
import { createCache } from "./pipeline/cache.js"
import { createHeaders, mirrorHeaders } from "./pipeline/headers.js"
import { createInput } from "./pipeline/input.js"
import { createLimit } from "./pipeline/limit.js"
import { createPipeline } from "./pipeline/pipeline.js"
import { createRetry } from "./pipeline/retry.js"
import type { Next } from "./pipeline/stage.js"
import { createTimeout } from "./pipeline/timeout.js"
import { createTotal, endCalls } from "./pipeline/total.js"
import { createTrace } from "./pipeline/trace.js"
import { createValidate } from "./pipeline/validate.js"
import { register } from "./registry.js"
import { type ClientSettings, resolveCall, resolveSettings } from "./settings.js"
import { ToolBook } from "./tool-book.js"
import { beginListening, CallWatch, type CallWay, shortSession } from "./watch.js"

/**
 * Opens a client on whatever a dialer reaches.
 *
 * @throws `McpError` of kind `misuse` for an option; of the kind of its cause when no connection comes about.
 */
export async function openClient(dialer: Dialer, options: ClientOptions = {}): Promise<Client> {
  const client = new Client(dialer, options)
  try {
    await client.open()
    return client
  } catch (error) {
    await client.close()
    throw error
  }
}

/** A connection to one server. Made by `connect()`. */
export class Client {
  readonly #settings: ClientSettings
  readonly #connection: Connection
  readonly #tools = new ToolBook()
  readonly #lists: ListReader
  readonly #clock: Clock
  readonly #deadlines: Deadlines
  readonly #shelf: Shelf
  readonly #changes = new Changes()
  readonly #subscriptions: Subscriptions
  readonly #streamHost: StreamHost
  readonly #listening = new Set<ChangeQueue>()
  readonly #events: Emitter<ClientEvents>
  readonly #run: Next
  /** {@link #run} for what belongs to a call that has its place in line already. */
  readonly #runAtOnce: Next
  readonly #unregister: (() => void) | undefined
  #isClosing = false

  /** @internal */
  constructor(dialer: Dialer, options: ClientOptions) {
    this.#settings = resolveSettings(options)
    const { limits, logger, handlers, calls, capabilityOptions, watchers } = this.#settings
    const { clock = createSystemClock({ stepMs: 50, holdsProcess: true }), name } = options
    this.#events = createEmitter(clientEvents, (event, error) => logger.error("a listener failed", { event, error }))
    const { topics } = this.#events
    const refused = topics["client.entry_refused"]
    const shelf = new Shelf({
      settings: this.#settings,
      address: dialer.address,
      clock,
      revision: () => connection.revision,
    })
    this.#shelf = shelf
    const outdated = (method: string): void => shelf.invalidateMethod(method)
    this.#lists = new ListReader({ limits, tools: this.#tools, refused, logger, outdated })
    this.#clock = clock
    const deadlines = createDeadlines(clock)
    this.#deadlines = deadlines
    const way = (): CallWay => {
      const { revision, negotiated, kind, session } = connection
      return { revision, version: negotiated.version, kind, origin: dialer.origin, session: shortSession(session) }
    }
    const watch = new CallWatch({ topics, watchers, logger, client: name, way })
    const told = new ConnectionWatch({ topics, origin: dialer.origin, transport: dialer.kind, client: name })
    const asked = new QuestionWatch({ topics, origin: dialer.origin, describe: (call) => watch.describe(call) })
    const answered = { handlers, ...capabilityOptions, assigns: calls.assigns, limits, logger, watch: asked }
    const answerer = createAnswerer(answered)
    const parts = {
      dialer,
      settings: this.#settings,
      answerer,
      topics,
      watch: told,
      clock,
      changes: this.#changes,
    }
    const connection = new Connection(parts)
    this.#connection = connection
    for (const watcher of watchers) watcher.watchClient(this)
    const operationOf = (method: string): Operation | undefined => connection.revision.methods.get(method)?.operation
    const stages = [
      createTotal(clock, deadlines),
      createInput({ answerer, limits, revision: () => connection.revision, watch: asked }),
      createTimeout(clock, deadlines, () => connection.lastNoise),
      createRetry({
        heals: this.#settings.reconnect,
        reissues: () => connection.revision.closeCancels,
        operationOf,
        isRepeatableTool: (tool) => this.#tools.find(tool)?.isRepeatable === true,
        renegotiate: (error) => connection.renegotiate(error),
        reprobe: (error, call) => connection.reprobe(error, call),
        retried: (call, why, error) => watch.retried(call, why, error),
      }),
      createHeaders({
        mirrored: () => (connection.kind === "http" && connection.revision.mirrors ? connection.revision : undefined),
        tools: this.#tools,
        refreshTools: (call) => this.#refreshTools(call),
        retried: (call, error) => watch.retried(call, "tools_outdated", error),
      }),
      createValidate({ tools: this.#tools, isLenient: () => !connection.revision.selfDescribingResults }),
    ]
    this.#runAtOnce = createPipeline(stages, (call, attempt) => connection.send(call, attempt))
    const cache = createCache({ shelf, revision: () => connection.revision })
    this.#run = createPipeline([createTrace(watch), createLimit(limits.maxInFlight), cache], this.#runAtOnce)
    this.#changes.subscribe((change) => {
      this.#changed(change)
      told.changed(change)
    })
    const forget = (): void => shelf.invalidate()
    connection.watch({ renewed: forget, missed: forget, over: () => {} })
    this.#subscriptions = new Subscriptions({
      changes: this.#changes,
      request: (method, params) => this.request(method, params),
      isUp: () => connection.status.state === "connected" && !this.#isClosing,
      deafness: () => connection.deafness,
      watch: (watcher) => connection.watch(watcher),
    })
    this.#streamHost = {
      clock,
      limits,
      timeoutMs: calls.timeoutMs,
      open: (filter, hears, signal) => this.#openStream(filter, hears, signal),
      reopening: (attempt, error) => told.reconnecting("stream", attempt, error),
      missed: (change) => this.#changed(change),
    }
    this.#unregister = name === undefined ? undefined : register(name, this)
  }

  /** @internal */
  open(): Promise<void> {
    return this.#connection.open()
  }

  /** State, era, version, how they came about, where the client is connected to, and what the server says of itself. */
  get status(): ClientStatus {
    return this.#connection.status
  }

  /** The verdict about the server as plain JSON: given back as the option `prior`, the next connection needs no probe. */
  get prior(): Prior | undefined {
    return this.#connection.prior
  }

  /** What the server says it can do. */
  get capabilities(): JsonObject {
    return this.#connection.negotiated.capabilities
  }

  /** What the server says about how it is to be used. */
  get instructions(): string | undefined {
    return this.#connection.negotiated.instructions
  }

  /**
   * Calls a tool. An error of the tool is returned (`isError`), never thrown.
   *
   * @throws `McpError`: `protocol` for an error of the server, `timeout`, `cancelled`, `transport`, `connection_down`,
   * `authorization`, and `validation` when the result does not fit the tool's output schema.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#calling-tools
   */
  async callTool(name: string, args: JsonObject = {}, options?: CallOptions): Promise<ToolCallResult> {
    const known = this.#settings.coerceArguments ? this.#tools.find(name) : undefined
    const read = known === undefined ? args : coerceArguments(known.inputSchema, args)
    return readToolCall(await this.request("tools/call", { name, arguments: read }, options))
  }

  /**
   * All tools. Of this list and the others: an entry that is malformed, or that cannot be used, is named in `refused` and by an
   * event `client.entry_refused`, and the others are served. `maxTotalTimeoutMs` covers all pages.
   *
   * @throws as {@link callTool}; `protocol`, reason `invalid_result`, beyond `limits.maxPages` and `limits.maxListEntries`.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
   */
  async listTools(options?: CallOptions): Promise<ToolList> {
    const { items, ...rest } = await this.#listAll("tools", options)
    return { tools: items as unknown as ToolList["tools"], ...rest }
  }

  /** All resources. */
  async listResources(options?: CallOptions): Promise<ResourceList> {
    const { items, ...rest } = await this.#listAll("resources", options)
    return { resources: items as unknown as ResourceList["resources"], ...rest }
  }

  /** All resource templates. */
  async listResourceTemplates(options?: CallOptions): Promise<ResourceTemplateList> {
    const { items, ...rest } = await this.#listAll("resourceTemplates", options)
    return { resourceTemplates: items as unknown as ResourceTemplateList["resourceTemplates"], ...rest }
  }

  /** What a resource holds. */
  async readResource(uri: string, options?: CallOptions): Promise<ReadResult> {
    return readContents(await this.request("resources/read", { uri }, options))
  }

  /** All prompts. */
  async listPrompts(options?: CallOptions): Promise<PromptList> {
    const { items, ...rest } = await this.#listAll("prompts", options)
    return { prompts: items as unknown as PromptList["prompts"], ...rest }
  }

  /**
   * A list page by page; each is asked for when the one before was taken. What stood on an earlier page is left out of later ones.
   *
   * @throws `McpError` from the iteration: as {@link listTools}.
   * @example
   * for await (const { items } of client.pages("resources")) show(items)
   */
  pages<Kind extends EntryKind>(kind: Kind, options?: PageOptions): AsyncGenerator<ListPage<ListItems[Kind]>, void> {
    if (!Object.hasOwn(LIST_METHODS, kind)) {
      throw misuse(
        "invalid_option",
        `there are pages of ${Object.keys(LIST_METHODS).join(", ")}, not of ${String(kind)}`,
      )
    }
    const pages = this.#lists.pages(kind, (method, params) => this.request(method, params, options), options?.cursor)
    return pages as unknown as AsyncGenerator<ListPage<ListItems[Kind]>, void>
  }

  /** A prompt with its arguments filled in. */
  async getPrompt(
    name: string,
    args: Readonly<Record<string, string>> = {},
    options?: CallOptions,
  ): Promise<PromptResult> {
    return readPrompt(await this.request("prompts/get", { name, arguments: args }, options))
  }

  /** How an argument of a prompt or resource template can go on; `known` are the arguments that have a value already. */
  async complete(
    ref: CompletionRef,
    argument: { readonly name: string; readonly value: string },
    known?: Readonly<Record<string, string>>,
    options?: CallOptions,
  ): Promise<CompletionResult> {
    const context = known === undefined ? {} : { context: { arguments: known } }
    return readCompletion(await this.request("completion/complete", { ref, argument, ...context }, options))
  }

  /** Asks whether the server answers: `ping` in the legacy era, `server/discover` in the modern one. */
  async ping(options?: CallOptions): Promise<void> {
    const { methods } = this.#connection.revision
    const method = methods.has("ping") ? "ping" : "server/discover"
    await this.request(method, undefined, { ...options, cache: "no-store" })
  }

  /** The least level of log lines that the server is to send: a request in the legacy era, said with each later request in the modern one. */
  async setLogLevel(level: LogLevel, options?: CallOptions): Promise<void> {
    if (this.#connection.revision.methods.has("logging/setLevel")) {
      await this.request("logging/setLevel", { level }, options)
    }
    this.#connection.logLevel = level
  }

  /**
   * Says that the roots are others now. Legacy era only: in the modern era roots are asked for when they are needed.
   *
   * @throws `McpError` of kind `misuse`, reason `not_supported`, in the modern era.
   */
  async rootsListChanged(): Promise<void> {
    const method = "notifications/roots/list_changed"
    if (!this.#connection.revision.notifications.has(method)) {
      throw misuse(
        "not_supported",
        `${this.#connection.negotiated.version} has no ${method}: servers ask for roots when they need them`,
      )
    }
    await this.#connection.notify(method, {})
  }

  /**
   * Listens to changes of the server, in either era, until the iteration ends: by a stream of its own in the modern era, by
   * subscriptions in a legacy session. A change that comes again before it is read is told once. When listening was interrupted,
   * each change that may have been missed is told with `synthetic: true`. Ends by itself when the server tells nothing of it.
   *
   * @throws `McpError` from the iteration: when the server refuses, or the stream is lost more often than `limits.maxReconnects`.
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/patterns/subscriptions
   */
  listen(target: ListenTarget): AsyncIterableIterator<HeardChange> {
    const { revision, negotiated } = this.#connection
    const filter = toFilter(target)
    const release = holdProcess()
    let stop = (): void => {}
    const isStream = revision.methods.has("subscriptions/listen")
    const { origin } = this.status
    const told = beginListening(this.#events.topics, { kind: isStream ? "stream" : "session", origin }, filter)
    const queue: ChangeQueue = new ChangeQueue((error) => {
      told?.(error)
      release()
      this.#listening.delete(queue)
      stop()
    })
    this.#listening.add(queue)
    const offered = isStream ? filter : offeredBy(negotiated.capabilities, filter)
    if (changesOf(offered).length === 0) queue.end()
    else stop = isStream ? listenOnStream(this.#streamHost, offered, queue) : this.#subscriptions.listen(offered, queue)
    return queue
  }

  #openStream(filter: ListenFilter, hears: StreamHears, signal: AbortSignal): Promise<OpenStream> {
    const method = "subscriptions/listen"
    const call = new Call(method, undefined, this.#settings.calls, signal)
    const { revision, kind } = this.#connection
    const headers = kind === "http" && revision.mirrors ? mirrorHeaders(revision, method, undefined) : undefined
    const params = { notifications: filter as JsonObject }
    return call.run(() => this.#connection.openStream(call, params, headers, hears))
  }

  /**
   * Sends any request, and resolves to its result as it came.
   *
   * @throws as {@link callTool}.
   */
  request(method: string, params?: JsonObject, options?: CallOptions): Promise<JsonObject> {
    return this.#request(method, params, options)
  }

  /** `sinceMs`: when what the request is a part of began. */
  #request(
    method: string,
    params: JsonObject | undefined,
    options: CallOptions | undefined,
    sinceMs?: number,
  ): Promise<JsonObject> {
    try {
      const settings = resolveCall(this.#settings.calls, options)
      const meta = options?.meta
      const whole = meta === undefined ? params : { ...params, _meta: { ...objectAt(params, "_meta"), ...meta } }
      this.#connection.reportMeta(method, whole)
      const call = new Call(method, whole, settings, options?.signal)
      const attempt = { params: whole, headers: undefined, timeoutMs: settings.timeoutMs, isRepeatable: false, sinceMs }
      return call.run(() => this.#run(call, attempt))
    } catch (error) {
      return Promise.reject(error)
    }
  }

  /**
   * Forgets results that are kept: of what changed, or, without a change, all. What the server tells of changes, and a connection that
   * was lost, do so by themselves.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#interaction-with-notifications
   */
  invalidate(change?: Change): void {
    this.#shelf.invalidate(change)
  }

  /** Calls `listener` with every such event. Answers the function that ends it. */
  on<Name extends ClientEvent>(event: Name, listener: Listener<ClientEvents[Name]>): () => void {
    return this.#events.on(event, listener)
  }

  /** Ends everything: calls in flight fail with kind `cancelled`, and no process, socket or timer is left. Never rejects. */
  async close(): Promise<void> {
    this.#unregister?.()
    this.#isClosing = true
    for (const queue of [...this.#listening]) void queue.return()
    this.#shelf.close()
    const closing = this.#connection.close()
    endCalls(this.#deadlines, clientClosed())
    await closing
    this.#deadlines.clear()
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close()
  }

  async #refreshTools({ settings, endSignal }: Call): Promise<void> {
    const { timeoutMs } = settings
    this.#shelf.invalidateMethod("tools/list")
    await this.#lists.all("tools", (method, params) => {
      const call = new Call(method, params, { ...settings, onProgress: undefined }, endSignal)
      return call.run(() => this.#runAtOnce(call, { params, headers: undefined, timeoutMs, isRepeatable: false }))
    })
  }

  /** What was learnt of tools before they changed is no measure of their results. */
  #changed(change: Change): void {
    this.#shelf.invalidate(change)
    if (change.kind === "list" && change.list === "tools") this.#tools.clear()
  }

  #listAll(kind: EntryKind, options: CallOptions | undefined): Promise<WholeList> {
    const sinceMs = this.#clock.now()
    return this.#lists.all(kind, (method, params) => this.#request(method, params, options, sinceMs))
  }
}

function objectAt(params: JsonObject | undefined, member: string): JsonObject {
  const value = params?.[member]
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as JsonObject) : {}
}
