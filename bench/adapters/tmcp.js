// tmcp: both eras, one server object for all requests, an event stream as the answer to every POST.
import { createRequestListener } from "@remix-run/node-fetch-server"
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod"
import { HttpTransport } from "@tmcp/transport-http"
import { StdioTransport } from "@tmcp/transport-stdio"
import { McpServer } from "tmcp"
import { listen } from "../workload/node-http.js"
import { makeTools, textResult } from "../workload/tools.js"

export const meta = {
  packages: ["tmcp", "@tmcp/transport-http", "@tmcp/adapter-zod", "@remix-run/node-fetch-server", "zod"],
  serverEntries: ["tmcp", "@tmcp/transport-http", "@tmcp/adapter-zod", "@remix-run/node-fetch-server", "zod"],
  stdioEntries: ["tmcp", "@tmcp/transport-stdio", "@tmcp/adapter-zod", "zod"],
  http: ["modern-sse", "legacy-sse", "session-sse"],
  stdio: ["modern", "legacy"],
  listens: true,
  streams: true,
}

function build(count) {
  const options = { adapter: new ZodJsonSchemaAdapter(), capabilities: { tools: { listChanged: true } } }
  const server = new McpServer({ name: "bench", version: "1.0.0", description: "bench" }, options)
  for (const { name, description, schema, run } of makeTools(count)) {
    server.tool({ name, description, schema }, async (args) => textResult(run(args)))
  }
  return server
}

export async function serveHttp({ port, tools }) {
  const server = build(tools)
  const transport = new HttpTransport(server, { path: "/mcp", allowedOrigins: [] })
  const respond = async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 })
  return { port: await listen(createRequestListener(respond), port), notify: () => server.changed("tools") }
}

export async function serveStdio({ tools }) {
  new StdioTransport(build(tools)).listen()
}
