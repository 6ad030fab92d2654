/** What a client keeps of a server's answers, for how long and for whom; and what many ask at once, asked once. */
import type { Store } from "conduit-mcp"
import type { ConnectOptions } from "conduit-mcp/client"
import { describe, expect, it, vi } from "vitest"
import { createMemoryStore } from "../../src/store/memory.js"
import { createManualClock } from "../support/clock.js"
import { failureOf, until } from "../support/failure.js"
import {
  type Answer,
  cut,
  discover,
  error,
  event,
  type HttpPeer,
  initialized,
  result,
  type Script,
  silence,
  stream,
} from "../support/http-peer.js"
import { createRecordingLogger } from "../support/logger.js"
import { expectNothingLeft, open, start } from "./scripted-http/harness.js"

const complete = (members: object): Answer => result({ resultType: "complete", ...members })

/** The same list again and again, each time with another tool in it. */
const counting = (hints: object, member = "tools"): Answer => {
  let times = 0
  return (heard, response) => {
    const item = { name: `t${++times}`, uri: "a:b", inputSchema: { type: "object" } }
    return complete({ [member]: [item], ...hints })(heard, response)
  }
}

/** What a resource holds, another text each time. */
const reading = (hints: object): Answer => {
  let times = 0
  return (heard, response) => {
    const uri = heard.message?.params?.["uri"]
    return complete({ contents: [{ uri, text: `${++times}` }], ...hints })(heard, response)
  }
}

const script = (more: Script): Script => ({ "server/discover": discover(), ...more })

/** How often a method was asked. */
const asked = (peer: HttpPeer, method: string): number =>
  peer.heard.filter(({ message }) => message?.method === method).length

const firstTool = async (list: Promise<{ tools: readonly { name: string }[] }>): Promise<string | undefined> =>
  (await list).tools[0]?.name

const MINUTE = { ttlMs: 60_000, cacheScope: "private" }

