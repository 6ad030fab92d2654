/** What holds on every runtime: one list of statements, each checked through nothing but a `fetch`. */
import { expect } from "vitest"
import { initializeRequest, type Json, legacyRequest, modernHeaders, modernRequest } from "../support/wire.js"
import { FLOOD, MAX_BODY_BYTES } from "./server.js"

/** What a request is made of. */
export interface FetchInit extends RequestInit {
  readonly duplex?: "half"
  /** The name by which the server is reached. Default `127.0.0.1`. */
  readonly host?: "localhost"
}

/** Reaches the server that is looked at, as `fetch` does. */
export type FetchLike = (path: string, init: FetchInit) => Promise<Response>

/** A statement, and the check of it. */
export type Statement = readonly [name: string, check: (fetch: FetchLike) => Promise<void>]

type Headers = Readonly<Record<string, string>>

const JSON_HEADERS: Headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
}

function post(fetch: FetchLike, body: FetchInit["body"], headers: Headers = {}, more: FetchInit = {}) {
  return fetch("/mcp", { method: "POST", headers: { ...JSON_HEADERS, ...headers }, body: body ?? null, ...more })
}

function send(fetch: FetchLike, message: Json, headers: Headers = {}, more: FetchInit = {}) {
  return post(fetch, JSON.stringify(message), { ...modernHeaders(message), ...headers }, more)
}

function callRequest(name: string, args: Json = {}, progressToken?: string): Json {
  const params = { name, arguments: args, ...(progressToken === undefined ? {} : { _meta: { progressToken } }) }
  return modernRequest("call", "tools/call", params)
}

async function json(response: Response): Promise<Json> {
  expect(response.headers.get("content-type")).toBe("application/json")
  return (await response.json()) as Json
}

async function resultOf(fetch: FetchLike, method: string, params?: Json): Promise<Json> {
  const response = await send(fetch, modernRequest(7, method, params))
  const message = await json(response)
  expect(response.status).toBe(200)
  expect(message).toMatchObject({ jsonrpc: "2.0", id: 7, result: { resultType: "complete" } })
  return message["result"] as Json
}

function call(fetch: FetchLike, name: string, args: Json = {}): Promise<Json> {
  return resultOf(fetch, "tools/call", { name, arguments: args })
}

async function textOf(fetch: FetchLike, name: string, args: Json): Promise<unknown> {
  const { content } = await call(fetch, name, args)
  return (content as readonly Json[])[0]?.["text"]
}

async function expectRefusal(response: Response, status: number, code: number, reason: string): Promise<void> {
  expect(response.status).toBe(status)
  expect(response.headers.get("x-content-type-options")).toBe("nosniff")
  const { error } = await json(response)
  expect(error).toMatchObject({ code, data: { reason } })
}

/** The messages of a whole event stream. */
function messagesOf(stream: string): readonly Json[] {
  return stream
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Json)
}

/** Asks again until the server says so. Each turn is a round trip. */
async function until(check: () => Promise<boolean>): Promise<void> {
  for (let turn = 0; turn < 5_000; turn++) if (await check()) return
  throw new Error("it never came true")
}

/** Starts a call that goes on until it is aborted; it is running when this resolves. */
async function startWaiting(fetch: FetchLike, key: string, progress: boolean) {
  const controller = new AbortController()
  const message = callRequest("wait", { key, progress }, "p")
  const response = send(fetch, message, {}, { signal: controller.signal })
  response.catch(() => undefined)
  await until(async () => (await textOf(fetch, "state", { key })) === "running")
  return { response, abort: () => controller.abort() }
}

/** A body that is made chunk by chunk, of a length that nothing announces. */
function chunked(bytes: number): ReadableStream<Uint8Array> {
  let left = bytes
  return new ReadableStream({
    pull(controller) {
      const size = Math.min(left, 16_384)
      left -= size
      if (size === 0) controller.close()
      else controller.enqueue(new Uint8Array(size).fill(0x20))
    },
  })
}

