/** What a client tells of its connection to whoever watches. */
import type { McpError } from "../../core/error/error.js"
import type { Change } from "../../core/feature/listen.js"
import { clampText } from "../../core/feature/text.js"
import type { Verdict } from "../../core/negotiate/probe.js"
import type { ClientEvents, ConnectionFacts, ProbeFacts } from "../../observe/client-event.js"
import type { Topics } from "../../observe/emitter.js"
import { shortSession, toFailure } from "../watch.js"
import type { Negotiated } from "./negotiated.js"
import type { ClientStatus } from "./status.js"

/** What a {@link ConnectionWatch} is made of. */
export interface ConnectionWatchParts {
  readonly topics: Topics<ClientEvents>
  readonly origin: string
  readonly transport: "http" | "pipe"
  /** The name under which the client is filed. */
  readonly client: string | undefined
}

/** Tells of the connection of one client. */
export class ConnectionWatch {
  readonly #parts: ConnectionWatchParts
  #told: { readonly connection: ConnectionFacts; readonly atMs: number } | undefined

  constructor(parts: ConnectionWatchParts) {
    this.#parts = parts
  }

  /** Tells of the state of the connection, and what it was lost by. */
  status({ state, origin, reason }: ClientStatus, cause: McpError | undefined): void {
    if (state !== "connected") this.ended(cause)
    const topic = this.#parts.topics["client.status"]
    if (topic.watched) topic.publish({ state, origin, reason })
  }

  /** Tells that it is settled what is spoken; what was spoken before is over. */
  settled(negotiated: Negotiated, session: string | undefined): void {
    this.ended(undefined)
    const { topics } = this.#parts
    const start = topics["client.connection.start"]
    if (!start.watched && !topics["client.connection.stop"].watched) return
    const connection = this.#describe(negotiated, session)
    this.#told = { connection, atMs: performance.now() }
    start.publish({ connection })
  }

  /** Tells that what was settled is over, and what it was lost by. The second time is the first. */
  ended(error: McpError | undefined): void {
    const told = this.#told
    if (told === undefined) return
    this.#told = undefined
    this.#parts.topics["client.connection.stop"].publish({
      connection: told.connection,
      durationMs: performance.now() - told.atMs,
      error: error === undefined ? undefined : toFailure(error),
    })
  }

  /** Tells what a probe showed. */
  probed(verdict: Verdict): void {
    const { topics, origin, transport } = this.#parts
    const topic = topics["client.probed"]
    if (topic.watched) topic.publish({ origin, transport, verdict: verdict.kind, ...detailOf(verdict) })
  }

  /** Tells that an attempt to bring something back begins. */
  reconnecting(what: ClientEvents["client.reconnecting"]["what"], attempt: number, error: McpError): void {
    const { topics, origin } = this.#parts
    const topic = topics["client.reconnecting"]
    if (topic.watched) topic.publish({ what, origin, attempt, error: toFailure(error) })
  }

  /** Tells of a change that the server tells of. */
  changed(change: Change): void {
    const { topics, origin } = this.#parts
    const lists = topics["client.list_changed"]
    const resources = topics["client.resource_updated"]
    if (change.kind === "list" && lists.watched) lists.publish({ origin, list: change.list })
    if (change.kind === "resource" && resources.watched) resources.publish({ origin, uri: clampText(change.uri) })
  }

  #describe({ revision, version, reason, server }: Negotiated, session: string | undefined): ConnectionFacts {
    const { origin, transport, client } = this.#parts
    return {
      origin,
      transport,
      client,
      era: revision.era,
      version,
      reason,
      session: shortSession(session),
      server: server && { name: clampText(server.name), version: clampText(server.version) },
    }
  }
}

function detailOf(verdict: Verdict): Pick<ProbeFacts, "version" | "reason"> {
  switch (verdict.kind) {
    case "modern":
    case "modern_retry":
      return { version: verdict.version, reason: undefined }
    case "authorize":
      return { version: undefined, reason: verdict.status === 401 ? "unauthenticated" : "forbidden" }
    case "retry":
      return { version: undefined, reason: clampText(verdict.reason) }
    case "error":
      return { version: undefined, reason: verdict.error.reason }
    default:
      return { version: undefined, reason: undefined }
  }
}
