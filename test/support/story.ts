/** Asks an example's server one thing, in either era. */
import type { Linkable } from "conduit-mcp/testing"
import { link, type RawLink } from "./link.js"
import type { Json } from "./wire.js"

/** The eras, for tables of tests. */
export const eras = ["modern", "legacy"] as const

/** One of them. */
export type EraName = (typeof eras)[number]

/** Opens a link for the time of one test. */
export async function linked<T>(server: Linkable, use: (raw: RawLink) => Promise<T>): Promise<T> {
  const raw = link(server)
  try {
    return await use(raw)
  } finally {
    raw.close()
  }
}

/** Sends one request; its response. */
export function ask(server: Linkable, era: EraName, method: string, params: Json = {}): Promise<Json> {
  return linked(server, (raw) => raw[era](method, params))
}

/** Calls a tool; its result. */
export async function callTool(server: Linkable, era: EraName, name: string, args: Json = {}): Promise<Json> {
  const { result } = await ask(server, era, "tools/call", { name, arguments: args })
  return result as Json
}
