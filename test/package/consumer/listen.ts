/** What someone who installed the package writes on Node: a server on a port. */
import { createServer, tool } from "conduit-mcp"
import { serve } from "conduit-mcp/node"

const server = createServer({ name: "consumer", version: "1.0.0", tools: [tool("hello", {}, () => "hello")] })
const running = await serve(server, { port: 0 })
export const url: string = running.url
await running.close()
