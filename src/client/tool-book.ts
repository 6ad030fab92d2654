/** What the client has learnt of a server's tools from its lists: which arguments headers repeat, and what results look like. */
import { type ParamHeader, scanParamHeaders } from "../core/http/param.js"
import type { Check } from "../core/schema/interpreter.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../core/wire/message.js"

/** What is known of one tool. */
export interface ToolFacts {
  readonly params: readonly ParamHeader[]
  readonly inputSchema: JsonObject
  readonly outputSchema: JsonObject | undefined
  /** Whether the server says that calling it twice is like calling it once. */
  readonly isRepeatable: boolean
  /** The check of results, or why there is none; made when the first one comes. */
  check: Promise<Check | string> | undefined
}

/** A tool that cannot be used, and why. */
export interface RefusedTool {
  readonly name: string
  readonly problem: string
}

/** Remembers tools by name, as the last list had them. */
export class ToolBook {
  readonly #tools = new Map<string, ToolFacts>()

  find(name: string): ToolFacts | undefined {
    return this.#tools.get(name)
  }

  /** Forgets everything: the lists come from another server, or have changed. */
  clear(): void {
    this.#tools.clear()
  }

  /**
   * Reads one page of a list. Tools whose marked headers are invalid are left out of what is answered, each with its reason.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension
   */
  read(listed: readonly JsonValue[]): {
    readonly tools: readonly JsonObject[]
    readonly refused: readonly RefusedTool[]
  } {
    const tools: JsonObject[] = []
    const refused: RefusedTool[] = []
    for (const tool of listed) {
      if (!isJsonObject(tool)) continue
      const { name, inputSchema, outputSchema, annotations } = tool
      if (typeof name !== "string") continue
      const schema = isJsonObject(inputSchema) ? inputSchema : {}
      const scan = scanParamHeaders(schema)
      if (!scan.ok) {
        this.#tools.delete(name)
        refused.push({ name, problem: `${scan.path}: ${scan.problem}` })
        continue
      }
      tools.push(tool)
      const hints = isJsonObject(annotations) ? annotations : {}
      this.#tools.set(name, {
        params: scan.params,
        inputSchema: schema,
        outputSchema: isJsonObject(outputSchema) ? outputSchema : undefined,
        isRepeatable: hints["readOnlyHint"] === true || hints["idempotentHint"] === true,
        check: undefined,
      })
    }
    return { tools, refused }
  }
}
