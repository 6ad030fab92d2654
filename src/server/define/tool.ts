/** `tool()`: a tool as a value, with everything that can be derived from it derived once. */
import { misuse } from "../../core/error/error.js"
import { type ParamHeader, scanParamHeaders } from "../../core/http/param.js"
import type { Icon } from "../../core/model/identity.js"
import type { Tool, ToolAnnotations } from "../../core/model/tool.js"
import { inputJsonSchema, outputJsonSchema } from "../../core/schema/json-schema.js"
import type { InputOf, OutputOf, Schema, SchemaResult } from "../../core/schema/standard.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { Context } from "../context.js"
import type { InputRequired, Marked, ToolResult } from "./content.js"

/** What a tool is, beside its name and its handler. */
export interface ToolOptions<Input extends Schema | undefined, Output extends Schema | undefined> {
  readonly title?: string
  readonly description?: string
  /** The schema of the arguments; its root is an object. Default: no arguments. */
  readonly input?: Input
  /** The schema of the value that the handler returns, which becomes `structuredContent`. */
  readonly output?: Output
  readonly annotations?: ToolAnnotations
  /**
   * Whether each round of a call counts once: the same answers get the same response again, other answers are refused.
   * Default false.
   */
  readonly singleUse?: boolean
  /**
   * How long the handler may take, in milliseconds; time in which the client is asked does not count. Then `ctx.signal` aborts
   * and the call is answered with `isError`. Default: `limits.handlerTimeoutMs` of the server, which is an hour.
   */
  readonly timeoutMs?: number
  readonly icons?: readonly Icon[]
  /** Becomes `_meta` of the listed tool. */
  readonly meta?: JsonObject
}

/** The arguments that a handler gets: the output side of the input schema. */
export type ToolArgs<Input extends Schema | undefined> = Input extends Schema ? OutputOf<Input> : Record<string, never>

/** What a handler may return. */
export type ToolReturn<Output extends Schema | undefined> =
  | ToolResult
  | InputRequired
  | Marked
  | readonly Marked[]
  | (Output extends Schema ? InputOf<Output> : string | number | boolean | null | object)

/** Does the work of a tool. */
export type ToolHandler<Input extends Schema | undefined, Output extends Schema | undefined> = (
  args: ToolArgs<Input>,
  ctx: Context,
) => ToolReturn<Output> | Promise<ToolReturn<Output>>

/** Checks a value with the user's schema. */
export type Validate = (value: unknown) => SchemaResult<unknown> | Promise<SchemaResult<unknown>>

/** A tool without its types: what lists of tools hold. */
export interface AnyTool {
  readonly kind: "tool"
  readonly name: string
  /** The tool as it is listed. */
  readonly listed: Tool
  /** Undefined when the tool takes no arguments. */
  readonly validate: Validate | undefined
  readonly validateOutput: Validate | undefined
  readonly singleUse: boolean
  readonly timeoutMs: number | undefined
  /** The arguments that `Mcp-Param-*` headers repeat. */
  readonly paramHeaders: readonly ParamHeader[]
  readonly run: (args: unknown, ctx: Context) => unknown
  /** The same tool with some of its options changed. */
  with(patch: ToolPatch): AnyTool
}

/** The schema's own check, called on the schema, since some libraries' checks need to be. */
export function validator(schema: Schema | undefined): Validate | undefined {
  return schema === undefined ? undefined : (value) => schema["~standard"].validate(value)
}

/** The options of a tool that can change while it is served. */
export type ToolPatch = Omit<ToolOptions<Schema, Schema>, "input" | "output">

/** A tool with its types, which a typed client reads. */
export interface ToolDefinition<Name extends string, Args, Result> extends AnyTool {
  readonly name: Name
  /** Never there at run time. */
  readonly types?: { readonly args: Args; readonly result: Result }
}

/**
 * Defines a tool.
 *
 * @throws `McpError` of kind `misuse` when the name is empty or a schema cannot be served; the message says how to fix it.
 * @example
 * const add = tool("add", { input: z.object({ a: z.number(), b: z.number() }) }, ({ a, b }) => String(a + b))
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/tools
 */
export function tool<
  const Name extends string,
  Input extends Schema | undefined = undefined,
  Output extends Schema | undefined = undefined,
>(
  name: Name,
  options: ToolOptions<Input, Output>,
  handler: ToolHandler<Input, Output>,
): ToolDefinition<
  Name,
  Input extends Schema ? InputOf<Input> : Record<string, never>,
  Output extends Schema ? OutputOf<Output> : unknown
> {
  if (typeof name !== "string" || name === "") {
    throw misuse("invalid_definition", "a tool needs a name that is not empty")
  }
  if (typeof handler !== "function") throw misuse("invalid_definition", `tool "${name}" needs a handler function`)
  const { input, output, meta, singleUse = false, timeoutMs, ...rest } = options
  const owner = `tool "${name}"`
  if (timeoutMs !== undefined && !(Number.isSafeInteger(timeoutMs) && timeoutMs > 0)) {
    throw misuse("invalid_definition", `${owner}: timeoutMs must be a positive integer, not ${String(timeoutMs)}`)
  }
  const inputSchema = inputJsonSchema(input, owner)
  const scan = scanParamHeaders(inputSchema)
  if (!scan.ok) throw misuse("invalid_schema", `${owner}: x-mcp-header at ${scan.path}: ${scan.problem}`)
  const listed: Tool = {
    name,
    ...rest,
    inputSchema,
    ...(output === undefined ? {} : { outputSchema: outputJsonSchema(output, owner) }),
    ...(meta === undefined ? {} : { _meta: meta }),
  }
  return {
    kind: "tool",
    name,
    listed,
    validate: validator(input),
    validateOutput: validator(output),
    singleUse,
    timeoutMs,
    paramHeaders: scan.params,
    run: handler as AnyTool["run"],
    with: (patch) => tool(name, { ...options, ...patch }, handler),
  }
}
