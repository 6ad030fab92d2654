// Which implementations are measured: one file each in `adapters/`, in the order in which tables show them.
import { readFileSync } from "node:fs"
import { join } from "node:path"
import { ROOT, UsageError } from "./load/machine.js"

/** Every adapter: references first, then Conduit, then its peers. */
export const IDS = ["floor", "full", "floor-fetch", "conduit", "sdk2", "sdk1", "fastmcp", "tmcp", "mcp-lite"]

/**
 * What an adapter can do.
 * @typedef {object} Meta
 * @property {readonly string[]} [packages] what a server's author installs
 * @property {readonly string[]} [clientPackages] what a client's author installs
 * @property {readonly string[]} [serverEntries] what an HTTP server imports
 * @property {readonly string[]} [stdioEntries] what a stdio server imports
 * @property {readonly string[]} [clientEntries] what a client imports
 * @property {readonly string[]} [http] the modes that `serveHttp` serves
 * @property {readonly string[]} [stdio] the eras that `serveStdio` serves
 * @property {readonly string[]} [client] the eras that `connectClient` speaks
 * @property {boolean} [listens] whether it serves `subscriptions/listen`
 * @property {boolean} [streams] whether a legacy session has a stream of its own (GET)
 * @property {string} [legacyVersion] the legacy revision, when it is not the usual one
 * @property {Record<string, string>} [accept] the Accept header by mode, when it is not the usual one
 */

/**
 * One implementation. It has `serveHttp({ mode, port, tools })`, which resolves to `{ port, notify? }`, `serveStdio({ tools })`
 * and `connectClient({ era, url })`, which resolves to `{ call(name, args) }`, as far as its meta says.
 * @typedef {{ id: string, meta: Meta }} Adapter
 */

/**
 * The adapters with these ids, in their order; all of them without ids.
 * @param {readonly string[]} [ids]
 * @returns {Promise<Adapter[]>}
 */
export async function loadAdapters(ids = IDS) {
  const adapters = []
  for (const id of ids) {
    if (!IDS.includes(id)) throw new UsageError(`There is no adapter "${id}". There are: ${IDS.join(", ")}.`)
    const { meta } = await import(`./adapters/${id}.js`)
    adapters.push({ id, meta })
  }
  return adapters
}

/** The installed version of a package. */
export function versionOf(name) {
  return JSON.parse(readFileSync(join(ROOT, "node_modules", name, "package.json"), "utf8")).version
}

/** The versions of everything that these adapters use, by package. */
export function versionsOf(adapters) {
  const names = adapters.flatMap(({ meta }) => [...(meta.packages ?? []), ...(meta.clientPackages ?? [])])
  return Object.fromEntries([...new Set(names)].sort().map((name) => [name, versionOf(name)]))
}
