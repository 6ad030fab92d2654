// The machine: child processes that are pinned to a core and ended by their own id, and the CPU time that they used.
import { execFileSync, spawn } from "node:child_process"
import { existsSync, readdirSync, readFileSync } from "node:fs"
import { availableParallelism } from "node:os"
import { fileURLToPath } from "node:url"

/** The folder of the suite. */
export const ROOT = fileURLToPath(new URL("..", import.meta.url))

/** Where the process that is measured runs. */
export const SERVER_CORE = 0
/** Where the load runs. */
export const LOAD_CORE = 1

const CAN_PIN = availableParallelism() > 1 && existsSync("/usr/bin/taskset")

/** An error that the reader of the terminal can mend; shown without a stack. */
export class UsageError extends Error {}

const living = new Set()
process.on("exit", () => {
  for (const child of living) child.kill("SIGKILL")
})
for (const signal of ["SIGINT", "SIGTERM"]) {
  process.on(signal, () => {
    console.error(`ended by ${signal}`)
    process.exit(130)
  })
}

/** The command with the pinning in front, where this machine can pin. */
export function pinned(core, command) {
  return CAN_PIN && core !== undefined ? ["taskset", "-c", String(core), ...command] : command
}

/** Starts a command in the suite's folder; it ends with this process at the latest. */
export function startProcess(core, command, options = {}) {
  const [program, ...args] = pinned(core, command)
  const child = spawn(program, args, {
    cwd: ROOT,
    ...options,
    env: { ...process.env, NODE_ENV: "production", ...options.env },
  })
  living.add(child)
  child.on("exit", () => living.delete(child))
  return child
}

/** Ends a process and waits for its end; `SIGTERM` lets it end by itself. */
export function stopProcess(child, signal = "SIGKILL") {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve()
    child.once("exit", () => resolve())
    child.kill(signal)
  })
}

/** What a command prints. Rejects when it fails or takes longer than `timeoutMs`. */
export function outputOf(core, command, { timeoutMs = 60_000, env } = {}) {
  return new Promise((resolve, reject) => {
    const child = startProcess(core, command, { stdio: ["ignore", "pipe", "pipe"], env })
    let output = ""
    let errors = ""
    const timer = setTimeout(() => child.kill("SIGKILL"), timeoutMs)
    child.stdout.on("data", (chunk) => {
      output += chunk
    })
    child.stderr.on("data", (chunk) => {
      errors += chunk
    })
    child.on("error", reject)
    child.on("close", (code) => {
      clearTimeout(timer)
      if (code === 0) resolve(output)
      else reject(new Error(`${command[0]} ended with ${code}: ${errors.slice(-2000)}`))
    })
  })
}

/**
 * The CPU time in µs that all threads of a process have used so far, user and system, to the nanosecond: the 10 ms steps of
 * `/proc/<pid>/stat` are too coarse for rounds of a second.
 */
export function cpuTimeUs(pid) {
  let total = 0
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    total += Number(readFileSync(`/proc/${pid}/task/${thread}/schedstat`, "utf8").split(" ", 1)[0])
  }
  return total / 1000
}

/** Waits until a process has worked off what a load left behind, so that it takes nothing from the next one. */
export async function untilIdle(pid) {
  const endMs = Date.now() + 10_000
  for (let last = cpuTimeUs(pid), calm = 0; calm < 3 && Date.now() < endMs; ) {
    await new Promise((resolve) => setTimeout(resolve, 60))
    const now = cpuTimeUs(pid)
    calm = now - last < 3_000 ? calm + 1 : 0
    last = now
  }
}

/** Throws unless the machine has what the suite needs. */
export function checkMachine({ needsWrk }) {
  if (!existsSync("/proc/self/schedstat")) throw new UsageError("The suite reads CPU times from /proc: it needs Linux.")
  if (!CAN_PIN) console.error("Two cores and taskset are missing: server and load share a core, and ratios are rough.")
  if (!needsWrk) return
  try {
    execFileSync("wrk", ["-v"], { stdio: "ignore" })
  } catch (error) {
    if (error.code !== "ENOENT") return
    throw new UsageError(
      "wrk, which makes the HTTP load, is not installed. On Debian and Ubuntu: apt-get install wrk\n" +
        "What needs no wrk: npm run bench -- stdio client startup memory fan-out bundle",
    )
  }
}
