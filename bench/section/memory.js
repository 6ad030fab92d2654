// A server's memory for 1,000 idle things: legacy sessions, their GET streams, `subscriptions/listen` streams. Measured after
// forced collections, before and after; run it twice to see its spread.
import { Agent } from "node:http"
import { checkAnswer, openSession, targetOf } from "../load/http.js"
import { startServer } from "../load/server.js"
import { makeInBatches, openListenStreams, openStream } from "../load/stream.js"
import { formatTable } from "../report/table.js"
import { LEGACY } from "../workload/messages.js"

const COUNT = 1_000

const SCENARIOS = {
  "1000 idle sessions": {
    takes: ({ http = [] }) => http.some((mode) => mode.startsWith("session")),
    open: openSessions,
  },
  "1000 session streams": { takes: ({ streams }) => streams === true, open: openSessionStreams },
  "1000 listen streams": {
    takes: ({ listens }) => listens === true,
    open: (port) => openListenStreams(port, COUNT),
    modern: true,
  },
}

/** Measures every scenario whose name holds `only`. */
export async function run(adapters, { only = "" }, log) {
  const results = []
  for (const [scenario, { takes, open, modern }] of Object.entries(SCENARIOS)) {
    if (!scenario.includes(only)) continue
    for (const { id, meta } of adapters.filter((adapter) => takes(adapter.meta))) {
      const modes = modern ? ["modern-json", "modern-sse"] : ["session-json", "session-sse"]
      const mode = modes.find((each) => meta.http.includes(each))
      try {
        results.push({ scenario, adapter: id, ...(await measure(id, targetOf(meta, mode, "echo"), open)) })
      } catch (error) {
        log(`${scenario}: ${id} failed: ${error.message}`)
        results.push({ scenario, adapter: id, error: error.message })
      }
    }
  }
  const rows = results
    .filter(({ error }) => error === undefined)
    .map((row) => [row.scenario, row.adapter, row.heapKb, row.rssKb, row.externalKb, row.rssMb])
  log(formatTable(["what", "adapter", "heap KB each", "RSS KB each", "external KB each", "RSS MB in all"], rows))
  return results
}

async function measure(id, target, open) {
  const server = await startServer([id], { mode: target.mode })
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  const port = server.ports[id]
  try {
    await warmUp(port, target, agent)
    const before = await server.ask("memory")
    const sockets = await open(port, target, agent)
    agent.destroy()
    const after = await server.ask("memory")
    for (const socket of sockets) socket.destroy()
    const kbOf = (name) => (after[name] - before[name]) / COUNT / 1024
    return { heapKb: kbOf("heapUsed"), rssKb: kbOf("rss"), externalKb: kbOf("external"), rssMb: after.rss / 1e6 }
  } finally {
    agent.destroy()
    await server.stop()
  }
}

/** Loads what is loaded lazily, so that it is not counted as memory of what is opened. */
async function warmUp(port, target, agent) {
  const session = target.mode.startsWith("session") ? await openSession(port, target, agent) : undefined
  for (let i = 0; i < 20; i++) await checkAnswer(port, target, session)
}

async function openSessions(port, target, agent) {
  await makeInBatches(COUNT, 16, () => openSession(port, target, agent))
  return []
}

async function openSessionStreams(port, target, agent) {
  const ids = await makeInBatches(COUNT, 16, () => openSession(port, target, agent))
  const version = { "MCP-Protocol-Version": target.legacyVersion ?? LEGACY }
  return makeInBatches(COUNT, 50, (index) => {
    const headers = { Accept: "text/event-stream", "Mcp-Session-Id": ids[index], ...version }
    return openStream(port, { method: "GET", headers })
  })
}
