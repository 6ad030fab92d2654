/** How a server on standard streams goes down when it is asked to, while its client is still there. */
import { afterEach, describe, expect, it } from "vitest"
import { initializeRequest, legacyRequest, modernRequest } from "../support/wire.js"
import { type Child, fixture, startNode } from "./stdio/child.js"

const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()))
})

function start(env: Record<string, string> = {}): Child {
  const child = startNode([fixture("drain-server.js")], env)
  children.push(child)
  return child
}

const DONE = { code: 0, signal: null }
const draining = { error: { code: -32603, data: { reason: "draining" } } }
const wait = modernRequest("w", "tools/call", { name: "wait" })

// Windows ends a process at once: it has no signal that a process could answer.
describe.skipIf(process.platform === "win32")("on SIGTERM", () => {
  it("what runs is answered, what is new is refused, and answers of the client still arrive", async () => {
    const child = start()
    await child.request(initializeRequest(0, "2025-11-25", { elicitation: {} }))
    await child.send(legacyRequest(7, "tools/call", { name: "ask" }))
    const question = await child.next(({ method }) => method === "elicitation/create")
    await child.send(wait)
    await child.says("wait: started")
    child.process.kill("SIGTERM")
    let id = 100
    for (let reply = {}; !("error" in reply); id++) reply = await child.request(legacyRequest(id, "ping"))
    expect(await child.request(legacyRequest(50, "ping"))).toMatchObject(draining)
    await child.send({ jsonrpc: "2.0", id: question["id"], result: { action: "accept", content: { name: "Ada" } } })
    expect(await child.next((message) => message["id"] === 7)).toMatchObject({ result: { content: [{ text: "Ada" }] } })
    expect(await child.next((message) => message["id"] === "w")).toMatchObject({
      result: { content: [{ text: "waited" }] },
    })
    expect(await child.ended).toEqual(DONE)
    expect(child.stderr).toContain('down: {"cut":0}')
  })

  it("a stream of changes ends with its result and then with its cancellation", async () => {
    const child = start()
    await child.send(modernRequest("l", "subscriptions/listen", { notifications: { toolsListChanged: true } }))
    await child.next(({ method }) => method === "notifications/subscriptions/acknowledged")
    child.process.kill("SIGTERM")
    expect(await child.ended).toEqual(DONE)
    const messages = child.lines.map((line) => JSON.parse(line))
    expect(messages.slice(-2)).toMatchObject([
      { id: "l", result: {} },
      { method: "notifications/cancelled", params: { requestId: "l" } },
    ])
  })

  it("what takes too long is aborted and answered with an error", async () => {
    const child = start({ DRAIN_MS: "100" })
    await child.send(wait)
    await child.says("wait: started")
    child.process.kill("SIGTERM")
    expect(await child.next((message) => message["id"] === "w")).toMatchObject(draining)
    expect(await child.ended).toEqual(DONE)
    expect(child.stderr).toContain("wait: aborted")
    expect(child.stderr).toContain('down: {"cut":1}')
  })
})
