// How libraries that bring no HTTP server of their own are mounted on node:http: listen on the loopback, read a body.
import { createServer } from "node:http"

/** Resolves to the port that it listens on. */
export function listen(handler, port) {
  return new Promise((resolve, reject) => {
    const server = createServer(handler)
    server.keepAliveTimeout = 60_000
    server.requestTimeout = 0
    server.on("error", reject)
    server.listen(port, "127.0.0.1", 4096, () => resolve(server.address().port))
  })
}

/** Calls `done` with the whole body as text. */
export function readBody(incoming, done) {
  let first
  let rest
  incoming.on("data", (chunk) => {
    if (first === undefined) first = chunk
    else if (rest === undefined) rest = [first, chunk]
    else rest.push(chunk)
  })
  incoming.on("end", () => done(rest === undefined ? (first?.toString("utf8") ?? "") : Buffer.concat(rest).toString()))
}
