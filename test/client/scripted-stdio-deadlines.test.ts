/** Deadlines, progress and giving up on a pipe: every line that the process gets of it, and what reaches nobody. */
import { getEventListeners } from "node:events"
import { describe, expect, it } from "vitest"
import { failure, failureOf, settled, until } from "../support/failure.js"
import {
  cancelLine,
  DONE,
  LEGACY,
  legacyLine,
  lines,
  META,
  MODERN,
  modernLine,
  open,
  result,
  type Script,
  type Step,
  start,
  text,
} from "./scripted-stdio/harness.js"

const slow = { name: "slow", arguments: {} }
const progress = (token: unknown, done: unknown, more: object = {}): string =>
  text({ method: "notifications/progress", params: { progressToken: token, progress: done, ...more } })
/** Progress with the token of the request that came. */
const told = (done: number, more: object = {}): Step => [
  { write: `${progress("$TOKEN", done, more).replace('"$TOKEN"', "$TOKEN")}\n` },
]

const eras: [era: string, script: Script, id: number, line: (id: number) => string, meta: object][] = [
  ["modern", MODERN, 2, (id) => modernLine(id, "tools/call", slow), META],
  ["legacy", LEGACY, 3, (id) => legacyLine(id, "tools/call", slow), {}],
]

describe.each(eras)("in the %s era", (_era, script, id, line, own) => {
  const opening = id === 2 ? 1 : 3

  it("a call that is not answered in time is called back by its id, and nothing more is sent for it", async () => {
    const peer = await start({
      ...script,
      "tools/list": [[...lines(text({ id, result: DONE })), ...result({ tools: [] })]],
    })
    const { client, clock, noises } = await open(peer)
    const call = client.callTool("slow", {}, { timeoutMs: 5_000 })
    await peer.heard(opening + 1)
    clock.advance(4_999)
    await settled()
    expect(peer.lines).toHaveLength(opening + 1)
    clock.advance(1)
    expect(await failureOf(call)).toEqual(
      failure({
        kind: "timeout",
        reason: "request_timeout",
        retryable: true,
        message:
          'tools/call "slow" was not answered within 5000 ms; timeoutMs of the call or the client says how long it may take',
        data: { timeoutMs: 5_000, elapsedMs: 5_000 },
      }),
    )
    expect((await client.listTools()).tools).toEqual([])
    expect(peer.lines.slice(opening, opening + 2)).toEqual([line(id), cancelLine(id)])
    expect(peer.log.slice(opening)).toEqual([`tools/call ${id}`, `cancelled ${id}`, `tools/list ${id + 1}`])
    expect(noises).toEqual([])
  })

  it("fifty of them are called back each by its own, and their late answers are nobody's", async () => {
    const ids = Array.from({ length: 50 }, (_, n) => id + n)
    const late = lines(...ids.map((one) => text({ id: one, result: DONE })))
    const peer = await start({ ...script, "tools/list": [[...late, ...result({ tools: [] })]] })
    const { client, clock, noises } = await open(peer)
    const calls = ids.map(() => failureOf(client.callTool("slow", {}, { timeoutMs: 10 })))
    await peer.heard(opening + 50)
    clock.advance(10)
    for (const { kind } of await Promise.all(calls)) expect(kind).toBe("timeout")
    await client.listTools()
    expect(peer.lines.slice(opening)).toEqual([
      ...ids.map((one) => line(one)),
      ...ids.map(cancelLine),
      expect.stringContaining('"tools/list"'),
    ])
    expect(noises).toEqual([])
  })

  it("an abort is told as one, with the caller's reason, though the deadline passes in the same moment", async () => {
    const peer = await start(script)
    const { client, clock } = await open(peer)
    const controller = new AbortController()
    const reason = new DOMException("the user left", "AbortError")
    const call = client.callTool("slow", {}, { signal: controller.signal, timeoutMs: 10 })
    await peer.heard(opening + 1)
    controller.abort(reason)
    clock.advance(10)
    expect(await failureOf(call)).toEqual(
      failure({ kind: "cancelled", reason: "aborted", message: "the call was aborted by its caller", cause: reason }),
    )
    await peer.heard(opening + 2)
    await client.close()
    expect(peer.lines.slice(opening)).toEqual([line(id), cancelLine(id)])
  })

  it("progress is asked for with the request's id, beside the caller's own _meta, and told until the answer", async () => {
    const step = [...told(0.5), ...told(1, { total: 2, message: "half" }), ...result(DONE), ...told(2)]
    const peer = await start({ ...script, "tools/call": [step], "tools/list": [result({ tools: [] })] })
    const { client, noises } = await open(peer)
    const heard: unknown[] = []
    const meta = { "com.example/trace": "t-1" }
    const call = client.callTool("slow", {}, { meta, onProgress: (one) => heard.push(one) })
    expect((await call).content).toEqual(DONE.content)
    await client.listTools()
    expect(heard).toEqual([{ progress: 0.5 }, { progress: 1, total: 2, message: "half" }])
    const params = { ...slow, _meta: { ...meta, progressToken: id, ...own } }
    expect(JSON.parse(peer.lines[opening] ?? "")).toEqual({ jsonrpc: "2.0", id, method: "tools/call", params })
    expect(noises).toEqual([])
  })

  it("progress in one piece with the answer is told before it, behind it dropped without a word", async () => {
    const piece = `${progress("$TOKEN", 1)}\n${text({ id: "$ID", result: DONE })}\n${progress("$TOKEN", 2)}\n`
    const peer = await start({ ...script, "tools/call": [[{ write: piece.replaceAll('"$TOKEN"', "$TOKEN") }]] })
    const { client, noises } = await open(peer)
    const order: unknown[] = []
    await client
      .callTool("slow", {}, { onProgress: (one) => order.push(one.progress) })
      .then(() => order.push("answer"))
    await settled()
    expect(order).toEqual([1, "answer"])
    expect(noises).toEqual([])
  })

  it.each<[what: string, token: unknown, done: unknown, text: string]>([
    ["with a token that was never given", 99, 1, "progress of nothing that was asked"],
    ["with the text of a token", String(id), 1, "progress of nothing that was asked"],
    ["with no token", undefined, 1, "progress without a token or a number"],
    ["with a token of another kind", { n: 1 }, 1, "progress without a token or a number"],
    ["that is no number", id, "half", "progress without a token or a number"],
  ])("progress %s is told as what it is, and is nobody's", async (_, token, done, noise) => {
    const peer = await start({ ...script, "tools/call": [[...lines(progress(token, done)), ...result(DONE)]] })
    const { client, noises } = await open(peer)
    const heard: unknown[] = []
    await client.callTool("slow", {}, { onProgress: (one) => heard.push(one) })
    expect(heard).toEqual([])
    expect(noises).toEqual([{ from: "output", text: noise }])
  })

  it("resetTimeoutOnProgress alone asks for progress, which moves the deadline", async () => {
    const peer = await start({
      ...script,
      "tools/call": [[]],
      "tools/list": [[...lines(progress(id, 1)), ...result({ tools: [] })]],
    })
    const { client, clock } = await open(peer)
    const call = client.callTool("slow", {}, { timeoutMs: 100, maxTotalTimeoutMs: 180, resetTimeoutOnProgress: true })
    await peer.heard(opening + 1)
    expect(peer.lines[opening]).toContain(`"progressToken":${id}`)
    clock.advance(90)
    await client.listTools({ timeoutMs: 1_000 })
    clock.advance(89)
    await settled()
    expect(peer.log.slice(opening)).toEqual([`tools/call ${id}`, `tools/list ${id + 1}`])
    clock.advance(1)
    expect(await failureOf(call)).toMatchObject({ kind: "timeout", reason: "total_timeout" })
    await peer.heard(opening + 3)
    expect(peer.lines.at(-1)).toBe(cancelLine(id))
  })

  it("a thousand calls on one signal leave no listener on it, and one while they are open", async () => {
    const peer = await start({ ...script, "tools/call": [result(DONE)] })
    const { client } = await open(peer)
    const { signal } = new AbortController()
    for (let batch = 0; batch < 10; batch++) {
      const calls = Array.from({ length: 100 }, () => client.callTool("slow", {}, { signal }))
      expect(getEventListeners(signal, "abort")).toHaveLength(1)
      await Promise.all(calls)
    }
    expect(getEventListeners(signal, "abort")).toHaveLength(0)
    expect(peer.lines).toHaveLength(opening + 1_000)
  })
})

