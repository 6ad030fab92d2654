/** The example server on standard input and output, for clients that start their servers themselves. */
import "conduit-mcp/stdio-guard"
import { serveStdio } from "conduit-mcp/node"
import { server } from "./weather.js"

serveStdio(server)
