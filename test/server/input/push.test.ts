/** Asking in the legacy era: a request on the call's own stream, and whose response it hears. */
import { createServer, type Gate, prompt, resource, type Server, tool } from "conduit-mcp"
import { type ServeOptions, serve } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { z } from "zod"
import { accept, byMessage, decline, everything, legacyClient, textOf } from "../../support/asking.js"
import { createManualClock } from "../../support/clock.js"
import { post } from "../../support/http.js"
import { link, type RawLink } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"
import { initializeRequest, type Json, legacyRequest } from "../../support/wire.js"

type Handler = Parameters<typeof tool>[2]

const name = z.object({ name: z.string().min(2) })
const ada = accept({ name: "Ada" })

const stops: (() => Promise<void>)[] = []
afterEach(async () => {
  for (const stop of stops.splice(0)) await stop()
})

function serverOf(handler: Handler): Server {
  return createServer({
    name: "test",
    version: "1.0.0",
    logger: createRecordingLogger(),
    tools: [tool("subject", {}, handler)],
  })
}

const asks: Handler = async (_, ctx) => {
  const who = await ctx.elicit("Who?", name)
  return `Hello ${who.content?.name ?? who.action}`
}

async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn++) await new Promise((resolve) => setImmediate(resolve))
}

/** The response to a request of ours. */
const responseTo = (raw: RawLink, id: number): Promise<Json> =>
  raw.next((message) => message["id"] === id && message["method"] === undefined)

const resultOf = (response: Json): Json => (response["result"] ?? {}) as Json

/** Serves over HTTP. */
async function start(server: Server, options: ServeOptions = {}): Promise<string> {
  const running = await serve(server, { port: 0, ...options })
  stops.push(() => running.close())
  return running.url
}

/** Opens a session that can be asked; the headers that name it. */
async function open(
  url: string,
  more: Record<string, string> = {},
  version = "2025-11-25",
): Promise<Record<string, string>> {
  const reply = await post(url, initializeRequest(0, version, everything), more)
  const headers = {
    ...more,
    "mcp-session-id": String(reply.headers["mcp-session-id"]),
    "mcp-protocol-version": version,
  }
  await post(url, { jsonrpc: "2.0", method: "notifications/initialized" }, headers)
  return headers
}

/** Posts a call and reads its stream as it comes. */
async function stream(url: string, message: Json, headers: Record<string, string>) {
  const response = await fetch(url, {
    method: "POST",
    headers: {
      "content-type": "application/json",
      accept: "application/json, text/event-stream",
      ...headers,
    },
    body: JSON.stringify(message),
  })
  const messages: Json[] = []
  const done = (async () => {
    let text = ""
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      for (let end = text.indexOf("\n\n"); end >= 0; end = text.indexOf("\n\n")) {
        for (const line of text.slice(0, end).split("\n")) {
          if (line.startsWith("data: ")) messages.push(JSON.parse(line.slice(6)) as Json)
        }
        text = text.slice(end + 2)
      }
    }
  })()
  const next = async (method: string): Promise<Json> => {
    await expect.poll(() => messages.some((one) => one["method"] === method), { timeout: 5_000 }).toBe(true)
    return messages.find((one) => one["method"] === method) ?? {}
  }
  return { response, messages, done, next }
}