const features: readonly Statement[] = [
  [
    "server/discover names the versions and what is served",
    async (fetch) => {
      const result = await resultOf(fetch, "server/discover")
      expect(result["supportedVersions"]).toEqual(["2026-07-28", "2025-11-25", "2025-06-18"])
      expect(result["capabilities"]).toMatchObject({ tools: {}, resources: {}, prompts: {}, completions: {} })
    },
  ],
  [
    "tools/list shows both sides of a tool's schema",
    async (fetch) => {
      const { tools } = await resultOf(fetch, "tools/list")
      const forecast = (tools as readonly Json[]).find((tool) => tool["name"] === "forecast")
      expect(forecast).toMatchObject({
        inputSchema: { type: "object", required: ["city"] },
        outputSchema: { type: "object", required: ["city", "celsius"] },
      })
    },
  ],
  [
    "tools/call answers with structured output",
    async (fetch) => {
      const result = await call(fetch, "forecast", { city: "Oslo" })
      expect(result["structuredContent"]).toEqual({ city: "Oslo", celsius: 21 })
    },
  ],
  [
    "a raw JSON Schema is checked without code generation",
    async (fetch) => {
      expect((await call(fetch, "measure", { text: "four" }))["structuredContent"]).toEqual({ length: 4 })
      expect(await call(fetch, "measure", { text: "4" })).toMatchObject({ isError: true })
    },
  ],
  [
    "arguments that do not fit are a tool error",
    async (fetch) => expect(await call(fetch, "forecast", { city: 1 })).toMatchObject({ isError: true }),
  ],
  [
    "a handler that throws says nothing of why",
    async (fetch) => {
      const result = await call(fetch, "fails")
      expect(result).toMatchObject({ isError: true })
      expect(JSON.stringify(result)).not.toContain("for the log only")
    },
  ],
  [
    "binary content comes through",
    async (fetch) => {
      const { content } = await call(fetch, "picture")
      expect(content).toEqual([{ type: "image", data: "R0lGODdh", mimeType: "image/gif" }])
    },
  ],
  [
    "text beyond ASCII comes through, in the body and in the headers",
    async (fetch) => {
      const city = "Ærøskøbing 🌊"
      expect((await call(fetch, "forecast", { city }))["structuredContent"]).toEqual({ city, celsius: 21 })
      const uri = "weather://São%20Paulo"
      const encoded = `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(uri)))}?=`
      const message = modernRequest(1, "resources/read", { uri })
      const response = await send(fetch, message, { "mcp-name": encoded })
      expect((await json(response))["result"]).toMatchObject({ contents: [{ uri, text: '{"city":"São Paulo"}' }] })
    },
  ],
  [
    "resources and templates are listed and read",
    async (fetch) => {
      const { resources } = await resultOf(fetch, "resources/list")
      expect(resources).toMatchObject([{ uri: "file:///readme.md" }])
      const { resourceTemplates } = await resultOf(fetch, "resources/templates/list")
      expect(resourceTemplates).toMatchObject([{ uriTemplate: "weather://{city}" }])
      const { contents } = await resultOf(fetch, "resources/read", { uri: "file:///readme.md" })
      expect(contents).toEqual([{ uri: "file:///readme.md", mimeType: "text/markdown", text: "# hi" }])
    },
  ],
  [
    "prompts are listed and rendered",
    async (fetch) => {
      const { prompts } = await resultOf(fetch, "prompts/list")
      expect(prompts).toMatchObject([{ name: "review", arguments: [{ name: "code", required: true }] }])
      const { messages } = await resultOf(fetch, "prompts/get", { name: "review", arguments: { code: "1" } })
      expect(messages).toEqual([{ role: "user", content: { type: "text", text: "Review: 1" } }])
    },
  ],
  [
    "completion answers for a template's variable",
    async (fetch) => {
      const { completion } = await resultOf(fetch, "completion/complete", {
        ref: { type: "ref/resource", uri: "weather://{city}" },
        argument: { name: "city", value: "O" },
      })
      expect(completion).toMatchObject({ values: ["Oslo", "Odense"] })
    },
  ],
  [
    "a handler sees who calls, and the headers",
    async (fetch) => {
      const response = await send(fetch, callRequest("caller"), { authorization: "Bearer ada", "x-agent": "test" })
      expect((await json(response))["result"]).toMatchObject({ structuredContent: { id: "ada", agent: "test" } })
    },
  ],
  [
    "a question is asked in one round and answered in the next",
    async (fetch) => {
      const _meta = { "io.modelcontextprotocol/clientCapabilities": { elicitation: {} } }
      const first = modernRequest(1, "tools/call", { name: "ask", arguments: {}, _meta })
      const asked = (await json(await send(fetch, first)))["result"] as Json
      expect(asked).toMatchObject({ resultType: "input_required", requestState: expect.any(String) })
      const requests = asked["inputRequests"] as Json
      const answers = Object.keys(requests).map((key) => [key, { action: "accept", content: { name: "Ada" } }])
      const params = { inputResponses: Object.fromEntries(answers), requestState: asked["requestState"] }
      const second = modernRequest(2, "tools/call", { name: "ask", arguments: {}, _meta, ...params })
      const { result } = await json(await send(fetch, second))
      expect(result).toMatchObject({ resultType: "complete", content: [{ text: "Hello, Ada" }] })
    },
  ],
  [
    "an unknown tool is an error of the protocol, on 200",
    async (fetch) => {
      const response = await send(fetch, callRequest("no_such_tool"))
      await expectRefusal(response, 200, -32602, "unknown_tool")
    },
  ],
  [
    "a notification is accepted and not answered",
    async (fetch) => {
      const { params } = modernRequest(0, "notifications/cancelled", { requestId: 1 })
      const message = { jsonrpc: "2.0", method: "notifications/cancelled", params }
      const response = await send(fetch, message)
      expect(response.status).toBe(202)
      expect(await response.text()).toBe("")
    },
  ],
]

