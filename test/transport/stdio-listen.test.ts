/** Streams of changes on standard streams, in both eras, from their beginning to the end of the process. */
import { afterEach, describe, expect, it } from "vitest"
import { initializeRequest, type Json, legacyRequest, modernRequest } from "../support/wire.js"
import { type Child, fixture, startNode } from "./stdio/child.js"

const SUBSCRIPTION = "io.modelcontextprotocol/subscriptionId"
const children: Child[] = []
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.stop()))
})

function start(): Child {
  const child = startNode([fixture("listening.js")])
  children.push(child)
  return child
}

const call = (id: number, name: string): Json => modernRequest(id, "tools/call", { name })
const listen = (id: number | string): Json =>
  modernRequest(id, "subscriptions/listen", { notifications: { toolsListChanged: true } })
const acknowledges =
  (id: number | string) =>
  ({ method, params }: Json): boolean =>
    method === "notifications/subscriptions/acknowledged" && ((params as Json)["_meta"] as Json)[SUBSCRIPTION] === id

/** What was written for one stream. */
function writtenFor({ lines }: Child, id: number | string): readonly Json[] {
  const messages = lines.map((line) => JSON.parse(line) as Json)
  return messages.filter(({ params, result }) => {
    const meta = ((params ?? result) as Json)["_meta"] as Json | undefined
    return meta?.[SUBSCRIPTION] === id
  })
}

describe("a listen stream on standard streams", () => {
  it("is acknowledged, told of changes, and cancelled by its client", async () => {
    const child = start()
    await child.send(listen(1), listen("1"))
    await Promise.all([child.next(acknowledges(1)), child.next(acknowledges("1"))])
    await child.send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 1 } })
    await child.request(call(2, "change"))
    await child.next(({ method }) => method === "notifications/tools/list_changed")
    await child.request(call(3, "change"))
    expect(writtenFor(child, 1)).toHaveLength(1)
    expect(writtenFor(child, "1")[1]).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
      params: { _meta: { [SUBSCRIPTION]: "1" } },
    })
  })

  it.each(["close", "drain"])(
    "ends with its result, then a cancellation, when the server stops by %s()",
    async (how) => {
      const child = start()
      await child.send(listen(7))
      await child.next(acknowledges(7))
      await child.send(call(8, how))
      await child.next(({ method }) => method === "notifications/cancelled")
      expect(writtenFor(child, 7).slice(1)).toMatchObject([
        { id: 7, result: { resultType: "complete", _meta: { [SUBSCRIPTION]: 7 } } },
        { method: "notifications/cancelled", params: { requestId: 7, _meta: { [SUBSCRIPTION]: 7 } } },
      ])
    },
  )

  it("does not keep the process from ending with its input", async () => {
    const child = start()
    await child.send(listen(1))
    await child.next(acknowledges(1))
    void child.end()
    expect(await child.ended).toEqual({ code: 0, signal: null })
  })
})

describe("a legacy client on standard streams", () => {
  it("is told of changes without asking", async () => {
    const child = start()
    await child.request(initializeRequest(0))
    await child.request(legacyRequest(1, "tools/call", { name: "change" }))
    expect(await child.next(({ method }) => method !== undefined)).toEqual({
      jsonrpc: "2.0",
      method: "notifications/tools/list_changed",
    })
  })
})
