/**
 * Mounting: the MCP endpoint is one handler of a web server that has others. Frameworks such as Express call handlers in
 * this way and may have parsed the body before, which is then taken from `request.body`.
 */
import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http"
import { json } from "node:stream/consumers"
import { createServer, tool } from "conduit-mcp"
import { createNodeHandler } from "conduit-mcp/node"

export const server = createServer({ name: "mount", version: "1.0.0", tools: [tool("hello", {}, () => "hello")] })

type Handler = (request: IncomingMessage & { body?: unknown }, response: ServerResponse) => void

/** A web server in the manner of Express, with a body parser in front of everything. */
export function createApp(): Server {
  const mcp = createNodeHandler(server)
  const routes: Readonly<Record<string, Handler>> = {
    "/": (_, response) => response.end("The MCP endpoint is at /mcp."),
    "/health": (_, response) => response.end("ok"),
    "/mcp": mcp,
  }
  return createHttpServer(async (request: IncomingMessage & { body?: unknown }, response) => {
    const handler = routes[request.url ?? ""]
    if (handler === undefined) return void response.writeHead(404).end()
    try {
      if (request.headers["content-type"] === "application/json") request.body = await json(request)
      handler(request, response)
    } catch {
      response.writeHead(400).end("The body is not JSON.")
    }
  })
}
