/** What middleware around requests can see, refuse and replace, the same in both eras. */
import {
  contextKey,
  createServer,
  McpError,
  type MethodMiddleware,
  type Middleware,
  prompt,
  type Reply,
  resource,
  type ServerCall,
  type ServerOptions,
  ToolError,
  tool,
} from "conduit-mcp"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { type Reply as AskReply, accept, legacyClient, modernCall, textOf } from "../support/asking.js"
import { createRecordingLogger } from "../support/logger.js"
import { ask, callTool, type EraName, eras, linked } from "../support/story.js"
import type { Json } from "../support/wire.js"

const userKey = contextKey<{ readonly name: string }>("user")

const tools = [
  tool("who", {}, (_, ctx) => ctx.get(userKey)?.name ?? "nobody"),
  tool("fail", {}, () => {
    throw new ToolError("no table")
  }),
  tool("crash", {}, () => {
    throw new Error("secret detail")
  }),
  tool("ask", {}, async (_, ctx) => {
    const sure = await ctx.elicit("Sure?", z.object({ yes: z.boolean() }))
    return sure.action
  }),
]

function serverWith(middleware: readonly (Middleware | MethodMiddleware)[], more: Partial<ServerOptions> = {}) {
  const logger = createRecordingLogger()
  const resources = [resource("test://a", { name: "a" }, () => "a")]
  const prompts = [prompt("hi", {}, () => "hi")]
  const server = createServer({
    name: "test",
    version: "1.0.0",
    tools,
    resources,
    prompts,
    logger,
    middleware,
    ...more,
  })
  return { server, logger }
}

/** Middleware that writes down what passes it. */
function noting(notes: string[], name: string): Middleware {
  return async (call, next) => {
    notes.push(`${name} > ${call.method}`)
    const reply = await next()
    notes.push(`${name} < ${reply.ok}`)
    return reply
  }
}

