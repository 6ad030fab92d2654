/** The client's end of any pipe: which answer belongs to which request, and what becomes of everything else that comes. */
import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { resolveClientLimits } from "../../src/client/limits.js"
import type { Noise, Outcome } from "../../src/client/link.js"
import { McpError } from "../../src/core/error/error.js"
import { createLineReader, type LineReader } from "../../src/core/wire/lines.js"
import { createDecodeUtf8 } from "../../src/core/wire/parse.js"
import { createPipeLink, type Duct, type DuctListener } from "../../src/transport/pipe-link.js"
import { type LinkProbe, openProbe } from "./stdio/link.js"

/** A pipe whose other end is in the test's hands. */
class ScriptedDuct implements Duct {
  readonly sent: string[] = []
  closings = 0
  refusal: McpError | undefined
  readonly #maxBytes: number
  #listener: DuctListener | undefined
  #reader: LineReader | undefined

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  async open(listener: DuctListener): Promise<void> {
    this.#listener = listener
    this.#reader = createLineReader(this.#maxBytes, {
      line: (bytes) => listener.line(bytes),
      tooLong: (length, ends) => listener.tooLong(length, ends),
      overflow: () => listener.gone(DOWN),
    })
  }

  send(text: string): McpError | undefined {
    if (this.refusal === undefined) this.sent.push(text)
    return this.refusal
  }

  async close(): Promise<void> {
    this.closings++
  }

  /** Lets bytes or text come out of the pipe, in one chunk. */
  emit(bytes: string | Uint8Array): void {
    this.#reader?.push(typeof bytes === "string" ? encode(bytes) : bytes)
  }

  breakDown(error = DOWN): void {
    this.#listener?.gone(error)
  }
}

