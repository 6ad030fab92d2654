// stdio servers: `tools/call` in both eras, one at a time and with 64 in flight.
import { openApart } from "../load/rounds.js"
import { openStdioLanes } from "../load/stdio.js"
import { compare } from "../report/comparison.js"

/** Measures every scenario whose name holds `only`. */
export async function run(adapters, { only = "", rounds, seconds = 1 }, log) {
  const results = []
  for (const era of ["modern", "legacy"]) {
    const taking = adapters.filter(({ meta }) => meta.stdio?.includes(era))
    for (const inFlight of [1, 64]) {
      const name = `stdio echo, ${era}, ${inFlight} in flight`
      if (!name.includes(only)) continue
      const lanes = await openApart(taking, (one) => openStdioLanes(one, { era, inFlight }), log)
      results.push(...(await compare(name, lanes, { rounds, seconds }, log)))
    }
  }
  return results
}
