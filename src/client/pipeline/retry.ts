/**
 * What is sent a second time, and what is not: after a version that the server no longer takes, after a verdict of an earlier
 * connection that turned out wrong, and after a lost connection where nothing happens twice.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning#protocol-version-errors
 */
import { codes } from "../../core/error/codes.js"
import { McpError } from "../../core/error/error.js"
import type { Operation } from "../../core/revision/revision.js"
import type { RetryCause } from "../../observe/client-event.js"
import type { Call } from "../call.js"
import type { Stage } from "./stage.js"

/** What the stage asks of the connection. */
export interface RetryHost {
  /** Whether a lost session is opened again. */
  readonly heals: boolean
  /** Whether the revision lets a request whose connection was lost be sent again. */
  readonly reissues: () => boolean
  readonly operationOf: (method: string) => Operation | undefined
  /** Whether calling the tool twice is like calling it once. */
  readonly isRepeatableTool: (name: string) => boolean
  /** Speaks another version from now on, by what the server listed; answers whether that is possible, throws when there is none. */
  readonly renegotiate: (error: McpError) => boolean
  /** Finds out anew what the server speaks when the verdict was not its own; answers whether that is something else. */
  readonly reprobe: (error: McpError, call: Call) => Promise<boolean>
  /** Hears that a call is sent again. */
  readonly retried: (call: Call, why: RetryCause, error: McpError) => void
}

/** Operations after which nothing is different. */
const REPEATABLE: ReadonlySet<Operation> = new Set<Operation>([
  "discover",
  "listTools",
  "listResources",
  "listResourceTemplates",
  "listPrompts",
  "readResource",
  "getPrompt",
  "complete",
  "listen",
])

/** Sends once more what can be, with a new id; see the file's comment. */
export function createRetry(host: RetryHost): Stage {
  const isRepeatable = (call: Call): boolean => {
    const operation = host.operationOf(call.method)
    if (operation === "callTool") return call.subject !== undefined && host.isRepeatableTool(call.subject)
    return operation !== undefined && REPEATABLE.has(operation)
  }

  const whyAgain = async (call: Call, error: McpError): Promise<RetryCause | undefined> => {
    // The request was not run. Sending it waits for the new session.
    if (error.reason === "session_not_found") return host.heals ? "session_lost" : undefined
    if (await host.reprobe(error, call)) return "verdict_outdated"
    if (error.code === codes.unsupportedProtocolVersion) {
      return host.renegotiate(error) ? "version_refused" : undefined
    }
    return isBroken(error) && host.reissues() && isRepeatable(call) ? "connection_lost" : undefined
  }

  return (call, given, next) => {
    const attempt = isRepeatable(call) ? { ...given, isRepeatable: true } : given
    return next(call, attempt).catch(async (error: unknown) => {
      if (!McpError.is(error)) throw error
      const why = call.isOver ? undefined : await whyAgain(call, error)
      if (why !== undefined) {
        host.retried(call, why, error)
        return next(call, attempt)
      }
      throw isBroken(error) && !error.retryable ? asRetryable(error) : error
    })
  }
}

function isBroken({ kind, reason }: McpError): boolean {
  return kind === "transport" && (reason === "network_error" || reason === "stream_broken")
}

/** The same failure, which says that the caller may try again: whether the call was run is not known. */
function asRetryable(error: McpError): McpError {
  const { kind, reason, data, cause = error } = error
  return new McpError(error.message, { kind, reason, retryable: true, cause, ...(data === undefined ? {} : { data }) })
}
