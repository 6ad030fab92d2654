/** The tools that the official harness calls while it listens: those that change a list, and one that lets its client go. */
import { setTimeout } from "node:timers/promises"
import { prompt, type Server, tool } from "conduit-mcp"

/** Longer than the harness takes to come back. */
const WORK_MS = 500

/** Closes its connection before it answers; the client comes back for the answer. */
export const reconnection = tool(
  "test_reconnection",
  { description: "Lets its client go while it works" },
  async (_, ctx) => {
    ctx.disconnect({ retryMs: 100 })
    await setTimeout(WORK_MS)
    return "Worked while nobody was connected."
  },
)

/** Adds the tools that change the lists of a running server. */
export function addTriggers(server: Server): void {
  server.tool("test_trigger_tool_change", { description: "Changes the list of tools" }, () => {
    server.add(tool("test_added_tool", { description: "Is there for a moment" }, () => "added")).remove()
    return "The list of tools changed."
  })
  server.tool("test_trigger_prompt_change", { description: "Changes the list of prompts" }, () => {
    server.add(prompt("test_added_prompt", { description: "Is there for a moment" }, () => "added")).remove()
    return "The list of prompts changed."
  })
}
