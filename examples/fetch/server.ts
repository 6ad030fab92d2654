/**
 * A handler for everything that has the web's `Request` and `Response`: Deno, Bun, Workers, and frameworks on them. It stands at
 * module scope, where Workers allow neither timers nor randomness. Deno serves it with `Deno.serve(app)`, Bun with
 * `Bun.serve({ fetch: app })`, Workers with `export default { fetch: app }`.
 */
import { createServer, tool } from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { z } from "zod"

const add = tool(
  "add",
  { input: z.object({ a: z.number(), b: z.number() }), output: z.object({ sum: z.number() }) },
  ({ a, b }, ctx) => {
    ctx.progress(1, 1, "added")
    return { sum: a + b }
  },
)

/** Legacy clients are served without sessions, since the next request may reach another instance. */
const mcp = createFetchHandler(createServer({ name: "fetch", version: "1.0.0", tools: [add] }))

/** The MCP endpoint beside the other routes of an application. */
export async function app(request: Request): Promise<Response> {
  const { pathname } = new URL(request.url)
  if (pathname === "/mcp") return mcp(request)
  return pathname === "/health" ? new Response("ok") : new Response("Not found", { status: 404 })
}
