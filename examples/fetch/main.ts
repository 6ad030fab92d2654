/** Runs the story on any runtime: a request goes in, a response comes out, without a socket. `node examples/dist/fetch/main.js` */
import { app } from "./server.js"

const request = new Request("http://localhost/mcp", {
  method: "POST",
  headers: {
    "Content-Type": "application/json",
    Accept: "application/json, text/event-stream",
    "MCP-Protocol-Version": "2026-07-28",
    "Mcp-Method": "tools/call",
    "Mcp-Name": "add",
  },
  body: JSON.stringify({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: {
      name: "add",
      arguments: { a: 2, b: 3 },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  }),
})
const response = await app(request)
console.log(response.status, await response.text())
