/** The story of structured output: what each era makes of schemas and values. */
import { describe, expect, it, vi } from "vitest"
import { server } from "../../examples/structured-output/server.js"
import { ask, callTool, eras } from "../support/story.js"

describe.each(eras)("structured output, in the %s era", (era) => {
  it("answers the value and its JSON text", async () => {
    expect(await callTool(server, era, "find_book", { title: "Mort" })).toMatchObject({
      content: [{ type: "text", text: '{"title":"Mort","year":1987}' }],
      structuredContent: { title: "Mort", year: 1987 },
    })
  })

  it("lets a tool with an output schema say no", async () => {
    expect(await callTool(server, era, "find_book", { title: "Emma" })).toMatchObject({ isError: true })
  })

  it("takes a text of one's own beside the value", async () => {
    expect(await callTool(server, era, "newest_book")).toMatchObject({
      content: [{ type: "text", text: "The newest is Small Gods." }],
      structuredContent: { title: "Small Gods", year: 1992, pages: 400 },
    })
  })

  it("adds the defaults of the schema", async () => {
    expect(await callTool(server, era, "count_pages")).toMatchObject({
      structuredContent: { pages: 400, of: "all books" },
    })
  })

  it("keeps a value that does not match, and tells the log why", async () => {
    const log = vi.spyOn(console, "error").mockImplementation(() => {})
    const result = await callTool(server, era, "broken")
    expect(result).toMatchObject({ isError: true })
    expect(JSON.stringify(result)).not.toContain("1.5")
    expect(log.mock.calls.join()).toContain("does not match the output schema")
    log.mockRestore()
  })
})

describe("a list as structured output", () => {
  it.each([
    ["modern", "array", (books: unknown) => books],
    ["legacy", "object", (books: unknown) => ({ result: books })],
  ] as const)("is of the type that the %s era allows: %s", async (era, type, wrap) => {
    const listed = await ask(server, era, "tools/list")
    const { tools } = listed["result"] as { tools: { name: string; outputSchema: unknown }[] }
    expect(tools.find(({ name }) => name === "list_books")?.outputSchema).toMatchObject({ type })
    const { structuredContent } = await callTool(server, era, "list_books")
    expect(structuredContent).toEqual(
      wrap([
        { title: "Small Gods", year: 1992, pages: 400 },
        { title: "Mort", year: 1987 },
      ]),
    )
  })
})