describe("a result that says how long it is fresh", () => {
  it("is what equal requests get until then, and the next one asks again", async () => {
    const peer = await start(script({ "tools/list": counting({ ttlMs: 1_000 }) }))
    const { client, clock } = await open(peer)
    expect(await firstTool(client.listTools())).toBe("t1")
    clock.advance(999)
    expect(await firstTool(client.listTools())).toBe("t1")
    clock.advance(1)
    expect(await firstTool(client.listTools())).toBe("t2")
    expect(asked(peer, "tools/list")).toBe(2)
  })

  it("is a list, a read, or what the server says of itself, each under its own params", async () => {
    const peer = await start({
      "server/discover": discover(MINUTE),
      "tools/list": counting(MINUTE),
      "prompts/list": counting(MINUTE, "prompts"),
      "resources/list": counting(MINUTE, "resources"),
      "resources/templates/list": complete({ resourceTemplates: [], ...MINUTE }),
      "resources/read": reading(MINUTE),
    })
    const { client } = await open(peer)
    for (let times = 0; times < 3; times++) {
      await client.request("server/discover")
      await client.listTools()
      await client.listPrompts()
      await client.listResources()
      await client.listResourceTemplates()
      await client.readResource("a:b")
      await client.readResource("a:c")
      await client.readResource("a:b", { meta: { tenant: "other" } })
    }
    const [, ...log] = peer.heard.map(({ message }) => [message?.method, message?.params?.["uri"]])
    expect(log).toEqual([
      ["server/discover", undefined],
      ["tools/list", undefined],
      ["prompts/list", undefined],
      ["resources/list", undefined],
      ["resources/templates/list", undefined],
      ["resources/read", "a:b"],
      ["resources/read", "a:c"],
      ["resources/read", "a:b"],
    ])
  })

  it("is each page by itself, for as long as the page says", async () => {
    const pages: Answer = (heard, response) =>
      heard.message?.params?.["cursor"] === ""
        ? complete({ tools: [], ttlMs: 100 })(heard, response)
        : complete({ tools: [], nextCursor: "", ttlMs: 1_000 })(heard, response)
    const peer = await start(script({ "tools/list": pages }))
    const { client, clock } = await open(peer)
    await client.listTools()
    clock.advance(100)
    await client.listTools()
    const cursors = peer.heard.slice(1).map(({ message }) => message?.params?.["cursor"])
    expect(cursors).toEqual([undefined, "", ""])
  })

  it.each<[what: string, hints: object]>([
    ["says nothing", {}],
    ["says 0", { ttlMs: 0 }],
    ["says less than 0", { ttlMs: -1 }],
    ["says it in words", { ttlMs: "60000" }],
  ])("is asked for each time when it %s", async (_what, hints) => {
    const peer = await start(script({ "tools/list": counting(hints) }))
    const { client } = await open(peer)
    await client.listTools()
    expect(await firstTool(client.listTools())).toBe("t2")
  })

  it("is kept no longer than limits.maxTtlMs", async () => {
    const peer = await start(script({ "tools/list": counting({ ttlMs: 60_000 }) }))
    const { client, clock } = await open(peer, { limits: { maxTtlMs: 1_000 } })
    await client.listTools()
    clock.advance(1_000)
    expect(await firstTool(client.listTools())).toBe("t2")
  })

  it("is not kept when it is none of what its method gives", async () => {
    const broken = [complete({ ...MINUTE }), counting(MINUTE)]
    const peer = await start(script({ "tools/list": broken }))
    const { client } = await open(peer)
    expect(await failureOf(client.listTools())).toMatchObject({ reason: "invalid_result" })
    expect(await firstTool(client.listTools())).toBe("t1")
  })

  it("is never an error", async () => {
    const peer = await start(script({ "tools/list": [error(200, -32603), counting(MINUTE)] }))
    const { client } = await open(peer)
    expect(await failureOf(client.listTools())).toMatchObject({ code: -32603 })
    expect(await firstTool(client.listTools())).toBe("t1")
  })

  it("is whoever's asks for its own: changing it changes nothing for others", async () => {
    const peer = await start(script({ "tools/list": counting(MINUTE) }))
    const { client } = await open(peer)
    for (let times = 0; times < 3; times++) {
      const [tool] = (await client.listTools()).tools as unknown as { name: string }[]
      expect(tool?.name).toBe("t1")
      if (tool !== undefined) tool.name = "changed"
    }
  })

  it("has no part in the legacy era, whose results say nothing of it", async () => {
    const legacy = { "server/discover": error(404, -32601), initialize: initialized() }
    const peer = await start({ ...legacy, "tools/list": counting(MINUTE) })
    const { client } = await open(peer)
    await client.listTools()
    expect(await firstTool(client.listTools())).toBe("t2")
  })

  it("makes way for newer ones in memory, which holds limits.maxCachedResults", async () => {
    const peer = await start(script({ "resources/read": reading(MINUTE) }))
    const { client } = await open(peer, { limits: { maxCachedResults: 2 } })
    for (const uri of ["a:1", "a:2", "a:3", "a:3", "a:2", "a:1"]) await client.readResource(uri)
    const uris = peer.heard.slice(1).map(({ message }) => message?.params?.["uri"])
    expect(uris).toEqual(["a:1", "a:2", "a:3", "a:1"])
  })

  it("is found before the connection is lost, and not once the client is closed", async () => {
    const peer = await start(script({ "tools/list": counting(MINUTE) }))
    const { client } = await open(peer)
    await client.listTools()
    await client.close()
    expect(await failureOf(client.listTools())).toMatchObject({ kind: "cancelled", reason: "closed" })
  })

  it("is no answer to a ping", async () => {
    const peer = await start({ "server/discover": discover(MINUTE) })
    const { client } = await open(peer)
    await client.request("server/discover")
    await client.ping()
    await client.ping({ cache: "default" })
    expect(asked(peer, "server/discover")).toBe(4)
  })
})

