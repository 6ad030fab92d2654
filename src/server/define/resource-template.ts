/** `resourceTemplate()`: many resources behind one URI template, as a value. */
import { misuse } from "../../core/error/error.js"
import type { Freshness } from "../../core/feature/freshness.js"
import { parseUriTemplate, type UriTemplate } from "../../core/feature/uri-template.js"
import type { ResourceTemplate } from "../../core/model/resource.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { CompletionContext, Context } from "../context.js"
import type { ResourceReturn } from "./resource.js"

/** Suggests values for what somebody is typing. More than a hundred are cut to a hundred. */
export type Completer = (prefix: string, ctx: CompletionContext) => readonly string[] | Promise<readonly string[]>

type Name<Spec extends string> = Spec extends `${infer Head}:${string}` ? Head : Spec
type Value<Spec extends string> = Spec extends `${infer Head}*`
  ? { [Key in Head]: readonly string[] }
  : { [Key in Name<Spec>]: string }
type Specs<List extends string> = List extends `${infer Head},${infer Rest}` ? Value<Head> & Specs<Rest> : Value<List>
type Variables<Expression extends string> = Expression extends `${"#" | "." | "/" | ";" | "?" | "&"}${infer List}`
  ? Partial<Specs<List>>
  : Expression extends `+${infer List}`
    ? Specs<List>
    : Specs<Expression>

/**
 * The variables of a URI template, read from its literal type: lists where it says `*`, texts elsewhere. Those that a uri may
 * leave out, such as the query's, may be undefined.
 */
export type TemplateVariables<Template extends string> = string extends Template
  ? Readonly<Record<string, string | readonly string[]>>
  : Template extends `${string}{${infer Expression}}${infer Rest}`
    ? Variables<Expression> & TemplateVariables<Rest>
    : unknown

/** What a resource template is, beside the template and its reader. */
export interface ResourceTemplateOptions<Variables> extends Omit<ResourceTemplate, "uriTemplate" | "_meta"> {
  /** A completer per variable. */
  readonly complete?: { readonly [Key in keyof Variables]?: Completer }
  /** How long what is read may be kept, and by whom. Default: not at all, by the caller only. */
  readonly freshness?: Freshness
  /** Becomes `_meta` of the listed template. */
  readonly meta?: JsonObject
}

/** A resource template as lists of definitions hold it. */
export interface ResourceTemplateDefinition {
  readonly kind: "resource-template"
  readonly uriTemplate: string
  readonly template: UriTemplate
  readonly listed: ResourceTemplate
  readonly freshness: Freshness | undefined
  readonly completers: ReadonlyMap<string, Completer>
  readonly read: (variables: never, ctx: Context) => ResourceReturn | Promise<ResourceReturn>
  /** The same template with some of its options changed. */
  with(patch: ResourceTemplatePatch): ResourceTemplateDefinition
}

/** The options of a resource template that can change while it is served. */
export type ResourceTemplatePatch = Partial<ResourceTemplateOptions<Record<string, unknown>>>

/**
 * Defines a resource template.
 *
 * @throws `McpError` of kind `misuse` when the template cannot be parsed, the name is missing, or a completer has no variable.
 * @example
 * const city = resourceTemplate("weather://{city}", { name: "city" }, ({ city }) => ({ city, celsius: 21 }))
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources#resource-templates
 */
export function resourceTemplate<const Template extends string>(
  uriTemplate: Template,
  options: ResourceTemplateOptions<TemplateVariables<Template>>,
  read: (variables: TemplateVariables<Template>, ctx: Context) => ResourceReturn | Promise<ResourceReturn>,
): ResourceTemplateDefinition {
  const owner = `resource template "${uriTemplate}"`
  const template = parseUriTemplate(uriTemplate)
  if ("problem" in template) throw misuse("invalid_definition", `${owner}: ${template.problem}`)
  if (typeof options.name !== "string" || options.name === "")
    throw misuse("invalid_definition", `${owner} needs a name`)
  const { complete = {}, freshness, meta, ...rest } = options
  const completers = new Map(Object.entries<Completer | undefined>(complete)) as Map<string, Completer>
  for (const name of completers.keys()) {
    if (!template.variables.includes(name)) {
      throw misuse("invalid_definition", `${owner}: complete.${name} is not a variable of the template`)
    }
  }
  return {
    kind: "resource-template",
    uriTemplate,
    template,
    listed: { uriTemplate, ...rest, ...(meta === undefined ? {} : { _meta: meta }) },
    freshness,
    completers,
    read,
    with: (patch) => resourceTemplate(uriTemplate, { ...options, ...patch }, read),
  }
}
