/** A server on standard streams that goes down on SIGTERM, in its own time. */
import { createServer, fail, tool } from "conduit-mcp"
import { serveStdio } from "conduit-mcp/node"
import { z } from "zod"

let release = () => {}
const released = new Promise((resolve) => {
  release = resolve
})

const wait = tool("wait", {}, async (_, ctx) => {
  ctx.signal.addEventListener("abort", () => console.error("wait: aborted"))
  console.error("wait: started")
  await released
  return "waited"
})

const ask = tool("ask", {}, async (_, ctx) => {
  const answer = await ctx.elicit("Name?", z.object({ name: z.string() }))
  if (answer.action !== "accept") return fail("no")
  release()
  return answer.content.name
})

const stop = new AbortController()
process.once("SIGTERM", () => stop.abort())
const running = serveStdio(createServer({ name: "drain", version: "1.0.0", tools: [wait, ask] }), {
  signal: stop.signal,
  limits: { drainMs: Number(process.env.DRAIN_MS ?? 10_000) },
})
await running.closed
console.error(`down: ${JSON.stringify(await running.drain())}`)
