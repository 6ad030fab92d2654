// Many open event streams with as little work for each as can be: bare sockets.
import { connect } from "node:net"
import { requestHeaders, requestMessage } from "../workload/messages.js"

/**
 * Sends one request on a socket of its own and keeps it open. Resolves once the stream is open; `onText` gets what comes then.
 * A POST (`subscriptions/listen`) is open once it is acknowledged, a GET once its head is there.
 */
export function openStream(port, { method = "POST", headers, body = "" }, onText) {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true })
    socket.setEncoding("latin1")
    socket.on("error", reject)
    socket.on("connect", () => {
      const sent = { Host: `127.0.0.1:${port}`, ...headers, "Content-Length": Buffer.byteLength(body) }
      const lines = Object.entries(sent).map(([name, value]) => `${name}: ${value}\r\n`)
      socket.write(`${method} /mcp HTTP/1.1\r\n${lines.join("")}\r\n${body}`)
    })
    let opening = ""
    const timer = setTimeout(() => reject(new Error(`the stream did not open: ${opening.slice(0, 200)}`)), 10_000)
    socket.on("data", (text) => {
      if (opening === undefined) return onText?.(text)
      opening += text
      if (!opening.startsWith("HTTP/1.1 200".slice(0, opening.length))) return reject(new Error(opening.slice(0, 300)))
      if (!opening.includes(method === "GET" ? "\r\n\r\n" : "acknowledged")) return
      opening = undefined
      clearTimeout(timer)
      resolve(socket)
    })
  })
}

/** Makes `count` things, `width` at a time. */
export async function makeInBatches(count, width, make) {
  const made = []
  for (let start = 0; start < count; start += width) {
    const batch = Array.from({ length: Math.min(width, count - start) }, (_, index) => make(start + index))
    made.push(...(await Promise.all(batch)))
  }
  return made
}

/** Opens `count` streams with `subscriptions/listen` for the list of tools; `onText` gets what comes on any of them. */
export function openListenStreams(port, count, onText) {
  const method = "subscriptions/listen"
  const headers = requestHeaders("modern", method)
  const params = { notifications: { toolsListChanged: true } }
  return makeInBatches(count, 50, (index) => {
    const body = JSON.stringify(requestMessage("modern", index + 1, method, params))
    return openStream(port, { headers, body }, onText)
  })
}
