/** What each side says it can do, and the check of one leaf of it. */
import { isJsonObject, type JsonObject } from "../wire/message.js"

/** The capabilities of a server, in either era. */
export interface ServerCapabilities {
  readonly experimental?: JsonObject
  readonly logging?: JsonObject
  readonly completions?: JsonObject
  readonly prompts?: { readonly listChanged?: boolean }
  readonly resources?: { readonly subscribe?: boolean; readonly listChanged?: boolean }
  readonly tools?: { readonly listChanged?: boolean }
  readonly extensions?: JsonObject
}

/** A capability of a client that a server may ask for. */
export type ClientCapability =
  | "elicitation"
  | "elicitation.form"
  | "elicitation.url"
  | "sampling"
  | "sampling.tools"
  | "sampling.context"
  | "roots"

/**
 * Whether `declared` holds the capability. `elicitation.form` is implied by an `elicitation` that names no mode; every other
 * leaf must be there by its own name.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/client/elicitation#capabilities
 */
export function hasCapability(declared: JsonObject, capability: ClientCapability | `extensions.${string}`): boolean {
  if (capability.startsWith("extensions.")) {
    const extensions = declared["extensions"]
    return isJsonObject(extensions) && Object.hasOwn(extensions, capability.slice("extensions.".length))
  }
  const [head = "", leaf] = capability.split(".")
  const value = Object.hasOwn(declared, head) ? declared[head] : undefined
  if (!isJsonObject(value)) return false
  if (leaf === undefined) return true
  if (isJsonObject(value[leaf])) return true
  return capability === "elicitation.form" && value["url"] === undefined
}

/** The `requiredCapabilities` object that names one capability. */
export function requiredCapabilities(capability: ClientCapability | `extensions.${string}`): JsonObject {
  if (capability.startsWith("extensions.")) {
    return { extensions: { [capability.slice("extensions.".length)]: {} } }
  }
  const [head = "", leaf] = capability.split(".")
  return { [head]: leaf === undefined ? {} : { [leaf]: {} } }
}
