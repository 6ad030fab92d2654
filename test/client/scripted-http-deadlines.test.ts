/** Deadlines, progress, and the end of calls over HTTP: what the caller is told, what the server is, and that nothing is left. */
import type { ServerResponse } from "node:http"
import { describe, expect, it } from "vitest"
import { failure, failureOf, until } from "../support/failure.js"
import {
  type Answer,
  discover,
  event,
  type Heard,
  initialized,
  plain,
  result,
  type Script,
  silence,
  stream,
} from "../support/http-peer.js"
import { createRecordingLogger } from "../support/logger.js"
import { expectNothingLeft, open, start } from "./scripted-http/harness.js"

const modern: Script = { "server/discover": discover() }
const legacy: Script = { "server/discover": plain(404), initialize: initialized("2025-11-25", "s-1"), GET: plain(405) }
const whole = { resultType: "complete", content: [{ type: "text", text: "done" }] }
const eras: readonly (readonly [era: "modern" | "legacy", script: Script])[] = [
  ["modern", modern],
  ["legacy", legacy],
]
const respond = (heard: Heard): string => event({ jsonrpc: "2.0", id: heard.message?.id, result: whole })
const progress = (progressToken: unknown, n: number, more: object = {}): string =>
  event({ jsonrpc: "2.0", method: "notifications/progress", params: { progressToken, progress: n, ...more } })
const quiet = { standby: false }

/** Answers with a stream that a test writes to. */
function held(): { readonly answer: Answer; readonly streams: { heard: Heard; response: ServerResponse }[] } {
  const streams: { heard: Heard; response: ServerResponse }[] = []
  return {
    streams,
    answer(heard, response) {
      response.writeHead(200, { "content-type": "text/event-stream" })
      response.write(": open\n\n")
      streams.push({ heard, response })
    },
  }
}

/** What the server is told when a call is given up: nothing but the closed stream, or a notification that names the request. */
const givenUp = (era: string, ids: readonly number[]): string[] =>
  era === "modern" ? [] : ids.map(() => "POST notifications/cancelled")

