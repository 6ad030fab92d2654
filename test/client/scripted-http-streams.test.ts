/** Streams that break, streams that are gone on with, and what a server says on them, as the application sees it over HTTP. */
import { describe, expect, it } from "vitest"
import { failure, failureOf, pass, until } from "../support/failure.js"
import {
  type Answer,
  cut,
  discover,
  event,
  type HttpPeer,
  initialized,
  plain,
  result,
  type Script,
  stream,
} from "../support/http-peer.js"
import { expectNothingLeft, open, start } from "./scripted-http/harness.js"

/** An answer after which the connection is not used again, so that the next one is a new one. */
const closing =
  (answer: Answer): Answer =>
  (heard, response) => {
    response.setHeader("connection", "close")
    return answer(heard, response)
  }

const modern: Script = { "server/discover": closing(discover()) }
const legacy = (version = "2025-11-25"): Script => ({
  "server/discover": plain(404),
  initialize: initialized(version, "s-1"),
  GET: plain(405),
})
const whole = { resultType: "complete", content: [{ type: "text", text: "done" }] }
const note = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "hi" } }
const metaOf = (peer: HttpPeer): unknown[] => peer.heard.map(({ message }) => message?.params?.["_meta"])

/** An event stream that sends something and is then torn, not ended. */
const torn =
  (text: string): Answer =>
  (_, response) => {
    response.writeHead(200, { "content-type": "text/event-stream" })
    response.write(text, () => response.destroy())
  }

/** The ways in which an answer is lost before the response. */
const losses: readonly (readonly [how: string, answer: Answer])[] = [
  ["a connection that is cut", cut],
  ["a stream that ends", stream(": hi\n\n")],
  ["a stream that is torn in an event", torn('data: {"jsonrpc":')],
  ["a stream that ends after a message, with an id", stream(event(note, "e-1"))],
  [
    "a JSON body that is cut",
    (_, response) => {
      response.writeHead(200, { "content-type": "application/json", "content-length": "100" })
      response.write('{"jsonrpc"', () => response.destroy())
    },
  ],
]

