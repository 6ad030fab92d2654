/** Links between pages lead somewhere. */
import { existsSync } from "node:fs"
import { posix } from "node:path"
import { describe, expect, it } from "vitest"
import { anchorsOf, linksOf, pages, root } from "./guides.js"

describe.each([...pages, "CONTRIBUTING.md", "CHANGELOG.md", "examples/README.md"])("%s", (page) => {
  it("links to what is there", () => {
    for (const link of linksOf(page)) {
      const [path = "", anchor] = link.split("#")
      const target = path === "" ? page : posix.join(posix.dirname(page), path)
      expect(existsSync(`${root}/${target}`), link).toBe(true)
      if (anchor !== undefined && target.endsWith(".md")) expect(anchorsOf(target), link).toContain(anchor)
    }
  })
})
