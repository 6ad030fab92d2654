/** How our client lets go of calls, and of the connection itself. */
import { execFile } from "node:child_process"
import { fileURLToPath } from "node:url"
import { promisify } from "node:util"
import type { Client } from "conduit-mcp/client"
import { expect } from "vitest"
import type { ToolUse } from "./column.js"
import { createRecorder, everywhere, type Feature, failure, textOf, use, wherever } from "./feature.js"
import { commandOf } from "./place.js"

/** What became of a client in a process of its own; rejects when that process does not end by itself. */
async function runAlone(argument: object): Promise<Alone> {
  const { stdout } = await promisify(execFile)(process.execPath, [script, JSON.stringify(argument)], { timeout: 8_000 })
  return JSON.parse(stdout)
}

interface Alone {
  /** How many children, pipes and sockets there were. */
  readonly before: number
  readonly during: number
  readonly after: number
  /** The reason of the error of the call that was under way. */
  readonly ended?: string
}

const script = fileURLToPath(new URL("./alone.js", import.meta.url))

/** Calls the endless tool, and aborts it once it is under way. */
async function abort(client: Client, { tool, args }: ToolUse): Promise<void> {
  const controller = new AbortController()
  const reason = new Error("enough")
  const onProgress = (): void => controller.abort(reason)
  const error = await failure(client.callTool(tool, { ...(args as object) }, { signal: controller.signal, onProgress }))
  expect(error).toMatchObject({ kind: "cancelled", reason: "aborted" })
  expect(error.cause).toBe(reason)
}

/** Calls the endless tool, and lets it take too long. */
async function timeOut(client: Client, { tool, args }: ToolUse): Promise<void> {
  const error = await failure(client.callTool(tool, { ...(args as object) }, { timeoutMs: 100 }))
  expect(error).toMatchObject({ kind: "timeout", reason: "request_timeout", data: { timeoutMs: 100 } })
}

const GIVING_UP = { aborted: abort, "timed out": timeOut }
type Manner = keyof typeof GIVING_UP

/** A call that is given up ends at once for its caller, and the connection goes on. */
const givenUp = (manner: Manner): Feature =>
  wherever(`call that is ${manner}`, "endless", async (stage, call) => {
    const { usable, text: used } = stage.column.has
    const { client } = usable === true ? stage : await stage.connect()
    await GIVING_UP[manner](client, call)
    if (usable !== true) return
    const { text, ...next } = used
    expect(textOf(await use(client, next))).toBe(text)
  })

/** The server hears that nobody waits any more. */
const heard = (manner: Manner): Feature =>
  wherever(`the server hears of a call that is ${manner}`, "witness", async ({ client, column }, { tool }) => {
    const { endless } = column.has
    if (typeof endless === "string") return
    const key = `${column.name}, ${manner}`
    await GIVING_UP[manner](client, { ...endless, args: { key } })
    expect(textOf(await use(client, { tool, args: { key } }))).toBe(`${key} was cancelled`)
  })

/** All of them. */
export const ending: readonly Feature[] = [
  givenUp("aborted"),
  heard("aborted"),
  givenUp("timed out"),
  heard("timed out"),

  wherever("the same through fetch", "fetch", async ({ connect, column }) => {
    const { seen, fetch } = createRecorder()
    const { client, application } = await connect({ fetch })
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining([...column.has.tools]))
    const { text, form } = column.has
    expect(textOf(await use(client, text))).toBe(text.text)
    if (typeof form !== "string") {
      application.content = [form.content]
      expect(textOf(await use(client, form))).toContain(form.told[0])
    }
    expect(seen.length).toBeGreaterThan(2)
  }),

  wherever("end of the session", "session", async ({ connect, url = "" }, { late }) => {
    const { seen, fetch } = createRecorder()
    const { client } = await connect({ fetch })
    await client.ping()
    await client.close()
    const deletions = seen.filter(({ method }) => method === "DELETE")
    expect(deletions).toEqual([{ method: "DELETE", status: expect.any(Number), session: expect.stringMatching(/./) }])
    expect([200, 202, 204]).toContain(deletions[0]?.status)
    if (late === undefined) return
    const headers = {
      accept: "application/json, text/event-stream",
      "content-type": "application/json",
      "mcp-session-id": deletions[0]?.session ?? "",
    }
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "ping" })
    const response = await globalThis.fetch(url, { method: "POST", headers, body })
    await response.body?.cancel()
    expect(response.status).toBe(late)
  }),

  everywhere("close leaves no process and no socket", async ({ column, url }) => {
    const { protocol, place, has } = column
    const endless = typeof has.endless === "string" ? undefined : has.endless
    const target = url ?? commandOf(place)
    const { before, during, after, ended } = await runAlone({ target, protocol, text: has.text, endless })
    expect(after).toBe(before)
    expect(ended).toBe(endless === undefined ? undefined : "closed")
    if (endless !== undefined) expect(during).toBeGreaterThan(before)
  }),

  everywhere("a closed client says so", async ({ connect }) => {
    const { client } = await connect()
    await client.close()
    expect(client.status.state).toBe("closed")
    expect(await failure(client.listTools())).toMatchObject({ kind: "cancelled", reason: "closed" })
  }),
]
