/** `prompt()`: a prompt as a value. */
import { misuse } from "../../core/error/error.js"
import type { ContentBlock } from "../../core/model/content.js"
import type { Icon } from "../../core/model/identity.js"
import type { Prompt, PromptMessage } from "../../core/model/prompt.js"
import { promptArguments } from "../../core/schema/json-schema.js"
import type { OutputOf, Schema } from "../../core/schema/standard.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { Context } from "../context.js"
import type { InputRequired } from "./content.js"
import type { Completer } from "./resource-template.js"
import { type Validate, validator } from "./tool.js"

/** The arguments that a prompt's handler gets. */
export type PromptArgs<Args extends Schema | undefined> = Args extends Schema ? OutputOf<Args> : Record<string, never>

/** What a prompt is, beside its name and its handler. */
export interface PromptOptions<Args extends Schema | undefined> {
  readonly title?: string
  readonly description?: string
  /** The schema of the arguments: an object whose values are texts on the wire. Default: no arguments. */
  readonly args?: Args
  /** A completer per argument. */
  readonly complete?: { readonly [Key in keyof PromptArgs<Args>]?: Completer }
  /** Whether each round of a call counts once, as with tools. Default false. */
  readonly singleUse?: boolean
  readonly icons?: readonly Icon[]
  /** Becomes `_meta` of the listed prompt. */
  readonly meta?: JsonObject
}

/** What a prompt's handler may return: a text (one user message), one message, or several. */
export type PromptReturn = string | ContentBlock | PromptMessage | readonly PromptMessage[] | InputRequired

/** A prompt as lists of definitions hold it. */
export interface PromptDefinition {
  readonly kind: "prompt"
  readonly name: string
  readonly listed: Prompt
  readonly validate: Validate | undefined
  readonly singleUse: boolean
  readonly completers: ReadonlyMap<string, Completer>
  readonly run: (args: never, ctx: Context) => PromptReturn | Promise<PromptReturn>
  /** The same prompt with some of its options changed. */
  with(patch: PromptPatch): PromptDefinition
}

/** The options of a prompt that can change while it is served. */
export type PromptPatch = Omit<PromptOptions<undefined>, "args" | "complete">

/**
 * Defines a prompt.
 *
 * @throws `McpError` of kind `misuse` when the name is empty, the schema cannot be served, or a completer has no argument.
 * @example
 * const review = prompt("review", { args: z.object({ code: z.string() }) }, ({ code }) => [user(`Review: ${code}`)])
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/prompts
 */
export function prompt<Args extends Schema | undefined = undefined>(
  name: string,
  options: PromptOptions<Args>,
  handler: (args: PromptArgs<Args>, ctx: Context) => PromptReturn | Promise<PromptReturn>,
): PromptDefinition {
  if (typeof name !== "string" || name === "") {
    throw misuse("invalid_definition", "a prompt needs a name that is not empty")
  }
  const { args, complete = {}, meta, singleUse = false, ...rest } = options
  const owner = `prompt "${name}"`
  const listedArguments = promptArguments(args, owner)
  const completers = new Map(Object.entries<Completer | undefined>(complete)) as Map<string, Completer>
  for (const key of completers.keys()) {
    if (!listedArguments.some((argument) => argument.name === key)) {
      throw misuse("invalid_definition", `${owner}: complete.${key} is not an argument of the prompt`)
    }
  }
  const listed: Prompt = {
    name,
    ...rest,
    ...(listedArguments.length === 0 ? {} : { arguments: listedArguments }),
    ...(meta === undefined ? {} : { _meta: meta }),
  }
  return {
    kind: "prompt",
    name,
    listed,
    validate: validator(args),
    singleUse,
    completers,
    run: handler,
    with: (patch) => prompt(name, { ...options, ...patch }, handler),
  }
}
