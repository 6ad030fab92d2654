/** Which era an application gets of a process, what the process gets meanwhile, and what is told when there is none. */
import type { Client, Prior } from "conduit-mcp/client"
import { describe, expect, it } from "vitest"
import { failure, failureOf, until } from "../support/failure.js"
import {
  cancelLine,
  DISCOVERED,
  DONE,
  dial,
  error,
  handshakeLines,
  INITIALIZED,
  LEGACY,
  legacyLine,
  lines,
  MODERN,
  modernLine,
  open,
  result,
  type Script,
  type Step,
  start,
  text,
} from "./scripted-stdio/harness.js"

const PROBE = modernLine(1, "server/discover")
const node = process.execPath
const done: Script = { "tools/call": [result(DONE)], "tools/list": [result({ tools: [] })] }

/** Uses a client a little. */
async function use(client: Client): Promise<void> {
  expect((await client.callTool("echo", { text: "hi" })).content).toEqual(DONE.content)
  expect((await client.listTools()).tools).toEqual([])
}

const usedLines = (id: number): string[] => [
  legacyLine(id, "tools/call", { name: "echo", arguments: { text: "hi" } }),
  legacyLine(id + 1, "tools/list"),
]

describe("a modern process", () => {
  it("is asked once, in one line, and used as it is", async () => {
    const peer = await start({ ...MODERN, ...done })
    const { client } = await open(peer)
    expect(client.status).toEqual({
      state: "connected",
      era: "modern",
      version: "2026-07-28",
      reason: "discovered",
      origin: node,
      server: { name: "scripted", version: "1.0.0" },
    })
    await use(client)
    expect(peer.lines).toEqual([
      PROBE,
      modernLine(2, "tools/call", { name: "echo", arguments: { text: "hi" } }),
      modernLine(3, "tools/list"),
    ])
  })

  it.each<[what: string, more: object]>([
    ["nothing", { _meta: undefined }],
    ["an empty _meta", { _meta: {} }],
    ["what is no name and version", { _meta: { "io.modelcontextprotocol/serverInfo": { name: 7 } } }],
    ["null", { serverInfo: null, _meta: null, ttlMs: null, cacheScope: null }],
  ])("may say %s of itself", async (_, more) => {
    const peer = await start({ "server/discover": [result({ ...DISCOVERED, ...more })], ...done })
    const { client } = await open(peer)
    expect(client.status).toMatchObject({ era: "modern", reason: "discovered", server: undefined })
    await use(client)
    expect(client.prior).not.toHaveProperty("server")
  })
})

