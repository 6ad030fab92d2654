/** One run over HTTP: a target behind a door, peers that send to it until the time is over, and what has to hold then. */
import type { Server } from "conduit-mcp"
import type { HttpOptions } from "conduit-mcp/node"
import { expect } from "vitest"
import {
  comesToRest,
  createWatchfulLogger,
  heapBytes,
  MAX_GROWTH_BYTES,
  Tally,
  throwAt,
  watchLasting,
  watchRejections,
} from "./budget.js"
import type { HttpDoor } from "./http-door.js"
import { anyScripts, play } from "./http-scenario.js"
import { Handles } from "./peer.js"
import { createTarget, LIMITS } from "./target.js"

/** A target that is served. */
export interface Served {
  readonly door: HttpDoor
  close(): Promise<void> | void
}

/** How the target is served: with caps that are reached, and with a caller behind every token. */
export const OPTIONS: HttpOptions = {
  limits: LIMITS,
  secrets: ["a secret of at least 32 bytes, for tests"],
  auth: ({ header }) => {
    const token = header("authorization")
    return token?.startsWith("Bearer peer-") === true ? { id: token.slice("Bearer ".length) } : undefined
  },
}

/** Throws everything at a target over HTTP. */
export async function throwOverHttp(name: string, serve: (server: Server) => Promise<Served> | Served): Promise<void> {
  const logger = createWatchfulLogger()
  const rejections = watchRejections()
  const server = createTarget(logger)
  const lasting = watchLasting(server)
  const { door, close } = await serve(server)
  const place = { door, handles: new Handles(), tally: new Tally() }
  let atFirst = Number.POSITIVE_INFINITY
  let rounds = 0
  await throwAt(name, place.tally, anyScripts, async (scripts) => {
    if (++rounds === 50) atFirst = await heapBytes()
    if (rounds % 20 === 0) server.changed("tools")
    await play(place, scripts)
    expect(logger.unexpected).toEqual([])
    expect(rejections.seen).toEqual([])
  })
  await comesToRest(lasting)
  expect((await heapBytes()) - atFirst).toBeLessThan(MAX_GROWTH_BYTES)
  expect(place.tally.seen).toEqual(expect.arrayContaining(["200 complete", "200 result", "200 input_required"]))
  await close()
  rejections.stop()
}
