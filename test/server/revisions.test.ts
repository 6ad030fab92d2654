/** What each revision leaves out of what a server says, seen by clients of all three. */
import { content, createServer, prompt, resource, resourceTemplate, tool } from "conduit-mcp"
import { jsonSchema } from "conduit-mcp/schema"
import { describe, expect, it } from "vitest"
import { z } from "zod"
import { link, type RawLink } from "../support/link.js"
import { initializeRequest, type Json } from "../support/wire.js"

const versions = ["2026-07-28", "2025-11-25", "2025-06-18"] as const
type Version = (typeof versions)[number]

const icons = [{ src: "https://example.com/icon.png", theme: "dark" as const }]
const node = {
  type: "array",
  items: { $ref: "#/$defs/node" },
  $defs: {
    node: {
      type: "object",
      properties: {
        next: { $ref: "#/$defs/node" },
        root: { $ref: "#" },
        $ref: { type: "string" },
        default: { $ref: "#/$defs/node" },
      },
      default: { $ref: "#/$defs/data" },
    },
  },
}

const server = createServer({
  name: "test",
  version: "1.0.0",
  title: "Test",
  description: "For tests",
  websiteUrl: "https://example.com",
  icons,
  tools: [
    tool("t", { title: "T", icons, annotations: { readOnlyHint: true } }, () =>
      content.link("file:///a", "a", { icons }),
    ),
    tool("list", { output: z.array(z.number()) }, () => [1, 2]),
    tool("tree", { output: jsonSchema<readonly object[]>(node) }, () => [{}]),
    tool("object", { output: z.object({ a: z.number() }) }, () => ({ a: 1 })),
    tool("number", {}, () => 5),
  ],
  resources: [
    resource("test://r", { name: "r", title: "R", icons, size: 1 }, () => ""),
    resourceTemplate("test://{id}", { name: "rt", title: "RT", icons }, () => ""),
  ],
  prompts: [prompt("p", { title: "P", icons }, () => content.link("file:///a", "a", { icons }))],
})

/** Asks as a client of this version does. */
async function ask(version: Version, method: string, params: Json = {}): Promise<Json> {
  const wire: RawLink = link(server)
  const answer =
    version === "2026-07-28" ? await wire.modern(method, params) : await wire.legacy(method, params, version)
  return answer["result"] as Json
}

async function listed(version: Version, name: string): Promise<Json | undefined> {
  const { tools } = (await ask(version, "tools/list")) as { tools: Json[] }
  return tools.find((one) => one["name"] === name)
}