describe.each(eras)("middleware (%s)", (era: EraName) => {
  it("goes around every request in the order in which it was given, the first outermost", async () => {
    const notes: string[] = []
    const { server } = serverWith([noting(notes, "outer")])
    server.use(noting(notes, "inner"))
    await callTool(server, era, "who")
    expect(notes).toEqual(["outer > tools/call", "inner > tools/call", "inner < true", "outer < true"])
  })

  it.each([
    "tools/list",
    "tools/call",
    "resources/list",
    "resources/templates/list",
    "resources/read",
    "prompts/list",
    "prompts/get",
    "completion/complete",
  ])("goes around %s", async (method) => {
    const seen: string[] = []
    const { server } = serverWith([
      (call, next) => {
        seen.push(call.method)
        return next()
      },
    ])
    await ask(server, era, method, { name: "who", uri: "test://a" })
    expect(seen).toEqual([method])
  })

  it("goes around the requests of one method only when it names one", async () => {
    const notes: string[] = []
    const { server } = serverWith([["tools/call", noting(notes, "given")]])
    server.use("tools/list", noting(notes, "used"))
    await callTool(server, era, "who")
    await ask(server, era, "tools/list")
    await ask(server, era, "prompts/list")
    expect(notes).toEqual(["given > tools/call", "given < true", "used > tools/list", "used < true"])
  })

  it("leaves values for handlers under typed keys", async () => {
    const { server } = serverWith([
      (call, next) => {
        call.set(userKey, { name: "ada" })
        return next()
      },
    ])
    expect(textOf(await callTool(server, era, "who"))).toBe("ada")
  })

  it("knows who calls what", async () => {
    const seen: ServerCall[] = []
    const { server } = serverWith([
      (call, next) => {
        seen.push(call)
        return next()
      },
    ])
    await callTool(server, era, "who", { a: 1 })
    const [call] = seen
    expect(call).toMatchObject({ method: "tools/call", era, principal: undefined })
    expect(call?.params).toMatchObject({ name: "who", arguments: { a: 1 } })
    expect(call?.client.info?.name).toBe("test")
  })

  it("refuses with an error of the protocol, and the handler is not entered", async () => {
    let entered = false
    const { server } = serverWith(
      [
        () => {
          throw new McpError("Not on Sundays", { kind: "protocol", reason: "jsonrpc", code: -32602, data: { day: 0 } })
        },
      ],
      {
        tools: [
          tool("who", {}, () => {
            entered = true
            return ""
          }),
        ],
      },
    )
    const { error } = await ask(server, era, "tools/call", { name: "who" })
    expect(error).toEqual({ code: -32602, message: "Not on Sundays", data: { reason: "jsonrpc", day: 0 } })
    expect(entered).toBe(false)
  })

  it("refuses a tool's call with words for the model", async () => {
    const { server } = serverWith([
      () => {
        throw new ToolError("log in first")
      },
    ])
    expect(await callTool(server, era, "who")).toMatchObject({
      content: [{ type: "text", text: "log in first" }],
      isError: true,
    })
  })

  it("answers with a reference and logs the rest when it fails", async () => {
    const { server, logger } = serverWith([
      () => {
        throw new Error("database down")
      },
    ])
    const answer = await ask(server, era, "tools/call", { name: "who" })
    expect(answer["error"]).toMatchObject({ code: -32603 })
    expect(JSON.stringify(answer)).not.toContain("database")
    expect(logger.lines.map(({ message }) => message)).toEqual(["middleware failed"])
  })

  it("sees the result as it goes out, and can put another in its place", async () => {
    const seen: unknown[] = []
    const { server } = serverWith([
      async (_, next) => {
        const reply = await next()
        if (!reply.ok) return reply
        seen.push(reply.result["content"])
        return { ok: true, result: { ...reply.result, content: [{ type: "text", text: "replaced" }] } }
      },
    ])
    const result = await callTool(server, era, "who")
    expect(seen).toEqual([[{ type: "text", text: "nobody" }]])
    expect(textOf(result)).toBe("replaced")
  })

  it("can answer without entering the method; what the revision asks of every result is filled in", async () => {
    const { server } = serverWith([() => ({ ok: true, result: { tools: [] } })])
    const { result } = await ask(server, era, "tools/list")
    expect(result).toMatchObject({ tools: [] })
    if (era === "modern") {
      expect(result).toMatchObject({ resultType: "complete", ttlMs: 0, cacheScope: "private" })
      expect((result as Json)["_meta"]).toMatchObject({ "io.modelcontextprotocol/serverInfo": { name: "test" } })
    }
  })

  it("can put an error in the place of a result, and a result in the place of an error", async () => {
    const { server } = serverWith([
      async (call, next): Promise<Reply> => {
        const { ok } = await next()
        return ok
          ? { ok: false, error: { code: -32603, message: `no ${call.method}` } }
          : { ok: true, result: { content: [] } }
      },
    ])
    expect((await ask(server, era, "tools/list"))["error"]).toMatchObject({ code: -32603, message: "no tools/list" })
    expect(await callTool(server, era, "nothing")).toMatchObject({ content: [] })
  })

  it.each<[what: string, tool: string, reply: Json]>([
    ["an error of the protocol", "nothing", { ok: false, error: { code: -32602, message: "Unknown tool: nothing" } }],
    ["a tool that fails", "fail", { ok: true, result: { isError: true } }],
    ["a handler that throws", "crash", { ok: true, result: { isError: true } }],
  ])("sees %s as a reply, and never as a rejection", async (_, name, expected) => {
    const seen: unknown[] = []
    const { server } = serverWith([
      {
        after: (_call, reply) => {
          seen.push(reply)
        },
      },
    ])
    await callTool(server, era, name)
    expect(seen).toMatchObject([expected])
    expect(JSON.stringify(seen)).not.toContain("secret detail")
  })

  it("sees what further middleware threw as a reply too", async () => {
    const seen: unknown[] = []
    const { server } = serverWith([
      {
        after: (_call, reply) => {
          seen.push(reply.ok)
        },
      },
      () => {
        throw new Error("inner")
      },
    ])
    await ask(server, era, "tools/list")
    expect(seen).toEqual([false])
  })

  it("runs hooks before and after", async () => {
    const notes: string[] = []
    const { server } = serverWith([
      {
        before: async (call) => void notes.push(`before ${call.method}`),
        after: async (call, reply) => void notes.push(`after ${call.method} ${reply.ok}`),
      },
      { before: () => void notes.push("second") },
    ])
    expect(await callTool(server, era, "who")).toMatchObject({ content: [{ text: "nobody" }] })
    expect(notes).toEqual(["before tools/call", "second", "after tools/call true"])
  })

  it("refuses from a hook that throws", async () => {
    const { server } = serverWith([
      {
        before: () => {
          throw new ToolError("closed")
        },
      },
    ])
    expect(textOf(await callTool(server, era, "who"))).toBe("closed")
  })

  it.each<[what: string, Middleware]>([
    ["returns nothing", (() => undefined) as unknown as Middleware],
    ["returns a result that is not JSON", () => ({ ok: true, result: { n: Number.NaN } })],
    ["returns a result that is no object", () => ({ ok: true, result: [] as unknown as Record<string, never> })],
    [
      "calls next twice",
      async (_, next) => {
        await next()
        return next()
      },
    ],
  ])("is an internal error when it %s", async (_, middleware) => {
    const { server, logger } = serverWith([middleware])
    expect((await ask(server, era, "tools/list"))["error"]).toMatchObject({ code: -32603 })
    expect(logger.lines).toHaveLength(1)
  })

  it("goes around handlers that are written by hand", async () => {
    const notes: string[] = []
    const server = createServer({
      name: "by hand",
      version: "1.0.0",
      handlers: { "tools/list": () => ({ tools: [] }) },
      capabilities: { tools: {} },
      middleware: [noting(notes, "m")],
    })
    expect((await ask(server, era, "tools/list"))["result"]).toMatchObject({ tools: [] })
    expect(notes).toEqual(["m > tools/list", "m < true"])
  })

  it("applies to what is asked for after it was put there", async () => {
    const { server } = serverWith([])
    await linked(server, async (raw) => {
      expect((await raw[era]("tools/list", {}))["error"]).toBeUndefined()
      server.use(() => {
        throw new McpError("later", { kind: "protocol", reason: "jsonrpc", code: -32603 })
      })
      expect((await raw[era]("tools/list", {}))["error"]).toMatchObject({ message: "later" })
    })
  })
})

