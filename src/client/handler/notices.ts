/** What a server says without asking anything, handed to the application. Nothing that a handler does here harms anything. */

import type { ListName } from "../../core/feature/listen.js"
import { isLogLevel } from "../../core/feature/log-level.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { Logger } from "../../observe/log.js"
import type { Handlers } from "./handlers.js"
import type { Pages } from "./pages.js"

/** What is needed to hand a notification on. */
export interface NoticeHost {
  readonly handlers: Handlers
  readonly pages: Pages
  readonly logger: Logger
}

type Notice = (params: JsonObject, host: NoticeHost) => void

const NOTICES: ReadonlyMap<string, Notice> = new Map<string, Notice>([
  ["notifications/message", logged],
  ["notifications/elicitation/complete", completed],
  ["notifications/tools/list_changed", listChanged("tools")],
  ["notifications/prompts/list_changed", listChanged("prompts")],
  ["notifications/resources/list_changed", listChanged("resources")],
  ["notifications/resources/updated", updated],
])

/** Hands a notification to its handler; answers whether it is one of those that have one. A malformed one is passed over. */
export function hearNotice(method: string, params: JsonObject | undefined, host: NoticeHost): boolean {
  const notice = NOTICES.get(method)
  notice?.(params ?? {}, host)
  return notice !== undefined
}

function logged({ level, logger: name, data }: JsonObject, { handlers, logger }: NoticeHost): void {
  if (!isLogLevel(level)) return
  const line = { level, logger: typeof name === "string" ? name : undefined, data }
  tell("log", logger, () => handlers.log?.(line))
}

/** @see https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#completion-notifications-for-url-mode-elicitation */
function completed({ elicitationId: id }: JsonObject, { handlers, pages, logger }: NoticeHost): void {
  if (typeof id === "string" && pages.forget(id)) {
    tell("elicitationComplete", logger, () => handlers.elicitationComplete?.(id))
  }
}

function listChanged(list: ListName): Notice {
  return (_params, { handlers, logger }) => tell("changed", logger, () => handlers.changed?.({ list }))
}

function updated({ uri }: JsonObject, { handlers, logger }: NoticeHost): void {
  if (typeof uri === "string") tell("changed", logger, () => handlers.changed?.({ uri }))
}

/** Calls a handler that answers nothing; one that fails, now or later, is reported. */
function tell(name: keyof Handlers, logger: Logger, run: () => unknown): void {
  const failed = (error: unknown): void => logger.error("a handler failed", { handler: `handlers.${name}`, error })
  try {
    const told = run()
    if (told instanceof Promise) told.catch(failed)
  } catch (error) {
    failed(error)
  }
}
