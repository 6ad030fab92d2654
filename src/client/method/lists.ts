/**
 * Lists that come in pages, read to their end: what can be served is, and the rest is named.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/pagination
 */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import { type EntryKind, readEntry } from "../../core/feature/list-entry.js"
import { clampText } from "../../core/feature/text.js"
import type { JsonObject, JsonValue } from "../../core/wire/message.js"
import type { ClientLimits } from "../limits.js"
import { readList, readMeta } from "./read.js"
import type { ListPage, RefusedEntry } from "./results.js"

/** The method that reads each list. */
export const LIST_METHODS: Readonly<Record<EntryKind, string>> = {
  tools: "tools/list",
  resources: "resources/list",
  resourceTemplates: "resources/templates/list",
  prompts: "prompts/list",
}

/** What reading a list needs. */
export interface ListHost {
  /** Asks for one page. */
  ask(params: JsonObject | undefined): Promise<JsonObject>
  readonly limits: Pick<ClientLimits, "maxPages" | "maxListEntries">
  /** Why an entry that is well formed cannot be used; undefined when it can. */
  refusal(entry: JsonObject): string | undefined
  /** Hears of each entry that is set aside. */
  setAside(entry: RefusedEntry): void
  /** Hears that pages that were read before belong to a list that is gone. */
  outdated(): void
}

/** A whole list: `meta` is that of the first page. */
export type WholeList = Omit<ListPage<JsonObject>, "nextCursor">

/**
 * Reads page by page, from the beginning or from a cursor. A cursor is whatever text the server gave, the empty one too; one that
 * came before ends the list, and what was on an earlier page is on no later one.
 *
 * @throws `McpError` of kind `protocol`, reason `invalid_result`, for a page without the list, and beyond `maxPages` and
 * `maxListEntries`.
 */
export async function* readPages(
  kind: EntryKind,
  host: ListHost,
  from?: string,
): AsyncGenerator<ListPage<JsonObject>, void> {
  const method = LIST_METHODS[kind]
  const { maxPages, maxListEntries } = host.limits
  const cursors = new Set<string>()
  const keys = new Set<string>()
  let cursor = from
  let entries = 0
  for (let pages = 1; ; pages++) {
    if (pages > maxPages) throw tooLong(`${method}: the list has more than ${maxPages} pages (limits.maxPages)`)
    if (cursor !== undefined) cursors.add(cursor)
    const result = await askFor(host, cursor)
    const listed = readList(result, method, kind)
    if (entries + listed.length > maxListEntries) {
      throw tooLong(`${method}: the list has more than ${maxListEntries} entries (limits.maxListEntries)`)
    }
    const { items, refused } = readEntries(kind, host, listed, entries, keys)
    entries += listed.length
    const next = readCursor(result["nextCursor"], entries)
    if (typeof next === "object") refused.push(next)
    for (const entry of refused) host.setAside(entry)
    cursor = typeof next === "string" && !cursors.has(next) ? next : undefined
    yield { items, refused, nextCursor: cursor, meta: readMeta(result) }
    if (cursor === undefined) return
  }
}

/**
 * Reads all pages. When the server does not take a cursor that it gave, the list is read once more from the beginning.
 *
 * @throws as {@link readPages}.
 */
export async function readAll(kind: EntryKind, host: ListHost): Promise<WholeList> {
  for (let again = false; ; again = true) {
    const pages: ListPage<JsonObject>[] = []
    try {
      for await (const page of readPages(kind, host)) pages.push(page)
      return {
        items: pages.flatMap(({ items }) => items),
        refused: pages.flatMap(({ refused }) => refused),
        meta: pages[0]?.meta,
      }
    } catch (error) {
      if (again || pages.length === 0 || !isCursorRefused(error)) throw error
    }
  }
}

/** @see https://modelcontextprotocol.io/specification/2026-07-28/server/utilities/caching#interaction-with-pagination */
async function askFor(host: ListHost, cursor: string | undefined): Promise<JsonObject> {
  if (cursor === undefined) return host.ask(undefined)
  try {
    return await host.ask({ cursor })
  } catch (error) {
    if (isCursorRefused(error)) host.outdated()
    throw error
  }
}

function isCursorRefused(error: unknown): boolean {
  return McpError.is(error, "protocol") && error.code === codes.invalidParams
}

function readEntries(
  kind: EntryKind,
  host: ListHost,
  listed: readonly JsonValue[],
  before: number,
  keys: Set<string>,
): { readonly items: JsonObject[]; readonly refused: RefusedEntry[] } {
  const items: JsonObject[] = []
  const refused: RefusedEntry[] = []
  for (const [place, value] of listed.entries()) {
    const index = before + place
    const read = readEntry(kind, value)
    if (!read.ok) {
      refused.push({ name: read.name, index, reason: read.reason })
      continue
    }
    if (keys.has(read.key)) continue
    const reason = host.refusal(read.entry)
    if (reason !== undefined) {
      refused.push({ name: clampText(read.key), index, reason })
      continue
    }
    keys.add(read.key)
    items.push(read.entry)
  }
  return { items, refused }
}

/** The cursor of the next page, undefined when there is none, or what is wrong with it. */
function readCursor(next: JsonValue | undefined, index: number): string | undefined | RefusedEntry {
  if (next === undefined || next === null) return undefined
  if (typeof next === "string") return next
  const reason = `nextCursor must be a string, not ${clampText(next, 40)}: the list cannot be read on`
  return { name: undefined, index, reason }
}

function tooLong(text: string): McpError {
  return new McpError(text, { kind: "protocol", reason: "invalid_result" })
}
