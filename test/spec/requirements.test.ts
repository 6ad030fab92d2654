/** Holds the manifest to the tests that it names: each rule has one, and each that is named is there. */
import { existsSync, readFileSync } from "node:fs"
import { fileURLToPath } from "node:url"
import { describe, expect, it } from "vitest"
import type { Requirement } from "./requirements/requirement.js"
import { requirements } from "./requirements.js"

const all = Object.values(requirements).flat()

/** The path of a file below `test/`. */
const pathOf = (file: string): string => fileURLToPath(new URL(`../${file}`, import.meta.url))

/** Whether a text stands first in a call or in a row of a table, as the names of tests and of their rows do. */
function isNamedIn(source: string, name: string): boolean {
  const literal = JSON.stringify(name).replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
  return new RegExp(`[([]\\s*${literal}\\s*,`).test(source)
}

const sources = new Map<string, string>()

/** Why a test that is named does not count; undefined when it is there. */
function problemOf(test: string): string | undefined {
  const [, file = "", name = ""] = /^([\w/.-]+\.ts): (.+)$/s.exec(test) ?? []
  if (file === "" || !existsSync(pathOf(file))) return `${test}: there is no such file`
  const source = sources.get(file) ?? readFileSync(pathOf(file), "utf8")
  sources.set(file, source)
  return isNamedIn(source, name) ? undefined : `${test}: there is no such name`
}

function testsOf(requirement: Requirement): readonly string[] {
  return "tests" in requirement ? requirement.tests : []
}

describe("the requirements", () => {
  it("have a slug each, and no slug is used twice", () => {
    const ids = all.map(({ id }) => id)
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([])
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([])
  })

  it("are one sentence each", () => {
    expect(all.filter(({ rule }) => !/^[^\n]{10,200}\.$/.test(rule)).map(({ id }) => id)).toEqual([])
  })

  it("have a test each, or say what they wait for or who keeps them", () => {
    const bare = all.filter((requirement) => {
      if ("later" in requirement) return requirement.later === ""
      return "author" in requirement ? requirement.author === "" : requirement.tests.length === 0
    })
    expect(bare.map(({ id }) => id)).toEqual([])
  })

  it("name tests that are there", () => {
    expect(all.flatMap(testsOf).flatMap((test) => problemOf(test) ?? [])).toEqual([])
  })

  it("name places in the specification", () => {
    const odd = all.filter(({ spec }) => spec !== undefined && !/^https:\/\/modelcontextprotocol\.io\/\S+$/.test(spec))
    expect(odd.map(({ id }) => id)).toEqual([])
  })
})

for (const [group, members] of Object.entries(requirements)) {
  const later = members.filter((requirement) => "later" in requirement)
  const authors = members.filter((requirement) => "author" in requirement).length
  const tests = new Set(members.flatMap(testsOf)).size
  const waiting = later.length === 0 ? "" : `, ${later.length} later (${later.map(({ id }) => id).join(", ")})`
  console.log(`${group}: ${members.length} requirements, ${tests} tests, ${authors} the author's${waiting}`)
}
