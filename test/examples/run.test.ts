/** The runner of the stories. */
import { readdirSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { startScript } from "../support/child.js"
import { postModern } from "../support/http.js"
import { modernRequest } from "../support/wire.js"

const folder = fileURLToPath(new URL("../../examples", import.meta.url))
const script = `${folder}/dist/run.js`

describe("the runner of the stories", () => {
  it("serves a story by its name", async () => {
    const own = startScript(script, { PORT: "0" }, ["tools"])
    const url = /http:\S+/.exec(await own.printing(/\/mcp/))?.[0] ?? ""
    const reply = await postModern(url, modernRequest(1, "tools/call", { name: "greet", arguments: { name: "you" } }))
    expect(reply.json).toMatchObject({ result: { content: [{ text: "Hello you." }] } })
    own.process.kill("SIGTERM")
    expect(await own.ended).toBe(0)
  })

  it("says which stories there are", async () => {
    const own = startScript(script, { PORT: "0" })
    expect(await own.ended).toBe(2)
    const standalone = ["dist", "fetch", "mount", "node_modules", "stdio", "weather"]
    const folders = readdirSync(folder, { withFileTypes: true }).filter((entry) => entry.isDirectory())
    for (const { name } of folders) {
      if (!standalone.includes(name)) expect(own.printed.stderr).toContain(name)
    }
  })
})
