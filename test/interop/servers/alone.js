// A process with nothing in it but our client: connects as its argument says, calls, leaves a call under way, closes, tells how
// many children, pipes and sockets are left, and ends by itself.
import { connect } from "conduit-mcp/client"

// These two are counted, too, from when somebody looks at them for the first time: now.
const { stdout } = process
void process.stderr
const { target, protocol, text, endless } = JSON.parse(process.argv[2])
const kinds = new Set(["ProcessWrap", "PipeWrap", "TCPSocketWrap"])
const count = () => process.getActiveResourcesInfo().filter((kind) => kinds.has(kind)).length

const before = count()
const client = await connect(target, { protocol, limits: { exitMs: 200 } })
await client.callTool(text.tool, text.args)
const open =
  endless === undefined ? undefined : client.callTool(endless.tool, endless.args).catch(({ reason }) => reason)
const during = count()
await client.close()
const ended = await open
// Handles that are closed are gone a few turns of the event loop later.
for (let turn = 0; turn < 10 && count() > before; turn++) await new Promise((resolve) => setImmediate(resolve))
const after = count()
stdout.write(JSON.stringify({ before, during, after, ended }))
