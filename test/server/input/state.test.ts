/** `requestState`: whose it is, for what, how long, and how large. */
import {
  createServer,
  type EndpointOptions,
  type Gate,
  type JsonObject,
  prompt,
  resource,
  type Store,
  tool,
} from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { createMemoryStore } from "../../../src/store/memory.js"
import { accept, everything, modernCall, type Round, textOf, toRound } from "../../support/asking.js"
import { createManualClock } from "../../support/clock.js"
import { postModern } from "../../support/http.js"
import { link } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"
import { type Json, modernHeaders, modernRequest } from "../../support/wire.js"

const secrets = ["0123456789abcdef0123456789abcdef"]
const name = z.object({ name: z.string() })
const ada = accept({ name: "Ada" })
const invalid = { code: -32602, data: { reason: "request_state_invalid" } }

let entered = 0

const askName = tool("ask", { input: z.object({ a: z.json().optional(), b: z.json().optional() }) }, async (_, ctx) => {
  entered++
  const who = await ctx.elicit("Who?", name)
  return `Hello ${who.content?.name}`
})
const other = tool("other", { input: z.object({ a: z.json().optional(), b: z.json().optional() }) }, () => {
  entered++
  return "never asks"
})
const says = prompt("says", { args: z.object({ a: z.string().optional() }) }, async (_, ctx) => {
  entered++
  await ctx.elicit("Who?", name)
  return "said"
})
const reads = resource("test://reads", { name: "reads" }, async (ctx) => {
  entered++
  await ctx.elicit("Who?", name)
  return "read"
})
const plain = resource("test://plain", { name: "plain" }, () => {
  entered++
  return "plain"
})

function node(options: EndpointOptions = {}, serverName = "test") {
  const logger = createRecordingLogger()
  const server = createServer({
    name: serverName,
    version: "1.0.0",
    logger,
    tools: [askName, other],
    prompts: [says],
    resources: [reads, plain],
  })
  const raw = link(server, { secrets, ...options })
  return {
    logger,
    server,
    raw,
    call: (params: Json, method = "tools/call") => modernCall(raw.request, params, { method }),
  }
}

const ask = { name: "ask", arguments: { a: 1, b: [{ c: "x", d: null }] } }

/** The refusal of a round, with how often a handler was entered for it. */
async function refusalOf(sent: Promise<Round>): Promise<{ readonly error: Round["error"]; readonly entered: number }> {
  entered = 0
  const { error } = await sent
  return { error, entered }
}

