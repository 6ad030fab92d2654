/** A server on a platform that generates no code from strings, as Workers do. */
import { spawnSync } from "node:child_process"
import { describe, expect, it } from "vitest"

const script = `
  import { createServer, tool } from "conduit-mcp"
  import { jsonSchema } from "conduit-mcp/schema"
  import { linkMemory } from "conduit-mcp/testing"

  const input = jsonSchema({ type: "object", properties: { city: { type: "string", pattern: "^[A-Z]" } }, required: ["city"] })
  const output = jsonSchema({ type: "object", properties: { celsius: { type: "number" } }, required: ["celsius"] })
  const forecast = tool("forecast", { input, output }, ({ city }) => ({ celsius: city === "Oslo" ? 21 : "unknown" }))
  const server = createServer({ name: "test", version: "1.0.0", tools: [forecast], logger: { error() {}, warn() {}, info() {}, debug() {} } })
  const link = linkMemory(server)
  const prefix = "io.modelcontextprotocol/"
  const _meta = { [prefix + "protocolVersion"]: "2026-07-28", [prefix + "clientCapabilities"]: {} }
  link.onMessage((text) => console.log(text))
  const cities = ["Oslo", "oslo", "Bergen"]
  for (const [id, city] of cities.entries()) {
    link.send(JSON.stringify({ jsonrpc: "2.0", id, method: "tools/call", params: { name: "forecast", arguments: { city }, _meta } }))
  }
`

describe("a server that may not generate code", () => {
  it("checks arguments and results all the same", () => {
    const flags = ["--disallow-code-generation-from-strings", "--input-type=module", "--eval", script]
    const { stdout, stderr } = spawnSync(process.execPath, flags, { encoding: "utf8" })
    expect(stderr).toBe("")
    const results = stdout
      .trim()
      .split("\n")
      .map((line) => (JSON.parse(line) as { result: unknown }).result)
    expect(results).toMatchObject([{ structuredContent: { celsius: 21 } }, { isError: true }, { isError: true }])
  })
})
