/** Everything that can be thrown at a process on its standard streams. */
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { type Bundled, bundleModule } from "../support/bundle.js"
import { modernRequest } from "../support/wire.js"
import { DOOR_TIMEOUT_MS, MAX_GROWTH_BYTES, Tally, throwAt } from "./budget.js"
import { type PipeProcess, processEnd } from "./pipe-door.js"
import { anyPipeScript, createPipePlace, playPipe } from "./pipe-scenario.js"

/** The heap of the process, once everything that can be freed is. */
async function heapBytes(end: PipeProcess, id: string): Promise<number> {
  const answered = new Promise<number>((resolve) => {
    const stop = end.onMessage((text) => {
      const { id: answers, result } = JSON.parse(text)
      if (answers !== id) return
      stop()
      resolve(Number(result.content[0].text))
    })
  })
  end.send(Buffer.from(JSON.stringify(modernRequest(id, "tools/call", { name: "heap" }))), 1)
  return answered
}

async function throwAtProcess({ path }: Bundled): Promise<void> {
  const tally = new Tally()
  let end = processEnd(path)
  let place = createPipePlace(end, tally)
  let atFirst = Number.POSITIVE_INFINITY
  let rounds = 0
  try {
    await throwAt("stdio", tally, anyPipeScript, async (script) => {
      if (++rounds === 50) atFirst = await heapBytes(end, "heap at first")
      try {
        await playPipe(place, script)
        expect(end.stderr()).toBe("")
      } catch (error) {
        // What failed is tried again in smaller forms, each on a pipe where nothing is left of the last.
        end.stop()
        end = processEnd(path)
        place = createPipePlace(end, tally)
        throw error
      }
    })
    expect((await heapBytes(end, "heap at last")) - atFirst).toBeLessThan(MAX_GROWTH_BYTES)
    expect(tally.seen).toEqual(expect.arrayContaining(["complete", "result", "input_required", "elicitation/create"]))
    end.close()
    expect(await end.ended).toBe(0)
  } finally {
    end.stop()
  }
}

it(
  "whatever is written to the input of a process is answered by the rules, and leaves nothing behind",
  async () => {
    const bundled = await bundleModule(fileURLToPath(new URL("stdio-child.ts", import.meta.url)))
    await throwAtProcess(bundled).finally(bundled.remove)
  },
  DOOR_TIMEOUT_MS,
)
