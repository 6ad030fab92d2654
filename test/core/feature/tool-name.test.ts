/** Which tool names the specification and the providers of models accept. */
import { describe, expect, it } from "vitest"
import { checkToolName, providerNameProblems } from "../../../src/core/feature/tool-name.js"

describe("a tool name", () => {
  it.each(["getUser", "DATA_EXPORT_v2", "admin.tools.list", "a", "-", "a".repeat(128), "1st", "my-tool-name"])(
    "%j is as the specification recommends",
    (name) => {
      expect(checkToolName(name)).toEqual({ ok: true })
    },
  )

  it.each(["", "a".repeat(129), "my tool", "a,b", "a/b", "a:b", "größe", "工具", "a\n", "a\0", "__proto__!", "😀"])(
    "%j is not",
    (name) => {
      expect(checkToolName(name)).toMatchObject({ ok: false, problem: expect.stringMatching(/^a tool name/) })
    },
  )

  it.each([
    ["get_weather", []],
    ["get-weather2", []],
    ["a".repeat(64), []],
    ["admin.tools.list", ["anthropic", "openai"]],
    ["a/b", ["anthropic", "openai", "google"]],
    ["a".repeat(65), ["anthropic", "openai", "google"]],
    ["1st", ["google"]],
    ["get_weather\n", ["anthropic", "openai", "google"]],
  ])("%j is refused by %j", (name, providers) => {
    expect(providerNameProblems(name).map(({ provider }) => provider)).toEqual(providers)
  })
})
