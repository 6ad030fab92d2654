// HTTP load: one request to check the answer, then wrk over keep-alive connections.
import { mkdtempSync, rmSync, writeFileSync } from "node:fs"
import { request } from "node:http"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { eraOf, initializeParams, requestHeaders, requestMessage, WORKS } from "../workload/messages.js"
import { cpuTimeUs, LOAD_CORE, outputOf, untilIdle } from "./machine.js"
import { startServer } from "./server.js"

/** One exchange with node:http. */
function exchange(port, { headers, body, agent }) {
  return new Promise((resolve, reject) => {
    const length = { "Content-Length": Buffer.byteLength(body) }
    const options = { host: "127.0.0.1", port, path: "/mcp", method: "POST", agent, headers: { ...headers, ...length } }
    const outgoing = request(options, (incoming) => {
      let text = ""
      incoming.setEncoding("utf8")
      incoming.on("data", (chunk) => {
        text += chunk
      })
      incoming.on("end", () => resolve({ status: incoming.statusCode, headers: incoming.headers, text }))
      incoming.on("error", reject)
    })
    outgoing.on("error", reject)
    outgoing.setTimeout(10_000, () => outgoing.destroy(new Error("no answer within 10 s")))
    outgoing.end(body)
  })
}

/** How one adapter is asked for one piece of work in one mode. */
export function targetOf(meta, mode, work) {
  const { method, name, params, expect } = WORKS[work]
  const { legacyVersion } = meta
  const headers = requestHeaders(eraOf(mode), method, name, { legacyVersion, accept: meta.accept?.[mode] })
  return { mode, method, params, expect, headers, legacyVersion }
}

/** Opens a legacy session; resolves to its id. */
export async function openSession(port, { legacyVersion }, agent) {
  const headers = requestHeaders("legacy", "initialize", undefined, { legacyVersion })
  const opening = JSON.stringify(requestMessage("legacy", 0, "initialize", initializeParams(legacyVersion)))
  const answer = await exchange(port, { headers, body: opening, agent })
  const id = answer.headers["mcp-session-id"]
  if (answer.status !== 200 || !id) throw new Error(`initialize: ${answer.status} ${answer.text.slice(0, 300)}`)
  const body = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
  await exchange(port, { headers: { ...headers, "Mcp-Session-Id": id }, body, agent })
  return id
}

/** Asks once; throws unless the answer is right and comes in the kind that the mode names. */
export async function checkAnswer(port, target, session) {
  const body = JSON.stringify(requestMessage(eraOf(target.mode), 7, target.method, target.params))
  const headers = { ...target.headers, ...(session === undefined ? {} : { "Mcp-Session-Id": session }) }
  const { status, headers: answered, text } = await exchange(port, { headers, body })
  if (status !== 200 || !text.includes(target.expect)) throw new Error(`wrong answer ${status}: ${text.slice(0, 300)}`)
  const isStream = answered["content-type"]?.startsWith("text/event-stream") === true
  if (isStream !== target.mode.endsWith("-sse")) throw new Error(`${answered["content-type"]} in mode ${target.mode}`)
}

/**
 * Runs wrk once. A failed call fails the run.
 * @returns {Promise<import("./rounds.js").Sample>}
 */
export async function runWrk({ pid, port, target, sessions = [] }, { seconds, inFlight }) {
  const folder = mkdtempSync(join(tmpdir(), "conduit-bench-"))
  try {
    const conf = join(folder, "conf.lua")
    writeFileSync(conf, toLuaConf(target, sessions))
    const beforeUs = cpuTimeUs(pid)
    const wrk = [
      "wrk",
      "-t1",
      `-c${inFlight}`,
      `-d${Math.max(1, Math.round(seconds))}s`,
      "--timeout",
      "10s",
      "--latency",
      "-s",
      "load/mcp.lua",
    ]
    const timeoutMs = seconds * 1000 + 30_000
    const output = await outputOf(LOAD_CORE, [...wrk, `http://127.0.0.1:${port}`], {
      env: { WRK_CONF: conf },
      timeoutMs,
    })
    const cpuUs = cpuTimeUs(pid) - beforeUs
    await untilIdle(pid)
    const { calls, us, failed, p50, p99 } = JSON.parse(/RESULT (.*)/.exec(output)?.[1] ?? "{}")
    if (failed !== 0) throw new Error(`${failed} of ${calls} calls failed`)
    return { callsPerSecond: calls / (us / 1e6), cpuUs: cpuUs / calls, p50Ms: p50 / 1000, p99Ms: p99 / 1000 }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

function toLuaConf({ mode, method, params, headers }, sessions) {
  const id = 424_242
  const [prefix, suffix] = JSON.stringify(requestMessage(eraOf(mode), id, method, params)).split(String(id))
  const list = Object.entries(headers).map(([name, value]) => `[${toLua(name)}]=${toLua(value)}`)
  const sent = `headers={${list}},prefix=${toLua(prefix)},suffix=${toLua(suffix)},sessions={${sessions.map(toLua)}}`
  return `return {path="/mcp",${sent}}`
}

function toLua(text) {
  return `"${text.replace(/[\\"]/g, "\\$&").replace(/\n/g, "\\n")}"`
}

/**
 * Starts adapters in one process and makes a lane of each: 64 keep-alive connections, or as many as `inFlight` says.
 * @param {readonly import("../adapters.js").Adapter[]} adapters
 * @returns {Promise<import("./rounds.js").Lane[]>}
 */
export async function openHttpLanes(adapters, { mode, work = "echo", tools = 2, inFlight = 64, nodeArgs }) {
  const ids = adapters.map(({ id }) => id)
  const server = await startServer(ids, { mode, tools }, nodeArgs)
  const lanes = []
  try {
    for (const { id, meta } of adapters) {
      const port = server.ports[id]
      const target = targetOf(meta, mode, work)
      const sessions = []
      if (mode.startsWith("session")) for (let i = 0; i < 64; i++) sessions.push(await openSession(port, target))
      const check = () => checkAnswer(port, target, sessions[0])
      await check()
      const run = (seconds) => runWrk({ pid: server.pid, port, target, sessions }, { seconds, inFlight })
      lanes.push({ id, run, check, stop: server.stop })
    }
  } catch (error) {
    await server.stop()
    throw error
  }
  return lanes
}
