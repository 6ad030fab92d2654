import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createDecodeUtf8, parseMessage, parseMessages } from "../../../src/core/wire/parse.js"

const decode = createDecodeUtf8()
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const parse = (text: string) => parseMessages(bytes(text), decode)

const note = '{"jsonrpc":"2.0","method":"n"}'
const result = '{"jsonrpc":"2.0","id":1,"result":{}}'

describe("where servers may send batches", () => {
  it("one message is read as ever", () => {
    expect(parse(result)).toEqual([{ kind: "result", id: 1, result: {} }])
    expect(parse('{"jsonrpc":"2.0","id":1,"id":2,"result":{}}')).toMatchObject([
      { kind: "fault", reason: "duplicate_key" },
    ])
  })

  it("the messages of an array are read in their order", () => {
    expect(parse(`[${note},${result}]`)).toEqual([
      { kind: "notification", id: undefined, method: "n", params: undefined },
      { kind: "result", id: 1, result: {} },
    ])
  })

  it("one that is no message takes no other with it", () => {
    expect(parse(`[${note},{},[${note}],1,${result}]`)).toMatchObject([
      { kind: "notification" },
      { kind: "fault", reason: "invalid_request" },
      { kind: "fault", reason: "batch_unsupported" },
      { kind: "fault", reason: "invalid_request" },
      { kind: "result" },
    ])
  })

  it("1,000 messages are read", () => {
    expect(parse(`[${Array(1_000).fill(note).join()}]`)).toHaveLength(1_000)
  })

  it.each<[what: string, text: string, reason: string]>([
    ["an empty array", "[]", "invalid_request"],
    ["more than 1,000 messages", `[${Array(1_001).fill(note).join()}]`, "invalid_request"],
    ["half an array", `[${note}`, "parse_error"],
    ["a forbidden key", '[{"__proto__":1}]', "forbidden_key"],
    ["too many levels", "[".repeat(65), "too_deep"],
    ["text", "hello", "parse_error"],
  ])("%s is one fault", (_what, text, reason) => {
    expect(parse(text)).toMatchObject([{ kind: "fault", reason }])
  })

  it("the limits hold for the whole of it", () => {
    const whole = bytes(`[${note},${note}]`)
    expect(parseMessages(whole, decode, { maxDepth: 2, maxKeys: 7 })).toHaveLength(2)
    expect(parseMessages(whole, decode, { maxDepth: 1, maxKeys: 7 })).toMatchObject([{ reason: "too_deep" }])
    expect(parseMessages(whole, decode, { maxDepth: 2, maxKeys: 6 })).toMatchObject([{ reason: "too_many_keys" }])
  })

  it("whatever is no array is what it is elsewhere", () => {
    const text = fc.oneof(fc.json(), fc.string(), fc.constantFrom(note, result))
    fc.assert(
      fc.property(
        text.filter((given) => !given.trimStart().startsWith("[")),
        (given) => {
          expect(parse(given)).toEqual([parseMessage(bytes(given), decode)])
        },
      ),
    )
  })

  it("never throws, whatever the bytes, and always says something", () => {
    fc.assert(
      fc.property(
        fc.oneof(
          fc.uint8Array(),
          fc.array(fc.json()).map((all) => bytes(`[${all.join()}]`)),
        ),
        (raw) => {
          expect(parseMessages(raw, decode).length).toBeGreaterThan(0)
        },
      ),
    )
  })
})
