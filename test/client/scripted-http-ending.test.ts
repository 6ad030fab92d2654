/** How calls over HTTP end before their answer: by their caller, or with their client. What is told, and that nothing is left. */
import { getEventListeners } from "node:events"
import type { Client } from "conduit-mcp/client"
import { describe, expect, it } from "vitest"
import { failure, failureOf, until } from "../support/failure.js"
import {
  type Answer,
  discover,
  error,
  event,
  type Heard,
  type HttpPeer,
  initialized,
  plain,
  result,
  type Script,
  silence,
  stream,
} from "../support/http-peer.js"
import { expectNothingLeft, open, start } from "./scripted-http/harness.js"

const modern: Script = { "server/discover": discover() }
const legacy: Script = { "server/discover": plain(404), initialize: initialized("2025-11-25", "s-1"), GET: plain(405) }
const whole = { resultType: "complete", content: [{ type: "text", text: "done" }] }
const eras: readonly (readonly [era: "modern" | "legacy", script: Script])[] = [
  ["modern", modern],
  ["legacy", legacy],
]
const respond = (heard: Heard): string => event({ jsonrpc: "2.0", id: heard.message?.id, result: whole })
const quiet = { standby: false }
const closed = failure({ kind: "cancelled", reason: "closed", message: "the client was closed" })

/** What the server is told when a call is given up: nothing but the closed stream, or a notification that names the request. */
const givenUp = (era: string, ids: readonly number[]): string[] =>
  era === "modern" ? [] : ids.map(() => "POST notifications/cancelled")

describe.each(eras)("a caller who aborts in the %s era", (era, script) => {
  const before = era === "modern" ? 1 : 3
  const aborted = (cause: unknown): object =>
    failure({ kind: "cancelled", reason: "aborted", message: "the call was aborted by its caller", cause })

  it("gets the own reason, whatever it is, and the server is told", async () => {
    for (const reason of [new Error("enough"), "enough", { code: 7 }]) {
      const peer = await start({ ...script, "tools/call": silence })
      const { client, clock } = await open(peer, quiet)
      const controller = new AbortController()
      const call = failureOf(client.callTool("slow", {}, { signal: controller.signal }))
      await until(() => peer.heard.length === before + 1)
      controller.abort(reason)
      expect(await call).toEqual(aborted(reason))
      await until(() => peer.heard.length === before + 1 + givenUp(era, [0]).length)
      expect(getEventListeners(controller.signal, "abort")).toEqual([])
      await client.close()
      await expectNothingLeft(peer, clock)
    }
  })

  it("gets a timeout of the own signal as that, and never as the client's", async () => {
    const peer = await start({ ...script, "tools/call": silence })
    const { client } = await open(peer, quiet)
    expect(await failureOf(client.callTool("slow", {}, { signal: AbortSignal.timeout(1) }))).toMatchObject({
      kind: "cancelled",
      reason: "aborted",
      cause: { name: "TimeoutError" },
    })
  })

  it("beforehand sends nothing", async () => {
    const peer = await start(script)
    const { client } = await open(peer, quiet)
    expect(await failureOf(client.callTool("t", {}, { signal: AbortSignal.abort("no") }))).toEqual(aborted("no"))
    expect(peer.heard).toHaveLength(before)
  })

  it("while the headers are still asked for sends nothing, not even that it was called back", async () => {
    const peer = await start({ ...script, ping: result({}) })
    const { client, clock } = await open(peer, quiet)
    let give: ((values: Record<string, string>) => void) | undefined
    const headers = (): Promise<Record<string, string>> =>
      new Promise((resolve) => {
        if (give === undefined) give = resolve
        else resolve({})
      })
    const controller = new AbortController()
    const call = failureOf(client.callTool("t", {}, { signal: controller.signal, headers }))
    await until(() => give !== undefined)
    controller.abort("no")
    expect(await call).toEqual(aborted("no"))
    give?.({})
    await client.ping()
    await client.close()
    await expectNothingLeft(peer, clock)
    expect(peer.log.slice(before)).toEqual(era === "legacy" ? ["POST ping 4", "DELETE"] : ["POST server/discover 3"])
  })

  it("a thousand calls leave no listener on their signal, nor a warning", async () => {
    const warnings: unknown[] = []
    const warn = (warning: Error): void => void warnings.push(warning)
    process.on("warning", warn)
    const controller = new AbortController()
    const peer = await start({ ...script, "tools/call": [result(whole), error(200, -32603), result(whole)] })
    const { client } = await open(peer, quiet)
    for (let round = 0; round < 10; round++) {
      const calls = Array.from({ length: 100 }, () => client.callTool("t", {}, { signal: controller.signal }))
      await Promise.allSettled(calls)
    }
    expect(peer.heard).toHaveLength(before + 1_000)
    expect(getEventListeners(controller.signal, "abort")).toEqual([])
    process.off("warning", warn)
    expect(warnings).toEqual([])
  })
})

