/**
 * The package as users get it: packed, installed in an empty folder, loaded by `import` and by `require`, type-checked by
 * both compilers, bundled for a browser.
 */
import { execFile, execFileSync } from "node:child_process"
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { join } from "node:path"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import { build } from "esbuild"
import { afterAll, beforeAll, describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const manifest: {
  name: string
  exports: Readonly<Record<string, unknown>>
  peerDependencies: Readonly<Record<string, string>>
  devDependencies: Readonly<Record<string, string>>
} = JSON.parse(readFileSync(join(root, "package.json"), "utf8"))
/** The package's code entries, as users name them. */
const entries = Object.keys(manifest.exports)
  .filter((subpath) => subpath !== "./package.json")
  .map((subpath) => manifest.name + subpath.slice(1))
/** The entries that run wherever there is `fetch`. */
const portable = ["conduit-mcp", "conduit-mcp/fetch", "conduit-mcp/client", "conduit-mcp/prometheus"].filter((entry) =>
  entries.includes(entry),
)
/** The entries that need what only some users have, and what each needs. */
const withPeers = new Map([["conduit-mcp/otel", "@opentelemetry/api"]])

const folder = mkdtempSync(join(tmpdir(), "conduit-package-"))
let packed: readonly string[] = []

function npm(...args: readonly string[]): string {
  return execFileSync("npm", [...args, "--no-audit", "--no-fund", "--prefer-offline"], {
    cwd: folder,
    encoding: "utf8",
  })
}

function run(...args: readonly string[]): Promise<{ stdout: string }> {
  return promisify(execFile)(process.execPath, args, { cwd: folder })
}

beforeAll(() => {
  const [tarball] = JSON.parse(npm("pack", root, "--json", "--ignore-scripts"))
  packed = tarball.files.map((file: { path: string }) => file.path)
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }')
  npm("install", tarball.filename)
}, 120_000)

afterAll(() => rmSync(folder, { recursive: true }))

describe("the tarball", () => {
  const missing = (paths: readonly string[]) => paths.filter((path) => !packed.includes(path))

  it("holds code, types and documents, and nothing of the workshop", () => {
    expect(missing(["LICENSE", "README.md", "CHANGELOG.md", "docs/errors.md", "package.json"])).toEqual([])
    expect(packed.filter((path) => !/^(dist|docs)\/|^[A-Z]+(\.md)?$|^package\.json$/.test(path))).toEqual([])
    expect(packed.filter((path) => path.startsWith("dist/") && !/\.(js|d\.ts)$/.test(path))).toEqual([])
  })

  it("holds nothing that an earlier build left behind", () => {
    const sources = packed.flatMap((path) => /^dist\/(.*)\.js$/.exec(path)?.[1] ?? [])
    expect(sources.filter((name) => !existsSync(join(root, "src", `${name}.ts`)))).toEqual([])
  })

  it("has the types of every module beside it", () => {
    const modules = packed.filter((path) => path.endsWith(".js"))
    expect(missing(modules.map((path) => path.replace(/\.js$/, ".d.ts")))).toEqual([])
  })
})

/** Whether an entry gives the same names, and any at all, by `import` and by `require`. */
async function expectSameNames(entry: string): Promise<void> {
  const write = `require("node:fs").writeFileSync(process.argv[1], JSON.stringify(Object.keys(loaded).sort()))`
  await run("--input-type=commonjs", "--eval", `import("${entry}").then((loaded) => { ${write} })`, "import.json")
  await run("--input-type=commonjs", "--eval", `const loaded = require("${entry}"); ${write}`, "require.json")
  const [imported, required] = ["import.json", "require.json"].map((file) => readFileSync(join(folder, file), "utf8"))
  expect(required).toBe(imported)
}