const streaming: readonly Statement[] = [
  [
    "progress turns the answer into an event stream, which ends with the answer",
    async (fetch) => {
      const response = await send(fetch, callRequest("count", { to: 3 }, "p1"))
      expect(response.status).toBe(200)
      expect(response.headers.get("content-type")).toBe("text/event-stream")
      const text = await response.text()
      expect(text.startsWith(":")).toBe(true)
      const [one, two, three, answer, ...rest] = messagesOf(text)
      for (const [index, message] of [one, two, three].entries()) {
        expect(message).toMatchObject({
          method: "notifications/progress",
          params: { progressToken: "p1", progress: index + 1, total: 3 },
        })
      }
      expect(answer).toMatchObject({ id: "call", result: { content: [{ text: "counted to 3" }] } })
      expect(rest).toEqual([])
    },
  ],
  [
    "a client that takes only JSON gets JSON, without the progress",
    async (fetch) => {
      const response = await send(fetch, callRequest("count", { to: 3 }, "p2"), { accept: "application/json" })
      expect((await json(response))["result"]).toMatchObject({ content: [{ text: "counted to 3" }] })
    },
  ],
  [
    "a client that takes only event streams gets one for every answer",
    async (fetch) => {
      const response = await send(fetch, callRequest("forecast", { city: "Oslo" }), { accept: "text/event-stream" })
      expect(response.headers.get("content-type")).toBe("text/event-stream")
      expect(messagesOf(await response.text())).toMatchObject([{ id: "call", result: { resultType: "complete" } }])
    },
  ],
  [
    "a reader that goes away cancels the call that streams to it",
    async (fetch) => {
      const key = "streams"
      const { response, abort } = await startWaiting(fetch, key, true)
      const reader = (await response).body?.getReader()
      await reader?.read()
      abort()
      await until(async () => (await textOf(fetch, "state", { key })) === "aborted")
    },
  ],
  [
    "flush() holds a handler back while its reader does not read",
    async (fetch) => {
      const key = "flood"
      const controller = new AbortController()
      const response = await send(fetch, callRequest("flood", { key }, "p3"), {}, { signal: controller.signal })
      const reader = response.body?.getReader()
      await reader?.read()
      expect(Number(await textOf(fetch, "flooded", { key }))).toBeLessThan(FLOOD.events)
      controller.abort()
    },
  ],
]

const legacy: readonly Statement[] = [
  [
    "initialize is answered without a session",
    async (fetch) => {
      const response = await post(fetch, JSON.stringify(initializeRequest(1)))
      expect(response.headers.get("mcp-session-id")).toBeNull()
      const { result } = await json(response)
      expect(result).toMatchObject({ protocolVersion: "2025-11-25", serverInfo: { name: "runtimes" } })
      expect((result as { capabilities: Json }).capabilities).toEqual({
        tools: {},
        resources: {},
        prompts: {},
        completions: {},
      })
    },
  ],
  [
    "a legacy request stands alone, in the version of its header",
    async (fetch) => {
      const message = legacyRequest(2, "tools/call", { name: "forecast", arguments: { city: "Oslo" } })
      const response = await post(fetch, JSON.stringify(message), { "mcp-protocol-version": "2025-11-25" })
      const { result } = await json(response)
      expect(result).toMatchObject({ structuredContent: { celsius: 21 } })
      expect(result).not.toHaveProperty("resultType")
    },
  ],
  [
    "a legacy question without a session is a tool error that names the setting",
    async (fetch) => {
      const message = legacyRequest(2, "tools/call", { name: "ask", arguments: {} })
      const response = await post(fetch, JSON.stringify(message), { "mcp-protocol-version": "2025-11-25" })
      const { result } = await json(response)
      expect(result).toMatchObject({ isError: true })
      expect(JSON.stringify(result)).toContain("sessions")
    },
  ],
  [
    "a legacy request without a version and a session is refused",
    async (fetch) => {
      const response = await post(fetch, JSON.stringify(legacyRequest(3, "tools/list")))
      await expectRefusal(response, 400, -32020, "header_mismatch")
    },
  ],
  [
    "an unknown session is not found",
    async (fetch) => {
      const headers = { "mcp-session-id": "unknown", "mcp-protocol-version": "2025-11-25" }
      const response = await post(fetch, JSON.stringify(legacyRequest(4, "tools/list")), headers)
      await expectRefusal(response, 404, -32001, "session_not_found")
    },
  ],
]

