/** How much one caller may have worked on at once, at every HTTP door. */
import { createServer, tool } from "conduit-mcp"
import type { HttpOptions } from "conduit-mcp/node"
import { afterEach, describe, expect, it } from "vitest"
import { doors, type OpenDoor } from "../support/doors.js"
import { modernRequest } from "../support/wire.js"

/** Ends the calls of `wait`, in the order in which they came; and who waits for one more to come. */
const ends: (() => void)[] = []
let hear: () => void = () => {}

const server = createServer({
  name: "caps",
  version: "1.0.0",
  tools: [
    tool("hello", {}, () => "hello"),
    tool("wait", {}, async () => {
      const ended = new Promise<void>((resolve) => ends.push(resolve))
      hear()
      await ended
      return "waited"
    }),
  ],
})

const open: OpenDoor[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) end()
  for (const door of open.splice(0)) await door.close()
})

const hello = modernRequest(1, "tools/call", { name: "hello" })
const wait = modernRequest(1, "tools/call", { name: "wait" })

describe.each(doors)("at the door of %s", (_name, openDoor) => {
  const auth: HttpOptions["auth"] = ({ header }) => {
    const [issuer, id = ""] = header("authorization")?.split("/") ?? []
    return issuer === undefined ? { id: "anybody" } : { issuer, id }
  }

  async function start(options: HttpOptions): Promise<OpenDoor> {
    const door = await openDoor(server, options)
    open.push(door)
    return door
  }

  /** Calls `wait` and resolves once it is worked on, to its reply. */
  async function begin(door: OpenDoor, authorization?: string) {
    const begun = new Promise<void>((resolve) => {
      hear = resolve
    })
    const reply = door.post(wait, authorization === undefined ? {} : { authorization })
    await begun
    return { reply }
  }

  it("a caller with too many calls is told to come again, and nobody else is", async () => {
    const door = await start({ auth, limits: { maxInFlightPerPeer: 2 } })
    const calls = [await begin(door, "a/ada"), await begin(door, "a/ada")]
    const refused = await door.post(hello, { authorization: "a/ada" })
    expect(refused.status).toBe(503)
    expect(refused.headers["retry-after"]).toBe("1")
    expect(refused.json).toMatchObject({ id: 1, error: { code: -32603, data: { reason: "overloaded" } } })
    for (const other of ["a/bob", "b/ada"]) {
      expect((await door.post(hello, { authorization: other })).status).toBe(200)
    }
    ends.shift()?.()
    expect((await calls[0]?.reply)?.status).toBe(200)
    expect((await door.post(hello, { authorization: "a/ada" })).status).toBe(200)
  })

  it("callers without a name share the total alone", async () => {
    const door = await start({ limits: { maxInFlightPerPeer: 1, maxInFlight: 3 } })
    for (let count = 0; count < 3; count++) await begin(door)
    expect((await door.post(hello)).status).toBe(503)
    ends.shift()?.()
    while ((await door.post(hello)).status === 503) await new Promise(setImmediate)
  })
})
