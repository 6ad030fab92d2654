/** What the example server prints once it listens: commands to paste, and how to put it into a client. */
import { fileURLToPath } from "node:url"

const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientCapabilities": {},
}

const JSON_HEADERS = `-H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream'`

/** A modern request: everything that the server has to know is in it. */
function modern(url: string, method: string, name: string, params: object, meta: object = {}): string {
  const request = { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta: { ...modernMeta, ...meta } } }
  return [
    `curl -sN ${url}`,
    JSON_HEADERS,
    `-H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: ${method}' -H 'Mcp-Name: ${name}'`,
    `-d '${JSON.stringify(request)}'`,
  ].join(" \\\n  ")
}

/** The handshake of the legacy era, its session's id in a variable, and a call in that session. */
function legacy(url: string): string {
  const clientInfo = { name: "curl", version: "1" }
  const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo }
  const initialize = { jsonrpc: "2.0", id: 1, method: "initialize", params }
  const call = {
    jsonrpc: "2.0",
    id: 2,
    method: "tools/call",
    params: { name: "get_forecast", arguments: { city: "Oslo" } },
  }
  return [
    `SESSION=$(curl -si ${url} \\`,
    `  ${JSON_HEADERS} \\`,
    `  -d '${JSON.stringify(initialize)}' \\`,
    `  | tee -a /dev/stderr | tr -d '\\r' | sed -n 's/^[Mm]cp-[Ss]ession-[Ii]d: //p')`,
    `curl -s ${url} \\`,
    `  ${JSON_HEADERS} \\`,
    `  -H "Mcp-Session-Id: $SESSION" -H 'MCP-Protocol-Version: 2025-11-25' \\`,
    `  -d '${JSON.stringify(call)}'`,
  ].join("\n")
}

/** The whole text. */
export function banner(url: string): string {
  const stdio = fileURLToPath(new URL("./stdio.js", import.meta.url))
  const watched = { name: "watch_sky", arguments: { city: "Lima" } }
  const sections: readonly (readonly [title: string, text: string])[] = [
    [
      "Call a tool (2026-07-28)",
      modern(url, "tools/call", "get_forecast", { name: "get_forecast", arguments: { city: "Oslo" } }),
    ],
    [
      "Watch its progress (2026-07-28, an event stream)",
      modern(url, "tools/call", "watch_sky", watched, { progressToken: "sky" }),
    ],
    ["The same from an older client (2025-11-25, with a session)", legacy(url)],
    ["Put it into a client", clients(url, stdio)],
  ]
  const body = sections.map(([title, text]) => `# ${title}\n${text}\n`).join("\n")
  return `Weather, for MCP clients of every era: ${url}\n\n${body}`
}

function clients(url: string, stdio: string): string {
  const byUrl = { mcpServers: { weather: { type: "http", url } } }
  const byCommand = { mcpServers: { weather: { command: "node", args: [stdio] } } }
  return [
    `by URL:      ${JSON.stringify(byUrl)}`,
    `by command:  ${JSON.stringify(byCommand)}`,
    `VS Code:     ${JSON.stringify({ servers: { weather: { type: "http", url } } })}  in .vscode/mcp.json`,
    `Claude Code: claude mcp add --transport http weather ${url}`,
  ].join("\n")
}
