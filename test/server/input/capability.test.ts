/** What a client did not declare is not asked for, by the leaf. */
import { createServer, prompt, resource, tool } from "conduit-mcp"
import { serve } from "conduit-mcp/node"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { legacyClient, modernCall, textOf } from "../../support/asking.js"
import { postModern } from "../../support/http.js"
import { link } from "../../support/link.js"
import { createRecordingLogger } from "../../support/logger.js"
import { type Json, modernRequest } from "../../support/wire.js"

type Ctx = Parameters<Parameters<typeof tool>[2]>[1]

const name = z.object({ name: z.string() })
const text = { role: "user", content: { type: "text", text: "hi" } } as const
const toolUse = { role: "assistant", content: { type: "tool_use", id: "1", name: "x", input: {} } } as const
const toolResult = { role: "user", content: { type: "tool_result", toolUseId: "1", content: [] } } as const
const someTool = { name: "x", inputSchema: { type: "object" } }

/** Every way to ask, the leaf that it needs, and what -32021 names. */
const ways: readonly (readonly [what: string, ask: (ctx: Ctx) => Promise<unknown>, needs: string, named: Json])[] = [
  ["a form", (ctx) => ctx.elicit("Who?", name), "elicitation.form", { elicitation: { form: {} } }],
  [
    "a page",
    (ctx) => ctx.elicitUrl("Go", () => "https://example.com/"),
    "elicitation.url",
    { elicitation: { url: {} } },
  ],
  ["a completion", (ctx) => ctx.sample({ messages: [text], maxTokens: 5 }), "sampling", { sampling: {} }],
  [
    "a completion with a list of blocks",
    (ctx) => ctx.sample({ messages: [{ role: "user", content: [text.content] }], maxTokens: 5 }),
    "sampling",
    { sampling: {} },
  ],
  [
    "a completion with tools",
    (ctx) => ctx.sample({ messages: [text], maxTokens: 5, tools: [someTool] }),
    "sampling.tools",
    { sampling: { tools: {} } },
  ],
  [
    "a completion with a tool choice",
    (ctx) => ctx.sample({ messages: [text], maxTokens: 5, toolChoice: { mode: "none" } }),
    "sampling.tools",
    { sampling: { tools: {} } },
  ],
  [
    "a completion of a conversation with tools",
    (ctx) => ctx.sample({ messages: [text, toolUse, toolResult], maxTokens: 5 }),
    "sampling.tools",
    { sampling: { tools: {} } },
  ],
  [
    "a completion with context",
    (ctx) => ctx.sample({ messages: [text], maxTokens: 5, includeContext: "thisServer" }),
    "sampling.context",
    { sampling: { context: {} } },
  ],
  ["roots", (ctx) => ctx.roots(), "roots", { roots: {} }],
]

/** Declarations, and the leaves that each holds. */
const declarations: readonly (readonly [declared: Json, leaves: readonly string[]])[] = [
  [{}, []],
  [{ elicitation: {} }, ["elicitation.form"]],
  [{ elicitation: { form: {} } }, ["elicitation.form"]],
  [{ elicitation: { url: {} } }, ["elicitation.url"]],
  [{ elicitation: { form: {}, url: {} } }, ["elicitation.form", "elicitation.url"]],
  [{ sampling: {} }, ["sampling"]],
  [{ sampling: { tools: {} } }, ["sampling", "sampling.tools"]],
  [{ sampling: { context: {} } }, ["sampling", "sampling.context"]],
  [{ roots: {} }, ["roots"]],
  [{ roots: { listChanged: true } }, ["roots"]],
  [{ experimental: { elicitation: {} }, elicitation: null, sampling: true, roots: [] }, []],
]

const table = declarations.flatMap(([declared, leaves]) =>
  ways.map(([what, ask, needs, named]) => ({ what, declared, ask, named, may: leaves.includes(needs) })),
)

