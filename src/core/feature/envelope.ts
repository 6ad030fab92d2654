/** The `_meta` of requests and results: the reserved keys, and what a modern request must say of itself. */

import type { Implementation } from "../model/identity.js"
import { isJsonObject, type JsonObject } from "../wire/message.js"
import { isLogLevel, type LogLevel } from "./log-level.js"

/** The reserved keys of `_meta`. */
export const META = {
  protocolVersion: "io.modelcontextprotocol/protocolVersion",
  clientInfo: "io.modelcontextprotocol/clientInfo",
  clientCapabilities: "io.modelcontextprotocol/clientCapabilities",
  logLevel: "io.modelcontextprotocol/logLevel",
  serverInfo: "io.modelcontextprotocol/serverInfo",
  subscriptionId: "io.modelcontextprotocol/subscriptionId",
  progressToken: "progressToken",
} as const

/** What a modern request says of itself, read and checked. */
export interface RequestMeta {
  readonly protocolVersion: string
  readonly clientCapabilities: JsonObject
  /** Undefined when it is absent or malformed: it is for display only. */
  readonly clientInfo: Implementation | undefined
  readonly logLevel: LogLevel | undefined
}

/** Which `_meta` member keeps a request from being served, in words. */
export interface MetaProblem {
  readonly problem: string
}

/** The version that a message names in its `_meta`, in either era; undefined when it names none as a string. */
export function namedVersion(params: JsonObject | undefined): string | undefined {
  const meta = params?.["_meta"]
  if (!isJsonObject(meta)) return undefined
  const version = meta[META.protocolVersion]
  return typeof version === "string" ? version : undefined
}

/**
 * Reads the `_meta` of a modern request. The version and the client's capabilities must be there.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function readRequestMeta(params: JsonObject | undefined): RequestMeta | MetaProblem {
  const meta = params?.["_meta"]
  if (!isJsonObject(meta)) return { problem: `params._meta is missing (with ${META.protocolVersion})` }
  const protocolVersion = meta[META.protocolVersion]
  if (typeof protocolVersion !== "string") return { problem: missing(META.protocolVersion, "a string") }
  const clientCapabilities = meta[META.clientCapabilities]
  if (!isJsonObject(clientCapabilities)) return { problem: missing(META.clientCapabilities, "an object") }
  const logLevel = meta[META.logLevel]
  if (logLevel !== undefined && !isLogLevel(logLevel)) return { problem: missing(META.logLevel, "a log level") }
  const clientInfo = meta[META.clientInfo]
  return { protocolVersion, clientCapabilities, clientInfo: readImplementation(clientInfo), logLevel }
}

/** A client's or server's description of itself, or undefined when it lacks a name or version. */
export function readImplementation(value: JsonObject[string]): Implementation | undefined {
  if (!isJsonObject(value)) return undefined
  const { name, version } = value
  return typeof name === "string" && typeof version === "string" ? { ...value, name, version } : undefined
}

function missing(key: string, expected: string): string {
  return `params._meta["${key}"] must be ${expected}`
}
