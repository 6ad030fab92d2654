// The ratios that decide something: short rounds, paired, pooled over fresh processes. The same binary differs by a quarter
// from one process to the next, and pairing within a process takes that out.
import { openHttpLanes } from "../load/http.js"
import { UsageError } from "../load/machine.js"
import { playRounds } from "../load/rounds.js"
import { openStdioLanes, stdioEraOf } from "../load/stdio.js"
import { cpuOf, ratiosOf } from "../report/comparison.js"
import { rangeOf } from "../report/statistics.js"
import { formatNumber, formatRange, formatTable } from "../report/table.js"
import { WORKS } from "../workload/messages.js"

/** These share a process over HTTP, each on its own port. A peer has its own: its garbage is to burden nobody else. */
const TOGETHER = ["floor", "full", "conduit"]
const WARM_UPS = 2

/** The name of the results' files. */
export function nameOf({ mode, work, tools = 2, inFlight }) {
  return ["ratio", mode, work, tools, ...(inFlight === undefined ? [] : [inFlight])].join("-")
}

/** Measures one mode (`modern-json`, `session-json`, `stdio-modern`, …) and one piece of work. */
export async function run(adapters, options, log) {
  const { mode, work, tools = 2, processes = 3, rounds = 12, seconds = 1, inFlight = 64, apart = false } = options
  if (mode === undefined) throw new UsageError("A ratio needs a mode and a work, such as: ratio modern-json echo")
  if (WORKS[work] === undefined) throw new UsageError(`There is no work "${work}": ${Object.keys(WORKS).join(", ")}.`)
  const era = stdioEraOf(mode)
  const able = adapters.filter(({ meta }) =>
    era === undefined ? meta.http?.includes(mode) : meta.stdio?.includes(era),
  )
  const pooled = new Map(able.map(({ id }) => [id, []]))
  for (let process = 1; process <= processes; process++) {
    const lanes = await openLanes(able, { era, mode, work, tools, inFlight, apart })
    const { samples, failures } = await playRounds(lanes, { rounds, seconds, warmUps: WARM_UPS, warmUpSeconds: 2 })
    for (const lane of lanes) await lane.stop()
    for (const [id, error] of failures) throw new Error(`${id} failed: ${error}`)
    for (const [id, own] of samples) pooled.get(id)?.push(...own)
    log(
      `process ${process}: ${[...samples].map(([id, own]) => `${id} ${formatNumber(cpuOf(own))}`).join(", ")} µs/call`,
    )
  }
  const rows = [...pooled].map(([adapter, own]) => ({
    adapter,
    cpuUs: rangeOf(own.map(({ cpuUs }) => cpuUs)),
    ...ratiosOf(own, pooled),
    samples: own,
  }))
  const load = era === undefined ? `${tools} tools` : `${inFlight} in flight`
  log(`\n${mode} ${work}, ${load}: median [10-90 %] of ${processes} x ${rounds} paired rounds of ${seconds} s`)
  const toCells = ({ adapter, cpuUs, ofFloor, ofSdk2 }) =>
    [adapter, cpuUs, ofFloor, ofSdk2].map((cell) => (typeof cell === "object" ? formatRange(cell) : cell))
  log(formatTable(["adapter", "CPU µs/call", "of floor", "times sdk2"], rows.map(toCells)))
  return rows
}

async function openLanes(adapters, { era, apart, ...options }) {
  const open = era === undefined ? openHttpLanes : (one) => openStdioLanes(one, { era, ...options })
  const isTogether = ({ id }) => era === undefined && !apart && TOGETHER.includes(id)
  const together = adapters.filter(isTogether)
  const groups = [
    ...(together.length === 0 ? [] : [together]),
    ...adapters.filter((a) => !isTogether(a)).map((a) => [a]),
  ]
  const lanes = []
  for (const group of groups) lanes.push(...(await open(group, options)))
  return lanes
}
