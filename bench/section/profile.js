// Where a server spends its time under HTTP load: a CPU profile by part, by function, and by function with what it calls.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { canServe, checkModeAndWork, openLanes } from "../load/lanes.js"
import { formatTable } from "../report/table.js"

/** The name of the results' files. */
export function nameOf({ mode, work, tools = 2 }) {
  return ["profile", mode, work, tools].join("-")
}

/** Profiles each adapter in one mode and one piece of work. */
export async function run(adapters, options, log) {
  checkModeAndWork(options)
  const { mode, work, tools = 2, seconds = 5, inFlight } = options
  const results = []
  for (const adapter of adapters.filter((each) => canServe(each, mode))) {
    const { profile, load } = await record(adapter, { mode, work, tools, inFlight }, seconds)
    const { totalMs, ...shares } = analyse(profile, seconds)
    log(`\n${adapter.id}, ${mode} ${work}, ${tools} tools: ${formatLoad(load)}, ${Math.round(totalMs)} ms sampled`)
    for (const [title, list] of Object.entries(shares)) {
      const rows = list.map(([name, percent]) => [name, percent, (percent / 100) * load.cpuUs])
      log(`\n${formatTable([title, "%", "µs/call"], rows)}`)
    }
    results.push({ adapter: adapter.id, load, totalMs, ...shares })
  }
  return results
}

function formatLoad({ cpuUs, callsPerSecond }) {
  return `${cpuUs.toFixed(1)} µs/call at ${Math.round(callsPerSecond)} calls/s, profiler included`
}

async function record(adapter, options, seconds) {
  const folder = mkdtempSync(join(tmpdir(), "conduit-bench-"))
  const nodeArgs = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=200"]
  try {
    const [lane] = await openLanes([adapter], { ...options, nodeArgs })
    await lane.run(3)
    const load = await lane.run(seconds + 1)
    await lane.stop("SIGTERM")
    const [file] = readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"))
    return { profile: JSON.parse(readFileSync(join(folder, file), "utf8")), load }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** Shares of the busy time of the last `seconds`, when the code is warm. */
function analyse({ nodes, samples, timeDeltas }, seconds) {
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const parents = new Map(nodes.flatMap(({ id, children = [] }) => children.map((child) => [child, id])))
  const times = { parts: new Map(), own: new Map(), withCallees: new Map() }
  const add = (map, key, time) => map.set(key, (map.get(key) ?? 0) + time)
  let total = 0
  for (let i = samples.length - 1; i >= 0 && total < seconds * 1e6; i--) {
    const { callFrame } = byId.get(samples[i])
    const time = timeDeltas[i] ?? 0
    if (callFrame.functionName === "(idle)") continue
    total += time
    add(times.parts, partOf(callFrame), time)
    add(times.own, nameOfFunction(callFrame), time)
    const seen = new Set()
    for (let id = samples[i]; id !== undefined; id = parents.get(id)) seen.add(nameOfFunction(byId.get(id).callFrame))
    for (const name of seen) add(times.withCallees, name, time)
  }
  const sharesOf = (map, count) =>
    [...map]
      .sort(([, a], [, b]) => b - a)
      .slice(0, count)
      .map(([name, time]) => [name, (100 * time) / total])
  return {
    totalMs: total / 1000,
    "by part": sharesOf(times.parts, 30),
    "by function": sharesOf(times.own, 50),
    "with callees": sharesOf(times.withCallees, 70),
  }
}

const NODE_PARTS = [
  [/^node:internal\/deps\/undici/, "node: fetch"],
  [/^node:.*(webstreams|readablestream|writablestream)/, "node: web streams"],
  [/^node:(internal\/)?streams?/, "node: streams"],
  [/^node:(internal\/)?_?http/, "node: http"],
  [/^node:(internal\/)?(event_target|abort_controller)/, "node: events and aborts"],
  [/^node:/, "node: other"],
]

/** Which part of the program a function belongs to. */
function partOf({ functionName, url }) {
  if (functionName === "(garbage collector)" || functionName === "(program)") return functionName
  if (url === "") return "(native)"
  const inModules = [...url.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)
  if (inModules !== undefined) return inModules[1]
  const layer = /\/dist\/([a-z-]+\/[a-z-]+)/.exec(url)
  if (layer !== null) return `conduit-mcp: ${layer[1]}`
  return NODE_PARTS.find(([pattern]) => pattern.test(url))?.[1] ?? "adapter"
}

function nameOfFunction({ functionName, url, lineNumber }) {
  const name = functionName === "" ? "(anonymous)" : functionName
  return url === "" ? name : `${name} ${url.replace(/^file:.*\/(node_modules|dist|bench)\//, "")}:${lineNumber + 1}`
}
