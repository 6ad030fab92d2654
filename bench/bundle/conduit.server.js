import { createServer, tool } from "conduit-mcp"
import { serve } from "conduit-mcp/node"
import * as z from "zod"

const echo = tool("echo", { description: "echo", input: z.object({ text: z.string() }) }, ({ text }) => text)
await serve(createServer({ name: "m", version: "1.0.0", tools: [echo] }))
