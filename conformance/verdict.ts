/** What the harness's own records say about each scenario, held against what was expected in writing. Pure. */

/** The check that the harness adds to every scenario: well-formed messages alone do not show that a feature is there. */
const WIRE_CHECK = "wire-schema-valid"
/** How many details a line shows; the records hold the rest. */
const SHOWN = 3

/** One scenario on one revision's wire. */
export interface Pair {
  readonly scenario: string
  readonly revision: string
}

/** A scenario that is known to fail or to warn, and why. */
export interface Expected extends Pair {
  readonly reason: string
}

/** One entry of a `checks.json`. */
export interface Check {
  readonly id: string
  readonly status: string
  readonly errorMessage: string | undefined
}

/** What came of a scenario: `skipped` when none of its own checks was made, because the feature is not claimed. */
export type Status = "passed" | "failed" | "warning" | "skipped"

/** The verdict on a {@link Pair}, with what went wrong. */
export interface Outcome extends Pair {
  readonly status: Status
  readonly details: readonly string[]
}

/** The verdict on a whole run: the lines to print, the last of them the counts, and whether all is as written. */
export interface Report {
  readonly lines: readonly string[]
  readonly ok: boolean
}

/** Reads the text of a `checks.json`; undefined when it is not a list of checks. */
export function parseChecks(text: string): readonly Check[] | undefined {
  const value = parseJson(text)
  if (!Array.isArray(value)) return undefined
  const checks = value.map(toCheck)
  return checks.every((check) => check !== undefined) ? checks : undefined
}

/** Reads one role's list of the expected failures; throws when an entry lacks a scenario, a revision or a reason. */
export function parseExpected(text: string, role: string): readonly Expected[] {
  const list = member(parseJson(text), role)
  if (!Array.isArray(list)) throw new Error(`expected-failures.json: "${role}" is not a list`)
  return list.map((entry: unknown) => {
    const [scenario, revision, reason] = [member(entry, "scenario"), member(entry, "revision"), member(entry, "reason")]
    if (typeof scenario === "string" && typeof revision === "string" && typeof reason === "string" && reason !== "")
      return { scenario, revision, reason }
    throw new Error(`expected-failures.json: ${JSON.stringify(entry)} needs scenario, revision and reason`)
  })
}

/**
 * Judges one scenario. A scenario without records has failed: the harness leaves none when the scenario threw. `faults` are
 * failures that no record shows, such as a client that exits with an error.
 */
export function judge(pair: Pair, checks: readonly Check[] | undefined, faults: readonly string[]): Outcome {
  if (checks === undefined)
    return { ...pair, status: "failed", details: [...faults, "the harness left no checks.json"] }
  const failures = checks.filter((check) => check.status === "FAILURE")
  const warnings = checks.filter((check) => check.status === "WARNING")
  const details = [...new Set([...faults, ...[...failures, ...warnings].map(describe)])]
  if (failures.length + faults.length > 0) return { ...pair, status: "failed", details }
  if (warnings.length > 0) return { ...pair, status: "warning", details }
  const proved = checks.some((check) => check.status === "SUCCESS" && check.id !== WIRE_CHECK)
  const status = proved ? "passed" : "skipped"
  return { ...pair, status, details }
}

/** Holds the outcomes against the expected failures. An expected failure that did not come is stale, and an error too. */
export function report(outcomes: readonly Outcome[], expected: readonly Expected[]): Report {
  const judged = outcomes.map((outcome) => {
    const entry = expected.find((one) => samePair(one, outcome))
    const bad = outcome.status === "failed" || outcome.status === "warning"
    return { outcome, reason: entry?.reason, asWritten: bad === (entry !== undefined) }
  })
  const count = (status: Status) => outcomes.filter((outcome) => outcome.status === status).length
  return {
    lines: [
      ...judged.map(({ outcome, reason, asWritten }) => line(outcome, reason, asWritten)),
      `${count("passed")} passed, ${count("failed")} failed, ${count("warning")} warnings`,
    ],
    ok: outcomes.length > 0 && judged.every((one) => one.asWritten),
  }
}

/** Whether both name the same scenario and revision. */
export function samePair(one: Pair, other: Pair): boolean {
  return one.scenario === other.scenario && one.revision === other.revision
}

function line(outcome: Outcome, reason: string | undefined, asWritten: boolean): string {
  const head = `${outcome.revision}  ${outcome.status.padEnd(7)}  ${outcome.scenario}`
  const more = outcome.details.length > SHOWN ? `; ${outcome.details.length - SHOWN} more` : ""
  if (reason === undefined) return asWritten ? head : `${head}: ${outcome.details.slice(0, SHOWN).join("; ")}${more}`
  return asWritten
    ? `${head} (expected: ${reason})`
    : `${head}: stale, no longer fails: take it off expected-failures.json`
}

function describe(check: Check): string {
  const message = check.errorMessage?.replaceAll(/\s+/g, " ").slice(0, 300)
  return message === undefined ? check.id : `${check.id}: ${message}`
}

function toCheck(value: unknown): Check | undefined {
  const [id, status, errorMessage] = [member(value, "id"), member(value, "status"), member(value, "errorMessage")]
  if (typeof id !== "string" || typeof status !== "string") return undefined
  return { id, status, errorMessage: typeof errorMessage === "string" ? errorMessage : undefined }
}

function member(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null ? Reflect.get(value, key) : undefined
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
