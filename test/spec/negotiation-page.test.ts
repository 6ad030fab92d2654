/** ConduitMCP's Negotiation page, statement by statement, in the names that it has here. */
import { McpError } from "conduit-mcp"
import {
  classifyProbe,
  clientCapabilities,
  clientVersions,
  era,
  type HttpOutcome,
  isModernError,
  pickVersion,
  type StdioOutcome,
} from "conduit-mcp/protocol"
import { describe, expect, it } from "vitest"

const MODERN = "2026-07-28"

const discover = {
  resultType: "complete",
  supportedVersions: [MODERN, "2025-11-25", "2025-06-18"],
  capabilities: { tools: {} },
  instructions: "Ask for a city.",
  ttlMs: 60_000,
  cacheScope: "public",
  _meta: { "io.modelcontextprotocol/serverInfo": { name: "weather", version: "1.2.3" } },
}

const read = {
  supportedVersions: [MODERN, "2025-11-25", "2025-06-18"],
  capabilities: { tools: {} },
  instructions: "Ask for a city.",
  ttlMs: 60_000,
  cacheScope: "public",
  serverInfo: { name: "weather", version: "1.2.3" },
}

const answer = (result: unknown): object => ({ jsonrpc: "2.0", id: 1, result })
const refusal = (code: number, data?: unknown): object => ({
  jsonrpc: "2.0",
  id: 1,
  error: { code, message: "no", ...(data === undefined ? {} : { data }) },
})

/** A verdict in short: its kind and what else tells it apart. */
type Expected = Readonly<Record<string, unknown>>

const modern: Expected = { kind: "modern", version: MODERN, discover: read }
const legacy: Expected = { kind: "legacy" }
const error = (reason: string, code?: number): Expected => ({
  kind: "error",
  error: expect.objectContaining({ kind: "protocol", reason, code }),
})

/** What both transports say in the same way: as the outcome of a pipe, and as a body over HTTP. */
const both: readonly (readonly [what: string, outcome: StdioOutcome, body: object, expected: Expected])[] = [
  ["a valid DiscoverResult with a mutual modern version", ...result(discover, modern)],
  [
    "a DiscoverResult-shaped result that is invalid: versions that are no list",
    ...result({ ...discover, supportedVersions: MODERN }, error("invalid_discover")),
  ],
  [
    "a DiscoverResult-shaped result that is invalid: a resultType alone",
    ...result({ resultType: "complete" }, error("invalid_discover")),
  ],
  [
    "a DiscoverResult-shaped result that is invalid: versions without capabilities",
    ...result({ supportedVersions: [MODERN] }, error("invalid_discover")),
  ],
  [
    "a DiscoverResult without a mutual modern version",
    ...result({ ...discover, supportedVersions: ["2025-11-25", "2027-01-01"] }, error("no_common_version")),
  ],
  ["a result with neither resultType nor supportedVersions", ...result({ tools: [] }, legacy)],
  ["an empty result", ...result({}, legacy)],
  [
    "-32022 with a mutual modern version",
    ...refused(
      -32022,
      { supported: ["2030-01-01", MODERN], requested: "x" },
      { kind: "modern_retry", version: MODERN },
    ),
  ],
  [
    "-32022 without one",
    ...refused(-32022, { supported: ["2025-11-25"], requested: MODERN }, error("no_common_version", -32022)),
  ],
  ["-32022 that lists nothing", ...refused(-32022, undefined, error("no_common_version", -32022))],
  [
    "-32021",
    ...refused(-32021, { requiredCapabilities: { sampling: {} } }, error("missing_client_capability", -32021)),
  ],
  ["-32020", ...refused(-32020, undefined, error("header_mismatch", -32020))],
]

function result(value: unknown, expected: Expected): [StdioOutcome, object, Expected] {
  return [{ kind: "result", result: value }, answer(value), expected]
}

function refused(code: number, data: unknown, expected: Expected): [StdioOutcome, object, Expected] {
  return [{ kind: "error", error: { code, message: "no", data } }, refusal(code, data), expected]
}

