/** What clients do with their connection: how it opens, what runs on it at once, how calls and it are ended. */
import { expect } from "vitest"
import { post } from "../support/http.js"
import { type Json, legacyRequest } from "../support/wire.js"
import { everywhere, except, type Feature, failure, onlyText, type Stage } from "./feature.js"

const legacyOnly = (reason: string) => [{ when: { era: "modern" as const }, reason }]
const modernOnly = (reason: string) => [{ when: { era: "legacy" as const }, reason }]

/** First, before anything else is asked. */
export const opening: readonly Feature[] = [
  everywhere("opening", async ({ client, combination }) => {
    const { version, server, capabilities, instructions } = client.negotiated
    expect(version).toBe(combination.version)
    expect(server).toMatchObject({ name: "weather", version: "1.0.0", title: "Weather" })
    expect(capabilities).toMatchObject({ tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} })
    expect(instructions).toContain("get_forecast")
    expect(client.sessionId() !== undefined).toBe(combination.era === "legacy" && combination.transport === "http")
  }),

  except("server/discover", modernOnly("server/discover came with 2026-07-28"), async ({ client }) => {
    expect(await client.discover?.()).toMatchObject({
      supportedVersions: ["2026-07-28", "2025-11-25", "2025-06-18"],
      capabilities: { tools: {}, resources: {}, prompts: {}, completions: {}, logging: {} },
      instructions: expect.stringContaining("get_forecast"),
      ttlMs: 0,
      cacheScope: "private",
    })
  }),

  except("ping", legacyOnly("2026-07-28 has no ping"), async ({ client }) => {
    expect(await client.ping()).toEqual({})
  }),
]

const sky = { city: "Oslo", looks: 3, everyMs: 0 }
const watching = { level: "info", data: { message: "watching the sky", city: "Oslo" } }

/** Lets go of what the server has said on stderr so far: it is in the pipe by now, a few turns of the event loop read it. */
async function forget(stage: Stage): Promise<void> {
  for (let turn = 0; turn < 5; turn++) await new Promise((resolve) => setImmediate(resolve))
  stage.heard()
}

/** Waits until the server has said `text` on stderr since the last look. */
async function untilHeard(stage: Stage, text: string): Promise<void> {
  let heard = ""
  const listen = (): string => {
    heard += stage.heard()
    return heard
  }
  await expect.poll(listen, { timeout: 8_000 }).toContain(text)
}

/** How the server learns of a cancellation: from a message with the reason, or from the closed connection. */
function reasonOf({ combination: { era, transport } }: Stage): string {
  return era === "modern" && transport === "http" ? "the connection closed" : "changed my mind"
}

const endless = { city: "Oslo", looks: 20, everyMs: 5_000 }

/** Then what runs, and how it ends. */
export const running: readonly Feature[] = [
  except("logging/setLevel and log messages", legacyOnly("2026-07-28 has no logging/setLevel"), async ({ client }) => {
    const before = client.logs.length
    await client.setLoggingLevel("error")
    await client.callTool("watch_sky", sky)
    expect(client.logs.length).toBe(before)
    await client.setLoggingLevel("info")
    await client.callTool("watch_sky", sky)
    expect(client.logs.slice(before)).toEqual([watching])
  }),

  except(
    "log messages of one request",
    modernOnly("the log level is the session's before 2026-07-28"),
    async ({ client }) => {
      const levelled = (level: string) => ({ meta: { "io.modelcontextprotocol/logLevel": level } })
      await client.callTool("watch_sky", sky)
      await client.callTool("watch_sky", sky, levelled("error"))
      expect(client.logs).toEqual([])
      await client.callTool("watch_sky", sky, levelled("info"))
      expect(client.logs).toEqual([watching])
    },
  ),

  everywhere("many calls in flight", async ({ client, combination }) => {
    const cities = ["Auckland", "Bergen", "Berlin", "Cairo", "Lima", "Lisbon", "London", "Montreal", "Mumbai", "Osaka"]
    const watched = cities.map(async (city, index) => {
      const heard: unknown[] = []
      const args = { city, looks: 3 + index, everyMs: 20 - index }
      const result = await client.callTool("watch_sky", args, { onprogress: ({ message }) => heard.push(message) })
      expect(onlyText(result)).toContain(`Looked ${args.looks} times: the sky over ${city}`)
      const all = Array.from({ length: args.looks }, (_, look) => `look ${look + 1} of ${args.looks}`)
      expect(heard).toEqual(combination.transport === "http" ? all : all.slice(0, heard.length))
    })
    const converted = Array.from({ length: 30 }, async (_, degrees) => {
      const result = await client.callTool("convert", { degrees, to: "fahrenheit" })
      expect(onlyText(result)).toContain(`${degrees} °C =`)
    })
    await Promise.all([...watched, ...converted])
  }),

  everywhere("cancellation", async (stage) => {
    await forget(stage)
    const controller = new AbortController()
    const call = failure(stage.client.callTool("watch_sky", endless, { signal: controller.signal }))
    await untilHeard(stage, "a signal is watched")
    controller.abort("changed my mind")
    expect(String(await call)).toContain("changed my mind")
    await untilHeard(stage, `a signal aborts: ${reasonOf(stage)}`)
    expect(onlyText(await stage.client.callTool("convert", { degrees: 0, to: "fahrenheit" }))).toContain("32.0")
  }),

  everywhere("cancellation after progress", async (stage) => {
    await forget(stage)
    const controller = new AbortController()
    const heard: Json[] = []
    const call = stage.client.callTool(
      "watch_sky",
      { ...endless, everyMs: 50 },
      {
        signal: controller.signal,
        onprogress: (progress) => {
          heard.push(progress)
          controller.abort("changed my mind")
        },
      },
    )
    expect(String(await failure(call))).toContain("changed my mind")
    await untilHeard(stage, `a signal aborts: ${reasonOf(stage)}`)
    expect(onlyText(await stage.client.callTool("convert", { degrees: 0, to: "fahrenheit" }))).toContain("32.0")
    expect(heard).toHaveLength(1)
  }),

  except(
    "end of the session",
    [
      { when: { era: "modern" }, reason: "2026-07-28 has no sessions" },
      { when: { transport: "stdio" }, reason: "sessions have an id, and so an end of their own, on HTTP only" },
    ],
    async (stage) => {
      const { client, url } = await stage.connect()
      const session = client.sessionId()
      expect(session).toMatch(/^[\x21-\x7e]+$/)
      await client.terminateSession?.()
      expect(client.sessionId()).toBeUndefined()
      const headers = { "mcp-session-id": session, "mcp-protocol-version": stage.combination.version }
      expect(await post(url ?? "", legacyRequest(1, "ping"), headers)).toMatchObject({ status: 404 })
    },
  ),

  except(
    "end of the process with its client",
    [{ when: { transport: "http" }, reason: "over HTTP the server is not its client's" }],
    async (stage) => {
      const other = await stage.connect()
      await other.client.callTool("convert", { degrees: 0, to: "fahrenheit" })
      await other.client.close()
      await untilHeard(other, "exits with 0")
      expect(() => process.kill(other.client.pid ?? 0, 0)).toThrow("ESRCH")
    },
  ),

  everywhere("closing", async (stage) => {
    const { client } = await stage.connect()
    await client.listTools()
    await client.close()
    expect(client.errors()).toEqual([])
  }),
]
