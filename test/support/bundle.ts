/** A module of the tests as one file, for processes of their own, which read no TypeScript. */
import { mkdtemp, rm } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { build } from "esbuild"

/** A bundled module. */
export interface Bundled {
  readonly path: string
  remove(): Promise<void>
}

/** Bundles the module at `path` with everything that it imports, the package as it is built. */
export async function bundleModule(path: string): Promise<Bundled> {
  const folder = await mkdtemp(join(tmpdir(), "conduit-test-"))
  const outfile = join(folder, "main.mjs")
  await build({ entryPoints: [path], bundle: true, format: "esm", platform: "node", outfile, logLevel: "warning" })
  return { path: outfile, remove: () => rm(folder, { recursive: true }) }
}