describe("versions", () => {
  it("the client supports three, newest first", () => {
    expect(clientVersions).toEqual(["2026-07-28", "2025-11-25", "2025-06-18"])
  })

  it("2026-07-28 is of the modern era, the others are legacy", () => {
    expect(clientVersions.map(era)).toEqual(["modern", "legacy", "legacy"])
  })
})

describe("classifyProbe: both transports", () => {
  it.each(both)("%s, on a pipe", (_what, outcome, _body, expected) => {
    expect(classifyProbe("stdio", outcome)).toEqual(expected)
  })

  it.each(both)("%s, over HTTP as a decoded message", (_what, _outcome, body, expected) => {
    expect(classifyProbe("http", { kind: "http", status: 200, body })).toEqual(expected)
  })

  it.each(both)(
    "%s, over HTTP as JSON, with any status that leaves it to the body",
    (_what, _outcome, body, expected) => {
      for (const status of [200, 202, 301, 400, 404, 405, 406, 418]) {
        const outcome: HttpOutcome = {
          kind: "http",
          status,
          contentType: "application/json; charset=utf-8",
          body: JSON.stringify(body),
        }
        expect(classifyProbe("http", outcome)).toEqual(expected)
      }
    },
  )

  it.each(both)("%s, over HTTP as an event stream", (_what, _outcome, body, expected) => {
    const text = `: hello\n\nevent: message\ndata: ${JSON.stringify(body)}\n\n`
    const contentType = "text/event-stream"
    expect(classifyProbe("http", { kind: "http", status: 200, contentType, body: text })).toEqual(expected)
    const bytes = new TextEncoder().encode(text)
    expect(classifyProbe("http", { kind: "http", status: 200, contentType, body: bytes })).toEqual(expected)
  })
})

describe("classifyProbe: stdio", () => {
  it.each<[what: string, outcome: StdioOutcome, expected: Expected]>([
    ["method not found", { kind: "error", error: { code: -32601, message: "no" } }, legacy],
    ["invalid params", { kind: "error", error: { code: -32602, message: "no" } }, legacy],
    ["invalid request", { kind: "error", error: { code: -32600, message: "no" } }, legacy],
    ["internal error", { kind: "error", error: { code: -32603, message: "no" } }, legacy],
    ["an error of the server's own", { kind: "error", error: { code: -32000, message: "no" } }, legacy],
    ["an error of no known range", { kind: "error", error: { code: 1, message: "no" } }, legacy],
    ["an error without a code", { kind: "error", error: {} }, legacy],
    ["a timeout", { kind: "timeout" }, legacy],
    ["the process exited during the probe", { kind: "closed", cause: 1 }, { kind: "reconnect", era: "legacy" }],
  ])("%s", (_what, outcome, expected) => {
    expect(classifyProbe("stdio", outcome)).toEqual(expected)
  })
})

