/** Holds `docs/errors.md` to the closed list of reasons. */
import { readFileSync } from "node:fs"
import { describe, expect, it } from "vitest"
import { reasons } from "../../src/core/error/reason.js"

const page = readFileSync(new URL("../../docs/errors.md", import.meta.url), "utf8")

/** The headings of the page: each kind with the reasons under it, in order. */
function documented(): readonly (readonly [kind: string, reasons: readonly string[]])[] {
  return page
    .split(/^## /m)
    .slice(1)
    .map((section) => [
      section.split("\n", 1)[0] ?? "",
      [...section.matchAll(/^### (\S+)$/gm)].map((match) => match[1] ?? ""),
    ])
}

describe("docs/errors.md", () => {
  it("has one section for each reason, under its kind and in the order of the code", () => {
    expect(documented()).toEqual(Object.entries(reasons))
  })

  it("says something about each reason", () => {
    for (const section of page.split(/^##+ /m).slice(1)) {
      const [heading, ...text] = section.trim().split("\n")
      expect(text.join("").length, heading).toBeGreaterThan(20)
    }
  })
})