const hello = modernRequest(9, "server/discover")

const refusals: readonly Statement[] = [
  ...["GET", "DELETE", "PUT"].map(
    (method): Statement => [
      `${method} is refused with 405, and Allow says POST`,
      async (fetch) => {
        const response = await fetch("/mcp", { method, headers: { accept: "text/event-stream" } })
        expect(response.headers.get("allow")).toBe("POST")
        await expectRefusal(response, 405, -32600, "method_not_allowed")
      },
    ],
  ),
  [
    "another path is refused with 404",
    async (fetch) => {
      const response = await fetch("/other?to=/mcp", { method: "POST", headers: JSON_HEADERS, body: "{}" })
      await expectRefusal(response, 404, -32600, "path_not_found")
    },
  ],
  [
    "a query does not make another path",
    async (fetch) => {
      const headers = { ...JSON_HEADERS, ...modernHeaders(hello) }
      const response = await fetch("/mcp?trace=a/b", { method: "POST", headers, body: JSON.stringify(hello) })
      expect(response.status).toBe(200)
      await response.text()
    },
  ],
  [
    "a host that is not listed is refused with 403",
    async (fetch) =>
      expectRefusal(await send(fetch, hello, {}, { host: "localhost" }), 403, -32600, "host_not_allowed"),
  ],
  [
    "a web page whose origin is not listed is refused with 403",
    async (fetch) => {
      for (const origin of ["https://evil.example", "null", "http://127.0.0.1:3000"]) {
        await expectRefusal(await send(fetch, hello, { origin }), 403, -32600, "origin_not_allowed")
      }
    },
  ],
  [
    "a web page whose origin is listed is served",
    async (fetch) => {
      const response = await send(fetch, hello, { origin: "https://app.example", "sec-fetch-site": "cross-site" })
      expect(response.status).toBe(200)
      await response.text()
    },
  ],
  [
    "a cross-site request without an origin is refused with 403",
    async (fetch) =>
      expectRefusal(await send(fetch, hello, { "sec-fetch-site": "cross-site" }), 403, -32600, "cross_site"),
  ],
  [
    "a caller whom the gate does not know is refused with 401 and a challenge",
    async (fetch) => {
      const response = await send(fetch, hello, { authorization: "Bearer wrong" })
      expect(response.headers.get("www-authenticate")).toBe("Bearer")
      await expectRefusal(response, 401, -32600, "unauthenticated")
    },
  ],
  [
    "another media type is refused with 415",
    async (fetch) => {
      for (const type of ["text/plain", "application/json; charset=latin1", "application/jsonp"]) {
        const response = await send(fetch, hello, { "content-type": type })
        await expectRefusal(response, 415, -32600, "unsupported_media_type")
      }
    },
  ],
  [
    "an encoded body is refused with 415",
    async (fetch) =>
      expectRefusal(await send(fetch, hello, { "content-encoding": "gzip" }), 415, -32600, "unsupported_encoding"),
  ],
  [
    "a client that takes neither JSON nor event streams is refused with 406",
    async (fetch) => expectRefusal(await send(fetch, hello, { accept: "text/html" }), 406, -32600, "not_acceptable"),
  ],
  [
    "a body that announces too much is refused with 413",
    async (fetch) => expectRefusal(await post(fetch, " ".repeat(MAX_BODY_BYTES + 1)), 413, -32600, "body_too_large"),
  ],
  [
    "a body that announces nothing is refused with 413 as soon as it is too long",
    async (fetch) => {
      const response = await post(fetch, chunked(MAX_BODY_BYTES + 16_384), {}, { duplex: "half" })
      await expectRefusal(response, 413, -32600, "body_too_large")
    },
  ],
  [
    "a body that announces nothing and is short enough is read",
    async (fetch) => {
      const stream = new Blob([JSON.stringify(hello)]).stream()
      const response = await post(fetch, stream, modernHeaders(hello), { duplex: "half" })
      expect(await json(response)).toMatchObject({ id: 9, result: { resultType: "complete" } })
    },
  ],
  [
    "a body of many pieces is put together, characters that were cut apart too",
    async (fetch) => {
      const message = callRequest("forecast", { city: "🌊".repeat(4_000) })
      const bytes = new TextEncoder().encode(JSON.stringify(message))
      let at = 0
      const stream = new ReadableStream<Uint8Array>({
        pull(controller) {
          controller.enqueue(bytes.slice(at, at + 997))
          at += 997
          if (at >= bytes.length) controller.close()
        },
      })
      const response = await post(fetch, stream, modernHeaders(message), { duplex: "half" })
      expect((await json(response))["result"]).toMatchObject({ structuredContent: { city: "🌊".repeat(4_000) } })
    },
  ],
]

