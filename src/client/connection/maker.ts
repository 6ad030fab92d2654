/**
 * Makes connections to one server, one after the other: dials, finds out what the server speaks, shakes hands again, each within the
 * time that it may take; and keeps what came of the last one.
 */
import type { McpError } from "../../core/error/error.js"
import { pickVersion } from "../../core/negotiate/version.js"
import type { Revision } from "../../core/revision/revision.js"
import { findRevision, modernVersions, preferredLegacy } from "../../core/revision/table.js"
import { isJsonObject } from "../../core/wire/message.js"
import type { Clock } from "../../store/port.js"
import { Call } from "../call.js"
import type { Dialer, Link } from "../link.js"
import type { ClientSettings } from "../settings.js"
import { type HandshakeParts, type Settled, shakeHands } from "./handshake.js"
import { negotiate } from "./negotiate.js"
import { type Negotiated, toLinkFacts, toPrior } from "./negotiated.js"
import { noLongerSpoken, tooSlow } from "./negotiation-error.js"
import { bareParams, createSpeech, initializeParams, type Speech } from "./speech.js"
import type { Prior } from "./status.js"
import type { ConnectionWatch } from "./watch.js"
import { Wire, type WireEvents } from "./wire.js"

/** What a {@link Maker} is made of. */
export interface MakerParts {
  readonly dialer: Dialer
  readonly settings: ClientSettings
  readonly clock: Clock
  readonly watch: ConnectionWatch
  /** Makes who hears a wire. `isIn` answers whether the wire is the one in use: what comes of others is for nobody. */
  readonly hears: (isIn: () => boolean) => WireEvents
}

export class Maker {
  readonly #parts: MakerParts
  #wire: Wire | undefined
  #negotiated: Negotiated | undefined
  #speech: Speech | undefined
  /** What is being negotiated at the moment. */
  #attempt: Call | undefined
  /** Resolves once nothing is left of the wire before. */
  #leaving: Promise<void> | undefined

  constructor(parts: MakerParts) {
    this.#parts = parts
  }

  get wire(): Wire | undefined {
    return this.#wire
  }

  get negotiated(): Negotiated | undefined {
    return this.#negotiated
  }

  get speech(): Speech | undefined {
    return this.#speech
  }

  /** The verdict about the server, as it is kept. */
  get prior(): Prior | undefined {
    return this.#negotiated === undefined ? undefined : toPrior(this.#negotiated, this.#parts.dialer.origin)
  }

  /** Dials, and finds out what the server speaks; `prior` is what is known of it. */
  async negotiate(prior: Prior | undefined, signal: AbortSignal | undefined): Promise<void> {
    const { dialer, settings } = this.#parts
    const reason = this.#negotiated?.reason
    const { negotiated } = await this.#limited(signal, (attempt) =>
      negotiate({
        ...this.#handshakeParts(attempt),
        dialer,
        prior,
        probeTimeoutMs: settings.probeTimeoutMs,
        deprecated: settings.deprecatedSse,
        envelope: (revision) => bareParams(settings, revision),
        rewire: (link) => this.#rewire(link, attempt),
        probed: (verdict) => this.#parts.watch.probed(verdict),
      }),
    )
    // A connection that comes back owes its era to what brought it about the first time.
    this.#know(reason !== undefined && negotiated.reason === "prior" ? { ...negotiated, reason } : negotiated)
  }

  /** Shakes hands once more over the wire that is there. */
  async reinitialize(): Promise<void> {
    const wire = this.#wire
    if (wire === undefined || this.#negotiated === undefined) return
    const { revision, reason } = this.#negotiated
    const { negotiated } = await this.#limited(undefined, (attempt) =>
      shakeHands(this.#handshakeParts(attempt), wire, findRevision(revision.version) ?? preferredLegacy, reason),
    )
    this.#know(negotiated)
  }

  /** Sends nothing in the session any more, not even its end. */
  leaveSession(): void {
    if (this.#negotiated !== undefined) this.#adopt(this.#negotiated)
  }

  /**
   * Speaks the best version that an error lists; throws when there is none. The era stays: nothing is ever downgraded, and what was
   * settled by a handshake is not settled anew. Answers whether it was.
   */
  renegotiate(error: McpError): boolean {
    const known = this.#negotiated
    if (known?.revision.era !== "modern") return false
    const { data } = error
    const supported = isJsonObject(data) && Array.isArray(data["supported"]) ? data["supported"] : []
    const served = supported.filter((version) => typeof version === "string")
    const picked = pickVersion(served, modernVersions)
    const revision = picked.ok ? findRevision(picked.version) : undefined
    if (revision === undefined) throw noLongerSpoken(known.version, served, error)
    const negotiated = { ...known, revision, version: revision.version }
    this.#adopt(negotiated)
    this.#know(negotiated)
    return true
  }

  /** Gives up what is being made. */
  stop(error: McpError): void {
    this.#attempt?.fail(error)
  }

  /** Resolves once nothing is left of any wire. Never rejects. */
  async close(): Promise<void> {
    await Promise.all([this.#wire?.close(), this.#leaving])
  }

  #adopt(negotiated: Negotiated): void {
    this.#wire?.adopt(toLinkFacts(negotiated, undefined, false), negotiated.revision.closeCancels)
  }

  #know(negotiated: Negotiated): void {
    this.#negotiated = negotiated
    this.#speech = createSpeech(this.#parts.settings, negotiated.revision, negotiated.version)
    this.#parts.watch.settled(negotiated, this.#wire?.session)
  }

  #handshakeParts(attempt: Call): HandshakeParts {
    const { settings, clock } = this.#parts
    return {
      clock,
      attempt,
      protocol: settings.protocol,
      timeoutMs: settings.calls.timeoutMs,
      standby: settings.standby,
      maxRetryMs: settings.limits.maxRetryMs,
      initializeParams: (revision: Revision) => initializeParams(settings, revision),
    }
  }

  /** Runs a negotiation within the time that connecting may take. */
  #limited(signal: AbortSignal | undefined, work: (attempt: Call) => Promise<Settled>): Promise<Settled> {
    const { settings, clock } = this.#parts
    const attempt = new Call("initialize", undefined, settings.calls, signal)
    this.#attempt = attempt
    attempt.onEnd(clock.after(settings.connectTimeoutMs, () => attempt.fail(this.#tooSlow())))
    return attempt.run(work)
  }

  /** Goes over to another link, and closes the one before. */
  async #rewire(link: Link, attempt: Call): Promise<Wire> {
    const wire: Wire = new Wire(
      link,
      this.#parts.hears(() => wire === this.#wire),
    )
    this.#leaving = this.#wire?.close()
    this.#wire = wire
    await this.#leaving
    if (attempt.isOver) throw this.#tooSlow()
    await wire.open()
    return wire
  }

  #tooSlow(): McpError {
    const { dialer, settings } = this.#parts
    return tooSlow(dialer.origin, settings.connectTimeoutMs, this.#wire?.link.stderr)
  }
}
