/**
 * The shell around the pure decisions of `core/negotiate`: probes, waits, falls back and shakes hands until it is known which
 * revision a server speaks, or why none.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#backward-compatibility-with-initialization-based-versions
 */
import { McpError } from "../../core/error/error.js"
import type { DiscoverResult } from "../../core/feature/discover.js"
import { readImplementation } from "../../core/feature/envelope.js"
import { HEADER_METHOD, HEADER_VERSION } from "../../core/http/header.js"
import type { Verdict } from "../../core/negotiate/probe.js"
import type { Revision } from "../../core/revision/revision.js"
import { era, findAnswered, findRevision, modernVersions, preferredLegacy } from "../../core/revision/table.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { Dialer, Link } from "../link.js"
import { createBackoff } from "./backoff.js"
import { ask, type HandshakeParts, type Settled, settle, shakeHands, waitFor } from "./handshake.js"
import type { Negotiated } from "./negotiated.js"
import {
  authorizationError,
  errorIn,
  failedProbe,
  isMisshapen,
  isSilentOrGone,
  isUnclear,
  isUnknownThere,
  noCommonVersion,
  noTransport,
  pinnedModern,
} from "./negotiation-error.js"
import type { NegotiationReason, Prior } from "./status.js"
import { classify, type Reply } from "./verdict.js"
import type { Wire } from "./wire.js"

/** What a negotiation needs to know. */
export interface NegotiationParts extends HandshakeParts {
  readonly dialer: Dialer
  readonly prior: Prior | undefined
  readonly probeTimeoutMs: number
  /** Whether to try the deprecated transport last. */
  readonly deprecated: boolean
  /** The params of a modern request that has none of its own. */
  readonly envelope: (revision: Revision) => JsonObject
  /** Makes a wire, and closes the one before it. */
  readonly rewire: (link: Link) => Promise<Wire>
  /** Hears what a probe showed. */
  readonly probed: (verdict: Verdict) => void
}

/** Finds out which revision to speak. Rejects with the `McpError` that names the cause. */
export async function negotiate(parts: NegotiationParts): Promise<Settled> {
  return new Negotiation(parts).run()
}

class Negotiation {
  readonly #parts: NegotiationParts
  /** Whether the last handshake was refused as by a server that knows no such request at that address. */
  #isUnknownThere = false

  constructor(parts: NegotiationParts) {
    this.#parts = parts
  }

  async run(): Promise<Settled> {
    const { protocol, prior, dialer } = this.#parts
    const wanted = protocol === "auto" || protocol === "modern" || protocol === "legacy" ? protocol : era(protocol)
    const revision = findRevision(protocol)
    if (wanted === "legacy") return this.#anyHandshake(await this.#dial(), revision ?? preferredLegacy, "pinned")
    const isFitting = prior?.origin === dialer.origin && (protocol === "auto" || era(prior.version) === "modern")
    return prior !== undefined && isFitting ? this.#resume(prior) : this.#probe(await this.#dial(), revision)
  }

  /** Goes on with an earlier verdict: without a word to the server in the modern era, with the handshake in the legacy era. */
  async #resume(prior: Prior): Promise<Settled> {
    const revision = findRevision(prior.version)
    if (revision?.era === "modern") return settle(this.#parts, await this.#dial(), fromPrior(prior, revision))
    // A version that is never offered, and was answered all the same, will be answered again.
    const offered = revision ?? (findAnswered(prior.version) === undefined ? undefined : preferredLegacy)
    if (offered === undefined) return this.#probe(await this.#dial(), undefined)
    try {
      return await this.#handshake(await this.#dial(), offered, "prior")
    } catch (error) {
      if (!McpError.is(error, "protocol") && !this.#isUnknownThere) throw error
      return this.#probe(await this.#dial(), undefined)
    }
  }

  #dial(): Promise<Wire> {
    return this.#parts.rewire(this.#parts.dialer.dial())
  }

