// The floor: what node:http itself costs. It reads and parses the body and answers what it has in store, at once and by itself; it
// checks nothing, so that only a server that writes several answers together can be faster.
import { Agent, request } from "node:http"
import { z } from "zod"
import { initializeParams, LEGACY, MODERN, requestHeaders, requestMessage } from "../workload/messages.js"
import { listen, readBody } from "../workload/node-http.js"
import { makeTools } from "../workload/tools.js"

export const meta = {
  http: ["modern-json", "modern-sse", "legacy-json", "legacy-sse", "session-json", "session-sse"],
  stdio: ["modern", "legacy"],
  client: ["modern", "legacy"],
  listens: true,
  streams: true,
}

const SERVER_INFO = { name: "floor", version: "1.0.0" }
const CALL = '{"resultType":"complete","content":[{"type":"text","text":"hello world"}]}'
const INITIALIZE = JSON.stringify({ ...initializeParams(LEGACY), clientInfo: undefined, serverInfo: SERVER_INFO })
const DISCOVER = JSON.stringify({
  resultType: "complete",
  supportedVersions: [MODERN],
  capabilities: { tools: { listChanged: true } },
  _meta: { "io.modelcontextprotocol/serverInfo": SERVER_INFO },
  ttlMs: 0,
  cacheScope: "private",
})

/** The result of a request, as JSON text. */
function createAnswers(count) {
  const tools = makeTools(count).map(({ name, description, schema }) => {
    return { name, description, inputSchema: z.toJSONSchema(schema) }
  })
  const list = JSON.stringify({ resultType: "complete", ttlMs: 0, cacheScope: "private", tools })
  return ({ method, params }) => {
    switch (method) {
      case "tools/call":
        return params.name === "len" ? CALL.replace("hello world", String(params.arguments.text.length)) : CALL
      case "tools/list":
        return list
      case "initialize":
        return INITIALIZE
      case "server/discover":
        return DISCOVER
      default:
        return "{}"
    }
  }
}

const STREAM_HEAD = { "content-type": "text/event-stream", "cache-control": "no-cache" }
const NOTIFICATION = '{"jsonrpc":"2.0","method":"notifications/'

export async function serveHttp({ port, mode, tools }) {
  const isStream = mode.endsWith("-sse")
  const answerTo = createAnswers(tools)
  const streams = new Map()
  let sessions = 0
  const hold = (response, subscription, opening) => {
    response.writeHead(200, STREAM_HEAD)
    response.write(opening)
    streams.set(response, subscription)
    response.on("close", () => streams.delete(response))
  }
  const handle = (incoming, response) => {
    if (incoming.method === "GET") return hold(response, undefined, ": open\n\n")
    readBody(incoming, (body) => {
      const message = JSON.parse(body)
      if (message.id === undefined) return response.writeHead(202).end()
      if (message.method === "subscriptions/listen") {
        const params = `{"_meta":${toSubscription(message.id)},"notifications":{"toolsListChanged":true}}`
        const text = `${NOTIFICATION}subscriptions/acknowledged","params":${params}}`
        return hold(response, message.id, `data: ${text}\n\n`)
      }
      const text = `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${answerTo(message)}}`
      const head = isStream
        ? { ...STREAM_HEAD }
        : { "content-type": "application/json", "content-length": Buffer.byteLength(text) }
      if (message.method === "initialize" && mode.startsWith("session")) head["mcp-session-id"] = `s${++sessions}`
      response.writeHead(200, head)
      response.end(isStream ? `event: message\ndata: ${text}\n\n` : text)
    })
  }
  const notify = () => {
    for (const [response, subscription] of streams) {
      response.write(`data: ${NOTIFICATION}tools/list_changed","params":{"_meta":${toSubscription(subscription)}}}\n\n`)
    }
  }
  return { port: await listen(handle, port), notify }
}

function toSubscription(id) {
  return `{"io.modelcontextprotocol/subscriptionId":${JSON.stringify(id)}}`
}

export async function serveStdio({ tools }) {
  const answerTo = createAnswers(tools)
  let rest = ""
  process.stdin.setEncoding("utf8")
  process.stdin.on("data", (chunk) => {
    const lines = (rest + chunk).split("\n")
    rest = lines.pop()
    let out = ""
    for (const line of lines) {
      const message = JSON.parse(line)
      if (message.id === undefined) continue
      out += `{"jsonrpc":"2.0","id":${JSON.stringify(message.id)},"result":${answerTo(message)}}\n`
    }
    if (out !== "") process.stdout.write(out)
  })
  process.stdin.on("end", () => process.exit(0))
}

/** The floor of clients: node:http with a keep-alive agent, and JSON. */
export async function connectClient({ era, url }) {
  const agent = new Agent({ keepAlive: true, maxSockets: 128 })
  const { hostname: host, port, pathname: path } = new URL(url)
  let id = 0
  const call = (name, args) =>
    new Promise((resolve, reject) => {
      const body = JSON.stringify(requestMessage(era, ++id, "tools/call", { name, arguments: args }))
      const length = { "Content-Length": Buffer.byteLength(body) }
      const headers = { ...requestHeaders(era, "tools/call", name), ...length }
      const outgoing = request({ agent, host, port, path, method: "POST", headers }, (incoming) =>
        readBody(incoming, (text) => resolve(JSON.parse(text).result)),
      )
      outgoing.on("error", reject)
      outgoing.end(body)
    })
  return { call }
}
