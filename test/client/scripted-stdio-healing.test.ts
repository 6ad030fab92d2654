/** Processes that end while they are used: who is told, what is started again and when, and what is sent to it. */
import { mkdtemp, rm, symlink, unlink } from "node:fs/promises"
import { tmpdir } from "node:os"
import { join } from "node:path"
import type { Client } from "conduit-mcp/client"
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest"
import { failureOf, pass, settled, until } from "../support/failure.js"
import { isRunning } from "../transport/stdio/link.js"
import {
  DONE,
  handshakeLines,
  LEGACY,
  legacyLine,
  MODERN,
  modernLine,
  open,
  result,
  type Script,
  type Step,
  start,
} from "./scripted-stdio/harness.js"

const crash: Step = [{ stderr: "out of memory\n" }, { exit: 3 }]
const works: Script = { "tools/call": [result(DONE)] }
const call = (id: number, name = "t"): string => modernLine(id, "tools/call", { name, arguments: {} })
const told = (client: Client): unknown[] => {
  const states: unknown[] = []
  client.on("client.status", ({ state, reason }) => states.push(`${state}: ${reason}`))
  return states
}
const content = async (work: Promise<{ readonly content: unknown }>): Promise<unknown> => (await work).content
/** The wait before an attempt that is not the first, cut short by a twentieth. */
const waits = (fullMs: number): number => Math.round(fullMs * 0.95)

beforeEach(() => void vi.spyOn(Math, "random").mockReturnValue(0.9))
afterEach(() => vi.restoreAllMocks())

describe("a process that ends while calls are in flight", () => {
  it("ends them at once, is started again, and takes the next call without another word", async () => {
    const peer = await start([{ ...MODERN, "tools/call": [[], [], crash] }, works])
    const { client, clock } = await open(peer)
    const states = told(client)
    const calls = ["a", "b", "c"].map((name) => failureOf(client.callTool(name)))
    for (const failure of await Promise.all(calls)) {
      expect(failure).toMatchObject({
        kind: "connection_down",
        reason: "process_exited",
        retryable: true,
        message: expect.stringMatching(/exited with code 3; the last of its stderr:\n {2}out of memory$/),
        data: { exitCode: 3, signal: null, stderr: ["out of memory"] },
      })
    }
    expect(states).toEqual(["reconnecting: process_exited"])
    expect(client.status).toMatchObject({ state: "reconnecting", era: "modern", reason: "process_exited" })
    const next = client.callTool("t")
    expect(peer.lives).toHaveLength(1)
    await pass(clock, 0)
    expect(await content(next)).toEqual(DONE.content)
    expect(states).toEqual(["reconnecting: process_exited", "connected: discovered"])
    expect(peer.lives.slice(1)).toEqual([[call(1)]])
  })

  it("by a signal, too", async () => {
    const peer = await start([{ ...MODERN, "tools/call": [[{ kill: "SIGKILL" }]] }, works])
    const { client, clock } = await open(peer)
    expect(await failureOf(client.callTool("t"))).toMatchObject({
      reason: "process_exited",
      data: { exitCode: null, signal: "SIGKILL" },
    })
    await pass(clock, 0)
    expect(await content(client.callTool("t"))).toEqual(DONE.content)
  })

  it("runs nothing twice, not even what may be: the callers know, and may call again", async () => {
    const tools = [{ name: "t", inputSchema: { type: "object" }, annotations: { idempotentHint: true } }]
    const listed = result({ resultType: "complete", tools, ttlMs: 0, cacheScope: "private" })
    const peer = await start([{ ...MODERN, "tools/list": [listed, []], "tools/call": [crash] }, works])
    const { client, clock } = await open(peer)
    await client.listTools()
    const calls = [failureOf(client.listTools()), failureOf(client.callTool("t"))]
    for (const failure of await Promise.all(calls)) expect(failure).toMatchObject({ reason: "process_exited" })
    await pass(clock, 0)
    await until(() => peer.lives.length === 2)
    expect(peer.lives[1]).toEqual([])
  })

  it("runs nothing twice in which an earlier verdict was trusted", async () => {
    const peer = await start([{ "tools/call": [crash] }, { ...MODERN, ...works }])
    const prior = { era: "modern", version: "2026-07-28", origin: process.execPath } as const
    const { client } = await open(peer, { prior })
    expect(await failureOf(client.callTool("t"))).toMatchObject({ reason: "process_exited" })
    expect(peer.lives).toEqual([[call(1)], [modernLine(1, "server/discover")]])
    expect(await content(client.callTool("t"))).toEqual(DONE.content)
    expect(client.status).toMatchObject({ state: "connected", reason: "discovered" })
  })

  it("of the legacy era is shaken hands with again, told its log level, and then takes what waits", async () => {
    const logging: Script = { "logging/setLevel": [result({})] }
    const peer = await start([
      { ...LEGACY, ...logging, "tools/call": [crash] },
      { ...LEGACY, ...logging, ...works },
    ])
    const { client, clock } = await open(peer)
    await client.setLogLevel("error")
    expect(await failureOf(client.callTool("t"))).toMatchObject({ reason: "process_exited" })
    const next = client.callTool("t")
    await pass(clock, 0)
    await next
    const calls = (from: number): string[] => [
      legacyLine(from, "logging/setLevel", { level: "error" }),
      legacyLine(from + 1, "tools/call", { name: "t", arguments: {} }),
    ]
    expect(peer.lives).toEqual([
      [modernLine(1, "server/discover"), ...handshakeLines(2), ...calls(3)],
      [...handshakeLines(1), ...calls(2)],
    ])
    expect(client.status).toMatchObject({ era: "legacy", reason: "fell_back" })
  })
})

