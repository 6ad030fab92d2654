// The official TypeScript SDK v1: legacy era only.
import { randomUUID } from "node:crypto"
import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"
import { McpServer } from "@modelcontextprotocol/sdk/server/mcp.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { listen, readBody } from "../workload/node-http.js"
import { makeTools, textResult } from "../workload/tools.js"

const SDK = "@modelcontextprotocol/sdk"

export const meta = {
  packages: [SDK, "zod"],
  clientPackages: [SDK],
  serverEntries: [`${SDK}/server/mcp.js`, `${SDK}/server/streamableHttp.js`, "zod"],
  stdioEntries: [`${SDK}/server/mcp.js`, `${SDK}/server/stdio.js`, "zod"],
  clientEntries: [`${SDK}/client/index.js`, `${SDK}/client/streamableHttp.js`],
  http: ["legacy-json", "legacy-sse", "session-json", "session-sse"],
  stdio: ["legacy"],
  client: ["legacy"],
  streams: true,
}

/** Makes servers; what can be made once is made once. */
function createFactory(count) {
  const registrations = makeTools(count).map(({ name, description, schema, run }) => [
    name,
    { description, inputSchema: schema },
    async (args) => textResult(run(args)),
  ])
  return () => {
    const server = new McpServer({ name: "bench", version: "1.0.0" })
    for (const registration of registrations) server.registerTool(...registration)
    return server
  }
}

export async function serveHttp({ port, mode, tools }) {
  const build = createFactory(tools)
  const enableJsonResponse = mode.endsWith("-json")
  const handle = mode.startsWith("session")
    ? createSessionHandler(build, enableJsonResponse)
    : createStatelessHandler(build, enableJsonResponse)
  return { port: await listen(handle, port) }
}

/** A stateless transport serves one request, so server and transport are made for each. */
function createStatelessHandler(build, enableJsonResponse) {
  return async (incoming, response) => {
    const server = build()
    const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse })
    response.on("close", () => {
      void transport.close()
      void server.close()
    })
    await server.connect(transport)
    await transport.handleRequest(incoming, response)
  }
}

function createSessionHandler(build, enableJsonResponse) {
  const sessions = new Map()
  return (incoming, response) => {
    const known = sessions.get(incoming.headers["mcp-session-id"])
    if (known !== undefined) return void known.handleRequest(incoming, response)
    readBody(incoming, async (body) => {
      const message = JSON.parse(body)
      if (message.method !== "initialize") return response.writeHead(404).end()
      const transport = new StreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        enableJsonResponse,
        onsessioninitialized: (id) => void sessions.set(id, transport),
      })
      transport.onclose = () => sessions.delete(transport.sessionId)
      await build().connect(transport)
      await transport.handleRequest(incoming, response, message)
    })
  }
}

export async function serveStdio({ tools }) {
  await createFactory(tools)().connect(new StdioServerTransport())
}

export async function connectClient({ url }) {
  const client = new Client({ name: "bench", version: "1.0.0" })
  await client.connect(new StreamableHTTPClientTransport(new URL(url)))
  return { call: (name, args) => client.callTool({ name, arguments: args }) }
}
