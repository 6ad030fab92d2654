/** Holds the folders under `src/` to the order of layers, and shows that the compiler refuses what breaks it. */
import { execFileSync } from "node:child_process"
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs"
import { tmpdir } from "node:os"
import { dirname, join, relative, resolve } from "node:path"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const src = join(root, "src")

/** Each layer's height: it imports only itself and what lies lower. */
const heights: Readonly<Record<string, number>> = {
  core: 0,
  store: 1,
  observe: 1,
  server: 2,
  client: 2,
  auth: 2,
  transport: 3,
  adapter: 4,
  engine: 4,
  llm: 4,
  testing: 4,
  entry: 5,
  cli: 6,
}
const layers = readdirSync(src)
const lower = (layer: string) => layers.filter((other) => (heights[other] ?? 0) < (heights[layer] ?? 0)).sort()

/** The source of a file without its comments. */
function codeOf(file: string): string {
  return readFileSync(file, "utf8").replaceAll(/\/\*[\s\S]*?\*\/|^\s*\/\/.*$/gm, "")
}

function filesOf(layer: string): readonly string[] {
  return readdirSync(join(src, layer), { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(".ts"))
    .map((file) => join(src, layer, file))
}

/** The layers that a layer's files import, itself left out. */
function importedBy(layer: string): readonly string[] {
  const imported = filesOf(layer).flatMap((file) =>
    [...codeOf(file).matchAll(/(?:from|import)\s*\(?\s*"(\.[^"]*)"/g)].map((match) => {
      const target = relative(src, resolve(dirname(file), match[1] ?? ""))
      return target.split(/[\\/]/, 1)[0] ?? ""
    }),
  )
  return [...new Set(imported)].filter((other) => other !== layer).sort()
}

/** Type-checks `files` as projects of their own with the repository's options; answers the compiler's errors. */
function compile(files: Readonly<Record<string, string>>): string {
  const folder = mkdtempSync(join(tmpdir(), "conduit-layers-"))
  try {
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(folder, path)), { recursive: true })
      writeFileSync(join(folder, path), text)
    }
    writeFileSync(join(folder, "tsconfig.base.json"), readFileSync(join(root, "tsconfig.base.json")))
    symlinkSync(join(root, "node_modules"), join(folder, "node_modules"))
    execFileSync("npx", ["--no-install", "tsc", "-b", "src/low"], { cwd: folder, encoding: "utf8" })
    return ""
  } catch (error) {
    return error instanceof Error && "stdout" in error ? String(error.stdout) : String(error)
  } finally {
    rmSync(folder, { recursive: true })
  }
}

describe("every layer", () => {
  it("has a height", () => {
    expect(layers.filter((layer) => heights[layer] === undefined)).toEqual([])
  })

  it.each(layers)("%s imports only lower layers", (layer) => {
    expect(lower(layer)).toEqual(expect.arrayContaining([...importedBy(layer)]))
  })

  it.each(layers)("%s is compiled with references to lower layers only", (layer) => {
    const { include, references } = JSON.parse(readFileSync(join(src, layer, "tsconfig.json"), "utf8"))
    expect(include).toEqual(["**/*.ts"])
    const named = references.map((one: { path: string }) => one.path.replace("../", ""))
    expect(lower(layer)).toEqual(expect.arrayContaining(named))
  })
})

describe("core", () => {
  it("reads no clock and draws nothing at random", () => {
    for (const file of filesOf("core")) expect(codeOf(file), file).not.toMatch(/\bDate\b(?!\.parse\()|\bMath\.random\b/)
  })

  it("is compiled without the types of any platform", () => {
    const { compilerOptions } = JSON.parse(readFileSync(join(src, "core", "tsconfig.json"), "utf8"))
    expect(compilerOptions).toMatchObject({ lib: ["ES2023"], types: [] })
  })
})

describe("the compiler", () => {
  const project = (references: readonly string[]) =>
    JSON.stringify({
      extends: "../../tsconfig.base.json",
      compilerOptions: { rootDir: "..", outDir: "../../dist" },
      include: ["**/*.ts"],
      references: references.map((path) => ({ path })),
    })
  const high = { "src/high/tsconfig.json": project(["../low"]), "src/high/a.ts": "export const a = 1\n" }

  it("refuses an import from a higher layer, of a type too", () => {
    const low = { "src/low/tsconfig.json": project([]), "src/low/b.ts": 'export type { a } from "../high/a.js"\n' }
    expect(compile({ ...high, ...low })).toContain("TS6307")
  })

  it("has no platform where core is", () => {
    const names = ["fetch", "setTimeout", "console", "process", "Buffer", "performance", "crypto"]
    const text = names.map((name) => `export const ${name}Here: unknown = ${name}\n`).join("")
    const errors = compile({ "src/low/tsconfig.json": project([]), "src/low/b.ts": text })
    for (const name of names) expect(errors).toContain(`Cannot find name '${name}'`)
  })
})
