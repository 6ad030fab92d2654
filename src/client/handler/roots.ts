/**
 * Requests for the directories and files that the application shows to servers.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/roots
 */
import type { McpError } from "../../core/error/error.js"
import { clampText } from "../../core/feature/text.js"
import { hasCapability } from "../../core/model/capability.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../../core/wire/message.js"
import type { Handlers } from "./handlers.js"
import { type Accepted, accepted, type Task, undeclared, unusable } from "./task.js"

/** Reads a request for the roots. */
export function readRoots(handlers: Handlers, declared: JsonObject): Task | McpError {
  if (!hasCapability(declared, "roots")) return undeclared("roots/list")
  return { handler: "roots", ask: (context) => handlers.roots?.(context), accept: toResult }
}

function toResult(answer: JsonValue): Accepted {
  if (!Array.isArray(answer)) return unusable("must answer with a list of roots")
  const index = answer.findIndex((root) => !isRoot(root))
  if (index < 0) return accepted({ roots: answer })
  const root = answer[index]
  const uri = isJsonObject(root) ? clampText(root["uri"]) : "no object"
  return unusable(
    `must answer with roots whose "uri" is a file: URL that leads nowhere else, not ${uri} (root ${index})`,
  )
}

/** Steps out of a directory, written in any way. */
const STEPS_OUT = /(?:^|[/\\]|%2f|%5c)(?:\.|%2e){2}(?:[/\\?#]|%2f|%5c|$)/i

function isRoot(root: JsonValue): boolean {
  if (!isJsonObject(root)) return false
  const { uri, name, _meta: meta } = root
  if (typeof uri !== "string" || !uri.startsWith("file://") || STEPS_OUT.test(uri)) return false
  if (name !== undefined && typeof name !== "string") return false
  return isUrl(uri) && (meta === undefined || isJsonObject(meta))
}

function isUrl(text: string): boolean {
  try {
    return new URL(text).protocol === "file:"
  } catch {
    return false
  }
}
