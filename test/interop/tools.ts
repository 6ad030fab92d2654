/** What clients do with the example server's tools. */
import { expect } from "vitest"
import type { Json } from "../support/wire.js"
import { everywhere, except, type Feature, failure, onlyText, PNG, pick } from "./feature.js"

const noHeaders = [
  { when: { transport: "stdio" as const }, reason: "arguments are repeated in headers on HTTP only" },
  { when: { era: "legacy" as const }, reason: "arguments are repeated in headers since 2026-07-28" },
]

/** In the order in which they are tried: the list comes first, as the SDKs take output schemas from it. */
export const tools: readonly Feature[] = [
  everywhere("tools/list", async ({ client }) => {
    const listed = await client.listTools()
    expect(pick(listed, "tools", "name")).toEqual([
      "get_forecast",
      "watch_sky",
      "weather_map",
      "convert",
      "list_stations",
      "fail_always",
    ])
    expect((listed["tools"] as Json[])[0]).toMatchObject({
      title: "Forecast",
      inputSchema: { type: "object", properties: { city: { type: "string" } }, required: ["city"] },
      outputSchema: { type: "object", properties: { celsius: { type: "number" } } },
      annotations: { readOnlyHint: true },
    })
    expect((listed["tools"] as Json[])[5]).toMatchObject({
      inputSchema: { type: "object", additionalProperties: false },
    })
  }),

  everywhere("structured output", async ({ client }) => {
    const { fitting } = client.outputs
    const result = await client.callTool("get_forecast", { city: "Oslo" })
    expect(result["structuredContent"]).toEqual({ celsius: expect.any(Number), sky: expect.any(String) })
    expect(JSON.parse(onlyText(result))).toEqual(result["structuredContent"])
    expect(client.outputs).toEqual({ fitting: fitting + 1, unfitting: 0 })
  }),

  everywhere("failure despite an output schema", async ({ client }) => {
    const result = await client.callTool("get_forecast", { city: "Atlantis" })
    expect(result).toMatchObject({ isError: true })
    expect(result).not.toHaveProperty("structuredContent")
    expect(onlyText(result)).toContain("Atlantis")
  }),

  everywhere("text", async ({ client }) => {
    const result = await client.callTool("convert", { degrees: 100, to: "fahrenheit" })
    expect(onlyText(result)).toBe("100 °C = 212.0 °F")
  }),

  everywhere("image", async ({ client }) => {
    const result = await client.callTool("weather_map")
    expect(result["content"]).toEqual([
      { type: "text", text: expect.any(String) },
      { type: "image", mimeType: "image/png", data: expect.stringMatching(PNG) },
    ])
  }),

  everywhere("links to resources", async ({ client }) => {
    const result = await client.callTool("list_stations", { region: "oceania" })
    expect(result["content"]).toEqual([
      { type: "resource_link", uri: "weather://Auckland", name: "Auckland", description: "New Zealand" },
      { type: "resource_link", uri: "weather://Sydney", name: "Sydney", description: "Australia" },
    ])
  }),

  except("argument in a header, learned from a refusal", noHeaders, async (stage) => {
    const { client } = await stage.connect()
    const result = await client.callTool("list_stations", { region: "africa" })
    expect(pick(result, "content", "name")).toEqual(["Cairo", "Cape Town", "Nairobi"])
    expect(client.errors()).toEqual([])
  }),

  everywhere("progress", async ({ client, combination }) => {
    const all = [1, 2, 3].map((look) => ({ progress: look, total: 3, message: `look ${look} of 3` }))
    const args = { city: "Lima", looks: 3, everyMs: 5 }
    const watch = async (): Promise<number> => {
      const heard: Json[] = []
      const result = await client.callTool("watch_sky", args, { onprogress: (progress) => heard.push(progress) })
      expect(onlyText(result)).toContain("Looked 3 times")
      expect(heard).toEqual(all.slice(0, heard.length))
      return heard.length
    }
    if (combination.transport === "http") expect(await watch()).toBe(3)
    else await expect.poll(watch, { timeout: 8_000 }).toBe(3)
  }),

  everywhere("default arguments, no progress asked for", async ({ client }) => {
    const result = await client.callTool("watch_sky", { city: "lima", everyMs: 0 })
    expect(onlyText(result)).toContain("Looked 4 times")
  }),

  everywhere("isError", async ({ client }) => {
    const result = await client.callTool("fail_always")
    expect(result).toMatchObject({ isError: true })
    expect(onlyText(result)).toContain("always fails")
  }),

  everywhere("invalid arguments", async ({ client }) => {
    const result = await client.callTool("convert", { degrees: "warm", to: "kelvin" })
    expect(result).toMatchObject({ isError: true })
    expect(onlyText(result)).toContain("degrees")
    expect(onlyText(result)).toContain("to")
  }),

  everywhere("unknown tool", async ({ client }) => {
    expect(await failure(client.callTool("no_such_tool"))).toMatchObject({
      code: -32602,
      message: expect.stringContaining("no_such_tool"),
    })
  }),
]
