// The requests that the load sends, in both eras of the protocol, and what a right answer holds.
export const MODERN = "2026-07-28"
export const LEGACY = "2025-11-25"

const CLIENT = { name: "bench", version: "1.0.0" }
const META = {
  "io.modelcontextprotocol/protocolVersion": MODERN,
  "io.modelcontextprotocol/clientInfo": CLIENT,
  "io.modelcontextprotocol/clientCapabilities": {},
}

/** The era of a mode such as `modern-json` or `session-sse`. */
export function eraOf(mode) {
  return mode.startsWith("modern") ? "modern" : "legacy"
}

/** A JSON-RPC request of the given era. */
export function requestMessage(era, id, method, params = {}) {
  return { jsonrpc: "2.0", id, method, params: era === "modern" ? { ...params, _meta: META } : params }
}

/** The HTTP headers that go with a request. */
export function requestHeaders(era, method, name, { legacyVersion = LEGACY, accept } = {}) {
  const headers = {
    "Content-Type": "application/json",
    Accept: accept ?? "application/json, text/event-stream",
    "MCP-Protocol-Version": era === "modern" ? MODERN : legacyVersion,
  }
  if (era === "legacy") return headers
  return { ...headers, "Mcp-Method": method, ...(name === undefined ? {} : { "Mcp-Name": name }) }
}

/** The parameters of the legacy handshake. */
export function initializeParams(protocolVersion = LEGACY) {
  return { protocolVersion, capabilities: {}, clientInfo: CLIENT }
}

/**
 * What is asked again and again.
 * @typedef {object} Work
 * @property {string} method
 * @property {string | undefined} name of the tool
 * @property {object} params
 * @property {string} expect text that stands in every right answer
 */

/** @type {Record<string, Work>} */
export const WORKS = {
  echo: callOf("echo", "hello world", '"hello world"'),
  megabyte: callOf("len", "x".repeat(1_000_000), '"1000000"'),
  list: { method: "tools/list", name: undefined, params: {}, expect: '"echo"' },
}

function callOf(name, text, expect) {
  return { method: "tools/call", name, params: { name, arguments: { text } }, expect }
}
