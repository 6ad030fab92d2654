/** A server that nobody watches and that has no middleware makes nothing for either, and answers at once what it can. */
import { createServer, tool } from "conduit-mcp"
import { afterEach, describe, expect, it, vi } from "vitest"
import { z } from "zod"
import type { Answer, Exchange } from "../../src/core/exchange.js"
import type { Message } from "../../src/core/wire/message.js"
import { Call } from "../../src/server/call.js"
import { runAround } from "../../src/server/middleware.js"
import { createServer as createSourceServer } from "../../src/server/server.js"
import { RequestWatch } from "../../src/server/watch.js"
import { accept, legacyClient, modernCall } from "../support/asking.js"
import { createRecordingLogger } from "../support/logger.js"
import { linked } from "../support/story.js"
import { type Json, modernRequest } from "../support/wire.js"

vi.mock("../../src/server/middleware.js", async (load) => {
  const original = await load<typeof import("../../src/server/middleware.js")>()
  return { ...original, runAround: vi.fn(original.runAround) }
})

afterEach(() => vi.restoreAllMocks())

/** Everything that is made or asked for watchers and middleware alone. */
function spies() {
  return {
    facts: vi.spyOn(Call.prototype, "described", "get"),
    begin: vi.spyOn(RequestWatch.prototype, "begin"),
    run: vi.spyOn(RequestWatch.prototype, "run"),
    end: vi.spyOn(RequestWatch.prototype, "end"),
    time: vi.spyOn(performance, "now"),
    around: vi.mocked(runAround).mockClear(),
  }
}

/** The server of the sources, so that its insides can be watched. */
function makeServer() {
  return createSourceServer({
    name: "test",
    version: "1.0.0",
    logger: createRecordingLogger(),
    tools: [
      tool("fine", {}, () => "fine"),
      tool("ask", {}, async (_, ctx) => {
        ctx.log.info("asking")
        return (await ctx.elicit("Sure?", z.object({ yes: z.boolean() }))).action
      }),
    ],
  })
}

/** Calls, questions, refusals, sessions and changes, in both eras. */
async function useEverything(server: ReturnType<typeof makeServer>): Promise<void> {
  await linked(server, async (raw) => {
    await raw.modern("tools/call", { name: "fine" })
    await raw.modern("tools/call", { name: "nope" })
    await raw.modern("no/such")
    await modernCall((message) => raw.request(message), { name: "ask" }).run(() => accept({ yes: true }))
  })
  await linked(server, async (raw) => {
    const client = await legacyClient(raw)
    await client.call("tools/call", { name: "ask" }, () => accept({ yes: true }))
    server.changed("tools")
    server.updated("test://a")
  })
}

const counts = (made: ReturnType<typeof spies>): Json =>
  Object.fromEntries(Object.entries(made).map(([name, spy]) => [name, spy.mock.calls.length]))

describe("a server that nobody watches", () => {
  it("makes no facts, takes no time, and enters no middleware", async () => {
    const server = makeServer()
    const made = spies()
    await useEverything(server)
    expect(counts(made)).toEqual({ facts: 0, begin: 0, run: 0, end: 0, time: 0, around: 0 })
  })

  it("does all of that as soon as somebody does", async () => {
    const server = makeServer()
    const made = spies()
    server.on("server.request.stop", () => {})
    server.use((_, next) => next())
    await useEverything(server)
    for (const [name, count] of Object.entries(counts(made))) expect(count, name).toBeGreaterThan(0)
  })

  it("makes none any more once nobody does again", async () => {
    const server = makeServer()
    server.on("server.request.stop", () => {})()
    const made = spies()
    await useEverything(server)
    expect(counts(made)).toEqual({ facts: 0, begin: 0, run: 0, end: 0, time: 0, around: 0 })
  })
})

describe("a call that needs no waiting", () => {
  const exchange: Exchange = {
    peer: { kind: "request", principal: undefined, inFlight: undefined, sink: undefined, session: undefined },
    header: undefined,
    canStream: true,
    onlyStreams: false,
    send() {},
    flush: () => Promise.resolve(),
    hold() {},
    prime() {},
    finish() {},
    close() {},
    onAbort() {},
  }
  const message = { kind: "request", ...modernRequest(1, "tools/call", { name: "fine" }) } as unknown as Message
  const serve = (prepare: (server: ReturnType<typeof createServer>) => unknown): Answer | Promise<Answer> => {
    const server = createServer({ name: "test", version: "1.0.0", tools: [tool("fine", {}, () => "fine")] })
    prepare(server)
    return server.endpoint().serve(message, exchange)
  }

  it.each<[what: string, prepare: Parameters<typeof serve>[0]]>([
    ["nobody watches", () => {}],
    ["somebody watches", (server) => server.on("server.request.stop", () => {})],
    ["there is middleware for another method", (server) => server.use("tools/list", (_, next) => next())],
  ])("is answered at once when %s", (_, prepare) => {
    expect(serve(prepare)).toMatchObject({ status: 200, text: expect.stringContaining('"fine"') })
  })
})
