/** A legacy session over HTTP, driven by raw messages, with the interface of a link in memory. */
import type { RawLink } from "./link.js"
import type { Json } from "./wire.js"

/** Opens no session by itself: the first message is `initialize`. Every answer, and what comes before it, is read as it comes. */
export function httpLink(url: string): Pick<RawLink, "received" | "send" | "next" | "request"> {
  const received: Json[] = []
  let waiting: { readonly matches: (message: Json) => boolean; readonly resolve: (message: Json) => void }[] = []
  let session: Record<string, string> = {}

  const hear = (message: Json): void => {
    received.push(message)
    const heard = waiting.filter(({ matches }) => matches(message))
    waiting = waiting.filter((one) => !heard.includes(one))
    for (const { resolve } of heard) resolve(message)
  }

  const post = async (message: Json): Promise<void> => {
    const headers = { "content-type": "application/json", accept: "application/json, text/event-stream", ...session }
    const response = await fetch(url, { method: "POST", headers, body: JSON.stringify(message) })
    if (message["method"] === "initialize") {
      const version = (message["params"] as { readonly protocolVersion: string }).protocolVersion
      session = { "mcp-session-id": response.headers.get("mcp-session-id") ?? "", "mcp-protocol-version": version }
    }
    if (response.headers.get("content-type")?.startsWith("text/event-stream") !== true) {
      const text = await response.text()
      if (text !== "") hear(JSON.parse(text) as Json)
      return
    }
    let text = ""
    const decoder = new TextDecoder()
    for await (const chunk of response.body ?? []) {
      text += decoder.decode(chunk as Uint8Array, { stream: true })
      const events = text.split("\n\n")
      text = events.pop() ?? ""
      const lines = events.flatMap((event) => event.split("\n")).filter((line) => /^data: ./.test(line))
      for (const line of lines) hear(JSON.parse(line.slice(6)) as Json)
    }
  }

  const next = (matches: (message: Json) => boolean): Promise<Json> => {
    const known = received.find(matches)
    return known === undefined ? new Promise((resolve) => waiting.push({ matches, resolve })) : Promise.resolve(known)
  }
  return {
    received,
    next,
    send: (message) => void post(message as Json),
    async request(message) {
      void post(message)
      return next((answer) => answer["id"] === message["id"] && answer["method"] === undefined)
    },
  }
}
