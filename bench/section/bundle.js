// Sizes: the bundle of a small server, stdio server and client (esbuild, minified, for Node), and what npm installs for them.
// `--only=bundle` leaves out the installations, which need the registry.
import { lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { gzipSync } from "node:zlib"
import { build } from "esbuild"
import { versionOf } from "../adapters.js"
import { outputOf, ROOT } from "../load/machine.js"
import { formatTable } from "../report/table.js"

/** Weighs everything of these adapters. */
export async function run(adapters, { only = "" }, log) {
  const bundles = []
  for (const file of readdirSync(join(ROOT, "bundle")).sort()) {
    const [adapter, kind] = file.split(".")
    if (!adapters.some(({ id }) => id === adapter)) continue
    try {
      bundles.push({ adapter, kind, ...(await weighBundle(join(ROOT, "bundle", file))) })
    } catch (error) {
      const [reason] = error.message.split("\n", 1)
      log(`${file} does not build: ${reason}`)
      bundles.push({ adapter, kind, error: reason })
    }
  }
  const weighed = bundles.filter(({ error }) => error === undefined)
  const bundleRows = weighed.map((row) => [row.adapter, row.kind, row.kb, row.gzipKb, toParts(row.partsKb)])
  log(formatTable(["adapter", "kind", "minified KB", "gzip KB", "largest parts (KB)"], bundleRows))
  if (only === "bundle") return { bundles }
  const installs = []
  for (const { id, meta } of adapters) {
    const lists = [meta.packages, meta.clientPackages]
    for (const [index, packages] of lists.entries()) {
      if (packages === undefined) continue
      installs.push({ adapter: id, kind: ["server", "client"][index], ...(await weighInstall(packages)) })
    }
  }
  const installRows = installs.map((row) => [row.adapter, row.kind, row.packages, row.mb, row.files])
  log(`\n${formatTable(["adapter", "kind", "packages", "MB", "files"], installRows)}`)
  return { bundles, installs }
}

async function weighBundle(entry) {
  const { outputFiles, metafile } = await build({
    entryPoints: [entry],
    bundle: true,
    minify: true,
    platform: "node",
    format: "esm",
    target: "node20",
    write: false,
    metafile: true,
    logLevel: "silent",
    banner: { js: "import{createRequire as __cr}from'node:module';const require=__cr(import.meta.url);" },
  })
  const [{ contents }] = outputFiles
  const [{ inputs }] = Object.values(metafile.outputs)
  const partsKb = {}
  for (const [file, { bytesInOutput }] of Object.entries(inputs)) {
    const part = packageOf(file)
    partsKb[part] = (partsKb[part] ?? 0) + bytesInOutput / 1024
  }
  return { kb: contents.length / 1024, gzipKb: gzipSync(contents).length / 1024, partsKb }
}

/** The package that a bundled file belongs to. */
function packageOf(file) {
  const inModules = [...file.matchAll(/node_modules\/((?:@[^/]+\/)?[^/]+)/g)].at(-1)
  if (inModules !== undefined) return inModules[1]
  return file.includes("dist/") ? "conduit-mcp" : "own"
}

function toParts(partsKb) {
  const largest = Object.entries(partsKb).sort(([, a], [, b]) => b - a)
  return largest
    .slice(0, 4)
    .map(([name, kb]) => `${name} ${Math.round(kb)}`)
    .join(", ")
}

/** Installs packages into an empty folder and weighs what came. */
async function weighInstall(packages) {
  const folder = mkdtempSync(join(tmpdir(), "conduit-bench-"))
  try {
    writeFileSync(join(folder, "package.json"), '{"name":"empty","private":true,"version":"0.0.0"}')
    const specs = []
    for (const name of packages) specs.push(await specOf(name, folder))
    const flags = ["--no-audit", "--no-fund", "--ignore-scripts", "--omit=dev", "--loglevel=error"]
    await outputOf(undefined, ["npm", "install", "--prefix", folder, ...flags, ...specs], { timeoutMs: 180_000 })
    const lock = JSON.parse(readFileSync(join(folder, "package-lock.json"), "utf8"))
    const { bytes, files } = weighFolder(join(folder, "node_modules"))
    return { packages: Object.keys(lock.packages).filter((path) => path !== "").length, mb: bytes / 1e6, files }
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}

/** What npm is told to install: the version that is measured, or the packed tarball of what is linked. */
async function specOf(name, folder) {
  const path = join(ROOT, "node_modules", name)
  if (!lstatSync(path).isSymbolicLink()) return `${name}@${versionOf(name)}`
  const pack = ["npm", "pack", "--ignore-scripts", "--loglevel=error", "--pack-destination", folder, join(ROOT, "..")]
  return join(folder, (await outputOf(undefined, pack)).trim())
}

function weighFolder(folder) {
  let bytes = 0
  let files = 0
  for (const entry of readdirSync(folder, { withFileTypes: true, recursive: true })) {
    if (entry.isDirectory()) continue
    bytes += lstatSync(join(entry.parentPath ?? entry.path, entry.name)).size
    files++
  }
  return { bytes, files }
}
