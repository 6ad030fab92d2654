/** What is served on every runtime: the features of both eras, streams, and calls whose client leaves. */
import { expect } from "vitest"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"
import {
  call,
  callRequest,
  expectRefusal,
  type FetchLike,
  json,
  messagesOf,
  post,
  resultOf,
  type Statement,
  send,
  textOf,
} from "./request.js"
import { FLOOD } from "./server.js"

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

/** Every feature. */
export const served: readonly Statement[] = [...features, ...streaming, ...legacy]

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
