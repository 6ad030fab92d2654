/**
 * Opens idle listen streams and prints what each costs its server: `node test/load/idle-listens.js [count] [--json]`, 10,000
 * without a count. The server is a process of its own, so that the memory is its own.
 */
import { spawn } from "node:child_process"
import { once } from "node:events"
import { request } from "node:http"
import { createInterface } from "node:readline"
import { fileURLToPath } from "node:url"

const count = Number(process.argv[2] ?? 10_000)
const asJson = process.argv.includes("--json")
const script = fileURLToPath(new URL("./server.js", import.meta.url))
const child = spawn(process.execPath, ["--expose-gc", script], { stdio: ["pipe", "pipe", "inherit"] })
const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
const readLine = async () => String((await lines.next()).value)
const url = await readLine()

const ask = async () => {
  child.stdin.write("memory\n")
  return JSON.parse(await readLine())
}

const body = (id) =>
  JSON.stringify({
    jsonrpc: "2.0",
    id,
    method: "subscriptions/listen",
    params: {
      notifications: { toolsListChanged: true, resourceSubscriptions: ["note://1"] },
      _meta: {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { name: "load", version: "1.0.0" },
        "io.modelcontextprotocol/clientCapabilities": {},
      },
    },
  })

const headers = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "subscriptions/listen",
}

let heard = 0
let twice = 0
let toldAll = () => {}
const open = (id) =>
  new Promise((resolve, reject) => {
    const outgoing = request(url, { method: "POST", agent: false, headers }, (incoming) => {
      let changes = 0
      incoming.setEncoding("utf8").on("data", (text) => {
        if (text.includes("acknowledged")) resolve(outgoing)
        if (!text.includes("list_changed")) return
        if (++changes > 1) twice++
        else if (++heard === count) toldAll()
      })
      incoming.on("error", () => {})
    })
    outgoing.on("error", reject)
    outgoing.end(body(id))
  })

const before = await ask()
const streams = []
while (streams.length < count) {
  const batch = Math.min(100, count - streams.length)
  streams.push(...(await Promise.all(Array.from({ length: batch }, (_, index) => open(streams.length + index + 1)))))
}
const during = await ask()
const startedAtMs = performance.now()
const told = new Promise((resolve) => {
  toldAll = resolve
})
child.stdin.write("change\n")
await told
const tookMs = performance.now() - startedAtMs
// Whatever is still held back, or was said twice, comes now.
child.stdin.write("advance 10000\n")
await ask()
for (const stream of streams) stream.destroy()
let after = await ask()
while (after.heapUsed > before.heapUsed + 0.1 * (during.heapUsed - before.heapUsed)) after = await ask()

if (asJson) {
  const of = (member) => ({ before: before[member], during: during[member], after: after[member] })
  console.log(JSON.stringify({ heard: { streams: heard, twice }, rss: of("rss"), heap: of("heapUsed") }))
} else print()
child.kill()
await once(child, "close")

function print() {
  const MIB = 1024 * 1024
  const mib = (bytes) => `${(bytes / MIB).toFixed(1)} MiB`
  const each = (bytes) => `${(bytes / count / 1024).toFixed(1)} KiB each`
  console.log(`${count} idle listen streams`)
  console.log(
    `  resident  ${mib(before.rss)} before, ${mib(during.rss)} open (${each(during.rss - before.rss)}), ${mib(after.rss)} after`,
  )
  console.log(
    `  heap      ${mib(before.heapUsed)} before, ${mib(during.heapUsed)} open (${each(during.heapUsed - before.heapUsed)}), ${mib(after.heapUsed)} after`,
  )
  console.log(`  one change reached ${heard} of them in ${Math.round(tookMs)} ms`)
}
