/** `server/discover`, `initialize`, `ping` and `logging/setLevel`: who is there, and in which version. */

import { codes } from "../../core/error/codes.js"
import { fault } from "../../core/error/fault.js"
import { type Answer, answer, refuse } from "../../core/exchange.js"
import { readImplementation } from "../../core/feature/envelope.js"
import { isLogLevel, LOG_LEVELS } from "../../core/feature/log-level.js"
import type { Principal } from "../../core/http/gate.js"
import type { Implementation } from "../../core/model/identity.js"
import { offerRevision } from "../../core/negotiate/version.js"
import { supportedVersions } from "../../core/revision/table.js"
import { resultText } from "../../core/wire/build.js"
import { isJsonObject, type RequestMessage } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import { identityOf, type SessionRecord } from "../era/session.js"
import type { Profile } from "../profile.js"
import type { Snapshot } from "../registry.js"
import { completeResult, type ServedRevision } from "../served.js"
import { invalidParams, notServed } from "./refusal.js"

/**
 * Serves `server/discover`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover
 */
export function discover(call: Call): Answer {
  const { profile, snapshot, served, listens } = call.facts
  const result = {
    supportedVersions,
    capabilities: profile.capabilities(snapshot, { changes: listens !== undefined, logs: true }),
    ...(profile.instructions === undefined ? {} : { instructions: profile.instructions }),
    ...snapshot.hints(profile.freshness),
  }
  return call.result(completeResult(served, JSON.stringify(result).slice(1, -1)))
}

/** Serves `ping`: an empty result. */
export function ping(call: Call): Answer {
  return call.result(completeResult(call.facts.served, ""))
}

/**
 * Serves `logging/setLevel`: the level is the session's from then on.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/logging#setting-log-level
 */
export function setLogLevel(call: Call): Answer {
  const { session, profile, params } = call.facts
  if (session === undefined || !profile.logging) return notServed(call)
  const level = params?.["level"]
  if (!isLogLevel(level)) return invalidParams(call, `"level" must be one of ${LOG_LEVELS.join(", ")}`)
  session.record = { ...session.record, logLevel: level }
  call.facts.save(session)
  return ping(call)
}

/**
 * What an `initialize` request opens, or the refusal of one that does not say its version or says more than is kept. Icons are not
 * kept.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
export function readInitialize(
  message: RequestMessage,
  principal: Principal | undefined,
  maxBytes: number,
): SessionRecord | Answer {
  const { params = {}, id } = message
  const asked = params["protocolVersion"]
  if (typeof asked !== "string") {
    const text = 'Invalid params: "protocolVersion" must be a string'
    return refuse(fault(200, codes.invalidParams, "invalid_params", text, id))
  }
  const capabilities = isJsonObject(params["capabilities"]) ? params["capabilities"] : {}
  const clientInfo = withoutIcons(readImplementation(params["clientInfo"]))
  if (JSON.stringify([capabilities, clientInfo]).length > maxBytes) {
    const text = `Invalid params: what the client says of itself is longer than ${maxBytes} (limits.maxSessionBytes)`
    return refuse(fault(200, codes.invalidParams, "invalid_params", text, id))
  }
  return {
    version: offerRevision(asked).version,
    capabilities,
    clientInfo,
    principal: principal === undefined ? undefined : identityOf(principal),
    logLevel: undefined,
  }
}

function withoutIcons(info: Implementation | undefined): Implementation | undefined {
  if (info?.icons === undefined) return info
  const { icons: _icons, ...rest } = info
  return rest
}

/** The answer to `initialize`. `sessions` is whether the client can be reached after the answer. */
export function initialized(
  message: RequestMessage,
  served: ServedRevision,
  profile: Profile,
  snapshot: Snapshot,
  sessions: boolean,
): Answer {
  const result = {
    protocolVersion: served.revision.version,
    capabilities: profile.capabilities(snapshot, { changes: sessions, logs: sessions }),
    serverInfo: served.identity,
    ...(profile.instructions === undefined ? {} : { instructions: profile.instructions }),
  }
  return answer(200, resultText(message.id, JSON.stringify(result)))
}