describe("classifyProbe: HTTP", () => {
  const retry: Expected = { kind: "retry", reason: expect.any(String) }
  const json = "application/json"
  const http = (status: number, contentType?: string, body?: string): HttpOutcome => ({
    kind: "http",
    status,
    contentType,
    body,
  })
  const anError = (code: number): string => JSON.stringify(refusal(code))

  it.each<[what: string, outcome: HttpOutcome, expected: Expected]>([
    ["401", http(401), { kind: "authorize", status: 401 }],
    ["403", http(403), { kind: "authorize", status: 403 }],
    ["408", http(408), retry],
    ["429", http(429), retry],
    ["500", http(500), retry],
    ["503", http(503, "text/html", "<h1>busy</h1>"), retry],
    ["599", http(599), retry],
    ["a network error", { kind: "transport_error", cause: new Error("refused") }, retry],
    ["a timeout", { kind: "timeout" }, retry],
    ["400, empty", http(400), legacy],
    ["404, empty", http(404, json, ""), legacy],
    ["405, empty", http(405), legacy],
    ["400, not JSON", http(400, "text/plain", "Bad Request"), legacy],
    ["404, HTML", http(404, "text/html", "<!doctype html>"), legacy],
    ["405, broken JSON", http(405, json, "{"), legacy],
    ["400, not JSON-RPC", http(400, json, '{"error":"no session"}'), legacy],
    ["404, not JSON-RPC", http(404, json, '{"detail":"Not Found"}'), legacy],
    ["400, a non-modern error", http(400, json, anError(-32000)), legacy],
    ["404, a non-modern error", http(404, json, anError(-32600)), legacy],
    ["405, a non-modern error", http(405, json, anError(-32602)), legacy],
    ["200 with -32601", http(200, json, anError(-32601)), legacy],
    ["400 with -32601", http(400, json, anError(-32601)), legacy],
    ["406 with -32601", http(406, json, anError(-32601)), legacy],
    ["422 with -32601", http(422, json, anError(-32601)), legacy],
    ["any other status", http(418), error("unrecognised_error")],
    ["any other error", http(200, json, anError(-32603)), error("unrecognised_error", -32603)],
  ])("%s", (_what, outcome, expected) => {
    expect(classifyProbe("http", outcome)).toEqual(expected)
  })
})

describe("classifyProbe: never", () => {
  const codes = [-32022, -32021, -32020]

  it.each(codes)("a recognised modern error (%i) is legacy evidence", (code) => {
    const kinds = [
      classifyProbe("stdio", { kind: "error", error: { code } }),
      ...[200, 400, 404, 405, 406].map((status) =>
        classifyProbe("http", { kind: "http", status, body: refusal(code) }),
      ),
    ].map(({ kind }) => kind)
    expect(new Set(kinds)).toEqual(new Set(["error"]))
  })

  it("the fallback is keyed to one code", () => {
    for (const code of [-32700, -32603, -32602, -32601, -32600, -32042, -32002, -32001, -32000, -1, 0, 1, 404]) {
      expect(classifyProbe("stdio", { kind: "error", error: { code, message: "" } })).toEqual(legacy)
      expect(classifyProbe("http", { kind: "http", status: 400, body: refusal(code) })).toEqual(legacy)
    }
  })

  it("a server that cannot answer now is downgraded", () => {
    for (const status of [408, 429, 500, 502, 503, 504]) {
      for (const body of [undefined, "", "<html>", refusal(-32601), refusal(-32000), answer({})]) {
        expect(classifyProbe("http", { kind: "http", status, body })).toMatchObject({ kind: "retry" })
      }
    }
  })
})

describe("classifyProbe: options", () => {
  const outcome: StdioOutcome = {
    kind: "result",
    result: { supportedVersions: [MODERN, "2027-01-01"], capabilities: {} },
  }

  it("versions: the client's in preference order", () => {
    expect(classifyProbe("stdio", outcome, { versions: ["2027-01-01", MODERN] })).toMatchObject({
      version: "2027-01-01",
    })
    expect(classifyProbe("stdio", outcome, { versions: [MODERN, "2027-01-01"] })).toMatchObject({ version: MODERN })
  })

  it("versions: by default the client's", () => {
    expect(classifyProbe("stdio", outcome)).toMatchObject({ version: MODERN })
  })

  it("versions: only modern entries are considered", () => {
    const versions = ["2025-11-25", MODERN]
    const both: StdioOutcome = { kind: "result", result: { ...discover, supportedVersions: ["2025-11-25", MODERN] } }
    expect(classifyProbe("stdio", both, { versions })).toMatchObject({ kind: "modern", version: MODERN })
    expect(classifyProbe("stdio", both, { versions: ["2025-11-25"] })).toEqual(error("no_common_version"))
    const refused: StdioOutcome = { kind: "error", error: { code: -32022, data: { supported: versions } } }
    expect(classifyProbe("stdio", refused, { versions: ["2025-11-25"] })).toEqual(error("no_common_version", -32022))
  })
})