describe("a state", () => {
  it("is refused with any byte changed, and the handler is not entered", async () => {
    const { call } = node()
    const { state = "" } = await call(ask).round()
    entered = 0
    for (let at = 0; at < state.length; at++) {
      const changed = state.slice(0, at) + (state[at] === "A" ? "B" : "A") + state.slice(at + 1)
      const { error } = await call(ask).round({ state: changed, answers: { q1: ada } })
      expect(error, `byte ${at}`).toMatchObject(invalid)
    }
    expect(entered).toBe(0)
  })

  it.each<[what: string, change: (state: string) => string]>([
    ["empty", () => ""],
    ["cut", (state) => state.slice(0, -1)],
    ["made longer", (state) => `${state}-TAMPERED`],
    ["something else", () => "hello"],
    ["one megabyte", () => `1.AAAAAAAA.${"A".repeat(1 << 20)}`],
  ])("is refused when it is %s, always in the same words", async (_, change) => {
    const { call } = node()
    const { state = "" } = await call(ask).round()
    const { error, entered: times } = await refusalOf(call(ask).round({ state: change(state), answers: { q1: ada } }))
    expect(error).toEqual({
      code: -32602,
      message: "Invalid params: requestState is not valid for this request",
      data: { reason: "request_state_invalid" },
    })
    expect(times).toBe(0)
  })

  it.each<[what: string, params: Json, method?: string]>([
    ["another tool", { ...ask, name: "other" }],
    ["other arguments", { ...ask, arguments: { a: 2, b: ask.arguments.b } }],
    ["more arguments", { ...ask, arguments: { ...ask.arguments, e: 1 } }],
    ["fewer arguments", { ...ask, arguments: { a: 1 } }],
    ["no arguments", { name: "ask" }],
    ["other arguments deep inside", { ...ask, arguments: { a: 1, b: [{ c: "y", d: null }] } }],
    ["a prompt", { name: "says" }, "prompts/get"],
    ["a resource", { uri: "test://reads" }, "resources/read"],
    ["a resource that never asks", { uri: "test://plain" }, "resources/read"],
  ])("of a call is refused for %s", async (_, params, method) => {
    const { call } = node()
    const { state } = await call(ask).round()
    const { error, entered: times } = await refusalOf(call(params, method).round({ state, answers: { q1: ada } }))
    expect(error).toMatchObject(invalid)
    expect(times).toBe(0)
  })

  it("is bound to the tool, whatever else the call says", async () => {
    const { call } = node()
    const { state } = await call({ ...ask, uri: "test://plain" }).round()
    const other = call({ ...ask, name: "other", uri: "test://plain" })
    const { error, entered: times } = await refusalOf(other.round({ state, answers: { q1: ada } }))
    expect(error).toMatchObject(invalid)
    expect(times).toBe(0)
  })

  it.each<[what: string, params: Json]>([
    ["members in another order", { arguments: { b: [{ d: null, c: "x" }], a: 1 }, name: "ask" }],
    ["other _meta", { ...ask, _meta: { "example.com/trace": 1 } }],
  ])("is taken with %s", async (_, params) => {
    const { call } = node()
    const { state } = await call(ask).round()
    expect(textOf((await call(params).round({ state, answers: { q1: ada } })).result)).toBe("Hello Ada")
  })

  it("of a call without arguments is that of one with empty ones", async () => {
    const { call } = node()
    const { state } = await call({ name: "ask" }).round()
    const last = await call({ name: "ask", arguments: {} }).round({ state, answers: { q1: ada } })
    expect(textOf(last.result)).toBe("Hello Ada")
  })

  it.each<[what: string, params: Json, method: string]>([
    ["a prompt", { name: "says" }, "prompts/get"],
    ["a resource", { uri: "test://reads" }, "resources/read"],
  ])("of %s is refused for a tool and taken for itself", async (_, params, method) => {
    const { call } = node()
    const { state } = await call(params, method).round()
    expect((await call(ask).round({ state, answers: { q1: ada } })).error).toMatchObject(invalid)
    expect((await call(params, method).round({ state, answers: { q1: ada } })).result).toMatchObject({
      resultType: "complete",
    })
  })

  it("is opened on another node with the same secrets and name, and on no other", async () => {
    const { state } = await node().call(ask).round()
    const answers = { q1: ada }
    expect(textOf((await node().call(ask).round({ state, answers })).result)).toBe("Hello Ada")
    expect((await node({}, "another").call(ask).round({ state, answers })).error).toMatchObject(invalid)
    const foreign = node({ secrets: ["ffffffffffffffffffffffffffffffff"] })
    expect((await foreign.call(ask).round({ state, answers })).error).toMatchObject(invalid)
    expect(foreign.logger.lines).toMatchObject([{ level: "warn", message: expect.stringContaining("set `secrets`") }])
  })

  it("does not fill the log, however many are made up", async () => {
    const { call, logger } = node()
    for (let time = 0; time < 10; time++) await call(ask).round({ state: `1.AAAAAAAA.${"A".repeat(80)}` })
    expect(logger.lines).toHaveLength(1)
  })

  it("outlives a change of secrets", async () => {
    const next = "next-0123456789abcdef0123456789abcdef"
    const { state } = await node().call(ask).round()
    const rotated = node({ secrets: [next, ...secrets] })
    const answers = { q1: ada }
    expect(textOf((await rotated.call(ask).round({ state, answers })).result)).toBe("Hello Ada")
    const { state: renewed } = await rotated.call(ask).round()
    expect(
      textOf(
        (
          await node({ secrets: [next] })
            .call(ask)
            .round({ state: renewed, answers })
        ).result,
      ),
    ).toBe("Hello Ada")
  })

  it("expires, counted from its round", async () => {
    const clock = createManualClock()
    const { call } = node({ clock })
    const first = await call(ask).round()
    clock.advance(15 * 60_000 - 1)
    const second = await call(ask).round({ state: first.state })
    expect(second.asked).toHaveLength(1)
    clock.advance(1)
    const late = await refusalOf(call(ask).round({ state: first.state, answers: { q1: ada } }))
    expect(late).toMatchObject({ error: { code: -32602, data: { reason: "request_state_expired" } }, entered: 0 })
    expect(textOf((await call(ask).round({ state: second.state, answers: { q1: ada } })).result)).toBe("Hello Ada")
  })

  it("expires after stateTtlMs", async () => {
    const clock = createManualClock()
    const { call } = node({ clock, limits: { stateTtlMs: 1_000 } })
    const { state } = await call(ask).round()
    clock.advance(1_000)
    expect((await call(ask).round({ state })).error?.data).toEqual({ reason: "request_state_expired" })
  })

  it("of another call is not told apart from an expired one of it", async () => {
    const clock = createManualClock()
    const { call } = node({ clock })
    const { state } = await call(ask).round()
    clock.advance(60 * 60_000)
    expect((await call({ ...ask, name: "other" }).round({ state })).error).toMatchObject(invalid)
  })
})