describe.each(eras)("closing a client in the %s era", (era, script) => {
  const before = era === "modern" ? 1 : 3
  const endings = era === "modern" ? [] : ["DELETE"]

  it("ends fifty calls that are in flight, each with the same error, and leaves no connection", async () => {
    const peer = await start({
      ...script,
      "tools/call": [
        silence,
        stream(": hi\n\n", false),
        stream(`retry: 5000\n${event({ jsonrpc: "2.0", method: "notifications/x" }, "e")}`),
        silence,
      ],
    })
    const { client, clock } = await open(peer, quiet)
    const calls = Array.from({ length: 50 }, () => failureOf(client.callTool("t")))
    await until(() => peer.heard.length === before + 50)
    // One stream of the modern era has ended, which is its call's end; where it is gone on with, the client is closed first.
    await client.close()
    const told = await Promise.all(calls)
    const broken = told.filter((one) => "reason" in one && one.reason === "stream_broken")
    expect(broken.length).toBeLessThanOrEqual(era === "modern" ? 1 : 0)
    expect(told.filter((one) => !broken.includes(one))).toEqual(Array(50 - broken.length).fill(closed))
    expect(client.status).toMatchObject({ state: "closed" })
    await expectNothingLeft(peer, clock)
    expect(peer.log.slice(before + 50)).toEqual(endings)
  })

  it("ends calls that wait in line, too", async () => {
    const peer = await start({ ...script, "tools/call": silence })
    const { client, clock } = await open(peer, { ...quiet, limits: { maxInFlight: 3 } })
    const calls = Array.from({ length: 20 }, () => failureOf(client.callTool("t")))
    await until(() => peer.heard.length === before + 3)
    await client.close()
    expect(await Promise.all(calls)).toEqual(Array(20).fill(closed))
    await expectNothingLeft(peer, clock)
    expect(peer.log.slice(before + 3)).toEqual(endings)
  })

  it("ends a call whose headers are still asked for, and one that is closed within its own answer", async () => {
    const peer = await start({ ...script, "tools/call": stream((heard) => respond(heard)) })
    const { client, clock } = await open(peer, quiet)
    const waiting = failureOf(client.callTool("t", {}, { headers: () => new Promise(() => {}) }))
    const closing = client.callTool("t").then(() => client.close())
    await closing
    expect(await waiting).toEqual(closed)
    await expectNothingLeft(peer, clock)
    expect(await failureOf(client.callTool("t"))).toEqual(closed)
    expect(await failureOf(client.listTools())).toEqual(closed)
    await client.close()
  })
})

describe("closing a client", () => {
  const asking = { resultType: "input_required", inputRequests: { a: { method: "roots/list" } }, requestState: "s" }
  const ask = event({ jsonrpc: "2.0", id: "q", method: "roots/list" })

  it.each<[what: string, script: Script, sent: number]>([
    ["in a round", { ...modern, "tools/call": result(asking) }, 2],
    ["on the stream of its call", { ...legacy, "tools/call": stream(ask, false) }, 4],
    ["on the standby stream", { ...legacy, GET: stream(ask, false), "tools/call": silence }, 5],
  ])(
    "ends a call while the application has its question %s, and lets go of the question",
    async (_what, script, sent) => {
      const peer = await start(script)
      let signal: AbortSignal | undefined
      const roots = (context: { readonly signal: AbortSignal }): Promise<never> => {
        signal = context.signal
        return new Promise(() => {})
      }
      const { client, clock } = await open(peer, { handlers: { roots } })
      const call = failureOf(client.callTool("t"))
      await until(() => signal !== undefined && peer.heard.length >= sent)
      await client.close()
      expect(await call).toEqual(closed)
      expect(signal?.aborted).toBe(true)
      await expectNothingLeft(peer, clock)
    },
  )

  it("ends a call that waits for the tools to be listed again", async () => {
    const peer = await start({ ...modern, "tools/call": error(400, -32020), "tools/list": silence })
    const { client, clock } = await open(peer)
    const call = failureOf(client.callTool("t"))
    await until(() => peer.heard.length === 3)
    await client.close()
    expect(await call).toEqual(closed)
    await expectNothingLeft(peer, clock)
  })

  it("ends a call that waits for a verdict to be made anew", async () => {
    const prior = (peer: HttpPeer) => ({ era: "modern" as const, version: "2026-07-28", origin: peer.origin })
    for (const answer of [silence, plain(503, "", { "retry-after": "30" })]) {
      const peer = await start({ "tools/call": plain(404), "server/discover": answer })
      const { client, clock } = await open(peer, { prior: prior(peer) })
      const call = failureOf(client.callTool("t"))
      await until(() => peer.heard.length === 2 && clock.dueInMs.some((ms) => ms === 10_000 || ms === 30_000))
      await client.close()
      expect(await call).toEqual(closed)
      await expectNothingLeft(peer, clock)
      expect(peer.log).toEqual(["POST tools/call 1", "POST server/discover 1"])
    }
  })

  it("ends lists between their pages", async () => {
    const pages: Answer = (heard, response) => {
      void client?.close()
      return result({ resultType: "complete", tools: [], nextCursor: "2" })(heard, response)
    }
    let client: Client | undefined
    const peer = await start({ ...modern, "tools/list": pages })
    const opened = await open(peer)
    client = opened.client
    expect(await failureOf(client.listTools())).toEqual(closed)
    await expectNothingLeft(peer, opened.clock)
  })
})
