/** The result of `server/discover`, as a client reads it: what a modern server says of itself. */
import type { Implementation } from "../model/identity.js"
import { isJsonObject, isObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { META, readImplementation } from "./envelope.js"
import { type Freshness, readFreshness } from "./freshness.js"
import { clampText } from "./text.js"

/** What a modern server says of itself. */
export interface DiscoverResult extends Freshness {
  /** The versions that it speaks, of either era, in its own order. */
  readonly supportedVersions: readonly string[]
  readonly capabilities: JsonObject
  /** How to use the server, for a model. */
  readonly instructions?: string
  /** For display only; undefined when the server does not say, or not as it should. */
  readonly serverInfo: Implementation | undefined
}

/** Why a result is no {@link DiscoverResult}, in words. */
export interface DiscoverProblem {
  readonly problem: string
}

/** Whether a result looks as if it was meant for `server/discover`: it has a `resultType` or `supportedVersions`. */
export function isDiscoverShaped(result: unknown): result is JsonObject {
  return isObject(result) && (Object.hasOwn(result, "resultType") || Object.hasOwn(result, "supportedVersions"))
}

/**
 * Reads a result. Versions and capabilities must be there, and a `resultType` other than `complete` is refused; whatever else
 * is missing or malformed takes its default.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/server/discover#response
 */
export function readDiscover(result: JsonObject): DiscoverResult | DiscoverProblem {
  const { resultType = "complete", supportedVersions, capabilities, instructions } = result
  if (resultType !== "complete") return expected('resultType "complete"', resultType)
  if (!isStrings(supportedVersions)) return expected("supportedVersions as a list of strings", supportedVersions)
  if (!isJsonObject(capabilities)) return expected("capabilities as an object", capabilities)
  return {
    supportedVersions,
    capabilities,
    ...(typeof instructions === "string" ? { instructions } : {}),
    serverInfo: readServerInfo(result),
    ...readFreshness(result),
  }
}

/** What a server says of itself in a result: in its `_meta`, or in the body as older servers do. */
export function readServerInfo({ _meta, serverInfo }: JsonObject): Implementation | undefined {
  const described = isJsonObject(_meta) ? readImplementation(_meta[META.serverInfo]) : undefined
  return described ?? readImplementation(serverInfo)
}

function isStrings(value: JsonValue | undefined): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string")
}

function expected(what: string, came: JsonValue | undefined): DiscoverProblem {
  return { problem: `expected ${what}, got ${clampText(came, 40)}` }
}
