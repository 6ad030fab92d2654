/** ConduitMCP's page on client requests, statement by statement, in the names that it has here. */
import { type CallOptions, type Client, type ConnectOptions, connect, lookup } from "conduit-mcp/client"
import { type EnvelopeInfo, envelope } from "conduit-mcp/protocol"
import { afterEach, describe, expect, it } from "vitest"
import { createManualClock, type ManualClock } from "../support/clock.js"
import { failure, failureOf, settled } from "../support/failure.js"
import { startHttpPeer } from "../support/http-peer.js"
import { createRecordingLogger } from "../support/logger.js"
import {
  all,
  dies,
  error,
  LEGACY,
  MemoryPeer,
  MODERN,
  type PeerScript,
  type Reply,
  result,
  says,
  silence,
} from "../support/memory-peer.js"
import type { Json } from "../support/wire.js"

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"

describe("the envelope", () => {
  const legacy: EnvelopeInfo = { era: "legacy", version: "2025-11-25", clientCapabilities: {}, clientInfo: {} }
  const modern: EnvelopeInfo = {
    era: "modern",
    version: "2026-07-28",
    clientCapabilities: { sampling: {} },
    clientInfo: { name: "host", version: "1" },
  }
  const reserved = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
    "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" },
  }

  it("of the page's example", () => {
    const params = { name: "echo", _meta: { progressToken: "x", trace: "t" } }
    expect(envelope(params, { ...legacy, progressToken: 7 })).toEqual({
      name: "echo",
      _meta: { progressToken: 7, trace: "t" },
    })
  })

  it("merges the era's reserved keys over the caller's _meta", () => {
    expect(envelope({ name: "echo", _meta: { trace: "t" } }, modern)).toEqual({
      name: "echo",
      _meta: { trace: "t", ...reserved },
    })
  })

  it("modern: version, capabilities and client info", () => {
    expect(envelope({}, modern)).toEqual({ _meta: reserved })
  })

  it("modern: logLevel when one is set", () => {
    expect(envelope({}, { ...modern, logLevel: "warning" })).toEqual({
      _meta: { ...reserved, "io.modelcontextprotocol/logLevel": "warning" },
    })
    expect(envelope({}, { ...modern, logLevel: undefined })).toEqual({ _meta: reserved })
  })

  it("modern: traceparent when one is set", () => {
    expect(envelope({}, { ...modern, traceparent: TRACEPARENT })).toEqual({
      _meta: { ...reserved, traceparent: TRACEPARENT },
    })
  })

  it("modern: no traceparent that is not well formed", () => {
    for (const traceparent of ["", "00-x", TRACEPARENT.toUpperCase(), TRACEPARENT.replace("00-", "ff-"), undefined]) {
      expect(envelope({}, { ...modern, traceparent })).toEqual({ _meta: reserved })
    }
  })

  it("modern: the caller's traceparent stands", () => {
    const given = TRACEPARENT.replace("0af7", "1bf7")
    expect(envelope({ _meta: { traceparent: given } }, { ...modern, traceparent: TRACEPARENT })).toEqual({
      _meta: { ...reserved, traceparent: given },
    })
  })

  it("tracestate and baggage are never added, and the caller's stay", () => {
    const _meta = { tracestate: "a=1", baggage: "b=2" }
    expect(envelope({ _meta }, { ...modern, traceparent: TRACEPARENT })).toEqual({
      _meta: { ..._meta, ...reserved, traceparent: TRACEPARENT },
    })
    expect(Object.keys(envelope({}, { ...modern, traceparent: TRACEPARENT }))).toEqual(["_meta"])
  })

  it("legacy: none of these", () => {
    const info: EnvelopeInfo = { ...modern, era: "legacy", version: "2025-11-25" }
    expect(envelope({ name: "echo" }, { ...info, logLevel: "debug", traceparent: TRACEPARENT })).toEqual({
      name: "echo",
    })
  })

  it("legacy: the caller's traceparent stays", () => {
    expect(envelope({ _meta: { traceparent: TRACEPARENT } }, legacy)).toEqual({ _meta: { traceparent: TRACEPARENT } })
  })

  it.each([7, 0, "", "token"])("both eras: progressToken when one is set (%j)", (progressToken) => {
    expect(envelope({}, { ...legacy, progressToken })).toEqual({ _meta: { progressToken } })
    expect(envelope({}, { ...modern, progressToken })).toEqual({ _meta: { ...reserved, progressToken } })
  })

  it.each([
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/logLevel",
    "io.modelcontextprotocol/anything",
    "modelcontextprotocol/a",
    "mcp/a",
    "com.mcp/a",
    "dev.mcp.tools/a",
    "com.example.mcp/a",
  ])("reserved keys always win: the caller's %s is dropped", (key) => {
    const params = { name: "echo", _meta: { [key]: "mine", kept: 1 } }
    expect(envelope(params, legacy)).toEqual({ name: "echo", _meta: { kept: 1 } })
    expect(envelope(params, modern)).toEqual({ name: "echo", _meta: { kept: 1, ...reserved } })
  })

  it.each(["com.example/mcp", "mcpx/a", "com.mcp-tools/a", "mcp", "modelcontextprotocol", "com.example/progressToken"])(
    "the caller's %s stays",
    (key) => {
      expect(envelope({ _meta: { [key]: 1 } }, legacy)).toEqual({ _meta: { [key]: 1 } })
    },
  )

  it("an empty _meta is omitted", () => {
    expect(envelope({ name: "echo", _meta: {} }, legacy)).toEqual({ name: "echo" })
    expect(envelope({ name: "echo", _meta: { progressToken: 1 } }, legacy)).toEqual({ name: "echo" })
    expect("_meta" in envelope({ _meta: {} }, legacy)).toBe(false)
  })
})

