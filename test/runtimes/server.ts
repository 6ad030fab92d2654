/** The server that every runtime serves: made at module scope, with one of each feature and what the statements watch. */
import { content, createServer, prompt, resource, resourceTemplate, type Server, tool, user } from "conduit-mcp"
import { createFetchHandler } from "conduit-mcp/fetch"
import { jsonSchema } from "conduit-mcp/schema"
import { z } from "zod"

/** The largest body that the handler takes. */
export const MAX_BODY_BYTES = 65_536
/** What the tool `flood` sends: this many events, each of this many characters. */
export const FLOOD = { events: 512, size: 65_536 }

const states = new Map<string, string>()
const floods = new Map<string, number>()

const forecast = tool(
  "forecast",
  { input: z.object({ city: z.string() }), output: z.object({ city: z.string(), celsius: z.number() }) },
  ({ city }) => ({ city, celsius: 21 }),
)
const measure = tool(
  "measure",
  {
    input: jsonSchema<{ text: string }>({
      type: "object",
      properties: { text: { type: "string", pattern: "^[a-z]+$" } },
      required: ["text"],
    }),
    output: jsonSchema<{ length: number }>({ type: "object", properties: { length: { type: "integer" } } }),
  },
  ({ text }) => ({ length: text.length }),
)
const count = tool("count", { input: z.object({ to: z.number() }) }, async ({ to }, ctx) => {
  for (let done = 1; done <= to; done++) {
    ctx.progress(done, to)
    await ctx.flush()
  }
  return `counted to ${to}`
})
const caller = tool("caller", {}, (_, ctx) => ({
  id: ctx.principal?.id ?? "nobody",
  agent: ctx.header("x-agent") ?? "",
}))
const picture = tool("picture", {}, () => [content.image("R0lGODdh", "image/gif")])
const fails = tool("fails", {}, () => {
  throw new Error("for the log only")
})
const wait = tool(
  "wait",
  { input: z.object({ key: z.string(), progress: z.boolean() }) },
  async ({ key, progress }, ctx) => {
    if (progress) ctx.progress(1)
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, 60_000)
      ctx.signal.addEventListener("abort", () => {
        clearTimeout(timer)
        resolve()
      })
      states.set(key, "running")
    })
    states.set(key, ctx.signal.aborted ? "aborted" : "done")
    return "waited"
  },
)
const flood = tool("flood", { input: z.object({ key: z.string() }) }, async ({ key }, ctx) => {
  for (let done = 1; done <= FLOOD.events && !ctx.signal.aborted; done++) {
    ctx.progress(done, FLOOD.events, "x".repeat(FLOOD.size))
    floods.set(key, done)
    await ctx.flush()
  }
  return "flooded"
})
const state = tool("state", { input: z.object({ key: z.string() }) }, ({ key }) => states.get(key) ?? "unknown")
const flooded = tool("flooded", { input: z.object({ key: z.string() }) }, ({ key }) => floods.get(key) ?? 0)
const ask = tool("ask", {}, async (_, ctx) => {
  const answer = await ctx.elicit("Who are you?", z.object({ name: z.string() }))
  return answer.action === "accept" ? `Hello, ${answer.content.name}` : "Nobody"
})
const sessions = tool("sessions", {}, () => {
  try {
    createFetchHandler(server, { sessions: true })
    return "served"
  } catch (error) {
    return String(error)
  }
})

const readme = resource("file:///readme.md", { name: "readme", mimeType: "text/markdown" }, () => "# hi")
const city = resourceTemplate(
  "weather://{city}",
  {
    name: "city",
    complete: { city: (prefix) => ["Oslo", "Odense", "Rome"].filter((name) => name.startsWith(prefix)) },
  },
  ({ city }) => ({ city }),
)
const review = prompt("review", { args: z.object({ code: z.string() }) }, ({ code }) => [user(`Review: ${code}`)])

/** The server. */
export const server: Server = createServer({
  name: "runtimes",
  version: "1.0.0",
  tools: [forecast, measure, count, caller, picture, fails, wait, flood, state, flooded, ask, sessions],
  resources: [readme, city],
  prompts: [review],
  logger: { debug() {}, info() {}, warn() {}, error() {} },
})

/** Its handler, with every check of the front door in use. */
export const handler = createFetchHandler(server, {
  path: "/mcp",
  allowedHosts: ["127.0.0.1"],
  allowedOrigins: ["https://app.example"],
  secrets: ["a secret of at least 32 bytes, for tests"],
  limits: { maxBodyBytes: MAX_BODY_BYTES, keepAliveMs: 250 },
  auth: ({ header }) => {
    const token = header("authorization") ?? "Bearer anybody"
    return token === "Bearer wrong" ? undefined : { id: token.slice("Bearer ".length) }
  },
})
