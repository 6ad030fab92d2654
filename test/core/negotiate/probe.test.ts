import fc from "fast-check"
import { describe, expect, it } from "vitest"
import { codes, isModernError } from "../../../src/core/error/codes.js"
import { McpError } from "../../../src/core/error/error.js"
import { classifyProbe, type HttpOutcome, type StdioOutcome, type Verdict } from "../../../src/core/negotiate/probe.js"

const MODERN = "2026-07-28"
const JSON_TYPE = "application/json"
const STREAM_TYPE = "text/event-stream"

const discover = { resultType: "complete", supportedVersions: [MODERN], capabilities: {} }
const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)
const answer = (result: unknown): string => JSON.stringify({ jsonrpc: "2.0", id: 1, result })
const refusal = (code: number, data?: unknown, id: unknown = 1): string =>
  JSON.stringify({ jsonrpc: "2.0", id, error: { code, message: "no", data } })
const http = (status: number, contentType?: string, body?: string | Uint8Array | object): HttpOutcome => ({
  kind: "http",
  status,
  contentType,
  body,
})

/** A verdict in one word: its kind, or the reason of its error. */
function short(verdict: Verdict): string {
  return verdict.kind === "error" ? verdict.error.reason : verdict.kind
}

function errorOf(verdict: Verdict): McpError {
  if (verdict.kind !== "error") throw new Error(`the verdict is ${verdict.kind}`)
  return verdict.error
}

describe("over HTTP, by status and body", () => {
  const bodies = {
    nothing: undefined,
    blank: "",
    html: "<!doctype html><title>Not Found</title>",
    other: '{"error":"unauthorized"}',
    scalar: '"ok"',
    garbage: '{"jsonrpc":"2.0","id":1,"resu',
    request: '{"jsonrpc":"2.0","id":1,"method":"ping"}',
    notFound: refusal(-32601),
    invalid: refusal(-32602),
    own: refusal(-32000),
    mutual: refusal(-32022, { supported: [MODERN] }),
    none: refusal(-32022, { supported: ["2025-11-25"] }),
    plain: answer({ ok: true }),
    found: answer(discover),
  }
  type Body = keyof typeof bodies

  const silent: readonly Body[] = ["nothing", "blank", "html", "other", "scalar", "garbage", "request"]
  const table: readonly (readonly [status: number, body: Body, expected: string])[] = [
    ...[400, 404, 405].flatMap((status) =>
      [...silent, "invalid" as const, "own" as const].map((body) => [status, body, "legacy"] as const),
    ),
    ...[200, 201, 202, 204, 301, 307].flatMap((status) =>
      silent.map((body) => [status, body, "unusable_response"] as const),
    ),
    ...[402, 406, 409, 410, 413, 415, 418, 421, 422, 451].flatMap((status) =>
      silent.map((body) => [status, body, "unrecognised_error"] as const),
    ),
    ...[200, 202, 302, 406, 415].flatMap((status) =>
      (["invalid", "own"] as const).map((body) => [status, body, "unrecognised_error"] as const),
    ),
    ...[200, 202, 302, 400, 404, 405, 406, 415].flatMap((status) => [
      [status, "notFound", "legacy"] as const,
      [status, "mutual", "modern_retry"] as const,
      [status, "none", "no_common_version"] as const,
      [status, "plain", "legacy"] as const,
      [status, "found", "modern"] as const,
    ]),
    ...[401, 403].flatMap((status) =>
      (Object.keys(bodies) as Body[]).map((body) => [status, body, "authorize"] as const),
    ),
    ...[408, 429, 500, 501, 502, 503, 504, 529].flatMap((status) =>
      (Object.keys(bodies) as Body[]).map((body) => [status, body, "retry"] as const),
    ),
  ]

  it.each(table)("%i with %s: %s", (status, body, expected) => {
    const text = bodies[body]
    expect(short(classifyProbe("http", http(status, JSON_TYPE, text)))).toBe(expected)
    if (text !== undefined) expect(short(classifyProbe("http", http(status, JSON_TYPE, bytes(text))))).toBe(expected)
  })
})

