// The official SDK, version 1: `node sdk1.js stdio`, or over HTTP with sessions (`http`), without (`json`), deprecated (`sse`).
import { createServer } from "node:http"
import { completable } from "@modelcontextprotocol/sdk/server/completable.js"
import { McpServer, ResourceTemplate } from "@modelcontextprotocol/sdk/server/mcp.js"
import { SSEServerTransport } from "@modelcontextprotocol/sdk/server/sse.js"
import { StdioServerTransport } from "@modelcontextprotocol/sdk/server/stdio.js"
import { StreamableHTTPServerTransport } from "@modelcontextprotocol/sdk/server/streamableHttp.js"
import { ListResourcesRequestSchema, UrlElicitationRequiredError } from "@modelcontextprotocol/sdk/types.js"
import { z } from "zod"
import {
  complete,
  dot,
  greeting,
  INSTRUCTIONS,
  identity,
  isOpen,
  note,
  page,
  pageOf,
  person,
  prompt,
  question,
  text,
  unlock,
  wait,
  witness,
} from "./content.js"
import { createSessionHandler, forget } from "./sessions.js"

function build() {
  const server = new McpServer(identity("sdk1"), { instructions: INSTRUCTIONS, capabilities: { logging: {} } })
  addTools(server)
  addLosses(server)
  addQuestions(server)
  addResources(server)
  const name = completable(z.string(), complete)
  server.registerPrompt("greet", { argsSchema: { name } }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: greeting(name) } }],
  }))
  return server
}

function addTools(server) {
  const key = { inputSchema: { key: z.string() } }
  server.registerTool("echo", { inputSchema: { text: z.string() } }, (args) => text(args.text))
  const numbers = { a: z.number(), b: z.number() }
  server.registerTool("add", { inputSchema: numbers, outputSchema: { sum: z.number() } }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
    structuredContent: { sum: a + b },
  }))
  server.registerTool("fail", {}, () => {
    throw new Error("it did not work")
  })
  server.registerTool("count", { inputSchema: { to: z.number() } }, async ({ to }, extra) => {
    for (let progress = 1; progress <= to; progress++) {
      await report(extra, { progress, total: to, message: `at ${progress}` })
    }
    return text(`counted to ${to}`)
  })
  server.registerTool("chat", {}, async (extra) => {
    await server.sendLoggingMessage({ level: "debug", data: "quiet" }, extra.sessionId)
    await server.sendLoggingMessage({ level: "warning", logger: "chat", data: { said: "loud" } }, extra.sessionId)
    return text("chatted")
  })
  server.registerTool("wait", key, async ({ key }, extra) => {
    const waiting = wait(key, extra.signal)
    await report(extra, { progress: 1 })
    return await waiting
  })
  server.registerTool("witness", key, async ({ key }) => text(await witness(key)))
  server.registerTool("change", {}, () => {
    server.sendToolListChanged()
    return text("changed")
  })
}

/** Tools that leave their client alone. */
function addLosses(server) {
  server.registerTool("leave", {}, (extra) => {
    extra.closeSSEStream()
    return text("back again")
  })
  server.registerTool("forget", {}, (extra) => {
    forget(extra.sessionId)
    return text("forgotten")
  })
  server.registerTool("die", {}, () => process.exit(3))
}

async function report({ _meta, sendNotification }, progress) {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return
  await sendNotification({ method: "notifications/progress", params: { progressToken, ...progress } })
}

function addQuestions(server) {
  const { server: protocol } = server
  const answer = async (promise) => text(JSON.stringify(await promise))
  server.registerTool("ask", {}, ({ requestId }) => {
    return answer(protocol.elicitInput({ mode: "form", ...question }, { relatedRequestId: requestId }))
  })
  server.registerTool("visit", {}, async ({ requestId }) => {
    const answered = await protocol.elicitInput({ mode: "url", ...page }, { relatedRequestId: requestId })
    await protocol.createElicitationCompletionNotifier(page.elicitationId, { relatedRequestId: requestId })()
    return answer(answered)
  })
  const key = { inputSchema: { key: z.string() } }
  server.registerTool("enter", key, ({ key }) => {
    if (!isOpen(key)) throw new UrlElicitationRequiredError([pageOf(key)])
    return text("inside")
  })
  server.registerTool("unlock", key, async ({ key }, { requestId }) => {
    unlock(key)
    await protocol.createElicitationCompletionNotifier(key, { relatedRequestId: requestId })()
    return text("unlocked")
  })
  server.registerTool("ask_twice", {}, async ({ requestId }) => {
    const first = await protocol.elicitInput({ mode: "form", ...question }, { relatedRequestId: requestId })
    const other = { mode: "form", ...question, message: "And who else?" }
    const second = await protocol.elicitInput(other, { relatedRequestId: requestId })
    return text(`${first.content.name} and ${second.content.name}`)
  })
  server.registerTool("think", {}, ({ requestId }) =>
    answer(protocol.createMessage(prompt, { relatedRequestId: requestId })),
  )
  server.registerTool("roots", {}, ({ requestId }) => answer(protocol.listRoots({}, { relatedRequestId: requestId })))
}

function addResources(server) {
  for (const { uri, name, mimeType, ...content } of [note, dot]) {
    server.registerResource(name, uri, { mimeType }, () => ({ contents: [{ uri, mimeType, ...content }] }))
  }
  const template = new ResourceTemplate("people://{name}", { list: undefined, complete: { name: complete } })
  server.registerResource("person", template, { mimeType: "text/plain" }, ({ href }, { name }) => ({
    contents: [{ uri: href, mimeType: "text/plain", text: person(name) }],
  }))
  // The list goes out in pages of one.
  server.server.setRequestHandler(ListResourcesRequestSchema, ({ params }) => {
    const listed = [note, dot].map(({ uri, name, mimeType }) => ({ uri, name, mimeType }))
    return params?.cursor === "2" ? { resources: [listed[1]] } : { resources: [listed[0]], nextCursor: "2" }
  })
}

/** A transport without sessions serves one request. */
async function handleAlone(incoming, response) {
  const server = build()
  const transport = new StreamableHTTPServerTransport({ sessionIdGenerator: undefined, enableJsonResponse: true })
  response.on("close", () => void server.close())
  await server.connect(transport)
  await transport.handleRequest(incoming, response)
}

function createDeprecatedHandler() {
  const sessions = new Map()
  return async (incoming, response) => {
    const { pathname, searchParams } = new URL(incoming.url, "http://127.0.0.1")
    if (incoming.method === "GET" && pathname === "/sse") {
      const transport = new SSEServerTransport("/messages", response)
      sessions.set(transport.sessionId, transport)
      await build().connect(transport)
    } else if (incoming.method === "POST" && pathname === "/messages") {
      await sessions.get(searchParams.get("sessionId"))?.handlePostMessage(incoming, response)
    } else response.writeHead(404).end()
  }
}

const handlers = {
  http: () => createSessionHandler(StreamableHTTPServerTransport, build),
  json: () => handleAlone,
  sse: createDeprecatedHandler,
}
const [mode] = process.argv.slice(2)
if (mode === "stdio") await build().connect(new StdioServerTransport())
else createServer(handlers[mode]()).listen(0)