describe("classifyProbe: where the page leaves room", () => {
  const classify = (result: object): unknown => classifyProbe("stdio", { kind: "result", result })
  const required = { supportedVersions: [MODERN], capabilities: {} }

  it.each([401, 403])("%i comes before whatever the body says", (status) => {
    for (const body of [answer(discover), refusal(-32022, { supported: [MODERN] }), refusal(-32601)]) {
      expect(classifyProbe("http", { kind: "http", status, body })).toEqual({ kind: "authorize", status })
    }
  })

  it.each([408, 429, 500, 503])("%i comes before whatever the body says", (status) => {
    for (const body of [answer(discover), refusal(-32022, { supported: [MODERN] }), refusal(-32601)]) {
      expect(classifyProbe("http", { kind: "http", status, body })).toMatchObject({ kind: "retry" })
    }
  })

  it("a DiscoverResult is valid with a list of strings and an object of capabilities, resultType absent or complete", () => {
    expect(classify(required)).toMatchObject({ kind: "modern" })
    expect(classify({ ...required, resultType: "complete" })).toMatchObject({ kind: "modern" })
    for (const bad of [
      { resultType: "input_required" },
      { resultType: null },
      { supportedVersions: [MODERN, 1] },
      { supportedVersions: null },
      { supportedVersions: { 0: MODERN } },
      { capabilities: [] },
      { capabilities: null },
      { capabilities: "tools" },
    ]) {
      expect(classify({ ...required, ...bad })).toEqual(error("invalid_discover"))
    }
  })

  it("ttlMs, cacheScope and serverInfo take defaults when they are missing or malformed, and nothing is refused for them", () => {
    const defaults = { ...required, ttlMs: 0, cacheScope: "private", serverInfo: undefined }
    for (const hints of [
      {},
      { ttlMs: "1000", cacheScope: "shared", serverInfo: "weather" },
      { ttlMs: -1, cacheScope: 1, serverInfo: { name: "weather" } },
      { ttlMs: 1.5, cacheScope: null, _meta: "none" },
      { ttlMs: null, instructions: 7, _meta: { "io.modelcontextprotocol/serverInfo": [] } },
    ]) {
      expect(classify({ ...required, ...hints })).toEqual({ kind: "modern", version: MODERN, discover: defaults })
    }
  })

  it("serverInfo is found in _meta, or in the body", () => {
    const serverInfo = { name: "weather", version: "1", title: "Weather" }
    const there = { "io.modelcontextprotocol/serverInfo": serverInfo }
    const other = { name: "other", version: "0" }
    for (const result of [{ _meta: there }, { serverInfo }, { _meta: there, serverInfo: other }]) {
      expect(classify({ ...required, ...result })).toMatchObject({ discover: { serverInfo } })
    }
  })

  it.each<[what: string, outcome: HttpOutcome, reason: string]>([
    ["an empty 200", { kind: "http", status: 200 }, "unusable_response"],
    ["202", { kind: "http", status: 202, body: "" }, "unusable_response"],
    ["204", { kind: "http", status: 204 }, "unusable_response"],
    ["HTML with 200", { kind: "http", status: 200, contentType: "text/html", body: "<p>" }, "unusable_response"],
    ["a 2xx with another error", { kind: "http", status: 200, body: refusal(-32602) }, "unrecognised_error"],
    ["another 4xx", { kind: "http", status: 415, contentType: "text/plain", body: "no" }, "unrecognised_error"],
  ])("%s is %s", (_what, outcome, reason) => {
    const verdict = classifyProbe("http", outcome)
    expect(verdict).toMatchObject({ kind: "error", error: { kind: "protocol", reason } })
    expect(verdict.kind === "error" && McpError.is(verdict.error, "protocol")).toBe(true)
  })
})