describe.each(eras)("a call without an answer in the %s era", (era, script) => {
  const first = era === "modern" ? 2 : 3
  const before = era === "modern" ? 1 : 3

  it.each<[what: string, answer: Answer]>([
    ["nothing at all", silence],
    ["a stream without an end", stream(": hi\n\n", false)],
    [
      "half of a JSON body",
      (_, response) => {
        response.writeHead(200, { "content-type": "application/json", "content-length": "100" }).write("{")
      },
    ],
  ])("that got %s fails at its deadline, is called back, and leaves nothing", async (_what, answer) => {
    const peer = await start({ ...script, "tools/call": answer })
    const { client, clock } = await open(peer, quiet)
    const call = client.callTool("slow", {}, { timeoutMs: 5_000 })
    await until(() => peer.heard.length === before + 1)
    clock.advance(5_000)
    expect(await failureOf(call)).toEqual(
      failure({
        kind: "timeout",
        reason: "request_timeout",
        retryable: true,
        message:
          'tools/call "slow" was not answered within 5000 ms; timeoutMs of the call or the client says how long it may take',
        data: { timeoutMs: 5_000, elapsedMs: 5_000 },
      }),
    )
    const cancelled = givenUp(era, [first])
    await until(() => peer.heard.length === before + 1 + cancelled.length)
    expect(peer.log.slice(before)).toEqual([`POST tools/call ${first}`, ...cancelled])
    if (era === "legacy") {
      expect(peer.heard.at(-1)?.message?.params).toEqual({
        requestId: first,
        reason: "the client no longer waits for the answer",
      })
      expect(peer.heard.at(-1)?.headers["mcp-session-id"]).toBe("s-1")
    }
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("waits as long as the client says, and 60 seconds when nobody does", async () => {
    for (const [options, ms] of [
      [{}, 60_000],
      [{ timeoutMs: 1_000 }, 1_000],
    ] as const) {
      const peer = await start({ ...script, "tools/list": silence })
      const { client, clock } = await open(peer, { ...quiet, ...options })
      const call = client.listTools()
      let isOver = false
      call.catch(() => {
        isOver = true
      })
      await until(() => peer.heard.length === before + 1)
      clock.advance(ms - 1)
      await new Promise((resolve) => setImmediate(resolve))
      expect(isOver).toBe(false)
      clock.advance(1)
      await expect(call).rejects.toMatchObject({ kind: "timeout", reason: "request_timeout", data: { timeoutMs: ms } })
    }
  })

  it("fifty of them are each called back, and nothing is sent after that", async () => {
    const peer = await start({ ...script, "tools/call": silence })
    const { client, clock } = await open(peer, quiet)
    const calls = Array.from({ length: 50 }, () => failureOf(client.callTool("slow", {}, { timeoutMs: 1_000 })))
    await until(() => peer.heard.length === before + 50)
    clock.advance(1_000)
    for (const told of await Promise.all(calls)) expect(told).toMatchObject({ kind: "timeout" })
    const ids = Array.from({ length: 50 }, (_, index) => first + index)
    await until(() => peer.heard.length === before + 50 + givenUp(era, ids).length)
    const cancelled = peer.heard.filter(({ message }) => message?.method === "notifications/cancelled")
    expect(
      cancelled.map(({ message }) => message?.params?.["requestId"]).sort((a, b) => Number(a) - Number(b)),
    ).toEqual(era === "legacy" ? ids : [])
    await client.close()
    await expectNothingLeft(peer, clock)
    expect(peer.heard).toHaveLength(before + 50 + cancelled.length + (era === "legacy" ? 1 : 0))
  })

  it("a response that comes after the deadline reaches nobody", async () => {
    const { answer, streams } = held()
    const peer = await start({ ...script, "tools/call": answer })
    const { client, clock } = await open(peer, quiet)
    const noises: unknown[] = []
    client.on("client.noise", (noise) => noises.push(noise))
    const call = failureOf(client.callTool("slow", {}, { timeoutMs: 1_000 }))
    await until(() => streams.length === 1)
    for (const { heard, response } of streams) {
      clock.advance(1_000)
      response.end(respond(heard))
    }
    expect(await call).toMatchObject({ kind: "timeout" })
    await client.close()
    await expectNothingLeft(peer, clock)
    expect(noises).toEqual([])
  })
})

describe.each(eras)("progress in the %s era", (era, script) => {
  const id = era === "modern" ? 2 : 3
  const call = async (text: (heard: Heard) => string, options = {}) => {
    const peer = await start({ ...script, "tools/call": stream(text) })
    const logger = createRecordingLogger()
    const { client } = await open(peer, { ...quiet, logger })
    const told: unknown[] = []
    const noises: unknown[] = []
    client.on("client.noise", (noise) => noises.push(noise))
    const { content } = await client.callTool("t", {}, { onProgress: (step) => told.push(step), ...options })
    expect(content).toEqual(whole.content)
    return { peer, told, noises, logger }
  }

  it("is asked for with a token that is the id of the request, beside the caller's own _meta", async () => {
    const { peer } = await call(respond, { meta: { trace: "t", progressToken: "mine" } })
    const meta = peer.heard.at(-1)?.message?.params?.["_meta"]
    expect(meta).toMatchObject({ trace: "t", progressToken: id })
    const silent = await start({ ...script, "tools/call": result(whole) })
    const { client } = await open(silent, quiet)
    await client.callTool("t", {}, { meta: { trace: "t" } })
    expect(silent.heard.at(-1)?.message?.params?.["_meta"]).not.toHaveProperty("progressToken")
    expect(silent.heard.at(-1)?.message?.params?.["_meta"]).toMatchObject({ trace: "t" })
  })

  it("is told in order, with what it says and nothing else", async () => {
    const steps =
      progress(id, 0, { total: 2, message: "a", more: 1 }) +
      progress(id, 1) +
      progress(id, 1.5, { total: "x", message: 7 })
    const { told, noises } = await call((heard) => steps + respond(heard))
    expect(told).toEqual([{ progress: 0, total: 2, message: "a" }, { progress: 1 }, { progress: 1.5 }])
    expect(noises).toEqual([])
  })

  it("ten thousand times is told ten thousand times", async () => {
    const steps = Array.from({ length: 10_000 }, (_, n) => progress(id, n)).join("")
    const { told, noises } = await call((heard) => steps + respond(heard))
    expect(told).toHaveLength(10_000)
    expect(told.at(-1)).toEqual({ progress: 9_999 })
    expect(noises).toEqual([])
  })

  it("after the response, or of a request that is over, is dropped in silence", async () => {
    const { told, noises } = await call((heard) => progress(1, 7) + respond(heard) + progress(id, 8))
    expect(told).toEqual([])
    expect(noises).toEqual([])
  })

  it.each<[what: string, token: unknown, text: string]>([
    ["a token that was never given", 4_000, "progress of nothing that was asked"],
    ["a token of another type", String(id), "progress of nothing that was asked"],
    ["a token of an odd type", [id], "progress without a token or a number"],
    ["no token", undefined, "progress without a token or a number"],
  ])("with %s is told as noise, and to no call", async (_what, token, text) => {
    const { told, noises } = await call((heard) => progress(token, 1) + respond(heard))
    expect(told).toEqual([])
    expect(noises).toEqual([{ from: "output", text }])
  })

  it("without a number is told as noise", async () => {
    const { told, noises } = await call((heard) => progress(id, "1" as unknown as number) + respond(heard))
    expect(told).toEqual([])
    expect(noises).toEqual([{ from: "output", text: "progress without a token or a number" }])
  })

  it("to a function that fails, now or later, harms nothing and is logged", async () => {
    const later = call((heard) => progress(id, 1) + respond(heard), {
      onProgress: async () => {
        throw new Error("later")
      },
    })
    const now = call((heard) => progress(id, 1) + respond(heard), {
      onProgress: () => {
        throw new Error("now")
      },
    })
    for (const [{ logger }, message] of [
      [await later, "later"],
      [await now, "now"],
    ] as const) {
      await until(() => logger.lines.some(({ level }) => level === "error"))
      const lines = logger.lines.filter(({ level }) => level === "error")
      expect(lines).toMatchObject([
        { message: "onProgress failed", fields: { method: "tools/call", error: { message } } },
      ])
    }
  })

  it("starts the deadline again where that is wanted, which asks for it by itself, and never past the total", async () => {
    const { answer, streams } = held()
    const peer = await start({ ...script, "tools/call": answer })
    const { client, clock } = await open(peer, quiet)
    const noises: unknown[] = []
    client.on("client.noise", (noise) => noises.push(noise))
    const options = { timeoutMs: 1_000, maxTotalTimeoutMs: 2_500, resetTimeoutOnProgress: true }
    const failed = failureOf(client.callTool("t", {}, options))
    await until(() => streams.length === 1)
    const [{ heard, response } = { heard: undefined, response: undefined }] = streams
    expect(heard?.message?.params?.["_meta"]).toMatchObject({ progressToken: id })
    for (let n = 0; n < 3; n++) {
      clock.advance(800)
      // Noise behind the progress shows that the progress was read.
      response?.write(progress(id, n) + progress("x", n))
      await until(() => noises.length === n + 1)
    }
    clock.advance(100)
    expect(await failed).toEqual(
      failure({
        kind: "timeout",
        reason: "total_timeout",
        retryable: true,
        message:
          'tools/call "t" took longer than 2500 ms in all; maxTotalTimeoutMs of the call or the client says how long it may',
      }),
    )
  })

  it("does not move the deadline otherwise", async () => {
    const { answer, streams } = held()
    const peer = await start({ ...script, "tools/call": answer })
    const { client, clock } = await open(peer, quiet)
    let told = 0
    const failed = failureOf(client.callTool("t", {}, { timeoutMs: 1_000, onProgress: () => told++ }))
    await until(() => streams.length === 1)
    clock.advance(800)
    streams[0]?.response.write(progress(id, 1))
    await until(() => told === 1)
    clock.advance(200)
    expect(await failed).toMatchObject({ kind: "timeout", reason: "request_timeout" })
  })
})

describe("the deadline of a whole call", () => {
  it("covers rounds and answers of the application, whose signal aborts with the call", async () => {
    const asking = { resultType: "input_required", inputRequests: { a: { method: "roots/list" } } }
    const peer = await start({ ...modern, "tools/call": result(asking) })
    let signal: AbortSignal | undefined
    const roots = (context: { readonly signal: AbortSignal }): Promise<never> => {
      signal = context.signal
      return new Promise(() => {})
    }
    const { client, clock } = await open(peer, { handlers: { roots } })
    const call = failureOf(client.callTool("t", {}, { timeoutMs: 1_000, maxTotalTimeoutMs: 9_000 }))
    await until(() => signal !== undefined)
    clock.advance(8_999)
    expect(signal?.aborted).toBe(false)
    clock.advance(1)
    expect(await call).toMatchObject({ kind: "timeout", reason: "total_timeout" })
    expect(signal?.aborted).toBe(true)
    expect(peer.log.slice(1)).toEqual(["POST tools/call 2"])
  })
})

describe("calls beyond limits.maxInFlight", () => {
  it("wait for their turn, in order, and leave the line when they end", async () => {
    const { answer, streams } = held()
    const peer = await start({ ...modern, "tools/call": answer })
    const { client, clock } = await open(peer, { limits: { maxInFlight: 2 } })
    const controller = new AbortController()
    const calls = ["a", "b", "c", "d"].map((name) =>
      client.callTool(name, {}, name === "c" ? { signal: controller.signal } : {}).then(
        () => name,
        ({ reason }) => reason,
      ),
    )
    await until(() => streams.length === 2)
    controller.abort()
    expect(await calls[2]).toBe("aborted")
    for (const { heard, response } of [...streams]) response.end(respond(heard))
    expect(await Promise.all(calls.slice(0, 2))).toEqual(["a", "b"])
    await until(() => streams.length === 3)
    expect(streams.map(({ heard }) => heard.message?.params?.["name"])).toEqual(["a", "b", "d"])
    await client.close()
    expect(await calls[3]).toBe("closed")
    await expectNothingLeft(peer, clock)
  })
})