describe("a body is read", () => {
  it.each<[what: string, contentType: string | undefined, body: string | Uint8Array | object, expected: string]>([
    ["as JSON", JSON_TYPE, refusal(-32601), "legacy"],
    ["as JSON with parameters, in any case", "Application/JSON; charset=UTF-8", refusal(-32601), "legacy"],
    ["as JSON without a content type", undefined, refusal(-32601), "legacy"],
    ["as JSON under the wrong name", "text/plain", refusal(-32022, { supported: [MODERN] }), "modern_retry"],
    ["behind a byte order mark", JSON_TYPE, `\ufeff${refusal(-32601)}`, "legacy"],
    ["behind a byte order mark in bytes", JSON_TYPE, bytes(`\ufeff${refusal(-32601)}`), "legacy"],
    ["not when it is not UTF-8", JSON_TYPE, Uint8Array.from([0x22, 0xff, 0x22]), "unusable_response"],
    ["as a decoded message", undefined, { jsonrpc: "2.0", id: 1, error: { code: -32601, message: "" } }, "legacy"],
    ["as a decoded message whatever its type is said to be", STREAM_TYPE, JSON.parse(answer({})), "legacy"],
    ["as the first response of a batch", JSON_TYPE, `[{"jsonrpc":"2.0","method":"n"},${refusal(-32601)}]`, "legacy"],
    ["not as an empty batch", JSON_TYPE, "[]", "unusable_response"],
    ["with the id null", JSON_TYPE, refusal(-32601, undefined, null), "legacy"],
    ["without an id", JSON_TYPE, '{"jsonrpc":"2.0","error":{"code":-32601,"message":""}}', "legacy"],
    ["without a message", JSON_TYPE, '{"jsonrpc":"2.0","id":1,"error":{"code":-32020}}', "header_mismatch"],
    [
      "with a result of null beside its error",
      JSON_TYPE,
      '{"jsonrpc":"2.0","result":null,"error":{"code":-32601}}',
      "legacy",
    ],
    [
      "with an error of null beside its result",
      JSON_TYPE,
      '{"jsonrpc":"2.0","id":1,"error":null,"result":{}}',
      "legacy",
    ],
    ["with a result that is no object", JSON_TYPE, answer("welcome"), "legacy"],
    ["not without a version", JSON_TYPE, '{"id":1,"result":{}}', "unusable_response"],
    [
      "not with a code that is no integer",
      JSON_TYPE,
      '{"jsonrpc":"2.0","error":{"code":"-32022"}}',
      "unusable_response",
    ],
    ["not as JSON where it is said to be a stream", STREAM_TYPE, refusal(-32601), "unusable_response"],
    ["not as a stream where it is said to be JSON", JSON_TYPE, `data: ${refusal(-32601)}\n\n`, "unusable_response"],
  ])("%s", (_what, contentType, body, expected) => {
    expect(short(classifyProbe("http", http(200, contentType, body)))).toBe(expected)
  })

  const event = (data: string): string => `data: ${data}\n\n`
  const note = '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":"hi"}}'
  it.each<[what: string, body: string, expected: string]>([
    ["with a result", event(answer(discover)), "modern"],
    ["with an error", event(refusal(-32602)), "unrecognised_error"],
    ["with method not found", event(refusal(-32601)), "legacy"],
    ["with notifications before the response", event(note) + event(answer(discover)), "modern"],
    [
      "with a request before the response",
      event('{"jsonrpc":"2.0","id":1,"method":"ping"}') + event(answer({})),
      "legacy",
    ],
    ["with an event for priming", `id: 1\ndata:\n\nid: 2\n${event(answer(discover))}`, "modern"],
    ["with comments and a retry", `: keep-alive\n\nretry: 100\n\n${event(answer(discover))}`, "modern"],
    ["with one response over several lines", 'data: {"jsonrpc":"2.0",\r\ndata: "id":1,"result":{}}\r\n\r\n', "legacy"],
    ["with two responses, of which the first counts", event(refusal(-32601)) + event(answer(discover)), "legacy"],
    ["behind a byte order mark", `\ufeff${event(answer(discover))}`, "modern"],
    ["with data that is no JSON", event("hello") + event(answer(discover)), "modern"],
    ["that broke off in the middle", event(answer(discover)).slice(0, -20), "unusable_response"],
    ["with notifications only", event(note), "unusable_response"],
    ["without events", ": hello\n\n", "unusable_response"],
    ["that is empty", "", "unusable_response"],
  ])("as a stream %s", (_what, body, expected) => {
    for (const sent of [body, bytes(body)]) {
      expect(short(classifyProbe("http", http(200, `${STREAM_TYPE}; charset=utf-8`, sent)))).toBe(expected)
    }
  })
})

