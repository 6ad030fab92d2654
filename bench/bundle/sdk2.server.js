import { createServer } from "node:http"
import { toNodeHandler } from "@modelcontextprotocol/node"
import { createMcpHandler, McpServer } from "@modelcontextprotocol/server"
import * as z from "zod"

const handler = createMcpHandler(() => {
  const server = new McpServer({ name: "m", version: "1.0.0" })
  server.registerTool(
    "echo",
    { description: "echo", inputSchema: z.object({ text: z.string() }) },
    async ({ text }) => ({ content: [{ type: "text", text }] }),
  )
  return server
})
createServer(toNodeHandler(handler)).listen(3000, "127.0.0.1")
