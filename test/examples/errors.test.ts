/** The story of errors: who is told what. */
import { afterEach, beforeEach, describe, expect, it, type MockInstance, vi } from "vitest"
import { server } from "../../examples/errors/server.js"
import { ask, callTool, eras } from "../support/story.js"

describe.each(eras)("errors, in the %s era", (era) => {
  let log: MockInstance<typeof console.error>
  beforeEach(() => {
    log = vi.spyOn(console, "error").mockImplementation(() => {})
  })
  afterEach(() => log.mockRestore())

  it("tell the model what a tool says no to", async () => {
    const text = "Cannot divide by zero. Choose another b."
    expect(await callTool(server, era, "divide", { a: 1, b: 0 })).toMatchObject({
      isError: true,
      content: [{ type: "text", text }],
    })
    expect(await callTool(server, era, "pay", { amount: 11 })).toMatchObject({
      isError: true,
      content: [{ type: "text", text: "Only 10 left." }],
    })
    expect(log).not.toHaveBeenCalled()
  })

  it("keep an exception's detail for the log, under a reference that the caller gets", async () => {
    const result = await callTool(server, era, "crash")
    expect(result).toMatchObject({ isError: true })
    const said = JSON.stringify(result)
    expect(said).not.toContain("hunter2")
    const reference = /reference ([\w-]+)/.exec(said)?.[1]
    expect(reference).toBeDefined()
    expect(log.mock.calls.join()).toContain(reference)
    expect(log.mock.calls.join()).toContain("hunter2")
  })

  it("are errors of the call when the handler says so", async () => {
    const { error } = await ask(server, era, "tools/call", { name: "admin" })
    expect(error).toMatchObject({
      code: -32602,
      message: "This tool is closed on Sundays",
      data: { until: "Monday" },
    })
  })

  it("say of a resource that it is not there, or that the server failed", async () => {
    const gone = await ask(server, era, "resources/read", { uri: "note:///gone" })
    expect(gone["error"]).toMatchObject({ code: era === "modern" ? -32602 : -32002 })
    const torn = await ask(server, era, "resources/read", { uri: "note:///torn" })
    expect(torn["error"]).toMatchObject({ code: -32603 })
    expect(JSON.stringify(torn)).not.toContain("disk")
  })

  it("name the argument of a prompt that does not fit", async () => {
    const { error } = await ask(server, era, "prompts/get", { name: "strict", arguments: { size: "huge" } })
    expect(error).toMatchObject({ code: -32602, message: expect.stringContaining("size") })
  })
})