const META = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
}
const done = { resultType: "complete", content: [{ type: "text", text: "done" }] }
const cancelled = (requestId: number): Json => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId, reason: "the client no longer waits for the answer" },
})
const metaOf = (message: Json | undefined): Json => ((message?.["params"] ?? {}) as { _meta: Json })._meta
/** Progress of the request that came, with its own token. */
const progresses =
  (progress: number, more: Json = {}): Reply =>
  (message, peer) => {
    const { progressToken } = metaOf(message)
    peer.say({ method: "notifications/progress", params: { progressToken, progress, ...more } })
  }
const QUESTION = { id: "q", method: "roots/list" }
const ROUND = { resultType: "input_required", inputRequests: { q: { method: "roots/list" } } }
const asks = says(QUESTION)

/** An open client, its peer, and how many messages came while it was opened. */
interface Opened {
  readonly client: Client
  readonly peer: MemoryPeer
  readonly clock: ManualClock
  readonly opening: number
}

const clients: Client[] = []
afterEach(async () => {
  for (const client of clients.splice(0)) await client.close()
})

async function open(script: PeerScript, options: ConnectOptions = {}): Promise<Opened> {
  const peer = new MemoryPeer(script)
  const clock = createManualClock()
  const common = { clock, logger: createRecordingLogger(), clientInfo: { name: "host", version: "1" } }
  const client = await connect(peer, { ...common, ...options })
  clients.push(client)
  return { client, peer, clock, opening: peer.lines.length }
}

const eras = [
  ["modern", MODERN, META],
  ["legacy", LEGACY, undefined],
] as const

