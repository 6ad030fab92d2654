/** Rules about the repository itself: what the lockfile and the tracked files must not hold, and what is released. */
import { execFileSync } from "node:child_process"
import { readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"

const root = fileURLToPath(new URL("../..", import.meta.url))
const read = (path: string) => readFileSync(`${root}/${path}`, "utf8")

describe("the repository", () => {
  it("names no download address in the lockfiles", () => {
    for (const path of ["package-lock.json", "test/interop/servers/peers/package-lock.json"])
      expect(read(path), path).not.toMatch(/"resolved": "(https?|git)/)
  })

  it("pins every dependency exactly", () => {
    const folders = ["", "examples/", "conformance/", "bench/", "test/interop/servers/peers/"]
    for (const path of folders.map((folder) => `${folder}package.json`)) {
      const { dependencies = {}, devDependencies = {} } = JSON.parse(read(path))
      for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies }))
        expect(version, `${path}: ${name}`).toMatch(/^(\d+\.\d+\.\d+(-[\w.]+)?|file:\.\.)$/)
    }
  })

  it("holds no path of a developer's machine in a tracked file", () => {
    const files = execFileSync("git", ["ls-files", "-z"], { cwd: root, encoding: "utf8" }).split("\0")
    const machinePath = /(?<![\w.-])\/(?:h[o]me|U[s]ers|r[o]ot|w[o]rk|f[a]rm)\/[\w.-]+/
    const guilty = files.filter(
      (file) => /\.(ts|mjs|js|json|md|ya?ml)$|run$/.test(file) && machinePath.test(read(file)),
    )
    expect(guilty).toEqual([])
  })
})
