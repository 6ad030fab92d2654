/** Bodies that do not arrive in time, at every HTTP door. */
import { EventEmitter } from "node:events"
import type { IncomingMessage } from "node:http"
import { createServer, tool } from "conduit-mcp"
import type { HttpOptions } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import type { Fault } from "../../src/core/error/fault.js"
import { resolveLimits } from "../../src/core/limits.js"
import { createDeadlines } from "../../src/store/deadlines.js"
import { readBody } from "../../src/transport/http/node-body.js"
import { createManualClock } from "../support/clock.js"
import { doors, type OpenDoor } from "../support/doors.js"
import { modernHeaders, modernRequest } from "../support/wire.js"

const server = createServer({ name: "bodies", version: "1.0.0", tools: [tool("hello", {}, () => "hello")] })
const hello = modernRequest(1, "tools/call", { name: "hello" })
const text = JSON.stringify(hello)
const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  ...modernHeaders(hello),
}

const open: OpenDoor[] = []
afterEach(async () => {
  for (const door of open.splice(0)) await door.close()
})

describe.each(doors)("at the door of %s", (_name, openDoor) => {
  async function start(options: HttpOptions = {}) {
    const clock = createManualClock()
    const door = await openDoor(server, { clock, limits: { bodyTimeoutMs: 5_000 }, ...options })
    open.push(door)
    return { clock, door }
  }

  const until = async (holds: () => boolean): Promise<void> => {
    while (!holds()) await new Promise(setImmediate)
  }

  it.each<[what: string, first: string, length: Record<string, string>]>([
    ["stops after its first piece", text.slice(0, 20), {}],
    ["stops one byte before its end", text.slice(0, -1), { "content-length": String(text.length) }],
    ["never begins", "", {}],
    ["never begins although its length was announced", "", { "content-length": String(text.length) }],
  ])("a body that %s is refused with 408", async (_what, first, length) => {
    const { clock, door } = await start()
    const upload = door.upload({ ...headers, ...length })
    if (first !== "") upload.write(first)
    await until(() => clock.waiting > 0)
    clock.advance(4_999)
    clock.advance(1)
    const reply = await upload.reply
    expect(reply.status).toBe(408)
    expect(reply.headers["content-type"]).toBe("application/json")
    expect(reply.json).toMatchObject({ jsonrpc: "2.0", error: { code: -32600, data: { reason: "body_timeout" } } })
    expect(String((reply.json["error"] as { message: string }).message)).toContain("limits.bodyTimeoutMs")
  })

  it("a body that comes byte by byte has no more time than any other", async () => {
    const { clock, door } = await start()
    const upload = door.upload(headers)
    upload.write(text.charAt(0))
    await until(() => clock.waiting > 0)
    for (const byte of text.slice(1, 6)) {
      upload.write(byte)
      clock.advance(1_000)
    }
    expect((await upload.reply).status).toBe(408)
  })

  it("a body in pieces is served when it is there in time, and no deadline is left", async () => {
    const { clock, door } = await start()
    const upload = door.upload(headers)
    upload.write(text.slice(0, 10))
    await until(() => clock.waiting > 0)
    clock.advance(4_000)
    upload.write(text.slice(10))
    upload.end()
    expect((await upload.reply).json).toMatchObject({ id: 1, result: { content: [{ text: "hello" }] } })
    clock.advance(5_000)
    expect(clock.waiting).toBe(0)
  })

  it("a connection that breaks off in the middle leaves nothing behind", async () => {
    const { clock, door } = await start()
    const upload = door.upload(headers)
    upload.write(text.slice(0, 10))
    await until(() => clock.waiting > 0)
    upload.abort()
    await upload.reply.catch(() => {})
    expect((await door.post(hello)).status).toBe(200)
    clock.advance(5_000)
    expect(clock.waiting).toBe(0)
  })
})

describe("a body on node:http", () => {
  function arrive(maxBodyBytes = 100) {
    const clock = createManualClock()
    const request = new EventEmitter()
    const bodies = createDeadlines(clock)
    const heard: (Uint8Array | Fault)[] = []
    const limits = resolveLimits({ bodyTimeoutMs: 5_000, maxBodyBytes })
    readBody(request as IncomingMessage, { limits, bodies, clock }, (body) => heard.push(body))
    return { clock, request, bodies, heard }
  }

  it("is let go of as soon as it is there, too large, too slow or broken off, and heard of once at most", () => {
    const whole = arrive()
    whole.request.emit("data", Buffer.from("ab"))
    whole.request.emit("data", Buffer.from("c"))
    expect(whole.bodies.size).toBe(1)
    whole.request.emit("end")
    expect(whole.heard.map(String)).toEqual(["abc"])

    const large = arrive(2)
    large.request.emit("data", Buffer.from("abc"))
    large.request.emit("data", Buffer.from("abc"))
    large.request.emit("end")
    expect(large.heard).toMatchObject([{ status: 413 }])

    const slow = arrive()
    slow.clock.advance(5_000)
    slow.request.emit("end")
    expect(slow.heard).toMatchObject([{ status: 408 }])

    const broken = arrive()
    broken.request.emit("data", Buffer.from("ab"))
    broken.request.emit("error", new Error("aborted"))
    expect(broken.heard).toEqual([])

    for (const { bodies } of [whole, large, slow, broken]) expect(bodies.size).toBe(0)
  })
})
