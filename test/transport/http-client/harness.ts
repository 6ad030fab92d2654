/** A client's link over HTTP to a scripted peer, with everything that it tells and a clock that stands still. */
import { type ClientLimits, resolveClientLimits } from "../../../src/client/limits.js"
import type { Link, LinkFacts, Noise, Outbound, Outcome, Sent } from "../../../src/client/link.js"
import type { HeaderSource } from "../../../src/client/options.js"
import type { McpError } from "../../../src/core/error/error.js"
import type { HttpSend } from "../../../src/core/http/send.js"
import type { Message } from "../../../src/core/wire/message.js"
import { createHttpDialer } from "../../../src/transport/http/client.js"
import { createSendFetch } from "../../../src/transport/http/send-fetch.js"
import { createSend } from "../../../src/transport/http/send-node.js"
import { createManualClock, type ManualClock } from "../../support/clock.js"

/** The ways out that every platform has one of. */
export const ways: readonly (readonly [name: string, make: () => HttpSend])[] = [
  ["node:http", createSend],
  ["fetch", () => createSendFetch()],
]

/** One request and what comes of it. */
export interface Asked {
  readonly sent: Sent
  /** What the server said before the response. */
  readonly messages: readonly Message[]
  readonly outcome: Promise<Outcome>
  /** How often the end was told. */
  readonly settled: number
}

/** A link that is open. */
export interface OpenLink {
  readonly link: Link
  readonly clock: ManualClock
  readonly messages: readonly Message[]
  readonly noises: readonly Noise[]
  readonly goneWith: readonly McpError[]
  /** Sends a request. Its id is counted up from 1 unless it is given. */
  ask(method?: string, more?: Partial<Outbound>): Asked
}

/** How a link is made. */
export interface LinkSettings {
  readonly send?: HttpSend
  readonly headers?: HeaderSource
  readonly limits?: Partial<ClientLimits>
  readonly deprecated?: boolean
}

/** Facts of a legacy session whose streams have event ids. */
export const legacy: LinkFacts = { version: "2025-11-25", session: "s-1", resumes: true, standby: false }

const opened: (() => Promise<void>)[] = []

/** Closes every link that was opened. */
export async function closeLinks(): Promise<void> {
  for (const close of opened.splice(0)) await close()
}

/** A link that is not open yet. */
export function makeLink(url: string, settings: LinkSettings = {}): { link: Link; clock: ManualClock } {
  const { send = createSend(), headers, limits, deprecated = false } = settings
  const clock = createManualClock()
  const dialer = createHttpDialer({ url, send, headers, limits: resolveClientLimits(limits), clock })
  const link = deprecated ? dialer.dialDeprecated?.() : dialer.dial()
  if (link === undefined) throw new Error("there is no such link")
  opened.push(() => link.close())
  return { link, clock }
}

/** Opens a link to a peer. */
export async function openLink(url: string, settings: LinkSettings = {}): Promise<OpenLink> {
  const { link, clock } = makeLink(url, settings)
  const messages: Message[] = []
  const noises: Noise[] = []
  const goneWith: McpError[] = []
  let lastId = 0
  await link.open({
    message: (message) => messages.push(message),
    gone: (error) => goneWith.push(error),
    noise: (noise) => noises.push(noise),
  })
  return {
    link,
    clock,
    messages,
    noises,
    goneWith,
    ask(method = "tools/call", more = {}) {
      lastId += 1
      return ask(link, method, { id: lastId, ...more })
    },
  }
}

function ask(link: Link, method: string, given: Partial<Outbound> & { readonly id: Outbound["id"] }): Asked {
  const messages: Message[] = []
  const asked = { messages, settled: 0 }
  let settle: (outcome: Outcome) => void = () => {}
  const outcome = new Promise<Outcome>((resolve) => {
    settle = resolve
  })
  const text = JSON.stringify({ jsonrpc: "2.0", id: given.id, method, params: {} })
  const outbound = { method, text, headers: undefined, caller: undefined, repeatable: false, ...given }
  const sent = link.request(outbound, {
    message: (message) => messages.push(message),
    settle(result) {
      asked.settled += 1
      settle(result)
    },
  })
  return Object.assign(asked, { sent, outcome })
}

/** Resolves once `holds` does; looked at again whenever the event loop comes round. */
export async function until(holds: () => boolean): Promise<void> {
  while (!holds()) await new Promise((resolve) => setImmediate(resolve))
}
