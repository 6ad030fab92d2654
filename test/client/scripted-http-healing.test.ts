/** Legacy sessions over HTTP that the server forgets: what is sent, in which session, how often, and what the callers are told. */
import { McpError } from "conduit-mcp"
import type { Client, ConnectOptions } from "conduit-mcp/client"
import { afterEach, describe, expect, it, vi } from "vitest"
import type { ManualClock } from "../support/clock.js"
import { failureOf, pass, until } from "../support/failure.js"
import {
  type Answer,
  error,
  event,
  type HttpPeer,
  initialized,
  plain,
  result,
  type Script,
  silence,
  stream,
} from "../support/http-peer.js"
import { expectNothingLeft, open, start } from "./scripted-http/harness.js"

const whole = { content: [{ type: "text", text: "done" }] }
const called = result(whole)
/** What is said of a session that is not known. */
const unknown = plain(404, '{"jsonrpc":"2.0","id":null,"error":{"code":-32001,"message":"Session not found"}}', {
  "content-type": "application/json",
})
const script = (more: Script): Script => ({
  "server/discover": plain(404),
  initialize: [initialized("2025-11-25", "s-1"), initialized("2025-11-25", "s-2"), initialized("2025-11-25", "s-3")],
  GET: plain(405),
  DELETE: plain(200),
  ...more,
})
const quiet = { standby: false }
/** Every request with the session that it names. */
const wire = (peer: HttpPeer): string[] =>
  peer.heard.map(({ headers }, index) => `${peer.log[index]} ${headers["mcp-session-id"] ?? "-"}`)
const opening = ["POST server/discover 1 -", "POST initialize 2 -", "POST notifications/initialized s-1"]
const told = (client: Client): unknown[] => {
  const states: unknown[] = []
  client.on("client.status", ({ state, reason }) => states.push(`${state}: ${reason}`))
  return states
}
const ids = (from: number, count: number): number[] => Array.from({ length: count }, (_, index) => from + index)

afterEach(() => vi.restoreAllMocks())

/** Answers only when so many requests have come. */
const together = (count: number, answer: Answer): Answer => {
  const held: (() => void)[] = []
  return (heard, response) => {
    held.push(() => void answer(heard, response))
    if (held.length === count) for (const run of held) run()
  }
}

