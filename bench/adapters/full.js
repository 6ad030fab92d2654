// What can be reached: every check that a modern or legacy `tools/call` needs, in one file made for speed, with nothing to
// configure, extend or stream. Conduit does more and is held against it.
import { isUtf8 } from "node:buffer"
import { randomUUID } from "node:crypto"
import { createServer } from "node:http"
import { z } from "zod"
import { LEGACY, MODERN } from "../workload/messages.js"
import { makeTools } from "../workload/tools.js"

export const meta = { http: ["modern-json", "session-json"], stdio: ["modern"] }

const VERSION = "io.modelcontextprotocol/protocolVersion"
const CLIENT_INFO = "io.modelcontextprotocol/clientInfo"
const CAPABILITIES = "io.modelcontextprotocol/clientCapabilities"
const LOG_LEVEL = "io.modelcontextprotocol/logLevel"
const SERVER_INFO = '"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"bench","version":"1.0.0"}}'
const MAX_DEPTH = 64
const MAX_KEYS = 50_000
const MAX_BYTES = 4 << 20
const MAX_IN_FLIGHT = 10_000

function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}

// Bytes to a message.

function fault(status, code, message, id) {
  return { kind: "fault", status, code, message, id }
}

function isWithinBounds(bytes) {
  let depth = 0
  let keys = 0
  for (let i = 0; i < bytes.length; i++) {
    const byte = bytes[i]
    if (byte === 34) i = endOfString(bytes, i + 1)
    else if (byte === 123 || byte === 91) {
      if (++depth > MAX_DEPTH) return false
    } else if (byte === 125 || byte === 93) depth--
    else if (byte === 58 || byte === 44) {
      if (++keys > MAX_KEYS) return false
    }
  }
  return true
}

function endOfString(bytes, start) {
  for (let from = start; ; ) {
    let end = from
    if (bytes.length - from > 256) end = bytes.indexOf(34, from)
    else while (end < bytes.length && bytes[end] !== 34) end++
    if (end < 0 || end >= bytes.length) return bytes.length
    let slashes = 0
    while (bytes[end - 1 - slashes] === 92) slashes++
    if ((slashes & 1) === 0) return end
    from = end + 1
  }
}

function parse(bytes) {
  if (!isWithinBounds(bytes)) return fault(400, -32600, "too deep or too wide")
  if (!isUtf8(bytes)) return fault(400, -32700, "not UTF-8")
  let message
  try {
    message = JSON.parse(bytes.toString("utf8"))
  } catch {
    return fault(400, -32700, "not JSON")
  }
  if (!isObject(message) || message.jsonrpc !== "2.0") return fault(400, -32600, "not a message")
  const { id, method, params } = message
  if (id !== undefined && typeof id !== "string" && !Number.isSafeInteger(id)) return fault(400, -32600, "bad id")
  if (typeof method !== "string") return fault(400, -32600, "no method", id)
  if (params !== undefined && !isObject(params)) return fault(400, -32602, "bad params", id)
  return { kind: id === undefined ? "notification" : "request", id, method, params }
}

// Headers. What a value means is remembered by the value.

function remember(compute) {
  const known = new Map()
  return (value) => {
    let answer = known.get(value)
    if (answer === undefined) {
      answer = compute(value)
      if (known.size < 256) known.set(value, answer)
    }
    return answer
  }
}

const LOOPBACK = new Set(["127.0.0.1", "localhost", "[::1]"])
const isLoopback = remember(
  (host) => URL.canParse(`http://${host}`) && LOOPBACK.has(new URL(`http://${host}`).hostname),
)
const toMediaType = remember((value) => value.split(";", 1)[0].trim().toLowerCase())
const acceptsJson = remember((value) => /(application\/(json|\*)|\*\/\*)/i.test(value))
const BASE64 = /^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/

function decodeName(value) {
  if (value.charCodeAt(0) !== 61 || !value.startsWith("=?base64?") || !value.endsWith("?=")) return value
  const text = value.slice(9, -2)
  return BASE64.test(text) ? Buffer.from(text, "base64").toString("utf8") : undefined
}

function refusalOf({ url, method, headers }) {
  if (headers.host === undefined || !isLoopback(headers.host)) return fault(403, -32600, "Host")
  if (headers.origin !== undefined && !isLoopback(headers.origin.slice(7))) return fault(403, -32600, "Origin")
  if (headers["sec-fetch-site"] === "cross-site") return fault(403, -32600, "cross-site")
  if (url !== "/mcp") return fault(404, -32600, "path")
  if (method !== "POST") return fault(405, -32600, "method")
  const type = headers["content-type"]
  if (type === undefined || toMediaType(type) !== "application/json") return fault(415, -32600, "Content-Type")
  if (headers["content-encoding"] !== undefined) return fault(415, -32600, "Content-Encoding")
  if (headers.accept !== undefined && !acceptsJson(headers.accept)) return fault(406, -32600, "Accept")
  if (Number(headers["content-length"]) > MAX_BYTES) return fault(413, -32600, "too large")
  return undefined
}

