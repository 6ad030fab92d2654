// The ratios that decide something: short rounds, paired, pooled over fresh processes. The same binary differs by a quarter
// from one process to the next, and pairing within a process takes that out.
import { canServe, checkModeAndWork, isApart, openLanes } from "../load/lanes.js"
import { playRounds } from "../load/rounds.js"
import { cpuOf, ratiosOf } from "../report/comparison.js"
import { rangeOf } from "../report/statistics.js"
import { formatNumber, formatRange, formatTable } from "../report/table.js"

/** These share a process over HTTP, each on its own port. A peer has its own: its garbage is to burden nobody else. */
const TOGETHER = ["floor", "full", "conduit"]

/** The name of the results' files. */
export function nameOf({ mode, work, tools = 2, inFlight = 64 }) {
  return ["ratio", mode, work, tools, ...(inFlight === 64 ? [] : [inFlight])].join("-")
}

/** Measures one mode and one piece of work. */
export async function run(adapters, options, log) {
  checkModeAndWork(options)
  const { mode, work, tools = 2, processes = 3, rounds = 12, seconds = 1, inFlight = 64, apart = false } = options
  const groups = groupsOf(
    adapters.filter((adapter) => canServe(adapter, mode)),
    apart || isApart(mode),
  )
  const pooled = new Map(groups.flat().map(({ id }) => [id, []]))
  for (let process = 1; process <= processes; process++) {
    const lanes = []
    for (const group of groups) lanes.push(...(await openLanes(group, { mode, work, tools, inFlight })))
    const { samples, failures } = await playRounds(lanes, { rounds, seconds, warmUps: 2, warmUpSeconds: 2 })
    for (const lane of lanes) await lane.stop()
    for (const [id, error] of failures) throw new Error(`${id} failed: ${error}`)
    for (const [id, own] of samples) pooled.get(id).push(...own)
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
  log(`\n${mode} ${work}, ${tools} tools, ${inFlight} in flight`)
  log(`median [10-90 %] of ${processes} x ${rounds} paired rounds of ${seconds} s`)
  log(formatTable(["adapter", "CPU µs/call", "of floor", "times sdk2"], rows.map(toCells)))
  return rows
}

/** The adapters by the process that they are in. */
function groupsOf(adapters, apart) {
  const isTogether = ({ id }) => !apart && TOGETHER.includes(id)
  const together = adapters.filter(isTogether)
  const others = adapters.filter((adapter) => !isTogether(adapter)).map((adapter) => [adapter])
  return together.length === 0 ? others : [together, ...others]
}

function toCells({ adapter, cpuUs, ofFloor, ofSdk2 }) {
  return [adapter, ...[cpuUs, ofFloor, ofSdk2].map((range) => (range === undefined ? "-" : formatRange(range)))]
}
