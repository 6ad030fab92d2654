/** What a server on standard streams lets through to stdout: MCP, and nothing else, whoever prints. */
import { afterEach, describe, expect, it } from "vitest"
import { type Json, modernRequest } from "../support/wire.js"
import { type Child, fixture, startNode } from "./stdio/child.js"

const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()))
})

function start(args: readonly string[]): Child {
  const child = startNode(args)
  children.push(child)
  return child
}

const callPrint = modernRequest(1, "tools/call", { name: "print" })
const printed = ["a line from console.log", "a line from console.info", "text without a line break bytes", "forged"]
const imported = ["a banner at import time", "[noisy] loaded"]

function isMcp(line: string): boolean {
  return (JSON.parse(line) as Json)["jsonrpc"] === "2.0"
}

describe("what handlers print", () => {
  it.each(["server.js", "guarded.js"])("goes to stderr and not to stdout (%s)", async (name) => {
    const child = start([fixture(name)])
    const answer = await child.request(callPrint)
    expect(answer["result"]).toMatchObject({ content: [{ type: "text", text: "printed" }] })
    child.end()
    await child.ended
    expect(child.lines).toHaveLength(1)
    for (const text of printed) expect(child.stderr).toContain(text)
  })

  it("cannot end stdout", async () => {
    const child = start([fixture("server.js")])
    const answer = await child.request(modernRequest(1, "tools/call", { name: "end" }))
    expect(answer["result"]).toMatchObject({ content: [{ type: "text", text: "still here" }] })
    await child.request(modernRequest(2, "tools/call", { name: "echo", arguments: { text: "again" } }))
    child.end()
    await child.ended
    expect(child.lines).toHaveLength(2)
    expect(child.stderr).toContain("a farewell from a library")
  })

  it("does no harm when nobody reads stderr", async () => {
    const child = start([fixture("server.js")])
    await child.request(modernRequest(1, "tools/call", { name: "echo", arguments: { text: "up" } }))
    child.process.stderr.destroy()
    for (const id of [2, 3, 4]) await child.request(modernRequest(id, "tools/call", { name: "print" }))
    child.end()
    expect(await child.ended).toEqual({ code: 0, signal: null })
    expect(child.lines).toHaveLength(4)
  })
})

describe("what modules print while they are imported", () => {
  it.each([
    ["the guard as the first import", [fixture("guarded.js")]],
    ["the guard by --import", ["--import", "conduit-mcp/stdio-guard", fixture("unguarded.js")]],
  ])("goes to stderr with %s", async (_, args) => {
    const child = start(args)
    await child.request(callPrint)
    child.end()
    await child.ended
    expect(child.lines).toHaveLength(1)
    for (const text of [...imported, ...printed]) expect(child.stderr).toContain(text)
  })

  it("reaches stdout without the guard, but only before the server runs", async () => {
    const child = start([fixture("unguarded.js")])
    await child.request(callPrint)
    child.end()
    await child.ended
    expect(child.lines.slice(0, 2)).toEqual(imported)
    expect(child.lines.slice(2).every(isMcp)).toBe(true)
    expect(child.lines).toHaveLength(3)
  })
})
