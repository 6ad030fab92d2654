// The official TypeScript SDK v2: the packages server, node and client.
import { randomUUID } from "node:crypto"
import { Client, StreamableHTTPClientTransport } from "@modelcontextprotocol/client"
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio"
import {
  localhostHostValidation,
  localhostOriginValidation,
  NodeStreamableHTTPServerTransport,
  toNodeHandler,
} from "@modelcontextprotocol/node"
import { createMcpHandler, isInitializeRequest, McpServer } from "@modelcontextprotocol/server"
import { serveStdio as serveOnStdio } from "@modelcontextprotocol/server/stdio"
import { MODERN } from "../workload/messages.js"
import { listen, readBody } from "../workload/node-http.js"
import { makeTools, textResult } from "../workload/tools.js"

const SERVER = "@modelcontextprotocol/server"
const NODE = "@modelcontextprotocol/node"
const CLIENT = "@modelcontextprotocol/client"

export const meta = {
  packages: [SERVER, NODE, "zod"],
  clientPackages: [CLIENT],
  serverEntries: [SERVER, NODE, "zod"],
  stdioEntries: [SERVER, `${SERVER}/stdio`, "zod"],
  clientEntries: [CLIENT],
  http: ["modern-json", "modern-sse", "legacy-json", "legacy-sse", "session-json", "session-sse"],
  stdio: ["modern", "legacy"],
  client: ["modern", "legacy"],
  clientStdio: ["modern"],
  listens: true,
  streams: true,
}

/** Makes servers; schemas and callbacks are made once, only the registration is per server, as its documentation asks. */
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
  const isHostFine = localhostHostValidation()
  const isOriginFine = localhostOriginValidation()
  const guard = (handle) => (incoming, response) => {
    if (isHostFine(incoming, response) && isOriginFine(incoming, response)) void handle(incoming, response)
  }
  if (mode.startsWith("session")) return { port: await listen(guard(createSessionHandler(build, mode)), port) }
  if (mode === "legacy-json") return { port: await listen(guard(createStatelessHandler(build)), port) }
  const responseMode = { "modern-json": "json", "modern-sse": "sse" }[mode]
  const options = { maxSubscriptions: 100_000, ...(responseMode === undefined ? {} : { responseMode }) }
  const handler = createMcpHandler(build, options)
  return { port: await listen(guard(toNodeHandler(handler)), port), notify: () => handler.notify.toolsChanged() }
}

/** Legacy JSON without sessions, wired by hand: `createMcpHandler` answers legacy clients with event streams only. */
function createStatelessHandler(build) {
  return async (incoming, response) => {
    const server = build()
    const transport = new NodeStreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
    response.on("close", () => {
      void transport.close()
      void server.close()
    })
    await server.connect(transport)
    await transport.handleRequest(incoming, response)
  }
}

function createSessionHandler(build, mode) {
  const sessions = new Map()
  return (incoming, response) => {
    const known = sessions.get(incoming.headers["mcp-session-id"])
    if (known !== undefined) return known.handleRequest(incoming, response)
    readBody(incoming, async (body) => {
      const message = JSON.parse(body)
      if (!isInitializeRequest(message)) return response.writeHead(404).end()
      const transport = new NodeStreamableHTTPServerTransport({
        sessionIdGenerator: () => randomUUID(),
        enableJsonResponse: mode.endsWith("-json"),
        onsessioninitialized: (id) => void sessions.set(id, transport),
      })
      transport.onclose = () => sessions.delete(transport.sessionId)
      await build().connect(transport)
      await transport.handleRequest(incoming, response, message)
    })
  }
}

export async function serveStdio({ tools }) {
  serveOnStdio(createFactory(tools))
}

export async function connectClient({ era, url, command }) {
  const options = era === "modern" ? { versionNegotiation: { mode: { pin: MODERN } } } : {}
  const client = new Client({ name: "bench", version: "1.0.0" }, options)
  const [program, ...args] = command ?? []
  const transport =
    command === undefined
      ? new StreamableHTTPClientTransport(new URL(url))
      : new StdioClientTransport({ command: program, args, stderr: "ignore" })
  await client.connect(transport)
  return { call: (name, args) => client.callTool({ name, arguments: args }) }
}
