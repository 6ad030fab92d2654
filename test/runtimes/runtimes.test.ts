/**
 * The same statements on every runtime: on Node by direct calls, elsewhere over sockets, with the server at module scope. Then
 * the guide's examples. One file, since both install what they run.
 */
import { afterAll, beforeAll, describe, it } from "vitest"
import { describeGuide } from "./guide.js"
import { install } from "./install.js"
import { type Place, runtimes, start } from "./places.js"
import { handler } from "./server.js"
import { closing, type FetchLike, noSessions, sessions, statements } from "./statements.js"

// The first run downloads 100 MB.
beforeAll(install, 180_000)

describe("on Node", () => {
  const direct: FetchLike = (path, { host = "127.0.0.1", ...init }) =>
    handler(new Request(`http://${host}${path}`, init))
  it.each([...statements, ...closing, ...sessions])("%s", async (_, check) => check(direct))
})

describe.each(Object.values(runtimes))("on $name", (runtime) => {
  let place: Place | undefined
  const remote: FetchLike = (path, { host = "127.0.0.1", ...init }) =>
    fetch(`http://${host}:${place?.port}${path}`, init)
  beforeAll(async () => {
    place = await start(runtime, `import { handler } from "./server.ts"\n${runtime.entry}`)
  }, 60_000)
  afterAll(() => place?.close())
  const also = [...(runtime.tellsClosing ? closing : []), ...(runtime.holdsSessions ? sessions : noSessions)]
  it.each([...statements, ...also])("%s", async (_, check) => check(remote))
})

describeGuide()