describe("clientCapabilities", () => {
  const elicit = (): void => {}
  const handlers = { elicit, sample: elicit, roots: elicit }

  it("without handlers the client declares nothing", () => {
    expect(clientCapabilities(undefined)).toEqual({})
  })

  it("only the handlers that are there contribute", () => {
    expect(clientCapabilities({})).toEqual({})
    expect(clientCapabilities({ elicit: undefined, sample: undefined, roots: undefined })).toEqual({})
    expect(clientCapabilities({ elicit })).toEqual({ elicitation: { form: {}, url: {} } })
    expect(clientCapabilities({ sample: elicit })).toEqual({ sampling: {} })
    expect(clientCapabilities({ roots: elicit })).toEqual({ roots: {} })
    expect(clientCapabilities(handlers)).toEqual({ elicitation: { form: {}, url: {} }, sampling: {}, roots: {} })
  })

  it("era: modern by default; legacy roots may carry listChanged", () => {
    const rootsListChanged = true
    expect(clientCapabilities({ roots: elicit }, { rootsListChanged })).toEqual({ roots: {} })
    expect(clientCapabilities({ roots: elicit }, { era: "modern", rootsListChanged })).toEqual({ roots: {} })
    expect(clientCapabilities({ roots: elicit }, { era: "legacy", rootsListChanged })).toEqual({
      roots: { listChanged: true },
    })
    expect(clientCapabilities({ roots: elicit }, { era: "legacy" })).toEqual({ roots: {} })
    expect(clientCapabilities({}, { era: "legacy", rootsListChanged })).toEqual({})
  })

  it("samplingTools also declares sampling.tools, by default not", () => {
    expect(clientCapabilities({ sample: elicit }, { samplingTools: true })).toEqual({ sampling: { tools: {} } })
    expect(clientCapabilities({ sample: elicit }, { samplingTools: false })).toEqual({ sampling: {} })
    expect(clientCapabilities({}, { samplingTools: true })).toEqual({})
  })

  it("samplingContext also declares sampling.context, by default not", () => {
    expect(clientCapabilities({ sample: elicit }, { samplingContext: true })).toEqual({ sampling: { context: {} } })
    expect(clientCapabilities({ sample: elicit }, { samplingContext: true, samplingTools: true })).toEqual({
      sampling: { tools: {}, context: {} },
    })
    expect(clientCapabilities({}, { samplingContext: true })).toEqual({})
  })
})

describe("era", () => {
  it("of the page's example", () => {
    expect(era("2025-11-25")).toBe("legacy")
  })

  it.each([
    ["2026-07-28", "modern"],
    ["2026-07-29", "modern"],
    ["2026-07-27", "legacy"],
    ["2024-11-05", "legacy"],
    ["1.0", "unknown"],
    ["", "unknown"],
  ])(
    "dates on or after 2026-07-28 are modern, earlier ones legacy, anything else unknown: %j is %s",
    (version, expected) => {
      expect(era(version)).toBe(expected)
    },
  )
})

it.each([
  [-32020, true],
  [-32021, true],
  [-32022, true],
  [-32019, false],
  [-32023, false],
  [-32601, false],
  ["-32022", false],
  [undefined, false],
])("isModernError(%j) is %s", (code, expected) => {
  expect(isModernError(code)).toBe(expected)
})

describe("pickVersion", () => {
  it("of the page's examples", () => {
    expect(pickVersion(["2025-06-18", "2025-11-25"])).toEqual({ ok: true, version: "2025-11-25" })
    expect(pickVersion(["2024-11-05"])).toEqual({ ok: false, reason: "no_common_version" })
  })

  it("takes the first entry of the client's order that the server also lists", () => {
    const server = ["2026-07-28", "2025-11-25", "2025-06-18"]
    expect(pickVersion(server)).toEqual({ ok: true, version: "2026-07-28" })
    expect(pickVersion(server, ["2024-11-05", "2025-06-18", "2026-07-28"])).toEqual({ ok: true, version: "2025-06-18" })
    expect(pickVersion([], server)).toEqual({ ok: false, reason: "no_common_version" })
    expect(pickVersion(server, [])).toEqual({ ok: false, reason: "no_common_version" })
  })
})
