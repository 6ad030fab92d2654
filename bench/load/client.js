// Clients in a process of their own, so that their CPU time can be told from everything else's (see drive.js).
import { LOAD_CORE, startProcess, stopProcess } from "./machine.js"

/**
 * Starts one adapter's client against `url` and makes a lane of it, with `inFlight` calls on the way at any time.
 * @param {readonly import("../adapters.js").Adapter[]} adapters one
 * @returns {Promise<import("./rounds.js").Lane[]>}
 */
export async function openClientLanes([{ id }], { era, url, inFlight }) {
  const command = [process.execPath, "load/drive.js", id, JSON.stringify({ era, url })]
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