describe.each(table)("$what of a client that declares $declared", ({ declared, ask, named, may }) => {
  const asks = tool("asks", {}, async (_, ctx) => {
    await ask(ctx)
    return "answered"
  })
  const linked = () =>
    link(createServer({ name: "test", version: "1.0.0", logger: createRecordingLogger(), tools: [asks] }))

  it("is asked, or refused with -32021 that names the leaf, in the modern era", async () => {
    const { asked, error } = await modernCall(linked().request, { name: "asks" }, { capabilities: declared }).round()
    if (may) expect(asked).toHaveLength(1)
    else {
      expect(error).toMatchObject({
        code: -32021,
        data: { reason: "missing_client_capability", requiredCapabilities: named },
      })
    }
  })

  it("is asked, or a clear tool error, in the legacy era", async () => {
    const client = await legacyClient(linked(), { capabilities: declared })
    const { response, asked } = await client.call("tools/call", { name: "asks" }, () => ({ wrong: true }))
    expect(asked).toHaveLength(may ? 1 : 0)
    const result = response["result"] as Json
    expect(result["isError"]).toBe(true)
    expect(textOf(result).includes("did not declare")).toBe(!may)
  })
})

describe("a capability that is missing, over HTTP", () => {
  it("is 400 as long as nothing was written, and an event of the stream after that", async () => {
    const asks = tool("asks", { input: z.object({ progress: z.boolean() }) }, async ({ progress }, ctx) => {
      if (progress) ctx.progress(1)
      return `${(await ctx.roots()).length}`
    })
    const server = createServer({ name: "test", version: "1.0.0", logger: createRecordingLogger(), tools: [asks] })
    const running = await serve(server, { port: 0 })
    try {
      const send = (progress: boolean) => {
        const params = { name: "asks", arguments: { progress }, _meta: { progressToken: 1 } }
        return postModern(running.url, modernRequest(1, "tools/call", params))
      }
      const early = await send(false)
      expect([early.status, early.json["error"]]).toMatchObject([400, { code: -32021 }])
      const late = await send(true)
      expect([late.status, late.json["error"]]).toMatchObject([200, { code: -32021 }])
      expect(late.messages).toHaveLength(2)
    } finally {
      await running.close()
    }
  })
})

describe("a capability that is missing", () => {
  it("may be caught by the handler, which asks otherwise", async () => {
    const asks = tool("asks", {}, async (_, ctx) => {
      try {
        await ctx.elicitUrl("Go", () => "https://example.com/")
      } catch {
        await ctx.elicit("Who?", name)
      }
      return "done"
    })
    const server = createServer({ name: "test", version: "1.0.0", logger: createRecordingLogger(), tools: [asks] })
    const capabilities = { elicitation: {} }
    const { asked } = await modernCall(link(server).request, { name: "asks" }, { capabilities }).round()
    expect(asked).toMatchObject([{ params: { mode: "form" } }])
    const client = await legacyClient(link(server), { capabilities })
    expect((await client.call("tools/call", { name: "asks" }, () => ({ action: "decline" }))).asked).toHaveLength(1)
  })

  it("refuses prompts and resources in both eras", async () => {
    const server = createServer({
      name: "test",
      version: "1.0.0",
      logger: createRecordingLogger(),
      prompts: [prompt("asks", {}, async (_, ctx) => `${(await ctx.elicit("Who?", name)).action}`)],
      resources: [resource("test://asks", { name: "asks" }, async (ctx) => `${(await ctx.roots()).length}`)],
    })
    const capabilities = {}
    const requests = [
      ["prompts/get", { name: "asks" }],
      ["resources/read", { uri: "test://asks" }],
    ] as const
    for (const [method, params] of requests) {
      const { error } = await modernCall(link(server).request, params, { method, capabilities }).round()
      expect(error).toMatchObject({ code: -32021 })
      const client = await legacyClient(link(server), { capabilities })
      const { response } = await client.call(method, params, () => ({}))
      expect(response["error"]).toMatchObject({ code: -32603, message: expect.stringContaining("did not declare") })
    }
  })
})