describe("a request", () => {
  it.each(eras)("%s: sends a method with its params and resolves to the result as it came", async (_, era, _meta) => {
    const came = { resultType: "complete", anything: [1, { a: null }], _meta: { b: true } }
    const { client, peer, opening } = await open({ ...era, "tools/list": result(came) })
    expect(await client.request("tools/list", { cursor: "c" })).toEqual(came)
    const params = _meta === undefined ? { cursor: "c" } : { _meta, cursor: "c" }
    expect(peer.messages(opening)).toEqual([
      { jsonrpc: "2.0", id: opening === 1 ? 2 : 3, method: "tools/list", params },
    ])
  })

  it.each(eras)("%s: params are none by default", async (_, era, _meta) => {
    const { client, peer, opening } = await open({ ...era, "*": result({}) })
    await client.request("tools/list")
    expect(peer.messages(opening)[0]?.["params"]).toEqual(_meta === undefined ? undefined : { _meta })
  })

  it.each(eras)("%s: each gets an id of its own, and the answer with that id", async (_, era) => {
    const { client, peer, opening } = await open({ ...era, "*": silence })
    const calls = ["a", "b", "c"].map((name) => client.request("tools/call", { name }))
    await peer.until(opening + 3)
    const ids = peer.messages(opening).map(({ id }) => Number(id))
    expect(ids).toEqual([0, 1, 2].map((n) => n + Number(ids[0])))
    for (const id of ids.toReversed()) peer.say({ id, result: { content: [], of: id } })
    expect(await Promise.all(calls)).toEqual(ids.map((id) => ({ content: [], of: id })))
  })

  it.each(eras)("%s: an error answer is kind protocol, with its code and data", async (_, era) => {
    const { client } = await open({ ...era, "*": error(-32000, "out of order", { since: 7 }) })
    expect(await failureOf(client.request("tools/list"))).toEqual(
      failure({
        kind: "protocol",
        reason: "jsonrpc",
        code: -32000,
        message: "tools/list: the server answered with error -32000: out of order",
        data: { since: 7 },
      }),
    )
  })

  it.each(eras)("%s: the caller's _meta is kept, the era's reserved keys are merged over it", async (_, era, _meta) => {
    const { client, peer, opening } = await open({ ...era, "*": result(done) })
    const mine = { "com.example/a": 1, progressToken: "mine", "io.modelcontextprotocol/logLevel": "debug" }
    await client.request("tools/call", { name: "echo", _meta: mine })
    await client.callTool("echo", {}, { meta: mine })
    await client.callTool("echo", {}, { meta: mine, onProgress: () => {} })
    const metas = peer.messages(opening).map(({ params }) => (params as Json)["_meta"])
    const kept = { "com.example/a": 1, ..._meta }
    expect(metas).toEqual([kept, kept, { ...kept, progressToken: peer.messages(opening)[2]?.["id"] }])
  })

  it("connection gone: kind connection_down, for what is in flight, and for whatever comes later when it stays so", async () => {
    const { client, peer } = await open({ ...LEGACY, "tools/call": dies }, { reconnect: false })
    const gone = failure({
      kind: "connection_down",
      reason: "process_exited",
      retryable: true,
      message: "peer exited with code 1",
    })
    const calls = [client.callTool("a"), client.request("tools/list")]
    expect(await Promise.all(calls.map(failureOf))).toEqual([gone, gone])
    const sent = peer.lines.length
    const late = [client.callTool("a"), client.ping(), client.setLogLevel("error"), client.rootsListChanged()]
    expect(await Promise.all(late.map(failureOf))).toEqual(
      late.map(() =>
        failure({
          kind: "connection_down",
          reason: "not_connected",
          retryable: true,
          message: "not connected to peer: peer exited with code 1",
          cause: expect.objectContaining({ reason: "process_exited" }),
        }),
      ),
    )
    expect(peer.lines).toHaveLength(sent)
    expect(client.status).toMatchObject({ state: "failed", era: "legacy", reason: "process_exited" })
  })

  it("closed: kind cancelled, for what is in flight and whatever comes later", async () => {
    for (const era of [MODERN, LEGACY]) {
      const { client, peer } = await open({ ...era, "*": silence })
      const call = client.callTool("a")
      const sent = peer.lines.length
      await client.close()
      const closed = failure({ kind: "cancelled", reason: "closed", message: "the client was closed" })
      expect(await failureOf(call)).toEqual(closed)
      for (const late of [client.callTool("a"), client.ping(), client.setLogLevel("error")]) {
        expect(await failureOf(late)).toEqual(closed)
      }
      expect(peer.lines.slice(sent)).toEqual([JSON.stringify(cancelled(sent === 2 ? 2 : 3))])
      expect(client.status.state).toBe("closed")
    }
  })
})

