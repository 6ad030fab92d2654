/** The target on standard streams. Whatever it reports that was not meant stands on stderr, and a tool tells of its heap. */
import { tool } from "conduit-mcp"
import { serveStdio } from "conduit-mcp/node"
import { createTarget, isMeant, LIMITS } from "./target.js"

const server = createTarget({
  debug() {},
  info() {},
  warn() {},
  error(message, fields) {
    if (!isMeant(message, fields)) console.error(message, fields)
  },
})

server.add(
  tool("heap", {}, async () => {
    for (let round = 0; round < 4; round++) {
      globalThis.gc?.()
      await new Promise((resolve) => setImmediate(resolve))
    }
    return process.memoryUsage().heapUsed
  }),
)

setInterval(() => server.changed("tools"), 20).unref()

serveStdio(server, { limits: LIMITS })
