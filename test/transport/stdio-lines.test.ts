/** How a server on standard streams frames its input: lines of bytes, whatever their encoding, borders and length. */
import { afterEach, describe, expect, it } from "vitest"
import { type Json, modernRequest } from "../support/wire.js"
import { type Child, fixture, startNode } from "./stdio/child.js"

const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()))
})

function start(maxLineBytes?: number): Child {
  const child = startNode(
    [fixture("server.js")],
    maxLineBytes === undefined ? {} : { MAX_LINE_BYTES: String(maxLineBytes) },
  )
  children.push(child)
  return child
}

const echo = (id: number, text: string): Json => modernRequest(id, "tools/call", { name: "echo", arguments: { text } })
const echoed = (id: number, text: string): object => ({ id, result: { content: [{ type: "text", text }] } })
const byId =
  (id: number) =>
  (message: Json): boolean =>
    message["id"] === id
const withoutId = (message: Json): boolean => message["error"] !== undefined && !("id" in message)

describe("a line that is not a message", () => {
  it.each([
    ["a log line of a JSON logger", '{"level":30,"time":1,"msg":"listening"}', -32600],
    ["a JSON text that is no object", '"hello"', -32600],
    ["a batch", `[${JSON.stringify(echo(9, "batched"))}]`, -32600],
    ["text that is not JSON", "Server listening on port 3000", -32700],
    ["bytes that are not UTF-8", new Uint8Array([0x7b, 0x22, 0xff, 0x22, 0x7d]), -32700],
  ])("is refused without an id, and the next one is served: %s", async (_, line, code) => {
    const child = start()
    await child.write(line)
    await child.write("\n")
    expect(await child.next(withoutId)).toMatchObject({ jsonrpc: "2.0", error: { code } })
    expect(await child.request(echo(1, "next"))).toMatchObject(echoed(1, "next"))
    expect(child.lines).toHaveLength(2)
  })
})

describe("line breaks and encodings", () => {
  it("passes over empty lines", async () => {
    const child = start()
    await child.write(`\n\r\n\n${JSON.stringify(echo(1, "one"))}\n\r\n`)
    expect(await child.next(byId(1))).toMatchObject(echoed(1, "one"))
    expect(await child.request(echo(2, "two"))).toMatchObject(echoed(2, "two"))
    expect(child.lines).toHaveLength(2)
  })

  it("strips one byte order mark from any line", async () => {
    const child = start()
    await child.write(`\uFEFF${JSON.stringify(echo(1, "first"))}\n\uFEFF${JSON.stringify(echo(2, "later"))}\n`)
    expect(await child.next(byId(1))).toMatchObject(echoed(1, "first"))
    expect(await child.next(byId(2))).toMatchObject(echoed(2, "later"))
    expect(child.lines).toHaveLength(2)
  })

  it("takes CRLF for one line break when a chunk ends between its halves", async () => {
    const child = start()
    await child.write(`${JSON.stringify(echo(1, "one"))}\r\n${JSON.stringify(echo(2, "two"))}\r`)
    expect(await child.next(byId(1))).toMatchObject(echoed(1, "one"))
    await child.write(`\n${JSON.stringify(echo(3, "three"))}\r\n`)
    expect(await child.next(byId(2))).toMatchObject(echoed(2, "two"))
    expect(await child.next(byId(3))).toMatchObject(echoed(3, "three"))
    expect(child.lines).toHaveLength(3)
  })

  it("puts characters together that come one byte per write", async () => {
    const child = start()
    const text = "—☀😀 é ﷽"
    const line = new TextEncoder().encode(`${JSON.stringify(echo(1, text))}\n`)
    for (const byte of line) await child.write(new Uint8Array([byte]))
    expect(await child.next(byId(1))).toMatchObject(echoed(1, text))
  })

  it("writes characters beyond ASCII as UTF-8, and a line break within a text as an escape", async () => {
    const child = start()
    const text = "—☀😀\r\n\u2028\u2029"
    expect(await child.request(echo(1, text))).toMatchObject(echoed(1, text))
    expect(child.lines).toHaveLength(1)
  })
})

describe("long lines", () => {
  const maxLineBytes = 1_000
  const lineOf = (id: number, length: number): string => {
    const empty = JSON.stringify(echo(id, "")).length
    return JSON.stringify(echo(id, "x".repeat(length - empty)))
  }

  it("are served up to the cap, and refused alone beyond it", async () => {
    const child = start(maxLineBytes)
    const at = lineOf(1, maxLineBytes)
    const over = lineOf(2, maxLineBytes + 1)
    await child.write(`${at}\n${over}\n${JSON.stringify(echo(3, "next"))}\n`)
    expect(await child.next(byId(1))).toHaveProperty("result")
    const refused = await child.next(withoutId)
    expect(refused).toMatchObject({ error: { code: -32600, data: { reason: "line_too_long" } } })
    expect(JSON.stringify(refused)).toContain("limits.maxLineBytes")
    expect(await child.next(byId(3))).toMatchObject(echoed(3, "next"))
    expect(child.lines).toHaveLength(3)
  })

  it("are counted one by one, not together with others of their chunk", async () => {
    const child = start(maxLineBytes)
    const ids = Array.from({ length: 20 }, (_, index) => index + 1)
    await child.write(ids.map((id) => `${lineOf(id, 600)}\n`).join(""))
    for (const id of ids) expect(await child.next(byId(id))).toHaveProperty("result")
    expect(child.lines).toHaveLength(ids.length)
  })

  it("close the pipe once four caps have come without a line break", async () => {
    const child = start(maxLineBytes)
    await child.request(echo(1, "up"))
    await child.write("x".repeat(4 * maxLineBytes + 1))
    expect(await child.ended).toEqual({ code: 1, signal: null })
    expect(child.lines).toHaveLength(1)
    expect(child.stderr).toContain("no line break came")
  })

  it("of twelve million bytes leave whole", async () => {
    const child = start()
    const answer = await child.request(modernRequest(1, "tools/call", { name: "big", arguments: { bytes: 12 << 20 } }))
    expect(JSON.stringify(answer)).toHaveLength(child.lines[0]?.length ?? 0)
    expect(child.lines[0]?.length).toBeGreaterThan(12 << 20)
    expect(await child.request(echo(2, "next"))).toMatchObject(echoed(2, "next"))
  })
})
