/** What a feature of the suite is made of, and the stage on which it is tried. */
import { type Client, type ConnectOptions, connect, McpError, type ToolCallResult } from "conduit-mcp/client"
import { expect } from "vitest"
import { Application } from "./application.js"
import type { Abilities, Column, No, ToolUse } from "./column.js"
import { commandOf } from "./place.js"

/** A client that is connected, and the application around it. */
export interface Connected {
  readonly client: Client
  readonly application: Application
}

/** A column with its server started, and a client that the features share. */
export interface Stage extends Connected {
  readonly column: Column
  /** The address of the server; undefined on pipes. */
  readonly url: string | undefined
  /** Connects one more client, as the shared one is connected unless said otherwise. It is closed after the test. */
  connect(options?: ConnectOptions): Promise<Connected>
}

/** One thing that our client does with servers. */
export interface Feature {
  readonly name: string
  /** Why it cannot be tried in a column; undefined when it can. */
  lackIn(column: Column): string | undefined
  run(stage: Stage): Promise<void>
}

/** A feature of every column. */
export function everywhere(name: string, run: Feature["run"]): Feature {
  return { name, lackIn: () => undefined, run }
}

/** A feature of the columns whose servers have an ability. */
export function wherever<Name extends keyof Abilities>(
  name: string,
  ability: Name,
  run: (stage: Stage, has: Exclude<Abilities[Name], string>) => Promise<void>,
): Feature {
  const valueIn = ({ has }: Column): unknown => (has as Readonly<Record<keyof Abilities, unknown>>)[ability]
  return {
    name,
    lackIn(column) {
      const value = valueIn(column)
      return typeof value === "string" ? value : undefined
    },
    run: (stage) => run(stage, valueIn(stage.column) as Exclude<Abilities[Name], string>),
  }
}

/** Connects to the server of a column. */
export async function connectTo(
  { place, protocol }: Column,
  url: string | undefined,
  options: ConnectOptions = {},
): Promise<Connected> {
  const application = new Application()
  const { handlers } = application
  const own = { protocol, handlers, rootsListChanged: true, clientInfo: { name: "interop", version: "1.0.0" } }
  return { client: await connect(url ?? commandOf(place), { ...own, ...options }), application }
}

/** Calls a tool. */
export function use(client: Client, { tool, args = {} }: ToolUse): Promise<ToolCallResult> {
  return client.callTool(tool, args as Parameters<Client["callTool"]>[1])
}

/** All texts of a result. */
export function textOf({ content }: ToolCallResult): string {
  return content.map((block) => (block.type === "text" ? block.text : "")).join("\n")
}

/** The error that a promise rejects with. */
export async function failure(promise: Promise<unknown>): Promise<McpError> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  )
  expect(outcome, "the promise rejects").toHaveProperty("error")
  const error = "error" in outcome ? outcome.error : undefined
  if (!McpError.is(error)) throw error
  return error
}

/** That a call is answered with no, in the way of its server. */
export async function expectNo(call: Promise<ToolCallResult>, no: No): Promise<void> {
  if ("isError" in no) expect(await call).toMatchObject({ isError: true, content: [{ type: "text" }] })
  else expect(await failure(call)).toMatchObject({ kind: "protocol", reason: "jsonrpc", code: no.code })
}

/** A `fetch` that notes what went through it. */
export function createRecorder(): { readonly seen: Seen[]; readonly fetch: typeof globalThis.fetch } {
  const seen: Seen[] = []
  const fetch: typeof globalThis.fetch = async (input, init) => {
    const response = await globalThis.fetch(input, init)
    const headers = new Headers(init?.headers)
    seen.push({ method: init?.method ?? "GET", status: response.status, session: headers.get("mcp-session-id") })
    return response
  }
  return { seen, fetch }
}

/** One exchange. */
export interface Seen {
  readonly method: string
  readonly status: number
  readonly session: string | null
}