const DOWN = new McpError("it is gone", { kind: "connection_down", reason: "pipe_closed" })
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)
const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`
const answered = (id: string | number, result: object): Outcome =>
  ({
    kind: "message",
    message: { kind: "result", id, result },
    status: undefined,
    session: undefined,
  }) as Outcome

interface Scripted {
  readonly duct: ScriptedDuct
  readonly probe: LinkProbe
}

async function open(given: Parameters<typeof resolveClientLimits>[0] = {}): Promise<Scripted> {
  const limits = resolveClientLimits(given)
  const duct = new ScriptedDuct(limits.maxMessageBytes)
  const probe = await openProbe(createPipeLink({ origin: "server", duct, limits, decode: createDecodeUtf8() }))
  return { duct, probe }
}

const output = (text: string): Noise => ({ from: "output", text })
const adopted = { version: "2025-11-25", session: undefined, resumes: false, standby: false }

describe("an answer", () => {
  it.each<[string | number, string | number]>([
    [1, "1"],
    ["1", 1],
    [0, "0"],
    ["", 0],
    ["a", "A"],
  ])("to %j is none to %j", async (id, other) => {
    const { duct, probe } = await open()
    const outcome = probe.request(id)
    duct.emit(line({ id: other, result: { of: "other" } }) + line({ id, result: { of: "own" } }))
    expect(await outcome).toEqual(answered(id, { of: "own" }))
    expect(probe.noises).toEqual([output(line({ id: other, result: { of: "other" } }).trim())])
  })

  it("finds its request in whatever order answers come", async () => {
    const { duct, probe } = await open()
    const outcomes = Promise.all(["a", 2, 0, ""].map((id) => probe.request(id)))
    for (const id of ["", 0, "a", 2]) duct.emit(line({ id, result: { id } }))
    expect(await outcomes).toEqual(["a", 2, 0, ""].map((id) => answered(id, { id })))
    expect(probe.outcomes.map(([id]) => id)).toEqual(["", 0, "a", 2])
  })

  it("that is an error keeps its code, message and data", async () => {
    const { duct, probe } = await open()
    const outcome = probe.request(1)
    const error = { code: -32000, message: "no", data: { why: [1] } }
    duct.emit(line({ id: 1, error }))
    expect(await outcome).toMatchObject({ kind: "message", message: { kind: "error", id: 1, error } })
  })

  it("that comes twice is noise the second time", async () => {
    const { duct, probe } = await open()
    const outcome = probe.request(1)
    duct.emit(line({ id: 1, result: { n: 1 } }) + line({ id: 1, result: { n: 2 } }))
    expect(await outcome).toEqual(answered(1, { n: 1 }))
    expect(probe.outcomes).toHaveLength(1)
    expect(probe.noises).toEqual([output(line({ id: 1, result: { n: 2 } }).trim())])
  })

  it("to a request that was let go is dropped without a word, once", async () => {
    const { duct, probe } = await open()
    const settled: Outcome[] = []
    const sent = probe.link.request(
      { id: 7, method: "ask", text: "{}", headers: undefined, caller: undefined, repeatable: false },
      { message() {}, settle: (outcome) => settled.push(outcome) },
    )
    sent.letGo()
    sent.letGo()
    duct.emit(line({ id: 7, result: {} }))
    expect(settled).toEqual([])
    expect(probe.noises).toEqual([])
    duct.emit(line({ id: 7, result: {} }))
    expect(probe.noises).toHaveLength(1)
    duct.breakDown()
    expect(settled).toEqual([])
  })

  it("without an id, and what the server says of its own, goes to the connection", async () => {
    const { duct, probe } = await open()
    const error = { code: -32700, message: "what?" }
    duct.emit(line({ error }) + line({ id: null, error }) + line({ method: "ping", id: 1 }) + line({ method: "note" }))
    expect(probe.messages).toEqual([
      { kind: "error", id: undefined, error },
      { kind: "error", id: undefined, error },
      { kind: "request", id: 1, method: "ping", params: undefined },
      { kind: "notification", id: undefined, method: "note", params: undefined },
    ])
    expect(probe.noises).toEqual([])
  })
})

describe("what comes out of the pipe", () => {
  const text = "—☀😀"

  it.each([
    ["CRLF", (answer: string) => answer.replace("\n", "\r\n")],
    ["a byte order mark", (answer: string) => `\ufeff${answer}`],
    ["empty lines around", (answer: string) => `\n\r\n${answer}\r\n\n`],
    ["space around", (answer: string) => ` \t${answer.trim()} \t\n`],
  ])("is read with %s, wherever it is cut", async (_, dress) => {
    const bytes = encode(dress(line({ id: 1, result: { text } })))
    await fc.assert(
      fc.asyncProperty(fc.array(fc.nat(bytes.length), { maxLength: 8 }), async (places) => {
        const { duct, probe } = await open()
        const outcome = probe.request(1)
        const borders = [0, ...places, bytes.length].sort((a, b) => a - b)
        for (const [index, end] of borders.slice(1).entries()) duct.emit(bytes.subarray(borders[index], end))
        expect(await outcome).toEqual(answered(1, { text }))
        expect(probe.noises).toEqual([])
      }),
      { numRuns: 50 },
    )
  })

  it.each([
    ["plain log text", "Server listening\n", "Server listening"],
    ["a line of a JSON logger", '{"level":30,"msg":"x"}\n', '{"level":30,"msg":"x"}'],
    ["a logger's line with an id that is in flight", '{"id":1,"error":"x"}\n', '{"id":1,"error":"x"}'],
    ["a message of another JSON-RPC", '{"jsonrpc":"1.0","id":9,"result":{}}\n', '{"jsonrpc":"1.0","id":9,"result":{}}'],
    ["a JSON value that is no object", "42\n", "42"],
    ["an array, where there are no batches", '[{"jsonrpc":"2.0","id":1,"result":{}}]\n', /^\[\{/],
    ["bytes that are no UTF-8", Uint8Array.of(0xff, 0xfe, 10), "\ufffd\ufffd"],
    ["controls and colours", "\u001b[31mred\u0000\u202e\n", "[31mred"],
    ["a long line", `${"x".repeat(5_000)}\n`, /^x{199}…$/],
    ["a request with a null id", '{"jsonrpc":"2.0","id":null,"method":"ping"}\n', /^\{"jsonrpc"/],
  ])("is passed over and told when it is %s, and the link goes on", async (_, bytes, told) => {
    const { duct, probe } = await open()
    const outcome = probe.request(1)
    duct.emit(bytes)
    expect(probe.noises).toHaveLength(1)
    expect(probe.noises[0]).toEqual(output(told instanceof RegExp ? expect.stringMatching(told) : told))
    expect(probe.messages).toEqual([])
    duct.emit(line({ id: 1, result: {} }))
    expect(await outcome).toEqual(answered(1, {}))
  })

  it("is not guessed when log text stands before it on its line, but told", async () => {
    const { duct, probe } = await open()
    let settled = 0
    void probe.request(1).then(() => settled++)
    duct.emit(`log ${line({ id: 1, result: {} })}`)
    expect(probe.noises).toEqual([output(`log ${line({ id: 1, result: {} }).trim()}`)])
    await Promise.resolve()
    expect(settled).toBe(0)
  })

  it("is one array of messages where the revision has those", async () => {
    const { duct, probe } = await open()
    probe.link.adopt({ ...adopted, batches: true })
    const outcomes = Promise.all([probe.request(1), probe.request("b")])
    duct.emit(
      `[${[{ id: "b", result: {} }, { method: "note" }, { id: 1, result: { n: 1 } }].map(line).join(",").replaceAll("\n", "")}]\n`,
    )
    expect(await outcomes).toEqual([answered(1, { n: 1 }), answered("b", {})])
    expect(probe.messages).toMatchObject([{ kind: "notification", method: "note" }])
    probe.link.adopt(adopted)
    duct.emit(`[${line({ method: "note" }).trim()}]\n`)
    expect(probe.noises).toHaveLength(1)
  })
})

describe("whatever comes", () => {
  const id = fc.constantFrom<string | number>(0, 1, 2, "0", "1", "")
  const piece = fc.oneof(
    id.map((one) => line({ id: one, result: {} })),
    id.map((one) => line({ id: one, error: { code: 1, message: "no" } })),
    id.map((one) => line({ id: one, method: "ask" })),
    id.map((one) => line({ id: one, result: { long: "x".repeat(3_000) } })),
    id.map((one) => line({ id: one, result: 1 })),
    fc.constantFrom("log ", "\n", "{", '"', "\r\n", "[1]\n", line({ method: "note" })),
    fc.uint8Array({ maxLength: 20 }),
  )

  it("every request is settled exactly once, and nothing fails", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(piece, { maxLength: 30 }), fc.boolean(), async (pieces, batches) => {
        const { duct, probe } = await open({ maxMessageBytes: 1_000 })
        probe.link.adopt({ ...adopted, batches })
        const ids = [0, 1, 2, "0", "1", ""]
        const outcomes = Promise.all(ids.map((one) => probe.request(one)))
        for (const one of pieces) duct.emit(one)
        duct.breakDown()
        await outcomes
        expect(probe.outcomes.map(([one]) => one)).toHaveLength(ids.length)
        expect(new Set(probe.outcomes.map(([one]) => one))).toEqual(new Set(ids))
        for (const [one, outcome] of probe.outcomes)
          if (outcome.kind === "message") expect(outcome.message.id).toBe(one)
      }),
      { numRuns: 300 },
    )
  })

  it("no more than a thousand requests that were let go are remembered", async () => {
    const { duct, probe } = await open()
    const outbound = { method: "ask", text: "{}", headers: undefined, caller: undefined, repeatable: false }
    for (let one = 0; one <= 1_000; one++)
      probe.link.request({ ...outbound, id: one }, { message() {}, settle() {} }).letGo()
    duct.emit(line({ id: 1, result: {} }) + line({ id: 1_000, result: {} }))
    expect(probe.noises).toEqual([])
    duct.emit(line({ id: 0, result: {} }))
    expect(probe.noises).toHaveLength(1)
  })
})

describe("an answer that cannot be read", () => {
  const deep = `${"[".repeat(20)}${"]".repeat(20)}`
  it.each([
    ["nested too deep", `{"a":${deep}}`, "nested deeper than 16 levels (limits.maxDepth)"],
    ["too wide", JSON.stringify({ a: Array(200).fill(0) }), "more than 100 keys and items (limits.maxKeys)"],
    ["not quite JSON", '{"a":NaN}', "the body is not valid JSON"],
    ["cut off", '{"a":"b', "the body is not valid JSON"],
    ["no object", "5", 'a message needs a "method", or an "id" with one of "result" and "error"'],
  ])("fails the request that it answers at once, and no other (%s)", async (_, result, why) => {
    const { duct, probe } = await open({ maxDepth: 16, maxKeys: 100 })
    const other = probe.request(2)
    const outcome = probe.request(1, "tools/call")
    duct.emit(`{"jsonrpc":"2.0","id":1,"result":${result}}\n`)
    const refused = await outcome
    expect(refused).toMatchObject({ kind: "refused", error: { kind: "transport", reason: "unreadable_answer" } })
    expect(refused.kind === "refused" && refused.error.message).toBe(
      `tools/call: the answer of server cannot be read: ${why}`,
    )
    expect(probe.noises).toHaveLength(1)
    duct.emit(line({ id: 2, result: {} }))
    expect(await other).toEqual(answered(2, {}))
  })
})

describe("an answer that is too long", () => {
  const limits = { maxMessageBytes: 4_096 }
  const long = "x".repeat(9_000)
  const lengthOf = (message: string): number => encode(message).length - 1

  it.each([
    ["first", line({ id: 1, result: { long } })],
    ["last", `{"jsonrpc":"2.0","result":{"id":2,"long":"${long}"},"id":1}\n`],
    [
      "last, after a text that looks like one",
      `{"jsonrpc":"2.0","result":{"a":"${long}\\\\\\",\\"id\\":2,"},"id":1}\n`,
    ],
  ])("fails only the request that it answers (its id stands %s)", async (_, message) => {
    const { duct, probe } = await open(limits)
    const others = Promise.all([probe.request(2), probe.request("1")])
    const outcome = probe.request(1, "tools/call")
    duct.emit(message + line({ id: 2, result: {} }) + line({ id: "1", result: {} }))
    const refused = await outcome
    expect(refused).toMatchObject({ kind: "refused", error: { kind: "transport", reason: "message_too_large" } })
    expect(refused.kind === "refused" && refused.error.message).toBe(
      `tools/call: the answer of server cannot be read: it has ${lengthOf(message)} bytes, at most 4096 are taken (limits.maxMessageBytes)`,
    )
    expect(await others).toEqual([answered(2, {}), answered("1", {})])
    expect(probe.noises).toEqual([])
    expect(probe.goneErrors).toEqual([])
  })

  const hidden = `{"jsonrpc":"2.0","a":"${long.slice(0, 5_000)}","id":1,"b":"${long.slice(0, 5_000)}"}\n`

  it("is that of the only request in flight when its id cannot be seen", async () => {
    const { duct, probe } = await open(limits)
    const outcome = probe.request(1)
    duct.emit(hidden)
    expect(await outcome).toMatchObject({ kind: "refused", error: { reason: "message_too_large" } })
  })

  it.each([
    ["its id cannot be seen and two are in flight", [1, 2], hidden],
    ["nothing is in flight", [], hidden],
    ["it answers nothing that is in flight", [1], line({ id: 5, result: { long } })],
    ["it is a notification", [1], line({ method: "note", params: { long } })],
    ["it is no object", [1], `${long}\n`],
  ])("is noise when %s", async (_, ids, message) => {
    const { duct, probe } = await open(limits)
    const outcomes = Promise.all(ids.map((id) => probe.request(id)))
    duct.emit(message)
    expect(probe.noises).toEqual([output(expect.stringContaining(message.slice(0, 30)))])
    for (const id of ids) duct.emit(line({ id, result: {} }))
    expect(await outcomes).toEqual(ids.map((id) => answered(id, {})))
  })
})

