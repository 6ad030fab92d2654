/** A client and a server of the same process: everything that a pipe checks, and nothing shared by reference. */
import { createServer, tool } from "conduit-mcp"
import { jsonSchema } from "conduit-mcp/schema"
import { describe, expect, it } from "vitest"
import { resolveClientLimits } from "../../src/client/limits.js"
import { createMemoryDialer } from "../../src/transport/memory.js"
import { modernMeta } from "../support/wire.js"
import { type LinkProbe, openProbe } from "./stdio/link.js"

let aborted = 0
const kept: unknown[] = []
const server = createServer({
  name: "test",
  version: "1.0.0",
  tools: [
    tool("keep", { input: jsonSchema<object>({ type: "object" }) }, (input) => {
      kept.push(input)
      return { kept: input }
    }),
    tool("long", { input: jsonSchema<{ n: number }>({ type: "object" }) }, ({ n }) => "x".repeat(n)),
    tool("hang", {}, (_input, ctx) => {
      return new Promise((_, reject) => {
        ctx.signal.addEventListener("abort", () => {
          aborted++
          reject(ctx.signal.reason)
        })
      })
    }),
  ],
})

function open(limits: Parameters<typeof resolveClientLimits>[0] = {}): Promise<LinkProbe> {
  return openProbe(createMemoryDialer(server, { limits: resolveClientLimits(limits) }).dial())
}

const call = (name: string, args: object = {}): object => ({ name, arguments: args, _meta: modernMeta })

describe("a link in memory", () => {
  it("answers as a pipe does, each answer to its request", async () => {
    const probe = await open()
    const outcomes = await Promise.all([
      probe.request(1, "tools/call", call("keep", { a: 1 })),
      probe.request("1", "tools/call", call("keep", { a: 2 })),
      probe.request(2, "no/such", { _meta: modernMeta }),
    ])
    expect(outcomes).toMatchObject([
      { kind: "message", message: { kind: "result", id: 1, result: { structuredContent: { kept: { a: 1 } } } } },
      { kind: "message", message: { kind: "result", id: "1", result: { structuredContent: { kept: { a: 2 } } } } },
      { kind: "message", message: { kind: "error", id: 2, error: { code: -32601 } }, status: undefined },
    ])
    await probe.link.close()
  })

  it("shares nothing by reference", async () => {
    const probe = await open()
    const args = { list: [1] }
    const outcome = await probe.request(1, "tools/call", call("keep", args))
    expect(outcome).toMatchObject({ message: { result: { structuredContent: { kept: { list: [1] } } } } })
    const input = kept.at(-1) as { list: number[] }
    args.list.push(2)
    input.list.push(3)
    expect(outcome).toMatchObject({ message: { result: { structuredContent: { kept: { list: [1] } } } } })
    await probe.link.close()
  })

  it("keeps the client's limits: an answer that breaks them fails alone", async () => {
    const probe = await open({ maxMessageBytes: 1_000 })
    const outcomes = await Promise.all([
      probe.request(1, "tools/call", call("long", { n: 100_000 })),
      probe.request(2, "tools/call", call("long", { n: 10 })),
    ])
    expect(outcomes).toMatchObject([
      { kind: "refused", error: { kind: "transport", reason: "message_too_large" } },
      { kind: "message", message: { id: 2, result: { content: [{ text: "xxxxxxxxxx" }] } } },
    ])
    await probe.link.close()
  })

  it("is closed once and leaves nothing: what runs is aborted, what waits hears so", async () => {
    const probe = await open()
    const outcome = probe.request(1, "tools/call", call("hang"))
    const other = await open()
    await other.request(1, "tools/call", call("long", { n: 1 }))
    const closing = probe.link.close()
    expect(probe.link.close()).toBe(closing)
    await closing
    expect(await outcome).toMatchObject({ kind: "gone", error: { kind: "connection_down", reason: "pipe_closed" } })
    expect(aborted).toBe(1)
    expect(probe.goneErrors).toEqual([])
    expect(await other.request(2, "tools/call", call("long", { n: 1 }))).toMatchObject({ kind: "message" })
    await other.link.close()
  })

  it("has an id in flight once, and is of its own for each dial", async () => {
    const dialer = createMemoryDialer(server, { limits: resolveClientLimits() })
    expect([dialer.kind, dialer.origin]).toEqual(["pipe", "memory"])
    const [one, two] = await Promise.all([openProbe(dialer.dial()), openProbe(dialer.dial())])
    const hanging = [one.request(1, "tools/call", call("hang")), two.request(1, "tools/call", call("hang"))]
    expect(await one.request(2, "tools/call", call("long", { n: 1 }))).toMatchObject({ kind: "message" })
    await Promise.all([one.link.close(), two.link.close()])
    expect((await Promise.all(hanging)).map(({ kind }) => kind)).toEqual(["gone", "gone"])
  })
})
