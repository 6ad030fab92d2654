/** The same statements on every runtime: on Node by direct calls, elsewhere over sockets. The server stands at module scope. */
import { afterAll, beforeAll, describe, it } from "vitest"
import { installRuntimes, type Place, runtimes, start } from "./places.js"
import { handler } from "./server.js"
import { closing, type FetchLike, noSessions, sessions, statements } from "./statements.js"

describe("on Node", () => {
  const direct: FetchLike = (path, { host = "127.0.0.1", ...init }) =>
    handler(new Request(`http://${host}${path}`, init))
  it.each([...statements, ...closing, ...sessions])("%s", async (_, check) => check(direct))
})

// The first run downloads 100 MB.
beforeAll(installRuntimes, 180_000)

describe.each(runtimes)("on $name $version", (runtime) => {
  let place: Place | undefined
  const remote: FetchLike = (path, { host = "127.0.0.1", ...init }) =>
    fetch(`http://${host}:${place?.port}${path}`, init)
  beforeAll(async () => {
    place = await start(runtime, "./server.ts")
  }, 60_000)
  afterAll(() => place?.close())
  const also = [...(runtime.tellsClosing ? closing : []), ...(runtime.holdsSessions ? sessions : noSessions)]
  it.each([...statements, ...also])("%s", async (_, check) => check(remote))
})
