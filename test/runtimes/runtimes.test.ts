/**
 * The same statements on every runtime: on Node by direct calls, elsewhere over sockets, with the server at module scope. Then
 * the guide's examples. One file, since both install what they run.
 */
import { afterAll, beforeAll, describe, it } from "vitest"
import { closing, noSessions, served, sessions } from "./feature-statements.js"
import { describeGuide } from "./guide.js"
import { install } from "./install.js"
import { type Place, runtimes, start } from "./places.js"
import { refused } from "./refusal-statements.js"
import type { FetchLike } from "./request.js"
import { handler } from "./server.js"

// The first run downloads 100 MB.
beforeAll(install, 180_000)

const everywhere = [...served, ...refused]

describe("on Node", () => {
  const direct: FetchLike = (path, { host = "127.0.0.1", ...init }) =>
    handler(new Request(`http://${host}${path}`, init))
  it.each([...everywhere, ...closing, ...sessions])("%s", async (_, check) => check(direct))
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
  it.each([...everywhere, ...also])("%s", async (_, check) => check(remote))
})

describeGuide()
