/** The two error classes of the library: `McpError` for everything that fails, `ToolError` for a tool that says no. */
import type { JsonValue } from "../wire/message.js"
import type { ErrorKind, Reason } from "./reason.js"

const BRAND = Symbol.for("conduit-mcp.error")
const TOOL_BRAND = Symbol.for("conduit-mcp.tool-error")

/** The members of a {@link McpError} beside its message. */
export interface McpErrorOptions {
  readonly kind: ErrorKind
  readonly reason: Reason
  /** The JSON-RPC code, for kind `protocol`. */
  readonly code?: number
  /** The `data` member of the wire error, or further facts. */
  readonly data?: JsonValue
  readonly cause?: unknown
  /** Whether the same call may succeed when it is made again. Default false. */
  readonly retryable?: boolean
}

/**
 * An error of the library. Recognise it with `McpError.is(error, kind?)`, which also works across copies of the package.
 * No message ever holds a secret.
 */
export class McpError extends Error {
  readonly kind: ErrorKind
  readonly reason: Reason
  readonly code: number | undefined
  readonly data: JsonValue | undefined
  readonly retryable: boolean

  constructor(message: string, options: McpErrorOptions) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause })
    this.name = "McpError"
    this.kind = options.kind
    this.reason = options.reason
    this.code = options.code
    this.data = options.data
    this.retryable = options.retryable ?? false
    Object.defineProperty(this, BRAND, { value: true })
  }

  /** Whether `error` is an {@link McpError}, of the given kind if one is named. */
  static is(error: unknown, kind?: ErrorKind): error is McpError {
    return hasBrand(error, BRAND) && (kind === undefined || (error as McpError).kind === kind)
  }
}

/** The error of a wrong call of the library itself: kind `misuse`. */
export function misuse(reason: Reason, message: string, cause?: unknown): McpError {
  return new McpError(message, { kind: "misuse", reason, ...(cause === undefined ? {} : { cause }) })
}

/**
 * Thrown by a tool handler to answer with `isError: true`: the message goes to the model, unlike that of any other
 * exception. Throwing it is the same as returning `fail(message)`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools#error-handling
 */
export class ToolError extends Error {
  constructor(message: string, options?: { readonly cause?: unknown }) {
    super(message, options)
    this.name = "ToolError"
    Object.defineProperty(this, TOOL_BRAND, { value: true })
  }

  /** Whether `error` is a {@link ToolError}, of any copy of the package. */
  static is(error: unknown): error is ToolError {
    return hasBrand(error, TOOL_BRAND)
  }
}

function hasBrand(error: unknown, brand: symbol): boolean {
  return typeof error === "object" && error !== null && Object.hasOwn(error, brand)
}