describe("a call that says what it makes of what is kept", () => {
  it.each([
    ["default", ["t1", "t1", "t1"]],
    ["reload", ["t1", "t2", "t2"]],
    ["no-store", ["t1", "t2", "t1"]],
  ] as const)("%s: the first, that one, and the next get %j", async (cache, names) => {
    const peer = await start(script({ "tools/list": counting(MINUTE) }))
    const { client } = await open(peer)
    expect(await firstTool(client.listTools())).toBe(names[0])
    expect(await firstTool(client.listTools({ cache }))).toBe(names[1])
    expect(await firstTool(client.listTools())).toBe(names[2])
  })

  it("says so for all calls of its client, too, unless they say otherwise", async () => {
    const peer = await start(script({ "tools/list": counting(MINUTE) }))
    const { client } = await open(peer, { cache: "no-store" })
    await client.listTools()
    expect(await firstTool(client.listTools({ cache: "default" }))).toBe("t2")
    expect(await firstTool(client.listTools({ cache: "default" }))).toBe("t2")
    expect(await firstTool(client.listTools())).toBe("t3")
  })

  it("has one of three words for it", async () => {
    const { client } = await open(await start(script({})))
    // @ts-expect-error There is no such mode.
    const failed = failureOf(client.listTools({ cache: "force-cache" }))
    expect(await failed).toMatchObject({
      kind: "misuse",
      reason: "invalid_option",
      message: "cache must be one of default, reload, no-store, not force-cache",
    })
  })

  it("has nothing kept and gets nothing kept when it has headers of its own, which may say who calls", async () => {
    const peer = await start(script({ "tools/list": counting(MINUTE) }))
    const { client } = await open(peer)
    expect(await firstTool(client.listTools({ headers: { authorization: "Bearer other" } }))).toBe("t1")
    expect(await firstTool(client.listTools())).toBe("t2")
    expect(await firstTool(client.listTools({ headers: { authorization: "Bearer other" } }))).toBe("t3")
    expect(await firstTool(client.listTools())).toBe("t2")
  })
})

describe("a result that depends on answers of the user", () => {
  const form = {
    method: "elicitation/create",
    params: { message: "Which?", requestedSchema: { type: "object", properties: { a: { type: "string" } } } },
  }
  const asks = (hints: object): Answer => result({ resultType: "input_required", inputRequests: { a: form }, ...hints })
  const handlers = { elicit: () => ({ action: "accept" as const, content: { a: "x" } }) }

  it("is never kept, whatever it says", async () => {
    const contents = complete({ contents: [{ uri: "a:b", text: "for x" }], ...MINUTE })
    const peer = await start(script({ "resources/read": [asks(MINUTE), contents, asks(MINUTE), contents] }))
    const { client } = await open(peer, { handlers })
    for (let times = 0; times < 2; times++) {
      expect(await client.readResource("a:b")).toMatchObject({ contents: [{ text: "for x" }] })
    }
    expect(asked(peer, "resources/read")).toBe(4)
  })

  it("is for the call that asked first alone: who asked the same meanwhile asks for itself", async () => {
    const contents = complete({ contents: [{ uri: "a:b", text: "for x" }], ...MINUTE })
    const peer = await start(script({ "resources/read": [asks({}), contents, asks({}), contents] }))
    const { client } = await open(peer, { handlers })
    await Promise.all([client.readResource("a:b"), client.readResource("a:b")])
    expect(asked(peer, "resources/read")).toBe(4)
  })

  it("has nothing to do with what is kept when the caller answers by itself", async () => {
    const peer = await start(script({ "resources/read": reading(MINUTE) }))
    const { client } = await open(peer)
    await client.readResource("a:b")
    for (const own of [{ inputResponses: {} }, { requestState: "s" }]) {
      await client.request("resources/read", { uri: "a:b", ...own })
      await client.request("resources/read", { uri: "a:b", ...own })
    }
    expect(asked(peer, "resources/read")).toBe(5)
  })
})

