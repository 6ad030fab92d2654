/** Packages that only these tests need: runtimes and frameworks, installed on first use in a folder of their own. */
import { execFile } from "node:child_process"
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"

/** Where they are, from which modules resolve them. */
export const cache = fileURLToPath(new URL("../../node_modules/.cache/conduit-runtimes", import.meta.url))

const dependencies = {
  bun: "1.4.5",
  deno: "2.9.6",
  workerd: "1.20261117.1",
  express: "5.3.0",
  fastify: "5.12.8",
  hono: "4.13.19",
  "@hono/node-server": "2.1.9",
}

/**
 * Installs what is missing. No script of a package is run: the runtimes bring their programs in packages of their own for each
 * platform.
 */
export async function install(): Promise<void> {
  mkdirSync(cache, { recursive: true })
  writeFileSync(join(cache, "package.json"), JSON.stringify({ private: true, type: "module", dependencies }))
  if (Object.entries(dependencies).every(([name, version]) => installedVersion(name) === version)) return
  const options = ["--ignore-scripts", "--no-audit", "--no-fund", "--no-package-lock", "--no-engine-strict"]
  await promisify(execFile)("npm", ["install", "--prefix", cache, ...options], { cwd: cache })
}

function installedVersion(name: string): string | undefined {
  try {
    return JSON.parse(readFileSync(join(cache, "node_modules", name, "package.json"), "utf8")).version
  } catch {
    return undefined
  }
}

/** The program in the one installed package of a scope, such as `bin/bun` in `@oven`. */
export function programIn(scope: string, program: string): string {
  const folder = join(cache, "node_modules", scope)
  for (const name of readdirSync(folder)) {
    for (const path of [join(folder, name, program), join(folder, name, `${program}.exe`)]) {
      if (existsSync(path)) return path
    }
  }
  throw new Error(`${scope} has no program for this platform`)
}
