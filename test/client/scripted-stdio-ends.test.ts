/** How a process ends, by itself or because its client does: what every call is told, and that nothing is left of either. */
import { fileURLToPath } from "node:url"
import { lookup } from "conduit-mcp/client"
import { afterAll, beforeAll, describe, expect, it } from "vitest"
import { startScript } from "../support/child.js"
import { failure, failureOf, settled, until } from "../support/failure.js"
import { isRunning } from "../transport/stdio/link.js"
import {
  cancelLine,
  DONE,
  dial,
  LEGACY,
  lines,
  MODERN,
  open,
  result,
  type Script,
  type Step,
  start,
  text,
} from "./scripted-stdio/harness.js"

const node = process.execPath
const calls = (step: Step): Script => ({ ...MODERN, "tools/call": [[], step] })

describe("a process that ends before it answers", () => {
  it.each<[how: string, step: Step, message: string, data: object]>([
    [
      "exits",
      [{ stderr: "cannot open the database\n" }, { exit: 3 }],
      `${node} exited with code 3; the last of its stderr:\n  cannot open the database`,
      { exitCode: 3, signal: null, stderr: ["cannot open the database"] },
    ],
    [
      "exits as if all were well",
      [{ exit: 0 }],
      `${node} exited with code 0`,
      { exitCode: 0, signal: null, stderr: [] },
    ],
    [
      "is killed",
      [{ kill: "SIGKILL" }],
      `${node} was ended by SIGKILL`,
      { exitCode: null, signal: "SIGKILL", stderr: [] },
    ],
    [
      "exits in the middle of its answer",
      [{ write: '{"jsonrpc":"2.0","id":$ID,"result":{"content":[' }, { exit: 1 }],
      `${node} exited with code 1`,
      { exitCode: 1, signal: null, stderr: [] },
    ],
  ])("%s: every call in flight is told how at once", async (_, step, message, data) => {
    const peer = await start(calls(step))
    const { client } = await open(peer, { reconnect: false })
    const both = [client.callTool("a"), client.callTool("b")].map(failureOf)
    const told = failure({ kind: "connection_down", reason: "process_exited", retryable: true, message, data })
    expect(await Promise.all(both)).toEqual([told, told])
    expect(client.status).toMatchObject({ state: "failed", era: "modern", reason: "process_exited" })
    expect(peer.log).toEqual(["server/discover 1", "tools/call 2", "tools/call 3"])
  })

  it("with an answer right before its end gives that answer", async () => {
    const peer = await start(calls([...result(DONE), { exit: 1 }]))
    const { client } = await open(peer, { reconnect: false })
    const lost = failureOf(client.callTool("a"))
    expect((await client.callTool("b")).content).toEqual(DONE.content)
    expect(await lost).toMatchObject({ kind: "connection_down", reason: "process_exited" })
  })

  it("with whose answers end its output while it goes on is ended, and all is told", async () => {
    const peer = await start(calls([...result(DONE), { close: 1 }]), { ignoreEnd: true, ignoreTerm: true })
    const { client, clock } = await open(peer, { reconnect: false, limits: { exitMs: 100 } })
    const lost = failureOf(client.callTool("a"))
    expect((await client.callTool("b")).content).toEqual(DONE.content)
    await until(() => clock.dueInMs.includes(500))
    clock.advance(500)
    expect(await lost).toMatchObject({
      kind: "connection_down",
      reason: "pipe_closed",
      message: `${node} closed its output`,
      retryable: true,
    })
    await peer.noted("end")
    clock.advance(100)
    await peer.noted("SIGTERM")
    clock.advance(100)
    await until(() => !peer.pids.some(isRunning))
  })

  it("lets go of the questions that the application has", async () => {
    const peer = await start({
      ...LEGACY,
      "tools/call": [[...lines(text({ id: 7, method: "roots/list" })), { exit: 1 }]],
    })
    const reasons: unknown[] = []
    const { client } = await open(peer, {
      reconnect: false,
      handlers: {
        roots: ({ signal }) =>
          new Promise((resolve) => {
            signal.addEventListener("abort", () => {
              reasons.push(signal.reason)
              resolve([])
            })
          }),
      },
    })
    expect(await failureOf(client.callTool("a"))).toMatchObject({ reason: "process_exited" })
    await settled()
    expect(reasons).toEqual([expect.objectContaining({ reason: "process_exited" })])
  })
})