describe("what -32022 lists", () => {
  it.each<[data: unknown, expected: string]>([
    [{ supported: [MODERN], requested: "2030-01-01" }, "modern_retry"],
    [{ supported: ["2025-11-25", 1, null, MODERN] }, "modern_retry"],
    [{ supported: [] }, "no_common_version"],
    [{ supported: MODERN }, "no_common_version"],
    [{ supported: { 0: MODERN } }, "no_common_version"],
    [{ supported: null }, "no_common_version"],
    [{ versions: [MODERN] }, "no_common_version"],
    [[MODERN], "no_common_version"],
    [MODERN, "no_common_version"],
    [null, "no_common_version"],
    [undefined, "no_common_version"],
  ])("%j: %s", (data, expected) => {
    expect(short(classifyProbe("stdio", { kind: "error", error: { code: -32022, message: "no", data } }))).toBe(
      expected,
    )
    expect(short(classifyProbe("http", http(400, JSON_TYPE, refusal(-32022, data))))).toBe(expected)
  })
})

describe("an error says what was expected and what came", () => {
  it.each<[outcome: HttpOutcome, message: string]>([
    [http(204), "got HTTP 204 without a body"],
    [http(202, JSON_TYPE, ""), "got HTTP 202 without a body"],
    [http(200, "text/html", "<p>Log\nin\u202e</p>"), "got HTTP 200 with text/html: <p>Log in</p>"],
    [http(200, "image/png", Uint8Array.from([0x89, 0x50, 0xff])), "got HTTP 200 with image/png"],
    [http(418), "got HTTP 418 without a body"],
    [http(200, JSON_TYPE, refusal(-32602)), 'got HTTP 200 with error -32602: "no"'],
    [
      http(200, JSON_TYPE, answer({ supportedVersions: "all" })),
      "expected supportedVersions as a list of strings, got all",
    ],
    [http(200, JSON_TYPE, answer({ resultType: "task" })), 'expected resultType "complete", got task'],
    [http(200, JSON_TYPE, answer({ supportedVersions: [] })), "expected capabilities as an object, got undefined"],
    [
      http(200, JSON_TYPE, answer({ supportedVersions: ["2027-01-01"], capabilities: {} })),
      "the client speaks 2026-07-28, the server 2027-01-01",
    ],
    [http(400, JSON_TYPE, refusal(-32022)), "the client speaks 2026-07-28, the server none"],
    [http(400, JSON_TYPE, refusal(-32021)), 'needs a capability that this client does not declare: "no"'],
    [http(400, JSON_TYPE, refusal(-32020)), 'headers that do not repeat the body: "no"'],
  ])("%j", (outcome, message) => {
    expect(errorOf(classifyProbe("http", outcome)).message).toContain(message)
  })

  it("with the code and the data of the server", () => {
    const data = { requiredCapabilities: { sampling: {} } }
    const error = errorOf(classifyProbe("http", http(400, JSON_TYPE, refusal(codes.missingClientCapability, data))))
    expect(error).toMatchObject({ kind: "protocol", code: -32021, data, retryable: false })
  })

  it("with the versions that were found, of a result", () => {
    const supportedVersions = ["2027-01-01", "2025-11-25"]
    const error = errorOf(classifyProbe("stdio", { kind: "result", result: { supportedVersions, capabilities: {} } }))
    expect(error).toMatchObject({ code: undefined, data: { supported: supportedVersions } })
  })

  it("at a bounded length, whatever the server writes", () => {
    const long = "x".repeat(10_000)
    const versions = Array.from({ length: 100 }, () => long)
    for (const outcome of [
      http(200, long, long),
      http(418, JSON_TYPE, JSON.stringify({ jsonrpc: "2.0", error: { code: 1, message: long } })),
      http(200, JSON_TYPE, answer({ supportedVersions: versions, capabilities: {} })),
      http(400, JSON_TYPE, refusal(-32022, { supported: versions })),
      http(200, JSON_TYPE, answer({ supportedVersions: long })),
    ]) {
      expect(errorOf(classifyProbe("http", outcome)).message.length).toBeLessThan(800)
    }
  })
})

