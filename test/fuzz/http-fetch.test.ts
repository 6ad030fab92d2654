/** Everything that can be thrown at a fetch handler. */
import { createFetchHandler } from "conduit-mcp/fetch"
import { it } from "vitest"
import { DOOR_TIMEOUT_MS } from "./budget.js"
import { fetchDoor } from "./http-door.js"
import { OPTIONS, throwOverHttp } from "./http-run.js"

it(
  "whatever is sent to a fetch handler is answered by the rules, reaches nobody else, and leaves nothing behind",
  () =>
    throwOverHttp("fetch", (server) => {
      const handler = createFetchHandler(server, { ...OPTIONS, path: "/mcp", sessions: true })
      return { door: fetchDoor(handler), close: () => {} }
    }),
  DOOR_TIMEOUT_MS,
)