describe("a process that ends again and again", () => {
  const dies: Script = { start: [crash] }

  it("is started after longer and longer waits, so many times, and by the next call once more", async () => {
    const peer = await start([{ ...MODERN, "tools/call": [crash] }, dies, dies, dies, works])
    const { client, clock } = await open(peer, { limits: { maxReconnects: 3 } })
    const states = told(client)
    await failureOf(client.callTool("t"))
    await pass(clock, 0)
    await until(() => states.length === 3)
    expect(clock.dueInMs[0]).toBe(waits(250))
    await pass(clock, waits(250))
    await until(() => states.length === 5)
    expect(clock.dueInMs[0]).toBe(waits(500))
    await pass(clock, waits(500))
    await until(() => states.length === 7)
    expect(states).toEqual([
      ...Array(3).fill(["reconnecting: process_exited", "connected: discovered"]).flat(),
      "failed: process_exited",
    ])
    expect(peer.lives).toHaveLength(4)
    expect(client.status).toMatchObject({ state: "failed", reason: "process_exited" })
    clock.advance(600_000)
    await settled()
    expect(peer.lives).toHaveLength(4)
    expect(await content(client.callTool("t"))).toEqual(DONE.content)
    expect(states.slice(7)).toEqual(["reconnecting: process_exited", "connected: discovered"])
  })

  it("before it is told of as lost for good, lets calls wait, who are then told once, with the cause", async () => {
    const peer = await start([{ ...LEGACY, "tools/call": [crash] }, dies])
    const { client, clock } = await open(peer, { limits: { maxReconnects: 2 } })
    await failureOf(client.callTool("t"))
    const calls = [1, 2, 3].map(() => failureOf(client.callTool("t")))
    await pass(clock, 0)
    await pass(clock, waits(250))
    for (const failure of await Promise.all(calls)) {
      expect(failure).toMatchObject({
        kind: "connection_down",
        reason: "not_connected",
        retryable: true,
        message: expect.stringContaining("exited with code 3"),
        cause: expect.objectContaining({ reason: "process_exited" }),
      })
    }
    expect(peer.lives).toHaveLength(3)
  })

  it.each<[what: string, live: (client: Client, advance: (ms: number) => void) => unknown]>([
    ["but answers in between", (client) => client.request("x/y")],
    ["but lasts ten seconds each time", (_client, advance) => advance(10_000)],
  ])("%s is started as at first, however often that is", async (_what, live) => {
    const life: Script = { "x/y": [result({ resultType: "complete" })], "tools/call": [crash] }
    const peer = await start([{ ...MODERN, ...life }, life])
    const { client, clock } = await open(peer, { limits: { maxReconnects: 1 } })
    for (let n = 1; n <= 5; n++) {
      await live(client, (ms) => clock.advance(ms))
      await failureOf(client.callTool("t"))
      await pass(clock, 0)
      await until(() => client.status.state === "connected" && peer.lives.length === n + 1)
    }
  })

  it("and is no more to be started is given up at once", async () => {
    const folder = await mkdtemp(join(tmpdir(), "node-"))
    const program = join(folder, "server")
    await symlink(process.execPath, program)
    const peer = await start([{ ...MODERN, "tools/call": [crash] }, works])
    const { client, clock } = await open(peer, {}, { command: program })
    const states = told(client)
    await unlink(program)
    await failureOf(client.callTool("t"))
    const waiting = failureOf(client.callTool("t"))
    await pass(clock, 0)
    expect(await waiting).toMatchObject({
      kind: "connection_down",
      reason: "not_connected",
      cause: expect.objectContaining({ reason: "cannot_spawn" }),
    })
    expect(states).toEqual(["reconnecting: process_exited", "failed: cannot_spawn"])
    await rm(folder, { recursive: true })
  })

  it("or is silent when it is started is given up in time, and nothing is left of it", async () => {
    const peer = await start([{ ...LEGACY, "tools/call": [crash] }, { initialize: [[]] }])
    const { client, clock } = await open(peer, { connectTimeoutMs: 5_000, limits: { maxReconnects: 1 } })
    const states = told(client)
    await failureOf(client.callTool("t"))
    await pass(clock, 0)
    await until(() => peer.lives[1]?.length === 1)
    await pass(clock, 5_000)
    await until(() => states.length === 2)
    expect(states).toEqual(["reconnecting: process_exited", "failed: connect_timeout"])
    await until(() => !peer.pids.some(isRunning))
  })
})