describe("an answer that is lost in the modern era", () => {
  const tools = [
    { name: "read", inputSchema: { type: "object" }, annotations: { readOnlyHint: true } },
    { name: "set", inputSchema: { type: "object" }, annotations: { idempotentHint: true } },
    { name: "pay", inputSchema: { type: "object" }, annotations: { readOnlyHint: false } },
  ]
  const listed = closing(result({ resultType: "complete", tools, ttlMs: 0, cacheScope: "private" }))

  it.each(losses)(
    "by %s is asked for once more, with a new id and token, where nothing happens twice",
    async (_how, loss) => {
      const methods: readonly (readonly [method: string, params: Record<string, string>, value: object])[] = [
        ["server/discover", {}, {}],
        ["tools/list", {}, {}],
        ["resources/list", {}, {}],
        ["resources/templates/list", {}, {}],
        ["resources/read", { uri: "a:b" }, {}],
        ["prompts/list", {}, {}],
        ["prompts/get", { name: "p" }, {}],
        ["completion/complete", {}, {}],
      ]
      for (const [method, params] of methods) {
        const answers = method === "server/discover" ? [closing(discover())] : []
        const peer = await start({ ...modern, [method]: [...answers, loss, result({ resultType: "complete", n: 1 })] })
        const { client } = await open(peer)
        expect(await client.request(method, params, { onProgress: () => {} })).toEqual({ resultType: "complete", n: 1 })
        expect(peer.log).toEqual(["POST server/discover 1", `POST ${method} 2`, `POST ${method} 3`])
        expect(metaOf(peer).slice(1)).toMatchObject([{ progressToken: 2 }, { progressToken: 3 }])
        expect(peer.heard[2]?.message?.params).toMatchObject(params)
      }
    },
  )

  it.each(losses)("by %s is asked for once more of tools that say so", async (_how, loss) => {
    const peer = await start({
      ...modern,
      "tools/list": listed,
      "tools/call": [loss, closing(result(whole)), loss, result(whole)],
    })
    const { client } = await open(peer)
    await client.listTools()
    expect((await client.callTool("read", { a: 1 })).content).toEqual(whole.content)
    expect((await client.callTool("set", { a: 1 })).content).toEqual(whole.content)
    expect(peer.log.slice(2)).toEqual([3, 4, 5, 6].map((id) => `POST tools/call ${id}`))
  })

  it.each(losses)("by %s is the caller's of any other tool, who may try again", async (_how, loss) => {
    for (const tool of ["pay", "unlisted"]) {
      const peer = await start({ ...modern, "tools/list": listed, "tools/call": [loss, result(whole)] })
      const { client } = await open(peer)
      await client.listTools()
      expect(await failureOf(client.callTool(tool))).toMatchObject({
        kind: "transport",
        reason: expect.stringMatching(/^(stream_broken|network_error)$/),
        retryable: true,
        code: undefined,
      })
      expect(peer.log.slice(2)).toEqual(["POST tools/call 3"])
      expect((await client.callTool(tool)).content).toEqual(whole.content)
    }
  })

  it.each(losses)("by %s twice is the caller's", async (_how, loss) => {
    const peer = await start({ ...modern, "prompts/get": loss })
    const { client } = await open(peer)
    expect(await failureOf(client.getPrompt("p"))).toMatchObject({ kind: "transport", retryable: true })
    expect(peer.log.slice(1)).toEqual(["POST prompts/get 2", "POST prompts/get 3"])
  })

  it("on a connection that had been kept, and was dead, is asked for as it was before that", async () => {
    const peer = await start({ "server/discover": discover(), "prompts/get": cut, "tools/call": cut })
    const { client } = await open(peer)
    expect(await failureOf(client.getPrompt("p"))).toMatchObject({ kind: "transport", reason: "network_error" })
    expect(peer.log.slice(1)).toEqual(["POST prompts/get 2", "POST prompts/get 2", "POST prompts/get 3"])
    await client.ping()
    expect(await failureOf(client.callTool("pay"))).toMatchObject({ kind: "transport", reason: "network_error" })
    expect(peer.log.slice(4)).toEqual(["POST server/discover 4", "POST tools/call 5"])
  })

  it("is told by what was asked for and where", async () => {
    const peer = await start({ ...modern, "tools/call": stream(": hi\n\n") })
    const { client } = await open(peer)
    expect(await failureOf(client.callTool("pay"))).toEqual(
      failure({
        kind: "transport",
        reason: "stream_broken",
        retryable: true,
        message: `tools/call: the answer of ${peer.origin} ended before the response`,
      }),
    )
  })

  it("is not gone on with by Last-Event-ID, which the revision does not have", async () => {
    const peer = await start({ ...modern, "tools/call": stream(event(note, "e-1")), GET: stream("") })
    const { client, clock } = await open(peer)
    await expect(client.callTool("pay")).rejects.toMatchObject({ reason: "stream_broken" })
    expect(peer.log).toEqual(["POST server/discover 1", "POST tools/call 2"])
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("of a round is asked for with that round's state and answers, and nobody is asked twice", async () => {
    const asking = {
      resultType: "input_required",
      inputRequests: { a: { method: "roots/list" } },
      requestState: "one",
    }
    let asked = 0
    for (const [, loss] of losses) {
      asked = 0
      const peer = await start({
        ...modern,
        "prompts/get": [closing(result(asking)), loss, result({ resultType: "complete", messages: [] })],
      })
      const { client } = await open(peer, {
        handlers: {
          roots: () => {
            asked++
            return []
          },
        },
      })
      await client.getPrompt("p")
      expect(asked).toBe(1)
      expect(peer.log.slice(1)).toEqual([2, 3, 4].map((id) => `POST prompts/get ${id}`))
      const round = { name: "p", arguments: {}, inputResponses: { a: { roots: [] } }, requestState: "one" }
      expect(peer.heard[2]?.message?.params).toMatchObject(round)
      expect(peer.heard[3]?.message?.params).toEqual(peer.heard[2]?.message?.params)
    }
  })

  it("of a round of a tool that may do something is the caller's", async () => {
    const asking = { resultType: "input_required", requestState: "one" }
    const peer = await start({ ...modern, "tools/call": [closing(result(asking)), cut] })
    const { client } = await open(peer)
    await expect(client.callTool("pay")).rejects.toMatchObject({ kind: "transport", retryable: true })
    expect(peer.log.slice(1)).toEqual(["POST tools/call 2", "POST tools/call 3"])
  })
})

describe("an answer that is lost in the legacy era", () => {
  it.each(["2025-11-25", "2025-06-18", "2025-03-26"])("of %s is gone on with from its last event", async (version) => {
    const parts = stream(`retry: 300\n${event(note, "e-1")}`)
    const more = stream(event({ ...note, params: { level: "info", data: "more" } }, "e-2"))
    const rest = stream(event({ jsonrpc: "2.0", id: 3, result: whole }, "e-3"))
    const heard: unknown[] = []
    const peer = await start({ ...legacy(version), "tools/call": parts, GET: [more, rest] })
    const { client, clock } = await open(peer, { standby: false, handlers: { log: ({ data }) => heard.push(data) } })
    const call = client.callTool("t")
    await pass(clock, 300)
    await pass(clock, 300)
    expect((await call).content).toEqual(whole.content)
    expect(heard).toEqual(["hi", "more"])
    expect(peer.log.slice(3)).toEqual(["POST tools/call 3", "GET", "GET"])
    for (const [index, id] of [
      [4, "e-1"],
      [5, "e-2"],
    ] as const) {
      expect(peer.heard[index]?.headers).toMatchObject({
        "last-event-id": id,
        "mcp-session-id": "s-1",
        "mcp-protocol-version": version,
        accept: "text/event-stream",
      })
    }
  })

  it.each(losses.filter(([how]) => !how.includes("with an id")))(
    "by %s is the caller's, whatever was asked",
    async (_how, loss) => {
      const peer = await start({ ...legacy(), "tools/list": loss, "tools/call": loss })
      const { client } = await open(peer, { standby: false })
      for (const call of [client.callTool("t"), client.request("tools/list")]) {
        expect(await failureOf(call)).toMatchObject({ kind: "transport", retryable: true })
      }
      expect(peer.log.slice(3)).toEqual(["POST tools/call 3", "POST tools/list 4"])
    },
  )

  it("that cannot be gone on with is the caller's, and says why", async () => {
    const peer = await start({
      ...legacy(),
      "tools/call": stream(`retry: 300\n${event(note, "e-1")}`),
      GET: plain(404),
    })
    const { client, clock } = await open(peer, { standby: false })
    const call = client.callTool("t")
    await pass(clock, 300)
    expect(await failureOf(call)).toMatchObject({
      kind: "transport",
      reason: "stream_broken",
      retryable: true,
      message: `tools/call: the answer of ${peer.origin} ended before the response: tools/call: ${peer.origin} answered with HTTP 404`,
      data: { status: 404 },
    })
    expect(peer.log.slice(3)).toEqual(["POST tools/call 3", "GET"])
  })

  it("keeps its deadline while it is gone on with, and is cancelled by name", async () => {
    const peer = await start({ ...legacy(), "tools/call": stream(`retry: 300\n${event(note, "e-1")}`) })
    const { client, clock } = await open(peer, { standby: false })
    const call = client.callTool("t", {}, { timeoutMs: 200 })
    await until(() => clock.dueInMs.includes(300))
    clock.advance(200)
    await expect(call).rejects.toMatchObject({ kind: "timeout", reason: "request_timeout" })
    await until(() => peer.heard.length === 5)
    expect(peer.log.slice(3)).toEqual(["POST tools/call 3", "POST notifications/cancelled"])
    expect(peer.heard[4]?.message?.params).toMatchObject({ requestId: 3 })
    await client.close()
    await expectNothingLeft(peer, clock)
  })
})
