/**
 * The validator is loaded by one subpath only: a server with schemas of a library carries none of it, and a client loads it when it
 * first has a result to check.
 */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"

const entries = new Map<string, string>(
  Object.entries<string | { default: string }>(
    JSON.parse(readFileSync(new URL("../../package.json", import.meta.url), "utf8")).exports,
  ).flatMap(([name, target]) => (typeof target === "string" ? [] : [[name, target.default]])),
)

/** Every package that a built file loads with itself, directly or through others: not what it imports later, by `import()`. */
function packagesOf(file: URL, seen = new Set<string>()): Set<string> {
  const packages = new Set<string>()
  if (seen.has(file.href)) return packages
  seen.add(file.href)
  for (const [, specifier = ""] of readFileSync(file, "utf8").matchAll(/(?:from|import)\s*"([^"]+)"/g)) {
    if (!specifier.startsWith(".")) packages.add(specifier)
    else for (const name of packagesOf(new URL(specifier, file), seen)) packages.add(name)
  }
  return packages
}

describe("The validator", () => {
  it.each([...entries])("is loaded by %s only if that is ./schema", (name, file) => {
    const packages = packagesOf(new URL(`../../${file}`, import.meta.url))
    expect(packages.has("@cfworker/json-schema")).toBe(name === "./schema")
  })
})
