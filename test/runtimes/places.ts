/** The runtimes that are not Node, and how each of them serves a module. */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { mkdtemp, rm, writeFile } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { createInterface } from "node:readline"
import { build } from "esbuild"
import { programIn } from "./install.js"

/** A runtime: where its program is, and what it takes to serve. */
export interface Runtime {
  readonly name: string
  /** The npm scope of the program's package, and its path in there. */
  readonly program: readonly [scope: string, path: string]
  /** The module that serves `handler` on a free port, which it prints. */
  readonly entry: string
  /** Further files beside `main.js`, by name. */
  readonly files?: Readonly<Record<string, string>>
  /** How the program is called in the folder of `main.js`. */
  readonly args: readonly string[]
  /**
   * Whether a handler is always told that a connection closed before anything was answered. Deno tells of some, and workerd of
   * none before it writes.
   */
  readonly tellsClosing: boolean
  /** Whether one process serves every request, so that it can hold sessions. */
  readonly holdsSessions: boolean
}

/** A server that runs. */
export interface Place {
  readonly port: number
  close(): Promise<void>
}

// The binding has the name of the member that a framework would pass a body in.
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

/** The runtimes, by what the guide calls them. */
export const runtimes = {
  Bun: {
    name: "Bun",
    program: ["@oven", "bin/bun"],
    entry: `console.log(Bun.serve({ hostname: "127.0.0.1", port: 0, fetch: handler }).port)`,
    args: ["main.js"],
    tellsClosing: true,
    holdsSessions: true,
  },
  Deno: {
    name: "Deno",
    program: ["@deno", "deno"],
    entry: `Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: ({ port }) => console.log(port) }, handler)`,
    args: ["run", "--no-prompt", "--allow-net=127.0.0.1", "main.js"],
    tellsClosing: false,
    holdsSessions: true,
  },
  Workers: {
    name: "Workers (workerd)",
    program: ["@cloudflare", "bin/workerd"],
    entry: "export default { fetch: handler }",
    files: { "config.capnp": CONFIG },
    args: ["serve", "config.capnp", "--control-fd=1"],
    tellsClosing: false,
    holdsSessions: false,
  },
} as const satisfies Readonly<Record<string, Runtime>>

/** Serves a module, whose imports are bundled, in a runtime. It prints its port, or serves on the one that is given. */
export async function start(runtime: Runtime, module: string, port?: number): Promise<Place> {
  const folder = await mkdtemp(join(tmpdir(), "conduit-runtime-"))
  await build({
    stdin: { contents: module, resolveDir: import.meta.dirname },
    bundle: true,
    format: "esm",
    platform: "neutral",
    mainFields: ["module", "main"],
    outfile: join(folder, "main.js"),
    logLevel: "warning",
  })
  for (const [name, text] of Object.entries(runtime.files ?? {})) await writeFile(join(folder, name), text)
  const place = await run(programIn(...runtime.program), runtime.args, folder, port)
  return {
    port: place.port,
    close: async () => {
      await place.close()
      await rm(folder, { recursive: true })
    },
  }
}

/** Runs a program that serves until it is closed. */
export async function run(program: string, args: readonly string[], cwd: string, port?: number): Promise<Place> {
  const env = { ...process.env, DENO_DIR: join(cwd, "deno"), DENO_NO_UPDATE_CHECK: "1", DO_NOT_TRACK: "1" }
  const child = spawn(program, args, { cwd, env, stdio: ["ignore", "pipe", "pipe"] })
  let complaint = ""
  child.stderr.on("data", (chunk) => {
    complaint += String(chunk)
  })
  const exited = once(child, "exit")
  const close = async (): Promise<void> => {
    child.kill("SIGKILL")
    await exited
  }
  if (port !== undefined) return { port, close }
  const [line] = await Promise.race([once(createInterface(child.stdout), "line"), exited])
  const printed = /^(?:\{.*"port":)?(\d+)/.exec(String(line))?.[1]
  if (child.exitCode !== null || printed === undefined) throw new Error(`${program} does not serve: ${complaint}`)
  return { port: Number(printed), close }
}