describe("a state that is too large", () => {
  const long = z.object({ text: z.string() })
  const asksTwice = tool("twice", {}, async (_, ctx) => {
    const first = await ctx.elicit("First?", long)
    await ctx.elicit("Second?", name)
    return String(first.content?.text.length)
  })

  function large(options: EndpointOptions = {}) {
    const server = createServer({ name: "test", version: "1.0.0", logger: createRecordingLogger(), tools: [asksTwice] })
    return modernCall(link(server, { secrets, ...options }).request, { name: "twice" })
  }

  const lots = accept({ text: "x".repeat(100_000) })

  it("is kept in the store, and its handle is sealed", async () => {
    const clock = createManualClock()
    const store = createMemoryStore({ clock })
    const keys: string[] = []
    const recording: Store = {
      ...store,
      set: (key, value, options) => {
        keys.push(key)
        return store.set(key, value, options)
      },
    }
    const call = large({ store: recording, clock })
    const first = await call.round()
    expect(keys).toEqual([])
    const second = await call.round({ state: first.state, answers: { q1: lots } })
    expect(second.state?.length).toBeLessThan(1_000)
    expect(keys).toEqual([expect.stringMatching(/^state:[\w-]{22}$/)])
    expect(textOf((await call.round({ state: second.state, answers: { q2: ada } })).result)).toBe("100000")
    const elsewhere = large({ store, clock })
    expect(textOf((await elsewhere.round({ state: second.state, answers: { q2: ada } })).result)).toBe("100000")
    const nowhere = large({ clock })
    expect((await nowhere.round({ state: second.state, answers: { q2: ada } })).error).toMatchObject(invalid)
  })

  it("is bound like any other", async () => {
    const call = large()
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { q1: lots } })
    const changed = second.state?.replace(/.$/, (last) => (last === "A" ? "B" : "A"))
    expect((await call.round({ state: changed, answers: { q2: ada } })).error).toMatchObject(invalid)
  })

  it.each<[what: string, options: EndpointOptions]>([
    ["the store takes no more", { store: { ...createMemoryStore({ clock: createManualClock() }), set: () => false } }],
    ["too much is kept already", { limits: { maxKeptStateBytes: 50_000 } }],
  ])("fails the question, and says so, when %s", async (_, options) => {
    const call = large(options)
    const first = await call.round()
    const second = await call.round({ state: first.state, answers: { q1: lots } })
    expect(second.error).toMatchObject({ code: -32603, data: { reason: "state_too_large" } })
  })

  it("makes room for the next when it expires", async () => {
    const clock = createManualClock()
    const call = large({ clock, limits: { maxKeptStateBytes: 150_000 } })
    const send = async (): Promise<Round> => {
      const { state } = await call.round()
      return call.round({ state, answers: { q1: lots } })
    }
    expect((await send()).asked).toHaveLength(1)
    expect((await send()).error?.data).toEqual({ reason: "state_too_large" })
    clock.advance(15 * 60_000)
    expect((await send()).asked).toHaveLength(1)
  })

  it("is refused before it is opened when it is longer than maxStateBytes", async () => {
    const first = await node().call(ask).round()
    const small = node({ limits: { maxStateBytes: 100 } })
    expect((await small.call(ask).round({ state: first.state, answers: { q1: ada } })).error).toMatchObject(invalid)
  })
})

