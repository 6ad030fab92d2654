/** How a server on standard streams ends: when its input does, when nobody reads, and as a filter of a shell. */
import { spawnSync } from "node:child_process"
import { afterEach, describe, expect, it } from "vitest"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"
import { type Child, fixture, startNode } from "./stdio/child.js"

const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()))
})

function start(): Child {
  const child = startNode([fixture("server.js")])
  children.push(child)
  return child
}

const call = (id: number, name: string, args: Json = {}): Json =>
  modernRequest(id, "tools/call", { name, arguments: args })
const DONE = { code: 0, signal: null }

describe("when the input ends", () => {
  it("exits with 0 when nothing runs", async () => {
    const child = start()
    await child.request(call(1, "echo", { text: "up" }))
    child.end()
    expect(await child.ended).toEqual(DONE)
  })

  it("exits with 0 when nothing was ever sent", async () => {
    const child = start()
    child.end()
    expect(await child.ended).toEqual(DONE)
    expect(child.lines).toEqual([])
  })

  it("serves a last line that has no line break", async () => {
    const child = start()
    await child.write(JSON.stringify(call(1, "echo", { text: "last" })))
    child.end()
    expect(await child.next((message) => message["id"] === 1)).toHaveProperty("result")
    expect(await child.ended).toEqual(DONE)
  })

  it("still writes the answers that are finished soon", async () => {
    const child = start()
    for (const id of [1, 2, 3]) await child.send(call(id, "wait", { ms: 20 * id }))
    child.end()
    expect(await child.ended).toEqual(DONE)
    expect(child.lines.map((line) => (JSON.parse(line) as Json)["id"])).toEqual([1, 2, 3])
  })

  it("still writes a long answer to its last byte", async () => {
    const child = start()
    child.process.stdout.pause()
    await child.send(call(1, "big", { bytes: 4 << 20 }))
    child.end()
    child.process.stdout.resume()
    expect(await child.ended).toEqual(DONE)
    expect(JSON.parse(child.lines[0] ?? "")).toHaveProperty("result")
  })

  it.each(["hang", "idle"])("aborts a handler that goes on, and exits soon with 0 (%s)", async (name) => {
    const child = start()
    await child.send(call(1, name))
    await child.says(`${name}: started`)
    const sinceMs = performance.now()
    child.end()
    expect(await child.ended).toEqual(DONE)
    expect(performance.now() - sinceMs).toBeLessThan(5_000)
    expect(child.stderr).toContain(`${name}: aborted`)
    expect(child.lines.map((line) => JSON.parse(line))).toMatchObject([
      { id: 1, error: { data: { reason: "draining" } } },
    ])
  })

  it("aborts a legacy call too", async () => {
    const child = start()
    await child.request(initializeRequest(1))
    await child.send(legacyRequest(2, "tools/call", { name: "hang" }))
    await child.says("hang: started")
    child.end()
    expect(await child.ended).toEqual(DONE)
    expect(child.stderr).toContain("hang: aborted")
  })
})

describe("when nobody reads stdout any more", () => {
  it("exits at the next answer instead of crashing or living on", async () => {
    const child = start()
    await child.request(call(1, "echo", { text: "up" }))
    child.process.stdout.destroy()
    await child.send(call(2, "echo", { text: "into nothing" }))
    expect(await child.ended).toEqual(DONE)
    expect(child.stderr).toBe("")
  })

  it("aborts what runs", async () => {
    const child = start()
    await child.send(call(1, "hang"))
    await child.says("hang: started")
    child.process.stdout.destroy()
    await child.send(call(2, "echo", { text: "into nothing" }))
    expect(await child.ended).toEqual(DONE)
    expect(child.stderr).toContain("hang: aborted")
  })
})

describe("in a shell", () => {
  const script = fixture("server.js")
  const lines = [initializeRequest(1), legacyRequest(2, "tools/call", { name: "echo", arguments: { text: "hi" } })]
  const input = lines.map((line) => `${JSON.stringify(line)}\n`).join("")

  it.each([
    ["printf | node", `printf '%s' "$INPUT" | "$NODE" "$SCRIPT"`],
    ["a here document", `"$NODE" "$SCRIPT" <<END\n$INPUT\nEND`],
    ["printf | node | cat", `printf '%s' "$INPUT" | "$NODE" "$SCRIPT" | cat`],
  ])("answers and ends by itself: %s", (_, command) => {
    const env = { ...process.env, INPUT: input, NODE: process.execPath, SCRIPT: script }
    const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { env, encoding: "utf8", timeout: 10_000 })
    expect({ status, stderr }).toEqual({ status: 0, stderr: "" })
    const answers = stdout
      .trimEnd()
      .split("\n")
      .map((line) => JSON.parse(line) as Json)
    expect(answers).toMatchObject([
      { id: 1, result: { protocolVersion: "2025-11-25" } },
      { id: 2, result: { content: [{ text: "hi" }] } },
    ])
  })

  it("aborts what goes on after the end of the input", () => {
    const command = `printf '%s' "$INPUT" | "$NODE" "$SCRIPT"`
    const env = { ...process.env, INPUT: JSON.stringify(call(1, "idle")), NODE: process.execPath, SCRIPT: script }
    const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { env, encoding: "utf8", timeout: 10_000 })
    expect({ status, stderr }).toEqual({ status: 0, stderr: "idle: started\nidle: aborted\n" })
    expect(JSON.parse(stdout)).toMatchObject({ id: 1, error: { data: { reason: "draining" } } })
  })

  it("ends without output when its input is empty", () => {
    const command = `"$NODE" "$SCRIPT" < /dev/null`
    const env = { ...process.env, NODE: process.execPath, SCRIPT: script }
    const { status, stdout, stderr } = spawnSync("sh", ["-c", command], { env, encoding: "utf8", timeout: 10_000 })
    expect({ status, stdout, stderr }).toEqual({ status: 0, stdout: "", stderr: "" })
  })
})
