/**
 * The server that the official harness tests: every feature that it asks for, written with the public API alone. Listens on
 * `PORT` (default 3000) of this machine and prints its URL.
 */
import { createServer } from "conduit-mcp"
import { serve } from "conduit-mcp/node"
import { prompts } from "./everything/prompts.js"
import { resources } from "./everything/resources.js"
import { addTriggers, reconnection } from "./everything/streams.js"
import { tools } from "./everything/tools.js"

const server = createServer({
  name: "conduit-mcp-conformance",
  version: "0.0.0",
  tools: [...tools, reconnection],
  resources,
  prompts,
})
addTriggers(server)
const { url } = await serve(server, { port: Number(process.env["PORT"] ?? 3000) })
console.log(url)
