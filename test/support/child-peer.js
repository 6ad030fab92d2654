/**
 * A server on standard streams that answers by a script, in a process of its own: the script is JSON in its only argument, by method, each
 * a list of steps of which the last is used again. Each line that comes is written to the file of `log`, as it came.
 *
 * A step is a list of things to do in order: `{ "write": text }` writes text as it is, `{ "result": value }` and `{ "error": value }`
 * answer the request, `{ "hex": bytes }` writes bytes, `{ "stderr": text }`, `{ "exit": code }`, `{ "spawn": true }` starts a process
 * that outlives its parent.
 */
import { spawn } from "node:child_process"
import { appendFileSync, writeSync } from "node:fs"
import { createInterface } from "node:readline"

const { log, script, start = [], ignoreEnd = false, ignoreTerm = false } = JSON.parse(process.argv[2] ?? "{}")
const left = new Map(Object.entries(script ?? {}))
if (ignoreTerm) process.on("SIGTERM", () => {})
if (ignoreEnd) setInterval(() => {}, 1_000)

function play(step, id) {
  for (const act of step) {
    if (act.write !== undefined) writeSync(1, act.write.replaceAll("$ID", JSON.stringify(id)))
    else if (act.hex !== undefined) writeSync(1, Buffer.from(act.hex, "hex"))
    else if (act.result !== undefined) writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", id, result: act.result })}\n`)
    else if (act.error !== undefined) writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", id, error: act.error })}\n`)
    else if (act.stderr !== undefined) writeSync(2, act.stderr)
    else if (act.spawn !== undefined) {
      const child = spawn(process.execPath, ["-e", "setInterval(() => {}, 1000)"], { stdio: "inherit" })
      writeSync(2, `grandchild ${child.pid}\n`)
    } else if (act.exit !== undefined) process.exit(act.exit)
  }
}

appendFileSync(log, `# started ${process.pid}\n`)
play(start)
createInterface({ input: process.stdin }).on("line", (line) => {
  appendFileSync(log, `${line}\n`)
  const { id, method = "response" } = JSON.parse(line)
  const steps = left.get(method) ?? left.get("*") ?? []
  const step = steps.length > 1 ? steps.shift() : steps[0]
  if (step !== undefined) play(step, id)
})
