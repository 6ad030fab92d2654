import { createServer, tool } from "conduit-mcp"
import { serveStdio } from "conduit-mcp/node"
import * as z from "zod"

const echo = tool("echo", { description: "echo", input: z.object({ text: z.string() }) }, ({ text }) => text)
serveStdio(createServer({ name: "m", version: "1.0.0", tools: [echo] }))
