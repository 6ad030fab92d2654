/**
 * A tiny gateway, in manual mode: it declares its capabilities and answers with raw results, which it gets from another server.
 * What the other server has is not known beforehand, so nothing here is defined; it only hides the tools that change things.
 */
import { type Context, createServer, type JsonObject, type JsonValue, McpError, type Server } from "conduit-mcp"
import { request } from "conduit-mcp/protocol"

/** A gateway to the modern server at `upstream`. */
export function createGateway(upstream: string): Server {
  return createServer({
    name: "gateway",
    version: "1.0.0",
    capabilities: { tools: {} },
    handlers: {
      "tools/list": async (params, ctx) => {
        const { tools, ...rest } = await forward(upstream, "tools/list", params, ctx)
        return { ...rest, tools: Array.isArray(tools) ? tools.filter(isReadOnly) : [] }
      },
      "tools/call": (params, ctx) => forward(upstream, "tools/call", params, ctx),
    },
  })
}

function isReadOnly(tool: JsonValue): boolean {
  return isObject(tool) && isObject(tool["annotations"]) && tool["annotations"]["readOnlyHint"] === true
}

let ids = 0

/** Sends one modern request. The caller's own `_meta` stays here: it was addressed to the gateway. */
async function forward(upstream: string, method: string, params: JsonObject, ctx: Context): Promise<JsonObject> {
  const { _meta, ...own } = params
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  }
  const response = await fetch(upstream, {
    method: "POST",
    headers: {
      "Content-Type": "application/json",
      Accept: "application/json",
      "MCP-Protocol-Version": "2026-07-28",
      "Mcp-Method": method,
      ...(typeof own["name"] === "string" ? { "Mcp-Name": own["name"] } : {}),
    },
    body: JSON.stringify(request(++ids, method, { ...own, _meta: meta })),
    signal: ctx.signal,
  })
  return toResult(await response.json())
}

/** The result of an answer, without what the other server says of itself; its error is passed on. */
function toResult(answer: JsonValue): JsonObject {
  if (isObject(answer) && isObject(answer["result"])) {
    const { resultType, _meta, ...result } = answer["result"]
    return result
  }
  const error = isObject(answer) && isObject(answer["error"]) ? answer["error"] : {}
  throw new McpError(String(error["message"] ?? "The other server gave no answer"), {
    kind: "protocol",
    reason: "jsonrpc",
    code: Number(error["code"] ?? -32603),
  })
}

function isObject(value: JsonValue | undefined): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value)
}
