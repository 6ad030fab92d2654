/** A program that connects to a command, calls a tool once, and closes: it has nothing left then that could keep it alive. */
import { connect } from "conduit-mcp/client"

const client = await connect(JSON.parse(process.argv[2] ?? "{}"))
await client.callTool("echo")
if (process.argv[3] !== "throws") await client.close()
console.log("done")
if (process.argv[3] === "throws") throw new Error("careless")