describe("the deadline of a request", () => {
  const timedOut = (ms: number, elapsedMs: number): object =>
    failure({
      kind: "timeout",
      reason: "request_timeout",
      retryable: true,
      message: `tools/call "slow" was not answered within ${ms} ms; timeoutMs of the call or the client says how long it may take`,
      data: { timeoutMs: ms, elapsedMs },
    })

  it.each(eras)("%s: is the connection's, which cancels on the wire and answers kind timeout", async (_, era) => {
    const { client, peer, clock, opening } = await open({ ...era, "*": silence })
    const call = client.callTool("slow", {}, { timeoutMs: 700 })
    clock.advance(699)
    await settled()
    expect(peer.lines).toHaveLength(opening + 1)
    clock.advance(1)
    expect(await failureOf(call)).toEqual(timedOut(700, 700))
    const [request, cancel] = peer.messages(opening)
    expect(cancel).toEqual(cancelled(Number(request?.["id"])))
    expect(peer.lines).toHaveLength(opening + 2)
  })

  it.each<[what: string, options: ConnectOptions, ms: number]>([
    ["a minute", {}, 60_000],
    ["the client's", { timeoutMs: 5_000 }, 5_000],
  ])("is %s by default", async (_, options, ms) => {
    const { client, clock } = await open({ ...MODERN, "*": silence }, options)
    const call = client.callTool("slow")
    clock.advance(ms - 1)
    await settled()
    clock.advance(1)
    expect(await failureOf(call)).toEqual(timedOut(ms, ms))
  })

  it.each(eras)("%s: an answer that comes after it is dropped and reaches nobody", async (_, era) => {
    const { client, peer, clock, opening } = await open({ ...era, "tools/call": silence, "*": result({ tools: [] }) })
    const noises: unknown[] = []
    client.on("client.noise", (noise) => noises.push(noise))
    const call = client.callTool("slow", {}, { timeoutMs: 10 })
    clock.advance(10)
    await failureOf(call)
    peer.say({ id: peer.messages(opening)[0]?.["id"], result: done })
    expect((await client.listTools()).tools).toEqual([])
    expect(noises).toEqual([])
  })

  it("one that races with it is dropped, too", async () => {
    const { client, peer, clock, opening } = await open({ ...MODERN, "*": silence })
    const call = client.callTool("slow", {}, { timeoutMs: 10 })
    peer.say({ id: peer.messages(opening)[0]?.["id"], result: done })
    clock.advance(10)
    expect(await failureOf(call)).toEqual(timedOut(10, 10))
  })

  it("maxTotalTimeoutMs: the cap for all of a call, by default ten minutes", async () => {
    for (const [options, ms] of [
      [{}, 600_000],
      [{ maxTotalTimeoutMs: 90_000 }, 90_000],
    ] as const) {
      const { client, peer, clock, opening } = await open({ ...MODERN, "*": silence }, { ...options, timeoutMs: ms })
      const call = client.callTool("slow", {}, { timeoutMs: 2 ** 31 - 1 })
      clock.advance(ms)
      expect(await failureOf(call)).toEqual(
        failure({
          kind: "timeout",
          reason: "total_timeout",
          retryable: true,
          message: `tools/call "slow" took longer than ${ms} ms in all; maxTotalTimeoutMs of the call or the client says how long it may`,
        }),
      )
      expect(peer.log.slice(opening)).toEqual(["tools/call 2", "notifications/cancelled 2"])
    }
  })

  it("legacy: stands still while a request of the server that is tied to it is with the handler", async () => {
    let answer: (roots: []) => void = () => {}
    const roots = () => new Promise<[]>((resolve) => (answer = resolve))
    const { client, peer, clock, opening } = await open({ ...LEGACY, "tools/call": silence }, { handlers: { roots } })
    const call = client.callTool("slow", {}, { timeoutMs: 100 })
    clock.advance(60)
    peer.say(QUESTION)
    await settled()
    clock.advance(5_000)
    answer([])
    await peer.until(opening + 2)
    clock.advance(39)
    await settled()
    expect(peer.log.slice(opening)).toEqual(["tools/call 3", "result q"])
    clock.advance(1)
    expect(await failureOf(call)).toMatchObject({ kind: "timeout", reason: "request_timeout" })
    expect(peer.log.slice(opening)).toEqual(["tools/call 3", "result q", "notifications/cancelled 3"])
  })

  it("legacy: never past maxTotalTimeoutMs, which also lets go of the handler", async () => {
    const reasons: unknown[] = []
    const roots = (_: unknown, { signal } = _ as { signal: AbortSignal }) =>
      new Promise<[]>(() => signal.addEventListener("abort", () => reasons.push(signal.reason)))
    const { client, peer, clock, opening } = await open({ ...LEGACY, "tools/call": asks }, { handlers: { roots } })
    const call = client.callTool("slow", {}, { timeoutMs: 100, maxTotalTimeoutMs: 3_000 })
    await peer.until(opening + 1)
    await settled()
    clock.advance(3_000)
    expect(await failureOf(call)).toMatchObject({ kind: "timeout", reason: "total_timeout" })
    await peer.until(opening + 3)
    expect(peer.log.slice(opening)).toEqual(["tools/call 3", "notifications/cancelled 3", "error -32603 q"])
    expect(reasons).toEqual([expect.objectContaining({ reason: "total_timeout" })])
  })

  it("modern: stands still, too, and covers each round by itself", async () => {
    let answer: (roots: []) => void = () => {}
    const roots = () => new Promise<[]>((resolve) => (answer = resolve))
    const { client, peer, clock, opening } = await open({ ...MODERN, "tools/call": silence }, { handlers: { roots } })
    const call = client.callTool("slow", {}, { timeoutMs: 100 })
    clock.advance(60)
    peer.say({ id: 2, result: ROUND })
    await settled()
    clock.advance(5_000)
    answer([])
    await peer.until(opening + 2)
    clock.advance(99)
    await settled()
    expect(peer.lines).toHaveLength(opening + 2)
    clock.advance(1)
    expect(await failureOf(call)).toEqual(timedOut(100, 100))
    expect(peer.log.slice(opening)).toEqual(["tools/call 2", "tools/call 3", "notifications/cancelled 3"])
  })
})

