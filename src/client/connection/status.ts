/** What is known of a connection: where it leads, whether it stands, and what was negotiated. */
import type { Implementation } from "../../core/model/identity.js"
import type { Era } from "../../core/revision/revision.js"
import type { JsonObject } from "../../core/wire/message.js"

/** Whether a connection stands. */
export type ConnectionState = "connecting" | "connected" | "reconnecting" | "failed" | "closed"

/** How a verdict about the era was reached. */
export type NegotiationReason =
  /** The server answered the probe with versions of the modern era. */
  | "discovered"
  /** The server's answer to the probe, or its silence, says that it is older. */
  | "fell_back"
  /** The options name the era or version. */
  | "pinned"
  /** An earlier verdict was given. */
  | "prior"

/** What can be asked of a client at any time. */
export interface ClientStatus {
  readonly state: ConnectionState
  /** Undefined until it is negotiated. */
  readonly era: Era | undefined
  readonly version: string | undefined
  /** How the era came about; of a connection that failed, the error's reason. */
  readonly reason: NegotiationReason | (string & {}) | undefined
  /** The server's origin, or the command that runs it. */
  readonly origin: string
  /** What the server says of itself; never a basis for a decision. */
  readonly server: Implementation | undefined
}

/** A verdict to be kept: plain JSON. Given back as `prior`, the next connection needs no probe. */
export interface Prior {
  readonly era: Era
  readonly version: string
  readonly origin: string
  readonly server?: Implementation
  readonly capabilities?: JsonObject
  readonly instructions?: string
}
