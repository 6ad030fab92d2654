/** One server, many callers and transports at once: everybody gets their own answers, and nobody anybody else's. */
import { contextKey, createServer, prompt, resourceTemplate, tool } from "conduit-mcp"
import { type Running, serve } from "conduit-mcp/node"
import { afterAll, beforeAll, beforeEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { openSession, post, postModern, type Reply } from "../support/http.js"
import { link } from "../support/link.js"
import { type Json, legacyRequest, modernRequest } from "../support/wire.js"

const left = contextKey<string>("left")
const gates: (() => void)[] = []

/** A server whose answers hold what was asked, and which waits until it is told to go on. */
const server = createServer({
  name: "test",
  version: "1.0.0",
  tools: [
    tool("mirror", { input: z.object({ mine: z.string() }) }, async ({ mine }, ctx) => {
      const before = ctx.get(left)
      ctx.set(left, mine)
      ctx.progress(1, 2, mine)
      ctx.log.error(mine)
      await new Promise<void>((resolve) => gates.push(resolve))
      ctx.progress(2, 2, mine)
      return { mine, before: before ?? null, kept: ctx.get(left) ?? null }
    }),
  ],
  resources: [resourceTemplate("test://{mine}", { name: "mirror" }, async ({ mine }) => mine)],
  prompts: [prompt("mirror", { args: z.object({ mine: z.string() }) }, async ({ mine }) => mine)],
})

let one: Running
let two: Running
beforeAll(async () => {
  one = await serve(server, { port: 0 })
  two = await serve(server, { port: 0 })
})
afterAll(async () => {
  await one.close()
  await two.close()
})
beforeEach(() => {
  gates.length = 0
})

/** Lets every call go on once `count` are there, the last first. */
async function releaseAll(count: number): Promise<void> {
  await expect.poll(() => gates.length, { interval: 1, timeout: 5_000 }).toBe(count)
  for (const go of gates.reverse()) go()
}

const mirrored = (mine: string): Json => ({ structuredContent: { mine, before: null, kept: mine } })
const names = (count: number, prefix = "client"): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}-${index}`)

/** Fails unless everything in a reply speaks of `mine` alone. */
function expectOnly(mine: string, id: unknown, { messages }: Pick<Reply, "messages">): void {
  expect(messages.at(-1)).toMatchObject({ id, result: mirrored(mine) })
  for (const message of messages) {
    for (const name of JSON.stringify(message).match(/[a-z]+-\d+/g) ?? []) expect(name).toBe(mine)
  }
}

describe("a hundred clients that all use the id 0", () => {
  it("get their own answers in the modern era, each with its own progress and log", async () => {
    const clients = names(100)
    const replies = clients.map((mine) => {
      const _meta = { progressToken: mine, "io.modelcontextprotocol/logLevel": "debug" }
      return postModern(one.url, modernRequest(0, "tools/call", { name: "mirror", arguments: { mine }, _meta }))
    })
    await releaseAll(100)
    for (const [index, reply] of (await Promise.all(replies)).entries()) {
      expect(reply.messages).toHaveLength(4)
      expectOnly(clients[index] ?? "", 0, reply)
    }
  })

  it("get their own answers in sessions of their own", async () => {
    const clients = names(20)
    const sessions = await Promise.all(clients.map(() => openSession(one.url)))
    const replies = clients.map((mine, index) =>
      post(one.url, legacyRequest(0, "tools/call", { name: "mirror", arguments: { mine } }), sessions[index]),
    )
    await releaseAll(20)
    for (const [index, reply] of (await Promise.all(replies)).entries()) expectOnly(clients[index] ?? "", 0, reply)
  })

  it("get their own answers on pipes of their own", async () => {
    const clients = names(50)
    const wires = clients.map(() => link(server))
    const answers = clients.map((mine, index) =>
      wires[index]?.request(modernRequest(0, "tools/call", { name: "mirror", arguments: { mine } })),
    )
    await releaseAll(50)
    await Promise.all(answers)
    for (const [index, wire] of wires.entries()) expectOnly(clients[index] ?? "", 0, { messages: wire.received })
  })
})

describe("one server on two ports and on pipes", () => {
  it("leaks nothing from one to the other, in either era", async () => {
    const call = (mine: string): Json => ({ name: "mirror", arguments: { mine } })
    const pipe = link(server)
    const legacyPipe = link(server)
    const [sessionOne, sessionTwo] = [await openSession(one.url), await openSession(two.url)]
    const asked: [mine: string, answer: Promise<Pick<Reply, "messages">>][] = [
      ["port-1", postModern(one.url, modernRequest(1, "tools/call", call("port-1")))],
      ["port-2", postModern(two.url, modernRequest(1, "tools/call", call("port-2")))],
      ["session-1", post(one.url, legacyRequest(1, "tools/call", call("session-1")), sessionOne)],
      ["session-2", post(two.url, legacyRequest(1, "tools/call", call("session-2")), sessionTwo)],
      [
        "pipe-1",
        pipe.request(modernRequest(1, "tools/call", call("pipe-1"))).then(() => ({ messages: pipe.received })),
      ],
    ]
    const legacy = legacyPipe.legacy("tools/call", call("pipe-2"))
    await releaseAll(6)
    for (const [mine, answer] of asked) expectOnly(mine, 1, await answer)
    expect(await legacy).toMatchObject({ result: mirrored("pipe-2") })
  })

  it("knows a session on the port that opened it only", async () => {
    const session = await openSession(one.url)
    expect((await post(one.url, legacyRequest(1, "ping"), session)).status).toBe(200)
    expect((await post(two.url, legacyRequest(1, "ping"), session)).status).toBe(404)
  })

  it("goes on with the others when one of them stops", async () => {
    const three = await serve(server, { port: 0 })
    const pipe = link(server)
    const other = link(server)
    const mine = "pipe-1"
    const answer = pipe.request(modernRequest(1, "tools/call", { name: "mirror", arguments: { mine } }))
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)
    await three.close()
    other.close()
    await releaseAll(1)
    expect(await answer).toMatchObject({ result: mirrored(mine) })
    expect((await postModern(one.url, modernRequest(1, "tools/list"))).status).toBe(200)
  })

  it("shows one change everywhere at once", async () => {
    const pipe = link(server)
    const entry = server.tool("added", {}, () => "")
    const lists = async (): Promise<readonly unknown[]> => {
      const answers = [
        (await postModern(one.url, modernRequest(1, "tools/list"))).json,
        (await postModern(two.url, modernRequest(1, "tools/list"))).json,
        await pipe.modern("tools/list"),
      ]
      return answers.map(({ result }) => (result as { tools: Json[] }).tools.map(({ name }) => name))
    }
    expect(await lists()).toEqual([
      ["mirror", "added"],
      ["mirror", "added"],
      ["mirror", "added"],
    ])
    entry.remove()
    expect(await lists()).toEqual([["mirror"], ["mirror"], ["mirror"]])
  })
})

describe("many requests of one client on one pipe", () => {
  it("are answered each by its id, in whatever order they finish", async () => {
    const wire = link(server)
    const clients = names(40)
    const answers = clients.map((mine, index) =>
      wire.request(
        modernRequest(index % 2 === 0 ? index : String(index), "tools/call", { name: "mirror", arguments: { mine } }),
      ),
    )
    await releaseAll(40)
    for (const [index, answer] of (await Promise.all(answers)).entries()) {
      expect(answer).toMatchObject({ result: mirrored(clients[index] ?? "") })
    }
  })

  it("may not share an id while it is in flight, whatever its type looks like", async () => {
    const wire = link(server)
    const first = wire.request(modernRequest(1, "tools/call", { name: "mirror", arguments: { mine: "first" } }))
    await expect.poll(() => gates.length, { interval: 1 }).toBe(1)
    wire.send(modernRequest(1, "tools/list"))
    const refused = await wire.next(({ error }) => error !== undefined)
    expect(refused).toMatchObject({ id: 1, error: { code: -32600, data: { reason: "duplicate_request_id" } } })
    expect(await wire.request(modernRequest("1", "tools/list"))).toHaveProperty("result")
    wire.received.length = 0
    const again = wire.next(({ id }) => id === 1)
    await releaseAll(1)
    expect(await again).toMatchObject({ result: mirrored("first") })
    await first
    expect(await wire.request(modernRequest(2, "tools/list"))).toHaveProperty("result")
  })
})

describe("what is never answered on a pipe", () => {
  it.each<[what: string, message: Json]>([
    ["a notification whose params are a list", { jsonrpc: "2.0", method: "notifications/cancelled", params: [] }],
    ["a notification whose params are null", { jsonrpc: "2.0", method: "notifications/cancelled", params: null }],
    ["a result that is no object", { jsonrpc: "2.0", id: 1, result: "text" }],
    ["a response that is both", { jsonrpc: "2.0", id: 1, result: {}, error: { code: 1, message: "" } }],
    ["an error without a message", { jsonrpc: "2.0", id: 1, error: { code: 1 } }],
    ["an error of another version", { id: 1, error: { code: 1, message: "" } }],
  ])("is not even when it is malformed, so that no request of the same id is mistaken: %s", async (_, message) => {
    const wire = link(server)
    wire.send(message)
    await wire.request(modernRequest("after", "tools/list"))
    expect(wire.received.map(({ id }) => id)).toEqual(["after"])
  })

  it.each<[what: string, text: string]>([
    ["no JSON", "{"],
    ["no object", "1"],
    ["a batch", "[]"],
    ["an object that is no message", '{"level":30,"msg":"x"}'],
    ["a request with the id null", '{"jsonrpc":"2.0","id":null,"method":"ping"}'],
    ["a request with a fraction for an id", '{"jsonrpc":"2.0","id":1.5,"method":"ping"}'],
  ])("is not everything else: %s is refused without an id, and the pipe goes on", async (_, text) => {
    const wire = link(server)
    wire.send(text)
    const refused = await wire.next(() => true)
    expect(refused).toMatchObject({ jsonrpc: "2.0", error: { code: expect.any(Number) } })
    expect(refused).not.toHaveProperty("id")
    expect(await wire.modern("tools/list")).toHaveProperty("result")
  })
})

describe("resources and prompts", () => {
  it("answer everybody with what they asked for", async () => {
    const clients = names(30)
    const read = clients.map((mine) =>
      postModern(one.url, modernRequest(0, "resources/read", { uri: `test://${mine}` })),
    )
    const got = clients.map((mine) =>
      postModern(two.url, modernRequest(0, "prompts/get", { name: "mirror", arguments: { mine } })),
    )
    for (const [index, { json }] of (await Promise.all(read)).entries()) {
      expect(json).toMatchObject({ result: { contents: [{ text: clients[index] }] } })
    }
    for (const [index, { json }] of (await Promise.all(got)).entries()) {
      expect(json).toMatchObject({ result: { messages: [{ content: { text: clients[index] } }] } })
    }
  })
})