describe("progress of a request", () => {
  it.each(eras)("%s: each is given to onProgress, whose presence asks for it with the request's id", async (_, era) => {
    const reply = all(progresses(1), progresses(2.5, { total: 4, message: "half" }), result(done))
    const { client, peer, opening } = await open({ ...era, "tools/call": reply })
    const told: unknown[] = []
    await client.callTool("slow", {}, { onProgress: (progress) => told.push(progress) })
    const [request] = peer.messages(opening)
    expect(metaOf(request)["progressToken"]).toBe(request?.["id"])
    expect(told).toEqual([{ progress: 1 }, { progress: 2.5, total: 4, message: "half" }])
  })

  it.each(eras)("%s: without it nothing is asked for", async (_, era) => {
    const { client, peer, opening } = await open({ ...era, "tools/call": result(done) })
    await client.callTool("slow")
    expect(peer.lines[opening]).not.toContain("progressToken")
  })

  it("does not move the deadline by default", async () => {
    const { client, peer, clock, opening } = await open({ ...MODERN, "tools/call": progresses(1) })
    const call = client.callTool("slow", {}, { timeoutMs: 100, onProgress: () => clock.advance(0) })
    clock.advance(60)
    await peer.until(opening + 1)
    await settled()
    clock.advance(40)
    expect(await failureOf(call)).toMatchObject({ reason: "request_timeout", data: { elapsedMs: 100 } })
  })

  it.each(eras)(
    "%s: resetTimeoutOnProgress restarts it with each, asks for it, and never past the total",
    async (_, era) => {
      const { client, peer, clock, opening } = await open({ ...era, "tools/call": silence })
      const call = client.callTool("slow", {}, { timeoutMs: 100, maxTotalTimeoutMs: 350, resetTimeoutOnProgress: true })
      const token = peer.messages(opening)[0]?.["id"]
      for (let progress = 1; progress <= 4; progress++) {
        clock.advance(80)
        peer.say({ method: "notifications/progress", params: { progressToken: token, progress } })
      }
      expect(peer.lines).toHaveLength(opening + 1)
      clock.advance(29)
      await settled()
      expect(peer.lines).toHaveLength(opening + 1)
      clock.advance(1)
      expect(await failureOf(call)).toMatchObject({ kind: "timeout", reason: "total_timeout" })
    },
  )

  it("resetTimeoutOnProgress can be the client's, and a call's own comes before it", async () => {
    const { client, peer, opening } = await open({ ...MODERN, "*": result(done) }, { resetTimeoutOnProgress: true })
    await client.callTool("slow")
    await client.callTool("slow", {}, { resetTimeoutOnProgress: false })
    expect(peer.lines.slice(opening).map((line) => line.includes("progressToken"))).toEqual([true, false])
  })
})

describe("a caller that gives up", () => {
  it.each(eras)(
    "%s: the request is cancelled on the wire, and the error has the caller's own reason",
    async (_, era) => {
      const { client, peer, clock, opening } = await open({ ...era, "*": silence })
      const controller = new AbortController()
      const call = client.callTool("slow", {}, { signal: controller.signal, timeoutMs: 100 })
      await peer.until(opening + 1)
      controller.abort("changed my mind")
      clock.advance(100)
      expect(await failureOf(call)).toEqual(
        failure({
          kind: "cancelled",
          reason: "aborted",
          message: "the call was aborted by its caller",
          cause: "changed my mind",
        }),
      )
      const [request, ...after] = peer.messages(opening)
      expect(after).toEqual([cancelled(Number(request?.["id"]))])
    },
  )

  it("before the call sends nothing", async () => {
    const { client, peer, opening } = await open({ ...MODERN, "*": silence })
    const reason = new Error("no")
    expect(await failureOf(client.callTool("slow", {}, { signal: AbortSignal.abort(reason) }))).toMatchObject({
      kind: "cancelled",
      reason: "aborted",
      cause: reason,
    })
    expect(peer.lines).toHaveLength(opening)
  })

  it("while the call waits for its turn sends nothing either", async () => {
    const { client, peer, opening } = await open({ ...MODERN, "*": silence }, { limits: { maxInFlight: 1 } })
    const controller = new AbortController()
    const first = client.callTool("first")
    const second = client.callTool("second", {}, { signal: controller.signal })
    controller.abort()
    expect(await failureOf(second)).toMatchObject({ kind: "cancelled", reason: "aborted" })
    peer.say({ id: peer.messages(opening)[0]?.["id"], result: done })
    await first
    await settled()
    expect(peer.log.slice(opening)).toEqual(["tools/call 2"])
  })
})