describe("a server that is written by hand", () => {
  it("gets requestState and inputResponses as they came, and its results go out as they are", async () => {
    const seen: JsonObject[] = []
    const asked = {
      resultType: "input_required",
      inputRequests: { who: { method: "roots/list" } },
      requestState: "mine, not sealed",
    }
    const server = createServer({
      name: "test",
      version: "1.0.0",
      capabilities: { tools: {} },
      handlers: {
        "tools/call": (params) => {
          seen.push(params)
          return params["requestState"] === undefined ? asked : { content: [] }
        },
      },
    })
    const raw = link(server)
    const first = await raw.modern("tools/call", { name: "x" })
    expect(first["result"]).toEqual({ ...asked, _meta: expect.anything() })
    const answers = { who: { roots: [] }, more: 5 }
    const second = await raw.modern("tools/call", { name: "x", requestState: "forged", inputResponses: answers })
    expect(second["result"]).toMatchObject({ resultType: "complete" })
    expect(seen[1]).toMatchObject({ requestState: "forged", inputResponses: answers })
  })
})

describe("a caller's state", () => {
  const stops: (() => Promise<void>)[] = []
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop()
  })

  /** Reads who calls from the token. */
  const gate: Gate = {
    check: ({ header }) => {
      const [id = "", issuer, clientId, strategy] = (header("authorization") ?? "").replace("Bearer ", "").split(",")
      const member = (key: string, value: string | undefined) => (value === undefined ? {} : { [key]: value })
      const principal = {
        id,
        ...member("issuer", issuer),
        ...member("clientId", clientId),
        ...member("strategy", strategy),
      }
      return { ok: true, principal }
    },
  }

  const users = ["ada,https://as,client,jwt", "bob,https://as,client,jwt", "ada,https://other,client,jwt"]
  const more = ["ada,https://as,another,jwt", "ada,https://as,client,key", "ada"]

  it("is refused for anybody else, the same name elsewhere included", async () => {
    const server = createServer({ name: "test", version: "1.0.0", logger: createRecordingLogger(), tools: [askName] })
    const running = await serve(server, { port: 0, auth: gate, secrets })
    stops.push(() => running.close())
    const call = (user: string) =>
      modernCall(
        async (message) => (await postModern(running.url, message, { authorization: `Bearer ${user}` })).json,
        ask,
      )
    const [ada1 = ""] = users
    const { state } = await call(ada1).round()
    for (const user of [...users.slice(1), ...more]) {
      const refused = await refusalOf(call(user).round({ state, answers: { q1: ada } }))
      expect(refused, user).toMatchObject({ error: invalid, entered: 0 })
    }
    expect(textOf((await call(ada1).round({ state, answers: { q1: ada } })).result)).toBe("Hello Ada")
  })

  it("is that of nobody where nobody logs in, and stays it", async () => {
    const server = createServer({ name: "test", version: "1.0.0", logger: createRecordingLogger(), tools: [askName] })
    const open = await serve(server, { port: 0, secrets })
    const locked = await serve(server, { port: 0, secrets, auth: gate })
    stops.push(
      () => open.close(),
      () => locked.close(),
    )
    const anonymous = modernCall(async (message) => (await postModern(open.url, message)).json, ask)
    const user = modernCall(
      async (message) => (await postModern(locked.url, message, { authorization: `Bearer ${users[0]}` })).json,
      ask,
    )
    const answers = { q1: ada }
    const { state: nobodys } = await anonymous.round()
    expect((await user.round({ state: nobodys, answers })).error).toMatchObject(invalid)
    const { state: adas } = await user.round()
    expect((await anonymous.round({ state: adas, answers })).error).toMatchObject(invalid)
    expect(textOf((await anonymous.round({ state: nobodys, answers })).result)).toBe("Hello Ada")
  })
})

