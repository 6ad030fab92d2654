/** The state of a call between two rounds: what is sealed into `requestState`, and what has to hold when it comes back. */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { canonicalJson } from "../../core/feature/canonical.js"
import type { Principal } from "../../core/http/gate.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"
import type { Clock, Store } from "../../store/port.js"
import type { Outcome } from "./outcome.js"
import { digestText, type KeyRing, randomText } from "./seal.js"

/** An answer of the client, and the digest of the question that it answers. */
export interface RecordedAnswer {
  readonly digest: string
  readonly answer: JsonObject
}

/** What a call knows at the end of a round. */
export interface RoundState {
  /** Names the call over all its rounds. */
  readonly flow: string
  /** The round that ended with this state; 0 before the first one ended. */
  readonly round: number
  /** The digests of the questions that were asked and are not answered. */
  readonly asked: Readonly<Record<string, string>>
  readonly answers: Readonly<Record<string, RecordedAnswer>>
  readonly once: Readonly<Record<string, Outcome>>
  /** The ids of questions that send the user to a page, by wire key. */
  readonly ids: Readonly<Record<string, string>>
  /** What a handler that asks by hand keeps for itself. */
  readonly kept: JsonValue | undefined
}

/** What a state is bound to. */
export interface StateBinding {
  readonly server: string
  readonly method: string
  readonly principal: Principal | undefined
  /** `{ name | uri, arguments }` of the request. */
  readonly subject: JsonObject
}

/** Seals and opens the states of one endpoint. */
export interface StateBox {
  seal(state: RoundState, binding: StateBinding): Promise<string>
  /** The state that was sealed for this very request. Throws the refusal otherwise. */
  open(sealed: string, binding: StateBinding): Promise<RoundState>
}

/** The parts that {@link createStateBox} is made of. */
export interface StateBoxOptions {
  readonly ring: KeyRing
  readonly store: Store
  readonly clock: Clock
  readonly ttlMs: number
  /** The longest sealed state; a longer one is kept in the store. */
  readonly maxBytes: number
  /** How much may be kept in the store at once. */
  readonly maxKeptBytes: number
  /** Called with what an operator should know of a refused state. */
  readonly report: (problem: string) => void
}

interface Payload {
  readonly v: 1
  readonly server: string
  readonly method: string
  readonly subject: string
  readonly principal: string
  readonly expiresAtMs: number
  /** The state itself, or the handle under which the store keeps it. */
  readonly state: RoundState | string
}

/** How long a warning is not repeated. */
const QUIET_MS = 60_000

/** Makes a {@link StateBox}. */
export function createStateBox(options: StateBoxOptions): StateBox {
  const { ring, store, clock, ttlMs, maxBytes, maxKeptBytes, report } = options
  /** What the store keeps, oldest first. */
  const kept: { readonly bytes: number; readonly expiresAtMs: number }[] = []
  let keptBytes = 0
  let quietUntilMs = 0

  const payload = async (binding: StateBinding, state: RoundState | string): Promise<string> => {
    const content: Payload = {
      v: 1,
      server: binding.server,
      method: binding.method,
      subject: await digestText(canonicalJson(binding.subject)),
      principal: principalText(binding.principal),
      expiresAtMs: clock.now() + ttlMs,
      state,
    }
    return JSON.stringify(content)
  }

  const keep = async (state: RoundState, binding: StateBinding): Promise<string> => {
    const handle = randomText(16)
    const text = JSON.stringify(state)
    while (kept[0] !== undefined && kept[0].expiresAtMs <= clock.now()) keptBytes -= kept.shift()?.bytes ?? 0
    if (keptBytes + text.length > maxKeptBytes) throw tooLarge()
    kept.push({ bytes: text.length, expiresAtMs: clock.now() + ttlMs })
    keptBytes += text.length
    if (!(await store.set(`state:${handle}`, text, { ttlMs }))) throw tooLarge()
    return ring.seal("requestState v1", await payload(binding, handle))
  }

  const load = async (state: RoundState | string): Promise<RoundState | undefined> => {
    if (typeof state !== "string") return state
    const stored = await store.get(`state:${state}`)
    return stored === undefined ? undefined : (JSON.parse(stored.value) as RoundState)
  }

  /** Says what is to be done about unknown keys, but not once for each state that anybody makes up. */
  const warn = (): void => {
    if (clock.now() < quietUntilMs) return
    quietUntilMs = clock.now() + QUIET_MS
    report("a requestState was sealed with an unknown key: set `secrets`, the same on every node")
  }

  return {
    async seal(state, binding) {
      const sealed = await ring.seal("requestState v1", await payload(binding, state))
      return sealed.length <= maxBytes ? sealed : keep(state, binding)
    },
    async open(sealed, binding) {
      if (sealed.length > maxBytes) throw refusal()
      const opened = await ring.open("requestState v1", sealed)
      if (!opened.ok) {
        if (opened.cause === "unknown_key") warn()
        throw refusal()
      }
      const content = JSON.parse(opened.text) as Payload
      const isBound =
        content.v === 1 &&
        content.server === binding.server &&
        content.method === binding.method &&
        content.principal === principalText(binding.principal) &&
        content.subject === (await digestText(canonicalJson(binding.subject)))
      if (!isBound) throw refusal()
      if (content.expiresAtMs <= clock.now()) throw expired()
      const state = await load(content.state)
      if (state === undefined) throw refusal()
      return state
    },
  }
}

function principalText(principal: Principal | undefined): string {
  if (principal === undefined) return ""
  const { issuer = null, strategy = null, id, clientId = null } = principal
  return JSON.stringify([issuer, strategy, id, clientId])
}

function tooLarge(): McpError {
  return new McpError("Internal error: the answers and values of the call are larger than what can be kept of it", {
    kind: "protocol",
    reason: "state_too_large",
    code: codes.internalError,
  })
}

/** One message for every cause, so that nothing is learnt from a refusal. */
function refusal(): McpError {
  return refuseState("request_state_invalid", "Invalid params: requestState is not valid for this request")
}

function expired(): McpError {
  return refuseState("request_state_expired", "Invalid params: requestState has expired; start the call again")
}

function refuseState(reason: "request_state_invalid" | "request_state_expired", text: string): McpError {
  return new McpError(text, { kind: "protocol", reason, code: codes.invalidParams })
}
