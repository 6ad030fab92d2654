/**
 * The handshake that opens the legacy era, and what it shares with the probe: requests that nobody but a negotiation waits for.
 *
 * @see https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle#initialization
 */
import { McpError } from "../../core/error/error.js"
import { META, readImplementation } from "../../core/feature/envelope.js"
import type { Revision } from "../../core/revision/revision.js"
import { era, findAnswered } from "../../core/revision/table.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { Clock } from "../../store/port.js"
import type { Call } from "../call.js"
import type { Headers } from "../link.js"
import { createBackoff } from "./backoff.js"
import { type Negotiated, toLinkFacts } from "./negotiated.js"
import { isBusy, noCommonVersion, silentHandshake } from "./negotiation-error.js"
import { resultOf } from "./outcome.js"
import type { NegotiationReason } from "./status.js"
import type { Reply } from "./verdict.js"
import type { Wire } from "./wire.js"

/** What a handshake needs to know. */
export interface HandshakeParts {
  readonly clock: Clock
  readonly protocol: string
  readonly timeoutMs: number
  readonly standby: boolean
  /** The longest that a server's `Retry-After` is honoured. */
  readonly maxRetryMs: number
  readonly initializeParams: (revision: Revision) => JsonObject
  /** Hears what the handshake was answered with. */
  readonly answered?: (reply: Reply) => void
  /** Ends when nobody waits for the connection any more. */
  readonly attempt: Pick<Call, "isOver" | "onEnd">
}

/** A wire on which a revision was settled. */
export interface Settled {
  readonly wire: Wire
  readonly negotiated: Negotiated
}

/** Shakes hands. It is never cancelled, and the version that it offers is never a modern one. */
export async function shakeHands(
  parts: HandshakeParts,
  wire: Wire,
  offered: Revision,
  reason: NegotiationReason,
): Promise<Settled> {
  const backoff = createBackoff()
  for (;;) {
    const { timeoutMs, protocol } = parts
    const reply = await ask(parts, wire, "initialize", parts.initializeParams(offered), {
      headers: undefined,
      timeoutMs,
    })
    if (isBusy(reply) && (await waitFor(parts, backoff, reply))) continue
    parts.answered?.(reply)
    if (reply.kind === "timeout") throw silentHandshake(timeoutMs, wire.link.stderr)
    const answered = readInitialize(resultOf(reply, "initialize"))
    const revision = findAnswered(answered.version)
    const session = reply.kind === "message" ? reply.session : undefined
    const negotiated = { ...answered, revision: revision ?? offered, reason }
    // What is sent from now on names the session; the stream for what the server says by itself comes after the handshake.
    wire.adopt(toLinkFacts(negotiated, session, false), negotiated.revision.closeCancels)
    if (revision === undefined || !isAllowed(protocol, answered.version)) throw noCommonVersion([answered.version])
    await wire.notify("notifications/initialized", {})
    return settle(parts, wire, negotiated, session)
  }
}

/** Says on the wire what is spoken from now on. */
export function settle({ standby }: HandshakeParts, wire: Wire, negotiated: Negotiated, session?: string): Settled {
  wire.adopt(toLinkFacts(negotiated, session, standby), negotiated.revision.closeCancels)
  return { wire, negotiated }
}

/** Sends a request and resolves to what became of it, by the end of its time. */
export function ask(
  { clock }: HandshakeParts,
  wire: Wire,
  method: string,
  params: JsonObject,
  { headers, timeoutMs }: { readonly headers: Headers | undefined; readonly timeoutMs: number },
): Promise<Reply> {
  const pending = wire.send({
    id: wire.nextId(),
    method,
    params,
    headers,
    call: undefined,
    caller: undefined,
    repeatable: true,
    cancellable: false,
  })
  return new Promise((resolve) => {
    const stop = clock.after(timeoutMs, () => {
      resolve({ kind: "timeout" })
      pending.cancel(silentHandshake(timeoutMs))
    })
    void pending.outcome.then((outcome) => {
      stop()
      resolve(outcome)
    })
  })
}

/** Waits before a request is sent again, as long as the server asks for; answers whether it is worth it. */
export async function waitFor(
  { clock, maxRetryMs, attempt }: HandshakeParts,
  backoff: Iterator<number, void>,
  reply: Reply,
): Promise<boolean> {
  const next = backoff.next()
  const asked = reply.kind === "http" ? reply.retryAfterMs : undefined
  if (next.done === true || attempt.isOver || (asked !== undefined && asked > maxRetryMs)) return false
  await new Promise<void>((resolve) => {
    const stop = clock.after(asked ?? next.value, resolve)
    attempt.onEnd(() => {
      stop()
      resolve()
    })
  })
  return !attempt.isOver
}

/** Whether a version that a server answered with is one that the options leave open. */
function isAllowed(protocol: string, version: string): boolean {
  return protocol === "auto" || protocol === "legacy" || protocol === version || era(protocol) !== "legacy"
}

function readInitialize(result: JsonObject): Omit<Negotiated, "revision" | "reason"> {
  const { protocolVersion, capabilities, serverInfo, instructions, _meta } = result
  if (typeof protocolVersion !== "string") {
    throw new McpError("initialize: the result must name its protocolVersion as a string", {
      kind: "protocol",
      reason: "invalid_result",
    })
  }
  const described = serverInfo ?? (isJsonObject(_meta) ? _meta[META.serverInfo] : undefined)
  return {
    version: protocolVersion,
    server: readImplementation(described),
    capabilities: isJsonObject(capabilities) ? capabilities : {},
    instructions: typeof instructions === "string" ? instructions : undefined,
  }
}
