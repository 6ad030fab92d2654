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

/** What CommonJS in a bundle of ES modules needs to load modules of Node. */
const js = 'import { createRequire as toRequire } from "node:module"; const require = toRequire(import.meta.url)'

/** Bundles the module at `path` with everything that it imports, the package as it is built. */
export async function bundleModule(path: string): Promise<Bundled> {
  const folder = await mkdtemp(join(tmpdir(), "conduit-test-"))
  const outfile = join(folder, "main.mjs")
  const options = { bundle: true, format: "esm", platform: "node", banner: { js }, logLevel: "warning" } as const
  await build({ ...options, entryPoints: [path], outfile })
  return { path: outfile, remove: () => rm(folder, { recursive: true }) }
}
