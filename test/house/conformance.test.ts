/** The conformance runner's judgement: what counts as passed, and how the expected failures are held against it. */
import { spawnSync } from "node:child_process"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import { parseList } from "../../conformance/harness.js"
import { judge, parseChecks, parseExpected, report } from "../../conformance/verdict.js"

const pair = { scenario: "tools-list", revision: "2026-07-28" }
const checks = (...statuses: string[]) =>
  statuses.map((status, index) => ({ id: `c${index}`, status, errorMessage: undefined }))

describe("a scenario", () => {
  it.each([
    ["passes when its checks succeed", checks("SUCCESS", "INFO", "SKIPPED"), [], "passed"],
    ["fails when one check fails", checks("SUCCESS", "FAILURE", "WARNING"), [], "failed"],
    ["warns when one check warns", checks("SUCCESS", "WARNING"), [], "warning"],
    ["fails when its records are missing", undefined, [], "failed"],
    [
      "fails when the harness exits with an error although every check succeeds",
      checks("SUCCESS"),
      ["exit 1"],
      "failed",
    ],
    ["is skipped when every check is", checks("SKIPPED", "INFO"), [], "skipped"],
    [
      "is skipped when only the check of the wire format succeeds",
      [...checks("SKIPPED"), { id: "wire-schema-valid", status: "SUCCESS", errorMessage: undefined }],
      [],
      "skipped",
    ],
  ])("%s", (_, records, faults, status) => {
    expect(judge(pair, records, faults).status).toBe(status)
  })
})

describe("a run", () => {
  const passed = judge(pair, checks("SUCCESS"), [])
  const failed = judge({ ...pair, scenario: "caching" }, checks("FAILURE"), [])
  const warned = judge({ ...pair, scenario: "ping" }, checks("WARNING"), [])
  const skipped = judge({ ...pair, scenario: "skills" }, checks("SKIPPED"), [])
  const expectation = (scenario: string) => ({ ...pair, scenario, reason: "later" })

  it.each([
    ["is good when everything passes", [passed], [], true],
    ["is bad when a scenario fails", [passed, failed], [], false],
    ["is bad when a scenario warns", [passed, warned], [], false],
    ["is good when what fails and warns is expected in writing", [failed, warned], ["caching", "ping"], true],
    ["is bad when an expected failure passes", [passed], ["tools-list"], false],
    ["is bad when a scenario is skipped", [passed, skipped], [], false],
    ["is good when what is skipped is expected in writing", [passed, skipped], ["skills"], true],
    [
      "is bad when the failure is expected at another revision",
      [{ ...failed, revision: "2025-11-25" }],
      ["caching"],
      false,
    ],
    ["is bad when nothing ran", [], [], false],
  ])("%s", (_, outcomes, expected, ok) => {
    expect(report(outcomes, expected.map(expectation)).ok).toBe(ok)
  })

  const mixed = judge({ ...pair, scenario: "stateless" }, checks("FAILURE", "SUCCESS", "WARNING", "SKIPPED"), [])
  const lost = judge({ ...pair, scenario: "stateless" }, undefined, [])

  it.each([
    ["is good when exactly the expected checks fail or warn", mixed, ["c2", "c0"], true],
    ["is bad when another check fails too", mixed, ["c0"], false],
    ["is bad when one expected check passes", mixed, ["c0", "c1", "c2"], false],
    ["is bad when no check was made", lost, ["c0"], false],
  ])("%s", (_, outcome, ids, ok) => {
    expect(report([outcome], [{ ...expectation("stateless"), checks: ids }]).ok).toBe(ok)
  })

  it("prints a line for each scenario and ends with the counts", () => {
    const { lines } = report([passed, failed, warned], [expectation("caching")])
    expect(lines).toHaveLength(4)
    expect(lines.at(-1)).toBe("1 passed, 1 failed, 1 warnings")
  })
})

describe("what the harness writes", () => {
  it("is a list of checks, and nothing else is", () => {
    expect(parseChecks('[{"id":"a","status":"SUCCESS","errorMessage":"m"}]')).toEqual([
      { id: "a", status: "SUCCESS", errorMessage: "m" },
    ])
    for (const text of ["", "{}", "[1]", '[{"id":"a"}]']) expect(parseChecks(text)).toBeUndefined()
  })

  it("is listed by role, the scenarios outside the score included", () => {
    const text = [
      "Server scenarios (test against a server):",
      "  - ping [2025-11-25]",
      "Client scenarios (test against a client):",
      "  - initialize",
      "Run and reported, but never scored:",
      "  extension (2):",
      "    - tasks-lifecycle [server]",
      "    - auth/dpop [client]",
    ].join("\n")
    expect(parseList(text, "server").map((one) => one.scenario)).toEqual(["ping", "tasks-lifecycle"])
    expect(parseList(text, "client").map((one) => one.scenario)).toEqual(["initialize", "auth/dpop"])
  })
})

describe("an expected failure", () => {
  it("names a scenario, a revision and a reason, and perhaps the checks", () => {
    const entry = { scenario: "ping", revision: "2025-11-25", reason: "later" }
    const narrow = { ...entry, checks: ["a"] }
    expect(parseExpected(JSON.stringify({ server: [entry, narrow] }), "server")).toEqual([entry, narrow])
    expect(() => parseExpected(JSON.stringify({ server: [{ ...entry, reason: "" }] }), "server")).toThrow(/reason/)
    expect(() => parseExpected(JSON.stringify({ server: [{ ...entry, checks: [1] }] }), "server")).toThrow(/checks/)
    expect(() => parseExpected("{}", "server")).toThrow(/server/)
  })
})

describe("the harness", () => {
  it("reaches no address but this machine's", () => {
    const preload = fileURLToPath(new URL("../../conformance/dist/preload.js", import.meta.url))
    const script = `fetch("http://192.0.2.1/").catch((error) => console.log(error.cause.message))`
    const { stdout } = spawnSync(process.execPath, ["--import", preload, "--eval", script], { encoding: "utf8" })
    expect(stdout).toContain("may only reach this machine, not 192.0.2.1")
  })
})
