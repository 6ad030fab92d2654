// tmcp, in both eras: `node tmcp.js stdio`, or `http`.
import { createServer } from "node:http"
import { createRequestListener } from "@remix-run/node-fetch-server"
import { ZodJsonSchemaAdapter } from "@tmcp/adapter-zod"
import { HttpTransport } from "@tmcp/transport-http"
import { StdioTransport } from "@tmcp/transport-stdio"
import { McpServer } from "tmcp"
import { z } from "zod"
import {
  complete,
  dot,
  greeting,
  INSTRUCTIONS,
  identity,
  note,
  page,
  person,
  prompt,
  text,
  wait,
  witness,
} from "./content.js"

function build() {
  const listed = { listChanged: true }
  const capabilities = { tools: listed, prompts: listed, resources: listed, completions: {}, logging: {} }
  const server = new McpServer(
    { ...identity("tmcp"), description: "A peer" },
    {
      adapter: new ZodJsonSchemaAdapter(),
      capabilities,
      instructions: INSTRUCTIONS,
      pagination: { tools: { size: 3 }, resources: { size: 1 } },
    },
  )
  addTools(server)
  addQuestions(server)
  addResources(server)
  const completed = { name: (value) => ({ completion: { values: complete(value) } }) }
  const greet = { name: "greet", description: "Greets", schema: z.object({ name: z.string() }), complete: completed }
  server.prompt(greet, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: greeting(name) } }],
  }))
  return server
}

function addTools(server) {
  const add = (name, schema, execute, more = {}) => server.tool({ name, description: name, schema, ...more }, execute)
  const key = z.object({ key: z.string() })
  add("echo", z.object({ text: z.string() }), (args) => text(args.text))
  add(
    "add",
    z.object({ a: z.number(), b: z.number() }),
    ({ a, b }) => ({ ...text(String(a + b)), structuredContent: { sum: a + b } }),
    { outputSchema: z.object({ sum: z.number() }) },
  )
  add("fail", undefined, () => ({ ...text("it did not work"), isError: true }))
  add("count", z.object({ to: z.number() }), ({ to }) => {
    for (let progress = 1; progress <= to; progress++) server.progress(progress, to, `at ${progress}`)
    return text(`counted to ${to}`)
  })
  add("chat", undefined, () => {
    server.log("debug", "quiet")
    server.log("warning", { said: "loud" }, "chat")
    return text("chatted")
  })
  add("change", undefined, () => {
    server.changed("tools")
    return text("changed")
  })
  add("wait", key, ({ key }) => {
    const waiting = wait(key, server.ctx.signal)
    server.progress(1)
    return waiting
  })
  add("witness", key, async ({ key }) => text(await witness(key)))
}

function addQuestions(server) {
  const ask = (name, execute) => {
    server.tool({ name, description: name, replayable: true }, async () => text(JSON.stringify(await execute())))
  }
  const schema = z.object({ name: z.string(), loud: z.boolean().default(true) })
  ask("ask", () => server.elicitation("Who is there?", schema))
  ask("visit", () => server.elicitation(page.message, page.url))
  ask("think", () => server.message(prompt))
  ask("roots", async () => {
    await server.refreshRoots()
    return { roots: server.roots }
  })
  ask("ask_twice", async () => {
    const first = await server.elicitation("Who is there?", schema, { key: "first" })
    const second = await server.elicitation("And who else?", schema, { key: "second" })
    return `${first.content.name} and ${second.content.name}`
  })
}

function addResources(server) {
  for (const { uri, name, mimeType, ...content } of [note, dot]) {
    server.resource({ uri, name, mimeType, description: name }, () => ({ contents: [{ uri, mimeType, ...content }] }))
  }
  const completed = { name: (value) => ({ completion: { values: complete(value) } }) }
  server.template(
    { name: "person", description: "A person", uri: "people://{name}", mimeType: "text/plain", complete: completed },
    (uri, { name }) => ({ contents: [{ uri, mimeType: "text/plain", text: person(name) }] }),
  )
}

const [mode] = process.argv.slice(2)
const server = build()
if (mode === "stdio") new StdioTransport(server).listen()
else {
  const transport = new HttpTransport(server, { path: "/mcp", allowedOrigins: [] })
  const respond = async (request) => (await transport.respond(request)) ?? new Response(null, { status: 404 })
  createServer(createRequestListener(respond)).listen(0)
}
