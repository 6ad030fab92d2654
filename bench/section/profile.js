// Where a server spends its time under HTTP load: a CPU profile by part, by function, and by function with what it calls.
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { checkAnswer, openSession, runWrk, targetOf } from "../load/http.js"
import { UsageError } from "../load/machine.js"
import { startServer } from "../load/server.js"
import { formatTable } from "../report/table.js"

/** The name of the results' files. */
export function nameOf({ mode, work, tools = 2 }) {
  return ["profile", mode, work, tools].join("-")
}

/** Profiles each adapter in one mode and one piece of work. */
export async function run(adapters, { mode, work, tools = 2, seconds = 5 }, log) {
  if (mode === undefined) throw new UsageError("A profile needs a mode and a work, such as: profile modern-json echo")
  const results = []
  for (const { id, meta } of adapters.filter((adapter) => adapter.meta.http?.includes(mode))) {
    const { profile, load } = await record(id, targetOf(meta, mode, work), { mode, tools, seconds })
    const { totalMs, parts, own, withCallees } = analyse(profile, seconds)
    log(`\n${id}, ${mode} ${work}, ${tools} tools: ${Math.round(totalMs)} ms sampled, ${load.cpuUs.toFixed(1)} µs/call`)
    const usPerCall = load.cpuUs / 100
    for (const [title, shares] of [
      ["by part", parts],
      ["by function", own],
      ["with callees", withCallees],
    ]) {
      const rows = shares.map(([name, percent]) => [name, percent, percent * usPerCall])
      log(`\n${formatTable([title, "%", "µs/call"], rows)}`)
    }
    results.push({ adapter: id, load, totalMs, parts, own, withCallees })
  }
  return results
}

async function record(id, target, { mode, tools, seconds }) {
  const folder = mkdtempSync(join(tmpdir(), "conduit-bench-"))
  const flags = ["--cpu-prof", `--cpu-prof-dir=${folder}`, "--cpu-prof-interval=200"]
  const server = await startServer([id], { mode, tools }, flags)
  try {
    const port = server.ports[id]
    const sessions = []
    if (mode.startsWith("session")) for (let i = 0; i < 64; i++) sessions.push(await openSession(port, target))
    await checkAnswer(port, target, sessions[0])
    const lane = { pid: server.pid, port, target, sessions }
    await runWrk(lane, { seconds: 3, inFlight: 64 })
    const load = await runWrk(lane, { seconds: seconds + 1, inFlight: 64 })
    const ended = new Promise((resolve) => server.child.once("exit", resolve))
    void server.ask("exit")
    await ended
    const [file] = readdirSync(folder).filter((name) => name.endsWith(".cpuprofile"))
    return { profile: JSON.parse(readFileSync(join(folder, file), "utf8")), load }
  } finally {
    await server.stop()
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
    parts: sharesOf(times.parts, 30),
    own: sharesOf(times.own, 50),
    withCallees: sharesOf(times.withCallees, 70),
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