// A message to its era and its method.

const NAMED_BY = { "tools/call": "name", "prompts/get": "name", "resources/read": "uri" }

function decide({ id, method, params }, header) {
  const described = params?._meta
  const named = described?.[VERSION]
  const isModern = named !== undefined || (header?.version !== undefined && header.version >= MODERN)
  if (!isModern) {
    if (header?.version !== undefined && header.version !== LEGACY) return fault(400, -32600, "version", id)
    return { kind: "legacy" }
  }
  if (!isObject(described)) return fault(400, -32602, "_meta is missing", id)
  if (typeof named !== "string") return fault(400, -32602, VERSION, id)
  if (!isObject(described[CAPABILITIES])) return fault(400, -32602, CAPABILITIES, id)
  const info = described[CLIENT_INFO]
  if (info !== undefined && (!isObject(info) || typeof info.name !== "string" || typeof info.version !== "string")) {
    return fault(400, -32602, CLIENT_INFO, id)
  }
  if (header !== undefined && header.version !== named) return fault(400, -32020, "version mismatch", id)
  if (named !== MODERN) return fault(400, -32022, "version", id)
  if (header === undefined) return { kind: "modern", client: described }
  if (header.method !== method) return fault(400, -32020, "Mcp-Method", id)
  const key = NAMED_BY[method]
  if (key !== undefined && (header.name === undefined || decodeName(header.name) !== params[key])) {
    return fault(400, -32020, "Mcp-Name", id)
  }
  return { kind: "modern", client: described }
}

// The server.

class Context {
  #exchange
  #decision
  #controller
  constructor(exchange, decision) {
    this.#exchange = exchange
    this.#decision = decision
  }
  get signal() {
    this.#controller ??= this.#exchange.createController()
    return this.#controller.signal
  }
  get logLevel() {
    return this.#decision.client?.[LOG_LEVEL]
  }
}

function toError({ status, code, message, id }) {
  const idText = id === undefined ? "" : `"id":${JSON.stringify(id)},`
  return { status, text: `{"jsonrpc":"2.0",${idText}"error":${JSON.stringify({ code, message })}}` }
}

function toResult(id, result) {
  return {
    status: 200,
    text: `{"jsonrpc":"2.0","id":${typeof id === "number" ? id : JSON.stringify(id)},"result":${result}}`,
  }
}

const ACCEPTED = { status: 202, text: undefined }

class FullServer {
  #tools = new Map()
  #sessions = new Map()
  #lists
  #running = 0

  constructor(count) {
    const tools = makeTools(count)
    for (const { name, schema, run } of tools) {
      this.#tools.set(name, { validate: schema["~standard"].validate, run: async (args, _context) => run(args) })
    }
    const listed = tools.map(({ name, description, schema }) => {
      return { name, description, inputSchema: z.toJSONSchema(schema) }
    })
    const list = `"tools":${JSON.stringify(listed)}}`
    this.#lists = {
      modern: `{"resultType":"complete","ttlMs":0,"cacheScope":"private",${SERVER_INFO},${list}`,
      legacy: `{${list}`,
    }
  }

  serve(message, exchange) {
    const decision = decide(message, exchange.header)
    if (decision.kind === "fault") return toError(decision)
    const { id, kind, method } = message
    if (kind === "notification") return ACCEPTED
    let session
    if (decision.kind === "legacy") {
      if (method === "initialize") return this.#initialize(id, exchange)
      session = this.#sessions.get(exchange.header?.session)
      if (session === undefined) return toError(fault(404, -32001, "no session", id))
      if (session.inFlight.has(id)) return toError(fault(400, -32600, "id in flight", id))
      session.inFlight.add(id)
    }
    if (this.#running >= MAX_IN_FLIGHT) return toError(fault(503, -32603, "busy", id))
    this.#running++
    const answer = this.#route(message, exchange, decision)
    if (!(answer instanceof Promise)) {
      this.#finish(id, session)
      return answer
    }
    return answer.then(
      (settled) => {
        this.#finish(id, session)
        return settled
      },
      () => {
        this.#finish(id, session)
        return toError(fault(200, -32603, "internal error", id))
      },
    )
  }

  #initialize(id, exchange) {
    exchange.opened = randomUUID()
    this.#sessions.set(exchange.opened, { inFlight: new Set() })
    const serverInfo = { name: "bench", version: "1.0.0" }
    return toResult(id, JSON.stringify({ protocolVersion: LEGACY, capabilities: { tools: {} }, serverInfo }))
  }

  #finish(id, session) {
    this.#running--
    session?.inFlight.delete(id)
  }

  #route(message, exchange, decision) {
    if (message.method === "tools/call") return this.#call(message, exchange, decision)
    if (message.method === "tools/list") return toResult(message.id, this.#lists[decision.kind])
    return toError(fault(404, -32601, "no such method", message.id))
  }

  async #call({ id, params }, exchange, decision) {
    const tool = this.#tools.get(params?.name)
    if (tool === undefined) return toError(fault(200, -32602, "no such tool", id))
    const args = params.arguments ?? {}
    if (!isObject(args)) return toError(fault(200, -32602, "arguments", id))
    let checked = tool.validate(args)
    if (checked instanceof Promise) checked = await checked
    if (checked.issues !== undefined) return this.#toText(id, decision, checked.issues[0].message, ',"isError":true')
    return this.#toText(id, decision, await tool.run(checked.value, new Context(exchange, decision)), "")
  }

  #toText(id, decision, text, more) {
    const members = `"content":[{"type":"text","text":${JSON.stringify(text)}}]${more}}`
    return toResult(
      id,
      decision.kind === "modern" ? `{"resultType":"complete",${SERVER_INFO},${members}` : `{${members}`,
    )
  }
}

