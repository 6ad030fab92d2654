// HTTP servers: `tools/call` and `tools/list` in both eras, over 64 keep-alive connections (8 for the 1 MB argument).
import { openHttpLanes } from "../load/http.js"
import { openApart } from "../load/rounds.js"
import { compare } from "../report/comparison.js"

const MEGABYTE = { work: "megabyte", inFlight: 8, seconds: 1 }
const LIST = { work: "list", tools: 100, seconds: 1 }

const SCENARIOS = {
  "modern echo, JSON": { mode: "modern-json" },
  "modern echo, JSON, 20 tools": { mode: "modern-json", tools: 20 },
  "modern echo, JSON, 100 tools": { mode: "modern-json", tools: 100 },
  "modern echo, JSON, 500 tools": { mode: "modern-json", tools: 500 },
  "modern echo, SSE": { mode: "modern-sse" },
  "modern tools/list of 100, JSON": { mode: "modern-json", ...LIST },
  "modern tools/list of 100, SSE": { mode: "modern-sse", ...LIST },
  "modern 1 MB argument, JSON": { mode: "modern-json", ...MEGABYTE },
  "modern 1 MB argument, SSE": { mode: "modern-sse", ...MEGABYTE },
  "legacy stateless echo, JSON": { mode: "legacy-json" },
  "legacy stateless echo, SSE": { mode: "legacy-sse" },
  "legacy session echo, JSON": { mode: "session-json" },
  "legacy session echo, SSE": { mode: "session-sse" },
  "legacy session tools/list of 100, JSON": { mode: "session-json", ...LIST },
  "legacy session 1 MB argument, JSON": { mode: "session-json", ...MEGABYTE },
}

/** Measures every scenario whose name holds `only`. */
export async function run(adapters, { only = "", rounds, seconds }, log) {
  const results = []
  for (const [name, { mode, work = "echo", tools = 2, inFlight, seconds: ownSeconds }] of Object.entries(SCENARIOS)) {
    if (!name.includes(only)) continue
    const taking = adapters.filter(({ meta }) => meta.http?.includes(mode))
    const lanes = await openApart(taking, (one) => openHttpLanes(one, { mode, work, tools, inFlight }), log)
    const timing = { rounds, seconds: seconds ?? ownSeconds, warmUpSeconds: 2 }
    results.push(...(await compare(name, lanes, timing, log)))
  }
  return results
}
