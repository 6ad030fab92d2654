/**
 * Standard input and output, where one stray line breaks every client. The guard is the first import: what the modules after
 * it print while they are loaded goes to stderr; what is printed later does so in any case.
 */
import "conduit-mcp/stdio-guard"
import { createServer, tool } from "conduit-mcp"
import { serveStdio } from "conduit-mcp/node"
import { z } from "zod"
import { add } from "./noise.js"

const sum = tool("sum", { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(add(a, b)))

/** Ends with exit code 0 once the client closes the pipe. */
serveStdio(createServer({ name: "stdio", version: "1.0.0", tools: [sum] }))
