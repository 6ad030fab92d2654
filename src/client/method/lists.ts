/**
 * Lists that come in pages, read to their end.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { McpError } from "../../core/error/error.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"
import { readList, readMeta } from "./read.js"

/** Asks for one page. */
export type AskPage = (params: JsonObject | undefined) => Promise<JsonObject>

/** The items of all pages, and the `_meta` of the first. */
export interface Pages {
  readonly items: readonly JsonValue[]
  readonly meta: JsonObject | undefined
}

/**
 * Reads all pages. A cursor is whatever text the server gave, the empty one too; one that came before ends the list.
 *
 * @throws `McpError` of kind `protocol`, reason `invalid_result`, for a page without the list, or more than `maxPages` of them.
 */
export async function readPages(method: string, member: string, maxPages: number, ask: AskPage): Promise<Pages> {
  const first = await ask(undefined)
  const items: JsonValue[] = [...readList(first, method, member)]
  const seen = new Set<string>()
  let { nextCursor } = first
  while (typeof nextCursor === "string" && !seen.has(nextCursor)) {
    seen.add(nextCursor)
    if (seen.size >= maxPages) {
      const text = `${method}: the list has more than ${maxPages} pages (limits.maxPages)`
      throw new McpError(text, { kind: "protocol", reason: "invalid_result" })
    }
    const page = await ask({ cursor: nextCursor })
    items.push(...readList(page, method, member))
    nextCursor = page["nextCursor"]
  }
  return { items, meta: readMeta(first) }
}
