// Servers in a process of their own: started, asked and ended from here (see serve.js for the other side).
import { SERVER_CORE, startProcess, stopProcess } from "./machine.js"

/**
 * A process that serves one adapter or several, each on its own port.
 * @typedef {object} ServerProcess
 * @property {number} pid
 * @property {Record<string, number>} ports by adapter
 * @property {(what: "memory" | "notify", id?: string) => Promise<any>} ask
 * @property {(signal?: "SIGTERM") => Promise<void>} stop
 */

/** The command that serves adapters. */
export function serveCommand(ids, options, nodeArgs = []) {
  return [process.execPath, "--expose-gc", ...nodeArgs, "serve.js", ids.join(","), JSON.stringify(options)]
}

/**
 * Starts HTTP servers. Resolves once all of them listen.
 * @param {readonly string[]} ids of the adapters
 * @param {{ mode?: string, tools?: number, port?: number }} options
 * @returns {Promise<ServerProcess>}
 */
export async function startServer(ids, options, nodeArgs) {
  const command = serveCommand(ids, options, nodeArgs)
  const child = startProcess(SERVER_CORE, command, { stdio: ["ignore", "pipe", "pipe", "ipc"] })
  let said = ""
  for (const stream of [child.stdout, child.stderr]) {
    stream.on("data", (chunk) => {
      said = (said + chunk).slice(-4_000)
    })
  }
  const waiting = new Map()
  const ports = await new Promise((resolve, reject) => {
    const timer = setTimeout(() => reject(new Error(`${ids} not ready: ${said}`)), 30_000)
    child.on("message", (message) => {
      if (message.ports !== undefined) resolve(message.ports)
      waiting.get(message.question)?.(message)
      waiting.delete(message.question)
      clearTimeout(timer)
    })
    child.on("exit", (code) => reject(new Error(`${ids} exited with ${code}: ${said}`)))
  })
  let question = 0
  return {
    pid: child.pid,
    ports,
    ask: (what, id = ids[0]) =>
      new Promise((resolve) => {
        question++
        waiting.set(question, resolve)
        child.send({ question, what, id })
      }),
    stop: (signal) => stopProcess(child, signal),
  }
}
