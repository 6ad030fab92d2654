/** What the client has learnt of a server's tools from its lists: which arguments headers repeat, and what results look like. */
import { type ParamHeader, scanParamHeaders } from "../core/http/param.js"
import type { Check } from "../core/schema/interpreter.js"
import { isJsonObject, type JsonObject } from "../core/wire/message.js"

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
   * Takes note of a listed tool; answers why it cannot be used when its marked headers are invalid.
   *
   * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#schema-extension
   */
  learn({ name, inputSchema, outputSchema, annotations }: JsonObject): string | undefined {
    if (typeof name !== "string" || !isJsonObject(inputSchema)) return "it has no name, or no inputSchema"
    const scan = scanParamHeaders(inputSchema)
    if (!scan.ok) {
      this.#tools.delete(name)
      return `inputSchema${scan.path}: ${scan.problem}`
    }
    const hints = isJsonObject(annotations) ? annotations : {}
    this.#tools.set(name, {
      params: scan.params,
      inputSchema,
      outputSchema: isJsonObject(outputSchema) ? outputSchema : undefined,
      isRepeatable: hints["readOnlyHint"] === true || hints["idempotentHint"] === true,
      check: undefined,
    })
    return undefined
  }
}