describe("a question in the legacy era", () => {
  it.each(["2025-11-25", "2025-06-18"])(
    "is a request of its own in %s, and the handler waits for the response",
    async (version) => {
      const client = await legacyClient(link(serverOf(asks)), { version })
      const { asked, response } = await client.call("tools/call", { name: "subject" }, () => ada)
      expect(asked).toMatchObject([{ method: "elicitation/create", params: { message: "Who?" } }])
      expect(asked[0]?.params["mode"]).toBe(version === "2025-06-18" ? undefined : "form")
      expect(resultOf(response)).toEqual({ content: [{ type: "text", text: "Hello Ada" }] })
    },
  )

  it("may be asked beside others, and each hears its own response", async () => {
    const handler: Handler = async (_, ctx) => {
      const all = await Promise.all([ctx.elicit("A?", name), ctx.elicit("B?", name)])
      return all.map(({ content }) => content?.name).join(" ")
    }
    const { link: raw } = await legacyClient(link(serverOf(handler)))
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    const asking = (message: string) => (one: Json) => (one["params"] as Json | undefined)?.["message"] === message
    const [a, b] = [await raw.next(asking("A?")), await raw.next(asking("B?"))]
    raw.send({ jsonrpc: "2.0", id: b["id"], result: accept({ name: "Bob" }) })
    raw.send({ jsonrpc: "2.0", id: a["id"], result: ada })
    expect(textOf(resultOf(await responseTo(raw, 77)))).toBe("Ada Bob")
  })

  it("is declined or dismissed like anywhere", async () => {
    const client = await legacyClient(link(serverOf(asks)))
    for (const answer of [decline, { action: "cancel" }, { action: "decline", content: null }]) {
      const { response } = await client.call("tools/call", { name: "subject" }, () => answer)
      expect(textOf(resultOf(response))).toBe(`Hello ${answer["action"]}`)
    }
  })

  it("rejects with kind validation for an answer that does not fit", async () => {
    const errors: unknown[] = []
    const handler: Handler = async (_, ctx) => {
      await ctx.elicit("Who?", name, { key: "who" }).catch((error: unknown) => errors.push(error))
      return "caught"
    }
    const client = await legacyClient(link(serverOf(handler)))
    const { response } = await client.call("tools/call", { name: "subject" }, () => accept({ name: "A" }))
    expect(textOf(resultOf(response))).toBe("caught")
    expect(errors).toMatchObject([
      { kind: "validation", reason: "invalid_answer", data: { key: "who", issues: [{ path: ["name"] }] } },
    ])
  })

  it("is a clear tool error when nobody catches that", async () => {
    const client = await legacyClient(link(serverOf(asks)))
    const { response } = await client.call("tools/call", { name: "subject" }, () => accept({ name: "A" }))
    expect(resultOf(response)).toMatchObject({ isError: true })
    expect(textOf(resultOf(response))).toMatch(/answer to "q1" is not valid: name/)
  })

  it("is a clear tool error when the client answers with an error, without what its words may hide", async () => {
    const { link: raw } = await legacyClient(link(serverOf(asks)))
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    const { id } = await raw.next(({ method }) => method === "elicitation/create")
    raw.send({ jsonrpc: "2.0", id, error: { code: -32601, message: `no\u202eforms${"!".repeat(1_000)}` } })
    const result = resultOf(await responseTo(raw, 77))
    expect(result).toMatchObject({ isError: true })
    expect(textOf(result)).toMatch(/^the client refused elicitation\/create: noforms!+… \(-32601\)$/)
    expect(textOf(result).length).toBeLessThan(300)
  })

  it("is let go when its time is over", async () => {
    const clock = createManualClock()
    const { link: raw } = await legacyClient(link(serverOf(asks), { clock, limits: { stateTtlMs: 60_000 } }))
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    const { id } = await raw.next(({ method }) => method === "elicitation/create")
    clock.advance(60_000)
    expect(textOf(resultOf(await responseTo(raw, 77)))).toContain("did not answer elicitation/create within 60 s")
    raw.send({ jsonrpc: "2.0", id, result: ada })
    await settle()
    expect(raw.received.filter((message) => message["id"] === 77)).toHaveLength(1)
  })

  it("is let go when the call is cancelled, and frees what is held", async () => {
    const errors: unknown[] = []
    let freed = 0
    const handler: Handler = async (_, ctx) => {
      ctx.onEnd(() => ++freed)
      await ctx.elicit("Who?", name).catch((error: unknown) => errors.push(error))
      return "caught"
    }
    const { link: raw } = await legacyClient(link(serverOf(handler)))
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    await raw.next(({ method }) => method === "elicitation/create")
    raw.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 77 } })
    await expect.poll(() => freed).toBe(1)
    expect(errors).toMatchObject([{ kind: "cancelled", reason: "call_ended" }])
    await settle()
    expect(raw.received.filter((one) => one["id"] === 77)).toEqual([])
  })

  it("raises no unhandled rejection when nobody awaits it, and its answer harms nobody", async () => {
    const handler: Handler = (_, ctx) => {
      void ctx.elicit("Who?", name)
      return "done at once"
    }
    const client = await legacyClient(link(serverOf(handler)))
    const { response } = await client.call("tools/call", { name: "subject" }, () => undefined)
    expect(textOf(resultOf(response))).toBe("done at once")
    client.link.send({ jsonrpc: "2.0", id: 1, result: ada })
    await settle()
    expect((await client.call("tools/call", { name: "subject" }, () => undefined)).response["result"]).toBeDefined()
  })

  it("is a misuse in a later turn without a key, as in the modern era", async () => {
    const errors: unknown[] = []
    const handler: Handler = async (_, ctx) => {
      const first = ctx.elicit("A?", name)
      await undefined
      await undefined
      await ctx.elicit("B?", name).catch((error: unknown) => errors.push(error))
      return `${(await first).action}`
    }
    const client = await legacyClient(link(serverOf(handler)))
    const { response, asked } = await client.call("tools/call", { name: "subject" }, () => ada)
    expect(textOf(resultOf(response))).toBe("accept")
    expect(asked).toHaveLength(1)
    expect(errors).toMatchObject([{ kind: "misuse", reason: "ambiguous_question" }])
  })

  it("is not said to be suspended", async () => {
    const seen: unknown[] = []
    const handler: Handler = async (_, ctx) => {
      seen.push(ctx.suspended)
      await ctx.elicit("Who?", name)
      seen.push(ctx.suspended, ctx.signal.aborted)
      return "done"
    }
    const client = await legacyClient(link(serverOf(handler)))
    await client.call("tools/call", { name: "subject" }, () => ada)
    expect(seen).toEqual([false, false, false])
  })
})

