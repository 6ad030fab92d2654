// Clients in a process of their own, so that their CPU time can be told from everything else's (see drive.js).
import { LOAD_CORE, pinned, SERVER_CORE, startProcess, stopProcess } from "./machine.js"
import { serveCommand, startServer } from "./server.js"

/**
 * Starts one adapter's client against `url` and makes a lane of it, with `inFlight` calls on the way at any time.
 * @param {readonly import("../adapters.js").Adapter[]} adapters one
 * @returns {Promise<import("./rounds.js").Lane[]>}
 */
export async function openClientLanes([{ id }], { inFlight, ...target }) {
  const command = [process.execPath, "load/drive.js", id, JSON.stringify(target)]
  const child = startProcess(LOAD_CORE, command, { stdio: ["ignore", "ignore", "pipe", "ipc"] })
  let said = ""
  child.stderr.on("data", (chunk) => {
    said = (said + chunk).slice(-3_000)
  })
  const next = (timeoutMs) =>
    new Promise((resolve, reject) => {
      const timer = setTimeout(() => reject(new Error(`no answer from the client: ${said}`)), timeoutMs)
      const onExit = (code) => reject(new Error(`the client exited with ${code}: ${said}`))
      child.once("exit", onExit)
      child.once("message", (message) => {
        clearTimeout(timer)
        child.off("exit", onExit)
        resolve(message)
      })
    })
  try {
    await next(30_000)
  } catch (error) {
    await stopProcess(child)
    throw error
  }
  const run = (seconds) => {
    const sample = next(seconds * 1000 + 30_000)
    child.send({ inFlight, durationMs: seconds * 1000 })
    return sample
  }
  return [{ id, run, check: async () => {}, stop: () => stopProcess(child) }]
}

/**
 * A client in the modern era against a floor server of its own, which answers at once.
 * @param {readonly import("../adapters.js").Adapter[]} adapters one
 * @returns {Promise<import("./rounds.js").Lane[]>}
 */
export async function openOwnClientLanes(adapters, { transport, inFlight }) {
  if (transport === "stdio") {
    const command = pinned(SERVER_CORE, serveCommand(["floor"], { transport: "stdio" }))
    return openClientLanes(adapters, { era: "modern", command, inFlight })
  }
  const server = await startServer(["floor"], { mode: "modern-json" })
  const url = `http://127.0.0.1:${server.ports.floor}/mcp`
  const [lane] = await openClientLanes(adapters, { era: "modern", url, inFlight })
  const stop = async () => {
    await lane.stop()
    await server.stop()
  }
  return [{ ...lane, stop }]
}
