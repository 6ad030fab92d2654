import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { createDecodeUtf8, parseMessage, parseParsed } from "../../../src/core/wire/parse.js"
import { SCAN_LIMITS } from "../../../src/core/wire/scan.js"

const decode = createDecodeUtf8()
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const parse = (text: string) => parseMessage(bytes(text), decode)

describe("a message is read", () => {
  it.each([
    [
      "a request",
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1}}',
      { kind: "request", id: 1, method: "a", params: { x: 1 } },
    ],
    [
      "a request without params",
      '{"jsonrpc":"2.0","id":"","method":"a"}',
      { kind: "request", id: "", method: "a", params: undefined },
    ],
    ["id 0", '{"jsonrpc":"2.0","id":0,"method":"a"}', { kind: "request", id: 0, method: "a", params: undefined }],
    [
      "an integer written with an exponent",
      '{"jsonrpc":"2.0","id":1e3,"method":"a"}',
      { kind: "request", id: 1000, method: "a", params: undefined },
    ],
    [
      "a notification",
      '{"jsonrpc":"2.0","method":"n"}',
      { kind: "notification", id: undefined, method: "n", params: undefined },
    ],
    ["a result", '{"jsonrpc":"2.0","id":1,"result":{}}', { kind: "result", id: 1, result: {} }],
    [
      "an error",
      '{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m","data":[1]}}',
      { kind: "error", id: 1, error: { code: -1, message: "m", data: [1] } },
    ],
    [
      "an error without id",
      '{"jsonrpc":"2.0","error":{"code":-1,"message":"m"}}',
      { kind: "error", id: undefined, error: { code: -1, message: "m" } },
    ],
    [
      "an error whose id is null",
      '{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"m"}}',
      { kind: "error", id: undefined, error: { code: -1, message: "m" } },
    ],
    [
      "unknown members at the top",
      '{"jsonrpc":"2.0","id":1,"method":"a","Method":"b"}',
      { kind: "request", id: 1, method: "a", params: undefined },
    ],
    [
      "a byte order mark in front",
      '\uFEFF{"jsonrpc":"2.0","id":1,"method":"a"}',
      { kind: "request", id: 1, method: "a", params: undefined },
    ],
    [
      "the same key twice deeper down: the last one wins",
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":{"y":1,"y":2}}}',
      { kind: "request", id: 1, method: "a", params: { x: { y: 2 } } },
    ],
    [
      "keys that look like params deeper down",
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"params":{"x":1},"y":{"x":1,"z":[{"x":2}]}}}',
      { kind: "request", id: 1, method: "a", params: { params: { x: 1 }, y: { x: 1, z: [{ x: 2 }] } } },
    ],
    [
      "a value that only looks like a forbidden key",
      '{"jsonrpc":"2.0","id":1,"method":"__proto__"}',
      { kind: "request", id: 1, method: "__proto__", params: undefined },
    ],
    [
      "a constructor key",
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"constructor":{}}}',
      { kind: "request", id: 1, method: "a", params: { constructor: {} } },
    ],
  ])("%s", (_what, text, expected) => {
    expect(parse(text)).toEqual(expected)
  })
})