describe("an older process", () => {
  it.each<[what: string, answer: Step]>([
    ["-32601", error(-32601)],
    ["-32602", error(-32602)],
    ["-32600", error(-32600)],
    ["-32603", error(-32603)],
    ["-32700", error(-32700)],
    ["-32000", error(-32000)],
    ["-32001", error(-32001)],
    ["-32002", error(-32002)],
    ["-32042", error(-32042)],
    ["a code of its own", error(1)],
    ["an empty message", error(-32601, "")],
    ["data of another kind", error(-32600, "no", { supported: ["2026-07-28"] })],
    ["a result that is none of a discovery", result({})],
    ["a result that is one of a call", result({ content: [] })],
    ["null for a result", result(null)],
    ["a text for a result", result("unknown method")],
    ["a list for a result", result([])],
    ["an error whose code is a text", error("METHOD_NOT_FOUND")],
    ["an error whose code is a fraction", error(-32601.5)],
    ["an error without a message", error(-32601, undefined)],
    ["an error that is a text", [{ error: "unknown method" }]],
    [
      "an error that is no JSON",
      [{ write: '{"jsonrpc":"2.0","id":$ID,"error":{"code":-32601,"message":"no "x""}}\n' }],
    ],
    ["an error without an id", lines(text({ error: { code: -32700, message: "what?" } }))],
    ["an error whose id is null", lines(text({ id: null, error: { code: -32600, message: "what?" } }))],
  ])("is known by %s, and shaken hands with", async (_, answer) => {
    const peer = await start({ "server/discover": [answer], initialize: [result(INITIALIZED)], ...done })
    const { client, clock } = await open(peer)
    expect(client.status).toMatchObject({ era: "legacy", version: "2025-11-25", reason: "fell_back" })
    await use(client)
    expect(peer.lives).toEqual([[PROBE, ...handshakeLines(2), ...usedLines(3)]])
    expect(clock.now()).toBe(1_000_000)
  })

  it("that ends when it is asked is started again, and its session is that of a client that never asked", async () => {
    const ends: readonly Step[] = [
      [{ exit: 1 }],
      [{ exit: 0 }],
      [{ kill: "SIGKILL" }],
      [{ stderr: "no such method\n" }, { exit: 2 }],
      [{ write: '{"jsonrpc":"2.0","id":1,' }, { exit: 1 }],
      [{ close: 1 }, { exit: 1 }],
    ]
    const script = { initialize: LEGACY["initialize"] ?? [], ...done }
    const plain = await start(script)
    const { client } = await open(plain, { protocol: "legacy" })
    await use(client)
    expect(plain.lives).toEqual([[...handshakeLines(1), ...usedLines(2)]])
    for (const end of ends) {
      const peer = await start({ "server/discover": [end], ...script })
      const fallen = await open(peer)
      expect(fallen.client.status).toMatchObject({ era: "legacy", reason: "fell_back" })
      await use(fallen.client)
      expect(peer.lives).toEqual([[PROBE], ...plain.lives])
    }
  })

  it("that ends at once is told with its code and its last words", async () => {
    const peer = await start({ "*": [[{ stderr: "config.json is missing\n" }, { exit: 3 }]] })
    expect(await failureOf(dial(peer).opening)).toEqual(
      failure({
        kind: "connection_down",
        reason: "process_exited",
        retryable: true,
        message: `${node} exited with code 3; the last of its stderr:\n  config.json is missing`,
        data: { exitCode: 3, signal: null, stderr: ["config.json is missing"] },
      }),
    )
    expect(peer.lives).toEqual([[PROBE], handshakeLines(1).slice(0, 1)])
  })

  it("that is silent is shaken hands with after probeTimeoutMs, and its late answer is nobody's", async () => {
    const late = lines(
      text({ id: 1, error: { code: -32601, message: "late" } }),
      text({ id: "$ID", result: INITIALIZED }),
    )
    const peer = await start({ initialize: [late], ...done })
    const { opening, clock } = dial(peer, { probeTimeoutMs: 4_000 })
    await peer.heard(1)
    clock.advance(3_999)
    expect(peer.lines).toHaveLength(1)
    clock.advance(1)
    const client = await opening
    const noises: unknown[] = []
    client.on("client.noise", (noise) => noises.push(noise))
    expect(client.status).toMatchObject({ era: "legacy", reason: "fell_back" })
    await use(client)
    expect(peer.lives).toEqual([[PROBE, ...handshakeLines(2), ...usedLines(3)]])
    expect(noises).toEqual([])
  })

  it("that is spoilt by the question is shaken hands with anew", async () => {
    const peer = await start([{}, LEGACY])
    const { opening, clock } = dial(peer, { timeoutMs: 20_000 })
    await peer.heard(1)
    clock.advance(10_000)
    await peer.heard(2)
    clock.advance(20_000)
    const client = await opening
    expect(client.status).toMatchObject({ era: "legacy", reason: "fell_back" })
    await peer.heard(4)
    expect(peer.lives).toEqual([[PROBE, handshakeLines(2)[0]], handshakeLines(1)])
    expect(peer.log.join()).not.toContain("cancelled")
  })

  it("may say nothing of itself", async () => {
    const { serverInfo: _, ...silent } = INITIALIZED
    const peer = await start({ ...LEGACY, initialize: [result(silent)], ...done })
    const { client } = await open(peer)
    expect(client.status).toMatchObject({ era: "legacy", server: undefined })
    await use(client)
  })

  it.each<[version: string, spoken: boolean]>([
    ["2025-11-25", true],
    ["2025-06-18", true],
    ["2025-03-26", true],
    ["2024-11-05", true],
    ["2024-10-07", false],
    ["2026-07-28", false],
    ["2027-01-01", false],
    ["", false],
  ])("that answers with version %j: spoken %j", async (version, spoken) => {
    const peer = await start({ ...LEGACY, initialize: [result({ ...INITIALIZED, protocolVersion: version })], ...done })
    const { opening } = dial(peer)
    if (spoken) {
      const client = await opening
      expect(client.status).toMatchObject({ era: "legacy", version })
      await use(client)
      expect(peer.lines).toEqual([PROBE, ...handshakeLines(2), ...usedLines(3)])
      return
    }
    expect(await failureOf(opening)).toEqual(
      failure({
        kind: "protocol",
        reason: "no_common_version",
        message: `no common protocol version: the server offers ${version}`,
        data: { served: [version] },
      }),
    )
    expect(peer.lines).toEqual([PROBE, handshakeLines(2)[0]])
  })

  it.each<[what: string, answer: Step, expected: object]>([
    [
      "with an error",
      error(-32603, "no database"),
      {
        kind: "protocol",
        reason: "jsonrpc",
        code: -32603,
        message: "initialize: the server answered with error -32603: no database",
      },
    ],
    [
      "without a version",
      result({ capabilities: {} }),
      {
        kind: "protocol",
        reason: "invalid_result",
        message: "initialize: the result must name its protocolVersion as a string",
      },
    ],
  ])(
    "that refuses the handshake %s: the refusal is told, and the process is not started again",
    async (_, answer, expected) => {
      const peer = await start({ ...LEGACY, initialize: [answer] })
      expect(await failureOf(dial(peer).opening)).toEqual(failure(expected))
      expect(peer.lives).toEqual([[PROBE, handshakeLines(2)[0]]])
    },
  )
})

