// mcp-lite, which speaks 2025-06-18 over HTTP: `node mcp-lite.js http`.
import { createServer } from "node:http"
import { getRequestListener } from "@hono/node-server"
import { InMemoryClientRequestAdapter, InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite"
import { z } from "zod"
import { dot, greeting, identity, note, person, question, text, wait } from "./content.js"

function build() {
  const server = new McpServer({ ...identity("mcp-lite"), schemaAdapter: (schema) => z.toJSONSchema(schema) })
  addTools(server)
  for (const { uri, mimeType, ...content } of [note, dot]) {
    server.resource(uri, { name: content.name, mimeType }, () => ({ contents: [{ uri, mimeType, ...content }] }))
  }
  server.resource("people://{name}", { name: "person", mimeType: "text/plain" }, ({ href }, { name }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: person(name) }],
  }))
  server.prompt("greet", {
    arguments: z.object({ name: z.string() }),
    handler: ({ name }) => ({ messages: [{ role: "user", content: { type: "text", text: greeting(name) } }] }),
  })
  return server
}

function addTools(server) {
  const numbers = z.object({ a: z.number(), b: z.number() })
  const answer = async (promise) => text(JSON.stringify(await promise))
  server.tool("echo", { inputSchema: z.object({ text: z.string() }), handler: (args) => text(args.text) })
  server.tool("add", {
    inputSchema: numbers,
    outputSchema: z.object({ sum: z.number() }),
    handler: ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
  })
  server.tool("fail", { handler: () => ({ ...text("it did not work"), isError: true }) })
  server.tool("count", {
    inputSchema: z.object({ to: z.number() }),
    async handler({ to }, { progress }) {
      for (let at = 1; at <= to; at++) await progress?.({ progress: at, total: to, message: `at ${at}` })
      return text(`counted to ${to}`)
    },
  })
  server.tool("wait", {
    inputSchema: z.object({ key: z.string() }),
    async handler({ key }, { progress }) {
      await progress?.({ progress: 1 })
      return await wait(key)
    },
  })
  const { message, requestedSchema: schema } = question
  server.tool("ask", { handler: (_args, ctx) => answer(ctx.elicit({ message, schema })) })
  server.tool("think", { handler: (_args, ctx) => answer(ctx.sample({ prompt: "Think!", maxTokens: 7 })) })
}

const transport = new StreamableHttpTransport({
  sessionAdapter: new InMemorySessionAdapter({ maxEventBufferSize: 1024 }),
  clientRequestAdapter: new InMemoryClientRequestAdapter(),
})
const handle = transport.bind(build())
createServer(getRequestListener((request) => handle(request))).listen(0)