describe("what is no message is a fault", () => {
  const deep = (levels: number): string =>
    `{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":${"[".repeat(levels)}${"]".repeat(levels)}}}`
  it.each<[what: string, text: string, code: number, reason: string, id: string | number | undefined]>([
    ["nothing", "", -32700, "parse_error", undefined],
    ["half a message", '{"jsonrpc":"2.0"', -32700, "parse_error", undefined],
    ["text", "hello", -32700, "parse_error", undefined],
    ["null", "null", -32600, "invalid_request", undefined],
    ["a number", "1", -32600, "invalid_request", undefined],
    ["an empty object", "{}", -32600, "invalid_request", undefined],
    ["a batch", '[{"jsonrpc":"2.0","id":1,"method":"a"}]', -32600, "batch_unsupported", undefined],
    ["another version", '{"jsonrpc":2.0,"id":1,"method":"a"}', -32600, "invalid_request", 1],
    ["id null", '{"jsonrpc":"2.0","id":null,"method":"a"}', -32600, "invalid_request", undefined],
    ["a fraction as id", '{"jsonrpc":"2.0","id":1.5,"method":"a"}', -32600, "invalid_request", undefined],
    [
      "an id beyond the safe range",
      '{"jsonrpc":"2.0","id":9007199254740993,"method":"a"}',
      -32600,
      "invalid_request",
      undefined,
    ],
    ["an object as id", '{"jsonrpc":"2.0","id":{},"method":"a"}', -32600, "invalid_request", undefined],
    ["a method that is no string", '{"jsonrpc":"2.0","id":1,"method":1}', -32600, "invalid_request", 1],
    ["params as an array", '{"jsonrpc":"2.0","id":"a","method":"a","params":[]}', -32602, "invalid_params", "a"],
    ["params as text", '{"jsonrpc":"2.0","id":1,"method":"a","params":"x"}', -32602, "invalid_params", 1],
    ["params null", '{"jsonrpc":"2.0","id":1,"method":"a","params":null}', -32602, "invalid_params", 1],
    [
      "result and error at once",
      '{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}',
      -32600,
      "invalid_request",
      undefined,
    ],
    ["an error without a message", '{"jsonrpc":"2.0","id":1,"error":{"code":1}}', -32600, "invalid_request", undefined],
    ["a result that is no object", '{"jsonrpc":"2.0","id":1,"result":"x"}', -32600, "invalid_request", undefined],
    ["neither method nor result", '{"jsonrpc":"2.0","id":1}', -32600, "invalid_request", 1],
    ["the method twice", '{"jsonrpc":"2.0","id":1,"method":"a","method":"b"}', -32600, "duplicate_key", undefined],
    [
      "the method twice, once escaped",
      '{"jsonrpc":"2.0","id":1,"method":"a","meth\\u006fd":"b"}',
      -32600,
      "duplicate_key",
      undefined,
    ],
    ["the id twice", '{"jsonrpc":"2.0","id":1,"id":2,"method":"a"}', -32600, "duplicate_key", undefined],
    [
      "params twice",
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{},"params":{}}',
      -32600,
      "duplicate_key",
      undefined,
    ],
    [
      "a key twice under params",
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"name":"a","name":"b"}}',
      -32600,
      "duplicate_key",
      1,
    ],
    [
      "a key twice under params spelled with escapes",
      '{"jsonrpc":"2.0","id":1,"method":"a","p\\u0061rams":{"name":"a","name":"b"}}',
      -32600,
      "duplicate_key",
      1,
    ],
    [
      "__proto__ in arguments",
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"arguments":{"__proto__":{"admin":true}}}}',
      -32600,
      "forbidden_key",
      undefined,
    ],
    [
      "__proto__ with escapes",
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"\\u005f_proto_\\u005F":1}}',
      -32600,
      "forbidden_key",
      undefined,
    ],
    [
      "a number that overflows",
      '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":1e400}}',
      -32600,
      "number_out_of_range",
      undefined,
    ],
    [
      "a number that overflows by its digits",
      `{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":-${"9".repeat(400)}}}`,
      -32600,
      "number_out_of_range",
      undefined,
    ],
    ["65 levels", deep(63), -32600, "too_deep", undefined],
    ["100,000 levels", "[".repeat(100_000), -32600, "too_deep", undefined],
    [
      "50,001 items",
      `{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[${"1,".repeat(50_001)}1]}}`,
      -32600,
      "too_many_keys",
      undefined,
    ],
  ])("%s", (_what, text, code, reason, id) => {
    expect(parse(text)).toMatchObject({ kind: "fault", status: 400, code, reason })
    expect(parse(text)).toHaveProperty("id", id)
  })

  it.each([
    ["FF FE", [0xff, 0xfe, 0x0a]],
    ["an overlong NUL", [0x22, 0xc0, 0x80, 0x22]],
    ["a surrogate in UTF-8", [0x22, 0xed, 0xa0, 0x80, 0x22]],
    ["a cut character", [0x22, 0xe2, 0x98]],
  ])("bytes that are not UTF-8: %s", (_what, raw) => {
    expect(parseMessage(Uint8Array.from(raw), decode)).toMatchObject({ code: -32700, reason: "invalid_utf8" })
  })

  it("64 levels are read", () => {
    expect(parse(deep(62))).toMatchObject({ kind: "request" })
  })

  it("a long finite number is read", () => {
    expect(parse(`{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":0.${"1".repeat(400)},"y":1e300}}`)).toMatchObject({
      kind: "request",
    })
  })
})

describe("the parser against the platform's", () => {
  const key = fc.oneof(fc.string(), fc.constantFrom("params", "method", "id", "\\", '"', "\u2028", "constructor"))
  const json = fc.letrec((tie) => ({
    value: fc.oneof(
      { maxDepth: 4 },
      fc.constant(null),
      fc.boolean(),
      fc.double({ noNaN: true, noDefaultInfinity: true }),
      fc.string({ unit: "binary" }),
      fc.array(tie("value"), { maxLength: 5 }),
      fc.dictionary(
        key.filter((name) => name !== "__proto__"),
        tie("value"),
        { maxKeys: 5 },
      ),
    ),
  })).value

  it("reads every request as JSON.parse does", () => {
    fc.assert(
      fc.property(
        fc.dictionary(
          key.filter((name) => name !== "__proto__"),
          json,
          { maxKeys: 6 },
        ),
        (params) => {
          const text = JSON.stringify({ params, jsonrpc: "2.0", method: "m", id: 7 })
          expect(parse(text)).toEqual({
            kind: "request",
            id: 7,
            method: "m",
            params: JSON.parse(JSON.stringify(params)),
          })
        },
      ),
    )
  })

  it("never throws, whatever the bytes", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (raw) => {
        expect(["fault", "request", "notification", "result", "error"]).toContain(parseMessage(raw, decode).kind)
      }),
    )
  })

  it("never throws on cut or damaged messages", () => {
    const whole = '{"jsonrpc":"2.0","id":"\\u00e9\\\\","method":"tools/call","params":{"a":[1e5,-0,{"b":"\\""}]}}'
    fc.assert(
      fc.property(fc.nat(whole.length), fc.nat(255), (at, value) => {
        const raw = bytes(whole)
        parseMessage(raw.subarray(0, at), decode)
        raw[at] = value
        parseMessage(raw, decode)
      }),
    )
  })

  it("reads any parsed value of a framework without throwing", () => {
    fc.assert(fc.property(fc.anything(), (value) => void parseParsed(value)))
  })
})

it("bounds can be set lower", () => {
  const text = '{"jsonrpc":"2.0","id":1,"method":"a","params":{"x":[]}}'
  expect(parseMessage(bytes(text), decode, { ...SCAN_LIMITS, maxDepth: 2 })).toMatchObject({ reason: "too_deep" })
  expect(parseMessage(bytes(text), decode, { ...SCAN_LIMITS, maxKeys: 3 })).toMatchObject({ reason: "too_many_keys" })
})
