/**
 * The headers that repeat what a request's body says, so that whoever stands between can act on them without reading it.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#standard-request-headers
 */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { encodeHeaderValue, HEADER_METHOD, HEADER_NAME } from "../../core/http/header.js"
import { toParamHeaders } from "../../core/http/param.js"
import type { Revision } from "../../core/revision/revision.js"
import { isJsonObject, type JsonObject } from "../../core/wire/message.js"
import type { Call } from "../call.js"
import type { Headers } from "../link.js"
import type { ToolBook } from "../tool-book.js"
import type { Stage } from "./stage.js"

/** What the stage asks of the client. */
export interface HeaderHost {
  /** The revision that is spoken; undefined where no headers are sent, as on a pipe. */
  readonly mirrored: () => Revision | undefined
  readonly tools: ToolBook
  /** Reads the list of tools again, for a call that is under way. */
  readonly refreshTools: (call: Call) => Promise<void>
  /** Hears that a call is sent again, with the headers that the new list asks for. */
  readonly retried: (call: Call, error: McpError) => void
}

/**
 * Adds `Mcp-Method`, `Mcp-Name` and the `Mcp-Param-*` headers of known tools. A server that finds one missing knows the tool
 * better than the client: the list is read again and the call sent once more. When that list cannot be had, the first error stands.
 */
export function createHeaders({ mirrored, tools, refreshTools, retried }: HeaderHost): Stage {
  const mirror = (revision: Revision, method: string, params: JsonObject | undefined): Headers => {
    const own = mirrorHeaders(revision, method, params)
    const args = params?.["arguments"]
    const name = params?.["name"]
    const marked = method === "tools/call" && typeof name === "string" ? (tools.find(name)?.params ?? []) : []
    return marked.length === 0 || !isJsonObject(args) ? own : { ...own, ...toParamHeaders(marked, args) }
  }

  return (call, attempt, next) => {
    const revision = mirrored()
    if (revision === undefined) return next(call, attempt)
    const { method } = call
    const send = (): ReturnType<typeof next> =>
      next(call, { ...attempt, headers: mirror(revision, method, attempt.params) })
    if (method !== "tools/call") return send()
    return send().catch(async (error: unknown) => {
      if (!(McpError.is(error) && error.code === codes.headerMismatch) || call.isOver) throw error
      await refreshTools(call).catch(() => {
        throw error
      })
      retried(call, error)
      return send()
    })
  }
}

/** The headers that every request over HTTP repeats of its body. */
export function mirrorHeaders(revision: Revision, method: string, params: JsonObject | undefined): Headers {
  const name = params?.[revision.methods.get(method)?.namedBy ?? ""]
  return typeof name === "string"
    ? { [HEADER_METHOD]: method, [HEADER_NAME]: encodeHeaderValue(name) }
    : { [HEADER_METHOD]: method }
}
