// One adapter's client in this process: `node load/drive.js sdk2 '{"era":"modern","url":"http://127.0.0.1:3000/mcp"}'`.
// Over IPC: `{ inFlight, durationMs }` is answered with a sample.
const [id, json = "{}"] = process.argv.slice(2)
const { connectClient } = await import(`../adapters/${id}.js`)
const client = await connectClient(JSON.parse(json))
const ARGUMENTS = { text: "hello world" }

const first = await client.call("echo", ARGUMENTS)
if (first.content?.[0]?.text !== ARGUMENTS.text) throw new Error(`wrong answer ${JSON.stringify(first)}`)

process.on("message", async ({ inFlight, durationMs }) => {
  const before = process.cpuUsage()
  const startMs = performance.now()
  let calls = 0
  const callOn = async () => {
    while (performance.now() - startMs < durationMs) {
      await client.call("echo", ARGUMENTS)
      calls++
    }
  }
  await Promise.all(Array.from({ length: inFlight }, callOn))
  const { user, system } = process.cpuUsage(before)
  process.send({ callsPerSecond: (calls / (performance.now() - startMs)) * 1000, cpuUs: (user + system) / calls })
})
process.on("disconnect", () => process.exit(0))
process.send({ ready: true })
