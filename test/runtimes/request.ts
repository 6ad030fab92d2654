/** Requests and answers as the statements make and read them. */
import { expect } from "vitest"
import { type Json, modernHeaders, modernRequest } from "../support/wire.js"

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

/** Headers by name. */
export type Headers = Readonly<Record<string, string>>

/** What every client of HTTP sends. */
export const JSON_HEADERS: Headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
}

/** Posts a body as JSON. */
export function post(fetch: FetchLike, body: FetchInit["body"], headers: Headers = {}, more: FetchInit = {}) {
  return fetch("/mcp", { method: "POST", headers: { ...JSON_HEADERS, ...headers }, body: body ?? null, ...more })
}

/** Posts a modern message with the headers that belong to it, and those given over them. */
export function send(fetch: FetchLike, message: Json, headers: Headers = {}, more: FetchInit = {}) {
  return post(fetch, JSON.stringify(message), { ...modernHeaders(message), ...headers }, more)
}

/** A modern `tools/call`. */
export function callRequest(name: string, args: Json = {}, progressToken?: string): Json {
  const params = { name, arguments: args, ...(progressToken === undefined ? {} : { _meta: { progressToken } }) }
  return modernRequest("call", "tools/call", params)
}

/** The JSON of an answer that says that it is JSON. */
export async function json(response: Response): Promise<Json> {
  expect(response.headers.get("content-type")).toBe("application/json")
  return (await response.json()) as Json
}

/** The complete result of a modern request. */
export async function resultOf(fetch: FetchLike, method: string, params?: Json): Promise<Json> {
  const response = await send(fetch, modernRequest(7, method, params))
  const message = await json(response)
  expect(response.status).toBe(200)
  expect(message).toMatchObject({ jsonrpc: "2.0", id: 7, result: { resultType: "complete" } })
  return message["result"] as Json
}

/** The result of a tool. */
export function call(fetch: FetchLike, name: string, args: Json = {}): Promise<Json> {
  return resultOf(fetch, "tools/call", { name, arguments: args })
}

/** The first text of a tool's result. */
export async function textOf(fetch: FetchLike, name: string, args: Json): Promise<unknown> {
  const { content } = await call(fetch, name, args)
  return (content as readonly Json[])[0]?.["text"]
}

/** Holds an answer to be this refusal. */
export async function expectRefusal(response: Response, status: number, code: number, reason: string): Promise<void> {
  expect(response.status).toBe(status)
  expect(response.headers.get("x-content-type-options")).toBe("nosniff")
  const { error } = await json(response)
  expect(error).toMatchObject({ code, data: { reason } })
}

/** The messages of a whole event stream. */
export function messagesOf(stream: string): readonly Json[] {
  return stream
    .split("\n")
    .filter((line) => line.startsWith("data: "))
    .map((line) => JSON.parse(line.slice("data: ".length)) as Json)
}
