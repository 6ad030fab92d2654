// Conduit, as its users write it.
import { createServer, tool } from "conduit-mcp"
import { connect } from "conduit-mcp/client"
import { serve, serveStdio as serveOnStdio } from "conduit-mcp/node"
import { makeTools } from "../workload/tools.js"

/** An event stream comes when a handler sends something, or when the client takes nothing else: as it does in these modes. */
const STREAM_ONLY = "text/event-stream"

export const meta = {
  packages: ["conduit-mcp", "zod"],
  serverEntries: ["conduit-mcp", "conduit-mcp/node", "zod"],
  stdioEntries: ["conduit-mcp", "conduit-mcp/node", "zod"],
  http: ["modern-json", "modern-sse", "legacy-json", "legacy-sse", "session-json", "session-sse"],
  accept: { "modern-sse": STREAM_ONLY, "legacy-sse": STREAM_ONLY, "session-sse": STREAM_ONLY },
  stdio: ["modern", "legacy"],
  client: ["modern", "legacy"],
  clientStdio: ["modern"],
  clientPackages: ["conduit-mcp"],
  clientEntries: ["conduit-mcp/client"],
  listens: true,
  streams: true,
}

function build(count) {
  const tools = makeTools(count).map(({ name, description, schema, run }) =>
    tool(name, { description, input: schema }, async (args) => run(args)),
  )
  return createServer({ name: "bench", version: "1.0.0", tools })
}

export async function serveHttp({ port, mode, tools }) {
  const server = build(tools)
  const running = await serve(server, { port, sessions: !mode.startsWith("legacy") })
  return { port: running.address.port, notify: () => server.changed("tools") }
}

export async function serveStdio({ tools }) {
  serveOnStdio(build(tools))
}

export async function connectClient({ era, url, command }) {
  const [program, ...args] = command ?? []
  const client = await connect(command === undefined ? url : { command: program, args }, { protocol: era })
  return { call: (name, args) => client.callTool(name, args) }
}
