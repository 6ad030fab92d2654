/** The story of prompts: messages, arguments and completion. */
import { describe, expect, it } from "vitest"
import { server } from "../../examples/prompts/server.js"
import { ask, eras } from "../support/story.js"

describe.each(eras)("prompts, in the %s era", (era) => {
  it("lists the arguments, those with a default as optional", async () => {
    const { result } = await ask(server, era, "prompts/list")
    expect(result).toMatchObject({
      prompts: [
        { name: "haiku", description: "A haiku, please" },
        {
          name: "review",
          title: "Review code",
          arguments: [
            { name: "code", description: "What to review", required: true },
            { name: "language", required: true },
            { name: "framework" },
            { name: "strictness" },
          ],
        },
      ],
    })
    const { prompts } = result as { prompts: { arguments?: { required?: boolean }[] }[] }
    expect(prompts[1]?.arguments?.map(({ required = false }) => required)).toEqual([true, true, false, false])
  })

  it("makes one message of a string", async () => {
    const { result } = await ask(server, era, "prompts/get", { name: "haiku" })
    expect(result).toMatchObject({
      messages: [{ role: "user", content: { type: "text", text: "Write a haiku about the sea." } }],
    })
  })

  it("turns the texts of the wire into what the schema says", async () => {
    const args = { code: "let x", language: "typescript", framework: "hono", strictness: "5" }
    const { result } = await ask(server, era, "prompts/get", { name: "review", arguments: args })
    expect(result).toMatchObject({
      messages: [
        { role: "user", content: { type: "resource", resource: { text: "let x" } } },
        { role: "assistant", content: { text: "I see typescript with hono. How strict shall I be?" } },
        { role: "user", content: { text: "5 of 5." } },
      ],
    })
  })

  it("refuses arguments that do not fit", async () => {
    const { error } = await ask(server, era, "prompts/get", { name: "review", arguments: { code: "let x" } })
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("language") })
  })

  it.each([
    ["language", "", {}, ["python", "typescript"]],
    ["framework", "f", { language: "typescript" }, ["fastify"]],
    ["framework", "f", { language: "python" }, ["flask"]],
    ["code", "", {}, []],
  ])("completes %s from %j, knowing %j", async (name, value, known, values) => {
    const ref = { type: "ref/prompt", name: "review" }
    const params = { ref, argument: { name, value }, context: { arguments: known } }
    const { result } = await ask(server, era, "completion/complete", params)
    expect(result).toMatchObject({ completion: { values } })
  })
})
