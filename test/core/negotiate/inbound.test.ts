import { describe, expect, it } from "vitest"
import type { HeaderFacts } from "../../../src/core/http/header.js"
import { decideInbound, decidePipe, type SessionState } from "../../../src/core/negotiate/inbound.js"
import type { Message } from "../../../src/core/wire/message.js"
import { toMessage } from "../../../src/core/wire/parse.js"
import { type Json, modernMeta } from "../../support/wire.js"

const VERSION = "io.modelcontextprotocol/protocolVersion"
const MODERN = "2026-07-28"
const LEGACY = "2025-11-25"
const UNKNOWN = "v999.0.0"
const UNSERVED = "2024-11-05"

function facts(version: string | undefined, rest: Partial<Record<string, string>> = {}): HeaderFacts {
  const { method, name } = rest
  return { version, method, name, session: undefined, get: () => undefined }
}

function message(raw: Json): Message {
  const read = toMessage(raw)
  if (read.kind === "fault") throw new Error(read.message)
  return read
}

const paramsNaming = (version: string | undefined): Json =>
  version === undefined ? {} : { _meta: { ...modernMeta, [VERSION]: version } }
const request = (method: string, version?: string): Message =>
  message({ jsonrpc: "2.0", id: 1, method, params: paramsNaming(version) })
const notification = (version?: string): Message =>
  message({ jsonrpc: "2.0", method: "notifications/x", params: paramsNaming(version) })
const response = message({ jsonrpc: "2.0", id: 1, result: {} })

/** What a decision comes to: its kind, or the status and code of its refusal. */
function outcome(of: Message, header: string | undefined, session: SessionState, sessions = true): string {
  const decided = decideInbound(of, facts(header, { method: "tools/list" }), session, sessions)
  return decided.kind === "fault" ? `${decided.status} ${decided.code}` : decided.kind
}

