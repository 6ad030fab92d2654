/** `resource()`: one resource with a fixed uri, as a value. */
import { misuse } from "../../core/error/error.js"
import type { Freshness } from "../../core/feature/freshness.js"
import type { Resource } from "../../core/model/resource.js"
import type { JsonObject } from "../../core/wire/message.js"
import type { Context } from "../context.js"
import type { Contents } from "./content.js"

/** What a resource is, beside its uri and its reader. */
export interface ResourceOptions extends Omit<Resource, "uri" | "_meta"> {
  /** How long what is read may be kept, and by whom. Default: not at all, by the caller only. */
  readonly freshness?: Freshness
  /** Becomes `_meta` of the listed resource. */
  readonly meta?: JsonObject
}

/**
 * What a reader may return: a text, bytes, several {@link Contents}, any other JSON value (as JSON text), or undefined when
 * there is no such resource.
 */
export type ResourceReturn = string | Uint8Array | Contents | number | boolean | null | object | undefined

/** A resource as lists of definitions hold it. */
export interface ResourceDefinition {
  readonly kind: "resource"
  readonly uri: string
  readonly listed: Resource
  readonly freshness: Freshness | undefined
  readonly read: (ctx: Context) => ResourceReturn | Promise<ResourceReturn>
  /** The same resource with some of its options changed. */
  with(patch: ResourcePatch): ResourceDefinition
}

/** The options of a resource that can change while it is served. */
export type ResourcePatch = Partial<ResourceOptions>

/**
 * Defines a resource.
 *
 * @throws `McpError` of kind `misuse` when the uri is not an absolute URI or the name is missing.
 * @example
 * const readme = resource("file:///readme.md", { name: "readme", mimeType: "text/markdown" }, () => "# hi")
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/resources
 */
export function resource(uri: string, options: ResourceOptions, read: ResourceDefinition["read"]): ResourceDefinition {
  if (!isUri(uri)) throw misuse("invalid_definition", `resource "${uri}" is not an absolute URI such as "file:///a"`)
  if (typeof options.name !== "string" || options.name === "") {
    throw misuse("invalid_definition", `resource "${uri}" needs a name`)
  }
  const { freshness, meta, ...rest } = options
  const listed: Resource = { uri, ...rest, ...(meta === undefined ? {} : { _meta: meta }) }
  return {
    kind: "resource",
    uri,
    listed,
    freshness,
    read,
    with: (patch) => resource(uri, { ...options, ...patch }, read),
  }
}

/** Whether `value` is an absolute URI: a scheme, a colon and something after it, without spaces or control characters. */
export function isUri(value: string): boolean {
  return /^[A-Za-z][A-Za-z0-9+.-]*:[\x21-\x7e\u00a0-\uffff]+$/.test(value)
}
