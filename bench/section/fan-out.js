// One change of the tools told to 1,000 listening streams: time until the last one has it, CPU time of the server.
import { cpuTimeUs, untilIdle } from "../load/machine.js"
import { playRounds } from "../load/rounds.js"
import { startServer } from "../load/server.js"
import { openListenStreams } from "../load/stream.js"
import { ratiosOf } from "../report/comparison.js"
import { spreadOf } from "../report/statistics.js"
import { formatRange, formatSpread, formatTable } from "../report/table.js"

const COUNT = 1_000

/** Measures every adapter that listens, in twice as many rounds as elsewhere. */
export async function run(adapters, { rounds = 5 }, log) {
  const lanes = []
  for (const { id, meta } of adapters.filter((adapter) => adapter.meta.listens === true)) {
    lanes.push(await openLane(id, meta.http.includes("modern-json") ? "modern-json" : "modern-sse"))
  }
  const { samples, failures } = await playRounds(lanes, { rounds: rounds * 2, seconds: 1 })
  for (const lane of lanes) await lane.stop()
  for (const [id, error] of failures) log(`${id} failed: ${error}`)
  const results = [...samples].map(([adapter, own]) => {
    const figures = ["firstMs", "lastMs", "cpuUs"].map((name) => [name, spreadOf(own.map((sample) => sample[name]))])
    return { adapter, ...Object.fromEntries(figures), ...ratiosOf(own, samples) }
  })
  const rows = results.map(({ adapter, firstMs, lastMs, cpuUs, ofFloor, ofSdk2 }) => [
    adapter,
    ...[firstMs, lastMs, cpuUs].map(formatSpread),
    ...[ofFloor, ofSdk2].map((ratio) => (ratio === undefined ? "-" : formatRange(ratio))),
  ])
  log(formatTable(["adapter", "first ms", "last ms", "CPU µs/stream", "of floor (CPU)", "times sdk2 (CPU)"], rows))
  return results
}

async function openLane(id, mode) {
  const server = await startServer([id], { mode })
  let onChange = () => {}
  const sockets = await openListenStreams(server.ports[id], COUNT, (text) => {
    if (text.includes("list_changed")) onChange()
  })
  const run = async () => {
    await untilIdle(server.pid)
    const beforeUs = cpuTimeUs(server.pid)
    const arrived = new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`only ${got} of ${COUNT} streams heard of it`)), 10_000)
      let got = 0
      let firstNs
      onChange = () => {
        got++
        firstNs ??= process.hrtime.bigint()
        if (got < COUNT) return
        clearTimeout(timer)
        resolve({ firstNs, lastNs: process.hrtime.bigint() })
      }
    })
    const { startedNs } = await server.ask("notify", id)
    const { firstNs, lastNs } = await arrived
    await untilIdle(server.pid)
    const since = (ns) => Number(ns - BigInt(startedNs)) / 1e6
    return { firstMs: since(firstNs), lastMs: since(lastNs), cpuUs: (cpuTimeUs(server.pid) - beforeUs) / COUNT }
  }
  const stop = async () => {
    for (const socket of sockets) socket.destroy()
    await server.stop()
  }
  return { id, run, check: async () => {}, stop }
}
