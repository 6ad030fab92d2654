/** A client that starts two children, each with one of its own, and ends without closing them. */
import { openChild, pidOf } from "./link.js"

const STUBBORN = `
  process.stdin.resume()
  setInterval(() => {}, 1_000)
  process.on("SIGTERM", () => {})
  process.on("SIGINT", () => {})
`
const script = `
  const child = require("node:child_process").spawn(process.execPath, ["-e", ${JSON.stringify(`${STUBBORN}; console.log("up")`)}])
  child.stdout.once("data", () => say({ method: "child", params: { pid: child.pid } }))
  ${STUBBORN}
`

const pids: number[] = []
for (const probe of await Promise.all([openChild(script), openChild(script)])) {
  const child = await probe.until(() =>
    probe.messages.find((one) => one.kind === "notification" && one.method === "child"),
  )
  pids.push(await pidOf(probe), child.kind === "notification" ? Number(child.params?.["pid"]) : 0)
}
process.stdout.write(`${pids.join(" ")}\n`, () => {
  if (process.argv[2] === "fails") throw new Error("careless")
  process.exit(0)
})