describe("an error that only modern servers send is never a reason to fall back", () => {
  it.each<[code: number, reason: string, why: string]>([
    [-32020, "header_mismatch", "it got headers that do not repeat the body"],
    [-32021, "missing_client_capability", "it needs a capability that this client does not declare"],
  ])("%i is told", async (code, reason, why) => {
    const peer = await start({ ...LEGACY, "server/discover": [error(code)] })
    expect(await failureOf(dial(peer).opening)).toEqual(
      failure({
        kind: "protocol",
        reason,
        code,
        message: `server/discover: the server refused with error ${code}, because ${why}: "refused"`,
      }),
    )
    expect(peer.lives).toEqual([[PROBE]])
  })

  it("-32022 with a version in common is asked once more", async () => {
    const refusal = error(-32022, "no", { supported: ["2026-07-28", "2025-11-25"], requested: "2026-07-28" })
    const peer = await start({ "server/discover": [refusal, result(DISCOVERED)] })
    const { client } = await open(peer)
    expect(client.status).toMatchObject({ era: "modern", version: "2026-07-28", reason: "discovered" })
    expect(peer.lives).toEqual([[PROBE, modernLine(2, "server/discover")]])
  })

  it("-32022 without one, and a discovery that is none, are told", async () => {
    const cases = [
      [error(-32022, "no", { supported: ["2025-11-25"] }), "no_common_version"],
      [result({ ...DISCOVERED, supportedVersions: ["2025-11-25", "2025-06-18"] }), "no_common_version"],
      [result({ ...DISCOVERED, supportedVersions: "2026-07-28" }), "invalid_discover"],
      [result({ resultType: "complete" }), "invalid_discover"],
    ] as const
    for (const [answer, reason] of cases) {
      const peer = await start({ ...LEGACY, "server/discover": [answer] })
      expect(await failureOf(dial(peer).opening)).toMatchObject({ kind: "protocol", reason, retryable: false })
      expect(peer.lives).toEqual([[PROBE]])
    }
  })

  it("an answer that breaks a limit is told, too: it may be a modern one", async () => {
    const deep = `${"[".repeat(200)}${"]".repeat(200)}`
    const peer = await start({
      ...LEGACY,
      "server/discover": [lines(`{"jsonrpc":"2.0","id":1,"result":{"a":${deep}}}`)],
    })
    expect(await failureOf(dial(peer).opening)).toEqual(
      failure({
        kind: "transport",
        reason: "unreadable_answer",
        message: `server/discover: the answer of ${node} cannot be read: nested deeper than 128 levels (limits.maxDepth)`,
        data: { reason: "too_deep" },
      }),
    )
    expect(peer.lives).toEqual([[PROBE]])
  })
})

