/**
 * A server in a process of its own whose memory a test looks at: it prints its URL, then does what each line that it reads says.
 * `change` changes a list, `advance <ms>` moves its clock, and `memory` prints its memory after collection, for which it is run
 * with `--expose-gc`. `LIMITS` is the JSON of its limits.
 */
import { createInterface } from "node:readline"
import { createServer, resource, tool } from "conduit-mcp"
import { serve } from "conduit-mcp/node"

const tasks = new Set()
let nowMs = 1_000_000
const clock = {
  now: () => nowMs,
  after(delayMs, run) {
    const task = { dueMs: nowMs + delayMs, run }
    tasks.add(task)
    return () => tasks.delete(task)
  },
}

function advance(ms) {
  nowMs += ms
  for (const task of [...tasks]) if (task.dueMs <= nowMs && tasks.delete(task)) task.run()
}

const server = createServer({
  name: "load",
  version: "1.0.0",
  tools: [tool("echo", {}, () => "echo")],
  resources: [resource("note://1", { name: "note" }, () => "a note")],
})
const { url } = await serve(server, { port: 0, clock, limits: JSON.parse(process.env.LIMITS ?? "{}") })
console.log(url)

function printMemory() {
  for (let times = 0; times < 4; times++) globalThis.gc?.()
  const { heapUsed, rss } = process.memoryUsage()
  console.log(JSON.stringify({ heapUsed, rss }))
}

createInterface({ input: process.stdin }).on("line", (line) => {
  const [command, argument] = line.split(" ")
  if (command === "change") server.changed("tools")
  else if (command === "advance") advance(Number(argument))
  else printMemory()
})
