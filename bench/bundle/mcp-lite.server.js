import { createServer } from "node:http"
import { getRequestListener } from "@hono/node-server"
import { McpServer, StreamableHttpTransport } from "mcp-lite"
import * as z from "zod"

const server = new McpServer({ name: "m", version: "1.0.0", schemaAdapter: (s) => z.toJSONSchema(s) })
server.tool("echo", {
  description: "echo",
  inputSchema: z.object({ text: z.string() }),
  handler: ({ text }) => ({ content: [{ type: "text", text }] }),
})
const handle = new StreamableHttpTransport().bind(server)
createServer(getRequestListener((r) => handle(r))).listen(3000, "127.0.0.1")