describe("middleware and questions", () => {
  it("sees the questions of a modern call as its result, which is on its way and stays as it is", async () => {
    let saw: (resultType: unknown) => void = () => {}
    const seen = new Promise<unknown>((resolve) => {
      saw = resolve
    })
    const { server } = serverWith([
      async (_, next) => {
        const reply = await next()
        saw(reply.ok && reply.result["resultType"])
        return { ok: true, result: { content: [] } }
      },
    ])
    await linked(server, async (raw) => {
      const call = modernCall((message) => raw.request(message), { name: "ask" })
      const { asked } = await call.round()
      expect(asked).toMatchObject([{ key: "q1", method: "elicitation/create" }])
      expect(await seen).toBe("input_required")
    })
  })

  it("goes around each round of a modern call, and once around a legacy one", async () => {
    let times = 0
    const count: Middleware = {
      before: () => {
        times++
      },
    }
    const { server } = serverWith([["tools/call", count]])
    const reply: AskReply = () => accept({ yes: true })
    await linked(server, async (raw) => {
      const rounds = await modernCall((message) => raw.request(message), { name: "ask" }).run(reply)
      expect(textOf(rounds.at(-1)?.result)).toBe("accept")
    })
    expect(times).toBe(2)
    await linked(server, async (raw) => {
      const client = await legacyClient(raw)
      const { response } = await client.call("tools/call", { name: "ask" }, reply)
      expect(textOf(response["result"] as Json)).toBe("accept")
    })
    expect(times).toBe(3)
  })
})

describe("server.use", () => {
  it.each([["initialize"], ["tools/nothing"], ["notifications/cancelled"]])("refuses the method %s", (method) => {
    const { server } = serverWith([])
    expect(() => server.use(method, (_, next) => next())).toThrow(/not a method that middleware can go around/)
  })

  it("refuses what is neither a function nor hooks", () => {
    expect(() => serverWith(["tools/call" as unknown as Middleware])).toThrow(/function, or an object/)
  })
})
