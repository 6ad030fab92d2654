/** The official SDKs' clients against the example server over HTTP without sessions. */
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import type { Json } from "../support/wire.js"
import { type ClientName, clientNames, type InteropClient } from "./client.js"
import { connectV1 } from "./client-v1.js"
import { connectV2 } from "./client-v2.js"
import { failure, onlyText, pick } from "./feature.js"
import { type HttpServer, startHttp, stateless } from "./weather.js"

let http: HttpServer
beforeAll(async () => {
  http = await startHttp(stateless)
})
afterAll(() => http.stop())

function connect(name: ClientName): Promise<InteropClient> {
  return name === "v1" ? connectV1(http.place) : connectV2(name, http.place)
}

describe.each(clientNames.map((name) => [name] as const))("without sessions, %s", (name) => {
  const modern = name === "v2 auto" || name === "v2 pinned 2026-07-28"
  let client: InteropClient
  beforeAll(async () => {
    client = await connect(name)
  })
  afterAll(async () => {
    await client.close()
    expect(client.errors()).toEqual([])
  })

  it("opens without an id, and is told only what a server without sessions can do", () => {
    expect(client.sessionId()).toBeUndefined()
    expect(client.negotiated.capabilities).toMatchObject({ tools: {}, resources: {}, prompts: {}, completions: {} })
    expect("logging" in (client.negotiated.capabilities as Json)).toBe(modern)
  })

  it("lists, calls, reads, gets and completes", async () => {
    expect(pick(await client.listTools(), "tools", "name")).toContain("get_forecast")
    const forecast = await client.callTool("get_forecast", { city: "Oslo" })
    expect(forecast["structuredContent"]).toMatchObject({ celsius: expect.any(Number) })
    expect(client.outputs).toEqual({ fitting: 1, unfitting: 0 })
    expect(await client.readResource("weather://Oslo")).toHaveProperty("contents")
    expect(await client.getPrompt("plan_trip", { city: "Oslo" })).toHaveProperty("messages")
    const completed = await client.complete({ type: "ref/prompt", name: "plan_trip" }, "city", "be")
    expect(completed).toMatchObject({ completion: { values: ["Bergen", "Berlin"] } })
    expect(await failure(client.callTool("no_such_tool"))).toMatchObject({ code: -32602 })
    if (!modern) expect(await client.ping()).toEqual({})
  })

  it("hears progress, also of calls in flight with the same id in other connections", async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => connect(name)))
    await Promise.all(
      [client, ...others].map(async (one, index) => {
        const heard: unknown[] = []
        const args = { city: "Oslo", looks: 3 + index, everyMs: 5 }
        const onprogress = ({ progress }: Json): void => void heard.push(progress)
        expect(onlyText(await one.callTool("watch_sky", args, { onprogress }))).toContain(`Looked ${args.looks} times`)
        expect(heard).toEqual(Array.from({ length: args.looks }, (_, look) => look + 1))
      }),
    )
    for (const other of others) {
      await other.close()
      expect(other.errors()).toEqual([])
    }
  })
})
