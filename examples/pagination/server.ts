/** Long lists come in pages, and every answer of the modern era says how long it may be kept. */
import { createServer, resource, tool } from "conduit-mcp"

const letters = [..."abcdefg"]

const tools = letters.map((letter) => tool(`say_${letter}`, {}, () => letter))

/** Kept for a minute, by anybody: shared caches may hold it. */
const alphabet = resource(
  "letters:///all",
  { name: "all", freshness: { ttlMs: 60_000, cacheScope: "public" } },
  () => letters,
)

/** Without `freshness` a resource is stale at once, and for its reader only. */
const latest = resource("letters:///latest", { name: "latest" }, () => letters.at(-1))

/** `freshness` here is that of the lists and of `server/discover`. */
export const server = createServer({
  name: "pagination",
  version: "1.0.0",
  tools,
  resources: [alphabet, latest],
  pageSize: 3,
  freshness: { ttlMs: 5_000 },
})
