/** The text of issues, as a model reads it. */
import { describe, expect, it } from "vitest"
import { describeIssues } from "../../src/core/schema/issue.js"

describe("The text of issues", () => {
  it.each([
    [undefined, "wrong"],
    [[], "wrong"],
    [["city"], "city: wrong"],
    [["days", 2, "high"], "days[2].high: wrong"],
    [[0, "a"], "[0].a: wrong"],
    [[{ key: "days" }, { key: 2 }], "days[2]: wrong"],
    [["a b", "c.d"], '["a b"]["c.d"]: wrong'],
    [["", Symbol("s")], '[""]["Symbol(s)"]: wrong'],
    [["x-y", "$z", "Ü"], 'x-y.$z["Ü"]: wrong'],
  ])("for the path %j is %s", (path, text) => {
    expect(describeIssues([{ message: "wrong", ...(path === undefined ? {} : { path }) }])).toBe(text)
  })

  it("is one line per issue", () => {
    const issues = [
      { message: "expected a number", path: ["a"] },
      { message: "is\nmissing", path: ["b"] },
    ]
    expect(describeIssues(issues)).toBe("a: expected a number\nb: is missing")
    expect(describeIssues([])).toBe("")
  })

  it("is bounded, and says how many issues it leaves out", () => {
    const lines = describeIssues(Array.from({ length: 25 }, () => ({ message: "x".repeat(1000), path: ["p"] }))).split(
      "\n",
    )
    expect(lines).toHaveLength(21)
    expect(lines.slice(0, 20).every((line) => line.length === 300 && line.endsWith("…"))).toBe(true)
    expect(lines[20]).toBe("and 5 more")
  })

  it("holds nothing invisible that a peer put there", () => {
    expect(describeIssues([{ message: "a\u001b[31m\u202eb", path: ["\u0000"] }])).toBe('["\\u0000"]: a[31mb')
  })
})