describe("which era a message over HTTP belongs to", () => {
  const list = (version?: string): Message => request("tools/list", version)
  const initialize = request("initialize")
  it.each<[what: string, of: Message, header: string | undefined, session: SessionState, expected: string]>([
    ["a request that names a modern version", list(MODERN), MODERN, "none", "modern"],
    ["… whatever session it names", list(MODERN), MODERN, "live", "modern"],
    ["… without the header", list(MODERN), undefined, "none", "400 -32020"],
    ["… with another version in the header", list(MODERN), LEGACY, "live", "400 -32020"],
    ["a request that names an unknown version", list(UNKNOWN), UNKNOWN, "none", "400 -32022"],
    ["… and another in the header", list(UNKNOWN), MODERN, "none", "400 -32020"],
    ["a notification that names a modern version", notification(MODERN), MODERN, "unknown", "modern-notification"],
    ["… without the header", notification(MODERN), undefined, "none", "modern-notification"],
    ["… with another version in the header", notification(MODERN), LEGACY, "none", "400 -32020"],
    ["a request that names a legacy version outside a session", list(LEGACY), LEGACY, "none", "400 -32022"],
    ["… in an unknown session", list(LEGACY), LEGACY, "unknown", "400 -32022"],
    ["… with another version in the header", list(LEGACY), MODERN, "none", "400 -32020"],
    ["… in a live session", list(LEGACY), LEGACY, "live", "session"],
    ["a request without a version under a modern header", list(), MODERN, "none", "400 -32602"],
    ["… in a live session", list(), MODERN, "live", "400 -32602"],
    ["a request without a version under an unknown header", list(), UNKNOWN, "none", "400 -32602"],
    ["a notification without a version under a modern header", notification(), MODERN, "none", "modern-notification"],
    ["initialize", initialize, undefined, "none", "initialize"],
    ["initialize under a legacy header", initialize, LEGACY, "none", "initialize"],
    ["initialize in a live session", initialize, LEGACY, "live", "400 -32600"],
    ["initialize in an unknown session", initialize, undefined, "unknown", "404 -32001"],
    ["initialize that names a modern version", request("initialize", MODERN), MODERN, "none", "404 -32601"],
    ["a request in a live session", list(), LEGACY, "live", "session"],
    ["… without the header", list(), undefined, "live", "session"],
    ["a notification in a live session", notification(), LEGACY, "live", "session"],
    ["a response in a live session", response, LEGACY, "live", "session"],
    ["a request under a legacy header that is not served", list(), UNSERVED, "live", "400 -32600"],
    ["… outside a session", list(), UNSERVED, "none", "400 -32600"],
    ["a response under a legacy header that is not served", response, UNSERVED, "live", "400 -32600"],
    ["a request in an unknown session", list(), LEGACY, "unknown", "404 -32001"],
    ["… without the header", list(), undefined, "unknown", "404 -32001"],
    ["a request under a legacy header without a session", list(), LEGACY, "none", "400 -32600"],
    ["a notification under a legacy header without a session", notification(), LEGACY, "none", "400 -32600"],
    ["a request that says nothing at all", list(), undefined, "none", "400 -32020"],
    ["a notification that says nothing at all", notification(), undefined, "none", "400 -32020"],
    ["a response without a session", response, LEGACY, "none", "400 -32600"],
    ["a response that says nothing at all", response, undefined, "none", "400 -32600"],
  ])("%s", (_what, of, header, session, expected) => {
    expect(outcome(of, header, session)).toBe(expected)
  })

  it.each<[what: string, of: Message, header: string | undefined, expected: string]>([
    ["a request under a legacy header", list(), LEGACY, "stateless"],
    ["a notification under a legacy header", notification(), LEGACY, "stateless"],
    ["initialize", initialize, undefined, "initialize"],
    ["a request that says nothing at all", list(), undefined, "400 -32020"],
  ])("without sessions: %s", (_what, of, header, expected) => {
    expect(outcome(of, header, "none", false)).toBe(expected)
  })

  it.each<[header: string | undefined, session: SessionState]>([
    [LEGACY, "unknown"],
    [undefined, "unknown"],
    [UNSERVED, "live"],
    [LEGACY, "none"],
  ])("a response is never refused by its id (%s, session %s)", (header, session) => {
    expect(decideInbound(response, facts(header), session, true)).toMatchObject({ kind: "fault", id: undefined })
  })

  it("a stateless legacy message is served in the version of its header", () => {
    const decided = decideInbound(list(), facts("2025-06-18"), "none", false)
    expect(decided).toMatchObject({ kind: "stateless", revision: { version: "2025-06-18" } })
  })

  it("a refused version names all that are served", () => {
    const decided = decideInbound(list(UNKNOWN), facts(UNKNOWN), "none", true)
    expect(decided).toMatchObject({ data: { supported: [MODERN, LEGACY, "2025-06-18"], requested: UNKNOWN } })
  })

  it("a legacy version in _meta is refused with the word that it is spoken after initialize", () => {
    expect(decideInbound(list(LEGACY), facts(LEGACY), "none", true)).toMatchObject({ message: /after initialize/ })
  })
})