describe("what a process says on stderr", () => {
  it("is told line by line as it comes, means nothing by itself, and goes to a function as it is", async () => {
    const said: string[] = []
    const peer = await start(calls(result(DONE)), { start: [{ stderr: "\u001b[31mERROR\u001b[0m: all is well\n" }] })
    const { client, noises } = await open(peer, {}, { stderr: (line) => said.push(line) })
    const [, second] = [failureOf(client.callTool("a")), client.callTool("b")]
    expect((await second).content).toEqual(DONE.content)
    await until(() => said.length > 0)
    expect(said).toEqual(["\u001b[31mERROR\u001b[0m: all is well"])
    expect(noises).toEqual([])
  })

  it("is an event when nobody asks for it in another way, free of colours", async () => {
    const peer = await start(calls([{ stderr: "\u001b[31mslow\u001b[0m\r\n" }, ...result(DONE)]))
    const { client, noises } = await open(peer)
    const [, second] = [failureOf(client.callTool("a")), client.callTool("b")]
    await second
    await until(() => noises.length > 0)
    expect(noises).toEqual([{ from: "stderr", text: "slow" }])
  })

  it("is in the error, its last lines only, when the process ends while connecting", async () => {
    const many: Step = [{ stderr: Array.from({ length: 30 }, (_, n) => `line ${n + 1}\n`).join("") }, { exit: 1 }]
    const peer = await start({ "*": [many] })
    const told = await failureOf(dial(peer, { limits: { stderrLines: 2 } }).opening)
    expect(told).toMatchObject({
      reason: "process_exited",
      message: `${node} exited with code 1; the last of its stderr:\n  line 29\n  line 30`,
      data: { stderr: ["line 29", "line 30"] },
    })
  })
})

describe("close()", () => {
  it("ends the input, and is done when the process is: calls in flight are called back and told", async () => {
    const peer = await start({ ...MODERN })
    const { client, clock } = await open(peer)
    const call = failureOf(client.callTool("slow"))
    await peer.heard(2)
    await client.close()
    expect(await call).toEqual(failure({ kind: "cancelled", reason: "closed", message: "the client was closed" }))
    expect(peer.lines[2]).toBe(cancelLine(2))
    expect(peer.pids.some(isRunning)).toBe(false)
    expect(clock.waiting).toBe(0)
    expect(client.status).toMatchObject({ state: "closed", era: "modern" })
  })

  it("asks, tells and forces a process that does not end, each in its time, with all that it started", async () => {
    const peer = await start(
      { ...MODERN, "tools/call": [[{ spawn: true }, ...result(DONE)]] },
      { ignoreEnd: true, ignoreTerm: true },
    )
    const { client, clock } = await open(peer, { limits: { exitMs: 1_500 } })
    await client.callTool("start")
    const [child = 0, grandchild = 0] = peer.pids
    expect([child, grandchild].map(isRunning)).toEqual([true, true])
    let closed = false
    const closing = client.close().then(() => {
      closed = true
    })
    await peer.noted("end")
    clock.advance(1_499)
    await settled()
    expect([child, grandchild].map(isRunning)).toEqual([true, true])
    clock.advance(1)
    await peer.noted("SIGTERM")
    await settled()
    expect([closed, ...[child, grandchild].map(isRunning)]).toEqual([false, true, true])
    clock.advance(1_500)
    await closing
    expect([child, grandchild].map(isRunning)).toEqual([false, false])
    expect(clock.waiting).toBe(0)
  })

  it("ends what a wrapper started that is gone by itself", async () => {
    const peer = await start({ ...MODERN, "tools/call": [[{ spawn: true }, { exit: 0 }]] })
    const { client, clock } = await open(peer, { reconnect: false, limits: { exitMs: 100 } })
    const call = failureOf(client.callTool("start"))
    await until(() => clock.dueInMs.includes(500))
    clock.advance(500)
    expect(await call).toMatchObject({ reason: "process_exited", data: { exitCode: 0 } })
    const closing = client.close()
    while (peer.pids.some(isRunning)) {
      clock.advance(100)
      await settled()
    }
    await closing
  })

  it("from within everything that tells of the end is one close, and never runs in circles", async () => {
    const peer = await start(calls([{ exit: 1 }]))
    const { client } = await open(peer, { reconnect: false })
    const states: string[] = []
    const closings: Promise<void>[] = []
    client.on("client.status", ({ state }) => {
      states.push(state)
      closings.push(client.close())
    })
    client.on("client.noise", () => closings.push(client.close()))
    const both = [client.callTool("a"), client.callTool("b")].map((call) =>
      failureOf(call).finally(() => closings.push(client.close())),
    )
    const told = await Promise.all(both)
    expect(told.map(({ reason }) => reason)).toEqual(["closed", "closed"])
    await Promise.all(closings)
    expect(states).toEqual(["failed", "closed"])
    expect(client.status.state).toBe("closed")
  })

  it("from within progress, a handler and the answer of a call", async () => {
    const step: Step = [
      { write: `${text({ method: "notifications/progress", params: { progressToken: 4, progress: 1 } })}\n` },
      ...result(DONE),
    ]
    const peer = await start({ ...LEGACY, "tools/call": [[], step] })
    const { client } = await open(peer)
    const closings: Promise<void>[] = []
    const other = failureOf(client.callTool("a"))
    const call = client.callTool("b", {}, { onProgress: () => closings.push(client.close(), client.close()) })
    expect(await failureOf(call)).toMatchObject({ kind: "cancelled", reason: "closed" })
    expect(await other).toMatchObject({ kind: "cancelled", reason: "closed" })
    await Promise.all([...closings, client.close()])
    expect(peer.log.slice(3)).toEqual(["tools/call 3", "tools/call 4", "cancelled 3", "cancelled 4"])
  })

  it("while connecting ends the attempt, and the process", async () => {
    const peer = await start({})
    const { opening, clock } = dial(peer, { name: "early" })
    await peer.heard(1)
    await lookup("early")?.client.close()
    expect(await failureOf(opening)).toMatchObject({ kind: "cancelled", reason: "closed" })
    expect(peer.pids.some(isRunning)).toBe(false)
    expect(clock.waiting).toBe(0)
    expect(peer.lines).toHaveLength(1)
  })

  it("again and again leaves nothing behind: no process, pipe, task of the clock or listener", async () => {
    const kept = (): number => process.getActiveResourcesInfo().filter((name) => /Pipe|Process/.test(name)).length
    const before = [kept(), process.listenerCount("exit")]
    for (let round = 0; round < 5; round++) {
      const peer = await start({ ...MODERN, "tools/call": [result(DONE)] })
      const { client, clock } = await open(peer)
      await client.callTool("a")
      await client.close()
      expect(clock.waiting).toBe(0)
    }
    await until(() => kept() === before[0])
    expect(process.listenerCount("exit")).toBe(before[1])
  })
})

