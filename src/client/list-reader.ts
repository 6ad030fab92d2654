/** The lists of one server: reads them, learns of its tools by them, and tells of what is set aside. */
import type { EntryKind } from "../core/feature/list-entry.js"
import type { JsonObject } from "../core/wire/message.js"
import type { ClientEvents } from "../observe/client-event.js"
import type { Topic } from "../observe/emitter.js"
import type { Logger } from "../observe/log.js"
import type { ClientLimits } from "./limits.js"
import { LIST_METHODS, type ListHost, readAll, readPages, type WholeList } from "./method/lists.js"
import type { ListPage, RefusedEntry } from "./method/results.js"
import type { ToolBook } from "./tool-book.js"

/** What a {@link ListReader} is made of. */
export interface ListReaderParts {
  readonly limits: Pick<ClientLimits, "maxPages" | "maxListEntries">
  readonly tools: ToolBook
  readonly refused: Topic<ClientEvents["client.entry_refused"]>
  readonly logger: Logger
  /** Hears that what was read before of a list is no longer good. */
  readonly outdated: (method: string) => void
}

/** Asks for one page. */
export type AskPage = (method: string, params: JsonObject | undefined) => Promise<JsonObject>

/** How many different entries are warned of; a server whose lists change all the time is not to fill a log. */
const MAX_WARNINGS = 1_000

export class ListReader {
  readonly #parts: ListReaderParts
  readonly #warned = new Set<string>()

  constructor(parts: ListReaderParts) {
    this.#parts = parts
  }

  /** All pages of a list. */
  all(kind: EntryKind, ask: AskPage): Promise<WholeList> {
    return readAll(kind, this.#hostOf(kind, ask))
  }

  /** A list page by page, from the beginning or from a cursor. */
  pages(kind: EntryKind, ask: AskPage, from?: string): AsyncGenerator<ListPage<JsonObject>, void> {
    return readPages(kind, this.#hostOf(kind, ask), from)
  }

  #hostOf(kind: EntryKind, ask: AskPage): ListHost {
    const { limits, tools, outdated } = this.#parts
    const method = LIST_METHODS[kind]
    return {
      ask: (params) => ask(method, params),
      limits,
      refusal: (entry) => (kind === "tools" ? tools.learn(entry) : undefined),
      setAside: (entry) => this.#tell(method, entry),
      outdated: () => outdated(method),
    }
  }

  /** @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension */
  #tell(method: string, entry: RefusedEntry): void {
    const { refused, logger } = this.#parts
    if (refused.watched) refused.publish({ method, ...entry })
    const { name, index, reason } = entry
    const text = `${method}: entry ${index}${name === undefined ? "" : ` ("${name}")`} is set aside: ${reason}`
    if (this.#warned.has(text) || this.#warned.size >= MAX_WARNINGS) return
    this.#warned.add(text)
    logger.warn(text)
  }
}