describe("each request is one span", () => {
  it.each(eras)("%s: told from its start to its stop, with how it ended", async (_, era) => {
    const script = { ...era, "tools/call": [result(done), result({ ...done, isError: true }), error(-32000), silence] }
    const { client, peer, clock, opening } = await open(script)
    const told: unknown[] = []
    client.on("client.request.start", ({ request }) => told.push(["start", request.method, request.tool]))
    client.on("client.request.stop", ({ outcome, error: failed, attempts, id }) =>
      told.push(["stop", outcome, failed?.reason, attempts, id]),
    )
    await client.callTool("a")
    await client.callTool("b")
    await failureOf(client.callTool("c"))
    const late = failureOf(client.callTool("d", {}, { timeoutMs: 10 }))
    await peer.until(opening + 4)
    clock.advance(10)
    await late
    const id = opening === 1 ? 2 : 3
    expect(told).toEqual([
      ["start", "tools/call", "a"],
      ["stop", "complete", undefined, 1, id],
      ["start", "tools/call", "b"],
      ["stop", "tool_error", undefined, 1, id + 1],
      ["start", "tools/call", "c"],
      ["stop", "error", "jsonrpc", 1, id + 2],
      ["start", "tools/call", "d"],
      ["stop", "error", "request_timeout", 1, id + 3],
    ])
  })

  it("a call that is given up by whoever hears of its start, or that it is sent again, sends nothing more", async () => {
    const refuses = error(-32022, "unsupported", { supported: ["2026-07-28"] })
    for (const event of ["client.request.start", "client.retried"] as const) {
      const { client, peer, opening } = await open({ ...MODERN, "tools/call": [refuses, result(done)] })
      const controller = new AbortController()
      client.on(event, () => controller.abort("enough"))
      expect(await failureOf(client.callTool("a", {}, { signal: controller.signal }))).toMatchObject({
        kind: "cancelled",
        cause: "enough",
      })
      await settled()
      expect(peer.log.slice(opening)).toEqual(event === "client.retried" ? ["tools/call 2"] : [])
    }
  })
})

describe("a server that no longer accepts the version (-32022)", () => {
  const refuses = (supported: unknown): Reply => error(-32022, "unsupported", { supported, requested: "2026-07-28" })

  it("is negotiated with anew, and the request sent once more", async () => {
    const script = { ...MODERN, "tools/call": [refuses(["2026-07-28", "2025-11-25"]), result(done)] }
    const { client, peer, opening } = await open(script)
    expect((await client.callTool("echo", { a: 1 })).content).toEqual(done.content)
    const [first, second] = peer.messages(opening)
    expect(second).toEqual({ ...first, id: 3 })
    expect(peer.lines).toHaveLength(opening + 2)
    expect(client.status).toMatchObject({ era: "modern", version: "2026-07-28" })
  })

  it("twice is the error of the request", async () => {
    const { client, peer, opening } = await open({ ...MODERN, "tools/call": refuses(["2026-07-28"]) })
    expect(await failureOf(client.callTool("echo"))).toMatchObject({
      kind: "protocol",
      reason: "jsonrpc",
      code: -32022,
    })
    expect(peer.log.slice(opening)).toEqual(["tools/call 2", "tools/call 3"])
  })

  it.each<[what: string, supported: unknown, served: string[], text: string]>([
    ["only older versions", ["2025-11-25"], ["2025-11-25"], "2025-11-25"],
    ["nothing", [], [], "none"],
    ["no list", "2026-07-28", [], "none"],
    ["what would spoil a terminal", ["\u001b[2J2030-01-01"], ["[2J2030-01-01"], "[2J2030-01-01"],
  ])("and lists %s: no common version, and no downgrade", async (_, supported, served, text) => {
    const { client, peer, opening } = await open({ ...MODERN, ...LEGACY, ...MODERN, "tools/call": refuses(supported) })
    expect(await failureOf(client.callTool("echo"))).toEqual(
      failure({
        kind: "protocol",
        reason: "no_common_version",
        code: -32022,
        message: `the server no longer speaks 2026-07-28, and no version of its list is spoken here: ${text}`,
        data: { served },
        cause: expect.objectContaining({ reason: "jsonrpc", code: -32022 }),
      }),
    )
    expect(peer.log.slice(opening)).toEqual(["tools/call 2"])
    expect(client.status).toMatchObject({ state: "connected", era: "modern" })
  })

  it("legacy: it is an error like any other", async () => {
    const { client, peer, opening } = await open({ ...LEGACY, "tools/call": refuses(["2026-07-28"]) })
    expect(await failureOf(client.callTool("echo"))).toMatchObject({
      kind: "protocol",
      reason: "jsonrpc",
      code: -32022,
    })
    expect(peer.log.slice(opening)).toEqual(["tools/call 3"])
    expect(client.status).toMatchObject({ era: "legacy", version: "2025-11-25" })
  })
})

