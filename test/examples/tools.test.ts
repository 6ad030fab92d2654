/** The story of tools: every kind of content, in both eras. */
import { describe, expect, it } from "vitest"
import { server } from "../../examples/tools/server.js"
import { callTool, eras } from "../support/story.js"

describe.each(eras)("tools, in the %s era", (era) => {
  it("sends a string as one block of text", async () => {
    const result = await callTool(server, era, "greet", { name: "Ada" })
    expect(result).toMatchObject({ content: [{ type: "text", text: "Hello Ada." }] })
    expect(result).not.toHaveProperty("structuredContent")
  })

  it("sends another JSON value as text and as structured content", async () => {
    expect(await callTool(server, era, "measure", { text: "two words" })).toMatchObject({
      content: [{ type: "text", text: '{"letters":9,"words":2}' }],
      structuredContent: { letters: 9, words: 2 },
    })
  })

  it("sends an image, and bytes of a sound as base64", async () => {
    const image = await callTool(server, era, "draw")
    expect(image).toMatchObject({ content: [{ type: "image", mimeType: "image/png" }] })
    const sound = await callTool(server, era, "play")
    expect(sound).toMatchObject({
      content: [{ type: "audio", mimeType: "audio/wav", data: expect.stringMatching(/^UklGR/) }],
    })
  })

  it("sends several blocks in their order", async () => {
    expect(await callTool(server, era, "cite")).toMatchObject({
      content: [
        { type: "text", text: "Water boils at 100 °C.", annotations: { audience: ["user"], priority: 1 } },
        { type: "resource_link", uri: "https://example.com/water", name: "water", mimeType: "text/html" },
        {
          type: "resource",
          resource: { uri: "note:///water", mimeType: "text/plain", text: "At sea level, that is." },
        },
      ],
    })
  })

  it("sends a result as it was put together by hand", async () => {
    expect(await callTool(server, era, "count", { to: 3 })).toMatchObject({
      content: [{ type: "text", text: "I counted to 3." }],
      structuredContent: { to: 3 },
      _meta: { "example.com/method": "fingers" },
    })
  })

  it("tells the model which argument is wrong", async () => {
    const result = await callTool(server, era, "count", { to: 1000 })
    expect(result).toMatchObject({ isError: true, content: [{ type: "text", text: expect.stringContaining("to") }] })
  })
})
