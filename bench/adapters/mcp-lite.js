// mcp-lite: protocol 2025-06-18, HTTP only. It answers with an event stream whenever Accept names it, so the JSON modes name
// only JSON: its best case, as a conforming client names both.
import { getRequestListener } from "@hono/node-server"
import { InMemorySessionAdapter, McpServer, StreamableHttpTransport } from "mcp-lite"
import { z } from "zod"
import { listen } from "../workload/node-http.js"
import { makeTools, textResult } from "../workload/tools.js"

export const meta = {
  packages: ["mcp-lite", "@hono/node-server", "hono", "zod"],
  serverEntries: ["mcp-lite", "@hono/node-server", "zod"],
  legacyVersion: "2025-06-18",
  http: ["legacy-json", "legacy-sse", "session-json", "session-sse"],
  accept: { "legacy-json": "application/json", "session-json": "application/json" },
  streams: true,
}

export async function serveHttp({ port, mode, tools }) {
  const server = new McpServer({ name: "bench", version: "1.0.0", schemaAdapter: (schema) => z.toJSONSchema(schema) })
  for (const { name, description, schema, run } of makeTools(tools)) {
    server.tool(name, { description, inputSchema: schema, handler: (args) => textResult(run(args)) })
  }
  const sessionAdapter = mode.startsWith("session")
    ? new InMemorySessionAdapter({ maxEventBufferSize: 1024 })
    : undefined
  const transport = new StreamableHttpTransport(sessionAdapter === undefined ? {} : { sessionAdapter })
  const handle = transport.bind(server)
  return {
    port: await listen(
      getRequestListener((request) => handle(request)),
      port,
    ),
  }
}
