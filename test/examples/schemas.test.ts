/** The story of schemas: four ways to describe arguments, one behaviour. */
import { describe, expect, it } from "vitest"
import { server } from "../../examples/schemas/server.js"
import { ask, callTool, eras } from "../support/story.js"

const names = ["zod", "arktype", "valibot", "json", "both"]

describe.each(eras)("schemas, in the %s era", (era) => {
  it("are listed as JSON Schema, whichever library they come from", async () => {
    const { result } = await ask(server, era, "tools/list")
    const { tools } = result as { tools: { name: string; inputSchema: object }[] }
    expect(tools.map(({ name }) => name)).toEqual(names)
    for (const { name, inputSchema } of tools) {
      expect(inputSchema, name).toMatchObject({
        type: "object",
        properties: { cups: { type: "integer", minimum: 1, maximum: 9 } },
        required: expect.arrayContaining(["drink", "cups"]),
      })
    }
  })

  it.each(names)("let pass what fits, and refuse the rest: %s", async (name) => {
    expect(await callTool(server, era, name, { drink: "tea", cups: 2 })).toMatchObject({
      content: [{ type: "text", text: "2 x tea" }],
    })
    for (const args of [{ drink: "beer", cups: 2 }, { drink: "tea", cups: 10 }, { drink: "tea" }, { cups: 1.5 }]) {
      expect(await callTool(server, era, name, args)).toMatchObject({ isError: true })
    }
  })
})
