/** The story of standard streams: nothing but MCP on stdout, whatever prints. */
import { fileURLToPath } from "node:url"
import { afterEach, describe, expect, it } from "vitest"
import { type Child, startScript } from "../support/child.js"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"

const path = fileURLToPath(new URL("../../examples/dist/stdio/server.js", import.meta.url))

describe("a server on standard streams", () => {
  let child: Child | undefined
  afterEach(() => child?.process.kill("SIGKILL"))

  it("answers both eras, writes nothing else to stdout, and ends with 0 when the input ends", async () => {
    child = startScript(path)
    const call = { name: "sum", arguments: { a: 2, b: 3 } }
    for (const message of [
      modernRequest("m", "tools/call", call),
      initializeRequest("i"),
      legacyRequest("l", "tools/call", call),
    ]) {
      child.process.stdin.write(`${JSON.stringify(message)}\n`)
    }
    child.process.stdin.end()
    expect(await child.ended).toBe(0)
    const answers = child.printed.stdout
      .trim()
      .split("\n")
      .map((line) => JSON.parse(line) as Json)
    expect(answers.map(({ id }) => id).sort()).toEqual(["i", "l", "m"])
    for (const id of ["m", "l"]) {
      expect(answers.find((answer) => answer["id"] === id)).toMatchObject({ result: { content: [{ text: "5" }] } })
    }
    expect(child.printed.stderr).toContain("noise: loaded")
    expect(child.printed.stderr).toContain("noise: adding 2 and 3")
  })
})
