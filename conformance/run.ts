/**
 * The command `npm run conformance -- server|client [--only PREFIX] [--except PREFIX]`: the official harness on every revision, judged by the
 * records that it leaves. One line per scenario and revision, the counts last; fails on what `expected-failures.json` does
 * not name, and on what it names in vain.
 */
import { mkdir, readFile, rm } from "node:fs/promises"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import { parseArgs } from "node:util"
import { fixturePath, startFixture } from "./fixture.js"
import type { Listed, Role, Selection } from "./harness.js"
import { listScenarios, readRecords, runHarness, selectPairs } from "./harness.js"
import type { Check, Outcome, Pair } from "./verdict.js"
import { judge, parseExpected, report, samePair } from "./verdict.js"

/** One invocation of the harness and the scenarios that it must leave records of. */
interface Sweep {
  readonly args: readonly string[]
  readonly pairs: readonly Pair[]
  /** Whether the exit code is a verdict: only when a scenario runs alone. */
  readonly strict: boolean
}

const ROOT = fileURLToPath(new URL("../..", import.meta.url))
const RESULTS = join(ROOT, "results", "conformance")
const EXPECTED = join(ROOT, "conformance", "expected-failures.json")
const [LEGACY, MODERN, OLDEST] = ["2025-11-25", "2026-07-28", "2025-06-18"] as const
/** The harness answers within a second or two; more is a machine under load. */
const TIMEOUT_MS = "120000"

async function main(): Promise<boolean> {
  const { positionals, values } = parseArgs({
    allowPositionals: true,
    options: { only: { type: "string" }, except: { type: "string" }, url: { type: "string" } },
  })
  const [role] = positionals
  if (role !== "server" && role !== "client")
    throw new Error(
      "Usage: npm run conformance -- server|client [--only PREFIX] [--except PREFIX] [--url http://127.0.0.1:PORT/mcp]",
    )
  const expected = parseExpected(await readFile(EXPECTED, "utf8"), role)
  await rm(RESULTS, { recursive: true, force: true })
  await mkdir(RESULTS, { recursive: true })
  const sweeps = await planSweeps(role, values)
  const outcomes = role === "server" ? await testServer(sweeps, values.url) : await testClient(sweeps)
  const run = outcomes.sort(byRevision)
  const relevant = isWhole(values) ? expected : expected.filter((entry) => run.some((o) => samePair(o, entry)))
  const unknown = relevant.filter((entry) => !run.some((outcome) => samePair(outcome, entry)))
  for (const entry of unknown) console.log(`${entry.revision}  unknown  ${entry.scenario}: expected, but not run`)
  const { lines, ok } = report(run, relevant)
  for (const line of lines) console.log(line)
  return ok && unknown.length === 0
}

/** The whole suite in a few invocations, and each scenario alone where only that shows everything or a prefix is asked for. */
async function planSweeps(role: Role, selection: Selection): Promise<readonly Sweep[]> {
  const [all, legacy, modern] = await Promise.all([
    listScenarios(role),
    listScenarios(role, LEGACY),
    listScenarios(role, MODERN),
  ])
  const at = (revision: string, list: readonly Listed[]) => list.map(({ scenario }) => ({ scenario, revision }))
  const suites: readonly Sweep[] = [
    { args: ["--requirements", LEGACY], pairs: at(LEGACY, legacy), strict: false },
    { args: ["--requirements", MODERN], pairs: at(MODERN, modern), strict: false },
    { args: ["--suite", "all"], pairs: all.map((one) => byDefault(role, one)), strict: false },
    {
      args: ["--suite", "all", "--spec-version", OLDEST],
      pairs: at(
        OLDEST,
        all.filter((one) => one.tags.includes(OLDEST)),
      ),
      strict: false,
    },
  ]
  if (isWhole(selection) && role === "server") return suites
  const pairs = selectPairs(
    suites.flatMap((sweep) => sweep.pairs),
    selection,
  )
  const alone = pairs.map((pair): Sweep => {
    return {
      args: ["--scenario", pair.scenario, "--spec-version", pair.revision, "--force"],
      pairs: [pair],
      strict: role === "client",
    }
  })
  return isWhole(selection) ? [...suites, ...alone] : alone
}

function isWhole({ only, except }: Selection): boolean {
  return only === undefined && except === undefined
}

/** Where `--suite all` runs a scenario when no version is asked for. */
function byDefault(role: Role, { scenario, tags }: Listed): Pair {
  const extension = tags.includes("extension")
  if (extension) return { scenario, revision: role === "server" ? MODERN : LEGACY }
  const revision = tags.includes(LEGACY) ? LEGACY : (tags.at(-1) ?? MODERN)
  return { scenario, revision }
}

async function testServer(sweeps: readonly Sweep[], url: string | undefined): Promise<Outcome[]> {
  const fixture = url === undefined ? await startFixture(join(RESULTS, "server.log")) : undefined
  try {
    return await runSweeps("server", sweeps, ["server", "--url", fixture?.url ?? url ?? ""])
  } finally {
    await fixture?.stop()
  }
}

async function testClient(sweeps: readonly Sweep[]): Promise<Outcome[]> {
  // The harness splits the command on spaces, and without `exec` it could not end a client that hangs.
  const command = `exec node ${relative(process.cwd(), fixturePath("client"))}`
  return await runSweeps("client", sweeps, ["client", "--command", command])
}

async function runSweeps(role: Role, sweeps: readonly Sweep[], command: readonly string[]): Promise<Outcome[]> {
  const records = new Map<string, { pair: Pair; checks: Check[] | undefined; faults: string[] }>()
  for (const [index, sweep] of sweeps.entries()) {
    const folder = join(RESULTS, String(index))
    const code = await runHarness([...command, ...sweep.args, "--timeout", TIMEOUT_MS], folder)
    const left = await readRecords(role, folder)
    for (const pair of sweep.pairs) {
      const key = `${pair.scenario} ${pair.revision}`
      const record = records.get(key) ?? { pair, checks: [], faults: [] }
      const checks = left.get(pair.scenario)
      record.checks = checks === undefined || record.checks === undefined ? undefined : [...record.checks, ...checks]
      if (sweep.strict && code !== 0) record.faults.push(`run alone, the harness exits with ${code}`)
      records.set(key, record)
    }
  }
  return [...records.values()].map(({ pair, checks, faults }) => judge(pair, checks, faults))
}

function byRevision(one: Outcome, other: Outcome): number {
  return one.revision.localeCompare(other.revision)
}

try {
  process.exitCode = (await main()) ? 0 : 1
} catch (error) {
  console.error(error instanceof Error ? error.message : error)
  process.exitCode = 1
}