// HTTP.

class HttpExchange {
  header
  opened
  #response
  constructor({ headers }, response) {
    this.#response = response
    this.header = {
      version: headers["mcp-protocol-version"],
      method: headers["mcp-method"],
      name: headers["mcp-name"],
      session: headers["mcp-session-id"],
    }
  }
  createController() {
    const controller = new AbortController()
    this.#response.once("close", () => {
      if (!this.#response.writableFinished) controller.abort()
    })
    return controller
  }
  finish({ status, text }) {
    writeAnswer(this.#response, status, text, this.opened)
  }
}

const HEAD = ["Content-Type", "application/json", "Cache-Control", "no-store"]
HEAD.push("X-Content-Type-Options", "nosniff", "X-Frame-Options", "DENY", "Content-Length")

function writeAnswer(response, status, text, session) {
  if (response.destroyed) return
  if (text === undefined) return response.writeHead(status).end()
  const head = HEAD.slice()
  head.push(String(Buffer.byteLength(text)))
  if (session !== undefined) head.push("Mcp-Session-Id", session)
  response.writeHead(status, head)
  response.end(text)
}

export async function serveHttp({ port, tools }) {
  const server = new FullServer(tools)
  const http = createServer((incoming, response) => {
    const refusal = refusalOf(incoming)
    if (refusal !== undefined) return writeAnswer(response, refusal.status, toError(refusal).text, undefined)
    const exchange = new HttpExchange(incoming, response)
    let size = 0
    let first
    let rest
    incoming.on("data", (chunk) => {
      size += chunk.length
      if (size > MAX_BYTES) return incoming.destroy()
      if (first === undefined) first = chunk
      else if (rest === undefined) rest = [first, chunk]
      else rest.push(chunk)
    })
    incoming.on("end", () => {
      const message = parse(rest === undefined ? (first ?? Buffer.alloc(0)) : Buffer.concat(rest, size))
      const answer = message.kind === "fault" ? toError(message) : server.serve(message, exchange)
      if (answer instanceof Promise) void answer.then((settled) => exchange.finish(settled))
      else exchange.finish(answer)
    })
  })
  http.keepAliveTimeout = 60_000
  await new Promise((resolve) => http.listen(port, "127.0.0.1", 4096, resolve))
  return { port: http.address().port }
}

// stdio.

export async function serveStdio({ tools }) {
  const server = new FullServer(tools)
  const inFlight = new Set()
  let pending = ""
  const flush = () => {
    process.stdout.write(pending)
    pending = ""
  }
  const write = ({ text }) => {
    if (text === undefined) return
    if (pending === "") setImmediate(flush)
    pending += `${text}\n`
  }
  const receive = (bytes) => {
    const message = parse(bytes)
    if (message.kind === "fault") return write(toError(message))
    if (inFlight.has(message.id)) return write(toError(fault(400, -32600, "id in flight", message.id)))
    inFlight.add(message.id)
    const answered = (answer) => {
      inFlight.delete(message.id)
      write(answer)
    }
    const answer = server.serve(message, { header: undefined })
    if (answer instanceof Promise) void answer.then(answered)
    else answered(answer)
  }
  let rest
  process.stdin.on("data", (chunk) => {
    const bytes = rest === undefined ? chunk : Buffer.concat([rest, chunk])
    let start = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      if (end > start) receive(bytes.subarray(start, end))
      start = end + 1
    }
    rest = start < bytes.length ? bytes.subarray(start) : undefined
  })
  process.stdin.on("end", () => process.exit(0))
}
