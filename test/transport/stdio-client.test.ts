/** The client and a real child: whatever comes out of its pipes, in one piece or in many, and what becomes of each request. */
import { readlinkSync } from "node:fs"
import { afterEach, describe, expect, it } from "vitest"
import type { Outcome } from "../../src/client/link.js"
import { createStderrLines } from "../../src/transport/stdio/stderr.js"
import { type ChildOptions, isRunning, type LinkProbe, openChild, pidOf } from "./stdio/link.js"

const probes: LinkProbe[] = []
afterEach(async () => {
  for (const probe of probes.splice(0)) {
    const pid = await pidOf(probe)
    await probe.link.close()
    expect(isRunning(pid)).toBe(false)
  }
})

async function open(script: string, options?: ChildOptions): Promise<LinkProbe> {
  const probe = await openChild(script, options)
  probes.push(probe)
  return probe
}

const answered = (id: number, result: object = {}): Outcome =>
  ({ kind: "message", message: { kind: "result", id, result }, status: undefined, session: undefined }) as Outcome

/** Opens a child that does this to the first request, which has the id 1, and answers every other one. */
function openAnswering(first: string, options?: ChildOptions): Promise<LinkProbe> {
  return open(`heard((message) => { if (message.id !== 1) return answer(message); ${first} })`, options)
}

describe("lines that are no messages", () => {
  it.each([
    ["what a dependency prints", "console.log('Ready on stdio')", "Ready on stdio"],
    ["a line of a JSON logger", `console.log('{"level":30,"msg":"x"}')`, '{"level":30,"msg":"x"}'],
    ["half of a character", "fs.writeSync(1, Uint8Array.of(0xe2, 0x98, 10))", "\ufffd"],
  ])("are passed over: %s", async (_, print, text) => {
    const probe = await openAnswering(`${print}; answer(message)`)
    expect(await probe.request(1)).toEqual(answered(1))
    expect(probe.noises).toEqual([{ from: "output", text }])
    expect(await probe.request(2)).toEqual(answered(2))
  })

  it("are told at once when log text stands before a message on its line", async () => {
    const probe = await openAnswering("write('log '); answer(message)")
    void probe.request(1)
    const noise = await probe.until(() => probe.noises[0])
    expect(noise).toEqual({ from: "output", text: 'log {"jsonrpc":"2.0","id":1,"result":{}}' })
    expect(await probe.request(2)).toEqual(answered(2))
    expect(probe.outcomes.map(([id]) => id)).toEqual([2])
  })
})