describe("a program that uses a command", () => {
  const script = fileURLToPath(new URL("scripted-stdio/short-lived.js", import.meta.url))

  it("ends by itself once it has closed its client", async () => {
    const peer = await start({ ...MODERN, "tools/call": [result(DONE)] })
    const program = startScript(script, {}, [JSON.stringify(peer.command)])
    expect(await program.ended).toBe(0)
    expect(program.printed).toEqual({ stdout: "done\n", stderr: "" })
  })

  it("takes the process with it when it fails before that", async () => {
    const peer = await start({ ...MODERN, "tools/call": [[{ spawn: true }, ...result(DONE)]] }, { ignoreEnd: true })
    const program = startScript(script, {}, [JSON.stringify(peer.command), "throws"])
    expect(await program.ended).toBe(1)
    await until(() => !peer.pids.some(isRunning))
    expect(peer.pids).toHaveLength(2)
  })
})

describe("the environment of a process", () => {
  beforeAll(() => {
    process.env["CLOUD_SECRET"] = "s3cret"
  })
  afterAll(() => {
    delete process.env["CLOUD_SECRET"]
  })
  const script: Script = { ...MODERN, "tools/list": [[{ env: true }]] }
  const namesIn = async (more: object): Promise<unknown> => {
    const { client } = await open(await start(script), {}, more)
    return (await client.request("tools/list"))["names"]
  }

  it("is what programs need, with what it is given, and none of the parent's secrets", async () => {
    expect(await namesIn({ env: { A: "1" } })).toEqual(expect.arrayContaining(["A", "PATH"]))
    expect(await namesIn({ env: { A: "1" } })).not.toContain("CLOUD_SECRET")
    expect(await namesIn({})).not.toContain("CLOUD_SECRET")
  })

  it("is more when it is asked for by name, or all of it", async () => {
    expect(await namesIn({ inheritEnv: ["CLOUD_SECRET"] })).toContain("CLOUD_SECRET")
    expect(await namesIn({ inheritEnv: true })).toContain("CLOUD_SECRET")
    expect(await namesIn({ inheritEnv: true, env: { CLOUD_SECRET: undefined } })).not.toContain("CLOUD_SECRET")
  })
})
