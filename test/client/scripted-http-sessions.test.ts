/** Legacy sessions over HTTP: where the id is taken from, what it goes with, and how they end. */
import { describe, expect, it } from "vitest"
import { until } from "../support/failure.js"
import {
  type Answer,
  error,
  event,
  type Heard,
  type HttpPeer,
  initialized,
  plain,
  result,
  type Script,
  silence,
  stream,
} from "../support/http-peer.js"
import { dial, expectNothingLeft, open, start } from "./scripted-http/harness.js"

const called = result({ resultType: "complete", content: [] })
const legacy = (session?: string): Script => ({
  "server/discover": plain(404),
  initialize: initialized("2025-11-25", session),
  GET: plain(405),
})
const lastOf = (peer: HttpPeer): Heard["headers"] => peer.heard.at(-1)?.headers ?? {}
const sentOf = (peer: HttpPeer, name: string): readonly unknown[] => peer.heard.map(({ headers }) => headers[name])

describe("the session", () => {
  const session = (id: string): Record<string, string> => ({ "mcp-session-id": id })

  it("is taken from the result of the handshake alone, goes with all that follows, and is ended", async () => {
    const peer = await start({
      "server/discover": plain(404, "", session("probe")),
      initialize: [plain(503, "", { ...session("busy"), "retry-after": "0" }), initialized("2025-11-25", "s-1")],
      "notifications/initialized": plain(202, "", session("noted")),
      "tools/call": result({ content: [] }, session("other")),
      GET: plain(405, "", session("standby")),
    })
    const { opening, clock } = dial(peer)
    await until(() => clock.dueInMs.includes(0))
    clock.advance(0)
    const client = await opening
    await until(() => peer.heard.length === 5)
    await client.callTool("t")
    await client.callTool("t")
    await client.close()
    await expectNothingLeft(peer, clock)
    expect(peer.heard.map(({ headers }, index) => [peer.log[index], headers["mcp-session-id"]])).toEqual([
      ["POST server/discover 1", undefined],
      ["POST initialize 2", undefined],
      ["POST initialize 3", undefined],
      ["POST notifications/initialized", "s-1"],
      ["GET", "s-1"],
      ["POST tools/call 4", "s-1"],
      ["POST tools/call 5", "s-1"],
      ["DELETE", "s-1"],
    ])
    expect(sentOf(peer, "mcp-protocol-version").slice(3)).toEqual(Array(5).fill("2025-11-25"))
  })

  it.each<[what: string, answer: Answer]>([
    ["no id", initialized()],
    ["an id that cannot be sent back", initialized("2025-11-25", "a b")],
    ["an empty id", initialized("2025-11-25", "")],
  ])("with %s is none, and nothing is to be ended", async (_what, answer) => {
    const peer = await start({ ...legacy(), initialize: answer, "tools/call": called })
    const { client } = await open(peer, { standby: false })
    await client.callTool("t")
    await client.close()
    await peer.idle()
    expect(sentOf(peer, "mcp-session-id")).toEqual(Array(4).fill(undefined))
    expect(peer.log.at(-1)).toBe("POST tools/call 3")
  })

  it("of a handshake that is refused is none", async () => {
    const refused = error(200, -32603, undefined, session("s-0"))
    const peer = await start({ ...legacy(), initialize: refused })
    const { opening, clock } = dial(peer)
    await expect(opening).rejects.toMatchObject({ kind: "protocol", code: -32603 })
    await expectNothingLeft(peer, clock)
    expect(peer.log).toEqual(["POST server/discover 1", "POST initialize 2"])
  })

  it("of a version that is not spoken here is ended", async () => {
    const peer = await start({ ...legacy(), initialize: initialized("2023-01-01", "s-1") })
    const { opening, clock } = dial(peer)
    await expect(opening).rejects.toMatchObject({ kind: "protocol", reason: "no_common_version" })
    await expectNothingLeft(peer, clock)
    expect(peer.log).toEqual(["POST server/discover 1", "POST initialize 2", "DELETE"])
    expect(lastOf(peer)["mcp-session-id"]).toBe("s-1")
  })

  it.each<[what: string, answer: Answer]>([
    ["200", plain(200)],
    ["404", plain(404)],
    ["405", plain(405, "no", { "content-type": "text/plain" })],
    ["500", plain(500)],
    ["a stream that never ends", stream(": hi\n\n", false)],
  ])("is over for the client, whatever comes to its end: %s", async (_what, answer) => {
    const peer = await start({ ...legacy("s-1"), DELETE: answer })
    const { client, clock } = await open(peer)
    await client.close()
    await client.close()
    await expectNothingLeft(peer, clock)
    expect(peer.log.filter((line) => line === "DELETE")).toHaveLength(1)
  })

  it("whose end is never answered is waited for two seconds", async () => {
    const peer = await start({ ...legacy("s-1"), DELETE: silence })
    const { client, clock } = await open(peer, { standby: false })
    const closing = client.close()
    await until(() => peer.log.at(-1) === "DELETE")
    clock.advance(2_000)
    await closing
    await expectNothingLeft(peer, clock)
  })

  it("goes with the answers to the server's questions", async () => {
    const ask = event({ jsonrpc: "2.0", id: 0, method: "ping" })
    const answer = event({ jsonrpc: "2.0", id: 3, result: { content: [] } })
    const peer = await start({
      ...legacy("s-1"),
      GET: stream(event({ jsonrpc: "2.0", id: "0", method: "ping" }), false),
      "tools/call": stream(ask + answer),
    })
    const { client } = await open(peer)
    await client.callTool("t")
    await until(() => peer.heard.length === 7)
    const answers = peer.heard.filter(({ message }) => message !== undefined && message.method === undefined)
    expect(answers.map(({ message, headers }) => [message, headers["mcp-session-id"]])).toEqual([
      [{ jsonrpc: "2.0", id: "0", result: {} }, "s-1"],
      [{ jsonrpc: "2.0", id: 0, result: {} }, "s-1"],
    ])
  })
})