describe("a session that is forgotten", () => {
  it("is opened once more for twenty calls, without an id, and each is sent once more", async () => {
    const forgetting = together(20, unknown)
    const peer = await start(script({ "tools/call": [...Array<Answer>(20).fill(forgetting), called] }))
    const { client, clock } = await open(peer, quiet)
    const states = told(client)
    const results = await Promise.all(ids(0, 20).map((n) => client.callTool("t", { n })))
    expect(results.map(({ content }) => content)).toEqual(Array(20).fill(whole.content))
    expect(wire(peer).slice(0, 3)).toEqual(opening)
    expect(wire(peer).slice(3, 23).sort()).toEqual(
      ids(3, 20)
        .map((id) => `POST tools/call ${id} s-1`)
        .sort(),
    )
    expect(wire(peer).slice(23, 25)).toEqual(["POST initialize 23 -", "POST notifications/initialized s-2"])
    expect(wire(peer).slice(25).sort()).toEqual(
      ids(24, 20)
        .map((id) => `POST tools/call ${id} s-2`)
        .sort(),
    )
    expect(peer.heard[23]?.headers).not.toHaveProperty("mcp-protocol-version")
    expect(peer.heard[23]?.message?.params).toMatchObject({ protocolVersion: "2025-11-25" })
    const args = (from: number): unknown[] =>
      peer.heard
        .slice(from, from + 20)
        .map(({ message }) => Object(message?.params?.["arguments"]).n)
        .sort((a, b) => a - b)
    expect([args(3), args(25)]).toEqual([ids(0, 20), ids(0, 20)])
    expect(states).toEqual(["reconnecting: session_not_found", "connected: fell_back"])
    await client.close()
    expect(wire(peer).at(-1)).toBe("DELETE s-2")
    await expectNothingLeft(peer, clock)
  })

  it("is opened once more by any request of the session", async () => {
    for (const method of ["tools/list", "ping", "prompts/get", "x/y"]) {
      const peer = await start(script({ [method]: [unknown, result({ tools: [] })] }))
      const { client } = await open(peer, quiet)
      await client.request(method)
      expect(wire(peer)).toEqual([
        ...opening,
        `POST ${method} 3 s-1`,
        "POST initialize 4 -",
        "POST notifications/initialized s-2",
        `POST ${method} 5 s-2`,
      ])
    }
  })

  it.each<[what: string, answer: Answer]>([
    ["no body", plain(404)],
    ["HTML", plain(404, "<html>", { "content-type": "text/html" })],
    ["an error that names the request", error(404, -32001)],
    ["an error of another number", error(404, -32600)],
  ])("is known by 404 with %s", async (_what, answer) => {
    const peer = await start(script({ "tools/call": [answer, called] }))
    const { client } = await open(peer, quiet)
    expect((await client.callTool("t")).content).toEqual(whole.content)
    expect(wire(peer).at(-1)).toBe("POST tools/call 5 s-2")
  })

  it("is not what a method is that the server does not know", async () => {
    const peer = await start(script({ "tools/call": error(404, -32601) }))
    const { client } = await open(peer, quiet)
    expect(await failureOf(client.callTool("t"))).toMatchObject({ kind: "protocol", code: -32601 })
    expect(wire(peer)).toEqual([...opening, "POST tools/call 3 s-1"])
    expect(client.status.state).toBe("connected")
  })

  it.each([400, 401, 403])("is not told by HTTP %i, which is the caller's", async (status) => {
    const peer = await start(script({ "tools/call": plain(status) }))
    const { client } = await open(peer, quiet)
    await expect(client.callTool("t")).rejects.toBeInstanceOf(McpError)
    expect(wire(peer)).toEqual([...opening, "POST tools/call 3 s-1"])
  })

  it("again, before the call got through, is the call's error; the next call has a session", async () => {
    const peer = await start(script({ "tools/call": [unknown, unknown, called] }))
    const { client } = await open(peer, quiet)
    expect(await failureOf(client.callTool("t"))).toEqual({
      kind: "protocol",
      reason: "session_not_found",
      code: -32001,
      retryable: true,
      message: "tools/call: the server no longer knows the session (HTTP 404)",
      data: undefined,
      cause: undefined,
    })
    await client.callTool("t")
    expect(wire(peer)).toEqual([
      ...opening,
      "POST tools/call 3 s-1",
      "POST initialize 4 -",
      "POST notifications/initialized s-2",
      "POST tools/call 5 s-2",
      "POST initialize 6 -",
      "POST notifications/initialized s-3",
      "POST tools/call 7 s-3",
    ])
  })

  it("each time is opened so many times in a row, and then again when somebody calls", async () => {
    const peer = await start(script({ "tools/call": unknown }))
    const { client } = await open(peer, { ...quiet, limits: { maxReconnects: 3 } })
    const states = told(client)
    const call = (): Promise<unknown> => client.callTool("t").catch((reason: McpError) => reason.reason)
    // Each call is sent twice, and each of the two finds the session gone.
    expect([await call(), await call(), client.status]).toMatchObject([
      "session_not_found",
      "session_not_found",
      { state: "failed", reason: "session_not_found" },
    ])
    expect(peer.log.filter((line) => line.startsWith("POST initialize"))).toHaveLength(1 + 3)
    expect(states).toEqual([
      ...Array(3).fill(["reconnecting: session_not_found", "connected: fell_back"]).flat(),
      "failed: session_not_found",
    ])
    expect(await call()).toBe("session_not_found")
    expect(peer.log.filter((line) => line.startsWith("POST initialize"))).toHaveLength(1 + 3 + 2)
  })

  it("is a new start once the server has answered in the new one", async () => {
    const peer = await start(script({ "tools/call": Array(8).fill([unknown, called]).flat() }))
    const { client } = await open(peer, { ...quiet, limits: { maxReconnects: 2 } })
    for (const _ of ids(0, 8)) await client.callTool("t")
    expect(peer.log.filter((line) => line.startsWith("POST initialize"))).toHaveLength(9)
  })

  it("leaves a call alone that is answered in it", async () => {
    let finish = (): void => {}
    const slow: Answer = (heard, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).flushHeaders()
      finish = () => response.end(event({ jsonrpc: "2.0", id: heard.message?.id, result: whole }))
    }
    const peer = await start(script({ "tools/call": [slow, unknown, called] }))
    const { client } = await open(peer, quiet)
    const first = client.callTool("slow")
    await peer.until(4)
    await client.callTool("t")
    finish()
    expect((await first).content).toEqual(whole.content)
    expect(client.status.state).toBe("connected")
    expect(peer.log.filter((line) => line.startsWith("POST initialize"))).toHaveLength(2)
  })

  it("that a late answer tells of is opened no second time", async () => {
    let forget = (): void => {}
    const late: Answer = (heard, response) => {
      forget = () => void unknown(heard, response)
    }
    const peer = await start(script({ "tools/call": [late, unknown, called] }))
    const { client } = await open(peer, quiet)
    const first = client.callTool("late")
    await peer.until(4)
    await client.callTool("t")
    forget()
    expect((await first).content).toEqual(whole.content)
    expect(wire(peer).slice(3)).toEqual([
      "POST tools/call 3 s-1",
      "POST tools/call 4 s-1",
      "POST initialize 5 -",
      "POST notifications/initialized s-2",
      "POST tools/call 6 s-2",
      "POST tools/call 7 s-2",
    ])
  })

  it("by a server that has none any more is followed by requests without an id", async () => {
    const initialize = [initialized("2025-11-25", "s-1"), initialized("2025-11-25")]
    const answer404 = plain(404, "", { "mcp-session-id": "poison" })
    const peer = await start(script({ initialize, "tools/call": [answer404, called, plain(404)] }))
    const { client } = await open(peer, quiet)
    await client.callTool("t")
    expect(await failureOf(client.callTool("t"))).toMatchObject({ kind: "transport", reason: "http_status" })
    await client.close()
    expect(wire(peer).slice(3)).toEqual([
      "POST tools/call 3 s-1",
      "POST initialize 4 -",
      "POST notifications/initialized -",
      "POST tools/call 5 -",
      "POST tools/call 6 -",
    ])
  })

  it("has its standby stream closed, and the new one has its own", async () => {
    const peer = await start(script({ "tools/call": [unknown, called], GET: stream(": hi\n\n", false) }))
    const { client } = await open(peer)
    await until(() => peer.log.includes("GET"))
    await client.callTool("t")
    await until(() => peer.log.filter((line) => line === "GET").length === 2)
    const sessions = wire(peer).filter((line) => line.startsWith("GET"))
    expect(sessions).toEqual(["GET s-1", "GET s-2"])
  })

  it("is told the level of its log again", async () => {
    const peer = await start(script({ "logging/setLevel": result({}), "tools/call": [unknown, called] }))
    const { client } = await open(peer, quiet)
    await client.setLogLevel("warning")
    await client.callTool("t")
    await until(() => peer.heard.length === 9)
    expect(wire(peer).slice(3).sort()).toEqual(
      [
        "POST logging/setLevel 3 s-1",
        "POST tools/call 4 s-1",
        "POST initialize 5 -",
        "POST notifications/initialized s-2",
        "POST logging/setLevel 6 s-2",
        "POST tools/call 7 s-2",
      ].sort(),
    )
    const levels = peer.heard.filter(({ message }) => message?.method === "logging/setLevel")
    expect(levels.map(({ message }) => message?.params)).toEqual([{ level: "warning" }, { level: "warning" }])
  })

  it("withdraws the questions that it asked", async () => {
    const ask = event({
      jsonrpc: "2.0",
      id: "q",
      method: "elicitation/create",
      params: { message: "m", requestedSchema: { type: "object", properties: {} } },
    })
    const peer = await start(script({ "tools/call": [stream(ask, false), unknown, called] }))
    let withdrawn = false
    const { client } = await open(peer, {
      ...quiet,
      handlers: {
        elicit: (_question, { signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              withdrawn = true
              resolve({ action: "cancel" })
            })
          }),
      },
    })
    const asking = client.callTool("asks")
    asking.catch(() => {})
    await until(() => peer.heard.length === 4)
    await client.callTool("t")
    await until(() => withdrawn)
    await client.close()
    expect(peer.log.filter((line) => /^POST( q)?$/.test(line))).toEqual([])
  })

  it("is the caller's error for a client that does not heal, and the connection is down", async () => {
    const peer = await start(script({ "tools/call": unknown }))
    const { client, clock } = await open(peer, { ...quiet, reconnect: false })
    const states = told(client)
    expect(await failureOf(client.callTool("t"))).toMatchObject({ kind: "protocol", reason: "session_not_found" })
    expect(client.status).toMatchObject({ state: "failed", reason: "session_not_found" })
    expect(await failureOf(client.callTool("t"))).toMatchObject({
      kind: "connection_down",
      reason: "not_connected",
      retryable: true,
      cause: expect.objectContaining({ reason: "session_not_found" }),
    })
    expect(states).toEqual(["failed: session_not_found"])
    expect(wire(peer)).toEqual([...opening, "POST tools/call 3 s-1"])
    await client.close()
    await expectNothingLeft(peer, clock)
    expect(peer.log).not.toContain("DELETE")
  })
})

