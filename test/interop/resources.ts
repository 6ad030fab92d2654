/** What clients do with the example server's resources, templates, prompts and completions. */
import { expect } from "vitest"
import type { Json } from "../support/wire.js"
import { everywhere, except, type Feature, failure, PNG, pick } from "./feature.js"

const template = { type: "ref/resource", uri: "weather://{city}" } as const
const prompt = { type: "ref/prompt", name: "plan_trip" } as const

function contentsOf(result: Json): Json {
  expect(result["contents"]).toHaveLength(1)
  return (result["contents"] as [Json])[0]
}

/** All of them. */
export const resources: readonly Feature[] = [
  everywhere("resources/list", async ({ client }) => {
    const listed = await client.listResources()
    expect(pick(listed, "resources", "uri")).toEqual(["file:///readme.md", "file:///map.png"])
    expect(pick(listed, "resources", "mimeType")).toEqual(["text/markdown", "image/png"])
  }),

  everywhere("text resource", async ({ client }) => {
    expect(contentsOf(await client.readResource("file:///readme.md"))).toEqual({
      uri: "file:///readme.md",
      mimeType: "text/markdown",
      text: expect.stringContaining("# Weather"),
    })
  }),

  everywhere("binary resource", async ({ client }) => {
    expect(contentsOf(await client.readResource("file:///map.png"))).toEqual({
      uri: "file:///map.png",
      mimeType: "image/png",
      blob: expect.stringMatching(PNG),
    })
  }),

  except(
    "caching hints",
    [{ when: { era: "legacy" }, reason: "results have caching hints since 2026-07-28" }],
    async ({ client }) => {
      const read = await client.readResource("file:///map.png")
      expect(read).toMatchObject({ ttlMs: 60_000, cacheScope: "public" })
      expect(await client.listTools()).toMatchObject({ ttlMs: 0, cacheScope: "private" })
    },
  ),

  everywhere("resources/templates/list", async ({ client }) => {
    const listed = await client.listResourceTemplates()
    expect(pick(listed, "resourceTemplates", "uriTemplate")).toEqual(["weather://{city}"])
  }),

  everywhere("resource of a template", async ({ client }) => {
    for (const [uri, city] of [
      ["weather://Oslo", "Oslo"],
      ["weather://Reykjav%C3%ADk", "Reykjavík"],
    ] as const) {
      const contents = contentsOf(await client.readResource(uri))
      expect(contents).toMatchObject({ uri, mimeType: "application/json" })
      expect(JSON.parse(String(contents["text"]))).toMatchObject({ city, celsius: expect.any(Number) })
    }
  }),

  everywhere("unknown resource", async ({ client, combination }) => {
    // Version 2 of the SDK makes one error of both codes, with the newer one.
    const code = combination.client === "v1" ? -32002 : -32602
    for (const uri of ["file:///nothing.md", "weather://Atlantis"]) {
      expect(await failure(client.readResource(uri))).toMatchObject({ code, data: { uri } })
    }
  }),

  everywhere("prompts/list", async ({ client }) => {
    const listed = await client.listPrompts()
    expect(listed["prompts"]).toMatchObject([
      {
        name: "plan_trip",
        title: "Plan a trip",
        arguments: [
          { name: "city", description: "Where to", required: true },
          { name: "days", description: "For how many days" },
        ],
      },
    ])
  }),

  everywhere("prompts/get", async ({ client }) => {
    const got = await client.getPrompt("plan_trip", { city: "Tokyo", days: "7" })
    expect(pick(got, "messages", "role")).toEqual(["user", "assistant", "user"])
    expect(got["messages"]).toMatchObject([
      { content: { type: "text", text: "Plan a trip of 7 days to Tokyo." } },
      {},
      {},
    ])
    const shorter = await client.getPrompt("plan_trip", { city: "Tokyo" })
    expect(shorter["messages"]).toMatchObject([{ content: { text: "Plan a trip of 3 days to Tokyo." } }, {}, {}])
  }),

  everywhere("prompt refused", async ({ client }) => {
    expect(await failure(client.getPrompt("plan_trip"))).toMatchObject({ code: -32602 })
    expect(await failure(client.getPrompt("plan_trip", { city: "Oslo", days: "many" }))).toMatchObject({ code: -32602 })
    expect(await failure(client.getPrompt("no_such_prompt"))).toMatchObject({ code: -32602 })
  }),

  everywhere("completion of a prompt's argument", async ({ client }) => {
    expect(await client.complete(prompt, "city", "be")).toMatchObject({ completion: { values: ["Bergen", "Berlin"] } })
    expect(await client.complete(prompt, "days", "")).toMatchObject({ completion: { values: ["2", "3", "7"] } })
  }),

  everywhere("completion of a template's variable", async ({ client }) => {
    expect(await client.complete(template, "city", "Os")).toMatchObject({ completion: { values: ["Osaka", "Oslo"] } })
    expect(await client.complete(template, "city", "x")).toMatchObject({ completion: { values: [] } })
  }),
]
