/** A server on standard streams whose tool `change` says that something changed. */
import { createServer, resource, tool } from "conduit-mcp"
import { serveStdio } from "conduit-mcp/node"

const note = resource("note://1", { name: "note" }, () => "a note")
const server = createServer({ name: "changing", version: "1.0.0", resources: [note] })
server.add(
  tool("change", {}, () => {
    server.changed("tools")
    server.updated("note://1")
    return "changed"
  }),
)
serveStdio(server)
