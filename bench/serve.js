// Serves adapters in this process: `node serve.js conduit '{"mode":"modern-json","port":3000,"tools":2}'`.
// With several (`floor,conduit`) each gets a port. Over IPC it answers questions: memory, notify.
const [ids = "", json = "{}"] = process.argv.slice(2)
const { transport, ...options } = { transport: "http", mode: "modern-json", port: 0, tools: 2, ...JSON.parse(json) }

process.on("SIGTERM", () => process.exit(0))
const adapters = new Map()
for (const id of ids.split(",")) adapters.set(id, await import(`./adapters/${id}.js`))

if (transport === "stdio") {
  for (const adapter of adapters.values()) await adapter.serveStdio(options)
} else {
  const servers = new Map()
  for (const [id, adapter] of adapters) servers.set(id, await adapter.serveHttp(options))
  const ports = Object.fromEntries([...servers].map(([id, server]) => [id, server.port]))
  if (process.send === undefined) {
    for (const [id, port] of Object.entries(ports)) console.error(`${id}: http://127.0.0.1:${port}/mcp`)
  } else {
    process.send({ ports })
    process.on("message", (message) => answer(message, servers))
    process.on("disconnect", () => process.exit(0))
  }
}

async function answer({ question, what, id }, servers) {
  if (what === "memory") {
    for (let round = 0; round < 3; round++) {
      globalThis.gc?.()
      await new Promise((resolve) => setTimeout(resolve, 50))
    }
    process.send({ question, ...process.memoryUsage() })
  } else if (what === "notify") {
    const startedNs = process.hrtime.bigint()
    await servers.get(id).notify()
    process.send({ question, startedNs: String(startedNs), tookMs: Number(process.hrtime.bigint() - startedNs) / 1e6 })
  }
}