describe("what was kept is asked for again", () => {
  const all = script({
    "tools/list": counting(MINUTE),
    "prompts/list": counting(MINUTE, "prompts"),
    "resources/list": counting(MINUTE, "resources"),
    "resources/templates/list": complete({ resourceTemplates: [], ...MINUTE }),
    "resources/read": reading(MINUTE),
    "tools/call": (heard, response) => {
      response.writeHead(200, { "content-type": "text/event-stream" })
      const args = heard.message?.params?.["arguments"] as { method: string; params?: object }
      response.write(event({ jsonrpc: "2.0", ...args }))
      const done = { resultType: "complete", content: [] }
      response.end(event({ jsonrpc: "2.0", id: heard.message?.id, result: done }))
    },
  })
  const METHODS = ["tools/list", "prompts/list", "resources/list", "resources/templates/list", "resources/read"]

  it.each<[notification: string, params: object | undefined, again: readonly string[]]>([
    ["notifications/tools/list_changed", undefined, ["tools/list"]],
    ["notifications/prompts/list_changed", undefined, ["prompts/list"]],
    ["notifications/resources/list_changed", undefined, ["resources/list", "resources/templates/list"]],
    ["notifications/resources/updated", { uri: "a:b" }, ["resources/read"]],
    ["notifications/resources/updated", { uri: "a:other" }, []],
    ["notifications/resources/updated", { uri: 7 }, []],
    ["notifications/other", undefined, []],
  ])("after %s with %j: %j", async (method, params, again) => {
    const peer = await start(all)
    const { client } = await open(peer)
    const askAll = async (): Promise<void> => {
      await Promise.all([client.listTools(), client.listPrompts(), client.listResources()])
      await Promise.all([client.listResourceTemplates(), client.readResource("a:b")])
    }
    await askAll()
    await client.callTool("say", params === undefined ? { method } : { method, params: { ...params } })
    const before = peer.heard.length
    await askAll()
    expect(peer.heard.slice(before).map(({ message }) => message?.method)).toEqual(again)
    await askAll()
    expect(peer.heard.length).toBe(before + again.length)
  })

  it("after a time in which nobody listened, when something may have changed", async () => {
    const acknowledged =
      (end: boolean): Answer =>
      (heard, response) => {
        const _meta = { "io.modelcontextprotocol/subscriptionId": heard.message?.id }
        const params = { _meta, notifications: { toolsListChanged: true } }
        response.writeHead(200, { "content-type": "text/event-stream" })
        response.write(event({ jsonrpc: "2.0", method: "notifications/subscriptions/acknowledged", params }))
        if (end) response.end()
      }
    const listen = [acknowledged(true), acknowledged(false)]
    const peer = await start(script({ "tools/list": counting({ ttlMs: 86_400_000 }), "subscriptions/listen": listen }))
    const { client, clock } = await open(peer)
    expect(await firstTool(client.listTools())).toBe("t1")
    const changes = client.listen({ tools: true })
    let change: unknown
    void changes.next().then(({ value }) => {
      change = value
    })
    await until(() => {
      clock.advance(100)
      return change !== undefined
    })
    expect(change).toEqual({ kind: "list", list: "tools", synthetic: true })
    expect(await firstTool(client.listTools())).toBe("t2")
    await changes.return?.()
  })

  it("once the application says that nothing is as it was, or what is not", async () => {
    const peer = await start(all)
    const { client } = await open(peer)
    await client.listTools()
    await client.readResource("a:b")
    client.invalidate({ kind: "resource", uri: "a:b" })
    await client.listTools()
    await client.readResource("a:b")
    expect(METHODS.map((method) => asked(peer, method))).toEqual([1, 0, 0, 0, 2])
    client.invalidate()
    await client.listTools()
    await client.readResource("a:b")
    expect(METHODS.map((method) => asked(peer, method))).toEqual([2, 0, 0, 0, 3])
  })

  it("when a change came while it was on its way, so that it may be of before", async () => {
    let answer = (): void => {}
    const slow: Answer = (heard, response) => {
      answer = () => void complete({ tools: [], ...MINUTE })(heard, response)
    }
    const peer = await start(script({ "tools/list": [slow, counting(MINUTE)] }))
    const { client } = await open(peer)
    const first = client.listTools()
    await peer.until(2)
    client.invalidate({ kind: "list", list: "tools" })
    const second = client.listTools()
    await peer.until(3)
    answer()
    expect((await first).tools).toEqual([])
    expect(await firstTool(second)).toBe("t1")
    expect(await firstTool(client.listTools())).toBe("t1")
    expect(asked(peer, "tools/list")).toBe(2)
  })

  it("from the beginning, when the server no longer takes a cursor of a page that was kept", async () => {
    let generation = 1
    const moving: Answer = (heard, response) => {
      const cursor = heard.message?.params?.["cursor"]
      if (cursor === undefined) return complete({ tools: [], nextCursor: `${generation}`, ...MINUTE })(heard, response)
      return cursor === `${generation}`
        ? complete({ tools: [{ name: `g${generation}`, inputSchema: {} }] })(heard, response)
        : error(200, -32602)(heard, response)
    }
    const peer = await start(script({ "tools/list": moving }))
    const { client } = await open(peer)
    expect(await firstTool(client.listTools())).toBe("g1")
    generation = 2
    expect(await firstTool(client.listTools())).toBe("g2")
    const cursors = peer.heard.slice(1).map(({ message }) => message?.params?.["cursor"])
    expect(cursors).toEqual([undefined, "1", "1", undefined, "2"])
  })

  it("when the server finds a header missing, and so knows the tools better", async () => {
    const marked = { type: "object", properties: { q: { type: "string", "x-mcp-header": "Q" } } }
    const call: Answer = (heard, response) =>
      heard.headers["mcp-param-q"] === "x"
        ? complete({ content: [] })(heard, response)
        : error(400, -32020)(heard, response)
    const lists = [{ type: "object" }, marked].map((inputSchema) =>
      complete({ tools: [{ name: "a", inputSchema }], ...MINUTE }),
    )
    const peer = await start(script({ "tools/list": lists, "tools/call": call }))
    const { client } = await open(peer)
    await client.listTools()
    expect((await client.callTool("a", { q: "x" })).isError).toBe(false)
    expect(await client.listTools()).toMatchObject({ tools: [{ inputSchema: marked }] })
    expect(peer.log.slice(1)).toEqual([
      "POST tools/list 2",
      "POST tools/call 3",
      "POST tools/list 4",
      "POST tools/call 5",
      "POST tools/list 6",
    ])
  })
})

