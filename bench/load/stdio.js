// stdio load: a driver that writes lines and counts lines, so that next to nothing of the measured time is its own.
import { initializeParams, requestMessage, WORKS } from "../workload/messages.js"
import { cpuTimeUs, SERVER_CORE, startProcess, stopProcess } from "./machine.js"
import { serveCommand } from "./server.js"

/**
 * Starts one adapter's stdio server and makes a lane of it, with `inFlight` calls on the way at any time.
 * @param {readonly import("../adapters.js").Adapter[]} adapters one
 * @returns {Promise<import("./rounds.js").Lane[]>}
 */
export async function openStdioLanes([{ id }], { era, work = "echo", tools = 2, inFlight = 64, nodeArgs }) {
  const command = serveCommand([id], { transport: "stdio", tools }, nodeArgs)
  const child = startProcess(SERVER_CORE, command, { stdio: ["pipe", "pipe", "ignore"] })
  const lines = createLines(child.stdout)
  const { method, params, expect } = WORKS[work]
  const ask = async (message) => {
    const answer = lines.next()
    child.stdin.write(`${JSON.stringify(message)}\n`)
    return answer
  }
  const check = async () => {
    const answer = await ask(requestMessage(era, 1, method, params))
    if (!answer.includes(expect)) throw new Error(`wrong answer: ${answer.slice(0, 300)}`)
  }
  try {
    if (era === "modern") await ask(requestMessage("modern", 0, "server/discover"))
    else {
      await ask(requestMessage("legacy", 0, "initialize", initializeParams()))
      child.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
    }
    await check()
  } catch (error) {
    await stopProcess(child)
    throw error
  }
  const load = createLoad(child, lines, requestMessage(era, MARK, method, params))
  return [{ id, run: (seconds) => load(seconds * 1000, inFlight), check, stop: (signal) => stopProcess(child, signal) }]
}

const MARK = 424_242

/** The lines of a stream: read one by one, or only counted. */
function createLines(stream) {
  let rest = ""
  let onLine
  let onCount
  stream.setEncoding("utf8")
  stream.on("data", (chunk) => {
    if (onCount !== undefined) return onCount(countLines(chunk))
    const lines = (rest + chunk).split("\n")
    rest = lines.pop()
    for (const line of lines) onLine?.(line)
  })
  return {
    next: () =>
      new Promise((resolve, reject) => {
        const timer = setTimeout(() => reject(new Error("no answer within 20 s")), 20_000)
        onLine = (line) => {
          clearTimeout(timer)
          resolve(line)
        }
      }),
    count(run) {
      onCount = run
    },
  }
}

function countLines(chunk) {
  let count = 0
  for (let at = chunk.indexOf("\n"); at >= 0; at = chunk.indexOf("\n", at + 1)) count++
  return count
}

/** Keeps `inFlight` calls on the way for `durationMs`; then waits for the last answers. */
function createLoad(child, lines, message) {
  const [prefix, suffix] = `${JSON.stringify(message)}\n`.split(String(MARK))
  let id = 1_000_000
  const send = (count) => {
    let text = ""
    for (let i = 0; i < count; i++) text += prefix + id++ + suffix
    child.stdin.write(text)
  }
  return (durationMs, inFlight) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error("stalled")), durationMs + 20_000)
      const beforeUs = cpuTimeUs(child.pid)
      const startMs = performance.now()
      let sent = inFlight
      let got = 0
      lines.count((count) => {
        got += count
        if (performance.now() - startMs < durationMs) {
          sent += count
          send(count)
        } else if (got === sent) {
          clearTimeout(timer)
          lines.count(undefined)
          const tookMs = performance.now() - startMs
          resolve({ callsPerSecond: (got / tookMs) * 1000, cpuUs: (cpuTimeUs(child.pid) - beforeUs) / got })
        }
      })
      send(inFlight)
    })
}
