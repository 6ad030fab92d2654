/** The examples of the guide to runtimes and frameworks, each run with what it is about. */
import { once } from "node:events"
import { mkdirSync, readFileSync, writeFileSync } from "node:fs"
import { createServer } from "node:net"
import { join } from "node:path"
import { pathToFileURL } from "node:url"
import { afterEach, describe, expect, it } from "vitest"
import { initializeRequest, type Json, modernHeaders, modernRequest } from "../support/wire.js"
import { cache } from "./install.js"
import { type Place, run, runtimes, start } from "./places.js"

const guide = readFileSync(new URL("../../docs/runtimes.md", import.meta.url), "utf8")

/** The first example of each section. */
const examples = new Map(
  guide.split(/^## /m).flatMap((section) => {
    const code = /^```js\n(.*?)^```$/ms.exec(section)?.[1]
    return code === undefined ? [] : [[section.split("\n", 1)[0] ?? "", code] as const]
  }),
)

function exampleOf(section: string, port = 3000): string {
  const code = examples.get(section)
  if (code === undefined) throw new Error(`the guide has no example for ${section}`)
  return code.replaceAll("3000", String(port))
}

/** Writes an example where the frameworks are to be found. */
function write(section: string, port?: number): string {
  const folder = join(cache, "guide")
  mkdirSync(folder, { recursive: true })
  const path = join(folder, `${section}.mjs`)
  writeFileSync(path, exampleOf(section, port))
  return path
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, "127.0.0.1")
  await once(server, "listening")
  const address = server.address()
  server.close()
  await once(server, "close")
  return typeof address === "object" && address !== null ? address.port : 0
}

function post(message: Json, headers: Record<string, string> = {}): RequestInit {
  const json = { "content-type": "application/json", accept: "application/json, text/event-stream" }
  return { method: "POST", headers: { ...json, ...headers }, body: JSON.stringify(message) }
}

/** Calls the tool in the modern era, and opens the legacy one. */
async function expectServed(fetchLike: (init: RequestInit) => Promise<Response>): Promise<void> {
  const message = modernRequest(1, "tools/call", { name: "hello", arguments: {} })
  const modern = await fetchLike(post(message, modernHeaders(message)))
  expect(await modern.json()).toMatchObject({ result: { content: [{ type: "text", text: "Hello!" }] } })
  const legacy = await fetchLike(post(initializeRequest(2)))
  expect(await legacy.json()).toMatchObject({ id: 2, result: { protocolVersion: "2025-11-25" } })
  const refused = await fetchLike(post({ ...message, jsonrpc: "1.0" }))
  expect(refused.status).toBe(400)
}

/** Asks until the server listens. */
async function reach({ port }: Place): Promise<(init: RequestInit) => Promise<Response>> {
  for (let turn = 0; turn < 20_000; turn++) {
    try {
      const response = await fetch(`http://127.0.0.1:${port}/mcp`, { method: "PUT" })
      await response.text()
      return (init) => fetch(`http://127.0.0.1:${port}/mcp`, init)
    } catch {
      // It does not listen yet.
    }
  }
  throw new Error("it never listened")
}

/** Declares the tests. */
export function describeGuide(): void {
  describe("the example for", () => {
    let place: Place | undefined
    afterEach(async () => {
      await place?.close()
      place = undefined
    })

    it.each(["Express", "Fastify", "Hono"])(
      "%s serves both eras on Node",
      async (section) => {
        const port = await freePort()
        place = await run(process.execPath, [write(section, port)], cache, port)
        await expectServed(await reach(place))
      },
      30_000,
    )

    it.each(["Bun", "Deno"] as const)(
      "%s serves both eras there",
      async (section) => {
        const port = await freePort()
        place = await start(runtimes[section], exampleOf(section, port), port)
        await expectServed(await reach(place))
      },
      30_000,
    )

    it("Workers serves both eras in workerd", async () => {
      place = await start(runtimes.Workers, exampleOf("Workers"))
      await expectServed(await reach(place))
    }, 30_000)

    it("Next.js exports what a route exports, called as routes are", async () => {
      const route = await import(pathToFileURL(write("Next.js")).href)
      expect(Object.keys(route).sort()).toEqual(["DELETE", "GET", "POST"])
      const context = { params: Promise.resolve({}) }
      await expectServed((init) => route.POST(new Request("http://127.0.0.1:3000/mcp", init), context))
      expect((await route.GET(new Request("http://127.0.0.1:3000/mcp"), context)).status).toBe(405)
    })

    it("every one of them is run here", () => {
      expect([...examples.keys()]).toEqual(["Express", "Fastify", "Hono", "Next.js", "Bun", "Deno", "Workers"])
    })
  })
}
