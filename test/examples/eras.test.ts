/** The story of eras: each client is served in the revision that it speaks. */
import { describe, expect, it } from "vitest"
import { server } from "../../examples/eras/server.js"
import { linked } from "../support/story.js"

describe("one definition", () => {
  it.each([
    ["modern", "2026-07-28", true],
    ["legacy", "2025-11-25", true],
    ["legacy", "2025-06-18", false],
  ] as const)("is served in the %s era's revision %s, with icons: %s", async (era, revision, hasIcons) => {
    await linked(server, async (raw) => {
      const call = (method: string, params = {}) =>
        era === "modern" ? raw.modern(method, params) : raw.legacy(method, params, revision)
      const { result } = await call("tools/call", { name: "introduce" })
      const structuredContent = { era, revision, client: "test", canBeAsked: false }
      expect(result).toMatchObject({ structuredContent })
      const listed = await call("tools/list")
      expect(JSON.stringify(listed).includes("icons")).toBe(hasIcons)
    })
  })

  it("is served in both eras at once on one pipe", async () => {
    await linked(server, async (raw) => {
      const [modern, legacy] = await Promise.all([raw.modern("tools/list"), raw.legacy("tools/list")])
      expect(modern["result"]).toMatchObject({ resultType: "complete", tools: [{ name: "introduce" }, {}] })
      expect(legacy["result"]).not.toHaveProperty("resultType")
      expect(legacy["result"]).toMatchObject({ tools: [{ name: "introduce" }, {}] })
    })
  })
})
