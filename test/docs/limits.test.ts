/** The guide to serving names every limit, and nothing that is none. */
import { expect, it } from "vitest"
import { DEFAULT_LIMITS } from "../../src/core/limits.js"
import { read } from "./guides.js"

it("docs/serving.md has a row for every limit", () => {
  const [, section = ""] = read("docs/serving.md").split("\n## Limits\n")
  const [table = ""] = section.split("\n## ")
  const named = [...table.matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`(\w+)`/g)].map(([, name = ""]) => name),
  )
  expect(named.sort()).toEqual(Object.keys(DEFAULT_LIMITS).sort())
})
