import { createServer } from "node:http"
import { createRequestListener } from "@remix-run/node-fetch-server"
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod"
import { HttpTransport } from "@tmcp/transport-http"
import { McpServer } from "tmcp"
import * as z from "zod"

const server = new McpServer(
  { name: "m", version: "1.0.0", description: "m" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
)
server.tool({ name: "echo", description: "echo", schema: z.object({ text: z.string() }) }, async ({ text }) => ({
  content: [{ type: "text", text }],
}))
const transport = new HttpTransport(server, { path: "/mcp" })
createServer(
  createRequestListener(async (r) => (await transport.respond(r)) ?? new Response(null, { status: 404 })),
).listen(3000, "127.0.0.1")
