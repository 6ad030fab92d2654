/** ConduitMCP's page on client requests, statement by statement, in the names that it has here. */
import { type EnvelopeInfo, envelope } from "conduit-mcp/protocol"
import { describe, expect, it } from "vitest"

const TRACEPARENT = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"

describe("the envelope", () => {
  const legacy: EnvelopeInfo = { era: "legacy", version: "2025-11-25", clientCapabilities: {}, clientInfo: {} }
  const modern: EnvelopeInfo = {
    era: "modern",
    version: "2026-07-28",
    clientCapabilities: { sampling: {} },
    clientInfo: { name: "host", version: "1" },
  }
  const reserved = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { sampling: {} },
    "io.modelcontextprotocol/clientInfo": { name: "host", version: "1" },
  }

  it("of the page's example", () => {
    const params = { name: "echo", _meta: { progressToken: "x", trace: "t" } }
    expect(envelope(params, { ...legacy, progressToken: 7 })).toEqual({
      name: "echo",
      _meta: { progressToken: 7, trace: "t" },
    })
  })

  it("merges the era's reserved keys over the caller's _meta", () => {
    expect(envelope({ name: "echo", _meta: { trace: "t" } }, modern)).toEqual({
      name: "echo",
      _meta: { trace: "t", ...reserved },
    })
  })

  it("modern: version, capabilities and client info", () => {
    expect(envelope({}, modern)).toEqual({ _meta: reserved })
  })

  it("modern: logLevel when one is set", () => {
    expect(envelope({}, { ...modern, logLevel: "warning" })).toEqual({
      _meta: { ...reserved, "io.modelcontextprotocol/logLevel": "warning" },
    })
    expect(envelope({}, { ...modern, logLevel: undefined })).toEqual({ _meta: reserved })
  })

  it("modern: traceparent when one is set", () => {
    expect(envelope({}, { ...modern, traceparent: TRACEPARENT })).toEqual({
      _meta: { ...reserved, traceparent: TRACEPARENT },
    })
  })

  it("modern: no traceparent that is not well formed", () => {
    for (const traceparent of ["", "00-x", TRACEPARENT.toUpperCase(), TRACEPARENT.replace("00-", "ff-"), undefined]) {
      expect(envelope({}, { ...modern, traceparent })).toEqual({ _meta: reserved })
    }
  })

  it("modern: the caller's traceparent stands", () => {
    const given = TRACEPARENT.replace("0af7", "1bf7")
    expect(envelope({ _meta: { traceparent: given } }, { ...modern, traceparent: TRACEPARENT })).toEqual({
      _meta: { ...reserved, traceparent: given },
    })
  })

  it("tracestate and baggage are never added, and the caller's stay", () => {
    const _meta = { tracestate: "a=1", baggage: "b=2" }
    expect(envelope({ _meta }, { ...modern, traceparent: TRACEPARENT })).toEqual({
      _meta: { ..._meta, ...reserved, traceparent: TRACEPARENT },
    })
    expect(Object.keys(envelope({}, { ...modern, traceparent: TRACEPARENT }))).toEqual(["_meta"])
  })

  it("legacy: none of these", () => {
    const info: EnvelopeInfo = { ...modern, era: "legacy", version: "2025-11-25" }
    expect(envelope({ name: "echo" }, { ...info, logLevel: "debug", traceparent: TRACEPARENT })).toEqual({
      name: "echo",
    })
  })

  it("legacy: the caller's traceparent stays", () => {
    expect(envelope({ _meta: { traceparent: TRACEPARENT } }, legacy)).toEqual({ _meta: { traceparent: TRACEPARENT } })
  })

  it.each([7, 0, "", "token"])("both eras: progressToken when one is set (%j)", (progressToken) => {
    expect(envelope({}, { ...legacy, progressToken })).toEqual({ _meta: { progressToken } })
    expect(envelope({}, { ...modern, progressToken })).toEqual({ _meta: { ...reserved, progressToken } })
  })

  it.each([
    "progressToken",
    "io.modelcontextprotocol/protocolVersion",
    "io.modelcontextprotocol/logLevel",
    "io.modelcontextprotocol/anything",
    "modelcontextprotocol/a",
    "mcp/a",
    "com.mcp/a",
    "dev.mcp.tools/a",
    "com.example.mcp/a",
  ])("reserved keys always win: the caller's %s is dropped", (key) => {
    const params = { name: "echo", _meta: { [key]: "mine", kept: 1 } }
    expect(envelope(params, legacy)).toEqual({ name: "echo", _meta: { kept: 1 } })
    expect(envelope(params, modern)).toEqual({ name: "echo", _meta: { kept: 1, ...reserved } })
  })

  it.each(["com.example/mcp", "mcpx/a", "com.mcp-tools/a", "mcp", "modelcontextprotocol", "com.example/progressToken"])(
    "the caller's %s stays",
    (key) => {
      expect(envelope({ _meta: { [key]: 1 } }, legacy)).toEqual({ _meta: { [key]: 1 } })
    },
  )

  it("an empty _meta is omitted", () => {
    expect(envelope({ name: "echo", _meta: {} }, legacy)).toEqual({ name: "echo" })
    expect(envelope({ name: "echo", _meta: { progressToken: 1 } }, legacy)).toEqual({ name: "echo" })
    expect("_meta" in envelope({ _meta: {} }, legacy)).toBe(false)
  })
})
