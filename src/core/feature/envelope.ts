/**
 * The `_meta` of requests and results: the reserved keys, what a modern request must say of itself, and how a client puts it
 * around the params of its caller.
 */
import type { Implementation } from "../model/identity.js"
import type { Era } from "../revision/revision.js"
import { isJsonObject, type JsonObject, type JsonValue } from "../wire/message.js"
import { isLogLevel, type LogLevel } from "./log-level.js"
import { isDroppedMetaKey } from "./meta-key.js"
import type { ProgressToken } from "./progress.js"
import { isTraceparent } from "./traceparent.js"

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

/** What the envelope of every request of a connection says. */
export interface EnvelopeFacts {
  readonly era: Era
  readonly version: string
  readonly clientCapabilities: JsonObject
  readonly clientInfo: JsonObject
}

/** What the envelope of one request says beside it. */
export interface CallFacts {
  /** Declared in the place of the connection's, in the modern era. */
  readonly clientCapabilities?: JsonObject | undefined
  /** The least level of what the server shall log for the request, in the modern era. */
  readonly logLevel?: LogLevel | undefined
  /** Asks for progress, which will carry this token. */
  readonly progressToken?: ProgressToken | undefined
  /** The W3C trace context, in the modern era; left out when it is malformed or the caller gives one. */
  readonly traceparent?: string | undefined
  /** Keys of an extension, which are not the caller's to set. */
  readonly extensionMeta?: JsonObject | undefined
}

/** What {@link envelope} needs to know. */
export interface EnvelopeInfo extends EnvelopeFacts, CallFacts {
  readonly clientCapabilities: JsonObject
}

/** Makes wire params of a caller's; the same object when nothing has to be added or left out. */
export type Envelope = (params: JsonObject | undefined, call?: CallFacts) => JsonObject | undefined

/**
 * The wire params of a request: the caller's, with the era's reserved keys over those of its `_meta`. A key that belongs to the
 * protocol is dropped, and an empty `_meta` left out. Changes nothing that it is given.
 *
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic#_meta
 */
export function envelope(params: JsonObject, info: EnvelopeInfo): JsonObject {
  return createEnvelope(info)(params, info) ?? params
}

const NOTHING: CallFacts = {}

/** {@link envelope} for the many requests of one connection: what is the same for all of them is made once. */
export function createEnvelope({ era, version, clientCapabilities, clientInfo }: EnvelopeFacts): Envelope {
  const constant: JsonObject = {
    [META.protocolVersion]: version,
    [META.clientInfo]: clientInfo,
    [META.clientCapabilities]: clientCapabilities,
  }
  return (params, call = NOTHING) => {
    const { progressToken, extensionMeta } = call
    const meta = params?.["_meta"]
    const given = meta === undefined ? undefined : callersMeta(meta)
    const own = era === "modern" ? modernMeta(constant, call, given) : undefined
    const reserved = progressToken === undefined ? own : { progressToken, ...own }
    const whole = merge(extensionMeta === undefined ? given : merge(given, filled(extensionMeta)), reserved)
    if (whole === meta) return params
    return whole === undefined ? withoutMeta(params) : withMeta(params, whole)
  }
}

/** The keys of a caller's `_meta` that {@link envelope} drops. */
export function droppedMetaKeys(params: JsonObject | undefined): readonly string[] {
  const meta = params?.["_meta"]
  return isJsonObject(meta) ? Object.keys(meta).filter(isDroppedMetaKey) : []
}

/** What is left of a caller's `_meta`: the same object when nothing is dropped, undefined when nothing is left. */
function callersMeta(meta: JsonValue): JsonObject | undefined {
  if (!isJsonObject(meta)) return undefined
  const keys = Object.keys(meta)
  const kept = keys.filter((key) => meta[key] !== undefined && !isDroppedMetaKey(key))
  if (kept.length === 0) return undefined
  // `fromEntries` defines members, so that one named `__proto__` is one like any other.
  return kept.length === keys.length ? meta : Object.fromEntries(kept.map((key) => [key, meta[key]]))
}

function modernMeta(
  constant: JsonObject,
  { clientCapabilities, logLevel, traceparent }: CallFacts,
  given: JsonObject | undefined,
): JsonObject {
  if (clientCapabilities === undefined && logLevel === undefined && traceparent === undefined) return constant
  const isTraced = isTraceparent(traceparent) && given?.["traceparent"] === undefined
  return {
    ...constant,
    ...(clientCapabilities === undefined ? undefined : { [META.clientCapabilities]: clientCapabilities }),
    ...(logLevel === undefined ? undefined : { [META.logLevel]: logLevel }),
    ...(isTraced ? { traceparent } : undefined),
  }
}

/** The members of both, where `over` wins; no copy where one of them is not there. */
function merge(under: JsonObject | undefined, over: JsonObject | undefined): JsonObject | undefined {
  if (over === undefined) return under
  return under === undefined ? over : { ...under, ...over }
}

function filled(object: JsonObject): JsonObject | undefined {
  return Object.keys(object).length === 0 ? undefined : object
}

/** The params with another `_meta`: before the others where it can be, because a member after a spread costs far more. */
function withMeta(params: JsonObject | undefined, _meta: JsonObject): JsonObject {
  return params !== undefined && Object.hasOwn(params, "_meta") ? { ...params, _meta } : { _meta, ...params }
}

function withoutMeta(params: JsonObject | undefined): JsonObject {
  const { _meta, ...rest } = params ?? {}
  return rest
}