const malformed: readonly Statement[] = [
  [
    "malformed JSON and an empty body are refused with 400",
    async (fetch) => {
      for (const body of ["{", "", "undefined"]) {
        await expectRefusal(await post(fetch, body), 400, -32700, "parse_error")
      }
    },
  ],
  [
    "a body that is not UTF-8 is refused with 400",
    async (fetch) => {
      const bytes = new TextEncoder().encode(JSON.stringify(hello).replace("server", "s\u0001rver"))
      bytes[bytes.indexOf(1)] = 0xff
      await expectRefusal(await post(fetch, bytes, modernHeaders(hello)), 400, -32700, "invalid_utf8")
    },
  ],
  [
    "a leading byte order mark is not part of the message",
    async (fetch) => {
      const response = await post(fetch, `\ufeff${JSON.stringify(hello)}`, modernHeaders(hello))
      expect(response.status).toBe(200)
      await response.text()
    },
  ],
  [
    "a batch is refused with 400",
    async (fetch) => expectRefusal(await post(fetch, JSON.stringify([hello])), 400, -32600, "batch_unsupported"),
  ],
  [
    "a refusal has the id of the request, and none when there was none to read",
    async (fetch) => {
      const refused = await json(await send(fetch, { ...hello, method: "no/such/method" }))
      expect(refused).toMatchObject({ id: 9, error: { code: -32601 } })
      expect(await json(await post(fetch, "{"))).not.toHaveProperty("id")
    },
  ],
  [
    "headers that differ from the body, or are missing, are refused with 400",
    async (fetch) => {
      const message = callRequest("forecast", { city: "Oslo" })
      const wrong: readonly Headers[] = [
        { "mcp-protocol-version": "2025-11-25" },
        { "mcp-method": "tools/list" },
        { "mcp-name": "measure" },
      ]
      for (const headers of wrong) {
        await expectRefusal(await send(fetch, message, headers), 400, -32020, "header_mismatch")
      }
      await expectRefusal(await post(fetch, JSON.stringify(message)), 400, -32020, "header_mismatch")
    },
  ],
  [
    "a version that is not served is refused with the ones that are",
    async (fetch) => {
      const { params } = hello as { params: { _meta: Json } }
      const _meta = { ...params._meta, "io.modelcontextprotocol/protocolVersion": "2027-01-01" }
      const response = await send(fetch, { ...hello, params: { _meta } }, { "mcp-protocol-version": "2027-01-01" })
      expect(response.status).toBe(400)
      expect((await json(response))["error"]).toMatchObject({
        code: -32022,
        data: { supported: ["2026-07-28", "2025-11-25", "2025-06-18"], requested: "2027-01-01" },
      })
    },
  ],
]

/** What holds everywhere. */
export const statements: readonly Statement[] = [...features, ...streaming, ...legacy, ...refusals, ...malformed]

/** What holds where the runtime tells a handler that a connection closed although nothing is being written to it. */
export const closing: readonly Statement[] = [
  [
    "a connection that closes cancels the call before anything was answered",
    async (fetch) => {
      const key = "silent"
      const { abort } = await startWaiting(fetch, key, false)
      abort()
      await until(async () => (await textOf(fetch, "state", { key })) === "aborted")
    },
  ],
]

/** What holds where one process serves every request; elsewhere the refusal says what is missing. */
export const sessions: readonly Statement[] = [
  ["sessions are to be had", async (fetch) => expect(await textOf(fetch, "sessions", {})).toBe("served")],
]
export const noSessions: readonly Statement[] = [
  [
    "sessions are refused with what they need",
    async (fetch) => expect(await textOf(fetch, "sessions", {})).toContain("sessions: true needs a process"),
  ],
]
