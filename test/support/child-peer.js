/**
 * A server on standard streams that answers by a script, in a process of its own: the script is JSON in its only argument, by method, each
 * a list of steps of which the last is used again; `*` is for all other requests. With a list of scripts, each process that is started takes
 * the next one. What a script has for `start` is done before anything comes. Each line that comes is written to the file of `log`, as it came.
 *
 * A step is a list of things to do in order: `{ "write": text }` writes text as it is, but for `$ID` and `$TOKEN`, which are the request's id
 * and progress token as JSON; `{ "result": value }` and `{ "error": value }` answer the request; `{ "hex": bytes }` writes bytes,
 * `{ "singly": text }` each byte by itself, `{ "flood": text, "times": n }` writes text again and again; `{ "stderr": text }` writes there;
 * `{ "env": true }` answers with the names of its variables; `{ "close": 1 }` closes a descriptor; `{ "spawn": true }` starts a process that outlives its parent and ends by force alone;
 * `{ "exit": code }` and `{ "kill": signal }` end the process.
 */
import { spawn } from "node:child_process"
import { appendFileSync, closeSync, readFileSync, writeSync } from "node:fs"

const { log, script, start = [], ignoreEnd = false, ignoreTerm = false } = JSON.parse(process.argv[2] ?? "{}")
const note = (text) => appendFileSync(log, `# ${text}\n`)
const nth = readFileSync(log, "utf8").split("# started ").length - 1
const own = Array.isArray(script) ? (script[nth] ?? script.at(-1)) : script
const left = new Map(Object.entries(own ?? {}))

/** What ends by force alone, and says in the log when that is so. */
const STUBBORN = `
  for (const name of ["SIGTERM", "SIGINT", "SIGHUP"]) process.on(name, () => {})
  setInterval(() => {}, 1000)
  require("node:fs").appendFileSync(process.argv[1], "# grandchild " + process.pid + "\\n")`

function spawnStubborn() {
  const { pid } = spawn(process.execPath, ["-e", STUBBORN, log], { stdio: "inherit" })
  const moment = new Int32Array(new SharedArrayBuffer(4))
  while (!readFileSync(log, "utf8").includes(`# grandchild ${pid}\n`)) Atomics.wait(moment, 0, 0, 5)
}

function play(step, { id, params } = {}) {
  for (const act of step) {
    if (act.write !== undefined) {
      const token = JSON.stringify(params?._meta?.progressToken)
      writeSync(
        1,
        act.write.replaceAll("$ID", () => JSON.stringify(id)).replaceAll("$TOKEN", () => token),
      )
    } else if (act.hex !== undefined) writeSync(1, Buffer.from(act.hex, "hex"))
    else if (act.singly !== undefined) for (const byte of Buffer.from(act.singly)) writeSync(1, Uint8Array.of(byte))
    else if (act.flood !== undefined) for (let n = 0; n < act.times; n++) writeSync(act.to ?? 1, act.flood)
    else if (act.result !== undefined) writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", id, result: act.result })}\n`)
    else if (act.error !== undefined) writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", id, error: act.error })}\n`)
    else if (act.env !== undefined) {
      const names = Object.keys(process.env).sort()
      writeSync(1, `${JSON.stringify({ jsonrpc: "2.0", id, result: { resultType: "complete", names } })}\n`)
    } else if (act.stderr !== undefined) writeSync(2, act.stderr)
    else if (act.close !== undefined) closeSync(act.close)
    else if (act.spawn !== undefined) {
      spawnStubborn()
    } else if (act.kill !== undefined) process.kill(process.pid, act.kill)
    else if (act.exit !== undefined) process.exit(act.exit)
  }
}

function hear(line) {
  appendFileSync(log, `${line}\n`)
  const message = JSON.parse(line)
  const { id, method = "response" } = message
  const steps = left.get(method) ?? (id !== undefined && message.method !== undefined ? left.get("*") : undefined) ?? []
  const step = steps.length > 1 ? steps.shift() : steps[0]
  if (step !== undefined) play(step, message)
}

note(`started ${process.pid}`)
if (ignoreTerm) process.on("SIGTERM", () => note("SIGTERM"))
if (ignoreEnd) setInterval(() => {}, 1_000)
play(own?.start?.[0] ?? start)
let rest = Buffer.alloc(0)
process.stdin.on("data", (chunk) => {
  rest = Buffer.concat([rest, chunk])
  for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
    const line = rest.subarray(0, end).toString()
    rest = rest.subarray(end + 1)
    hear(line)
  }
})
process.stdin.on("end", () => note("end"))
