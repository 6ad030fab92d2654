/** What servers ask and say on their streams over HTTP, in both eras, and what the application sees of it. */
import { describe, expect, it } from "vitest"
import { until } from "../support/failure.js"
import {
  type Answer,
  cut,
  discover,
  event,
  type Heard,
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
const respond = (heard: Heard, value: object = whole): string =>
  event({ jsonrpc: "2.0", id: heard.message?.id, result: value })
const note = { jsonrpc: "2.0", method: "notifications/message", params: { level: "info", data: "hi" } }
/** The messages of the client that are responses. */
const responses = (peer: HttpPeer): unknown[] =>
  peer.heard.flatMap(({ message }) => (message === undefined || message.method !== undefined ? [] : [message]))

describe("what a legacy server asks", () => {
  const form = { type: "object", properties: { name: { type: "string", default: "Ada" } } }
  const ask = (
    id: unknown,
    method = "elicitation/create",
    params: object = { message: "Who?", requestedSchema: form },
  ): string => event({ jsonrpc: "2.0", id, method, params })
  const accepted = { action: "accept", content: { name: "Ada" } }
  const elicit = { elicit: () => ({ action: "accept" as const }) }

  it("on the stream of a call is answered while the call is open, with its clock standing still", async () => {
    let answer: (() => void) | undefined
    let rest: (() => void) | undefined
    const peer = await start({
      ...legacy(),
      "tools/call": (heard, response) => {
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(ask("q"))
        rest = () => response.end(respond(heard))
      },
      response: () => rest?.(),
    })
    const askedBy: unknown[] = []
    const { client, clock } = await open(peer, {
      standby: false,
      handlers: {
        elicit: (_question, context) => {
          askedBy.push(context.askedBy, context.assigns)
          return new Promise((resolve) => {
            answer = () => resolve({ action: "accept" })
          })
        },
      },
    })
    const call = client.callTool("t", {}, { timeoutMs: 1_000, assigns: { user: "u" } })
    await until(() => answer !== undefined)
    clock.advance(60_000)
    answer?.()
    expect((await call).content).toEqual(whole.content)
    expect(askedBy).toEqual(["t", { user: "u" }])
    expect(responses(peer)).toEqual([{ jsonrpc: "2.0", id: "q", result: accepted }])
  })

  it("on the standby stream is answered at any time", async () => {
    const peer = await start({ ...legacy(), GET: stream(ask(7) + ask("8", "ping", {}), false) })
    await open(peer, { handlers: elicit })
    await until(() => responses(peer).length === 2)
    expect(responses(peer)).toHaveLength(2)
    expect(responses(peer)).toEqual(
      expect.arrayContaining([
        { jsonrpc: "2.0", id: 7, result: accepted },
        { jsonrpc: "2.0", id: "8", result: {} },
      ]),
    )
  })

  it("in batches is answered one by one, where the revision has them", async () => {
    const batch = (messages: object[]): string => `data: ${JSON.stringify(messages)}\n\n`
    const question = (id: number): object => ({ jsonrpc: "2.0", id, method: "ping" })
    const answers: Answer = (heard, response) => {
      response.writeHead(200, { "content-type": "application/json" })
      response.end(JSON.stringify([note, question(5), { jsonrpc: "2.0", id: heard.message?.id, result: whole }]))
    }
    const script: Script = {
      ...legacy("2025-03-26"),
      "tools/call": answers,
      GET: stream(batch([question(1), note, question(2)]), false),
    }
    const peer = await start(script)
    const heard: unknown[] = []
    const { client } = await open(peer, { handlers: { log: ({ data }) => heard.push(data) } })
    await until(() => responses(peer).length === 2)
    expect((await client.callTool("t")).content).toEqual(whole.content)
    await until(() => responses(peer).length === 3)
    expect(heard).toEqual(["hi", "hi"])
    expect(
      responses(peer)
        .map((message) => (message as { id: number }).id)
        .sort(),
    ).toEqual([1, 2, 5])
  })

  it("in batches is not read where the revision has none", async () => {
    const messages = JSON.stringify([
      { jsonrpc: "2.0", id: 1, method: "ping" },
      { jsonrpc: "2.0", id: 4, result: whole },
    ])
    const peer = await start({ ...legacy(), "tools/call": stream((heard) => `data: ${messages}\n\n${respond(heard)}`) })
    const { client } = await open(peer, { standby: false })
    const noises: unknown[] = []
    client.on("client.noise", (noise) => noises.push(noise))
    await client.callTool("t")
    expect(responses(peer)).toEqual([])
    expect(noises).toEqual([{ from: "stream", text: messages }])
  })

  it("twice with one id, while the first is open, is refused", async () => {
    const peer = await start({ ...legacy(), GET: stream(ask(0) + ask(0), false) })
    let answer: (() => void) | undefined
    await open(peer, {
      handlers: {
        elicit: () =>
          new Promise((resolve) => {
            answer = () => resolve({ action: "decline" })
          }),
      },
    })
    await until(() => responses(peer).length === 1)
    answer?.()
    await until(() => responses(peer).length === 2)
    expect(responses(peer)).toMatchObject([
      { id: 0, error: { code: -32600 } },
      { id: 0, result: { action: "decline" } },
    ])
  })

  it("without being declared is refused with the right code", async () => {
    const url = { mode: "url", message: "m", url: "https://example.com", elicitationId: "e" }
    const asks =
      ask(1, "sampling/createMessage", { messages: [], maxTokens: 1 }) +
      ask(2, "elicitation/create", url) +
      ask(3, "x/y")
    const peer = await start({ ...legacy(), GET: stream(asks, false) })
    await open(peer, { handlers: elicit, elicitation: ["form"] })
    await until(() => responses(peer).length === 3)
    expect(responses(peer)).toMatchObject([
      { id: 1, error: { code: -32601 } },
      { id: 2, error: { code: -32602 } },
      { id: 3, error: { code: -32601 } },
    ])
  })

  it("and that is lost is asked for nobody: the call's failure is the caller's", async () => {
    const peer = await start({ ...legacy(), "tools/call": stream(ask("q")), response: cut })
    const { client, clock } = await open(peer, { standby: false, handlers: elicit })
    await expect(client.callTool("t")).rejects.toMatchObject({ kind: "transport", reason: "stream_broken" })
    await client.close()
    await expectNothingLeft(peer, clock)
  })
})

describe("what a modern server may not ask", () => {
  it("on a stream is passed over and told to who listens, and the response is taken", async () => {
    const ask = event({ jsonrpc: "2.0", id: 1, method: "roots/list" })
    const peer = await start({ ...modern, "tools/call": stream((heard) => ask + event(note) + respond(heard)) })
    const noises: unknown[] = []
    const lines: unknown[] = []
    const { client } = await open(peer, { handlers: { roots: () => [], log: ({ data }) => lines.push(data) } })
    client.on("client.noise", (noise) => noises.push(noise))
    expect((await client.callTool("t")).content).toEqual(whole.content)
    expect(peer.log).toEqual(["POST server/discover 1", "POST tools/call 2"])
    expect(noises).toEqual([{ from: "output", text: "a request that the revision does not have: roots/list" }])
    expect(lines).toEqual(["hi"])
  })

  it("nor is a stream held open for it", async () => {
    const peer = await start({ ...modern, GET: stream("", false), "tools/call": result(whole) })
    const { client } = await open(peer)
    await client.callTool("t")
    expect(peer.connections()).toBe(1)
    expect(peer.log).not.toContain("GET")
  })
})

describe("the standby stream", () => {
  it.each([400, 404, 405, 406, 501])("that is refused with HTTP %i is told once, and harms nothing", async (status) => {
    const peer = await start({ ...legacy(), GET: plain(status, "no"), "tools/call": result(whole) })
    const { client, clock } = await open(peer)
    const noises: unknown[] = []
    client.on("client.noise", (noise) => noises.push(noise))
    await until(() => noises.length === 1)
    await client.callTool("t")
    clock.advance(600_000)
    await client.callTool("t")
    expect(noises).toEqual([
      { from: "stream", text: `${peer.origin} has no stream for what belongs to no request: HTTP ${status}` },
    ])
    expect(peer.log.filter((line) => line === "GET")).toHaveLength(1)
  })

  it("is opened after the handshake is done, names the session, and brings what belongs to no call", async () => {
    const changed: unknown[] = []
    const list = { jsonrpc: "2.0", method: "notifications/tools/list_changed" }
    const uri = { jsonrpc: "2.0", method: "notifications/resources/updated", params: { uri: "a:b" } }
    const peer = await start({ ...legacy(), GET: stream(event(list) + event(uri), false) })
    const { client, clock } = await open(peer, { handlers: { changed: (change) => changed.push(change) } })
    await until(() => changed.length === 2)
    expect(changed).toEqual([{ list: "tools" }, { uri: "a:b" }])
    expect(peer.log).toEqual(["POST server/discover 1", "POST initialize 2", "POST notifications/initialized", "GET"])
    expect(peer.heard[3]?.headers).toMatchObject({ "mcp-session-id": "s-1", accept: "text/event-stream" })
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("is not opened when it is not wanted", async () => {
    const peer = await start({ ...legacy(), "tools/call": result(whole) })
    const { client } = await open(peer, { standby: false })
    await client.callTool("t")
    expect(peer.log).not.toContain("GET")
  })
})
