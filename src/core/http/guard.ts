/** The guard against pages that reach a server through a browser: decisions about Host, Origin and Sec-Fetch-Site. */
import { codes } from "../error/codes.js"
import { misuse } from "../error/error.js"
import { type Fault, fault } from "../error/fault.js"
import { clampText } from "../feature/text.js"
import { type Authority, isLoopbackName, parseAuthority, parseOrigin } from "./authority.js"
import { createMemo } from "./memo.js"

/** What a guard lets in. */
export interface GuardOptions {
  /** Whether the server listens on a loopback address only. */
  readonly loopback: boolean
  /** Hosts to serve, `name` for any port or `name:port` for that one. On a loopback bind, beside the loopback names. */
  readonly allowedHosts?: readonly string[]
  /** Origins to serve, such as `https://app.example.com`; `"*"` stands for all but `null`, which has to be named. */
  readonly allowedOrigins?: readonly string[]
  /**
   * Whether pages of this machine may call although browsers say `cross-site`, as between `localhost` and `127.0.0.1`. On a
   * loopback bind only. Default false.
   */
  readonly crossesLocally?: boolean
}

/** Decides about the three headers of a request. */
export interface Guard {
  /** Undefined when the request may be served, else what to answer. */
  check(host: string | undefined, origin: string | undefined, site: string | undefined): Fault | undefined
}

/** Why an origin may be served: it is on the list, or it is of this machine. */
type Admission = "listed" | "local"

/**
 * Makes the guard of one endpoint. On a loopback bind the Host must be a loopback name or listed, and an Origin must be of a
 * loopback name or listed. Elsewhere an Origin must be listed, and the Host is checked when `allowedHosts` is given. A
 * cross-site request is served for a listed Origin only.
 *
 * @throws `McpError` of kind `misuse` for an entry that is no host or no origin, which could never match.
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/transports/streamable-http#security-%26-endpoint
 */
export function createGuard(options: GuardOptions): Guard {
  const checksHost = options.loopback || options.allowedHosts !== undefined
  const hosts = new Set(options.allowedHosts?.map(toHostEntry))
  const origins = toOriginSet(options.allowedOrigins ?? [], "allowedOrigins")
  const isHostAllowed = createMemo(
    (host: string) => isServed(parseAuthority(host), hosts, options.loopback) || undefined,
  )
  const admit = createMemo((origin: string) => decideOrigin(origin, origins, options.loopback))
  const crosses = (admission: Admission | undefined): boolean =>
    admission === "listed" || (admission === "local" && options.crossesLocally === true)
  return {
    check(host, origin, site) {
      if (checksHost && (host === undefined || isHostAllowed(host) === undefined)) return refuseHost(host)
      const admission = origin === undefined ? undefined : admit(origin)
      if (origin !== undefined && admission === undefined) return refuseOrigin(origin)
      return site === "cross-site" && !crosses(admission) ? refuseSite(origin) : undefined
    },
  }
}

function isServed(authority: Authority | undefined, hosts: ReadonlySet<string>, loopback: boolean): boolean {
  if (authority === undefined) return false
  const { name, port } = authority
  return (loopback && isLoopbackName(name)) || hosts.has(name) || hosts.has(`${name}:${port}`)
}

function decideOrigin(origin: string, origins: ReadonlySet<string>, loopback: boolean): Admission | undefined {
  if (isListed(origins, origin)) return "listed"
  return loopback && isLocalOrigin(origin) ? "local" : undefined
}

/** Whether an `Origin` is of this machine. */
export function isLocalOrigin(origin: string): boolean {
  const parsed = parseOrigin(origin)
  return parsed !== undefined && isLoopbackName(parsed.name)
}

/** Whether an `Origin` is in a set of {@link toOriginSet}. */
export function isListed(origins: ReadonlySet<string>, origin: string): boolean {
  if (origins.has(origin) || (origins.has("*") && origin !== "null")) return true
  const parsed = parseOrigin(origin)
  return parsed !== undefined && origins.has(parsed.text)
}

/**
 * Origins as browsers write them, from the option of that name.
 *
 * @throws `McpError` of kind `misuse` for an entry that is no origin, which could never match.
 */
export function toOriginSet(entries: readonly string[], option: string): ReadonlySet<string> {
  return new Set(entries.map((entry) => toOriginEntry(entry, option)))
}

function toHostEntry(entry: string): string {
  const authority = parseAuthority(entry)
  if (authority === undefined) {
    throw misuse("invalid_option", `allowedHosts: "${clampText(entry)}" must be a host name, or a name and a port`)
  }
  return authority.port === undefined ? authority.name : `${authority.name}:${authority.port}`
}

function toOriginEntry(entry: string, option: string): string {
  if (entry === "*" || entry === "null") return entry
  const origin = parseOrigin(entry.endsWith("/") ? entry.slice(0, -1) : entry)
  if (origin !== undefined) return origin.text
  if (!/^https?:/i.test(entry) && /^[a-z][a-z0-9+.-]*:\/\/[\x21-\x7e]*$/i.test(entry)) return entry
  throw misuse("invalid_option", `${option}: "${clampText(entry)}" must be an origin such as "https://example.com"`)
}

function refuseHost(host: string | undefined): Fault {
  const came = host === undefined ? "A request without a Host" : `Host "${clampText(host)}"`
  return refuse("host_not_allowed", `${came} is not served here; to serve it, add it to allowedHosts`)
}

function refuseOrigin(origin: string): Fault {
  const message = `Origin "${clampText(origin)}" is not served here; to serve it, add it to allowedOrigins`
  return refuse("origin_not_allowed", message)
}

function refuseSite(origin: string | undefined): Fault {
  const came = origin === undefined ? "without an Origin" : `from "${clampText(origin)}"`
  return refuse("cross_site", `A cross-site request ${came} is not served; name its origin in allowedOrigins`)
}

function refuse(reason: "host_not_allowed" | "origin_not_allowed" | "cross_site", message: string): Fault {
  return fault(403, codes.invalidRequest, reason, message)
}
