/** What `ctx.once` keeps of a step: its value or its error, as JSON. */
import { McpError, ToolError } from "../../core/error/error.js"
import type { ErrorKind, Reason } from "../../core/error/reason.js"
import type { JsonValue } from "../../core/wire/message.js"

/** The outcome of a step. A value that was undefined has no member at all. */
export interface Outcome {
  readonly value?: JsonValue
  readonly error?: KeptError
}

/** What is kept of an error. */
interface KeptError {
  readonly name: string
  readonly message: string
  /** Whether it speaks to the model. */
  readonly forModel?: true
  /** What an error of the library says beside its message. */
  readonly mcp?: {
    readonly kind: ErrorKind
    readonly reason: Reason
    readonly retryable: boolean
    readonly code?: number
    readonly data?: JsonValue
  }
}

/** The outcome of a step that gave `value`; what is kept is what JSON gives back. */
export function valueOutcome(value: unknown): Outcome {
  const text = JSON.stringify(value)
  return text === undefined ? {} : { value: JSON.parse(text) as JsonValue }
}

/** The outcome of a step that threw. */
export function errorOutcome(thrown: unknown): Outcome {
  const { name, message } = thrown instanceof Error ? thrown : { name: "Error", message: String(thrown) }
  if (ToolError.is(thrown)) return { error: { name, message, forModel: true } }
  if (!McpError.is(thrown)) return { error: { name, message } }
  const { kind, reason, retryable, code, data } = thrown
  const further = { ...(code === undefined ? {} : { code }), ...(data === undefined ? {} : { data }) }
  return { error: { name, message, mcp: { kind, reason, retryable, ...further } } }
}

/**
 * What an outcome gives whoever asks for it: its value, or its error thrown, the same in every run. `cause` is the error
 * itself, in the run that saw it.
 */
export function takeOutcome({ value, error }: Outcome, cause: unknown): unknown {
  if (error === undefined) return value
  const because = cause === undefined ? {} : { cause }
  if (error.forModel) throw new ToolError(error.message, because)
  if (error.mcp !== undefined) throw new McpError(error.message, { ...error.mcp, ...because })
  throw Object.assign(new Error(error.message, because), { name: error.name })
}