describe("the ladder of refusals of a modern request", () => {
  const good: Json = { jsonrpc: "2.0", id: "x", method: "tools/call", params: { name: "echo", _meta: modernMeta } }
  const withMeta = (meta: Json): Json => ({ ...good, params: { name: "echo", _meta: meta } })
  const { [VERSION]: _version, ...noVersion } = modernMeta
  const { "io.modelcontextprotocol/clientCapabilities": _capabilities, ...noCapabilities } = modernMeta
  const { "io.modelcontextprotocol/clientInfo": _info, ...noInfo } = modernMeta
  const right = { version: MODERN, method: "tools/call", name: "echo" }

  it.each<[what: string, raw: Json, header: Json, expected: string]>([
    ["everything right", good, right, "modern"],
    ["no clientInfo", withMeta(noInfo), right, "modern"],
    [
      "a malformed clientInfo, which is for display only",
      withMeta({ ...modernMeta, "io.modelcontextprotocol/clientInfo": 1 }),
      right,
      "modern",
    ],
    ["no params", { ...good, params: undefined }, right, "400 -32602"],
    ["no _meta", { ...good, params: { name: "echo" } }, right, "400 -32602"],
    ["_meta as an array", { ...good, params: { name: "echo", _meta: [] } }, right, "400 -32602"],
    ["no version in _meta", withMeta(noVersion), right, "400 -32602"],
    ["no capabilities in _meta", withMeta(noCapabilities), right, "400 -32602"],
    [
      "an unknown log level",
      withMeta({ ...modernMeta, "io.modelcontextprotocol/logLevel": "loud" }),
      right,
      "400 -32602",
    ],
    [
      "incomplete _meta before a differing header",
      withMeta(noCapabilities),
      { ...right, version: LEGACY },
      "400 -32602",
    ],
    [
      "a differing header before an unserved version",
      withMeta({ ...modernMeta, [VERSION]: UNKNOWN }),
      right,
      "400 -32020",
    ],
    [
      "an unserved version before an unknown method",
      { ...withMeta({ ...modernMeta, [VERSION]: UNKNOWN }), method: "nope" },
      { ...right, version: UNKNOWN },
      "400 -32022",
    ],
    ["an unknown method before a wrong Mcp-Method", { ...good, method: "nope" }, right, "404 -32601"],
    ["a method of the legacy era", { ...good, method: "ping" }, { ...right, method: "ping" }, "404 -32601"],
    ["no Mcp-Method", good, { ...right, method: undefined }, "400 -32020"],
    ["another Mcp-Method", good, { ...right, method: "tools/list" }, "400 -32020"],
    ["Mcp-Method in another case", good, { ...right, method: "TOOLS/CALL" }, "400 -32020"],
    ["no Mcp-Name", good, { ...right, name: undefined }, "400 -32020"],
    ["another Mcp-Name", good, { ...right, name: "echo2" }, "400 -32020"],
    ["an encoded Mcp-Name", good, { ...right, name: "=?base64?ZWNobw==?=" }, "modern"],
    ["an Mcp-Name in broken base64", good, { ...right, name: "=?base64?ZWNobw?=" }, "400 -32020"],
    ["an Mcp-Name sent twice", good, { ...right, name: "echo, echo" }, "400 -32020"],
  ])("%s", (_what, raw, header, expected) => {
    const { version, ...rest } = header as { version: string } & Record<string, string>
    const decided = decideInbound(message(raw), facts(version, rest), "none", true)
    expect(decided.kind === "fault" ? `${decided.status} ${decided.code}` : decided.kind).toBe(expected)
    if (decided.kind === "fault") expect(decided.id).toBe("x")
  })
})

describe("which era a message on a pipe belongs to", () => {
  it.each<[what: string, of: Message, opened: boolean, expected: string]>([
    ["a modern request", request("tools/list", MODERN), false, "modern"],
    ["a modern request after initialize", request("tools/list", MODERN), true, "modern"],
    ["an unknown version", request("tools/list", UNKNOWN), true, "400 -32022"],
    ["a legacy version before initialize", request("tools/list", LEGACY), false, "400 -32022"],
    ["a legacy version after initialize", request("tools/list", LEGACY), true, "session"],
    ["initialize", request("initialize"), false, "initialize"],
    ["a second initialize", request("initialize"), true, "400 -32600"],
    ["initialize that names a modern version", request("initialize", MODERN), false, "404 -32601"],
    ["a legacy request after initialize", request("tools/list"), true, "session"],
    ["a legacy request before initialize", request("tools/list"), false, "400 -32602"],
    ["ping before initialize", request("ping"), false, "session"],
    ["a modern notification", notification(MODERN), false, "modern-notification"],
    ["a notification before initialize", notification(), false, "session"],
    ["a response", response, false, "session"],
  ])("%s", (_what, of, opened, expected) => {
    const decided = decidePipe(of, opened)
    expect(decided.kind === "fault" ? `${decided.status} ${decided.code}` : decided.kind).toBe(expected)
  })

  it("a request without _meta before initialize is told which member is missing", () => {
    expect(decidePipe(request("tools/list"), false)).toMatchObject({ message: new RegExp(VERSION) })
  })
})
