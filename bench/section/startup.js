// What an import costs: time, CPU time, memory, each in a fresh process, in turn.
import { LOAD_CORE, outputOf } from "../load/machine.js"
import { pairedRatios, rangeOf, spreadOf } from "../report/statistics.js"
import { formatRange, formatSpread, formatTable } from "../report/table.js"

const PROBE = `
const before = process.memoryUsage()
const cpuBefore = process.cpuUsage()
const startMs = performance.now()
for (const entry of JSON.parse(process.argv[1])) await import(entry)
const importMs = performance.now() - startMs
const { user, system } = process.cpuUsage(cpuBefore)
globalThis.gc(); globalThis.gc()
const after = process.memoryUsage()
const rssMb = (after.rss - before.rss) / 1e6
const heapMb = (after.heapUsed - before.heapUsed) / 1e6
console.log(JSON.stringify({ importMs, cpuMs: (user + system) / 1000, rssMb, heapMb }))
`
const REFERENCES = [
  { adapter: "node:http", kind: "server", entries: ["node:http"] },
  { adapter: "zod", kind: "dependency", entries: ["zod"] },
]

/** Measures every kind of entry of every adapter, in twice as many rounds as elsewhere. */
export async function run(adapters, { only = "", rounds = 5 }, log) {
  const sets = [...REFERENCES, ...adapters.flatMap(entrySetsOf)].filter(({ kind }) => kind.includes(only))
  const samples = sets.map(() => [])
  for (let round = -1; round < rounds * 2; round++) {
    for (const [index, { entries }] of sets.entries()) {
      const node = [process.execPath, "--expose-gc", "--input-type=module", "-e", PROBE, JSON.stringify(entries)]
      const sample = JSON.parse(await outputOf(LOAD_CORE, node))
      if (round >= 0) samples[index].push(sample)
    }
  }
  const cpuMsOf = (index) => samples[index].map(({ cpuMs }) => cpuMs)
  const results = sets.map(({ adapter, kind, entries }, index) => {
    const names = Object.keys(samples[index][0])
    const figures = names.map((name) => [name, spreadOf(samples[index].map((sample) => sample[name]))])
    const sdk2 = sets.findIndex((set) => set.adapter === "sdk2" && set.kind === kind)
    const ofSdk2 = sdk2 < 0 ? undefined : rangeOf(pairedRatios(cpuMsOf(sdk2), cpuMsOf(index)))
    return { adapter, kind, entries, ...Object.fromEntries(figures), ofSdk2 }
  })
  const rows = results.map(({ adapter, kind, importMs, cpuMs, rssMb, heapMb, ofSdk2 }) => [
    adapter,
    kind,
    ...[importMs, cpuMs, rssMb, heapMb].map(formatSpread),
    ofSdk2 === undefined ? "-" : formatRange(ofSdk2),
  ])
  log(formatTable(["adapter", "what", "import ms", "CPU ms", "RSS MB", "heap MB", "times sdk2 (CPU)"], rows))
  return results
}

function entrySetsOf({ id, meta }) {
  const sets = [
    ["server", meta.serverEntries && ["node:http", ...meta.serverEntries]],
    ["stdio server", meta.stdioEntries],
    ["client", meta.clientEntries],
  ]
  return sets.filter(([, entries]) => entries !== undefined).map(([kind, entries]) => ({ adapter: id, kind, entries }))
}
