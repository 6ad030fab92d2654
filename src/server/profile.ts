/** What a server is beside its definitions: name, instructions, declared capabilities, hand-written methods. */
import { misuse } from "../core/error/error.js"
import { checkFreshness, DEFAULT_FRESHNESS, type Freshness } from "../core/feature/freshness.js"
import { LISTS, type ListName } from "../core/feature/listen.js"
import { isMetaKey } from "../core/feature/meta-key.js"
import { clampText } from "../core/feature/text.js"
import type { ServerCapabilities } from "../core/model/capability.js"
import type { Implementation } from "../core/model/identity.js"
import { revisions } from "../core/revision/table.js"
import type { JsonObject } from "../core/wire/message.js"
import type { Topics } from "../observe/emitter.js"
import type { ServerEvents } from "../observe/event.js"
import type { Logger } from "../observe/log.js"
import { capabilitiesOf, type Reach, within } from "./capabilities.js"
import type { Context } from "./context.js"
import type { ServerOptions } from "./options.js"
import type { Snapshot } from "./registry.js"
import { createServed, type ServedRevision } from "./served.js"

/**
 * Serves one method by hand: params in, the raw result out. What the revision asks of every result is filled in where the
 * handler left it out.
 */
export type ManualHandler = (params: JsonObject, ctx: Context) => JsonObject | Promise<JsonObject>

/** What a server is, fixed when it is made. */
export interface Profile {
  readonly name: string
  readonly instructions: string | undefined
  /** Whether `ctx.log` reaches the client at all. */
  readonly logging: boolean
  readonly freshness: Freshness
  /** Undefined unless the server is written by hand. */
  readonly manual: ReadonlyMap<string, ManualHandler> | undefined
  readonly served: ReadonlyMap<string, ServedRevision>
  readonly logger: Logger
  /** What is told to whoever watches. */
  readonly topics: Topics<ServerEvents>
  /** The lists whose changes legacy sessions are told. */
  readonly lists: readonly ListName[]
  /** What is declared to a client that can be reached so far. */
  capabilities(snapshot: Snapshot, reach: Reach): ServerCapabilities
}

/**
 * The profile of a server with these options.
 *
 * @throws `McpError` of kind `misuse` for an option that cannot be.
 */
export function createProfile(options: ServerOptions, logger: Logger, topics: Topics<ServerEvents>): Profile {
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
  checkExtensions(extensions ?? declared.extensions)
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
    topics,
    lists: manual === undefined ? LISTS : LISTS.filter((list) => declared[list]?.listChanged === true),
    capabilities(snapshot, reach) {
      if (manual !== undefined) return within(reach, declared)
      return capabilitiesOf(snapshot, { ...reach, logs: reach.logs && logging }, extensions)
    },
  }
}

/**
 * Extensions are named like keys of `_meta`, with a prefix.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#extension-negotiation
 */
function checkExtensions(extensions: JsonObject = {}): void {
  for (const name of Object.keys(extensions)) {
    if (name.includes("/") && isMetaKey(name)) continue
    throw misuse("invalid_option", `extensions: "${clampText(name)}" must be a name such as "com.example/name"`)
  }
}

/** What needs more than a result. */
const NOT_BY_HAND: ReadonlySet<string> = new Set(["initialize", "subscriptions/listen"])

/** Handlers by method; one that nothing would ever call is a misuse. */
function checkHandlers(handlers: Readonly<Record<string, ManualHandler>>): ReadonlyMap<string, ManualHandler> {
  const checked = new Map(Object.entries(handlers))
  for (const [method, handler] of checked) {
    if (typeof handler !== "function") {
      throw misuse("invalid_option", `handlers["${clampText(method)}"] must be a function`)
    }
    if (NOT_BY_HAND.has(method) || !revisions.some((revision) => revision.methods.has(method))) {
      throw misuse(
        "invalid_option",
        `handlers["${clampText(method)}"] is not a method that a server can handle by hand`,
      )
    }
  }
  return checked
}
