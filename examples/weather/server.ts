/** The example server over HTTP, for clients of both eras. `PORT` chooses the port; the default is 3000. */
import { serve } from "conduit-mcp/node"
import { banner } from "./banner.js"
import { server } from "./weather.js"

const port = Number(process.env["PORT"] ?? 3000)

try {
  const running = await serve(server, { port })
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => void running.close())
  console.log(banner(running.url))
} catch (error) {
  console.error(explain(error))
  process.exitCode = 1
}

/** Why it does not listen, and what to do. */
function explain(error: unknown): string {
  const code = error instanceof Error && "code" in error ? error.code : undefined
  const another = `Choose another one: PORT=${port === 3001 ? 3002 : 3001} npm start`
  if (code === "EADDRINUSE") return `Port ${port} of this machine is taken. ${another} (PORT=0 takes a free one)`
  if (code === "EACCES") return `Port ${port} is reserved for the system. ${another}`
  if (code === "ERR_SOCKET_BAD_PORT") return `PORT must be a number from 0 to 65535. ${another}`
  return `The server did not start: ${String(error)}`
}
