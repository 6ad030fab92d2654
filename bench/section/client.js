// HTTP clients against the floor, which answers at once: what is measured is the client.
import { openClientLanes } from "../load/client.js"
import { openApart } from "../load/rounds.js"
import { startServer } from "../load/server.js"
import { compare } from "../report/comparison.js"
import { eraOf } from "../workload/messages.js"

/** Measures every scenario whose name holds `only`. */
export async function run(adapters, { only = "", rounds, seconds = 1 }, log) {
  const results = []
  for (const mode of ["modern-json", "modern-sse", "session-json", "session-sse"]) {
    const era = eraOf(mode)
    // The floors read JSON only.
    const taking = adapters.filter(
      ({ id, meta }) => meta.client?.includes(era) && (mode.endsWith("-json") || !id.startsWith("floor")),
    )
    for (const inFlight of [1, 64]) {
      const name = `client over HTTP, ${mode}, ${inFlight} in flight`
      if (!name.includes(only)) continue
      const server = await startServer(["floor"], { mode })
      const url = `http://127.0.0.1:${server.ports.floor}/mcp`
      const lanes = await openApart(taking, (one) => openClientLanes(one, { era, url, inFlight }), log)
      results.push(...(await compare(name, lanes, { rounds, seconds }, log)))
      await server.stop()
    }
  }
  return results
}
