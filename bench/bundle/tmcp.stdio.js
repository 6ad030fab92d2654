import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod"
import { StdioTransport } from "@tmcp/transport-stdio"
import { McpServer } from "tmcp"
import * as z from "zod"

const server = new McpServer(
  { name: "m", version: "1.0.0", description: "m" },
  { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: {} } },
)
server.tool({ name: "echo", description: "echo", schema: z.object({ text: z.string() }) }, async ({ text }) => ({
  content: [{ type: "text", text }],
}))
new StdioTransport(server).listen()
