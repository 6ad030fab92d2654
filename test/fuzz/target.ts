/** The server that everything is thrown at: one of each feature, and nothing that keeps what a caller sent. */
import {
  content,
  contextKey,
  createServer,
  type LogFields,
  type Logger,
  prompt,
  resource,
  resourceTemplate,
  type Server,
  ToolError,
  tool,
  user,
} from "conduit-mcp"
import { jsonSchema } from "conduit-mcp/schema"
import { z } from "zod"

/** What the functions of the target throw on purpose. Any other error that the server reports is a bug. */
export class Deliberate extends Error {}

/** Whether a line of the server's log is about something that a function of the target does on purpose. */
export function isMeant(message: string, fields: LogFields | undefined): boolean {
  return fields?.["error"] instanceof Deliberate || message === 'tool "mirror" returned what cannot be sent'
}

/** Small enough that every cap is reached, short enough that everything that is held expires while the test runs. */
export const LIMITS = {
  maxBodyBytes: 512 << 10,
  maxLineBytes: 512 << 10,
  bodyTimeoutMs: 1_000,
  maxInFlight: 200,
  maxInFlightPerPeer: 50,
  maxSessions: 150,
  sessionIdleMs: 1_000,
  stateTtlMs: 1_000,
  maxListens: 20,
  maxSubscriptions: 50,
  maxSubscriptionsPerPeer: 5,
  eventTtlMs: 1_000,
  keepAliveMs: 50,
  coalesceMs: 5,
} as const

/** Names that are members of every object, which tools, prompts and variables may have all the same. */
export const INHERITED = ["__proto__", "constructor", "toString", "hasOwnProperty"] as const

const left = contextKey<string>("left")
const next = (): Promise<void> => new Promise((resolve) => setImmediate(resolve))

const echo = tool("echo", { input: z.object({ text: z.string() }) }, ({ text }) => text)

const mirror = tool("mirror", { input: z.looseObject({}), output: z.looseObject({}) }, (args, ctx) => {
  const before = ctx.get(left)
  if (before !== undefined) throw new Error("the values of one call were seen in another")
  ctx.set(left, JSON.stringify(args))
  return { args, header: ctx.header("x-odd") ?? "" }
})

const check = tool(
  "check",
  {
    input: jsonSchema({
      $defs: { tree: { type: "object", properties: { next: { $ref: "#/$defs/tree" } }, additionalProperties: false } },
      type: "object",
      properties: {
        mail: { type: "string", format: "email" },
        host: { type: "string", format: "hostname" },
        code: { type: "string", pattern: "^[a-z]+(-[a-z]+)*$", maxLength: 10_000 },
        count: { type: "integer", multipleOf: 3 },
        tree: { $ref: "#/$defs/tree" },
        list: { type: "array", uniqueItems: true, maxItems: 100 },
      },
      patternProperties: { "^x-": { type: "string" } },
      additionalProperties: { type: ["string", "number", "boolean", "null"] },
    }),
  },
  () => "fits",
)

const region = tool(
  "region",
  {
    input: jsonSchema({
      type: "object",
      properties: {
        region: { type: "string", "x-mcp-header": "Region" },
        count: { type: "integer", "x-mcp-header": "Count" },
        sure: { type: "boolean", "x-mcp-header": "Sure" },
      },
    }),
  },
  (args) => JSON.stringify(args),
)

const report = tool("report", { input: z.object({ text: z.string() }) }, async ({ text }, ctx) => {
  ctx.progress(1, 3, text)
  ctx.log.error(text, { text })
  await next()
  ctx.progress(2, 3, `\n\ndata: {"forged":true}\n\n${text}`)
  ctx.log.info(`\r\rid: 1\r\nretry: 1\r\n\r\n${text}`)
  await next()
  return [content.text(text), content.text(`\u2028event: forged\u2029\r\n\r\ndata: {"forged":true}\n\n`)]
})

const ask = tool("ask", { input: z.object({ text: z.string() }) }, async ({ text }, ctx) => {
  const [name, size] = await Promise.all([
    ctx.elicit(`Who? ${text}`, z.object({ name: z.string() }), { key: "name" }),
    ctx.elicit("How many?", z.object({ size: z.number() }), { key: "size" }),
  ])
  const held = await ctx.once("held", () => ({ text, answers: [name, size] }))
  ctx.onEnd(() => undefined)
  const sure = await ctx.elicit(`Sure? ${text}`, z.object({ yes: z.boolean() }), { key: "sure" })
  return { held, sure: sure.action }
})

const think = tool("think", { input: z.object({ text: z.string() }) }, async ({ text }, ctx) => {
  const message = { role: "user", content: { type: "text", text } } as const
  const [said, roots] = await Promise.all([ctx.sample({ messages: [message], maxTokens: 9 }), ctx.roots()])
  return { said, roots }
})

const visit = tool("visit", { input: z.object({ text: z.string() }) }, async ({ text }, ctx) => {
  const answer = await ctx.elicitUrl("Sign in", (id) => `https://example.com/${id}`, { done: () => true })
  return `${text} ${answer.action}`
})

const fails = tool("fails", { input: z.object({ text: z.string() }) }, ({ text }) => {
  throw new Deliberate(text)
})

const refuses = tool("refuses", { input: z.object({ text: z.string() }) }, ({ text }) => {
  throw new ToolError(text)
})

const waits = tool("waits", {}, async (_, ctx) => {
  for (let turn = 0; turn < 5 && !ctx.signal.aborted; turn++) await next()
  return "waited"
})

const inherited = INHERITED.map((name) => tool(name, { input: z.looseObject({}) }, () => name))

const resources = [
  resource("test://fixed", { name: "fixed", mimeType: "text/plain" }, () => "fixed"),
  resource("test://fails", { name: "fails" }, () => {
    throw new Deliberate("a resource")
  }),
  resourceTemplate(
    "test://one/{id}",
    { name: "one", complete: { id: (prefix) => Array.from({ length: 200 }, (_, index) => `${prefix}${index}`) } },
    ({ id }) => ({ id }),
  ),
  resourceTemplate("file:///data/{path*}", { name: "path" }, ({ path }) => ({ path })),
  resourceTemplate("test://query{?tags*,page}", { name: "query" }, (variables) => ({ variables })),
  resourceTemplate("test://asks/{id}", { name: "asks" }, async ({ id }, ctx) => {
    const answer = await ctx.elicit(`Which? ${id}`, z.object({ which: z.string() }))
    return { id, answer: answer.action }
  }),
]

const prompts = [
  prompt("say", { args: z.object({ text: z.string(), tone: z.string().optional() }) }, ({ text }) => [user(text)]),
  prompt("wonder", { args: z.object({ text: z.string() }) }, async ({ text }, ctx) => {
    const answer = await ctx.elicit(`Why? ${text}`, z.object({ why: z.string() }))
    return `${text} ${answer.action}`
  }),
  prompt("breaks", {}, () => {
    throw new Deliberate("a prompt")
  }),
  ...INHERITED.map((name) => prompt(name, {}, () => name)),
]

/** Makes the target. Its pages hold three entries, so that there are cursors. */
export function createTarget(logger: Logger): Server {
  return createServer({
    name: "target",
    version: "1.0.0",
    instructions: "Throw anything at it.",
    pageSize: 3,
    tools: [echo, mirror, check, region, report, ask, think, visit, fails, refuses, waits, ...inherited],
    resources,
    prompts,
    canSee: ({ kind }, caller) => kind !== "prompt" || caller?.id !== "peer-blind",
    logger,
  })
}
