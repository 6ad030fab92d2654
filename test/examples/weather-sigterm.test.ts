/** SIGTERM while the example server is busy: every call is answered or told to go elsewhere, and the process ends with 0. */
import { Agent, type IncomingMessage, request } from "node:http"
import { fileURLToPath } from "node:url"
import { expect, it } from "vitest"
import { startScript } from "../support/child.js"
import { openSession, type Reply, readReply } from "../support/http.js"
import { type Json, legacyRequest, modernHeaders, modernRequest } from "../support/wire.js"

const script = fileURLToPath(new URL("../../examples/dist/weather/server.js", import.meta.url))

/** Calls over one kept connection, one after the other, until the server says that it goes down. */
class Client {
  readonly replies: Reply[] = []
  refusal: Reply | undefined
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 1 })

  async call(url: string, message: Json, headers: Record<string, string>): Promise<void> {
    for (;;) {
      const reply = await this.#post(url, message, headers)
      if (reply.status === 503) {
        this.refusal = reply
        return this.#agent.destroy()
      }
      this.replies.push(reply)
    }
  }

  #post(url: string, message: Json, headers: Record<string, string>): Promise<Reply> {
    const accept = "application/json, text/event-stream"
    const all = { "content-type": "application/json", accept, ...headers }
    return new Promise((resolve, reject) => {
      const outgoing = request(url, { method: "POST", headers: all, agent: this.#agent })
      outgoing.on("response", (incoming: IncomingMessage) => readReply(incoming).then(resolve, reject))
      outgoing.on("error", reject)
      outgoing.end(JSON.stringify(message))
    })
  }
}

// Windows ends a process at once: it has no signal that a process could answer.
it.skipIf(process.platform === "win32")("no call is cut, and the exit code is 0", async () => {
  const child = startScript(script, { PORT: "0" })
  const url = /http:\S+/.exec(await child.printing(/Ctrl\+C/))?.[0] ?? ""
  const forecast = { name: "get_forecast", arguments: { city: "Oslo" } }
  const watch = { name: "watch_sky", arguments: { city: "Lima", looks: 3, everyMs: 60 }, _meta: { progressToken: 1 } }
  const session = await openSession(url)
  const kinds = [forecast, watch].flatMap((params) => {
    const modern = modernRequest(1, "tools/call", params)
    return [
      (client: Client) => client.call(url, modern, modernHeaders(modern)),
      (client: Client, id: number) => client.call(url, legacyRequest(id, "tools/call", params), session),
    ]
  })
  const clients = Array.from({ length: 16 }, () => new Client())
  const running = clients.map((client, at) => kinds[at % kinds.length]?.(client, at))
  const answered = (): number => clients.reduce((sum, { replies }) => sum + replies.length, 0)
  while (clients.some(({ replies }) => replies.length < 2)) await new Promise(setImmediate)
  const before = answered()
  child.process.kill("SIGTERM")
  await Promise.all(running)
  expect(await child.ended).toBe(0)
  expect(child.printed.stderr).toBe("")
  expect(answered()).toBeGreaterThan(before)
  for (const { replies, refusal } of clients) {
    expect(refusal?.json).toMatchObject({ error: { data: { reason: "draining" } } })
    expect(refusal?.headers["retry-after"]).toBe("1")
    for (const { json } of replies) expect(json).toMatchObject({ result: { content: [{ type: "text" }] } })
  }
})
