/** ConduitMCP's Protocol page, statement by statement, in the names that it has here. */
import {
  codes,
  errorResponse,
  isNotification,
  isRequest,
  isResponse,
  legacyVersions,
  methods,
  modernVersions,
  negotiateVersion,
  notification,
  protocolVersion,
  successResponse,
  supportedVersions,
} from "conduit-mcp/protocol"
import { describe, expect, it } from "vitest"
import { revisions } from "../../src/core/revision/table.js"
import { routes } from "../../src/server/routes.js"

describe("versions by era", () => {
  it("all supported versions, newest first", () => {
    expect(supportedVersions).toEqual(["2026-07-28", "2025-11-25", "2025-06-18"])
  })
  it("the modern era's", () => {
    expect(modernVersions).toEqual(["2026-07-28"])
  })
  it("the legacy era's", () => {
    expect(legacyVersions).toEqual(["2025-11-25", "2025-06-18"])
  })
  it("the preferred legacy version", () => {
    expect(protocolVersion).toBe("2025-11-25")
  })
})

describe("negotiateVersion resolves what an initialize request asks for", () => {
  it.each([
    ["2025-11-25", "2025-11-25"],
    ["2025-06-18", "2025-06-18"],
    ["2026-07-28", undefined],
    ["2024-11-05", undefined],
    ["nonsense", undefined],
    [undefined, undefined],
    [20251125, undefined],
    [null, undefined],
    [{}, undefined],
  ])("%j gives %j", (asked, expected) => {
    expect(negotiateVersion(asked)).toBe(expected)
  })
})

describe("builders give the right wire shape", () => {
  it("a success response", () => {
    expect(successResponse(1, { value: 42 })).toEqual({ jsonrpc: "2.0", id: 1, result: { value: 42 } })
  })
  it("an error response", () => {
    expect(errorResponse(1, -32601, "no such method")).toEqual({
      jsonrpc: "2.0",
      id: 1,
      error: { code: -32601, message: "no such method" },
    })
  })
  it("an error response with data", () => {
    expect(errorResponse("a", -32602, "bad", { field: "x" })).toEqual({
      jsonrpc: "2.0",
      id: "a",
      error: { code: -32602, message: "bad", data: { field: "x" } },
    })
  })
  it("an error response to a request whose id could not be read has no id, which is never null", () => {
    expect(errorResponse(undefined, -32700, "Parse error")).toEqual({
      jsonrpc: "2.0",
      error: { code: -32700, message: "Parse error" },
    })
  })
  it("a notification, with and without params", () => {
    expect(notification("n")).toEqual({ jsonrpc: "2.0", method: "n" })
    expect(notification("n", { a: 1 })).toEqual({ jsonrpc: "2.0", method: "n", params: { a: 1 } })
  })
})

describe("checks of incoming shapes", () => {
  const request = { jsonrpc: "2.0", id: 1, method: "m" }
  it.each([
    [request, true, false, false],
    [{ ...request, id: "" }, true, false, false],
    [{ ...request, params: {} }, true, false, false],
    [{ ...request, params: [] }, false, false, false],
    [{ ...request, id: null }, false, false, false],
    [{ ...request, id: 1.5 }, false, false, false],
    [{ ...request, jsonrpc: "1.0" }, false, false, false],
    [{ jsonrpc: "2.0", method: "m" }, false, true, false],
    [{ jsonrpc: "2.0", method: 1 }, false, false, false],
    [{ jsonrpc: "2.0", id: 1, result: {} }, false, false, true],
    [{ jsonrpc: "2.0", id: 1, result: null }, false, false, true],
    [{ jsonrpc: "2.0", id: 1, error: { code: 1, message: "" } }, false, false, true],
    [{ jsonrpc: "2.0", id: 1, result: {}, error: {} }, false, false, false],
    [{ jsonrpc: "2.0", id: 1 }, false, false, false],
    [{ jsonrpc: "2.0", result: {} }, false, false, false],
    [{ jsonrpc: "2.0", id: 1, method: "m", result: {} }, true, false, false],
    [null, false, false, false],
    [[], false, false, false],
    ["{}", false, false, false],
  ])("%j", (value, asRequest, asNotification, asResponse) => {
    expect(isRequest(value)).toBe(asRequest)
    expect(isNotification(value)).toBe(asNotification)
    expect(isResponse(value)).toBe(asResponse)
  })
})

it("the named error codes", () => {
  expect(codes).toMatchObject({
    parseError: -32700,
    invalidRequest: -32600,
    methodNotFound: -32601,
    invalidParams: -32602,
    internalError: -32603,
    serverError: -32000,
    taskNotReady: -32004,
    requestCancelled: -32800,
  })
})

describe("methods, derived from the routing table", () => {
  it("has every method that a revision routes, and no other", () => {
    const routed = revisions.flatMap((revision) => [...revision.methods.keys(), ...revision.notifications.keys()])
    expect(Object.keys(methods).sort()).toEqual([...new Set(routed)].sort())
  })
  it("names an operation for each request, which the server has a route for", () => {
    for (const revision of revisions) {
      for (const { method, operation } of revision.methods.values()) {
        expect(methods[method]).toBe(operation)
        expect(operation === "initialize" || typeof routes[operation] === "function").toBe(true)
      }
    }
  })
  it("includes those that a list kept by hand had forgotten", () => {
    expect(methods).toMatchObject({
      "resources/templates/list": "listResourceTemplates",
      "notifications/cancelled": "cancelled",
    })
  })
})