describe("an operation whose wire form depends on the era", () => {
  it("ping: legacy ping, modern server/discover", async () => {
    const legacy = await open({ ...LEGACY, ping: result({}) })
    await legacy.client.ping()
    expect(legacy.peer.messages(legacy.opening)).toEqual([{ jsonrpc: "2.0", id: 3, method: "ping" }])
    const modern = await open(MODERN)
    await modern.client.ping()
    const params = { _meta: META }
    expect(modern.peer.messages(modern.opening)).toEqual([{ jsonrpc: "2.0", id: 2, method: "server/discover", params }])
  })

  it("setLogLevel: legacy logging/setLevel", async () => {
    const { client, peer, opening } = await open({
      ...LEGACY,
      "logging/setLevel": result({}),
      "*": result({ tools: [] }),
    })
    await client.setLogLevel("warning")
    await client.listTools()
    expect(peer.messages(opening)).toEqual([
      { jsonrpc: "2.0", id: 3, method: "logging/setLevel", params: { level: "warning" } },
      { jsonrpc: "2.0", id: 4, method: "tools/list" },
    ])
  })

  it("setLogLevel: modern is completed without a message, and kept for the _meta of later requests", async () => {
    const { client, peer, opening } = await open({ ...MODERN, "*": result({ resultType: "complete", tools: [] }) })
    await client.setLogLevel("warning")
    expect(peer.lines).toHaveLength(opening)
    await client.listTools()
    await client.setLogLevel("debug")
    await client.listTools()
    const levels = peer.messages(opening).map((sent) => metaOf(sent)["io.modelcontextprotocol/logLevel"])
    expect(levels).toEqual(["warning", "debug"])
  })

  it("rootsListChanged: legacy a notification", async () => {
    const { client, peer, opening } = await open(LEGACY)
    await client.rootsListChanged()
    const params = {}
    expect(peer.messages(opening)).toEqual([{ jsonrpc: "2.0", method: "notifications/roots/list_changed", params }])
  })

  it("rootsListChanged: modern is refused", async () => {
    const { client, peer, opening } = await open(MODERN)
    expect(await failureOf(client.rootsListChanged())).toEqual(
      failure({
        kind: "misuse",
        reason: "not_supported",
        message: "2026-07-28 has no notifications/roots/list_changed: servers ask for roots when they need them",
      }),
    )
    expect(peer.lines).toHaveLength(opening)
  })

  it.each<[what: string, run: (client: Client, options: CallOptions) => Promise<unknown>, method: string]>([
    ["ping", (client, options) => client.ping(options), "ping"],
    ["setLogLevel", (client, options) => client.setLogLevel("error", options), "logging/setLevel"],
  ])("%s has a deadline as any request has", async (_, run, method) => {
    const { client, peer, clock, opening } = await open({ ...LEGACY, "*": silence })
    const call = run(client, { timeoutMs: 40 })
    clock.advance(40)
    expect(await failureOf(call)).toMatchObject({ kind: "timeout", reason: "request_timeout", data: { timeoutMs: 40 } })
    expect(peer.log.slice(opening)).toEqual([`${method} 3`, "notifications/cancelled 3"])
  })
})

describe("lookup", () => {
  it("gives a client by its name, with state, era, version, reason, origin and server", async () => {
    const { client } = await open(MODERN, { name: "docs" })
    expect(lookup("docs")).toEqual({
      client,
      state: "connected",
      era: "modern",
      version: "2026-07-28",
      reason: "discovered",
      origin: "peer",
      server: { name: "scripted", version: "1.0.0" },
    })
    await client.close()
    expect(lookup("docs")).toBeUndefined()
  })

  it("tells how the connection stands at that moment", async () => {
    const { peer } = await open(LEGACY, { name: "docs", reconnect: false })
    expect(lookup("docs")).toMatchObject({ state: "connected", era: "legacy", reason: "fell_back" })
    peer.die()
    expect(lookup("docs")).toMatchObject({ state: "failed", era: "legacy", reason: "process_exited" })
  })

  it("of a name that nobody has is undefined", () => {
    expect(lookup("nobody")).toBeUndefined()
  })
})

