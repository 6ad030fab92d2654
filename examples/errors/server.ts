/** Errors: what a model is told so that it can do better, what a client is told, and what only the log is told. */
import { codes, createServer, fail, McpError, prompt, resource, ToolError, tool } from "conduit-mcp"
import { z } from "zod"

/** `fail` is a result: the tool ran and says no. The model reads the text. */
const divide = tool("divide", { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) =>
  b === 0 ? fail("Cannot divide by zero. Choose another b.") : String(a / b),
)

/** A `ToolError` is the same for code that is too deep down to return something. */
function withdraw(balance: number, amount: number): number {
  if (amount > balance) throw new ToolError(`Only ${balance} left.`)
  return balance - amount
}

const pay = tool("pay", { input: z.object({ amount: z.number() }) }, ({ amount }) => `${withdraw(10, amount)} left.`)

/**
 * Any other exception is the server's own trouble. Its message may hold secrets, so that the caller gets a reference only, and
 * the log gets the reference with everything else.
 */
const crash = tool("crash", {}, () => {
  throw new Error("password=hunter2 was refused by db.internal")
})

/** A `McpError` of kind `protocol` is an error of the call, not of the tool: the client is told, with a code. */
const admin = tool("admin", {}, () => {
  throw new McpError("This tool is closed on Sundays", {
    kind: "protocol",
    reason: "jsonrpc",
    code: codes.invalidParams,
    data: { until: "Monday" },
  })
})

/** Resources and prompts have no `isError`: undefined is "not found", and an exception is an internal error. */
const gone = resource("note:///gone", { name: "gone" }, () => undefined)
const torn = resource("note:///torn", { name: "torn" }, () => {
  throw new Error("the disk is torn")
})
const strict = prompt("strict", { args: z.object({ size: z.enum(["small", "large"]) }) }, ({ size }) => size)

export const server = createServer({
  name: "errors",
  version: "1.0.0",
  tools: [divide, pay, crash, admin],
  resources: [gone, torn],
  prompts: [strict],
})