  /** Asks `server/discover` until there is a verdict, and follows it. With `pinned` only that revision will do. */
  async #probe(wire: Wire, pinned: Revision | undefined): Promise<Settled> {
    const isPinned = this.#parts.protocol !== "auto"
    const versions = pinned === undefined ? modernVersions : [pinned.version]
    const backoff = createBackoff()
    let asked = versions[0] ?? ""
    let hasRenamed = false
    for (;;) {
      const revision = findRevision(asked) ?? preferredLegacy
      const reply = await ask(this.#parts, wire, "server/discover", this.#parts.envelope(revision), {
        headers: { [HEADER_VERSION]: asked, [HEADER_METHOD]: "server/discover" },
        timeoutMs: this.#parts.probeTimeoutMs,
      })
      if (reply.kind === "refused" && !isMisshapen(reply)) throw reply.error
      const verdict = classify(wire.link.kind, reply, versions)
      this.#parts.probed(verdict)
      if (verdict.kind === "modern_retry" && !hasRenamed) {
        hasRenamed = true
        asked = verdict.version
        continue
      }
      if (verdict.kind === "retry" && (await waitFor(this.#parts, backoff, reply))) continue
      return this.#follow(wire, reply, verdict, isPinned)
    }
  }

  async #follow(wire: Wire, reply: Reply, verdict: Verdict, isPinned: boolean): Promise<Settled> {
    switch (verdict.kind) {
      case "modern": {
        const revision = findRevision(verdict.version)
        if (revision === undefined) throw noCommonVersion([verdict.version])
        return settle(this.#parts, wire, fromDiscover(verdict.discover, revision, isPinned))
      }
      case "authorize":
        throw authorizationError(reply, verdict.status)
      case "retry":
        throw failedProbe(reply, verdict.reason)
      case "modern_retry":
        throw noCommonVersion([verdict.version])
      case "error":
        if (!isPinned && isUnclear(verdict.error)) return this.#lastResort(wire, verdict.error)
        throw verdict.error
      default:
        if (isPinned) throw pinnedModern(this.#parts.protocol, reply)
        return this.#fallBack(wire, verdict, errorIn(reply))
    }
  }

  /** The server is older: shakes hands, where the process cannot be used any more with a fresh one. */
  async #fallBack(wire: Wire, verdict: Verdict, probe: McpError | undefined): Promise<Settled> {
    if (verdict.kind === "reconnect") return this.#handshake(await this.#dial(), preferredLegacy, "fell_back")
    if (wire.link.kind === "http") return this.#anyHandshake(wire, preferredLegacy, "fell_back", probe)
    try {
      return await this.#handshake(wire, preferredLegacy, "fell_back")
    } catch (error) {
      if (!isSilentOrGone(error)) throw error
      return this.#handshake(await this.#dial(), preferredLegacy, "fell_back")
    }
  }

  /** An answer that says nothing about the era: one handshake, and if that fails too, both failures are told. */
  async #lastResort(wire: Wire, first: McpError): Promise<Settled> {
    try {
      return await this.#handshake(wire, preferredLegacy, "fell_back")
    } catch (second) {
      const text = second instanceof Error ? second.message : String(second)
      throw new McpError(`${first.message}; then ${text}`, {
        kind: "protocol",
        reason: first.reason,
        ...(first.code === undefined ? {} : { code: first.code }),
        cause: new AggregateError([first, second], "neither the probe nor initialize was answered as expected"),
      })
    }
  }

  /** The handshake, and on the deprecated transport last: only where plain requests are not known at that address. */
  async #anyHandshake(wire: Wire, offered: Revision, reason: NegotiationReason, probe?: McpError): Promise<Settled> {
    try {
      return await this.#handshake(wire, offered, reason)
    } catch (error) {
      const { dialer, deprecated, rewire } = this.#parts
      const link = deprecated && this.#isUnknownThere ? dialer.dialDeprecated?.() : undefined
      if (link === undefined || !McpError.is(error)) throw error
      return rewire(link)
        .then((last) => this.#handshake(last, offered, reason))
        .catch((last: unknown) => {
          throw noTransport(error, last, probe)
        })
    }
  }

  #handshake(wire: Wire, offered: Revision, reason: NegotiationReason): Promise<Settled> {
    const answered = (reply: Reply): void => {
      this.#isUnknownThere = isUnknownThere(reply)
    }
    return shakeHands({ ...this.#parts, answered }, wire, offered, reason)
  }
}

function fromDiscover(discover: DiscoverResult, revision: Revision, isPinned: boolean): Negotiated {
  return {
    revision,
    version: revision.version,
    reason: isPinned ? "pinned" : "discovered",
    server: discover.serverInfo,
    capabilities: discover.capabilities,
    instructions: discover.instructions,
  }
}

function fromPrior(prior: Prior, revision: Revision): Negotiated {
  // It was kept outside of here, and may be anything by now.
  const { server, capabilities, instructions } = prior as unknown as JsonObject
  return {
    revision,
    version: revision.version,
    reason: "prior",
    server: readImplementation(server),
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  }
}
