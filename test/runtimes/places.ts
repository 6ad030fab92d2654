/** The runtimes that are not Node: where their programs come from, and how each of them serves the bundled server. */
import { execFile, spawn } from "node:child_process"
import { once } from "node:events"
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { build } from "esbuild"

/** A runtime: the package that brings it, and what it takes to serve. */
export interface Runtime {
  readonly name: string
  readonly dependency: string
  readonly version: string
  /** Where the platform's package has the program; `*` is one folder. */
  readonly program: string
  /** The module that serves `handler`. */
  readonly entry: string
  /** Further files beside `main.js`, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** How the program is called, in the folder of `main.js`. It prints a line with the port. */
  readonly args: readonly string[]
  /**
   * Whether a handler is always told that a connection closed before anything was answered. Deno tells of some, and workerd of
   * none before it writes.
   */
  readonly tellsClosing: boolean
  /** Whether one process serves every request, so that it can hold sessions. */
  readonly holdsSessions: boolean
}

/** A server that runs in a runtime. */
export interface Place {
  readonly port: number
  close(): Promise<void>
}

const CONFIG = `
using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [(name = "main", worker = .worker)],
  sockets = [(name = "http", address = "127.0.0.1:0", http = (), service = "main")],
);
const worker :Workerd.Worker = (
  modules = [(name = "main.js", esModule = embed "main.js")],
  bindings = [(name = "body", text = "not a message")],
  compatibilityDate = "2026-07-01",
);
`

/** The runtimes. */
export const runtimes: readonly Runtime[] = [
  {
    name: "Bun",
    dependency: "bun",
    version: "1.4.5",
    program: "@oven/*/bin/bun",
    entry: `console.log(Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: handler }).port)`,
    args: ["main.js"],
    tellsClosing: true,
    holdsSessions: true,
  },
  {
    name: "Deno",
    dependency: "deno",
    version: "2.9.6",
    program: "@deno/*/deno",
    entry: `Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(port) }, handler)`,
    args: ["run", "--no-prompt", "--allow-net=127.0.0.1", "main.js"],
    tellsClosing: false,
    holdsSessions: true,
  },
  {
    name: "Workers (workerd)",
    dependency: "workerd",
    version: "1.20261117.1",
    program: "@cloudflare/*/bin/workerd",
    entry: "export default { fetch: handler }",
    files: { "config.capnp": CONFIG },
    args: ["serve", "config.capnp", "--control-fd=1"],
    tellsClosing: false,
    holdsSessions: false,
  },
]

const cache = fileURLToPath(new URL("../../node_modules/.cache/conduit-runtimes", import.meta.url))

/** Installs the runtimes beside the repository's own packages, unless they are there. Their install scripts are not run. */
export async function installRuntimes(): Promise<void> {
  const dependencies = Object.fromEntries(runtimes.map(({ dependency, version }) => [dependency, version]))
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, dependencies }))
  if (runtimes.every(isInstalled)) return
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--prefer-offline"]
  await promisify(execFile)("npm", ["install", "--prefix", cache, ...options], { cwd: cache })
}

function isInstalled({ dependency, version, program }: Runtime): boolean {
  try {
    const manifest = readFileSync(join(cache, "node_modules", dependency, "package.json"), "utf8")
    return JSON.parse(manifest).version === version && programOf(program) !== undefined
  } catch {
    return false
  }
}

function programOf(pattern: string): string | undefined {
  const [scope = "", rest = ""] = pattern.split("/*/")
  const folder = join(cache, "node_modules", scope)
  const name = rest.split("/").at(-1) ?? ""
  for (const candidate of readdirSync(folder)) {
    const path = join(folder, candidate, rest)
    const files = readdirSync(join(path, ".."))
    if (files.includes(name)) return path
    if (files.includes(`${name}.exe`)) return `${path}.exe`
  }
  return undefined
}

/** Bundles the server of `module`, which exports `handler`, and serves it in a runtime. */
export async function start(runtime: Runtime, module: string): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "conduit-runtime-"))
  await build({
    stdin: { contents: `import { handler } from "${module}"\n${runtime.entry}`, resolveDir: import.meta.dirname },
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    outfile: join(folder, "main.js"),
    logLevel: "warning",
  })
  for (const [name, text] of Object.entries(runtime.files ?? {})) await writeFile(join(folder, name), text)
  const program = programOf(runtime.program)
  if (program === undefined) throw new Error(`${runtime.dependency} has no program for this platform`)
  const child = spawn(program, runtime.args, {
    cwd: folder,
    env: { ...process.env, DENO_DIR: folder, DENO_NO_UPDATE_CHECK: "1", DO_NOT_TRACK: "1" },
    stdio: ["ignore", "pipe", "pipe"],
  })
  let complaint = ""
  child.stderr.on("data", (chunk) => {
    complaint += String(chunk)
  })
  const exited = once(child, "exit")
  const line = await Promise.race([once(createInterface(child.stdout), "line"), exited])
  const port = /\d+/.exec(String(line[0]).replace(/\{.*"port":/, ""))?.[0]
  if (child.exitCode !== null || port === undefined) throw new Error(`${runtime.name} does not serve: ${complaint}`)
  return {
    port: Number(port),
    close: async () => {
      child.kill("SIGKILL")
      await exited
      await rm(folder, { recursive: true })
    },
  }
}
