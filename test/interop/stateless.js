/** The example server over HTTP without sessions; prints its URL. */
import { serve } from "conduit-mcp/node"
import { server } from "../../examples/dist/weather/weather.js"

const { url } = await serve(server, { port: 0, sessions: false })
console.log(url)