describe("the end of a pipe", () => {
  const gone = (error: McpError = DOWN): Outcome => ({ kind: "gone", error })

  it("is heard once by every request in flight, and by those that come later", async () => {
    const { duct, probe } = await open()
    const outcomes = Promise.all([probe.request(1), probe.request(2)])
    duct.breakDown()
    duct.breakDown(new McpError("again", { kind: "connection_down", reason: "pipe_closed" }))
    expect(await outcomes).toEqual([gone(), gone()])
    expect(await probe.request(3)).toEqual(gone())
    await expect(probe.link.send("{}", undefined)).rejects.toBe(DOWN)
    expect(probe.outcomes).toHaveLength(3)
    expect(probe.goneErrors).toEqual([DOWN])
    expect(duct.sent).toHaveLength(2)
  })

  it("by close() is told to requests but not to the connection, and what comes after it is not read", async () => {
    const { duct, probe } = await open()
    const outcome = probe.request(1)
    const closing = probe.link.close()
    expect(probe.link.close()).toBe(closing)
    duct.emit(`${line({ id: 1, result: {} })}${line({ method: "note" })}noise\n`)
    duct.breakDown()
    await closing
    const error = { kind: "connection_down", reason: "pipe_closed", message: "the connection to server was closed" }
    expect(await outcome).toMatchObject({ kind: "gone", error })
    expect(await probe.request(2)).toMatchObject({ kind: "gone", error })
    await expect(probe.link.send("{}", undefined)).rejects.toMatchObject(error)
    expect([probe.messages, probe.noises, probe.goneErrors, duct.closings]).toEqual([[], [], [], 1])
  })

  it("may be brought about by whoever hears of it, without end or repetition", async () => {
    const limits = resolveClientLimits()
    const duct = new ScriptedDuct(limits.maxMessageBytes)
    const link = createPipeLink({ origin: "server", duct, limits, decode: createDecodeUtf8() })
    const told: string[] = []
    const closeAnd = (what: string): void => {
      told.push(what)
      void link.close()
    }
    await link.open({
      message: () => closeAnd("message"),
      gone: () => closeAnd("gone"),
      noise: () => closeAnd("noise"),
    })
    link.request(
      { id: 1, method: "ask", text: "{}", headers: undefined, caller: undefined, repeatable: false },
      { message() {}, settle: () => closeAnd("settled") },
    )
    duct.breakDown()
    duct.emit("noise\n")
    await link.close()
    expect(told).toEqual(["settled", "gone"])
    expect(duct.closings).toBe(1)
  })

  it("while opening fails the opening, and everything after it", async () => {
    const limits = resolveClientLimits()
    const refused = new McpError("no", { kind: "transport", reason: "cannot_spawn" })
    const duct: Duct = { open: () => Promise.reject(refused), send: () => undefined, close: async () => {} }
    const link = createPipeLink({ origin: "server", duct, limits, decode: createDecodeUtf8() })
    await expect(link.open({ message() {}, gone() {}, noise() {} })).rejects.toBe(refused)
    await expect(link.send("{}", undefined)).rejects.toBe(refused)
    await link.close()
  })
})

describe("what is sent", () => {
  it("goes out as it is, in order", async () => {
    const { duct, probe } = await open()
    void probe.request(1, "a")
    await probe.link.send('{"jsonrpc":"2.0","method":"b"}', undefined)
    expect(duct.sent).toEqual(['{"jsonrpc":"2.0","id":1,"method":"a","params":{}}', '{"jsonrpc":"2.0","method":"b"}'])
  })

  it("fails alone when the pipe does not take it, after the call that sends it has returned", async () => {
    const { duct, probe } = await open()
    const first = probe.request(1)
    duct.refusal = new McpError("full", { kind: "transport", reason: "overloaded" })
    const second = probe.request(2)
    expect(probe.outcomes).toEqual([])
    expect(await second).toEqual({ kind: "refused", error: duct.refusal })
    await expect(probe.link.send("{}", undefined)).rejects.toBe(duct.refusal)
    duct.refusal = undefined
    duct.emit(line({ id: 1, result: {} }))
    expect(await first).toEqual(answered(1, {}))
  })
})