describe("what several ask at the same time", () => {
  /** Answers when it is told to. */
  const held = (answer: Answer = counting({})) => {
    const waiting: (() => void)[] = []
    const hold: Answer = (heard, response) => void waiting.push(() => void answer(heard, response))
    const release = (): void => {
      for (const run of waiting.splice(0)) run()
    }
    return { hold, release }
  }

  it("is asked once, and each has an answer of its own", async () => {
    const { hold, release } = held()
    const peer = await start(script({ "tools/list": hold }))
    const { client } = await open(peer)
    const lists = Array.from({ length: 20 }, () => client.listTools())
    await peer.until(2)
    release()
    const answers = await Promise.all(lists)
    expect(answers.map(({ tools }) => tools[0]?.name)).toEqual(Array(20).fill("t1"))
    expect(new Set(answers.map(({ tools }) => tools[0])).size).toBe(20)
    expect(asked(peer, "tools/list")).toBe(1)
  })

  it("fails once, for all, and is asked again by who comes later", async () => {
    const { hold, release } = held(error(200, -32603))
    const peer = await start(script({ "tools/list": [hold, counting({})] }))
    const { client } = await open(peer)
    const lists = Array.from({ length: 3 }, () => failureOf(client.listTools()))
    await peer.until(2)
    release()
    for (const failed of await Promise.all(lists)) expect(failed).toMatchObject({ kind: "protocol", code: -32603 })
    expect(await firstTool(client.listTools())).toBe("t1")
  })

  it("goes on when the first of them gives up", async () => {
    const { hold, release } = held()
    const peer = await start(script({ "tools/list": hold }))
    const { client } = await open(peer)
    const controller = new AbortController()
    const first = failureOf(client.listTools({ signal: controller.signal }))
    const second = client.listTools()
    await peer.until(2)
    controller.abort("enough")
    expect(await first).toMatchObject({ kind: "cancelled", reason: "aborted", cause: "enough" })
    release()
    expect(await firstTool(second)).toBe("t1")
    expect(asked(peer, "tools/list")).toBe(1)
  })

  it("is called back when the last of them gives up", async () => {
    let closed = false
    const peer = await start(
      script({ "tools/list": (_, response) => void response.once("close", () => (closed = true)) }),
    )
    const { client, clock } = await open(peer)
    const controller = new AbortController()
    const { signal } = controller
    const failures = [client.listTools({ signal }), client.listTools({ signal })].map(failureOf)
    await peer.until(2)
    controller.abort()
    for (const failed of await Promise.all(failures)) expect(failed).toMatchObject({ reason: "aborted" })
    await until(() => closed)
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("ends with the client, for everybody", async () => {
    const peer = await start(script({ "tools/list": silence }))
    const { client, clock } = await open(peer)
    const failures = [client.listTools(), client.listTools()].map(failureOf)
    await peer.until(2)
    await client.close()
    for (const failed of await Promise.all(failures)) {
      expect(failed).toMatchObject({ kind: "cancelled", reason: "closed" })
    }
    await expectNothingLeft(peer, clock)
  })

  it("is told of as one request that was sent, and others that were not", async () => {
    const { hold, release } = held()
    const peer = await start(script({ "tools/list": [stream(""), hold] }))
    const { client } = await open(peer)
    const told: object[] = []
    const retried: unknown[] = []
    client.on("client.request.stop", ({ outcome, attempts, id }) => told.push({ outcome, attempts, id }))
    client.on("client.retried", ({ why }) => retried.push(why))
    const lists = [client.listTools(), client.listTools()]
    await peer.until(3)
    release()
    await Promise.all(lists)
    expect(retried).toEqual(["connection_lost"])
    expect(told).toEqual([
      { outcome: "complete", attempts: 2, id: 3 },
      { outcome: "complete", attempts: 0, id: undefined },
    ])
  })

  it("is asked once more in all when its connection is cut", async () => {
    const peer = await start(script({ "tools/list": [cut, counting({})] }))
    const { client } = await open(peer)
    const lists = await Promise.all([client.listTools(), client.listTools(), client.listTools()])
    expect(lists.map(({ tools }) => tools[0]?.name)).toEqual(["t1", "t1", "t1"])
    expect(asked(peer, "tools/list")).toBe(2)
  })

  it.each<[what: string, options: object]>([
    ["reloads", { cache: "reload" }],
    ["stores nothing", { cache: "no-store" }],
    ["has another deadline", { timeoutMs: 1_234 }],
    ["has another deadline for all", { maxTotalTimeoutMs: 1_234 }],
    ["tells handlers something else", { assigns: { user: 7 } }],
    ["wants to hear of progress", { onProgress: () => {} }],
    ["has headers of its own", { headers: { "x-a": "1" } }],
    ["says something else of itself", { extensions: { "example.com/x": {} } }],
    ["says something else to the server", { meta: { tenant: "a" } }],
  ])("is asked by each when one %s", async (_what, options) => {
    const { hold, release } = held()
    const peer = await start(script({ "tools/list": hold }))
    const { client } = await open(peer)
    const lists = [client.listTools(), client.listTools(options)]
    await peer.until(3)
    release()
    await Promise.all(lists)
  })

  it("is not what was asked before a call of the client ended: who has written reads what is there now", async () => {
    const { hold, release } = held(reading({}))
    const peer = await start(script({ "resources/read": hold, "tools/call": complete({ content: [] }) }))
    const { client } = await open(peer)
    const before = client.readResource("a:b")
    await peer.until(2)
    await client.callTool("write")
    const after = client.readResource("a:b")
    await peer.until(4)
    release()
    expect(await before).toMatchObject({ contents: [{ text: "1" }] })
    expect(await after).toMatchObject({ contents: [{ text: "2" }] })
  })
})

describe("a store that clients share", () => {
  const shared = (): Store => createMemoryStore({ clock: createManualClock() })
  const PUBLIC = { ttlMs: 60_000, cacheScope: "public" }
  const listBy = async (peer: HttpPeer, options: ConnectOptions): Promise<string | undefined> =>
    firstTool((await open(peer, options)).client.listTools())

  it.each<[hints: object, one: object, other: object, asked: number]>([
    [PUBLIC, {}, {}, 1],
    [PUBLIC, { authorizationContext: "ann" }, { authorizationContext: "bob" }, 1],
    [MINUTE, {}, {}, 2],
    [MINUTE, { authorizationContext: "ann" }, { authorizationContext: "bob" }, 2],
    [MINUTE, { authorizationContext: "ann" }, {}, 2],
    [MINUTE, { authorizationContext: "ann" }, { authorizationContext: () => "ann" }, 1],
    [PUBLIC, {}, { handlers: { elicit: () => ({ action: "decline" as const }) } }, 2],
    [{ ttlMs: 60_000 }, {}, {}, 2],
  ])("with %j, for %j and %j: the server is asked %i times", async (hints, one, other, times) => {
    const store = shared()
    const peer = await start(script({ "tools/list": counting(hints) }))
    expect(await listBy(peer, { store, ...one })).toBe("t1")
    expect(await listBy(peer, { store, ...other })).toBe(`t${times}`)
  })

  it("never gives the answers of one server to another, on the same host neither", async () => {
    const store = shared()
    const peer = await start(script({ "tools/list": counting(PUBLIC) }))
    const neighbour = { url: `${peer.origin}/other` }
    expect(await listBy(peer, { store })).toBe("t1")
    expect(await firstTool((await open(neighbour, { store })).client.listTools())).toBe("t2")
    expect(await listBy(peer, { store })).toBe("t1")
  })

  it("holds JSON as text, under names that say nothing", async () => {
    const stored: [key: string, value: string, ttlMs: number | undefined][] = []
    const memory = shared()
    const store: Store = {
      ...memory,
      set: (key, value, options) => {
        stored.push([key, value, options?.ttlMs])
        return memory.set(key, value, options)
      },
    }
    const peer = await start(script({ "tools/list": counting(PUBLIC) }))
    const { client } = await open({ url: `${peer.url}?key=secret` }, { store, authorizationContext: "ann" })
    await client.listTools()
    await vi.waitFor(() => expect(stored).toHaveLength(1))
    const [[key, value, ttlMs] = ["", "", 0]] = stored
    expect(key).toMatch(/^conduit-mcp:result:[\w-]{43}$/)
    expect(JSON.parse(value)).toMatchObject({ result: { tools: [{ name: "t1" }] }, ttlMs: 60_000 })
    expect(ttlMs).toBe(60_000)
  })

  it("is asked in the name of whom the client asks for at that moment", async () => {
    let who = "ann"
    const peer = await start(script({ "tools/list": counting(MINUTE) }))
    const { client } = await open(peer, { authorizationContext: () => who })
    expect(await firstTool(client.listTools())).toBe("t1")
    who = "bob"
    expect(await firstTool(client.listTools())).toBe("t2")
    who = "ann"
    expect(await firstTool(client.listTools())).toBe("t1")
  })

  it("keeps nothing for nobody: a context that fails is told of, and the server is asked", async () => {
    const logger = createRecordingLogger()
    const authorizationContext = (): string => {
      throw new Error("who?")
    }
    const peer = await start(script({ "tools/list": counting(PUBLIC) }))
    const { client } = await open(peer, { authorizationContext, logger })
    await client.listTools()
    expect(await firstTool(client.listTools())).toBe("t2")
    expect(logger.lines[0]).toMatchObject({ level: "error", fields: { error: { message: "who?" } } })
  })

  const fails = (): never => {
    throw new Error("down")
  }
  it.each<[what: string, store: Partial<Store>]>([
    ["throws", { get: fails, set: fails }],
    ["rejects", { get: async () => fails(), set: async () => fails() }],
    ["holds something else", { get: () => ({ value: "{}", version: "1" }), set: () => false }],
    ["holds no JSON", { get: () => ({ value: "\u0000", version: "1" }), set: () => false }],
    // @ts-expect-error A store that does not keep to its port.
    ["answers nonsense", { get: () => 7, set: () => 7 }],
  ])("harms no call when it %s", async (_what, parts) => {
    const store: Store = { get: () => undefined, set: () => true, delete: () => false, ...parts }
    const logger = createRecordingLogger()
    const peer = await start(script({ "tools/list": counting(PUBLIC) }))
    const { client, clock } = await open(peer, { store, logger })
    expect(await firstTool(client.listTools())).toBe("t1")
    expect(await firstTool(client.listTools())).toBe("t2")
    expect(logger.lines.length).toBeLessThanOrEqual(1)
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("holds no call up: one that does not answer within a second is done without", async () => {
    const logger = createRecordingLogger()
    const store: Store = { get: () => new Promise(() => {}), set: () => new Promise(() => {}), delete: () => false }
    const peer = await start(script({ "tools/list": counting(PUBLIC) }))
    const { client, clock } = await open(peer, { store, logger })
    const list = client.listTools()
    await until(() => clock.dueInMs.includes(1_000))
    expect(asked(peer, "tools/list")).toBe(0)
    clock.advance(1_000)
    expect(await firstTool(list)).toBe("t1")
    expect(logger.lines).toMatchObject([
      {
        level: "warn",
        message: "the store of results failed",
        fields: { error: { message: "no answer within 1000 ms" } },
      },
    ])
    await client.close()
    await expectNothingLeft(peer, clock)
  })

  it("holds no client open", async () => {
    const store: Store = { get: () => new Promise(() => {}), set: () => true, delete: () => false }
    const peer = await start(script({ "tools/list": counting(PUBLIC) }))
    const { client, clock } = await open(peer, { store })
    const list = failureOf(client.listTools())
    await until(() => clock.dueInMs.includes(1_000))
    await client.close()
    expect(await list).toMatchObject({ kind: "cancelled", reason: "closed" })
    await expectNothingLeft(peer, clock)
  })

  it("has its changes told by whoever hears of them: what others kept before counts no longer", async () => {
    const store = shared()
    const peer = await start(script({ "tools/list": counting(PUBLIC) }))
    const { client: ann } = await open(peer, { store })
    const { client: bob, clock } = await open(peer, { store })
    expect(await firstTool(ann.listTools())).toBe("t1")
    clock.advance(10)
    bob.invalidate({ kind: "list", list: "tools" })
    clock.advance(10)
    expect(await firstTool(bob.listTools())).toBe("t2")
    await vi.waitFor(async () => expect(await firstTool(ann.listTools())).toBe("t2"))
    expect(asked(peer, "tools/list")).toBe(2)
  })
})
