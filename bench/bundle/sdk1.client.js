import { Client } from "@modelcontextprotocol/sdk/client/index.js"
import { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js"

const client = new Client({ name: "m", version: "1.0.0" })
await client.connect(new StreamableHTTPClientTransport(new URL("http://127.0.0.1:3000/mcp")))
console.log(await client.callTool({ name: "echo", arguments: { text: "hi" } }))
