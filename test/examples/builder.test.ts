/** The story of the builder: tools that come, change and go. */
import { describe, expect, it } from "vitest"
import { server } from "../../examples/builder/server.js"
import { ask, callTool, eras } from "../support/story.js"

describe.each(eras)("the builder, in the %s era", (era) => {
  const listed = async () => {
    const { result } = await ask(server, era, "tools/list")
    const { tools } = result as { tools: { name: string; description: string }[] }
    return tools.map(({ name, description }) => [name, description])
  }

  it("adds, changes and removes a tool while it is served", async () => {
    await callTool(server, era, "learn", { name: "sit", says: "I sit." })
    expect(await listed()).toContainEqual(["sit", "Says: I sit."])
    expect(await callTool(server, era, "sit")).toMatchObject({ content: [{ text: "I sit." }] })

    await callTool(server, era, "learn", { name: "sit", says: "I do sit." })
    expect(await listed()).toContainEqual(["sit", "Says: I do sit. (as I heard again)"])
    const { result } = await ask(server, era, "resources/read", { uri: "tricks:///all" })
    expect(result).toMatchObject({ contents: [{ text: '["sit"]' }] })

    await callTool(server, era, "forget", { name: "sit" })
    expect((await listed()).map(([name]) => name)).toEqual(["learn", "forget"])
    const { error } = await ask(server, era, "tools/call", { name: "sit" })
    expect(error).toMatchObject({ code: -32602, data: { reason: "unknown_tool" } })
  })

  it("says no to what it does not know", async () => {
    expect(await callTool(server, era, "forget", { name: "fly" })).toMatchObject({ isError: true })
  })
})
