// One scenario, several adapters: rounds in turn, then one table with ratios to the floor and to the official SDK v2.
import { playRounds } from "../load/rounds.js"
import { median, pairedRatios, rangeOf, spreadOf } from "./statistics.js"
import { formatNumber, formatRange, formatSpread, formatTable } from "./table.js"

/** What ratios are taken to. */
const BASES = ["floor", "sdk2"]

/**
 * Plays the rounds of one scenario, stops the lanes and logs the table.
 * @param {string} scenario
 * @param {readonly import("../load/rounds.js").Lane[]} lanes
 * @param {{ rounds?: number, seconds?: number, warmUpSeconds?: number }} options
 * @returns the rows: every figure as median, minimum and maximum, every ratio as median, p10 and p90
 */
export async function compare(scenario, lanes, { rounds = 5, seconds = 2, warmUpSeconds }, log) {
  const { samples, failures } = await playRounds(lanes, { rounds, seconds, warmUpSeconds })
  for (const lane of lanes) await lane.stop()
  const rows = [...samples].map(([adapter, own]) => ({
    scenario,
    adapter,
    ...figuresOf(own),
    ...ratiosOf(own, samples),
  }))
  log(`\n${scenario}\n${formatComparison(rows)}`)
  for (const [adapter, error] of failures) log(`${adapter} failed: ${error}`)
  return [...rows, ...[...failures].map(([adapter, error]) => ({ scenario, adapter, error }))]
}

function figuresOf(samples) {
  const names = Object.keys(samples[0] ?? {})
  return Object.fromEntries(names.map((name) => [name, spreadOf(samples.map((sample) => sample[name]))]))
}

/** `ofFloor` and `ofSdk2`: how many times less CPU a call costs than with them. */
export function ratiosOf(own, samples) {
  const ratios = {}
  for (const base of BASES) {
    const theirs = samples.get(base)
    if (theirs === undefined) continue
    const paired = pairedRatios(
      theirs.map(({ cpuUs }) => cpuUs),
      own.map(({ cpuUs }) => cpuUs),
    )
    ratios[base === "floor" ? "ofFloor" : "ofSdk2"] = rangeOf(paired)
  }
  return ratios
}

function formatComparison(rows) {
  const hasLatency = rows.some(({ p50Ms }) => p50Ms !== undefined)
  const head = [
    "adapter",
    "CPU µs/call",
    "of floor",
    "times sdk2",
    "calls/s",
    ...(hasLatency ? ["p50 ms", "best p99"] : []),
  ]
  const lines = rows.map((row) => [
    row.adapter,
    formatSpread(row.cpuUs),
    row.ofFloor === undefined ? "-" : formatRange(row.ofFloor),
    row.ofSdk2 === undefined ? "-" : formatRange(row.ofSdk2),
    formatSpread(row.callsPerSecond),
    ...(hasLatency ? [formatNumber(row.p50Ms.median), formatNumber(row.p99Ms.min)] : []),
  ])
  return formatTable(head, lines)
}

/** The median CPU time per call of some samples. */
export function cpuOf(samples) {
  return median(samples.map(({ cpuUs }) => cpuUs))
}
