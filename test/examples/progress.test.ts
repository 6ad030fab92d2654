/** The story of long work: progress, log and cancellation. */
import { describe, expect, it, vi } from "vitest"
import { server, working } from "../../examples/progress/server.js"
import { eras, linked } from "../support/story.js"
import { modernMeta } from "../support/wire.js"

/** Asks for log messages from `level` on, in the way of each era. */
const wanting = (era: (typeof eras)[number], level: string) =>
  era === "modern" ? { "io.modelcontextprotocol/logLevel": level } : {}

describe.each(eras)("long work, in the %s era", (era) => {
  it("reports progress to a client that gave a token, and only to one that did", async () => {
    await linked(server, async (raw) => {
      const args = { name: "bake", arguments: { cake: "tart", steps: 2, stepMs: 0 } }
      await raw[era]("tools/call", args)
      expect(raw.received.filter(({ method }) => method === "notifications/progress")).toEqual([])
      const { result } = await raw[era]("tools/call", { ...args, _meta: { progressToken: "t" } })
      expect(result).toMatchObject({ content: [{ text: "The tart is ready." }] })
      expect(raw.received.filter(({ method }) => method === "notifications/progress")).toMatchObject([
        { params: { progressToken: "t", progress: 1, total: 2, message: "step 1" } },
        { params: { progressToken: "t", progress: 2, total: 2, message: "step 2" } },
      ])
    })
  })

  it("logs from the level on that the client asked for", async () => {
    await linked(server, async (raw) => {
      if (era === "legacy") await raw.legacy("logging/setLevel", { level: "info" })
      const args = { cake: "pie", steps: 2, stepMs: 0 }
      await raw[era]("tools/call", { name: "bake", arguments: args, _meta: wanting(era, "info") })
      expect(raw.received.filter(({ method }) => method === "notifications/message")).toMatchObject([
        { params: { level: "info", data: { message: "the oven is hot", cake: "pie" } } },
      ])
    })
  })

  it("stops when the client cancels, and answers nothing more", async () => {
    await linked(server, async (raw) => {
      await raw[era](era === "modern" ? "server/discover" : "ping")
      const args = { name: "bake", arguments: { cake: "stollen", stepMs: 60_000 } }
      const _meta = era === "modern" ? modernMeta : {}
      raw.send({ jsonrpc: "2.0", id: "c", method: "tools/call", params: { ...args, _meta } })
      await vi.waitFor(() => expect(working).toContain("stollen"))
      raw.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: "c", _meta } })
      await vi.waitFor(() => expect(working).not.toContain("stollen"))
      await raw[era](era === "modern" ? "server/discover" : "ping")
      expect(raw.received.filter(({ id }) => id === "c")).toEqual([])
    })
  })

  it("sends a lot, in order", async () => {
    await linked(server, async (raw) => {
      const _meta = wanting(era, "info")
      await raw[era]("tools/call", { name: "chatter", arguments: { lines: 250 }, _meta })
      const said = raw.received.filter(({ method }) => method === "notifications/message")
      expect(said.map(({ params }) => (params as { data: string }).data)).toEqual(
        Array.from({ length: 250 }, (_, index) => `line ${index + 1}`),
      )
    })
  })
})
