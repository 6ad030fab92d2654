/** Host names and ports as headers carry them, parsed exactly: nothing is guessed, completed or looked up. */

/** A host and the port that was named with it. */
export interface Authority {
  /** In lower case; an IPv6 address keeps its brackets. */
  readonly name: string
  readonly port: number | undefined
}

/** A web origin. */
export interface Origin extends Authority {
  /** The origin as a browser writes it: lower case, without the scheme's default port. */
  readonly text: string
}

const NAME = /^[a-z0-9_-]+(?:\.[a-z0-9_-]+)*$/
const ADDRESS_6 = /^\[[0-9a-f:.]+\]$/
const DEFAULT_PORTS: Readonly<Record<string, number>> = { http: 80, https: 443 }

/**
 * Reads `name`, `name:port` or `[address]:port`. Undefined for anything else: user information, a path, an empty name, a
 * trailing dot, a port that is no number up to 65535.
 *
 * @see https://www.rfc-editor.org/rfc/rfc9110#section-7.2
 */
export function parseAuthority(text: string): Authority | undefined {
  const colon = text.indexOf(":", text.startsWith("[") ? text.indexOf("]") : 0)
  const name = (colon < 0 ? text : text.slice(0, colon)).toLowerCase()
  const port = colon < 0 ? "" : text.slice(colon + 1)
  if (name.length > 255 || !(NAME.test(name) || ADDRESS_6.test(name))) return undefined
  if (port === "") return { name, port: undefined }
  return /^[0-9]{1,5}$/.test(port) && Number(port) <= 65_535 ? { name, port: Number(port) } : undefined
}

/**
 * Reads an `http` or `https` origin. Undefined for `null`, other schemes, and anything that is more than an origin.
 *
 * @see https://www.rfc-editor.org/rfc/rfc6454#section-7
 */
export function parseOrigin(text: string): Origin | undefined {
  const [, rawScheme = "", rest = ""] = /^(https?):\/\/(.*)$/i.exec(text) ?? []
  const authority = parseAuthority(rest)
  if (authority === undefined) return undefined
  const scheme = rawScheme.toLowerCase()
  const port = authority.port === DEFAULT_PORTS[scheme] ? undefined : authority.port
  return { name: authority.name, port, text: `${scheme}://${authority.name}${port === undefined ? "" : `:${port}`}` }
}

/** Whether a parsed host name is this machine: `localhost`, a full IPv4 address in 127.0.0.0/8, or `[::1]`. */
export function isLoopbackName(name: string): boolean {
  if (name === "localhost" || name === "[::1]") return true
  const [first, ...rest] = name.split(".")
  return (
    first === "127" && rest.length === 3 && rest.every((part) => /^(?:0|[1-9][0-9]{0,2})$/.test(part) && +part < 256)
  )
}
