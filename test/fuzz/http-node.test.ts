/** Everything that can be thrown at a server on node:http, through raw sockets. */
import { serve } from "conduit-mcp/node"
import { it } from "vitest"
import { DOOR_TIMEOUT_MS } from "./budget.js"
import { socketDoor } from "./http-door.js"
import { OPTIONS, throwOverHttp } from "./http-run.js"

it(
  "whatever is sent over node:http is answered by the rules, reaches nobody else, and leaves nothing behind",
  () =>
    throwOverHttp("node:http", async (server) => {
      const running = await serve(server, { ...OPTIONS, port: 0 })
      return { door: socketDoor(running.address.port), close: () => running.close() }
    }),
  DOOR_TIMEOUT_MS,
)