describe("a new session that is not to be had", () => {
  it.each<[what: string, answer: Answer, cause: object]>([
    ["credentials", plain(401), { kind: "authorization", reason: "unauthenticated" }],
    ["an error", error(200, -32603), { kind: "protocol", code: -32603 }],
    ["a version that is not spoken here", initialized("2031-01-01", "s-2"), { reason: "no_common_version" }],
  ])("because of %s ends every call that waits, at once", async (_what, answer, cause) => {
    const initialize = [initialized("2025-11-25", "s-1"), answer]
    const peer = await start(script({ initialize, "tools/call": together(20, unknown) }))
    const { client, clock } = await open(peer, quiet)
    const failures = await Promise.all(ids(0, 20).map(() => failureOf(client.callTool("t"))))
    for (const failure of failures) {
      expect(failure).toMatchObject({
        kind: "connection_down",
        reason: "not_connected",
        message: expect.stringContaining(`not connected to ${peer.origin}: `),
        cause: expect.objectContaining(cause),
      })
    }
    expect(client.status.state).toBe("failed")
    expect(peer.log.filter((line) => line.startsWith("POST initialize"))).toHaveLength(2)
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("in time ends every call by its own deadline", async () => {
    const initialize = [initialized("2025-11-25", "s-1"), silence]
    const peer = await start(script({ initialize, "tools/call": unknown }))
    const { client, clock } = await open(peer, quiet)
    const call = failureOf(client.callTool("t", {}, { timeoutMs: 1_000 }))
    await until(() => peer.heard.length === 5)
    clock.advance(1_000)
    expect(await call).toMatchObject({ kind: "timeout", reason: "request_timeout", data: { timeoutMs: 1_000 } })
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("when the client is closed ends every call as closed", async () => {
    const initialize = [initialized("2025-11-25", "s-1"), silence]
    const peer = await start(script({ initialize, "tools/call": unknown }))
    const { client, clock } = await open(peer, quiet)
    const calls = ids(0, 5).map(() => failureOf(client.callTool("t")))
    await until(() => peer.log.includes("POST initialize 8"))
    await client.close()
    for (const failure of await Promise.all(calls))
      expect(failure).toMatchObject({ kind: "cancelled", reason: "closed" })
    await expectNothingLeft(peer, clock)
    expect(peer.log).not.toContain("DELETE")
  })
})

describe("a server that is down when its session is to be opened again", () => {
  /** Lets waits pass, one after the other; each is cut short by a twentieth, by chance. */
  const passAll = async (clock: ManualClock, fullMs: readonly number[]): Promise<void> => {
    for (const ms of fullMs) await pass(clock, Math.round(ms * 0.95))
  }
  /** The waits of one handshake with a server that is busy or not there. */
  const tries = [200, 400, 800]

  /** A client that has just been told that its session is not known, by a server that went down behind that. */
  const openAndLose = async (options: ConnectOptions = {}) => {
    vi.spyOn(Math, "random").mockReturnValue(0.9)
    let goDown = (): void => {}
    const forgetting: Answer = (heard, response) => {
      response.on("finish", goDown)
      return unknown(heard, response)
    }
    const peer = await start(script({ "tools/call": [forgetting, called] }))
    let down: Promise<void> | undefined
    goDown = () => {
      down = peer.down()
    }
    const { client, clock } = await open(peer, { ...quiet, ...options })
    const states = told(client)
    const call = client.callTool("t")
    call.catch(() => {})
    await until(() => states.length === 1)
    await down
    return { peer, client, clock, states, call }
  }

  it("and comes up is asked with growing waits, and every call goes through", async () => {
    const { peer, client, clock, states, call } = await openAndLose()
    const calls = [call, client.callTool("t"), client.callTool("t")]
    await passAll(clock, [...tries, 250, ...tries])
    await until(() => states.length === 3)
    await peer.up()
    await passAll(clock, [500])
    for (const { content } of await Promise.all(calls)) expect(content).toEqual(whole.content)
    expect(states).toEqual([
      "reconnecting: session_not_found",
      "reconnecting: network_error",
      "reconnecting: network_error",
      "connected: fell_back",
    ])
    await client.close()
    expect(wire(peer)).toEqual([
      ...opening,
      "POST tools/call 3 s-1",
      "POST initialize 1 -",
      "POST notifications/initialized s-2",
      ...[2, 3, 4].map(() => expect.stringMatching(/^POST tools\/call [234] s-2$/)),
      "DELETE s-2",
    ])
    await expectNothingLeft(peer, clock)
  })

  it("for good is given up with the cause, and asked again by the next call", async () => {
    const { peer, client, clock, states, call } = await openAndLose({ limits: { maxReconnects: 3 } })
    const outcomes = [failureOf(call), failureOf(client.callTool("t"))]
    await passAll(clock, [...tries, 250, ...tries, 500, ...tries])
    for (const outcome of await Promise.all(outcomes)) {
      expect(outcome).toMatchObject({
        kind: "connection_down",
        reason: "not_connected",
        retryable: true,
        cause: expect.objectContaining({ kind: "transport", reason: "network_error" }),
      })
    }
    expect(states).toEqual([
      "reconnecting: session_not_found",
      "reconnecting: network_error",
      "reconnecting: network_error",
      "failed: network_error",
    ])
    await peer.up()
    expect((await client.callTool("t")).content).toEqual(whole.content)
    expect(states.slice(4)).toEqual(["reconnecting: network_error", "connected: fell_back"])
    expect(wire(peer).slice(4)).toEqual([
      "POST initialize 1 -",
      "POST notifications/initialized s-2",
      "POST tools/call 2 s-2",
    ])
  })

  it("for good is asked once by each call from then on, which is told at once", async () => {
    const { client, clock, states, call } = await openAndLose({ limits: { maxReconnects: 1 } })
    await passAll(clock, tries)
    await failureOf(call)
    for (const _ of [1, 2]) {
      const next = failureOf(client.callTool("t"))
      await passAll(clock, tries)
      expect(await next).toMatchObject({ kind: "connection_down", reason: "not_connected" })
    }
    expect(states.slice(1)).toEqual([
      "failed: network_error",
      ...[1, 2].flatMap(() => ["reconnecting: network_error", "failed: network_error"]),
    ])
  })

  it("and has become one of the modern era is spoken to in it", async () => {
    vi.spyOn(Math, "random").mockReturnValue(0.9)
    const modern = { resultType: "complete", supportedVersions: ["2026-07-28"], capabilities: {} }
    const busy = Array<Answer>(4).fill(plain(503))
    const peer = await start(
      script({
        "server/discover": [plain(404), result(modern)],
        initialize: [initialized("2025-11-25", "s-1"), ...busy, plain(404)],
        "tools/call": [unknown, result({ resultType: "complete", ...whole })],
      }),
    )
    const { client, clock } = await open(peer, quiet)
    const call = client.callTool("t")
    await passAll(clock, [...tries, 250])
    expect((await call).content).toEqual(whole.content)
    expect(client.status).toMatchObject({ era: "modern", version: "2026-07-28", reason: "discovered" })
  })
})

describe("an answer to a server's question", () => {
  it("that is refused is answered with nothing, and the call goes on", async () => {
    const ask = event({ jsonrpc: "2.0", id: 7, method: "roots/list" })
    let finish = (): void => {}
    const asking: Answer = (heard, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" }).write(ask)
      finish = () => response.end(event({ jsonrpc: "2.0", id: heard.message?.id, result: whole }))
    }
    const peer = await start(script({ "tools/call": asking, response: unknown }))
    const { client } = await open(peer, { ...quiet, handlers: { roots: () => [] } })
    const call = client.callTool("t")
    await until(() => peer.heard.length === 5)
    finish()
    expect((await call).content).toEqual(whole.content)
    expect(wire(peer).slice(3)).toEqual(["POST tools/call 3 s-1", "POST 7 s-1"])
    expect(peer.heard[4]?.message).toEqual({ jsonrpc: "2.0", id: 7, result: { roots: [] } })
  })
})

describe("the end of the session that is open", () => {
  it.each([200, 204, 404, 405, 500])("is told by DELETE, whatever is said to that: HTTP %i", async (status) => {
    const peer = await start(script({ "tools/call": [unknown, called], DELETE: plain(status) }))
    const { client, clock } = await open(peer, quiet)
    await client.callTool("t")
    await client.close()
    expect(wire(peer).filter((line) => line.startsWith("DELETE"))).toEqual(["DELETE s-2"])
    await expectNothingLeft(peer, clock)
  })
})