describe("a response", () => {
  it.each<[what: string, id: (id: unknown) => unknown]>([
    ["with an unknown id", () => 999],
    ["with the id as a text", (id) => String(id)],
    ["with an id that was never given", () => "1"],
  ])("%s is dropped", async (_, other) => {
    const { link: raw } = await legacyClient(link(serverOf(asks)))
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    const { id } = await raw.next(({ method }) => method === "elicitation/create")
    raw.send({ jsonrpc: "2.0", id: other(id), result: accept({ name: "Eve" }) })
    await settle()
    raw.send({ jsonrpc: "2.0", id, result: ada })
    expect(textOf(resultOf(await responseTo(raw, 77)))).toBe("Hello Ada")
  })

  it("that comes twice, or late, counts once", async () => {
    const { link: raw } = await legacyClient(link(serverOf(asks)))
    raw.send(legacyRequest(77, "tools/call", { name: "subject" }))
    const { id } = await raw.next(({ method }) => method === "elicitation/create")
    raw.send({ jsonrpc: "2.0", id, result: ada })
    raw.send({ jsonrpc: "2.0", id, result: accept({ name: "Eve" }) })
    expect(textOf(resultOf(await responseTo(raw, 77)))).toBe("Hello Ada")
    raw.send({ jsonrpc: "2.0", id, result: accept({ name: "Eve" }) })
    await settle()
    expect(raw.received.filter((message) => message["id"] === 77)).toHaveLength(1)
  })
})

