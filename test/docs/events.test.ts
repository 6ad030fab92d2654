/** The guide to watching names every event and every metric, and nothing that is none. */
import { serverEvents } from "conduit-mcp"
import { clientEvents } from "conduit-mcp/client"
import { prometheus } from "conduit-mcp/prometheus"
import { expect, it } from "vitest"
import { read } from "./guides.js"

/** What stands in code in the first column of a table under a heading. */
function firstColumn(heading: string): readonly string[] {
  const [, section = ""] = read("docs/observability.md").split(`\n## ${heading}\n`)
  const [table = ""] = section.split("\n## ")
  return [...table.matchAll(/^\| (`[^|]+) \|/gm)].flatMap(([, cell = ""]) =>
    [...cell.matchAll(/`([\w.]+)`/g)].map(([, name = ""]) => name),
  )
}

it.each([
  ["server", serverEvents],
  ["client", clientEvents],
])("docs/observability.md has every event of a %s", (side, events) => {
  expect([...firstColumn(`Events of a ${side}`)].sort()).toEqual([...events].sort())
})

it("docs/observability.md has every metric", () => {
  const named = [
    ...prometheus({ prefix: "" })
      .text()
      .matchAll(/^# TYPE (\w+) /gm),
  ].map(([, name = ""]) => name)
  expect([...firstColumn("Prometheus")].sort()).toEqual(named.sort())
})
