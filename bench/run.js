// The command `npm run bench -- [section …] [options]`; the README lists both. Without a section: all that compare peers.
// Prints tables and writes them to results/<name>.txt, with every figure in results/<name>.json.
import { mkdirSync, writeFileSync } from "node:fs"
import { cpus, loadavg } from "node:os"
import { join } from "node:path"
import { parseArgs } from "node:util"
import { loadAdapters, versionsOf } from "./adapters.js"
import { isApart } from "./load/lanes.js"
import { checkMachine, ROOT, UsageError } from "./load/machine.js"

const COMPARISONS = ["http", "stdio", "client", "startup", "memory", "fan-out", "bundle"]
const SECTIONS = [...COMPARISONS, "ratio", "profile"]

try {
  await main()
  process.exit(0)
} catch (error) {
  console.error(error instanceof UsageError ? error.message : error)
  process.exit(1)
}

async function main() {
  const { values, positionals } = readArguments()
  const [first] = positionals
  const isSingle = first === "ratio" || first === "profile"
  const sections = isSingle ? [first] : positionals.length === 0 ? COMPARISONS : positionals
  for (const section of sections) {
    if (!SECTIONS.includes(section)) throw new UsageError(`There is no section "${section}": ${SECTIONS.join(", ")}.`)
  }
  const needsWrk = isSingle ? !isApart(positionals[1] ?? "") : sections.includes("http")
  checkMachine({ needsWrk })
  const options = { ...values, mode: positionals[1], work: positionals[2] ?? "echo" }
  for (const section of sections) await runSection(section, isSingle ? options : values)
}

async function runSection(section, options) {
  const { run, nameOf } = await import(`./section/${section}.js`)
  const adapters = await loadAdapters(options.adapters?.split(","))
  let report = ""
  const log = (text) => {
    report += `${text}\n`
    console.log(text)
  }
  const started = new Date().toISOString()
  const machine = { node: process.version, cpu: cpus()[0].model, cores: cpus().length, load: loadavg() }
  log(`# ${section}  ${started}  node ${machine.node}  load ${machine.load.map((load) => load.toFixed(1)).join(" ")}`)
  const results = await run(adapters, options, log)
  const name = nameOf?.(options) ?? section
  const record = { section, started, machine, versions: versionsOf(adapters), options, results }
  mkdirSync(join(ROOT, "results"), { recursive: true })
  writeFileSync(join(ROOT, "results", `${name}.json`), `${JSON.stringify(record, undefined, 1)}\n`)
  writeFileSync(join(ROOT, "results", `${name}.txt`), report)
}

function readArguments() {
  const text = { type: "string" }
  try {
    const { values, positionals } = parseArgs({
      allowPositionals: true,
      options: {
        adapters: text,
        only: text,
        rounds: text,
        seconds: text,
        processes: text,
        tools: text,
        "in-flight": text,
        apart: { type: "boolean" },
      },
    })
    const { adapters, only, apart, ...numbers } = values
    const counted = Object.entries(numbers).map(([name, value]) => {
      if (!(Number(value) > 0)) throw new UsageError(`--${name} must be a number above zero, not "${value}"`)
      return [name === "in-flight" ? "inFlight" : name, Number(value)]
    })
    return { values: { adapters, only, apart, ...Object.fromEntries(counted) }, positionals }
  } catch (error) {
    throw error instanceof UsageError ? error : new UsageError(error.message)
  }
}
