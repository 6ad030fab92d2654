/** What a negotiation settled, and how it is kept for another time. */
import type { Implementation } from "../../core/model/identity.js"
import type { Revision } from "../../core/revision/revision.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { LinkFacts } from "../link.js"
import type { NegotiationReason, Prior } from "./status.js"

/** The outcome of a negotiation. */
export interface Negotiated {
  /** How messages are written and read. */
  readonly revision: Revision
  /** The version that is named on the wire: the revision's, or an older one that is spoken with it. */
  readonly version: string
  readonly reason: NegotiationReason
  readonly server: Implementation | undefined
  /** What the server says it can do. */
  readonly capabilities: JsonObject
  readonly instructions: string | undefined
}

/** A negotiation as plain JSON. */
export function toPrior(negotiated: Negotiated, origin: string): Prior {
  const { revision, version, server, capabilities, instructions } = negotiated
  return {
    era: revision.era,
    version,
    origin,
    capabilities,
    ...(server === undefined ? {} : { server }),
    ...(instructions === undefined ? {} : { instructions }),
  }
}

/** What a link needs to know of a negotiation. Every legacy version may give its events ids to go on from, and may speak up by itself. */
export function toLinkFacts(
  { revision, version }: Negotiated,
  session: string | undefined,
  standby: boolean,
): LinkFacts {
  const isLegacy = revision.era === "legacy"
  return { version, session, resumes: isLegacy, standby: isLegacy && standby, batches: revision.batches }
}
