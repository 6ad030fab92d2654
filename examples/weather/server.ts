/** The example server over HTTP, for clients of both eras. `PORT` chooses the port; the default is 3000. */
import { McpError } from "conduit-mcp"
import { serve } from "conduit-mcp/node"
import { banner } from "./banner.js"
import { tour } from "./tour.js"
import { server } from "./weather.js"

const port = Number(process.env["PORT"] ?? 3000)

try {
  const running = await serve(server, { port })
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void running.drain())
  console.log(banner(running.url))
  console.log(`\n${await tour(running.url)}\n\nStop with Ctrl+C.`)
} catch (error) {
  const another = `Choose another port: PORT=${port === 3001 ? 3002 : 3001} npm start (PORT=0 takes a free one)`
  console.error(`The server did not start: ${McpError.is(error) ? error.message : String(error)}\n${another}`)
  process.exitCode = 1
}