describe("an answer", () => {
  const bytes = "for (const byte of Buffer.from(text)) fs.writeSync(1, Uint8Array.of(byte))"
  const text = (dress: string): string =>
    `const text = ${dress.replace("ANSWER", "JSON.stringify({ jsonrpc: '2.0', id: 1, result: { text: '—☀😀' } })")}`

  it.each([
    ["behind a byte order mark", `${text("'\\ufeff' + ANSWER + '\\n'")}; write(text)`],
    ["ended by CRLF", `${text("ANSWER + '\\r\\n'")}; write(text)`],
    ["written byte by byte", `${text("ANSWER + '\\n'")}; ${bytes}`],
    ["written byte by byte with all of it", `${text("'\\ufeff' + ANSWER + '\\r\\n'")}; ${bytes}`],
    ["without a line break, right before the end of the output", `${text("ANSWER")}; write(text); fs.closeSync(1)`],
  ])("arrives when it is %s", async (_, script) => {
    const probe = await openAnswering(script)
    expect(await probe.request(1)).toEqual(answered(1, { text: "—☀😀" }))
    expect(probe.noises).toEqual([])
  })

  it("arrives when the two halves of its CRLF come apart", async () => {
    const script = "write(JSON.stringify({ jsonrpc: '2.0', id: 1, result: {} }) + '\\r')"
    const probe = await open(
      `heard((message) => { if (message.id === 1) { ${script} } else { write('\\n'); answer(message) } })`,
    )
    const first = probe.request(1)
    await probe.request(2)
    expect(await first).toEqual(answered(1))
    expect(probe.outcomes.map(([id]) => id)).toEqual([1, 2])
  })

  it("of twelve million bytes arrives whole", async () => {
    const probe = await openAnswering("answer(message, { text: '☀'.repeat(4_000_000) })")
    const outcome = await probe.request(1)
    const result = outcome.kind === "message" && outcome.message.kind === "result" ? outcome.message.result : {}
    expect(String(result["text"]).length).toBe(4_000_000)
  })

  it("that is too long fails alone, with both sizes, and what comes behind it in the same piece is read", async () => {
    const probe = await open(
      "heard((message) => { if (message.id === 2) write(['a'.repeat(3_000), 'b'].map((text, n) => JSON.stringify({ jsonrpc: '2.0', id: n + 1, result: { text } }) + '\\n').join('')) })",
      { limits: { maxMessageBytes: 1_000 } },
    )
    const first = probe.request(1, "tools/call")
    expect(await probe.request(2)).toEqual(answered(2, { text: "b" }))
    const outcome = await first
    expect(outcome).toMatchObject({ kind: "refused", error: { kind: "transport", reason: "message_too_large" } })
    expect(outcome.kind === "refused" && outcome.error.message).toBe(
      `tools/call: the answer of ${process.execPath} cannot be read: it has 3045 bytes, at most 1000 are taken (limits.maxMessageBytes)`,
    )
    expect(probe.noises).toEqual([])
  })

  it("is measured by itself, not with others of its chunk", async () => {
    const probe = await open(
      "heard((message) => { if (message.id === 100) write(Array.from({ length: 100 }, (_, n) => JSON.stringify({ jsonrpc: '2.0', id: n + 1, result: {} }) + '\\n').join('')) })",
      { limits: { maxMessageBytes: 100 } },
    )
    const ids = Array.from({ length: 100 }, (_, n) => n + 1)
    expect(await Promise.all(ids.map((id) => probe.request(id)))).toEqual(ids.map((id) => answered(id)))
  })

  it("written right before the process ends is still delivered, and before the end is told", async () => {
    const probe = await openAnswering("answer(message, { text: 'x'.repeat(40_000) }); process.exit(3)")
    const last = probe.request(1)
    const error = await probe.gone
    expect(probe.outcomes.map(([id, { kind }]) => [id, kind])).toEqual([[1, "message"]])
    expect(await last).toMatchObject({ kind: "message" })
    expect(error).toMatchObject({ kind: "connection_down", reason: "process_exited", data: { exitCode: 3 } })
  })
})

describe("a flood", () => {
  it("without a line break on stdout ends the pipe, with the limit's name, and the process", async () => {
    const probe = await open(
      "const piece = 'x'.repeat(65_536); const on = () => process.stdout.write(piece, on); on(); process.stdout.on('error', () => {})",
      { limits: { maxMessageBytes: 100_000, exitMs: 1 } },
    )
    const pid = await pidOf(probe)
    const outcome = probe.request(1)
    const error = await probe.gone
    expect(error).toMatchObject({ kind: "transport", reason: "message_too_large" })
    expect(error.message).toMatch(
      /^.* sent \d+ bytes without a line break, at most 100000 are read as one message \(limits\.maxMessageBytes\)$/,
    )
    expect(await outcome).toEqual({ kind: "gone", error })
    await probe.link.close()
    expect(isRunning(pid)).toBe(false)
  })

  it("on stderr is kept to its last lines, each of them cut", async () => {
    const probe = await openAnswering(
      "for (let n = 0; n < 200; n++) fs.writeSync(2, n + ' ' + 'y'.repeat(10_000) + '\\n'); answer(message)",
      { limits: { stderrLines: 3 } },
    )
    await probe.request(1)
    await probe.until(() => (probe.noises.length === 200 ? true : undefined))
    expect(probe.noises.at(-1)).toEqual({ from: "stderr", text: `199 ${"y".repeat(295)}…` })
    process.kill(await pidOf(probe), "SIGKILL")
    const lines = [197, 198, 199].map((n) => `${n} ${"y".repeat(295)}…`)
    expect(await probe.gone).toMatchObject({ data: { exitCode: null, signal: "SIGKILL", stderr: lines } })
  })

  it("on stderr without a line break is one line, cut", async () => {
    const probe = await openAnswering(
      "for (let n = 0; n < 500; n++) fs.writeSync(2, 'z'.repeat(65_536)); answer(message)",
    )
    expect(await probe.request(1)).toEqual(answered(1))
    process.kill(await pidOf(probe), "SIGKILL")
    expect(await probe.gone).toMatchObject({ data: { stderr: [`${"z".repeat(299)}…`] } })
  })
})

