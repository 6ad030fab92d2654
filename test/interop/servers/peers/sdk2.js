// The official SDK, version 2, in both eras: `node sdk2.js stdio`, or `http`; the legacy era with sessions: `sessions`.
import { createServer } from "node:http"
import { NodeStreamableHTTPServerTransport, toNodeHandler } from "@modelcontextprotocol/node"
import {
  acceptedContent,
  completable,
  createMcpHandler,
  inputRequired,
  inputResponse,
  McpServer,
  ResourceTemplate,
} from "@modelcontextprotocol/server"
import { serveStdio } from "@modelcontextprotocol/server/stdio"
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
  question,
  text,
  wait,
  witness,
} from "./content.js"
import { createSessionHandler, forget } from "./sessions.js"

/** A server that is made for one request has nobody to tell but those who listen to its handler. */
let tellChange = (server) => server.sendToolListChanged()

function build() {
  const server = new McpServer(identity("sdk2"), { instructions: INSTRUCTIONS, capabilities: { logging: {} } })
  addTools(server)
  addLosses(server)
  addQuestions(server)
  addResources(server)
  const argsSchema = z.object({ name: completable(z.string(), complete) })
  server.registerPrompt("greet", { argsSchema }, ({ name }) => ({
    messages: [{ role: "user", content: { type: "text", text: greeting(name) } }],
  }))
  return server
}

function addTools(server) {
  const key = { inputSchema: z.object({ key: z.string() }) }
  server.registerTool("echo", { inputSchema: z.object({ text: z.string() }) }, (args) => text(args.text))
  const inputSchema = z.object({ a: z.number(), b: z.number() })
  server.registerTool("add", { inputSchema, outputSchema: z.object({ sum: z.number() }) }, ({ a, b }) => ({
    content: [{ type: "text", text: String(a + b) }],
    structuredContent: { sum: a + b },
  }))
  server.registerTool("fail", {}, () => {
    throw new Error("it did not work")
  })
  server.registerTool("count", { inputSchema: z.object({ to: z.number() }) }, async ({ to }, { mcpReq }) => {
    for (let progress = 1; progress <= to; progress++) {
      await report(mcpReq, { progress, total: to, message: `at ${progress}` })
    }
    return text(`counted to ${to}`)
  })
  server.registerTool("chat", {}, async ({ mcpReq }) => {
    await mcpReq.log("debug", "quiet")
    await mcpReq.log("warning", { said: "loud" }, "chat")
    return text("chatted")
  })
  server.registerTool("wait", key, async ({ key }, { mcpReq }) => {
    const waiting = wait(key, mcpReq.signal)
    await report(mcpReq, { progress: 1 })
    return await waiting
  })
  server.registerTool("change", {}, () => {
    tellChange(server)
    return text("changed")
  })
  server.registerTool("witness", key, async ({ key }) => text(await witness(key)))
}

/** Tools that leave their client alone. */
function addLosses(server) {
  server.registerTool("leave", {}, ({ http }) => {
    http.closeSSE()
    return text("back again")
  })
  server.registerTool("forget", {}, ({ sessionId }) => {
    forget(sessionId)
    return text("forgotten")
  })
  server.registerTool("die", {}, () => process.exit(3))
}

async function report({ _meta, notify }, progress) {
  const progressToken = _meta?.progressToken
  if (progressToken === undefined) return
  await notify({ method: "notifications/progress", params: { progressToken, ...progress } })
}

/** Each asks in the way of the modern era; for clients of the legacy era the SDK asks while the call is under way. */
function addQuestions(server) {
  const ask = (name, request) => {
    server.registerTool(name, {}, ({ mcpReq }) => {
      const answer = inputResponse(mcpReq.inputResponses, "it")
      return answer.kind === "missing"
        ? inputRequired({ inputRequests: { it: request } })
        : text(JSON.stringify(answer))
    })
  }
  ask("ask", inputRequired.elicit(question))
  ask("visit", inputRequired.elicitUrl({ message: page.message, url: page.url }))
  ask("think", inputRequired.createMessage(prompt))
  ask("roots", inputRequired.listRoots())
  server.registerTool("ask_twice", {}, ({ mcpReq }) => {
    const { inputResponses } = mcpReq
    const state = mcpReq.requestState()
    const first = acceptedContent(inputResponses, "first")
    if (state === undefined && first === undefined) {
      return inputRequired({ inputRequests: { first: inputRequired.elicit(question) } })
    }
    const second = acceptedContent(inputResponses, "second")
    if (second === undefined) {
      const request = inputRequired.elicit({ ...question, message: "And who else?" })
      return inputRequired({ inputRequests: { second: request }, requestState: first?.name })
    }
    return text(`${state} and ${second.name}`)
  })
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
  server.server.setRequestHandler("resources/list", ({ params }) => {
    const listed = [note, dot].map(({ uri, name, mimeType }) => ({ uri, name, mimeType }))
    return params?.cursor === "2" ? { resources: [listed[1]] } : { resources: [listed[0]], nextCursor: "2" }
  })
}

function createHandler() {
  const handler = createMcpHandler(build)
  tellChange = () => handler.notify.toolsChanged()
  return toNodeHandler(handler)
}

const handlers = {
  http: createHandler,
  sessions: () => createSessionHandler(NodeStreamableHTTPServerTransport, build),
}
const [mode] = process.argv.slice(2)
if (mode === "stdio") serveStdio(build)
else createServer(handlers[mode]()).listen(0)