describe.each(versions)("to a client of %s", (version) => {
  const modern = version === "2026-07-28"
  const pictured = version !== "2025-06-18"

  it(`a definition has ${pictured ? "" : "no "}icons`, async () => {
    const expected = pictured ? icons : undefined
    const entries = [
      await listed(version, "t"),
      ((await ask(version, "resources/list")) as { resources: Json[] }).resources[0],
      ((await ask(version, "resources/templates/list")) as { resourceTemplates: Json[] }).resourceTemplates[0],
      ((await ask(version, "prompts/list")) as { prompts: Json[] }).prompts[0],
      ((await ask(version, "tools/call", { name: "t" })) as { content: Json[] }).content[0],
      ((await ask(version, "prompts/get", { name: "p" })) as { messages: { content: Json }[] }).messages[0]?.content,
    ]
    expect(entries.map((entry) => entry?.["icons"])).toEqual(Array.from(entries, () => expected))
    expect(entries.slice(0, 4).map((entry) => entry?.["title"])).toEqual(["T", "R", "RT", "P"])
  })

  it("the server says of itself what the revision knows", async () => {
    const wire = link(server)
    const result = modern
      ? (await wire.modern("server/discover"))["result"]
      : (await wire.request(initializeRequest(1, version)))["result"]
    const { serverInfo, _meta } = result as { serverInfo?: Json; _meta?: Json }
    const said = modern ? _meta?.["io.modelcontextprotocol/serverInfo"] : serverInfo
    const known = { name: "test", version: "1.0.0", title: "Test" }
    expect(said).toEqual(
      pictured ? { ...known, description: "For tests", websiteUrl: "https://example.com", icons } : known,
    )
  })

  it("no tool says how it is executed", async () => {
    expect(await listed(version, "t")).not.toHaveProperty("execution")
  })

  it("structured content is raw or wrapped as its schema is", async () => {
    const calls = await Promise.all(
      ["list", "object", "number"].map(
        async (name) => (await ask(version, "tools/call", { name }))["structuredContent"],
      ),
    )
    expect(calls).toEqual(modern ? [[1, 2], { a: 1 }, 5] : [{ result: [1, 2] }, { a: 1 }, { result: 5 }])
    const list = (await listed(version, "list"))?.["outputSchema"] as Json
    const items = { type: "array", items: { type: "number" } }
    expect(list).toMatchObject(
      modern
        ? items
        : { type: "object", properties: { result: items }, required: ["result"], additionalProperties: false },
    )
    expect(list["$schema"]).toBe("https://json-schema.org/draft/2020-12/schema")
    expect((await listed(version, "object"))?.["outputSchema"]).toMatchObject({
      type: "object",
      properties: { a: { type: "number" } },
    })
  })

  it("references of an output schema point where their targets are", async () => {
    const at = (pointer: string): string => (modern ? pointer : pointer.replace("#", "#/properties/result"))
    const moved = {
      type: "array",
      items: { $ref: at("#/$defs/node") },
      $defs: {
        node: {
          type: "object",
          properties: {
            next: { $ref: at("#/$defs/node") },
            root: { $ref: at("#") },
            $ref: { type: "string" },
            default: { $ref: at("#/$defs/node") },
          },
          default: { $ref: "#/$defs/data" },
        },
      },
    }
    const schema = (await listed(version, "tree"))?.["outputSchema"]
    expect(schema).toEqual(
      modern
        ? moved
        : { type: "object", properties: { result: moved }, required: ["result"], additionalProperties: false },
    )
  })

  it("a tool call that says task is served as a plain call", async () => {
    const result = await ask(version, "tools/call", { name: "number", task: { ttl: 1_000 } })
    expect(result).toMatchObject({ content: [{ text: "5" }] })
    expect(result).not.toHaveProperty("task")
  })

  it("wrong arguments are a result, an unknown tool is an error", async () => {
    expect(await ask(version, "tools/call", { name: "number", arguments: { a: 1 } })).toMatchObject({ isError: true })
    const wire = link(server)
    const params = { name: "none" }
    const { error } = modern
      ? await wire.modern("tools/call", params)
      : await wire.legacy("tools/call", params, version)
    expect(error).toMatchObject({ code: -32602 })
  })

  it("a resource that is not there has the code of the revision", async () => {
    const wire = link(server)
    const params = { uri: "other://none" }
    const { error } = modern
      ? await wire.modern("resources/read", params)
      : await wire.legacy("resources/read", params, version)
    expect(error).toMatchObject({ code: modern ? -32602 : -32002, data: { uri: "other://none" } })
  })

  it("results say of themselves what the revision asks for", async () => {
    const result = await ask(version, "resources/list")
    for (const member of ["resultType", "_meta", "ttlMs", "cacheScope"]) {
      expect([member, Object.hasOwn(result, member)]).toEqual([member, modern])
    }
  })
})

describe("output schemas that are hard to move", () => {
  const outputOf = async (raw: object, version: Version): Promise<unknown> => {
    const definition = tool("t", { output: jsonSchema(raw) }, () => [])
    const wire = link(createServer({ name: "test", version: "1.0.0", tools: [definition] }))
    const answer =
      version === "2026-07-28" ? await wire.modern("tools/list") : await wire.legacy("tools/list", {}, version)
    return (answer["result"] as { tools: Json[] }).tools[0]?.["outputSchema"]
  }

  it.each<[what: string, raw: object]>([
    [
      "what is its own resource keeps its references",
      { $id: "https://example.com/list", type: "array", items: { $ref: "#/$defs/a" }, $defs: { a: {} } },
    ],
    ["data is not a reference", { enum: [{ $ref: "#/a" }, []], default: { $ref: "#" }, examples: [{ $ref: "#/a" }] }],
    ["a reference by anchor stays", { type: "array", items: { $ref: "#item" }, $defs: { item: { $anchor: "item" } } }],
  ])("%s", async (_, raw) => {
    expect(await outputOf(raw, "2026-07-28")).toEqual(raw)
    expect(await outputOf(raw, "2025-11-25")).toMatchObject({ properties: { result: raw } })
  })

  it("a property keeps its name, whatever it is", async () => {
    const raw = JSON.parse(
      '{"type":["object","null"],"properties":{"__proto__":{"type":"string"},"constructor":{"type":"number"}}}',
    ) as object
    const wrapped = (await outputOf(raw, "2025-11-25")) as { properties: { result: object } }
    expect(JSON.stringify(wrapped.properties.result)).toBe(JSON.stringify(raw))
  })
})
