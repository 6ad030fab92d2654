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

/** A scenario that is known not to pass, and why. */
export interface Expected extends Pair {
  readonly reason: string
  /** The ids of exactly the checks that fail or warn; without it, any may. */
  readonly checks?: readonly string[]
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
  /** The ids of the checks that failed or warned, each once. */
  readonly bad: readonly string[]
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
    const checks = member(entry, "checks")
    const named = typeof scenario === "string" && typeof revision === "string" && typeof reason === "string"
    if (!named || reason === "" || !(checks === undefined || isTexts(checks)))
      throw new Error(
        `expected-failures.json: ${JSON.stringify(entry)} needs scenario, revision, reason; checks is a list`,
      )
    return { scenario, revision, reason, ...(checks === undefined ? {} : { checks }) }
  })
}

/**
 * Judges one scenario. A scenario without records has failed: the harness leaves none when the scenario threw. `faults` are
 * failures that no record shows, such as a client that exits with an error.
 */
export function judge(pair: Pair, checks: readonly Check[] | undefined, faults: readonly string[]): Outcome {
  if (checks === undefined)
    return { ...pair, status: "failed", details: [...faults, "the harness left no checks.json"], bad: [] }
  const failures = checks.filter((check) => check.status === "FAILURE")
  const warnings = checks.filter((check) => check.status === "WARNING")
  const details = [...new Set([...faults, ...[...failures, ...warnings].map(describe)])]
  const bad = [...new Set([...failures, ...warnings].map((check) => check.id))]
  if (failures.length + faults.length > 0) return { ...pair, status: "failed", details, bad }
  if (warnings.length > 0) return { ...pair, status: "warning", details, bad }
  const proved = checks.some((check) => check.status === "SUCCESS" && check.id !== WIRE_CHECK)
  if (proved) return { ...pair, status: "passed", details, bad }
  return { ...pair, status: "skipped", details: ["none of its own checks was made"], bad }
}

/**
 * Holds the outcomes against what is expected in writing: every scenario that does not pass, skipped ones too. An entry for
 * one that passes is stale, and an error; so is one that names other checks than those that fail or warn.
 */
export function report(outcomes: readonly Outcome[], expected: readonly Expected[]): Report {
  const judged = outcomes.map((outcome) => {
    const entry = expected.find((one) => samePair(one, outcome))
    return { outcome, reason: entry?.reason, asWritten: isAsWritten(outcome, entry) }
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

function isAsWritten({ status, bad }: Outcome, entry: Expected | undefined): boolean {
  if (status === "passed" || entry === undefined) return status === "passed" && entry === undefined
  const { checks } = entry
  return checks === undefined || (checks.length === bad.length && checks.every((id) => bad.includes(id)))
}

/** Whether both name the same scenario and revision. */
export function samePair(one: Pair, other: Pair): boolean {
  return one.scenario === other.scenario && one.revision === other.revision
}

function line(outcome: Outcome, reason: string | undefined, asWritten: boolean): string {
  const head = `${outcome.revision}  ${outcome.status.padEnd(7)}  ${outcome.scenario}`
  if (asWritten) return reason === undefined ? head : `${head} (expected: ${reason})`
  if (outcome.status === "passed") return `${head}: stale, it passes: take it off expected-failures.json`
  const more = outcome.details.length > SHOWN ? `; ${outcome.details.length - SHOWN} more` : ""
  const unlike = reason === undefined ? "" : "other checks than expected: "
  return `${head}: ${unlike}${outcome.details.slice(0, SHOWN).join("; ")}${more}`
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

function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((item) => typeof item === "string")
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}
