/** What was settled about the messages of a link, as the headers that say so. */
import type { Headers, LinkFacts } from "../../../client/link.js"
import { HEADER_SESSION, HEADER_VERSION } from "../../../core/http/header.js"

/** The headers of a link's requests, by method. */
export interface Profile {
  readonly facts: LinkFacts | undefined
  readonly post: Headers
  readonly get: Headers
  readonly delete: Headers
}

/** The headers that go with what was settled; undefined while nothing is. */
export function toProfile(facts: LinkFacts | undefined): Profile {
  const version = facts === undefined ? {} : { [HEADER_VERSION]: facts.version }
  const session = facts?.session === undefined ? {} : { [HEADER_SESSION]: facts.session }
  const shared = { ...version, ...session }
  return {
    facts,
    post: { accept: "application/json, text/event-stream", "content-type": "application/json", ...shared },
    get: { accept: "text/event-stream", ...shared },
    delete: shared,
  }
}

/**
 * A session id that may be sent back: visible ASCII.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/transports#session-management
 */
export function readSession(value: string | undefined): string | undefined {
  return value !== undefined && /^[!-~]+$/.test(value) ? value : undefined
}