describe("what to try again says why", () => {
  it.each<[outcome: HttpOutcome, reason: string]>([
    [http(503), "HTTP 503"],
    [{ kind: "timeout" }, "timeout"],
    [{ kind: "transport_error" }, "network error"],
    [{ kind: "transport_error", cause: new Error("connect\nrefused") }, "network error: connect refused"],
  ])("%j: %s", (outcome, reason) => {
    expect(classifyProbe("http", outcome)).toEqual({ kind: "retry", reason })
  })
})

describe("whatever comes", () => {
  const json = fc.jsonValue()
  const version = fc.oneof(fc.constantFrom(MODERN, "2025-11-25", "2030-01-01"), fc.string())
  const result = fc.oneof(
    fc.anything(),
    fc.record(
      {
        resultType: fc.oneof(fc.constant("complete"), json),
        supportedVersions: fc.oneof(fc.array(version), json),
        capabilities: fc.oneof(fc.constant({}), json),
        instructions: json,
        serverInfo: json,
        _meta: json,
        ttlMs: json,
        cacheScope: json,
      },
      { requiredKeys: [] },
    ),
  )
  const modernCode = fc.constantFrom(-32020, -32021, -32022)
  const error = (code: fc.Arbitrary<unknown>) =>
    fc.record(
      { code, message: json, data: fc.oneof(json, fc.record({ supported: fc.oneof(fc.array(version), json) })) },
      { requiredKeys: ["code"] },
    )
  const anyError = error(fc.oneof(fc.integer({ min: -32_800, max: 0 }), modernCode, json))
  const envelope = (member: fc.Arbitrary<object>) => member.map((value) => ({ jsonrpc: "2.0", id: 1, ...value }))
  const message = fc.oneof(
    envelope(fc.record({ result })),
    envelope(fc.record({ error: anyError })),
    fc.record({ jsonrpc: json, id: json, error: json, result: json, method: json }, { requiredKeys: [] }),
  )
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    json.map((value) => JSON.stringify(value)),
    message.map((value) => stringify(value)),
    message.map((value) => `data: ${stringify(value)}\n\n`),
  )
  const body = fc.oneof(fc.constant(undefined), text, text.map(bytes), fc.uint8Array(), message, fc.object())
  const contentType = fc.oneof(fc.constantFrom(undefined, JSON_TYPE, STREAM_TYPE, "text/html"), fc.string())
  const status = fc.oneof(fc.integer({ min: 100, max: 599 }), fc.constantFrom(200, 202, 204, 400, 404, 405))
  const versions = fc.option(fc.array(version), { nil: undefined })

  function stringify(value: unknown): string {
    return JSON.stringify(value, (_key, member) => (typeof member === "bigint" ? String(member) : member)) ?? ""
  }

  const stdioOutcome: fc.Arbitrary<StdioOutcome> = fc.oneof(
    fc.record({ kind: fc.constant("result" as const), result }),
    fc.record({ kind: fc.constant("error" as const), error: fc.oneof(anyError, fc.anything()) }),
    fc.constant({ kind: "timeout" as const }),
    fc.record({ kind: fc.constant("closed" as const), cause: fc.anything() }),
  )
  const httpOutcome: fc.Arbitrary<HttpOutcome> = fc.oneof(
    fc.record({ kind: fc.constant("http" as const), status, contentType, body }),
    fc.record({ kind: fc.constant("transport_error" as const), cause: fc.anything() }),
    fc.constant({ kind: "timeout" as const }),
  )
  const kinds: readonly string[] = ["modern", "modern_retry", "legacy", "reconnect", "authorize", "retry", "error"]

  it("nothing is thrown on a pipe, and only a pipe reconnects", () => {
    fc.assert(
      fc.property(stdioOutcome, versions, (outcome, given) => {
        const { kind } = classifyProbe("stdio", outcome, given === undefined ? {} : { versions: given })
        expect(kinds).toContain(kind)
        expect(kind === "reconnect").toBe(outcome.kind === "closed")
        expect(["authorize", "retry"]).not.toContain(kind)
      }),
    )
  })

  it("nothing is thrown over HTTP", () => {
    fc.assert(
      fc.property(httpOutcome, versions, (outcome, given) => {
        const verdict = classifyProbe("http", outcome, given === undefined ? {} : { versions: given })
        expect(kinds).toContain(verdict.kind)
        expect(verdict.kind).not.toBe("reconnect")
        if (verdict.kind === "error") expect(McpError.is(verdict.error, "protocol")).toBe(true)
      }),
    )
  })

  it("a modern error is never legacy evidence", () => {
    fc.assert(
      fc.property(error(modernCode), status, contentType, versions, (member, at, type, given) => {
        const options = given === undefined ? {} : { versions: given }
        const onPipe = classifyProbe("stdio", { kind: "error", error: member }, options)
        expect(["modern_retry", "error"]).toContain(onPipe.kind)
        const whole = { jsonrpc: "2.0", id: 1, error: member }
        const written = type === STREAM_TYPE ? `data: ${JSON.stringify(whole)}\n\n` : JSON.stringify(whole)
        const sent = classifyProbe("http", http(at, type, whole), options)
        expect(["modern_retry", "error", "authorize", "retry"]).toContain(sent.kind)
        if (type === STREAM_TYPE || type === JSON_TYPE) {
          expect(classifyProbe("http", http(at, type, written), options)).toEqual(sent)
          expect(classifyProbe("http", http(at, type, bytes(written)), options)).toEqual(sent)
        }
      }),
    )
  })

  it("a modern verdict names a version of the modern era that both sides list", () => {
    fc.assert(
      fc.property(fc.array(version), fc.array(version), (server, client) => {
        const outcome: StdioOutcome = { kind: "result", result: { supportedVersions: server, capabilities: {} } }
        const verdict = classifyProbe("stdio", outcome, { versions: client })
        if (verdict.kind !== "modern") {
          expect(short(verdict)).toBe("no_common_version")
          return
        }
        expect(server).toContain(verdict.version)
        expect(client).toContain(verdict.version)
        expect(verdict.version >= MODERN).toBe(true)
      }),
    )
  })

  it("any other error of a pipe is legacy evidence", () => {
    fc.assert(
      fc.property(
        anyError.filter(({ code }) => !isModernError(code)),
        (given) => {
          expect(classifyProbe("stdio", { kind: "error", error: given })).toEqual({ kind: "legacy" })
        },
      ),
    )
  })
})

it("an outcome is left as it was", () => {
  const result = Object.freeze({ ...discover, supportedVersions: Object.freeze([MODERN]) })
  const verdict = classifyProbe("stdio", Object.freeze({ kind: "result", result }))
  expect(verdict).toMatchObject({ kind: "modern", version: MODERN })
  expect(result).toEqual(discover)
})
