/** A server on standard streams whose tools change its lists, and stop it at once or in its own time. */
import { createServer, tool } from "conduit-mcp"
import { serveStdio } from "conduit-mcp/node"

const server = createServer({ name: "listening", version: "1.0.0" })
const running = serveStdio(server)
const act = (name, action) =>
  server.add(
    tool(name, {}, () => {
      action()
      return name
    }),
  )

act("change", () => server.changed("tools"))
act("close", () => void running.close())
act("drain", () => void running.drain())