describe("a protocol that is asked for", () => {
  it.each(["modern", "2026-07-28"])("%s: nothing older is spoken, however the process answers", async (protocol) => {
    const answers: readonly [Step, string][] = [
      [error(-32601, "Method not found"), "server/discover: the server answered with error -32601: Method not found"],
      [result({}), "a result without supportedVersions"],
      [[{ exit: 1 }], `${node} exited with code 1`],
    ]
    for (const [answer, came] of answers) {
      const peer = await start({ ...LEGACY, "server/discover": [answer] })
      expect(await failureOf(dial(peer, { protocol }).opening)).toMatchObject({
        kind: "protocol",
        reason: "no_common_version",
        message: `protocol "${protocol}" was asked for, but the server does not speak it: server/discover got ${came}`,
      })
      expect(peer.lives).toEqual([[PROBE]])
    }
  })

  it.each<[protocol: string, offered: string]>([
    ["legacy", "2025-11-25"],
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
  ])("%s: the process is shaken hands with, and not probed", async (protocol, offered) => {
    const initialize = [result({ ...INITIALIZED, protocolVersion: offered })]
    const peer = await start({ ...MODERN, initialize, ...done })
    const { client } = await open(peer, { protocol })
    expect(client.status).toMatchObject({ era: "legacy", version: offered, reason: "pinned" })
    await use(client)
    const [hello = "", ready] = handshakeLines(1)
    expect(peer.lines).toEqual([hello.replace("2025-11-25", offered), ready, ...usedLines(2)])
  })
})

describe("an earlier verdict", () => {
  const modern: Prior = { era: "modern", version: "2026-07-28", origin: node }

  it("costs nothing in the modern era, and the handshake in the legacy era", async () => {
    for (const script of [MODERN, LEGACY]) {
      const peer = await start({ ...script, ...done })
      const first = await open(peer)
      const prior = JSON.parse(JSON.stringify(first.client.prior)) as Prior
      await first.client.close()
      const second = await open(peer, { prior })
      await use(second.client)
      expect(second.client.status).toMatchObject({ reason: "prior", era: prior.era })
      expect(peer.lives[1]).toEqual(
        prior.era === "modern"
          ? [modernLine(1, "tools/call", { name: "echo", arguments: { text: "hi" } }), modernLine(2, "tools/list")]
          : [...handshakeLines(1), ...usedLines(2)],
      )
    }
  })

  const call = modernLine(1, "tools/call", { name: "echo", arguments: { text: "hi" } })

  it("that turns out wrong by an error is made anew by the first call", async () => {
    const script = { ...LEGACY, "tools/call": [error(-32602, "initialize first")] }
    const peer = await start([script, { ...LEGACY, ...done }])
    const { client } = await open(peer, { prior: modern })
    await use(client)
    expect(client.status).toMatchObject({ era: "legacy", reason: "fell_back" })
    expect(peer.lives).toEqual([[call], [PROBE, ...handshakeLines(2), ...usedLines(3)]])
  })

  it("that turns out wrong by the end of the process is made anew, too", async () => {
    const ends: Script = { "*": [[{ exit: 1 }]] }
    for (const reconnect of [true, false]) {
      const peer = await start([ends, ends, { ...LEGACY, ...done }])
      const { client } = await open(peer, { prior: modern, reconnect })
      const used = use(client)
      await used
      expect(client.status).toMatchObject({ state: "connected", era: "legacy", reason: "fell_back" })
      expect(peer.lives).toEqual([[call], [PROBE], [...handshakeLines(1), ...usedLines(2)]])
    }
  })

  it("that turns out right: a call with which the process ended is not run again", async () => {
    const peer = await start([{ "tools/call": [[{ exit: 9 }]] }, { ...MODERN, ...done }])
    const { client } = await open(peer, { prior: modern })
    const called = client.callTool("echo", { text: "hi" })
    expect(await failureOf(called)).toMatchObject({
      kind: "connection_down",
      reason: "process_exited",
      retryable: true,
      data: { exitCode: 9 },
    })
    expect(client.status).toMatchObject({ state: "connected", era: "modern" })
    expect(peer.lives).toEqual([[call], [PROBE]])
    await use(client)
  })
})

