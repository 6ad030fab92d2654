import { createServer, type Server, tool } from "conduit-mcp"
import { serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { createCompletions } from "../../../src/server/input/url.js"
import { createManualClock } from "../../support/clock.js"
import { post } from "../../support/http.js"
import { link } from "../../support/link.js"
import { openStream } from "../../support/stream.js"
import { initializeRequest, type Json, legacyRequest } from "../../support/wire.js"

const open: (() => unknown)[] = []

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close()
})

/** A server whose tool sends the user to a page and does not wait. */
function createSender(): { readonly server: Server; readonly ids: string[] } {
  const ids: string[] = []
  const send = tool("send", {}, async (_, ctx) => {
    const toUrl = (id: string): string => {
      ids.push(id)
      return `https://example.com/${id}`
    }
    return (await ctx.elicitUrl("Please sign", toUrl)).action
  })
  return { server: createServer({ name: "s", version: "1", tools: [send] }), ids }
}

const declared = { elicitation: { url: {} } }
const complete = (elicitationId: string | undefined): Json => ({
  jsonrpc: "2.0",
  method: "notifications/elicitation/complete",
  params: { elicitationId },
})

describe("a page that is finished after its call ended", () => {
  it("is told on the standby stream of the session that asked, once, and in no other", async () => {
    const { server, ids } = createSender()
    const { url, close } = await serve(server, { port: 0 })
    open.push(close)
    const sessions = await Promise.all(
      [1, 2].map(async () => {
        const { headers } = await post(url, initializeRequest(0, "2025-11-25", declared))
        const session = { "mcp-session-id": String(headers["mcp-session-id"]) }
        const standby = await openStream(url, { headers: session })
        open.push(() => standby.close())
        return { session, standby }
      }),
    )
    const [asked, other] = sessions
    const call = await openStream(url, {
      message: legacyRequest(1, "tools/call", { name: "send" }),
      headers: asked?.session ?? {},
    })
    const [question] = await call.received(1)
    await post(url, { jsonrpc: "2.0", id: question?.["id"], result: { action: "accept" } }, asked?.session)
    await call.ended
    for (const id of [ids[0] ?? "", "unknown", ids[0] ?? ""]) server.elicitationComplete(id)
    server.changed("tools")
    expect((await asked?.standby.received(2))?.slice(0, 1)).toEqual([complete(ids[0])])
    await other?.standby.received(1)
    expect([asked?.standby.messages.length, other?.standby.messages.length]).toEqual([2, 1])
    expect(call.messages).toHaveLength(2)
  })

  it("is told on the pipe", async () => {
    const { server, ids } = createSender()
    const raw = link(server)
    await raw.request(initializeRequest(0, "2025-11-25", declared))
    raw.send(legacyRequest(1, "tools/call", { name: "send" }))
    const { id } = await raw.next(({ method }) => method === "elicitation/create")
    raw.send({ jsonrpc: "2.0", id, result: { action: "accept" } })
    await raw.next((message) => message["id"] === 1 && "result" in message)
    server.elicitationComplete(ids[0] ?? "")
    expect(await raw.next(({ method }) => method === complete("")["method"])).toEqual(complete(ids[0]))
  })
})

describe("what is remembered of pages", () => {
  it("is told while the call runs as often as it is finished, and afterwards once", () => {
    const completions = createCompletions(createManualClock(), 60_000)
    const told: string[] = []
    const callOver = completions.track(
      "a",
      () => told.push("now"),
      () => told.push("later"),
    )
    completions.complete("a")
    completions.complete("a")
    callOver()
    completions.complete("a")
    completions.complete("a")
    expect(told).toEqual(["now", "now", "later"])
  })

  it("is forgotten after a while, and leaves no timer", () => {
    const clock = createManualClock()
    const completions = createCompletions(clock, 60_000)
    const told: string[] = []
    completions.track(
      "a",
      () => {},
      () => told.push("later"),
    )()
    clock.advance(60_000)
    completions.complete("a")
    clock.advance(60_000)
    expect([told, clock.waiting]).toEqual([[], 0])
  })

  it("is bounded: the oldest is forgotten first", () => {
    const completions = createCompletions(createManualClock(), 60_000)
    let told = 0
    for (let count = 0; count < 10_001; count++) {
      completions.track(
        `id ${count}`,
        () => {},
        () => told++,
      )()
    }
    completions.complete("id 0")
    expect(told).toBe(0)
    completions.complete("id 1")
    expect(told).toBe(1)
  })
})
