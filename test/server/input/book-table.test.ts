/** One handler that asks, on all four wires, driven by raw messages and by the clients of the official SDK. */
import { Client as ClientV2, StreamableHTTPClientTransport as HttpV2 } from "@modelcontextprotocol/client"
import { StdioClientTransport as StdioV2 } from "@modelcontextprotocol/client/stdio"
import { Client as ClientV1 } from "@modelcontextprotocol/sdk/client/index.js"
import { StdioClientTransport as StdioV1 } from "@modelcontextprotocol/sdk/client/stdio.js"
import { StreamableHTTPClientTransport as HttpV1 } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { ElicitRequestSchema } from "@modelcontextprotocol/sdk/types.js"
import { afterAll, describe, expect, it } from "vitest"
import { accept, decline, legacyClient, modernCall, type Reply, textOf } from "../../support/asking.js"
import { postModern } from "../../support/http.js"
import { httpLink } from "../../support/http-link.js"
import { type Json, modernRequest } from "../../support/wire.js"
import { type Child, fixture, startNode } from "../../transport/stdio/child.js"

const script = fixture("../../server/input/book-table.js")
const children: Child[] = []
const closes: (() => Promise<unknown>)[] = []

afterAll(async () => {
  for (const close of closes) await close()
  for (const child of children) await child.stop()
})

function start(transport: "http" | "stdio"): Child {
  const child = startNode([script, transport])
  children.push(child)
  return child
}

async function startHttp(): Promise<string> {
  const child = start("http")
  await child.says("http://")
  return child.stderr.trim()
}

/** Calls a tool of a restaurant of its own, and answers what it asks. */
interface Guest {
  call(name: string, args: Json, reply: Reply): Promise<Json>
}

const identity = { name: "guest", version: "1.0.0" }

/** Answers the questions of an SDK's client. */
const answering = (reply: () => Reply) => (request: { readonly params: unknown }) =>
  Promise.resolve(
    reply()({ key: undefined, method: "elicitation/create", params: request.params as Json }) ?? decline,
  ) as never

async function v1(transport: HttpV1 | StdioV1): Promise<Guest> {
  let reply: Reply = () => decline
  const client = new ClientV1(identity, { capabilities: { elicitation: {} } })
  client.setRequestHandler(
    ElicitRequestSchema,
    answering(() => reply),
  )
  await client.connect(transport as Parameters<typeof client.connect>[0])
  closes.push(() => client.close())
  return {
    call: (name, args, given) => {
      reply = given
      return client.callTool({ name, arguments: args }) as Promise<Json>
    },
  }
}

async function v2(transport: HttpV2 | StdioV2, mode: "legacy" | { readonly pin: "2026-07-28" }): Promise<Guest> {
  let reply: Reply = () => decline
  const client = new ClientV2(identity, { capabilities: { elicitation: {} }, versionNegotiation: { mode } })
  client.setRequestHandler(
    "elicitation/create",
    answering(() => reply),
  )
  await client.connect(transport)
  closes.push(() => client.close())
  return {
    call: (name, args, given) => {
      reply = given
      return client.callTool({ name, arguments: args }) as Promise<Json>
    },
  }
}

const modern = (request: (message: Json) => Promise<Json>): Guest => ({
  call: async (name, args, reply) =>
    (await modernCall(request, { name, arguments: args }).run(reply)).at(-1)?.result ?? {},
})

const legacy = async (link: Parameters<typeof legacyClient>[0], version = "2025-11-25"): Promise<Guest> => {
  const client = await legacyClient(link, { version })
  return {
    call: async (name, args, reply) =>
      (await client.call("tools/call", { name, arguments: args }, reply)).response["result"] as Json,
  }
}

const command = { command: process.execPath, args: [script, "stdio"], stderr: "pipe" as const }
const pinned = { pin: "2026-07-28" } as const

