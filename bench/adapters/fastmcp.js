// fastmcp: legacy era only; built on the official SDK v1 and mcp-proxy.
import { createServer } from "node:net"
import { FastMCP } from "fastmcp"
import { makeTools } from "../workload/tools.js"

export const meta = {
  packages: ["fastmcp", "zod"],
  serverEntries: ["fastmcp", "zod"],
  stdioEntries: ["fastmcp", "zod"],
  http: ["legacy-json", "legacy-sse", "session-json", "session-sse"],
  stdio: ["legacy"],
  streams: true,
}

function quiet() {}

function build(count) {
  const logger = { debug: quiet, error: quiet, info: quiet, log: quiet, warn: quiet }
  const server = new FastMCP({ name: "bench", version: "1.0.0", ping: { enabled: false }, logger })
  for (const { name, description, schema, run } of makeTools(count)) {
    server.addTool({ name, description, parameters: schema, execute: async (args) => run(args) })
  }
  return server
}

/** fastmcp does not say which port it got, so it is given a free one. */
function findFreePort() {
  return new Promise((resolve) => {
    const probe = createServer().listen(0, "127.0.0.1", () => {
      const { port } = probe.address()
      probe.close(() => resolve(port))
    })
  })
}

export async function serveHttp({ port: wanted, mode, tools }) {
  const port = wanted || (await findFreePort())
  const stateless = mode.startsWith("legacy")
  const httpStream = { port, host: "127.0.0.1", stateless, enableJsonResponse: mode.endsWith("-json") }
  await build(tools).start({ transportType: "httpStream", httpStream })
  return { port }
}

export async function serveStdio({ tools }) {
  await build(tools).start({ transportType: "stdio" })
}
