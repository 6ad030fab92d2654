/** Raw wire messages of both eras, for tests that look at bytes and members. */

/** The `_meta` that a modern request must have. */
export const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "test", version: "1.0.0" },
  "io.modelcontextprotocol/clientCapabilities": {},
}

/** A JSON object as tests read it. */
export type Json = Record<string, unknown>

/** A modern request. Members of `params._meta` are added to what must be there. */
export function modernRequest(id: string | number, method: string, params: Json = {}): Json {
  const extra = (params["_meta"] ?? {}) as Json
  return { jsonrpc: "2.0", id, method, params: { ...params, _meta: { ...modernMeta, ...extra } } }
}

/** A legacy request. */
export function legacyRequest(id: string | number, method: string, params?: Json): Json {
  return params === undefined ? { jsonrpc: "2.0", id, method } : { jsonrpc: "2.0", id, method, params }
}

/** An `initialize` request. */
export function initializeRequest(
  id: string | number = 0,
  protocolVersion = "2025-11-25",
  capabilities: Json = {},
): Json {
  return legacyRequest(id, "initialize", {
    protocolVersion,
    capabilities,
    clientInfo: { name: "test", version: "1.0.0" },
  })
}

/** The HTTP headers of a modern request, computed from its body. */
export function modernHeaders(message: Json): Record<string, string> {
  const method = String(message["method"])
  const params = (message["params"] ?? {}) as Json
  const name = params["name"] ?? params["uri"]
  const isNamed = ["tools/call", "prompts/get", "resources/read"].includes(method)
  return {
    "mcp-protocol-version": "2026-07-28",
    "mcp-method": method,
    ...(isNamed && typeof name === "string" ? { "mcp-name": name } : {}),
  }
}
