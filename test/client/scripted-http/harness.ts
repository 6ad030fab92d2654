/** An application's client on a scripted peer over HTTP, with a clock that stands still and all that either side may keep counted. */
import { type Client, type ConnectOptions, connect } from "conduit-mcp/client"
import { afterEach, expect } from "vitest"
import { createManualClock, type ManualClock } from "../../support/clock.js"
import { type HttpPeer, type Script, startHttpPeer } from "../../support/http-peer.js"
import { createRecordingLogger } from "../../support/logger.js"

const peers: HttpPeer[] = []
const clients: Client[] = []

/** Starts a peer for the length of a test. */
export async function start(script: Script): Promise<HttpPeer> {
  const peer = await startHttpPeer(script)
  peers.push(peer)
  return peer
}

/** What comes of connecting. */
export interface Dialled {
  readonly clock: ManualClock
  readonly opening: Promise<Client>
}

/** Begins to connect. */
export function dial(peer: { readonly url: string }, options: ConnectOptions = {}): Dialled {
  const clock = createManualClock()
  const opening = connect(peer.url, { clock, logger: createRecordingLogger(), ...options })
  opening.then(
    (client) => clients.push(client),
    () => {},
  )
  return { clock, opening }
}

/** Connects. */
export async function open(
  peer: { readonly url: string },
  options: ConnectOptions = {},
): Promise<{ readonly client: Client; readonly clock: ManualClock }> {
  const { clock, opening } = dial(peer, options)
  return { client: await opening, clock }
}

/** Closes whatever a test left open, and holds the client to leaving no connection and no task of its clock. */
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
  for (const peer of peers.splice(0)) {
    await peer.idle()
    await peer.close()
  }
})

/** That nothing is left of a client: no connection at the peer, and no task on the clock. */
export async function expectNothingLeft(peer: HttpPeer, clock: ManualClock): Promise<void> {
  await peer.idle()
  expect(clock.waiting).toBe(0)
}
