/** What a server is beside its definitions: name, instructions, declared capabilities, hand-written methods. */
import type { Freshness } from "../core/feature/freshness.js"
import type { ServerCapabilities } from "../core/model/capability.js"
import type { JsonObject } from "../core/wire/message.js"
import type { Logger } from "../observe/log.js"
import type { Context } from "./context.js"
import type { Snapshot } from "./registry.js"
import type { ServedRevision } from "./served.js"

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
  /** What is declared; `reachable` is whether the client can be sent anything outside an answer. */
  capabilities(snapshot: Snapshot, reachable: boolean): ServerCapabilities
}
