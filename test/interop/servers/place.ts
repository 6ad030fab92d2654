/** Where servers that are not ours are: installed once, started as processes of their own, over HTTP or on pipes. */
import { execFile, fork } from "node:child_process"
import { copyFile, readFile } from "node:fs/promises"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { StdioCommand } from "conduit-mcp/client"

/** What a server is started with, and on which path it serves HTTP; none is for pipes. */
export interface Place {
  /** The script, from the folder of the peers. */
  readonly script: string
  readonly args: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  readonly path: string | undefined
}

const pathOf = (name: string): string => fileURLToPath(new URL(`./peers/${name}`, import.meta.url))

/** The folder of the peers, which has a lockfile of its own. */
const folder = fileURLToPath(new URL("./peers", import.meta.url))
const lockfile = pathOf("package-lock.json")
const installed = pathOf("node_modules/.installed-lock.json")

/**
 * Installs the peers as their lockfile has them, when that was not done before. None of their scripts is run, and that one of them
 * names a newer Node is ignored: what it is for is not used here.
 */
export async function installPeers(): Promise<void> {
  const [wanted, there] = await Promise.all([readFile(lockfile, "utf8"), readFile(installed, "utf8").catch(() => "")])
  if (wanted === there) return
  const options = ["--prefer-offline", "--ignore-scripts", "--engine-strict=false", "--no-audit", "--no-fund"]
  await promisify(execFile)("npm", ["ci", "--prefix", folder, ...options], { cwd: folder })
  await copyFile(lockfile, installed)
}

/** The command of a server on pipes. */
export function commandOf({ script, args, env = {} }: Place): StdioCommand {
  return { command: process.execPath, args: [pathOf(script), ...args], env, stderr: "collect" }
}

/** A server over HTTP, running. */
export interface Running {
  readonly url: string
  stop(): Promise<void>
}

/** Starts a server over HTTP on a free port of the loopback. */
export async function startHttp({ script, args, env = {}, path = "/mcp" }: Place): Promise<Running> {
  const child = fork(pathOf(script), args, {
    execArgv: ["--import", pathOf("listening.js")],
    env: { ...process.env, ...env },
    stdio: ["ignore", "ignore", "pipe", "ipc"],
  })
  let stderr = ""
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    stderr += text
  })
  const ended = new Promise<void>((resolve) => child.once("close", () => resolve()))
  const port = await new Promise<number>((resolve, reject) => {
    child.once("message", (message) => resolve((message as { port: number }).port))
    void ended.then(() => reject(new Error(`${script} ended before it listened: ${stderr}`)))
  })
  return {
    url: `http://127.0.0.1:${port}${path}`,
    async stop() {
      child.kill()
      await ended
    },
  }
}
