/** The official harness as a child process: what it can run, and the records that a run leaves. */
import { spawn } from "node:child_process"
import { mkdir, open, readdir, readFile } from "node:fs/promises"
import { join, relative } from "node:path"
import { fileURLToPath } from "node:url"
import type { Check, Pair } from "./verdict.js"
import { parseChecks } from "./verdict.js"

/** Which side is under test. */
export type Role = "server" | "client"

/** A scenario and where the harness runs it: revisions, `extension`, or a role. */
export interface Listed {
  readonly scenario: string
  readonly tags: readonly string[]
}

const HARNESS = fileURLToPath(import.meta.resolve("@modelcontextprotocol/conformance/dist/index.js"))
const PRELOAD = new URL("./preload.js", import.meta.url).href
const STAMP = /-\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d-\d{3}Z$/

/** Runs the harness, what it prints going to `harness.log` in `folder`; resolves to its exit code. */
export async function runHarness(args: readonly string[], folder: string): Promise<number | undefined> {
  await mkdir(folder, { recursive: true })
  const log = await open(join(folder, "harness.log"), "w")
  const child = spawn(process.execPath, ["--import", PRELOAD, HARNESS, ...args, "-o", folder], {
    stdio: ["ignore", log.fd, log.fd],
  })
  const code = await new Promise<number | null>((resolve, reject) => {
    child.on("error", reject)
    child.on("exit", resolve)
  })
  await log.close()
  return code ?? undefined
}

/** Every scenario of a role; with a requirement set, only those that a run of the set executes, scored or not. */
export async function listScenarios(role: Role, requirements?: string): Promise<readonly Listed[]> {
  const filter = requirements === undefined ? [`--${role}`] : ["--requirements", requirements]
  const child = spawn(process.execPath, ["--import", PRELOAD, HARNESS, "list", ...filter], {
    stdio: ["ignore", "pipe", "inherit"],
  })
  const text = (await child.stdout.setEncoding("utf8").toArray()).join("")
  return parseList(text, role)
}

/** Reads what `list` prints: headings that name the role, items `- scenario [tag,tag]`. */
export function parseList(text: string, role: Role): readonly Listed[] {
  const listed: Listed[] = []
  let section: string | undefined
  for (const line of text.split("\n")) {
    if (/^\S/.test(line)) section = /^(Server|Client) scenarios/.exec(line)?.[1]?.toLowerCase()
    const item = /^\s+- (\S+)(?: \[(.*)\])?$/.exec(line)
    const tags = item?.[2]?.split(",") ?? []
    if (item?.[1] !== undefined && (section === role || tags.includes(role))) listed.push({ scenario: item[1], tags })
  }
  return listed
}

/** The checks that a run left in `folder`, by scenario; undefined for a scenario whose records are missing or unreadable. */
export async function readRecords(role: Role, folder: string): Promise<Map<string, readonly Check[] | undefined>> {
  const records = new Map<string, readonly Check[] | undefined>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true })) {
    if (!entry.isDirectory() || !STAMP.test(entry.name)) continue
    const path = join(entry.parentPath, entry.name)
    const name = relative(folder, path).replaceAll("\\", "/").replace(STAMP, "")
    const text = await readFile(join(path, "checks.json"), "utf8").catch(() => "")
    records.set(role === "server" ? name.replace(/^server-/, "") : name, parseChecks(text))
  }
  return records
}

/** The pairs of scenarios and revisions that are selected, each once. */
export function selectPairs(pairs: readonly Pair[], { only = "", except }: Selection): readonly Pair[] {
  const seen = new Map(pairs.map((pair) => [`${pair.scenario} ${pair.revision}`, pair]))
  const isLeftOut = ({ scenario }: Pair): boolean => except !== undefined && scenario.startsWith(except)
  return [...seen.values()].filter((pair) => pair.scenario.startsWith(only) && !isLeftOut(pair))
}

/** Which scenarios to run alone, by how their names start; all of them, and the suites too, when neither is given. */
export interface Selection {
  readonly only?: string | undefined
  readonly except?: string | undefined
}