const guests: readonly (readonly [who: string, come: () => Promise<Guest>])[] = [
  ["raw messages on legacy HTTP", async () => legacy(httpLink(await startHttp()))],
  ["raw messages on legacy stdio", () => legacy(start("stdio"))],
  ["raw messages of 2025-06-18 on HTTP", async () => legacy(httpLink(await startHttp()), "2025-06-18")],
  ["raw messages of 2025-06-18 on stdio", () => legacy(start("stdio"), "2025-06-18")],
  [
    "raw messages on modern HTTP",
    async () => {
      const url = await startHttp()
      return modern(async (message) => (await postModern(url, message)).json)
    },
  ],
  [
    "raw messages on modern stdio",
    async () => {
      const child = start("stdio")
      return modern((message) => child.request(message))
    },
  ],
  ["the SDK's client v1 on HTTP", async () => v1(new HttpV1(new URL(await startHttp())))],
  ["the SDK's client v1 on stdio", () => v1(new StdioV1(command))],
  ["the SDK's client v2 on legacy HTTP", async () => v2(new HttpV2(new URL(await startHttp())), "legacy")],
  ["the SDK's client v2 on legacy stdio", () => v2(new StdioV2(command), "legacy")],
  ["the SDK's client v2 on modern HTTP", async () => v2(new HttpV2(new URL(await startHttp())), pinned)],
  ["the SDK's client v2 on modern stdio", () => v2(new StdioV2(command), pinned)],
]

const day = accept({ day: "2026-12-24" })

/** Answers, in order. */
const says = (...answers: readonly Json[]): Reply => {
  const left = [...answers]
  return () => left.shift()
}

describe.each(guests)("a table booked by %s", (_, come) => {
  const tools = ["book_table", "book_carelessly", "book_carefully"]

  it("is the same, whoever wrote the handler", { timeout: 60_000 }, async () => {
    const guest = await come()
    const booked = { party: 2, day: "2026-12-24" }
    const look = async (): Promise<unknown> => (await guest.call("look", {}, says()))["structuredContent"]
    for (const [at, name] of tools.entries()) {
      const asked: unknown[] = []
      const answers = says(day, accept({ yes: true }))
      const done = await guest.call(name, { party: 2 }, (question) => {
        asked.push(question.params["message"])
        return answers(question)
      })
      expect(done, name).toMatchObject({
        content: [{ type: "text", text: JSON.stringify(booked) }],
        structuredContent: booked,
      })
      expect(asked).toEqual(["When?", "Table for 2 on 2026-12-24, confirm?"])
      const refused = await guest.call(name, { party: 3 }, says(day, accept({ yes: false })))
      expect([refused["isError"], textOf(refused)], name).toEqual([true, "released"])
      const declined = await guest.call(name, { party: 3 }, says(decline))
      expect([declined["isError"], textOf(declined)], name).toEqual([true, "not booked"])
      const dismissed = await guest.call(name, { party: 3 }, says(day, { action: "cancel" }))
      expect([dismissed["isError"], textOf(dismissed)], name).toEqual([true, "released"])
      const times = at + 1
      expect(await look(), name).toEqual({ held: 3 * times, released: 2 * times, confirmed: times, open: times })
    }
  })
})

describe("what is held in a modern call", () => {
  it("is still held in round 2, and freed once at the end", { timeout: 30_000 }, async () => {
    const child = start("stdio")
    const look = async (): Promise<unknown> => {
      const response = await child.request(modernRequest(`look ${Math.random()}`, "tools/call", { name: "look" }))
      return (response["result"] as Json)["structuredContent"]
    }
    const call = modernCall((message) => child.request(message), { name: "book_table", arguments: { party: 2 } })
    const first = await call.round()
    expect(await look()).toMatchObject({ held: 0, open: 0 })
    const second = await call.round({ state: first.state, answers: { q1: day } })
    expect(await look()).toEqual({ held: 1, released: 0, confirmed: 0, open: 1 })
    await call.round({ state: second.state })
    expect(await look()).toEqual({ held: 1, released: 0, confirmed: 0, open: 1 })
    await call.round({ state: second.state, answers: { q2: accept({ yes: false }) } })
    expect(await look()).toEqual({ held: 1, released: 1, confirmed: 0, open: 0 })
  })
})