describe("a server without secrets", () => {
  const asking = () => {
    const logger = createRecordingLogger()
    return { logger, server: createServer({ name: "test", version: "1.0.0", logger, tools: [askName, other] }) }
  }
  const message = modernRequest(1, "tools/call", {
    ...ask,
    _meta: { "io.modelcontextprotocol/clientCapabilities": everything },
  })

  it("on a loopback address seals with a key of its own, and says once what to do", async () => {
    const { server, logger } = asking()
    const running = await serve(server, { port: 0 })
    try {
      await postModern(running.url, modernRequest(2, "tools/call", { ...ask, name: "other" }))
      await postModern(
        running.url,
        modernRequest(2, "tools/call", { ...ask, name: "other", requestState: "1.AAAAAAAA.AAAA" }),
      )
      expect(logger.lines.filter(({ message: text }) => text.includes("a key of this process"))).toEqual([])
      for (let time = 0; time < 2; time++) {
        expect(toRound((await postModern(running.url, message)).json).asked).toHaveLength(1)
      }
      expect(logger.lines.filter(({ message: text }) => text.includes("set `secrets`"))).toHaveLength(1)
    } finally {
      await running.close()
    }
  })

  it("on another address refuses to seal", async () => {
    const { server, logger } = asking()
    const options = { port: 0, host: "0.0.0.0", allowUnauthenticated: true, allowedHosts: ["127.0.0.1"] }
    const running = await serve(server, options)
    try {
      const url = running.url.replace(/\/\/[^/]*:/, "//127.0.0.1:")
      const reply = await postModern(url, message)
      expect(reply.json["error"]).toMatchObject({ code: -32603 })
      expect(JSON.stringify(logger.lines.map(({ fields }) => String(fields?.["error"])))).toContain("needs `secrets`")
    } finally {
      await running.close()
    }
    const allowed = await serve(asking().server, { ...options, ephemeralState: true })
    try {
      const url = allowed.url.replace(/\/\/[^/]*:/, "//127.0.0.1:")
      expect(toRound((await postModern(url, message)).json).asked).toHaveLength(1)
    } finally {
      await allowed.close()
    }
  })

  it.each<[what: string, options: EndpointOptions, asks: number]>([
    ["refuses to seal", {}, 0],
    ["seals when that is allowed", { ephemeralState: true }, 1],
    ["seals with secrets", { secrets }, 1],
  ])("behind createFetchHandler %s", async (_, options, asks) => {
    const { server } = asking()
    const handle = createFetchHandler(server, options)
    const send = async (one: Json): Promise<Round> => {
      const headers = {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        ...modernHeaders(one),
      }
      const response = await handle(
        new Request("https://example.com/mcp", { method: "POST", headers, body: JSON.stringify(one) }),
      )
      return toRound((await response.json()) as Json)
    }
    expect((await send(message)).asked).toHaveLength(asks)
    const forged = modernRequest(2, "tools/call", { name: "other", requestState: "1.AAAAAAAA.AAAA" })
    expect((await send(forged)).error).toMatchObject(invalid)
  })

  it("refuses short secrets where it is served", () => {
    const { server } = asking()
    expect(() => link(server, { secrets: ["short"] })).toThrow(/secrets\[0\] has 5 bytes; at least 32/)
  })
})