describe("handlers are there from the first byte", () => {
  const roots = { roots: () => [{ uri: "file:///projects/garden" }] }
  const question = text({ id: 0, method: "roots/list" })
  const answer = JSON.stringify({ jsonrpc: "2.0", id: 0, result: { roots: [{ uri: "file:///projects/garden" }] } })

  it.each<[where: string, script: Script, begin: Step]>([
    ["before anything was sent", LEGACY, lines(question)],
    [
      "instead of an answer to the probe",
      { ...LEGACY, "server/discover": [[...lines(question), ...error(-32601)]] },
      [],
    ],
    ["before the answer to initialize", { ...LEGACY, initialize: [[...lines(question), ...result(INITIALIZED)]] }, []],
    [
      "in one piece with it",
      { ...LEGACY, initialize: [[{ write: `${text({ id: "$ID", result: INITIALIZED })}\n${question}\n` }]] },
      [],
    ],
  ])("a question with the id 0 %s is answered", async (_, script, begin) => {
    const peer = await start({ ...script, ...done }, { start: begin })
    const { client } = await open(peer, { handlers: roots })
    await use(client)
    expect(peer.lines.filter((line) => line === answer)).toHaveLength(1)
    expect(peer.lines.filter((line) => line !== answer)).toEqual([
      PROBE_ROOTS,
      ...handshakeLines(2, { roots: {} }),
      ...usedLines(3),
    ])
  })

  const PROBE_ROOTS = PROBE.replace('Capabilities":{}', 'Capabilities":{"roots":{}}')

  it("what is said in the window of the probe is heard", async () => {
    const heard: unknown[] = []
    const say = text({ method: "notifications/message", params: { level: "info", data: "starting" } })
    const changed = text({ method: "notifications/tools/list_changed" })
    const peer = await start(
      { ...LEGACY, "server/discover": [[...lines(changed), ...error(-32601)]] },
      { start: lines(say) },
    )
    const handlers = { log: (line: unknown) => heard.push(line), changed: (change: unknown) => heard.push(change) }
    await open(peer, { handlers })
    expect(heard).toEqual([{ level: "info", logger: undefined, data: "starting" }, { list: "tools" }])
  })
})

describe("connecting is ended", () => {
  const silent: [where: string, script: Script, sent: number][] = [
    ["for the probe", {}, 1],
    ["for the handshake", { "server/discover": [error(-32601)] }, 2],
  ]

  it.each(silent)(
    "by connectTimeoutMs while it waits %s: nothing is cancelled, and what it said last is told",
    async (_, script, sent) => {
      const peer = await start(script, { start: [{ stderr: "waiting for the lock\n" }] })
      const said: string[] = []
      const { opening, clock } = dial(peer, { connectTimeoutMs: 9_000 }, { stderr: (line) => said.push(line) })
      await peer.heard(sent)
      await until(() => said.length > 0)
      clock.advance(9_000)
      expect(await failureOf(opening)).toEqual(
        failure({
          kind: "timeout",
          reason: "connect_timeout",
          retryable: true,
          message: `connecting to ${node} took longer than 9000 ms (connectTimeoutMs); the last of its stderr:\n  waiting for the lock`,
          data: { stderr: ["waiting for the lock"] },
        }),
      )
      expect(peer.lines).toHaveLength(sent)
      expect(clock.waiting).toBe(0)
    },
  )

  it.each(silent)("by its signal while it waits %s: nothing is cancelled on the wire", async (_, script, sent) => {
    const peer = await start(script)
    const controller = new AbortController()
    const { opening, clock } = dial(peer, { signal: controller.signal })
    await peer.heard(sent)
    controller.abort("the user went away")
    expect(await failureOf(opening)).toEqual(
      failure({
        kind: "cancelled",
        reason: "aborted",
        message: "the call was aborted by its caller",
        cause: "the user went away",
      }),
    )
    expect(peer.lines).toHaveLength(sent)
    expect(clock.waiting).toBe(0)
  })

  it("by a handshake that is not answered: it is never cancelled", async () => {
    const peer = await start({ initialize: [] })
    const { opening, clock } = dial(peer, { protocol: "legacy", timeoutMs: 5_000 })
    await peer.heard(1)
    clock.advance(5_000)
    expect(await failureOf(opening)).toMatchObject({
      kind: "timeout",
      reason: "connect_timeout",
      message: "initialize was not answered within 5000 ms (timeoutMs)",
    })
    expect(peer.lines).toEqual(handshakeLines(1).slice(0, 1))
    expect(peer.lines).not.toContain(cancelLine(1))
  })

  it("by a program that is not there, which is told without its arguments", async () => {
    const peer = await start({})
    const { opening, clock } = dial(peer, {}, { command: "no-such-program", env: { TOKEN: "s3cret" } })
    const told = await failureOf(opening)
    expect(told).toEqual(
      failure({
        kind: "transport",
        reason: "cannot_spawn",
        message:
          "cannot start no-such-program: it was not found: check its name, that it is installed, and that it is in the PATH of `env` (ENOENT)",
        data: { command: "no-such-program", code: "ENOENT" },
      }),
    )
    expect(clock.waiting).toBe(0)
  })
})