describe("an option of a request", () => {
  it("assigns: given to the handlers of the server's requests that are tied to it, over the client's", async () => {
    const seen: unknown[] = []
    const roots = ({ assigns }: { assigns: unknown }) => {
      seen.push(assigns)
      return []
    }
    const modern = { ...MODERN, "tools/call": [result(ROUND), result(done), result(ROUND), result(done)] }
    const answered: Reply = (_, peer) => peer.say({ id: 3 + seen.length - 3, result: done })
    for (const script of [modern, { ...LEGACY, "tools/call": asks, response: answered }]) {
      const { client } = await open(script, { handlers: { roots }, assigns: { user: "client", of: "all" } })
      await client.callTool("echo", {}, { assigns: { user: "caller" } })
      await client.callTool("echo")
    }
    const each = [
      { user: "caller", of: "all" },
      { user: "client", of: "all" },
    ]
    expect(seen).toEqual([...each, ...each])
  })

  it("extensions: declared in the modern capabilities of this request, over those of the client", async () => {
    const tasks = { "io.modelcontextprotocol/tasks": {} }
    const { client, peer, opening } = await open(
      { ...MODERN, "*": result(done) },
      { extensions: { "com.example/a": {} } },
    )
    await client.callTool("echo", {}, { extensions: tasks })
    await client.callTool("echo")
    const declared = peer.messages(opening).map((sent) => metaOf(sent)["io.modelcontextprotocol/clientCapabilities"])
    expect(declared).toEqual([
      { extensions: { "com.example/a": {}, ...tasks } },
      { extensions: { "com.example/a": {} } },
    ])
  })

  it("extensions: nothing in the legacy era, where capabilities were declared once", async () => {
    const { client, peer, opening } = await open({ ...LEGACY, "*": result(done) })
    await client.callTool("echo", {}, { extensions: { "io.modelcontextprotocol/tasks": {} } })
    expect(peer.messages(opening)[0]?.["params"]).toEqual({ name: "echo", arguments: {} })
  })

  it("headers: of the request over HTTP, and ignored by other transports", async () => {
    const { client, peer, opening } = await open({ ...MODERN, "*": result(done) })
    await client.callTool("echo", {}, { headers: { "mcp-param-region": "eu" } })
    expect(peer.lines[opening]).not.toContain("region")
    expect(peer.messages(opening)[0]?.["params"]).toEqual({ _meta: META, name: "echo", arguments: {} })

    const answers: Readonly<Record<string, object>> = {
      "server/discover": { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} },
    }
    const http = await startHttpPeer({
      "*": ({ message }, response) => {
        response.writeHead(200, { "content-type": "application/json" })
        const value = answers[message?.method ?? ""] ?? done
        response.end(JSON.stringify({ jsonrpc: "2.0", id: message?.id, result: value }))
      },
    })
    const over = await connect(http.url)
    await over.callTool("echo", {}, { headers: { "mcp-param-region": "eu" } })
    await over.callTool("echo")
    expect(http.heard.map(({ headers }) => headers["mcp-param-region"])).toEqual([undefined, "eu", undefined])
    await over.close()
    await http.close()
  })

  it("traceparent: in the modern _meta when it is well formed, unless the caller's _meta has one", async () => {
    const { client, peer, opening } = await open({ ...MODERN, "*": result(done) })
    const other = TRACEPARENT.replace("0af7", "1bf7")
    await client.callTool("echo", {}, { traceparent: TRACEPARENT })
    await client.callTool("echo", {}, { traceparent: TRACEPARENT, meta: { traceparent: other } })
    await client.callTool("echo", {}, { traceparent: TRACEPARENT.toUpperCase() })
    await client.callTool("echo")
    const metas = peer.messages(opening).map(metaOf)
    expect(metas).toEqual([{ ...META, traceparent: TRACEPARENT }, { ...META, traceparent: other }, META, META])
  })

  it("traceparent: by default that of the client, or of the trace that the caller is in", async () => {
    const active = TRACEPARENT.replace("0af7", "2cf7")
    const trace = { watchClient() {}, traceparent: () => active }
    const { client, peer, opening } = await open({ ...MODERN, "*": result(done) }, { trace })
    await client.callTool("echo")
    await client.callTool("echo", {}, { traceparent: TRACEPARENT })
    const other = await open({ ...MODERN, "*": result(done) }, { trace, traceparent: TRACEPARENT })
    await other.client.callTool("echo")
    const named = [...peer.messages(opening), ...other.peer.messages(other.opening)]
    expect(named.map((sent) => metaOf(sent)["traceparent"])).toEqual([active, TRACEPARENT, TRACEPARENT])
    expect(JSON.stringify(named)).not.toMatch(/tracestate|baggage/)
  })

  it("traceparent: nothing in the legacy era", async () => {
    const { client, peer, opening } = await open({ ...LEGACY, "*": result(done) })
    await client.callTool("echo", {}, { traceparent: TRACEPARENT })
    expect(peer.messages(opening)[0]?.["params"]).toEqual({ name: "echo", arguments: {} })
  })

  it.each<[what: string, params: unknown]>([
    ["a BigInt", { n: 1n }],
    [
      "a circle",
      (() => {
        const circle: Json = {}
        circle["self"] = circle
        return circle
      })(),
    ],
  ])("params that hold %s are refused before anything is sent, and nothing is left of the call", async (_, params) => {
    const { client, peer, opening } = await open({ ...MODERN, "*": result(done) })
    expect(await failureOf(client.request("tools/call", params as never))).toMatchObject({
      kind: "misuse",
      reason: "invalid_option",
      message: expect.stringMatching(/^tools\/call: the params cannot be sent as JSON: /),
      cause: expect.any(TypeError),
    })
    expect(peer.lines).toHaveLength(opening)
    await client.callTool("echo")
    expect(peer.lines).toHaveLength(opening + 1)
  })

  it("that is none is refused before anything is sent", async () => {
    const { client, peer, opening } = await open(MODERN)
    for (const timeoutMs of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31]) {
      expect(await failureOf(client.request("tools/list", {}, { timeoutMs }))).toEqual(
        failure({
          kind: "misuse",
          reason: "invalid_option",
          message: `timeoutMs must be a number of milliseconds above 0 and at most 2147483647, not ${timeoutMs}`,
        }),
      )
    }
    expect(peer.lines).toHaveLength(opening)
  })
})