describe("lines of stderr", () => {
  const chunk = Buffer.from("z".repeat(65_536))

  it("are kept up to 8 KiB each, whatever follows", () => {
    const told: string[] = []
    const lines = createStderrLines(2, (line) => told.push(line))
    for (let n = 0; n < 20_000; n++) lines.push(chunk)
    lines.push(Buffer.from("\nnext\r\n\r\n"))
    lines.push(Buffer.from("la"))
    lines.push(Buffer.from("st"))
    lines.end()
    expect(told.map((line) => line.length)).toEqual([8_192, 4, 4])
    expect(lines.last).toEqual(["next", "last"])
  })
})

describe("a child that does not read its input", () => {
  it("makes requests fail once too much waits for it, and others again when it reads", async () => {
    const probe = await open(
      "const idle = setInterval(() => {}, 1_000); process.on('SIGUSR2', () => { clearInterval(idle); heard(answer) }); say({ method: 'ready' })",
      { limits: { maxUnsentBytes: 1 << 20 } },
    )
    await probe.until(() => probe.messages.find((one) => one.kind === "notification" && one.method === "ready"))
    const text = "x".repeat(100_000)
    const outcomes = Array.from({ length: 20 }, (_, n) => probe.request(n, "ask", { text }))
    const refused = await probe.until(() => probe.outcomes.at(-1))
    expect(refused[1]).toMatchObject({ kind: "refused", error: { kind: "transport", reason: "overloaded" } })
    expect(refused[1].kind === "refused" && refused[1].error.message).toMatch(
      / does not read its input: \d+ bytes wait for it, at most 1048576 may \(limits\.maxUnsentBytes\)$/,
    )
    await expect(probe.link.send("{}", undefined)).rejects.toMatchObject({ kind: "transport", reason: "overloaded" })
    process.kill(await pidOf(probe), "SIGUSR2")
    const kinds = (await Promise.all(outcomes)).map(({ kind }) => kind)
    expect(kinds).toEqual([...Array(6).fill("message"), ...Array(14).fill("refused")])
    expect(await probe.request(99)).toEqual(answered(99))
  })
})

describe("what is sent", () => {
  it("in one turn is written in one piece, in order", async () => {
    const probe = await open(`
      let chunks = 0
      process.stdin.on("data", () => chunks++)
      heard((message) => answer(message, { chunks }))
    `)
    const ids = Array.from({ length: 64 }, (_, n) => n)
    const outcomes = await Promise.all(ids.map((id) => probe.request(id)))
    expect(outcomes).toEqual(ids.map((id) => answered(id, { chunks: 1 })))
  })

  it("reaches the child to its last byte, in whatever characters", async () => {
    const probe = await open("heard((message) => answer(message, message.params))")
    const params = { text: '—☀😀\u2028\\"\n'.repeat(100_000) }
    expect(await probe.request(1, "echo", params)).toEqual(answered(1, params))
  })
})

describe("stderr", () => {
  const script = `fs.writeSync(2, "\\u001b[31mone\\u001b[0m\\r\\n\\ntwo"); heard(answer)`

  it("is noise, line by line and without colours, when nothing else is said of it", async () => {
    const probe = await open(script)
    await probe.until(() => probe.noises[0])
    expect(probe.noises).toEqual([{ from: "stderr", text: "one" }])
    process.kill(await pidOf(probe), "SIGTERM")
    await probe.gone
    expect(probe.noises).toEqual([
      { from: "stderr", text: "one" },
      { from: "stderr", text: "two" },
    ])
  })

  it("goes to a function as it came, and into errors all the same", async () => {
    const lines: string[] = []
    const probe = await open(script, { stderr: (line) => lines.push(line) })
    await probe.request(1)
    process.kill(await pidOf(probe), "SIGTERM")
    expect(await probe.gone).toMatchObject({ data: { stderr: ["one", "two"] } })
    expect(lines).toEqual(["\u001b[31mone\u001b[0m", "two"])
    expect(probe.noises).toEqual([])
  })

  it("is that of this process when it is inherited", async () => {
    const probe = await open("heard(answer)", { stderr: "inherit" })
    expect(await probe.request(1)).toEqual(answered(1))
    expect(readlinkSync(`/proc/${await pidOf(probe)}/fd/2`)).toBe(readlinkSync(`/proc/${process.pid}/fd/2`))
    expect(probe.noises).toEqual([])
  })

  it("harms nothing when that function fails", async () => {
    const fail = (): never => {
      throw new Error("no")
    }
    const probe = await open(script, { stderr: fail })
    expect(await probe.request(1)).toEqual(answered(1))
    const text = "what hears stderr has failed: Error: no"
    expect(await probe.until(() => probe.noises[0])).toEqual({ from: "stderr", text })
  })
})