describe("a question on a pipe", () => {
  const question = text({ id: "q", method: "roots/list" })

  it("belongs to every call that is in flight: none of their clocks runs while the application answers", async () => {
    const peer = await start({ ...LEGACY, "tools/call": [[], lines(question)] })
    const answers: ((roots: []) => void)[] = []
    const roots = () => new Promise<[]>((resolve) => answers.push(resolve))
    const { client, clock } = await open(peer, { handlers: { roots } })
    const calls = [100, 200].map((timeoutMs) => failureOf(client.callTool("slow", {}, { timeoutMs })))
    await peer.heard(5)
    await until(() => answers.length === 1)
    clock.advance(100_000)
    answers[0]?.([])
    await peer.heard(6)
    clock.advance(99)
    await settled()
    expect(peer.log.slice(3)).toEqual(["tools/call 3", "tools/call 4", 'result "q"'])
    clock.advance(1)
    await calls[0]
    clock.advance(100)
    await calls[1]
    await peer.heard(8)
    expect(peer.log.slice(6)).toEqual(["cancelled 3", "cancelled 4"])
  })

  it("is let go of when the last of them is given up, with an error that says nothing of why", async () => {
    const peer = await start({ ...LEGACY, "tools/call": [lines(question)] })
    const reasons: unknown[] = []
    let askedOnce = (): void => {}
    const asked = new Promise<void>((resolve) => {
      askedOnce = resolve
    })
    const { client } = await open(peer, {
      handlers: {
        roots: ({ signal }) => {
          signal.addEventListener("abort", () => reasons.push((signal.reason as Error).message))
          askedOnce()
          return new Promise(() => {})
        },
      },
    })
    const controller = new AbortController()
    const call = failureOf(client.callTool("slow", {}, { signal: controller.signal }))
    await asked
    controller.abort()
    await call
    await peer.heard(6)
    expect(reasons).toEqual(["the call was aborted by its caller"])
    expect(peer.lines.slice(4)).toEqual([
      cancelLine(3),
      text({ id: "q", error: { code: -32603, message: "Internal error: the question is no longer open" } }),
    ])
  })
})
