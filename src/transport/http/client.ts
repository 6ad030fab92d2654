/** How a client reaches a server over HTTP. */
import type { ClientLimits } from "../../client/limits.js"
import type { Dialer } from "../../client/link.js"
import type { HeaderSource } from "../../client/options.js"
import { misuse } from "../../core/error/error.js"
import { encodeBase64 } from "../../core/http/base64.js"
import type { HttpSend } from "../../core/http/send.js"
import type { Clock } from "../../store/port.js"
import { createDeprecatedLink } from "./client/deprecated-link.js"
import { createHeaderPlan } from "./client/header-source.js"
import { createHttpLink } from "./client/link.js"
import type { Way } from "./client/way.js"

/** What {@link createHttpDialer} is made of. */
export interface HttpDialerOptions {
  /** The server's address, with `http:` or `https:`. A user and a password in it are sent as `Authorization: Basic`. */
  readonly url: string
  /** The way out: `createSend()` of the platform, or one that wraps it. Its idle connections are closed with each link. */
  readonly send: HttpSend
  /** Headers of every HTTP request. */
  readonly headers?: HeaderSource | undefined
  readonly limits: ClientLimits
  readonly clock: Clock
  /** Whether links of the deprecated HTTP+SSE transport are made. Default true. */
  readonly deprecatedSse?: boolean
}

/**
 * Makes the dialer of a server's address.
 *
 * @throws `McpError` of kind `misuse`, reason `invalid_option`, for an address or a header that cannot be used.
 */
export function createHttpDialer(options: HttpDialerOptions): Dialer {
  const { send, headers, limits, clock, deprecatedSse = true } = options
  const { url, authorization } = readAddress(options.url)
  const plan = createHeaderPlan(headers, authorization === undefined ? {} : { authorization })
  const way: Way = { url: url.href, origin: url.origin, limits, clock, plan, send }
  return {
    kind: "http",
    origin: url.origin,
    address: url.href,
    dial: () => createHttpLink(way),
    ...(deprecatedSse ? { dialDeprecated: () => createDeprecatedLink(way) } : {}),
  }
}

/** An address without what must not be sent or shown as a part of it. */
function readAddress(text: string): { readonly url: URL; readonly authorization: string | undefined } {
  const url = URL.canParse(text) ? new URL(text) : undefined
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw misuse(
      "invalid_option",
      "url: expected a whole address with http: or https:, such as https://example.com/mcp",
    )
  }
  const { username, password } = url
  url.username = ""
  url.password = ""
  url.hash = ""
  if (username === "" && password === "") return { url, authorization: undefined }
  const pair = new TextEncoder().encode(`${unescapePart(username)}:${unescapePart(password)}`)
  return { url, authorization: `Basic ${encodeBase64(pair)}` }
}

function unescapePart(part: string): string {
  try {
    return decodeURIComponent(part)
  } catch {
    return part
  }
}
