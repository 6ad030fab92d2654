/** What our client does with the tools of a server. */
import { isDeepStrictEqual } from "node:util"
import type { Client } from "conduit-mcp/client"
import { expect } from "vitest"
import type { ToolUse } from "./column.js"
import { everywhere, expectNo, type Feature, textOf, use, wherever } from "./feature.js"

/** All of them. */
export const calling: readonly Feature[] = [
  everywhere("tools/list", async ({ client, column }) => {
    const { tools } = await client.listTools()
    expect(tools.map(({ name }) => name)).toEqual(expect.arrayContaining([...column.has.tools]))
    for (const { inputSchema } of tools) expect(inputSchema).toMatchObject({ type: "object" })
  }),

  wherever("tool with a text", "text", async ({ client }, { text, ...call }) => {
    const result = await use(client, call)
    expect(result).toMatchObject({ isError: false, content: [{ type: "text" }] })
    expect(textOf(result)).toBe(text)
  }),

  wherever("tool with a text of 1 MiB", "echo", async ({ client }, { tool, argument, before }) => {
    const long = "Grüße, 世界 🌍! ".repeat(50_000)
    expect(Buffer.byteLength(long)).toBeGreaterThan(1 << 20)
    const text = textOf(await use(client, { tool, args: { [argument]: long } }))
    expect(text === `${before}${long}`, "the text comes back as it was").toBe(true)
  }),

  wherever("64 calls at once", "echo", async ({ client }, { tool, argument, before }) => {
    const said = Array.from({ length: 64 }, (_, index) => `call ${index}`)
    const results = await Promise.all(said.map((text) => use(client, { tool, args: { [argument]: text } })))
    expect(results.map(textOf)).toEqual(said.map((text) => `${before}${text}`))
  }),

  wherever("structured output", "structured", async ({ client }, { value, ...call }) => {
    const { tools } = await client.listTools()
    expect(tools.find(({ name }) => name === call.tool)).toHaveProperty("outputSchema")
    expect(await use(client, call)).toMatchObject({ isError: false, structured: value })
  }),

  wherever("tool error", "failing", async ({ client }, { text, ...call }) => {
    const result = await use(client, call)
    expect(result.isError).toBe(true)
    expect(textOf(result)).toContain(text)
  }),

  wherever("invalid arguments", "invalid", async ({ client }, { no, ...call }) => {
    await expectNo(use(client, call), no)
  }),

  wherever("unknown tool", "unknownTool", async ({ client }, no) => {
    await expectNo(client.callTool("no_such_tool"), no)
  }),

  wherever("progress", "progress", async ({ client }, { tool, args = {}, steps }) => {
    const heard: unknown[] = []
    const { isError } = await client.callTool(
      tool,
      { ...(args as Record<string, number>) },
      {
        onProgress: ({ progress, total }) => heard.push({ progress, total }),
      },
    )
    expect(isError).toBe(false)
    expect(heard).toEqual(Array.from({ length: steps }, (_, index) => ({ progress: index + 1, total: steps })))
  }),

  wherever("log messages, from a level on", "log", async ({ client, application }, { isLine, quiet, ...call }) => {
    await client.setLogLevel(quiet === undefined ? "debug" : "warning")
    await use(client, call)
    await application.logs.until(isLine)
    if (quiet !== undefined) expect(application.logs.all.map(({ level }) => level)).not.toContain(quiet)
  }),

  wherever("changes that are listened to", "change", async ({ client }, { change, ...call }) => {
    const listening = client.listen("uri" in change ? { resources: [change.uri] } : { tools: true })
    const told = await useUntil(client, call, listening.next())
    expect(told).toMatchObject({ done: false, value: { ...change, synthetic: false } })
    await listening.return?.()
  }),

  wherever("changes that are told unasked", "unasked", async ({ connect, column }) => {
    const { client, application } = await connect()
    if (typeof column.has.change === "string") return
    const { change, ...call } = column.has.change
    if ("uri" in change) await client.request("resources/subscribe", { uri: change.uri })
    await useUntil(
      client,
      call,
      application.changes.until((heard) => isDeepStrictEqual(heard, change)),
    )
  }),
]

/** Uses a tool again and again until what is waited for is there: when a server is ready to tell is its own business. */
async function useUntil<Value>(client: Client, call: ToolUse, awaited: Promise<Value>): Promise<Value> {
  let isThere = false
  const value = awaited.finally(() => {
    isThere = true
  })
  while (!isThere) await use(client, call)
  return value
}