describe("installed in an empty folder", () => {
  it.each(entries.filter((entry) => !withPeers.has(entry)))(
    "%s gives the same names by import and by require",
    (entry) => expectSameNames(entry),
  )

  it.each([...withPeers])(
    "%s says that it needs %s, and gives the same names once that is there",
    async (entry, peer) => {
      await expect(run("--input-type=module", "--eval", `import "${entry}"`)).rejects.toThrow(
        `Cannot find package '${peer}'`,
      )
      expect(Object.keys(manifest.peerDependencies)).toContain(peer)
      npm("install", `${peer}@${manifest.devDependencies[peer]}`)
      await expectSameNames(entry)
    },
    120_000,
  )

  it.each([
    ["import", "--input-type=module", (entry: string) => `await import("${entry}")`],
    ["require", "--input-type=commonjs", (entry: string) => `require("${entry}")`],
  ])("answers a call when loaded by %s", async (_, type, load) => {
    const script = `
      const { createServer, tool } = ${load("conduit-mcp")}
      const { createFetchHandler } = ${load("conduit-mcp/fetch")}
      const hello = tool("hello", { description: "Says hello" }, () => "hello")
      const handle = createFetchHandler(createServer({ name: "packed", version: "1.0.0", tools: [hello] }))
      const meta = { protocolVersion: "2026-07-28", clientCapabilities: {} }
      const _meta = Object.fromEntries(Object.entries(meta).map(([key, value]) => ["io.modelcontextprotocol/" + key, value]))
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": "tools/call",
        "mcp-name": "hello",
      }
      const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "hello", arguments: {}, _meta } })
      handle(new Request("http://127.0.0.1/mcp", { method: "POST", headers, body }))
        .then((response) => response.text())
        .then((text) => console.log(text))
    `
    const { stdout } = await run(type, "--eval", script)
    expect(JSON.parse(stdout).result.content).toEqual([{ type: "text", text: "hello" }])
  })
})

describe("type-checked by a user", () => {
  const compilers = { "5.9.3": "typescript-5", "7.0.2": "typescript-7" }
  const resolutions = { nodenext: { module: "nodenext" }, bundler: { module: "esnext", moduleResolution: "bundler" } }
  const matrix = Object.entries(compilers).flatMap(([version, alias]) =>
    Object.entries(resolutions).map(([kind, options]) => [version, kind, alias, options] as const),
  )
  const strict = {
    target: "ES2022",
    strict: true,
    exactOptionalPropertyTypes: true,
    noUncheckedIndexedAccess: true,
    skipLibCheck: false,
    noEmit: true,
    types: [],
  }

  /** What a compiler says about `files`. */
  async function check(alias: string, options: object, files: readonly string[]): Promise<string> {
    const project = join(folder, "tsconfig.json")
    writeFileSync(project, JSON.stringify({ compilerOptions: { ...strict, ...options }, files }))
    const compiler = run(join(folder, "node_modules", alias, "bin", "tsc"), "--project", project)
    const { stdout } = await compiler.catch((error: { stdout: string }) => error)
    return stdout
  }

  /** Writes a module that names the types of every one of `names`. */
  function writeImports(file: string, names: readonly string[]): void {
    const lines = names.map((entry, index) => `export type * as e${index} from "${entry}"`)
    writeFileSync(join(folder, file), lines.join("\n"))
  }

  beforeAll(() => {
    const aliases = Object.entries(compilers).map(([version, alias]) => `${alias}@npm:typescript@${version}`)
    npm("install", ...aliases, "zod@4.6.7")
    cpSync(join(root, "test/package/consumer"), folder, { recursive: true })
    cpSync(join(folder, "server.ts"), join(folder, "server-commonjs.cts"))
    writeImports(
      "anywhere.ts",
      entries.filter((entry) => !entry.endsWith("/node")),
    )
    writeImports("on-node.ts", entries)
  }, 120_000)

  it.each(matrix)(
    "TypeScript %s, %s: no error without the types of Node",
    async (_, kind, alias, options) => {
      const commonjs = kind === "nodenext" ? ["server-commonjs.cts"] : []
      expect(await check(alias, options, ["server.ts", "anywhere.ts", ...commonjs])).toBe("")
    },
    120_000,
  )

  describe("who has the types of Node installed", () => {
    beforeAll(() => npm("install", "@types/node@20.19.25"), 120_000)

    it.each(matrix)(
      "TypeScript %s, %s: no error in what needs Node",
      async (_, _kind, alias, options) => {
        expect(await check(alias, options, ["listen.ts", "on-node.ts"])).toBe("")
      },
      120_000,
    )
  })
})

describe("bundled for a browser", () => {
  it.each(portable)("%s needs nothing of Node", async (entry) => {
    const { metafile } = await build({
      stdin: { contents: `export * from "${entry}"`, resolveDir: folder },
      bundle: true,
      format: "esm",
      platform: "browser",
      write: false,
      metafile: true,
      logLevel: "silent",
    })
    expect(Object.values(metafile.outputs).flatMap((output) => output.imports)).toEqual([])
  })
})
