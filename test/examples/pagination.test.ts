/** The story of long lists: pages in a stable order, and how long an answer may be kept. */
import { describe, expect, it } from "vitest"
import { server } from "../../examples/pagination/server.js"
import { ask, eras } from "../support/story.js"

interface Page {
  readonly tools: readonly { readonly name: string }[]
  readonly nextCursor?: string
}

describe.each(eras)("pages, in the %s era", (era) => {
  it("come in order until there is no cursor", async () => {
    const pages: string[][] = []
    let cursor: string | undefined
    do {
      const { result } = await ask(server, era, "tools/list", cursor === undefined ? {} : { cursor })
      const page = result as Page
      pages.push(page.tools.map(({ name }) => name))
      cursor = page.nextCursor
    } while (cursor !== undefined)
    expect(pages).toEqual([["say_a", "say_b", "say_c"], ["say_d", "say_e", "say_f"], ["say_g"]])
  })

  it("refuse a cursor of another list", async () => {
    const { result } = await ask(server, era, "tools/list")
    const { nextCursor } = result as Page
    const { error } = await ask(server, era, "resources/list", { cursor: nextCursor })
    expect(error).toMatchObject({ code: -32602, data: { reason: "invalid_cursor" } })
  })
})

describe("freshness", () => {
  it("is said of lists, of discovery and of what is read in the modern era", async () => {
    const hints = async (method: string, params = {}) => (await ask(server, "modern", method, params))["result"]
    expect(await hints("tools/list")).toMatchObject({ ttlMs: 5_000, cacheScope: "private" })
    expect(await hints("server/discover")).toMatchObject({ ttlMs: 5_000, cacheScope: "private" })
    const all = await hints("resources/read", { uri: "letters:///all" })
    expect(all).toMatchObject({ ttlMs: 60_000, cacheScope: "public" })
    const latest = await hints("resources/read", { uri: "letters:///latest" })
    expect(latest).toMatchObject({ ttlMs: 0, cacheScope: "private" })
  })

  it("is unknown to the legacy era", async () => {
    const { result } = await ask(server, "legacy", "resources/read", { uri: "letters:///all" })
    expect(result).not.toHaveProperty("ttlMs")
  })
})
