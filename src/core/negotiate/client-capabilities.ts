/** The capabilities that a client declares: what the application can answer, and nothing else. */
import type { Era } from "../revision/revision.js"
import type { JsonObject, JsonValue } from "../wire/message.js"

/** The functions with which an application answers a server. Each that is there declares the capability to be asked. */
export interface AnsweringHandlers {
  readonly elicit?: unknown
  readonly sample?: unknown
  readonly roots?: unknown
}

/** What the handlers alone do not say. */
export interface ClientCapabilityOptions {
  /** Default `modern`. Only in the legacy era roots may say `listChanged`. */
  readonly era?: Era
  /** Whether to declare `sampling.tools`. Default false. */
  readonly samplingTools?: boolean
  /** Whether to declare `sampling.context`, which allows an `includeContext` other than `none`. Default false. */
  readonly samplingContext?: boolean
  /** Whether to declare `roots.listChanged`, which promises to tell of changes; in the legacy era. Default false. */
  readonly rootsListChanged?: boolean
  /** The kinds of question that can be shown to the user. Default both. */
  readonly elicitation?: readonly ("form" | "url")[]
  /** Whether the revision tells the kinds apart (`form.modes` of a revision); without, there are forms only. Default true. */
  readonly elicitationModes?: boolean
  /** The settings of extensions by their name. */
  readonly extensions?: JsonObject
}

/**
 * The `ClientCapabilities` to declare for the handlers that are there. Without handlers and extensions: `{}`.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/schema#clientcapabilities
 */
export function clientCapabilities(
  handlers: AnsweringHandlers | undefined,
  options: ClientCapabilityOptions = {},
): JsonObject {
  const { extensions = {} } = options
  return {
    ...declare("elicitation", isThere(handlers?.elicit) ? elicitation(options) : undefined),
    ...declare("sampling", isThere(handlers?.sample) ? sampling(options) : undefined),
    ...declare("roots", isThere(handlers?.roots) ? roots(options) : undefined),
    ...declare("extensions", Object.keys(extensions).length > 0 ? extensions : undefined),
  }
}

function isThere(handler: unknown): boolean {
  return typeof handler === "function"
}

/** Undefined where no kind of question is left to be asked. */
function elicitation({
  elicitation: shown = ["form", "url"],
  elicitationModes = true,
}: ClientCapabilityOptions): JsonObject | undefined {
  if (!elicitationModes) return shown.includes("form") ? {} : undefined
  return shown.length > 0
    ? { ...flag("form", shown.includes("form")), ...flag("url", shown.includes("url")) }
    : undefined
}

function sampling({ samplingTools = false, samplingContext = false }: ClientCapabilityOptions): JsonObject {
  return { ...flag("tools", samplingTools), ...flag("context", samplingContext) }
}

function roots({ era = "modern", rootsListChanged = false }: ClientCapabilityOptions): JsonObject {
  return era === "legacy" && rootsListChanged ? { listChanged: true } : {}
}

function flag(name: string, isSet: boolean): JsonObject {
  return declare(name, isSet ? {} : undefined)
}

function declare(name: string, value: JsonValue | undefined): JsonObject {
  return value === undefined ? {} : { [name]: value }
}
