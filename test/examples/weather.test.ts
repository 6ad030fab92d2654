/** The example server as `npm start` runs it: what it prints works, it serves everything in both eras, and it ends well. */
import { fileURLToPath } from "node:url"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { server } from "../../examples/weather/weather.js"
import { type Child, startScript } from "../support/child.js"
import { type Reply, send } from "../support/http.js"
import { ask, callTool, eras, linked } from "../support/story.js"
import { initializeRequest, type Json, modernRequest } from "../support/wire.js"

const script = (name: string) => fileURLToPath(new URL(`../../examples/dist/weather/${name}.js`, import.meta.url))

describe("npm start", () => {
  let child: Child
  let banner = ""
  beforeAll(async () => {
    child = startScript(script("server"), { PORT: "0" })
    banner = await child.printing(/Ctrl\+C/)
  })
  afterAll(() => child.process.kill("SIGKILL"))

  /** What the printed curl commands would send, one after the other; a session's id is carried on as the shell does. */
  const runCommands = async (): Promise<readonly Reply[]> => {
    const replies: Reply[] = []
    for (const [, command = ""] of banner.matchAll(/curl (-s.*?-d '[^']*')/gs)) {
      const url = /http:\S+/.exec(command)?.[0] ?? ""
      const session = String(replies.at(-1)?.headers["mcp-session-id"])
      const headers = [...command.matchAll(/-H ['"]([^:]+): ([^'"]+)['"]/g)].map(
        ([, name = "", value = ""]) => [name.toLowerCase(), value.replace("$SESSION", session)] as const,
      )
      const body = /-d '([^']*)'/.exec(command)?.[1] ?? ""
      replies.push(await send(url, { headers: Object.fromEntries(headers), body }))
    }
    return replies
  }

  it("prints commands that work, in both eras", async () => {
    const [call, watch, initialize, legacyCall, ...rest] = await runCommands()
    expect(rest).toEqual([])
    expect(call?.json).toMatchObject({ result: { resultType: "complete", structuredContent: { sky: "snow" } } })
    expect(watch?.messages.map(({ method }) => method)).toEqual([
      ...Array.from({ length: 4 }, () => "notifications/progress"),
      undefined,
    ])
    expect(initialize?.json).toMatchObject({ result: { protocolVersion: "2025-11-25" } })
    expect(legacyCall?.json).toMatchObject({ id: 2, result: { structuredContent: { sky: "snow" } } })
  })

  it("says when the port is taken, and how to choose another", async () => {
    const port = /127\.0\.0\.1:(\d+)/.exec(banner)?.[1] ?? ""
    const second = startScript(script("server"), { PORT: port })
    expect(await second.ended).toBe(1)
    expect(second.printed.stderr).toContain(`port ${port}: the port is taken`)
    expect(second.printed.stderr).toMatch(/PORT=\d+ npm start/)
  })

  it("refuses a port that is none", async () => {
    const other = startScript(script("server"), { PORT: "web" })
    expect(await other.ended).toBe(1)
    expect(other.printed.stderr).toContain("port must be an integer from 0 to 65535, not NaN")
  })

  // Windows ends a process at once: it has no signal that a process could answer.
  it.skipIf(process.platform === "win32").each(["SIGINT", "SIGTERM"] as const)("ends with 0 on %s", async (signal) => {
    const own = startScript(script("server"), { PORT: "0" })
    await own.printing(/Ctrl\+C/)
    own.process.kill(signal)
    expect(await own.ended).toBe(0)
  })

  it("has the command that its banner names, for clients that start servers themselves", async () => {
    const path = /"args":\["([^"]+)"\]/.exec(banner)?.[1] ?? ""
    const stdio = startScript(path)
    stdio.process.stdin.write(`${JSON.stringify(modernRequest(1, "server/discover"))}\n`)
    stdio.process.stdin.end(`${JSON.stringify(initializeRequest(2))}\n`)
    expect(await stdio.ended).toBe(0)
    const answers = stdio.printed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Json)
    expect(answers).toHaveLength(2)
  })
})

describe.each(eras)("the weather, in the %s era", (era) => {
  it("has a forecast for a city, and says no to others", async () => {
    expect(await callTool(server, era, "get_forecast", { city: "lima" })).toMatchObject({
      structuredContent: { celsius: expect.any(Number), sky: expect.stringMatching(/^(clear|cloudy|rain|snow)$/) },
    })
    expect(await callTool(server, era, "get_forecast", { city: "Atlantis" })).toMatchObject({ isError: true })
  })

  it("watches the sky, and reports how far it is", async () => {
    await linked(server, async (raw) => {
      const args = { city: "Oslo", looks: 3, everyMs: 0 }
      await raw[era]("tools/call", { name: "watch_sky", arguments: args, _meta: { progressToken: 7 } })
      const progress = raw.received.filter(({ method }) => method === "notifications/progress")
      expect(progress.map(({ params }) => (params as Json)["progress"])).toEqual([1, 2, 3])
    })
  })

  it("draws a map, as a tool and as a resource", async () => {
    const png = expect.stringMatching(/^iVBORw0KGgo/)
    const drawn = await callTool(server, era, "weather_map")
    expect(drawn).toMatchObject({ content: [{ type: "text" }, { type: "image", mimeType: "image/png", data: png }] })
    const { result } = await ask(server, era, "resources/read", { uri: "file:///map.png" })
    expect(result).toMatchObject({ contents: [{ mimeType: "image/png", blob: png }] })
  })

  it("converts, links and fails", async () => {
    expect(await callTool(server, era, "convert", { degrees: 100, to: "fahrenheit" })).toMatchObject({
      content: [{ type: "text", text: "100 °C = 212.0 °F" }],
    })
    expect(await callTool(server, era, "list_stations", { region: "africa" })).toMatchObject({
      content: [{ type: "resource_link", uri: "weather://Cairo" }, { uri: "weather://Cape%20Town" }, {}],
    })
    expect(await callTool(server, era, "fail_always")).toMatchObject({ isError: true })
  })

  it("reads every link that it gives", async () => {
    const { content } = (await callTool(server, era, "list_stations", { region: "americas" })) as { content: Json[] }
    for (const { uri } of content) {
      const { result } = await ask(server, era, "resources/read", { uri })
      expect(result).toMatchObject({ contents: [{ mimeType: "application/json" }] })
    }
  })

  it("completes cities, and plans a trip", async () => {
    const argument = { name: "city", value: "l" }
    const expected = { completion: { values: ["Lima", "Lisbon", "London"] } }
    for (const ref of [
      { type: "ref/prompt", name: "plan_trip" },
      { type: "ref/resource", uri: "weather://{city}" },
    ]) {
      const { result } = await ask(server, era, "completion/complete", { ref, argument })
      expect(result).toMatchObject(expected)
    }
    const { result } = await ask(server, era, "prompts/get", { name: "plan_trip", arguments: { city: "Lima" } })
    expect(result).toMatchObject({
      messages: [
        { role: "user", content: { text: "Plan a trip of 3 days to Lima." } },
        { role: "assistant" },
        { role: "user" },
      ],
    })
  })
})
