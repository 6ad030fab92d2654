/** Everything that can be thrown at a linked pair in memory. Nobody watches the server, as in most programs. */
import fc from "fast-check"
import { expect, it } from "vitest"
import {
  createWatchfulLogger,
  DOOR_TIMEOUT_MS,
  heapBytes,
  MAX_GROWTH_BYTES,
  Tally,
  throwAt,
  watchRejections,
} from "./budget.js"
import { memoryEnd } from "./pipe-door.js"
import { anyPipeScript, createPipePlace, type PipeScript, playPipe } from "./pipe-scenario.js"
import { createTarget, LIMITS } from "./target.js"

const SILENCE: PipeScript = { opens: false, drafts: [], cuts: [], replies: [], tamper: undefined }

it(
  "whatever is sent on pairs in memory is answered by the rules, reaches nobody else, and leaves nothing behind",
  async () => {
    const logger = createWatchfulLogger()
    const rejections = watchRejections()
    const server = createTarget(logger)
    const tally = new Tally()
    let atFirst = Number.POSITIVE_INFINITY
    let rounds = 0
    await throwAt("memory", tally, fc.array(anyPipeScript, { minLength: 1, maxLength: 4 }), async (scripts) => {
      if (++rounds === 50) atFirst = await heapBytes()
      const ends = scripts.map(() => memoryEnd(server, { limits: LIMITS }))
      const played = ends.map((end, index) => playPipe(createPipePlace(end, tally), scripts[index] ?? SILENCE))
      server.changed("tools")
      server.updated("test://one/1")
      await Promise.all(played).finally(() => {
        for (const end of ends) end.close()
      })
      expect(logger.unexpected).toEqual([])
      expect(rejections.seen).toEqual([])
    })
    expect((await heapBytes()) - atFirst).toBeLessThan(MAX_GROWTH_BYTES)
    expect(tally.seen).toEqual(expect.arrayContaining(["complete", "result", "input_required", "elicitation/create"]))
    rejections.stop()
  },
  DOOR_TIMEOUT_MS,
)