describe("a client that is told not to heal", () => {
  it("starts nothing again, and says why there is no connection", async () => {
    const peer = await start({ ...MODERN, "tools/call": [crash] })
    const { client, clock } = await open(peer, { reconnect: false })
    const states = told(client)
    await failureOf(client.callTool("t"))
    expect(await failureOf(client.callTool("t"))).toMatchObject({
      kind: "connection_down",
      reason: "not_connected",
      message: expect.stringContaining("exited with code 3"),
      cause: expect.objectContaining({ reason: "process_exited" }),
    })
    clock.advance(600_000)
    await settled()
    expect(states).toEqual(["failed: process_exited"])
    expect(peer.lives).toHaveLength(1)
  })
})

describe("a client that is closed", () => {
  it("while it waits to start a process again starts none", async () => {
    const peer = await start([{ ...MODERN, "tools/call": [crash] }, works])
    const { client, clock } = await open(peer)
    const states = told(client)
    await failureOf(client.callTool("t"))
    const waiting = [1, 2].map(() => failureOf(client.callTool("t")))
    await client.close()
    for (const failure of await Promise.all(waiting)) {
      expect(failure).toMatchObject({ kind: "cancelled", reason: "closed" })
    }
    expect(clock.waiting).toBe(0)
    expect(peer.lives).toHaveLength(1)
    expect(states).toEqual(["reconnecting: process_exited", "closed: discovered"])
    expect(await failureOf(client.callTool("t"))).toMatchObject({ kind: "cancelled", reason: "closed" })
  })

  it("while a process is shaken hands with leaves nothing of it", async () => {
    const peer = await start([{ ...LEGACY, "tools/call": [crash] }, { initialize: [[]] }])
    const { client, clock } = await open(peer)
    await failureOf(client.callTool("t"))
    const waiting = failureOf(client.callTool("t"))
    await pass(clock, 0)
    await until(() => peer.lives[1]?.length === 1)
    await client.close()
    expect(await waiting).toMatchObject({ kind: "cancelled", reason: "closed" })
    expect(peer.pids.filter(isRunning)).toEqual([])
    expect(clock.waiting).toBe(0)
  })
})
