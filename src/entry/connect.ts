/** Connects a client to whatever is named: an address, a command, a server of the same process, or a transport of one's own. */
import { createSend } from "#send"
import { type Client, openClient } from "../client/client.js"
import { resolveClientLimits } from "../client/limits.js"
import type { Dialer } from "../client/link.js"
import type { ClientOptions } from "../client/options.js"
import { misuse } from "../core/error/error.js"
import type { HttpSend } from "../core/http/send.js"
import { createSystemClock } from "../store/clock.js"
import { createHttpDialer } from "../transport/http/client.js"
import { createSendFetch } from "../transport/http/send-fetch.js"
import { createMemoryDialer, type Linkable } from "../transport/memory.js"
import type { StdioCommand } from "../transport/stdio/command.js"

/** What a client can be connected to. */
export type Target = string | URL | StdioCommand | Linkable | Dialer

/** What {@link connect} can be told. */
export interface ConnectOptions extends ClientOptions {
  /** Sends HTTP requests, in the place of `node:http` or the platform's own `fetch`. */
  readonly fetch?: typeof globalThis.fetch
  /** Sends HTTP requests, by the port that everything that wraps them speaks. */
  readonly send?: HttpSend
}

/**
 * Connects to a server, and finds out which revision it speaks.
 *
 * @param target A URL (Streamable HTTP in both eras, the deprecated HTTP+SSE last), a command, a server made by `createServer()`, or
 * a dialer of one's own.
 * @throws `McpError` of kind `misuse` for a target or option; otherwise of the kind of its cause: `transport`, `timeout`, `protocol`,
 * `authorization`, `connection_down`.
 * @example
 * ```ts
 * const client = await connect("http://127.0.0.1:3000/mcp")
 * const { structured } = await client.callTool("get_forecast", { city: "Oslo" })
 * await client.close()
 * ```
 * @see https://modelcontextprotocol.io/specification/2026-07-28/basic/versioning
 */
export async function connect(target: Target, options: ConnectOptions = {}): Promise<Client> {
  const clock = options.clock ?? createSystemClock({ stepMs: 50, holdsProcess: true })
  return openClient(await dialerTo(target, { ...options, clock }), { ...options, clock })
}

async function dialerTo(
  target: Target,
  options: ConnectOptions & Required<Pick<ClientOptions, "clock">>,
): Promise<Dialer> {
  const { clock, headers } = options
  const limits = resolveClientLimits(options.limits)
  if (typeof target === "string" || target instanceof URL) {
    const { fetch, send = fetch === undefined ? createSend() : createSendFetch({ fetch }) } = options
    return createHttpDialer({
      url: urlOf(target),
      send,
      headers,
      limits,
      clock,
      deprecatedSse: options.deprecatedSse ?? true,
    })
  }
  if ("command" in target) {
    // What starts processes is loaded by those alone who need it.
    const { createStdioDialer } = await import("#spawn")
    return createStdioDialer({ ...target, limits, clock })
  }
  if ("dial" in target) return target
  if ("endpoint" in target) return createMemoryDialer(target, { limits })
  throw misuse("invalid_option", "the target must be a URL, { command, args }, a server or a dialer")
}

function urlOf(target: string | URL): string {
  const url = URL.canParse(target) ? new URL(target) : undefined
  if (url === undefined || (url.protocol !== "http:" && url.protocol !== "https:")) {
    throw misuse(
      "invalid_option",
      "a server's address must be a whole URL with http: or https:, such as https://example.com/mcp",
    )
  }
  return url.href
}