describe("over HTTP", () => {
  it("a question comes on the call's own stream, and its response in a POST that gets 202", async () => {
    const url = await start(serverOf(asks))
    const headers = await open(url)
    const call = await stream(url, legacyRequest("call", "tools/call", { name: "subject" }), headers)
    expect(call.response.headers.get("content-type")).toContain("text/event-stream")
    const question = await call.next("elicitation/create")
    const reply = await post(url, { jsonrpc: "2.0", id: question["id"], result: ada }, headers)
    expect([reply.status, reply.text]).toEqual([202, ""])
    await call.done
    expect(call.messages.map(({ id, method }) => method ?? id)).toEqual(["elicitation/create", "call"])
    expect(textOf(resultOf(call.messages.at(-1) ?? {}))).toBe("Hello Ada")
  })

  it("each of two calls is asked on its own stream", async () => {
    const url = await start(serverOf(asks))
    const headers = await open(url)
    const [one, two] = [
      await stream(url, legacyRequest("one", "tools/call", { name: "subject" }), headers),
      await stream(url, legacyRequest("two", "tools/call", { name: "subject" }), headers),
    ]
    const [first, second] = [await one.next("elicitation/create"), await two.next("elicitation/create")]
    expect(first["id"]).not.toBe(second["id"])
    await post(url, { jsonrpc: "2.0", id: second["id"], result: accept({ name: "Two" }) }, headers)
    await post(url, { jsonrpc: "2.0", id: first["id"], result: accept({ name: "One" }) }, headers)
    await Promise.all([one.done, two.done])
    expect(textOf(resultOf(one.messages.at(-1) ?? {}))).toBe("Hello One")
    expect(textOf(resultOf(two.messages.at(-1) ?? {}))).toBe("Hello Two")
  })

  it("a response counts in the session that was asked, and for its principal, alone", async () => {
    const gate: Gate = {
      check: ({ header }) => ({ ok: true, principal: { id: (header("authorization") ?? "").replace("Bearer ", "") } }),
    }
    const url = await start(serverOf(asks), { auth: gate })
    const adas = await open(url, { authorization: "Bearer ada" })
    const others = await open(url, { authorization: "Bearer ada" })
    const bobs = await open(url, { authorization: "Bearer bob" })
    const call = await stream(url, legacyRequest(77, "tools/call", { name: "subject" }), adas)
    const { id } = await call.next("elicitation/create")
    const forged = { jsonrpc: "2.0", id, result: accept({ name: "Eve" }) }
    expect((await post(url, forged, others)).status).toBe(202)
    expect((await post(url, forged, bobs)).status).toBe(202)
    const stolen = await post(url, forged, { ...adas, authorization: "Bearer bob" })
    expect(stolen.status).toBe(404)
    const { "mcp-session-id": _, ...sessionless } = adas
    expect((await post(url, forged, sessionless)).status).toBe(400)
    await settle()
    expect(call.messages.some((message) => message["id"] === 77)).toBe(false)
    await post(url, { jsonrpc: "2.0", id, result: ada }, adas)
    await call.done
    expect(textOf(resultOf(call.messages.at(-1) ?? {}))).toBe("Hello Ada")
  })

  it("a server without sessions answers with a tool error that names the setting", async () => {
    const url = await start(serverOf(asks), { sessions: false })
    const message = legacyRequest(77, "tools/call", { name: "subject" })
    const { json } = await post(url, message, { "mcp-protocol-version": "2025-11-25" })
    expect(resultOf(json)).toMatchObject({ isError: true })
    expect(textOf(resultOf(json))).toContain("sessions: false")
  })

  it("a client whose Accept has no event-stream gets a tool error that says so", async () => {
    const url = await start(serverOf(asks))
    const headers = await open(url)
    const message = legacyRequest(77, "tools/call", { name: "subject" })
    const { json } = await post(url, message, { ...headers, accept: "application/json" })
    expect(resultOf(json)).toMatchObject({ isError: true })
    expect(textOf(resultOf(json))).toContain("text/event-stream")
  })
})

describe("prompts and resources of the legacy era", () => {
  const server = (): Server =>
    createServer({
      name: "test",
      version: "1.0.0",
      logger: createRecordingLogger(),
      prompts: [prompt("asks", {}, async (_, ctx) => `For ${(await ctx.elicit("Who?", name)).content?.name}`)],
      resources: [
        resource(
          "test://asks",
          { name: "asks" },
          async (ctx) => `Of ${(await ctx.elicit("Who?", name)).content?.name}`,
        ),
      ],
    })

  it("ask like tools", async () => {
    const client = await legacyClient(link(server()))
    const reply = byMessage({ "Who?": ada })
    const said = await client.call("prompts/get", { name: "asks" }, reply)
    expect(said.asked).toHaveLength(1)
    expect(JSON.stringify(said.response["result"])).toContain("For Ada")
    const read = await client.call("resources/read", { uri: "test://asks" }, reply)
    expect(JSON.stringify(read.response["result"])).toContain("Of Ada")
  })

  it("refuse an answer that does not fit", async () => {
    const client = await legacyClient(link(server()))
    const { response } = await client.call("prompts/get", { name: "asks" }, () => accept({ name: "A" }))
    expect(response["error"]).toMatchObject({ code: -32602, data: { reason: "invalid_answer", key: "q1" } })
  })

  it("say why the client cannot be asked", async () => {
    const url = await start(server(), { sessions: false })
    const message = legacyRequest(77, "resources/read", { uri: "test://asks" })
    const { json } = await post(url, message, { "mcp-protocol-version": "2025-11-25" })
    expect(json["error"]).toMatchObject({ code: -32603, message: expect.stringContaining("sessions: false") })
  })
})
